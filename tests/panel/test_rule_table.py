"""The table of rules: by hand on a few responses, each rule by its own function, and its page."""

import numpy as np
import pandas as pd
import pytest
from panel_rules_page import page
from panel_zoo import Kind, independent
from scipy.stats import hypergeom
from vote_tables import real_panels, verdict_table

from voirdire.errors import UserError
from voirdire.panel import Bayesian, Hybrid, compare_rules, weighted
from voirdire.panel.rule_scores import accuracies, expected_calibration_error
from voirdire.panel.rule_table import COLUMNS

NAN = np.nan


def one(frame, rule, n_labels=0):
    rows = frame[(frame["rule"] == rule) & (frame["n_labels"] == n_labels)]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.fixture(scope="module")
def drawn():
    votes, truth = independent(Kind(5, 240, missing=0.1), seed=1)
    return votes, truth, compare_rules(verdict_table(votes, truth), n_labels=(0, 20), draws=60, seed=3)


def test_scores_by_hand():
    right, wrong = np.array([[3.0, 1, 0]]), np.array([[1.0, 0, 5]])
    accuracy, balanced = accuracies(np.array([1.0, NAN, 0.0]), right, wrong)
    assert (accuracy[0], balanced[0]) == pytest.approx((8 / 9, (1 + 5 / 6) / 2))
    # Bins at .9 (4 responses, 3 right), .55 (1, right) and .1 (5, none right).
    probability = np.array([0.9, 0.55, 0.1])
    expected = (abs(3.6 - 3) + abs(0.55 - 1) + abs(0.5 - 0)) / 10
    assert expected_calibration_error(probability, right, wrong)[0] == pytest.approx(expected)
    assert np.isnan(accuracies(np.full(3, NAN), right, wrong)[0][0])


def test_without_labels_each_rule_is_its_own_function(drawn):
    votes, truth, frame = drawn
    majority = one(frame, "majority")
    said = np.nanmean(votes, axis=1) > 0.5
    assert majority["accuracy"] == pytest.approx((said == truth).mean())
    assert majority["prevalence_error"] == pytest.approx(abs(said.mean() - truth.mean()))
    assert (majority["draws"], majority["n_responses"], majority["accuracy_se"]) == (1, 240, 0)
    hybrid = Hybrid(5)
    hybrid.update(votes)
    probability = hybrid.probability(votes)
    assert one(frame, "hybrid")["accuracy"] == pytest.approx(((probability > 0.5) == truth).mean())
    assert one(frame, "hybrid")["prevalence_error"] == pytest.approx(abs(probability.mean() - truth.mean()))
    rates = Bayesian(5).rates()
    prior = weighted(votes, rates.fpr, rates.fnr)
    assert one(frame, "linear_bayesian")["accuracy"] == pytest.approx((prior == truth).mean())
    assert not ((frame["n_labels"] == 0) & frame["rule"].isin(["best_single", "labels_alone"])).any()


def test_labels_alone_err_as_a_binomial_share_does(drawn):
    _, truth, frame = drawn
    row, share = one(frame, "labels_alone", 20), truth.mean()
    sd = np.sqrt(share * (1 - share) / 20 * (240 - 20) / 239)
    assert row["prevalence_error"] == pytest.approx(sd * np.sqrt(2 / np.pi), abs=4 * row["prevalence_error_se"])
    # A right response more than half of the labels, and all others are accepted; the rest of the right ones are hits.
    k, n_right = np.arange(21), truth.sum()
    hits = np.where(k > 10, n_right - k, 220 - (n_right - k)) / 220
    assert row["accuracy"] == pytest.approx(hits @ hypergeom(240, n_right, 20).pmf(k), abs=4 * row["accuracy_se"])
    assert np.isfinite(row["ece"])


def test_the_difference_is_paired_and_the_oracle_is_best(drawn):
    frame = drawn[2]
    labelled = frame[frame["n_labels"] == 20].set_index("rule")
    majority = labelled.loc["majority", "accuracy"]
    np.testing.assert_allclose(labelled["difference_to_majority"], labelled["accuracy"] - majority, atol=1e-12)
    assert labelled.loc["majority", "difference_to_majority_se"] == 0
    # The same responses are left out for both, so that the difference is known better than either.
    assert labelled.loc["dawid_skene", "difference_to_majority_se"] < labelled.loc["dawid_skene", "accuracy_se"]
    oracle = labelled.loc["log_odds_oracle", "accuracy"]
    assert (labelled["accuracy"] <= oracle + 0.01).all()
    assert labelled["ece"].isna().equals(pd.Series(~labelled.index.isin(HAVE_PROBABILITY), labelled.index, name="ece"))


HAVE_PROBABILITY = [
    *("dawid_skene", "hybrid", "labels_alone"),
    *(f"log_odds_{name}" for name in ("bayesian", "disagreement", "dawid_skene", "hybrid", "oracle")),
]


def test_draws_are_the_seeds_and_no_order_of_judges_counts(drawn):
    votes, truth, frame = drawn
    again = compare_rules(verdict_table(votes[:, ::-1], truth), n_labels=(0, 20), draws=60, seed=3)
    numbers = frame.select_dtypes("number").columns
    np.testing.assert_allclose(again[numbers], frame[numbers], atol=1e-9)
    other = compare_rules(verdict_table(votes, truth), n_labels=(20,), draws=60, seed=4)
    assert one(other, "majority", 20)["accuracy"] != one(frame, "majority", 20)["accuracy"]


def test_tasks_are_tried_alone_and_together():
    votes, truth = independent(Kind(4, 80), seed=2)
    frame = pd.concat([verdict_table(votes[:30], truth[:30], "a"), verdict_table(votes[30:], truth[30:], "b")])
    found = compare_rules(frame, n_labels=(0, 5), draws=3)
    assert list(found["task"].unique()) == ["a", "b", "all"]
    assert list(found.groupby("task")["n_responses"].max()) == [30, 80, 50]


def test_where_no_response_is_left_it_says_so():
    votes, truth = independent(Kind(3, 10), seed=2)
    found = compare_rules(verdict_table(votes, truth), n_labels=(0, 9, 10), draws=4)
    assert found[found["n_labels"] == 9]["accuracy"].notna().all()
    last = found[found["n_labels"] == 10]
    assert list(last["rule"]) == ["majority"]
    assert last["accuracy"].isna().all()
    assert "none is left" in last["reason"].item()


@pytest.mark.parametrize("n_judges", [1, 2, 8])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_tiny_panels_and_one_class_are_no_trouble(n_judges, share):
    votes = np.random.default_rng(0).integers(0, 2, (15, n_judges)).astype(float)
    votes[3] = NAN
    found = compare_rules(verdict_table(votes, np.full(15, share)), n_labels=(0, 4), draws=3)
    assert found["balanced_accuracy"].isna().all()
    assert found["accuracy"].between(0, 1).all()
    assert (found[found["n_labels"] == 0]["n_responses"] == 14).all()


def test_without_known_truth_the_table_is_empty_and_nonsense_is_refused():
    votes = np.ones((4, 3))
    for frame in (verdict_table(votes), verdict_table(votes).iloc[:0]):
        assert list(compare_rules(frame).columns) == list(COLUMNS)
        assert len(compare_rules(frame)) == 0
    with pytest.raises(UserError, match="at least 1 draw"):
        compare_rules(verdict_table(votes), draws=0)


def test_the_page_is_made_of_real_verdicts(shared_data):
    made = page(real_panels(shared_data / "verdicts"), draws=2, animals=["3 independent"])
    assert made.count("| hybrid |") == 9
    assert "| 3 independent |" in made


@pytest.mark.slow
def test_the_page_is_what_the_verdicts_give(shared_data):
    from pathlib import Path

    written = (Path(__file__).parents[2] / "docs" / "panel_rules.md").read_text()
    assert page(real_panels(shared_data / "verdicts")) == written
