"""Why a table of the study is empty, in a sentence."""

from collections.abc import Mapping

import pandas as pd

from voirdire.bias.ablation_identity import labelled_conditions
from voirdire.bias.ablation_template import other_templates
from voirdire.bias.families import known_families, same_family
from voirdire.bias.rows import prepared, usable


def explain_absent(
    verdicts: pd.DataFrame, main: str = "blind", families: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Which tables these verdicts cannot give, and why.

    Returns table name → sentence; a table that can be made is not in it. Names are those of the tidy tables, and
    of the paper's where only a part of `correlations` is missing. verdicts: as `voirdire.tables.VERDICTS`. families:
    model → family; a model that it lacks is a family of its own.
    """
    rows = prepared(verdicts)
    conditions = set(rows["condition"])
    blind = usable(rows[rows["condition"] == main] if len(conditions) > 1 else rows)
    absent: dict[str, str] = {}
    if blind.empty:
        sentence = "No verdict can be compared with the truth: none has status ok and a known truth."
        names = (
            "rates",
            "rates_by_examinee",
            "correlations",
            "self_preference",
            "ablation_length",
            "family_preference",
            "leniency",
        )
        absent.update(dict.fromkeys((*names, "ablation_difficulty", "difficulty_curve", "ensembles"), sentence))
    else:
        absent.update(_without_diagonal(blind))
        absent.update(_without_relatives(blind, known_families(families)))
        absent.update(_too_few(blind))
        absent.update(_without_wrong(blind))
        if not ((blind["truth"] == 0) & _known_length(blind)).any():
            absent["ablation_length"] = (
                "No wrong response of known length was judged, so accepted and rejected ones can't be compared."
            )
    absent.update(_without_labels(rows, main))
    if not other_templates(rows, main):
        absent["ablation_template"] = "Judges were asked in one template only, so there is no other to compare it with."
    if not (rows["trial"] != rows["trial"].min()).any():
        absent["trial_agreement"] = (
            "Each verdict was asked for once (trials: 1), so a judge can't disagree with itself."
        )
    return absent


def _known_length(rows: pd.DataFrame) -> "pd.Series[bool]":
    if "response_chars" not in rows.columns:
        return pd.Series(False, index=rows.index)
    return rows["response_chars"].notna()


def _without_wrong(rows: pd.DataFrame) -> dict[str, str]:
    wrong = rows[rows["truth"] == 0]
    n = wrong["examinee"].nunique()
    if n > 1:
        return {}
    cause = "No wrong response was judged" if n == 0 else "Wrong responses of one examinee only were judged"
    return {"leniency": f"{cause}, so stronger and weaker examinees' wrong responses can't be compared."}


def _without_diagonal(rows: pd.DataFrame) -> dict[str, str]:
    judges, examinees = set(rows["judge"]), set(rows["examinee"])
    if (rows["judge"] == rows["examinee"]).any():
        return {}
    both = sorted(judges & examinees)
    cause = (
        f"No model has judged its own responses ({', '.join(both)} took both roles, but not together)"
        if both
        else "No model is both judge and examinee"
    )
    over_difficulty = f"{cause}, so own and others' responses can't be compared over difficulty."
    absent = {
        "self_preference": f"{cause}, so a judge's own responses can't be compared with others'.",
        "ablation_difficulty": over_difficulty,
        "difficulty_curve": over_difficulty,
        "table02_static_majority": f"{cause}, so the majority has no self-judge to be compared with.",
    }
    if not both:
        sentence = f"{cause}, so no judge has an accuracy on the task itself to correlate with."
        absent["table06_task_accuracy_judge_accuracy"] = absent["table07_task_accuracy_bias"] = sentence
    return absent


def _without_relatives(rows: pd.DataFrame, families: Mapping[str, str]) -> dict[str, str]:
    pairs = rows[["judge", "examinee"]].drop_duplicates()
    pairs = pairs[pairs["judge"] != pairs["examinee"]]
    judged = list(pairs.itertuples(index=False, name=None))
    relatives = {judge for judge, examinee in judged if same_family(judge, examinee, families)}
    outsiders = {judge for judge, examinee in judged if not same_family(judge, examinee, families)}
    if relatives & outsiders:
        return {}
    cause = (
        "No judge has judged a model of another family" if relatives else "No judge has judged another of its family"
    )
    if relatives and outsiders:
        cause = "No judge has judged both another of its family and a model of another one"
    return {"family_preference": f"{cause}, so a family's own responses can't be compared with others'."}


def _too_few(rows: pd.DataFrame) -> dict[str, str]:
    n_judges, n_examinees = rows["judge"].nunique(), rows["examinee"].nunique()
    absent = {}
    if n_judges < 3:
        sentence = f"A correlation over judges needs 3 of them, and there {_are(n_judges)}: its r has no value."
        for name in (
            "table06_task_accuracy_judge_accuracy",
            "table07_task_accuracy_bias",
            "table08_judge_accuracy_bias",
        ):
            absent[name] = sentence
    if n_examinees < 3:
        absent["table09_examinee_accuracy_bias_received"] = (
            f"A correlation over examinees needs 3 of them, and there {_are(n_examinees)}: its r has no value."
        )
    return absent


def _are(n: int) -> str:
    return "is 1" if n == 1 else f"are {n}"


def _without_labels(rows: pd.DataFrame, main: str) -> dict[str, str]:
    labels = labelled_conditions(rows, main)
    if labels and main in set(rows["condition"]):
        return {}
    what = f"condition {main!r}" if labels else "condition with an identity label (elite, author)"
    return {"ablation_identity": f"There is no {what}, so labelled and blind verdicts can't be compared."}
