"""One answer per judge: the mean over the other models, and whether it supports the word preference."""

import pandas as pd
import pytest
from preferring import answered, chosen, one, planted

from voirdire.bias import self_preference, self_preference_summary


def test_leniency_that_all_judges_share_is_no_preference_once_adjusted():
    # Ann's errors look plausible to everybody: raw self-preference of ann, none after adjusting.
    summary = self_preference_summary(planted(3, 1500, leniency={"ann": 0.25}), resamples=300)
    raw = one(summary, judge="ann", version="all", rate="fpr")
    adjusted = one(summary, judge="ann", version="adjusted", rate="fpr")
    assert raw["low"] > 0.15
    assert adjusted["low"] < 0 < adjusted["high"]
    assert adjusted["sentence"].startswith("ann: the word preference is not shown by the model")
    assert "the difference on items that both got wrong, +" in adjusted["sentence"]
    assert adjusted["sentence"].endswith("may be how good such answers look to anyone.")


def test_summary_is_the_mean_over_the_others(random_table):
    frame = answered(random_table(11))
    pairs, summary = self_preference(frame, resamples=50), self_preference_summary(frame, resamples=50)
    pooled = chosen(pairs, task="all")
    expected = pooled.groupby(["judge", "version", "rate"])["difference"].mean()
    found = chosen(summary[summary["judge"] != "all"]).set_index(["judge", "version", "rate"])["difference"]
    pd.testing.assert_series_equal(found.sort_index(), expected.sort_index(), check_exact=False)
    everyone = one(summary, judge="all", version="matched", rate="fpr")
    mean = chosen(pooled, version="matched", rate="fpr")["difference"].mean()
    assert everyone["difference"] == pytest.approx(mean)
    assert everyone["low"] < mean < everyone["high"]


def test_sentence_says_what_supports_preference():
    summary = self_preference_summary(planted(12, 1500, preference=0.2), resamples=200)
    sentence = one(summary, judge="bob", version="all", rate="fpr")["sentence"]
    assert sentence.startswith("bob: the word preference is supported by the model of judge, question and author (odds")
    assert summary["supports_preference"].all()
    none = self_preference_summary(planted(13, 300), resamples=200)
    assert one(none, judge="all", version="all", rate="fpr")["sentence"].startswith(
        "Over all judges: the word preference is not shown by "
    )
    assert not none["supports_preference"].any()


def test_holm_is_over_the_judges_and_too_few_answers_are_said_to_be():
    summary = self_preference_summary(planted(15, 400, preference=0.2), resamples=100)
    judges = chosen(summary, version="matched", rate="fpr")
    judges = judges[judges["judge"] != "all"]
    assert judges["p_holm"].min() == pytest.approx(min(1, len(judges) * judges["p"].min()))
    few = self_preference_summary(planted(16, 5), resamples=50)
    assert chosen(few, version="same_answer")["says"].eq("nothing").all()
    assert few["sentence"].str.contains("too few answers to tell|can't be tested").all()


def test_a_study_of_code_says_that_it_has_no_answers_to_compare():
    frame = planted(14, 300, preference=0.2).assign(task="mbpp", answer=None)
    summary = self_preference_summary(frame, resamples=50)
    row = one(summary, judge="ann", version="same_answer", rate="fpr")
    assert row["reason"] == "no task has answers to compare"
    assert row["n_others"] == 0
