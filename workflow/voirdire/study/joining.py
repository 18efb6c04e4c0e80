"""The join of judgements with generations and grades, and what of these has no truth."""

import pandas as pd

from voirdire.tables import VERDICTS

_RESPONSE = ["task", "item_id", "examinee"]


def join_verdicts(judgements: pd.DataFrame, generations: pd.DataFrame, grades: pd.DataFrame) -> pd.DataFrame:
    """Every row of the judgements with the truth of its response, as the VERDICTS schema has it.

    A response that was not ok has no truth and no answer. Answers of one item are equal where they mean the same, as
    grading leaves them in their shortest form; a program is no answer to compare. Raises pandas' MergeError where a
    response occurs twice.
    """
    facts = generations[[*_RESPONSE, "response_chars", "simulated"]].merge(
        _compared(grades), on=_RESPONSE, how="left", validate="one_to_one"
    )
    facts = facts.rename(columns={"simulated": "examinee_simulated"})
    joined = judgements.merge(facts, on=_RESPONSE, how="left", validate="many_to_one")
    joined["simulated"] |= joined["examinee_simulated"].fillna(False)
    joined.loc[joined["generation_status"] != "ok", ["truth", "answer"]] = pd.NA
    order = ["condition", "task", "judge", "examinee", "item_id", "trial"]
    return joined[VERDICTS.names].sort_values(order, kind="stable", ignore_index=True)


def _compared(grades: pd.DataFrame) -> pd.DataFrame:
    """Each response's truth and its answer. What ran in a sandbox is a program."""
    answer = grades["answer"].where(grades["sandbox"].isna())
    return grades[[*_RESPONSE, "truth"]].assign(answer=answer)


def ungraded(grades: pd.DataFrame, generations: pd.DataFrame) -> pd.DataFrame:
    """The responses whose grading failed, each with its reason: an item at fault, or the sandbox."""
    failed = grades.loc[grades["truth"].isna(), [*_RESPONSE, "how"]]
    known = failed.merge(generations[[*_RESPONSE, "simulated"]], on=_RESPONSE, how="left")
    return known.rename(columns={"how": "reason"}).sort_values(_RESPONSE, ignore_index=True)
