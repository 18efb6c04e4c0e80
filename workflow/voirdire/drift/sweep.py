"""How much the Bayesian estimator's prior matters: every prior on the same streams."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from voirdire.drift.beliefs import known_so_far
from voirdire.drift.drawing import observed_streams, resampled_streams
from voirdire.drift.grid import FNR, FPR, SEEDS, STRENGTH
from voirdire.drift.outcomes import Uncertainty
from voirdire.drift.population import population
from voirdire.drift.rules import voted
from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import Streams
from voirdire.errors import UserError
from voirdire.panel.rates import Prior, beta_mean
from voirdire.panel.tabulated import Tabulated, tabulate
from voirdire.panel.votes import FloatArray, split, tally, weigh_split


def prior_sweep(
    verdicts: pd.DataFrame,
    scenario: Scenario | None = None,
    fpr: Sequence[float] = FPR,
    fnr: Sequence[float] = FNR,
    strength: Sequence[float] = STRENGTH,
    seeds: int = SEEDS,
    seed: int = 0,
    condition: str | None = "blind",
    level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy over all weeks of the Bayesian weighted vote (linear weights) under each prior, against the majority's.

    Arguments as in `simulate`; fpr, fnr, strength: the grid. The streams are those of `simulate` with the same seeds,
    so that the scenario's own prior (`is_default`) has exactly the accuracy and the difference that it has there.
    Returns one row per prior: accuracy, majority (the same for all) and their difference, with intervals.
    """
    scenario = scenario or Scenario()
    grid, priors = _grid(fpr, fnr, strength)
    source = population(verdicts, scenario, condition)
    streams = observed_streams(source, seeds, seed), resampled_streams(source, seeds, seed)
    observed, resampled = (_measured(each, scenario, priors) for each in streams)
    uncertainty = Uncertainty(2 * streams[1].per_group / seeds, level, source.n_items()[0])
    found = uncertainty.of_share(observed.accuracy, resampled.accuracy)
    gain = uncertainty.of_difference(observed.gain, resampled.gain)
    frame = pd.DataFrame(grid, columns=["prior_fpr", "prior_fnr", "strength"])
    return frame.assign(
        n_seeds=seeds,
        accuracy=found.value,
        low=found.low,
        high=found.high,
        majority=observed.majority[0],
        difference=gain.value,
        difference_low=gain.low,
        difference_high=gain.high,
        is_default=[values == tuple(scenario.prior) for values in grid],
        seed=seed,
        simulated=source.box.simulated,
    )


def _grid(
    fpr: Sequence[float], fnr: Sequence[float], strength: Sequence[float]
) -> tuple[list[tuple[float, float, float]], list[Prior]]:
    """Every combination, and the priors that they make."""
    grid = list(product(fpr, fnr, strength))
    if not grid:
        raise UserError("prior sweep: the grid is empty; give at least one fpr, fnr and strength")
    return grid, [Prior(*values) for values in grid]


@dataclass(frozen=True)
class _Measured:
    """Over all weeks, (groups, priors): accuracy and gain over the majority; and the majority's accuracy, (groups,)."""

    accuracy: FloatArray
    gain: FloatArray
    majority: FloatArray


def _measured(streams: Streams, scenario: Scenario, priors: Sequence[Prior]) -> _Measured:
    majority = voted(tally(streams.votes), streams, scenario)
    # The labels that a judge has been compared with don't depend on the prior: counted once for all.
    known, votes = _known_errors(streams, scenario), split(streams.votes)
    accuracy, gain = [], []
    for prior in priors:
        fpr = beta_mean(known.accepted_wrong, known.n_wrong, prior.fpr, prior.strength)
        fnr = beta_mean(known.rejected_right, known.n_right, prior.fnr, prior.strength)
        said = voted(weigh_split(*votes, fpr, fnr, floor=scenario.floor), streams, scenario)
        accuracy.append(said.performance(streams)[:, 0, 0])
        gain.append(said.gain(majority, streams)[:, 0])
    return _Measured(np.stack(accuracy, axis=1), np.stack(gain, axis=1), majority.performance(streams)[:, 0, 0])


def _known_errors(streams: Streams, scenario: Scenario) -> Tabulated:
    """(streams, weeks, judges): errors on the labels known when each week's votes are cast."""
    labels = streams.labels[..., None]
    weekly = tabulate(streams.votes, (labels == 0).astype(float), (labels == 1).astype(float))
    names = ("n_wrong", "n_right", "accepted_wrong", "rejected_right")
    return Tabulated(*(known_so_far(getattr(weekly, name)[..., 0, :], scenario) for name in names))
