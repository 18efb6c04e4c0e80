"""Scenarios: the mix of tasks over weeks, and faults named together."""

import numpy as np
import pytest

from voirdire.drift import Scenario
from voirdire.errors import UserError


def test_default_is_the_papers_drift():
    scenario = Scenario()
    assert (scenario.weeks, scenario.per_week, scenario.labels_per_week) == (12, 40, 8)
    assert scenario.tasks == ("aime", "gsm8k")
    np.testing.assert_allclose(scenario.mix()[[0, -1]], [[0.15, 0.85], [0.85, 0.15]])


def test_the_mix_is_linear_over_weeks_and_adds_up_to_one():
    mix = Scenario(weeks=5, start={"a": 1.0}, end={"b": 0.6, "c": 0.4}).mix()
    np.testing.assert_allclose(mix.sum(axis=1), 1)
    np.testing.assert_allclose(mix[:, 0], [1, 0.75, 0.5, 0.25, 0])
    np.testing.assert_allclose(mix[:, 2], [0, 0.1, 0.2, 0.3, 0.4])


def test_one_week_has_the_mix_of_the_start():
    np.testing.assert_allclose(Scenario(weeks=1).mix(), [[0.15, 0.85]])


@pytest.mark.parametrize(("weeks", "before"), [(12, 6), (5, 3), (2, 1), (1, 1)])
def test_an_abrupt_mix_changes_halfway(weeks, before):
    mix = Scenario(weeks=weeks, start={"a": 1.0}, end={"b": 1.0}, shift="abrupt").mix()
    np.testing.assert_array_equal(mix[:, 0], np.arange(weeks) < before)


def test_all_faults_are_named_at_once():
    with pytest.raises(UserError) as caught:
        Scenario(
            weeks=0,
            start={"a": 0.5},
            labels_per_week=50,
            labels="never",
            tie="coin",
            prior=(2, 0.2, 10),
            floor=0,
            shift="x",
        )
    for said in (
        "weeks is 0",
        "shift is 'x'",
        "start is {'a': 0.5}",
        "labels_per_week is 50",
        "'never'",
        "'coin'",
        "fpr 2",
        "floor",
    ):
        assert said in str(caught.value)
