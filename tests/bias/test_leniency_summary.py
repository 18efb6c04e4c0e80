"""Whether the leniency survives equal difficulty: one sentence, from the numbers of the table."""

import numpy as np
import pandas as pd
import pytest
from lenient import FAMILIES, panel

from voirdire.bias import leniency, leniency_summary
from voirdire.bias.leniency_summary import LENIENCY_SUMMARY_COLUMNS


def answer(main, plain=(0.5, 0.4, 0.6), reason="", task="gsm8k", p=0.001):
    """main: estimate, low, high, leave_out_low, leave_out_high of the conditional model; plain: pooled ones."""
    rows = []
    for method, values in (("pooled", (*plain, np.nan, np.nan)), ("conditional", main)):
        numbers = dict(zip(("estimate", "low", "high", "leave_out_low", "leave_out_high"), values, strict=True))
        rows.append({"task": task, "method": method, "judge": "all", "term": "examinee_accuracy", **numbers})
    return leniency_summary(pd.DataFrame(rows).assign(p=p, reason=reason, simulated=False)).iloc[0]


def test_leniency_survives_where_interval_and_range_lie_above_nothing():
    row = answer(np.log([1.32, 1.21, 1.44, 1.18, 1.45]), task="all")
    assert row["survives"] == "yes"
    assert row["sentence"] == (
        "Over all tasks the leniency towards stronger examinees survives equal difficulty, for these examinees: on the "
        "same question and for the same judge each 10 points of accuracy multiply the odds of accepting a wrong answer "
        "by 1.32 (1.21 to 1.44; 1.18 to 1.45 when any one examinee is left out)."
    )


@pytest.mark.parametrize(
    ("main", "survives", "why"),
    [
        ((0.3, 0.2, 0.4, -0.1, 0.5), "undecided", "it rests on one examinee"),
        ((0.3, 0.2, 0.4, np.nan, np.nan), "undecided", "no estimate of it without x"),
        ((0.1, -0.1, 0.3, 0.05, 0.2), "undecided", "the interval holds 1"),
        ((0.1, -0.1, 0.19, 0.05, 0.19), "no", "less than half can be left"),
        ((0.1, -0.1, 0.21, 0.05, 0.19), "undecided", "the interval holds 1"),
        ((0.0, -0.1, 0.1, -0.1, 0.3), "undecided", "the interval holds 1"),
        ((-0.3, -0.4, -0.2, -0.5, -0.1), "no", "it turns round"),
        ((-0.3, -0.4, -0.2, -0.5, 0.1), "no", "less than half can be left"),
    ],
)
def test_what_else_can_be_said(main, survives, why):
    row = answer(main, reason="no estimate of it without x")
    assert row["survives"] == survives
    assert row["reason"].startswith(why) or why in row["reason"]
    assert row["reason"] in row["sentence"]
    assert row["sentence"].startswith("On gsm8k ")
    assert ("left out)" in row["sentence"]) == (not np.isnan(main[3]))


def test_half_of_the_plain_slope_is_half_of_the_least_that_it_may_be():
    row = answer((0.1, -0.3, 0.49, 0.0, 0.3), plain=(1.0, 0.02, 1.98))
    assert row["survives"] == "undecided"


def test_a_test_that_does_not_reject_leaves_it_undecided():
    row = answer((0.3, 0.01, 0.6, 0.2, 0.4), p=0.07)
    assert row["survives"] == "undecided"
    assert "the test doesn't reject (p = 0.07)" in row["sentence"]


def test_without_plain_leniency_there_is_nothing_to_lose():
    row = answer((0.0, -0.1, 0.1, -0.1, 0.1), plain=(0.05, -0.1, 0.2))
    assert row["survives"] == "undecided"
    assert "nor is there leniency without regard to difficulty" in row["sentence"]


def test_without_an_estimate_the_sentence_says_why():
    row = answer((np.nan,) * 5, reason="no judge both accepted and rejected")
    assert row["survives"] == "undecided"
    assert row["sentence"] == (
        "On gsm8k nothing can be said of leniency at equal difficulty: no judge both accepted and rejected."
    )


def test_planted_leniency_survives_and_mere_difficulty_does_not():
    planted = leniency_summary(leniency(panel(400, 21, slope=0.4), families=FAMILIES, resamples=20))
    mere = leniency_summary(leniency(panel(900, 7, difficulty=1.5), families=FAMILIES, resamples=20))
    assert planted["survives"].tolist() == ["yes", "yes"]
    assert mere["survives"].tolist() == ["no", "no"]


def test_no_table_no_rows():
    empty = leniency_summary(leniency(panel(2, 0).head(0)))
    assert empty.empty
    assert empty.columns.tolist() == LENIENCY_SUMMARY_COLUMNS
