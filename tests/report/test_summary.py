"""The answer first: sentences that stay true and grammatical down to one judge, one examinee and one item."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from voirdire.bias import rates, rates_by_examinee
from voirdire.report.summary import answer_first

Tables = dict[str, pd.DataFrame]


def said(tables: Tables) -> str:
    return " ".join(sentence.text for sentence in answer_first(tables)).replace("\u00a0", " ")


def rates_of(verdicts: list[tuple[str, str, bool, bool]]) -> Tables:
    """Tables of rates from (judge, examinee, verdict, truth), an item each per judge."""
    frame = pd.DataFrame(verdicts, columns=["judge", "examinee", "verdict", "truth"])
    item = frame.groupby(["judge", "examinee"]).cumcount().astype(str)
    frame = frame.assign(item_id=item, task="gsm8k", condition="blind", status="ok")
    return {"rates": rates(frame, 50), "rates_by_examinee": rates_by_examinee(frame, 50)}


@pytest.mark.parametrize(("verdict", "word"), [(True, "right"), (False, "wrong")])
def test_one_judge_one_examinee_one_item(verdict: bool, word: str):
    tables = rates_of([("alpha", "beta", verdict, True)])
    assert said(tables) == f"alpha, the only judge, is {word} in its only verdict."


def test_one_judge_is_neither_the_most_accurate_nor_the_most_lenient():
    text = said(rates_of([("alpha", "beta", True, truth) for truth in [True, False] * 20]))
    assert text.startswith("alpha, the only judge, is right in 50.0 % (")
    assert "of its 40 verdicts. " in text
    assert "accepts wrong responses more often than it rejects right ones: it accepts 100.0 %" in text
    for claim in ("most", "nan", "tasks weighing", "largest bias"):
        assert claim not in text


def test_one_judge_that_accepts_no_wrong_response_is_not_called_lenient():
    text = said(rates_of([("alpha", "beta", truth, truth) for truth in [True, False] * 20]))
    assert "alpha, the only judge with both right and wrong responses to judge, accepts 0.0 %" in text
    assert "whether it does so more often than it rejects right ones is undecided" in text


def test_handful_of_verdicts_names_no_most_accurate_judge():
    verdicts = [("alpha", "beta", truth, truth) for truth in [True, False, True]]
    verdicts += [("gamma", "beta", True, truth) for truth in [True, False, True]]
    text = said(rates_of(verdicts))
    assert text.startswith("With only 3 verdicts a judge, none can be called the most accurate; the highest accuracy")
    assert "most lenient" not in text
    assert "0 of 2 judges accept" in text


def test_judges_without_a_false_positive_have_no_most_lenient(make: Callable[..., Tables]):
    tables = make(("alpha", "beta"), ("gsm8k",))
    strict = {"fpr": 0.0, "fpr_low": 0.0, "fpr_high": 0.02}
    assert "most lenient" in said(tables)
    assert "most lenient" not in said({**tables, "rates": tables["rates"].assign(**strict)})


def test_most_lenient_of_strict_judges_is_the_least_strict(make: Callable[..., Tables]):
    tables = make(("alpha", "beta"), ("gsm8k",))
    rates = tables["rates"]
    down = rates.assign(bias=rates["bias"] - 1, bias_low=rates["bias_low"] - 1, bias_high=rates["bias_high"] - 1)
    assert "the least strict is beta" in said({**tables, "rates": down})


def test_judges_that_are_never_right_have_no_most_accurate(hopeless: Tables):
    text = said(hopeless)
    assert text.startswith("None of the 2 judges is right in any of its 12 verdicts, so none can be called the most ac")
    assert "0.0 %" not in text


@pytest.mark.parametrize(("n_best", "who"), [(2, "alpha and beta"), (3, "alpha, beta and gamma")])
def test_judges_of_the_same_accuracy_share_it(make: Callable[..., Tables], n_best: int, who: str):
    tables = make(("alpha", "beta", "gamma"), ("gsm8k",))
    best = tables["rates"]["judge"].isin(["alpha", "beta", "gamma"][:n_best])
    rates = tables["rates"].assign(accuracy=tables["rates"]["accuracy"].mask(best, 0.95))
    text = said({**tables, "rates": rates})
    assert f"{who} share the highest accuracy, 95.0 % (" in text
    assert "so none can be called the most accurate" in text
    assert "is the most accurate" not in text


def test_weighted_votes_of_the_same_accuracy_have_no_best(make: Callable[..., Tables]):
    drift = make(("alpha", "beta"), ("gsm8k",))["drift"]
    text = said({"drift": drift.assign(accuracy=0.0, difference_to_majority=0.0)})
    assert "the weighted votes (bayesian, stratified and disagreement) are 0.0 % accurate, level with the" in text
    two = drift["accuracy"].mask(drift["estimator"] == "bayesian", 0.938).mask(drift["week"] > 0, 0.9)
    assert "the best weighted votes (bayesian and disagreement) are 93.8 %" in said(
        {"drift": drift.assign(accuracy=two)}
    )


def test_missing_interval_leaves_the_order_undecided(make: Callable[..., Tables]):
    tables = make(("alpha", "beta"), ("gsm8k",))
    text = said({**tables, "rates": tables["rates"].assign(accuracy_low=np.nan, accuracy_high=np.nan)})
    assert "clear of" not in text
    assert "nan" not in text


def test_smallest_studies_have_sentences_without_nan_or_false_plural(smallest: Tables):
    text = said(smallest)
    for slip in ("nan", "of 1 judges", "of 1 models"):
        assert slip not in text


def test_self_preference_of_one_judge_is_not_counted(make: Callable[..., Tables]):
    tables = make(("alpha",), ("gsm8k",))
    text = said({"self_preference_summary": tables["self_preference_summary"]})
    assert text.startswith("alpha, the only judge with wrong responses of its own, accepts them more often than other")
    assert "where difficulty is equal, it does; a model of judge, question and author supports" in text
