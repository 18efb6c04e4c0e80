"""What estimators are told and when, and that neither streams, judges nor rows depend on each other's places."""

from dataclasses import replace

import numpy as np
import pytest

from voirdire.drift import Scenario
from voirdire.drift.beliefs import believe, believe_all
from voirdire.drift.drawing import observed_streams
from voirdire.drift.population import population
from voirdire.drift.rules import label_accuracy
from voirdire.drift.running import rules_of
from voirdire.panel import ESTIMATORS
from voirdire.panel.forgetting import Forgetting

ALL = tuple(ESTIMATORS)
LABEL_FREE = ("disagreement", "dawid_skene")


@pytest.fixture(scope="module")
def streams(verdicts):
    return observed_streams(population(verdicts, Scenario(), "blind"), seeds=5, seed=0)


def said(belief):
    """Everything that the votes of a week are weighed by."""
    parts = [belief.rates.reshape(*belief.rates.shape[:2], -1), belief.prevalence[..., None]]
    return np.concatenate(parts if belief.probability is None else [*parts, belief.probability], axis=2)


def test_there_are_six_estimators():
    assert {"oracle", "bayesian", "stratified", *LABEL_FREE, "hybrid"} == set(ALL)


@pytest.mark.parametrize("name", [name for name in ALL if name != "oracle"])
@pytest.mark.parametrize("week", [0, 4, 11])
def test_no_vote_sees_its_own_label(streams, name, week):
    scenario = Scenario()
    labels = streams.labels.copy()
    labels[:, week] = 1 - labels[:, week]
    changed = replace(streams, labels=labels)
    before, after = (said(believe(name, each, scenario)) for each in (streams, changed))
    np.testing.assert_array_equal(before[:, : week + 1], after[:, : week + 1])
    best = [label_accuracy(each, scenario) for each in (streams, changed)]
    np.testing.assert_array_equal(best[0][:, : week + 1], best[1][:, : week + 1])
    if name not in LABEL_FREE and week < 11:
        assert (before[:, week + 1] != after[:, week + 1]).any()
    early = replace(scenario, labels="before_votes")
    told = [said(believe(name, each, early))[:, week] for each in (streams, changed)]
    assert (told[0] == told[1]).all() == (name in LABEL_FREE)


@pytest.mark.parametrize("name", [*LABEL_FREE, "hybrid"])
def test_what_learns_from_verdicts_has_seen_the_weeks_own(streams, name):
    votes = streams.votes.copy()
    votes[:, 3] = 1 - votes[:, 3]
    before, after = (said(believe(name, each, Scenario())) for each in (streams, replace(streams, votes=votes)))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert (before[:, 3] != after[:, 3]).any(axis=1).all()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("forgetting", [None, Forgetting(half_life=2)])
def test_all_streams_at_once_are_one_at_a_time(streams, name, forgetting):
    scenario = Scenario(forgetting=forgetting)
    at_once = said(believe(name, streams, scenario))
    for number in range(5):
        alone = said(believe(name, streams.take(slice(number, number + 1)), scenario))
        np.testing.assert_allclose(at_once[number], alone[0], atol=1e-9)


def test_chunks_of_streams_are_all_of_them(streams, monkeypatch):
    whole = believe_all(ALL, streams, Scenario())
    monkeypatch.setattr("voirdire.drift.beliefs.CHUNK", 2)
    for name, belief in believe_all(ALL, streams, Scenario()).items():
        np.testing.assert_allclose(said(belief), said(whole[name]), atol=1e-9)


def test_no_rule_depends_on_the_order_of_judges_responses_or_streams(streams):
    rng = np.random.default_rng(0)
    judges, responses, order = rng.permutation(6), rng.permutation(40), rng.permutation(5)
    by_judge = {name: getattr(streams, name)[..., judges] for name in ("votes", "can_vote", "fpr", "fnr")}
    turned = replace(streams, **by_judge)
    by_response = ("votes", "can_vote", "truth", "labels", "quorum", "task")
    turned = replace(turned, **{name: getattr(turned, name)[:, :, responses] for name in by_response})
    by_stream = (*by_response, "fpr", "fnr", "prevalence")
    turned = replace(turned, **{name: getattr(turned, name)[order] for name in by_stream})
    plain, found = (rules_of(each, Scenario(), ALL)[1] for each in (streams, turned))
    for key, rule in found.items():
        expected = plain[key]
        there = expected.right[order][..., responses]
        if expected.right.shape[2] == 6:
            there = there[:, :, judges]
        np.testing.assert_array_equal(rule.right, there, err_msg=str(key))


@pytest.mark.parametrize("name", [name for name in ALL if name != "oracle"])
def test_with_a_window_of_a_week_only_the_last_one_counts(streams, name):
    scenario = Scenario(forgetting=Forgetting(window=1))
    votes, labels = streams.votes.copy(), streams.labels.copy()
    votes[:, :5], labels[:, :5] = 1 - votes[:, :5], 1 - labels[:, :5]
    before, after = (
        said(believe(name, each, scenario)) for each in (streams, replace(streams, votes=votes, labels=labels))
    )
    assert (before[:, 4] != after[:, 4]).any()
    np.testing.assert_allclose(before[:, 6:], after[:, 6:], atol=1e-9)


def test_hybrids_probability_is_a_rule_of_its_own(streams):
    beliefs, rules = rules_of(streams, Scenario(), ALL)
    probability = beliefs["hybrid"].probability
    assert probability.shape == streams.truth.shape
    assert ((probability > 0) & (probability < 1)).all()
    expected = (probability > 0.5) == (streams.truth == 1)
    np.testing.assert_array_equal(rules["wmv", "hybrid", "probability"].right[:, :, 0], expected)
    assert [key for key in rules if key[2] == "probability"] == [("wmv", "hybrid", "probability")]
