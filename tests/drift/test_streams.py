"""Streams: what is drawn, from what, and what cannot be."""

import numpy as np
import pandas as pd
import pytest

from voirdire.drift import Scenario
from voirdire.drift.drawing import _distinct, _slots, observed_streams, resampled_streams
from voirdire.drift.population import population
from voirdire.panel import NotEnoughVerdicts, ballots
from voirdire.stats import bootstrap


def test_a_weeks_numbers_are_different_and_every_pair_equally_likely():
    picks = _distinct(np.full(20_000, 4), 2, np.random.default_rng(0))
    assert (picks[:, 0] != picks[:, 1]).all()
    pairs = np.bincount(picks[:, 0] * 4 + picks[:, 1], minlength=16)
    np.testing.assert_allclose(pairs[pairs > 0] / 20_000, 1 / 12, atol=0.008)


def test_the_whole_pool_can_be_drawn():
    picks = _distinct(np.array([7, 9]), 7, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(picks[0]), np.arange(7))
    assert len(set(picks[1])) == 7


def test_each_task_has_its_share_of_the_week_rounded_up_or_down():
    scenario = Scenario()
    task, place = _slots(scenario.mix(), 40, 2000, np.random.default_rng(0))
    counts = np.stack([(task == number).sum(axis=2) for number in (0, 1)], axis=-1)
    expected = scenario.mix() * 40
    assert (np.abs(counts - expected) < 1).all()
    np.testing.assert_allclose(counts.mean(axis=0), expected, atol=0.05)
    np.testing.assert_array_equal(place[0, 0], [*range(6), *range(34)])


def test_a_stream_has_eight_labels_a_week_and_they_are_true(verdicts):
    streams = observed_streams(population(verdicts, Scenario(), "blind"), seeds=30, seed=0)
    labelled = np.isfinite(streams.labels)
    assert (labelled.sum(axis=2) == 8).all()
    np.testing.assert_array_equal(streams.labels[labelled], streams.truth[labelled])
    # Neither the first nor any other place is favoured.
    np.testing.assert_allclose(labelled.mean(axis=(0, 1)), 0.2, atol=0.09)


def test_votes_are_those_of_the_five_other_judges(verdicts):
    streams = observed_streams(population(verdicts, Scenario(), "blind"), seeds=3, seed=0)
    assert (np.isfinite(streams.votes).sum(axis=3) == 5).all()
    assert (streams.quorum == 5).all()
    with_self = observed_streams(population(verdicts, Scenario(include_self=True), "blind"), seeds=3, seed=0)
    assert (np.isfinite(with_self.votes).sum(axis=3) == 6).all()


def test_a_smaller_panel_votes_with_a_smaller_quorum(verdicts):
    streams = observed_streams(population(verdicts, Scenario(panel_size=3), "blind"), seeds=3, seed=0)
    assert (np.isfinite(streams.votes).sum(axis=3) == 3).all()
    assert (streams.quorum == 3).all()


def test_true_rates_are_those_of_the_votes_that_can_be_cast(verdicts):
    streams = observed_streams(population(verdicts, Scenario(), "blind"), seeds=2, seed=0)
    box = ballots(verdicts).without_self()
    for number, task in enumerate(("aime", "gsm8k")):
        wrong = (box.task == task) & (box.truth == 0)
        np.testing.assert_allclose(streams.fpr[1, 0, number], np.nanmean(box.votes[wrong], axis=0))
        np.testing.assert_allclose(streams.prevalence[1, number], box.truth[box.task == task].mean())


def test_resampled_pools_differ_and_keep_their_number_of_responses(verdicts):
    streams = resampled_streams(population(verdicts, Scenario(), "blind"), seeds=160, seed=0)
    assert (streams.groups, streams.per_group) == (80, 2)
    prevalence = streams.grouped(streams.prevalence)[:, 0]
    np.testing.assert_array_equal(prevalence[0], prevalence[1])
    assert len(np.unique(prevalence[:, 0])) > 20
    truth = ballots(verdicts)
    np.testing.assert_allclose(prevalence[:, 0].mean(), truth.truth[truth.task == "aime"].mean(), atol=0.03)


def test_a_task_that_is_not_there_is_named(verdicts):
    scenario = Scenario(start={"gsm8k": 1.0}, end={"gsm8k": 0.2, "mbpp": 0.4, "quality": 0.4})
    with pytest.raises(NotEnoughVerdicts) as caught:
        population(verdicts, scenario, "blind")
    assert "task 'mbpp'; tasks in the verdicts: aime, gsm8k" in str(caught.value)
    assert "task 'quality'" in str(caught.value)


def test_a_pool_too_small_for_a_week_is_named(verdicts):
    one_examinee = verdicts[verdicts["examinee"] == "model0"]
    with pytest.raises(
        NotEnoughVerdicts, match="task 'aime' has 30 responses of known truth, and a week draws up to 34"
    ):
        population(one_examinee, Scenario(), "blind")


def test_a_pool_just_large_enough_works(verdicts):
    scenario = Scenario(per_week=35)
    pool = verdicts[verdicts["examinee"].isin(["model0"])]
    source = population(pool, scenario, "blind")
    assert resampled_streams(source, 80, 0).groups == 80


def test_responses_of_unknown_truth_and_later_trials_are_not_drawn(verdicts):
    unknown = verdicts["item_id"].isin(["aime-0000", "gsm8k-0000"])
    again = verdicts.assign(trial=1)
    frame = pd.concat([verdicts.assign(truth=verdicts["truth"].astype("boolean").mask(unknown)), again])
    assert len(population(frame, Scenario(), "blind").task) == (60 + 30 - 2) * 6


def test_items_that_are_left_out_do_not_shift_the_draws(verdicts):
    # An item without truth, and a task that is not of the scenario and sorts first.
    truth = verdicts["truth"].astype("boolean").mask(verdicts["item_id"] == "aime-0000")
    spoilt = pd.concat([verdicts.assign(truth=truth), verdicts.assign(task="a_" + verdicts["task"])])
    plain = population(verdicts[verdicts["item_id"] != "aime-0000"], Scenario(), "blind")
    streams = [resampled_streams(source, 80, 0) for source in (population(spoilt, Scenario(), "blind"), plain)]
    np.testing.assert_array_equal(*(each.votes for each in streams))


def test_many_items_are_resampled_in_blocks(verdicts, monkeypatch):
    source = population(verdicts, Scenario(), "blind")
    monkeypatch.setattr(bootstrap, "MANY_CLUSTERS", 80)
    monkeypatch.setattr(bootstrap, "BLOCKS", 40)
    streams = resampled_streams(source, seeds=160, seed=0)
    assert streams.groups == 80
    prevalence = streams.grouped(streams.prevalence)[:, 0].mean(axis=0)
    expected = [source.box.truth[source.task == number].mean() for number in (0, 1)]
    np.testing.assert_allclose(prevalence, expected, atol=0.03)
