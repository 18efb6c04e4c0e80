"""Calibrated verdicts of a table: every response stays, no order counts, no label is in its own probability."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from panel_zoo import Kind, blind_spot, independent
from random_verdicts import shapes, verdicts_of
from vote_tables import verdict_table

from voirdire.errors import UserError
from voirdire.panel import compare_rules
from voirdire.panel.calibrate import ENOUGH_RESPONSES, KEYS, METHODS, calibrate
from voirdire.panel.calibration import calibrate_patterns

NAN = np.nan


@pytest.fixture(scope="module")
def few_labels():
    votes, truth = independent(Kind(5, 300, missing=0.1), seed=1)
    return verdict_table(votes, np.where(np.arange(300) % 10 == 0, truth, NAN)), votes, truth


def test_every_method_says_one_word_of_each_response(few_labels):
    frame, votes, truth = few_labels
    found = calibrate(frame)
    assert list(found["item_id"]) == sorted(frame["item_id"].unique())
    np.testing.assert_array_equal(found["n_votes"], np.isfinite(votes).sum(axis=1))
    np.testing.assert_array_equal(found["label"].dropna(), truth[::10])
    for method in METHODS:
        assert set(found[method]) <= {"correct", "incorrect", "abstain"}
        assert ((found[method] == "correct") == truth).mean() > 0.85
    assert found["probability"].between(0, 1, inclusive="neither").all()
    assert set(found["status"]) == {"ok"}


def test_the_hybrids_verdict_is_the_side_of_its_probability(few_labels):
    found = calibrate(few_labels[0])
    np.testing.assert_array_equal(found["hybrid"] == "correct", found["probability"] > 0.5)


def test_a_response_without_votes_or_below_the_quorum_stays_and_abstains():
    votes = np.array([[1, 1, 1], [NAN, NAN, NAN], [1, NAN, NAN], [0, 0, 0]])
    frame = verdict_table(votes, np.array([1, 0, 1, 0.0]))
    found = calibrate(frame, quorum=2)
    assert list(found["status"]) == ["ok", "abstain", "abstain", "ok"]
    assert list(found["n_votes"]) == [3, 0, 1, 3]
    for method in METHODS:
        assert list(found[method]) == ["correct", "abstain", "abstain", "incorrect"]
    np.testing.assert_array_equal(found["probability"].isna(), [False, True, True, False])
    assert list(calibrate(frame)["status"]) == ["ok", "abstain", "ok", "ok"]


@pytest.mark.parametrize(("tie", "word"), [("incorrect", "incorrect"), ("correct", "correct"), ("abstain", "abstain")])
def test_a_tie_is_what_it_is_set_to_be(tie, word):
    votes = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], float)
    found = calibrate(verdict_table(votes), tie=tie)
    for method in METHODS:
        assert list(found[method]) == [word, word, "correct", "incorrect"], method
    assert found["probability"].iloc[0] == pytest.approx(0.5)


def test_no_examinee_votes_on_its_own_responses_unless_asked():
    votes = np.array([[1, 0, 0], [1, 1, 0]], float)
    frame = verdict_table(votes, examinee="j0")
    assert list(calibrate(frame)["n_votes"]) == [2, 2]
    assert list(calibrate(frame, include_self=True)["n_votes"]) == [3, 3]


def test_the_label_of_a_response_has_no_say_in_its_probability(few_labels):
    frame, _, truth = few_labels
    other = frame.copy()
    mine = other["item_id"] == "t-0030"
    other.loc[mine, "truth"] = 1 - truth[30]
    before, after = (calibrate(each).set_index("item_id") for each in (frame, other))
    assert before.loc["t-0030", "label"] != after.loc["t-0030", "label"]
    assert before.loc["t-0030", "probability"] == pytest.approx(after.loc["t-0030", "probability"], abs=1e-9)
    assert (before["probability"] - after["probability"]).abs().max() > 1e-3


def test_unlabelled_responses_have_the_probability_of_the_pattern_model(few_labels):
    frame, votes, truth = few_labels
    unlabelled = np.arange(300) % 10 > 0
    sides = unlabelled, ~unlabelled & (truth == 1), ~unlabelled & (truth == 0)
    direct = calibrate_patterns(votes, *(side.astype(float) for side in sides)).probability(votes)
    np.testing.assert_allclose(calibrate(frame)["probability"][unlabelled], direct[unlabelled], atol=1e-9)


@settings(max_examples=12)
@given(names=st.permutations([f"k{j}" for j in range(5)]), order=st.integers(0, 99), seed=st.integers(0, 3))
def test_neither_the_order_of_rows_nor_the_names_of_judges_count(names, order, seed):
    unmoved(Kind(5, 24, missing=0.3), names, order, seed)


def test_nor_do_they_where_halves_of_the_judges_are_drawn():
    unmoved(Kind(8, 60, missing=0.3), ["k3", "k1", "k7", "k0", "k2", "k6", "k5", "k4"], 1, 0)


def unmoved(kind, names, order, seed):
    votes, truth = independent(kind, seed)
    frame = verdict_table(votes, np.where(np.arange(kind.responses) % 3 == 0, truth, NAN))
    shuffled = frame.sample(frac=1, random_state=order)
    shuffled["judge"] = shuffled["judge"].map({f"j{j}": name for j, name in enumerate(names)})
    one, other = calibrate(frame), calibrate(shuffled)
    pd.testing.assert_frame_equal(one.drop(columns="probability"), other.drop(columns="probability"))
    np.testing.assert_allclose(one["probability"], other["probability"], atol=1e-7)


def test_a_large_task_learns_from_itself_and_a_small_one_from_all():
    votes = independent(Kind(4, 3 * ENOUGH_RESPONSES), seed=5)[0]
    votes[ENOUGH_RESPONSES:, 0] = 1 - votes[ENOUGH_RESPONSES:, 0]
    first, second = votes[:ENOUGH_RESPONSES], votes[ENOUGH_RESPONSES:]
    alone = calibrate(verdict_table(first, task="a"))
    with_others = calibrate(pd.concat([verdict_table(first, task="a"), verdict_table(second, task="b")]))
    pd.testing.assert_frame_equal(alone, with_others[with_others["task"] == "a"].reset_index(drop=True))
    small = pd.concat([verdict_table(first[:20], task="a"), verdict_table(second, task="b")])
    pooled = calibrate(small).query("task == 'a'")["probability"].to_numpy()
    everything = np.concatenate([first[:20], second])
    none = np.zeros(len(everything))
    np.testing.assert_allclose(
        pooled, calibrate_patterns(everything, none + 1, none, none).probability(first[:20]), atol=1e-9
    )


def test_conditions_are_panels_of_their_own(few_labels):
    frame = few_labels[0]
    other = frame.assign(condition="elite", verdict=1.0, status="ok")
    found = calibrate(pd.concat([frame, other]))
    pd.testing.assert_frame_equal(
        found[found["condition"] == "blind"].reset_index(drop=True), calibrate(frame, condition="blind")
    )
    assert (found.loc[found["condition"] == "elite", "majority"] == "correct").all()
    with pytest.raises(UserError, match="author"):
        calibrate(frame, condition="author")


def test_labels_of_unequal_probability_are_weighted_by_it():
    """All that the panel rejects is labelled and a tenth of what it accepts, where most of the wrong ones are."""
    votes, truth = blind_spot(Kind(7, 1500, 0.5, 0.1, 0.1, spread=0.0), seed=2, share=0.6)
    accepted = votes.mean(axis=1) > 0.5
    chance = np.where(accepted, 0.1, 1.0)
    drawn = np.random.default_rng(0).random(1500) < chance
    frame = verdict_table(votes, np.where(drawn, truth, NAN))
    frame["label_probability"] = np.repeat(np.where(drawn, chance, NAN), 7)
    found = calibrate(frame)
    plain = calibrate(frame.drop(columns="label_probability"))
    off = [abs(each["probability"].mean() - truth.mean()) for each in (found, plain)]
    assert off[0] < 0.05
    assert not np.allclose(found["probability"], plain["probability"])
    frame["label_probability"] = 0.0
    with pytest.raises(UserError, match="label_probability: 0 for the labelled t t-00"):
        calibrate(frame)


def test_an_unknown_method_is_refused_and_nothing_judged_is_an_empty_table(few_labels):
    with pytest.raises(UserError, match="oracle"):
        calibrate(few_labels[0], methods=["oracle"])
    empty = calibrate(few_labels[0].iloc[:0])
    assert len(empty) == 0
    assert list(empty.columns) == list(calibrate(few_labels[0]).columns)
    assert list(calibrate(few_labels[0], methods=["hybrid"]).columns[5:]) == [
        *("n_votes", "hybrid", "probability", "label", "status")
    ]


@pytest.mark.parametrize("n_judges", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 5])
def test_tiny_panels_are_calibrated(n, n_judges):
    votes = np.random.default_rng(n).integers(0, 2, (n, n_judges)).astype(float)
    for truth in (None, np.ones(n), np.zeros(n)):
        found = calibrate(verdict_table(votes, truth))
        assert len(found) == n
        assert found["probability"].between(0, 1).all()


def test_real_panels_are_decided_as_well_as_by_the_best_rule(shared_data):
    found = {}
    for name in ("bluebird", "rte"):
        verdicts = pd.read_csv(shared_data / "verdicts" / f"{name}.csv")
        truth = verdicts.groupby("item_id")["truth"].first()
        decided = calibrate(verdicts.assign(truth=NAN)).set_index("item_id")
        found[name] = {method: ((decided[method] == "correct") == truth).mean() for method in METHODS}
    # Without labels the halves of either panel find one truth, so that Dawid-Skene is trusted.
    assert found["bluebird"]["hybrid"] >= found["bluebird"]["dawid_skene"] - 0.01
    assert found["bluebird"]["majority"] == pytest.approx(0.759, abs=0.001)
    assert found["rte"]["hybrid"] >= found["rte"]["majority"]


@settings(max_examples=5)
@given(shape=shapes())
def test_any_table_of_verdicts_is_calibrated_and_compared(shape):
    verdicts = verdicts_of(shape)
    found = calibrate(verdicts)
    judged = verdicts[verdicts["generation_status"] == "ok"]
    assert len(found) == len(judged.drop_duplicates(list(KEYS)))
    assert not found.duplicated(list(KEYS)).any()
    np.testing.assert_array_equal(found["status"] == "abstain", found["probability"].isna())
    for condition in verdicts["condition"].unique():
        if (judged["condition"] == condition).any():
            compare_rules(verdicts, n_labels=(0, 3), draws=2, condition=condition)
