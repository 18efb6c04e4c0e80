"""The prior sweep: one row per prior, on the streams of the simulation."""

import numpy as np
import pandas as pd
import pytest

from voirdire.drift import Scenario, prior_sweep, simulate
from voirdire.errors import UserError


@pytest.fixture(scope="module")
def sweep(verdicts):
    return prior_sweep(verdicts, seeds=20)


def test_default_grid_is_eighty_with_the_papers_prior_once(sweep):
    assert len(sweep) == 80
    assert [sweep[name].nunique() for name in ("prior_fpr", "prior_fnr", "strength")] == [4, 4, 5]
    default = sweep[sweep["is_default"]]
    assert default[["prior_fpr", "prior_fnr", "strength"]].to_numpy().tolist() == [[0.4, 0.2, 10.0]]


@pytest.mark.parametrize("labels", ["after_votes", "before_votes"])
def test_default_prior_is_the_simulations_bayesian(verdicts, labels):
    scenario = Scenario(labels=labels)
    weeks = simulate(verdicts, scenario, seeds=20).weeks.query("week == 0")
    bayesian = weeks[(weeks["estimator"] == "bayesian") & (weeks["weights"] == "linear")].iloc[0]
    plain = weeks[weeks["rule"] == "majority"].iloc[0]
    default = prior_sweep(verdicts, scenario, (0.4,), (0.2,), (10.0,), seeds=20).iloc[0]
    assert (default["accuracy"], default["majority"]) == (bayesian["accuracy"], plain["accuracy"])
    assert (default["low"], default["high"]) == (bayesian["low"], bayesian["high"])
    for end in ("", "_low", "_high"):
        assert default[f"difference{end}"] == pytest.approx(bayesian[f"difference_to_majority{end}"], abs=1e-12)


def test_a_prior_that_labels_cannot_move_with_equal_rates_is_the_majority(verdicts):
    stubborn = prior_sweep(verdicts, fpr=(0.3,), fnr=(0.3,), strength=(1e15,), seeds=10).iloc[0]
    assert stubborn["difference"] == 0
    assert not stubborn["is_default"]


def test_differences_are_to_the_same_majority(sweep):
    assert sweep["majority"].nunique() == 1
    np.testing.assert_allclose(sweep["difference"], sweep["accuracy"] - sweep["majority"])
    assert (sweep["difference_low"] <= sweep["difference"]).all()
    assert (sweep["difference"] <= sweep["difference_high"]).all()


def test_same_seed_same_table(verdicts, sweep):
    pd.testing.assert_frame_equal(prior_sweep(verdicts, seeds=20), sweep)


@pytest.mark.parametrize(
    ("grid", "said"), [({"fpr": ()}, "grid is empty"), ({"strength": (0,)}, "strength 0 must be above 0")]
)
def test_bad_grids_are_named(verdicts, grid, said):
    with pytest.raises(UserError, match=said):
        prior_sweep(verdicts, seeds=2, **grid)
