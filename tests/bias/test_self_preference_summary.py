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
    assert "baseline-adjusted" in adjusted["sentence"]
    assert "not by the baseline-adjusted difference" in adjusted["sentence"]


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


def test_sentence_says_which_versions_support_preference():
    summary = self_preference_summary(planted(12, 1500, preference=0.2), resamples=200)
    sentence = one(summary, judge="bob", version="all", rate="fpr")["sentence"]
    assert sentence.startswith("bob: the word preference is supported by matched items (+")
    assert ", matched items with the same answer (+" in sentence
    assert " and the baseline-adjusted difference (+" in sentence
    assert not chosen(summary, version="all")["supports_preference"].any()
    for version in ("matched", "same_answer", "adjusted"):
        assert chosen(summary, version=version, rate="fpr")["supports_preference"].all()
    none = self_preference_summary(planted(13, 300), resamples=200)
    assert one(none, judge="all", version="all", rate="fpr")["sentence"].startswith("Over all judges: no version")


def test_a_study_of_code_says_that_it_has_no_answers_to_compare():
    frame = planted(14, 300, preference=0.2).assign(task="mbpp", answer=None)
    summary = self_preference_summary(frame, resamples=50)
    row = one(summary, judge="ann", version="same_answer", rate="fpr")
    assert row["reason"] == "no task has answers to compare"
    assert row["n_others"] == 0
    assert "same answer" not in row["sentence"]
