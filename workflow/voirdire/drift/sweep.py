"""How much the Bayesian estimator's prior matters: every prior on the same streams."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from voirdire.drift.outcomes import Uncertainty, metrics
from voirdire.drift.scenario import Scenario
from voirdire.drift.simulate import judged, known_so_far
from voirdire.drift.streams import Streams, observed_streams, population, resampled_streams
from voirdire.errors import UserError
from voirdire.panel.estimators import Counts, Prior, beta_mean, tabulate
from voirdire.panel.votes import FloatArray, count, split, weigh_split

# 4 × 4 × 5 = 80 priors around the paper's (.4, .2, 10); the paper names no other.
FPR = (0.1, 0.2, 0.4, 0.6)
FNR = (0.05, 0.1, 0.2, 0.4)
STRENGTH = (2.0, 5.0, 10.0, 20.0, 50.0)


def prior_sweep(
    verdicts: pd.DataFrame,
    scenario: Scenario | None = None,
    fpr: Sequence[float] = FPR,
    fnr: Sequence[float] = FNR,
    strength: Sequence[float] = STRENGTH,
    seeds: int = 200,
    seed: int = 0,
    condition: str | None = "blind",
    level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy over all weeks of the Bayesian weighted vote (linear weights) under each prior, against the majority's.

    Arguments as in `simulate`; fpr, fnr, strength: the grid. The streams are those of `simulate` with the same seeds,
    so that the scenario's own prior (`is_default`) has exactly the accuracy that it has there.
    Returns one row per prior: accuracy, majority (the same for all) and their difference, with intervals.
    """
    scenario = scenario or Scenario()
    grid = list(product(fpr, fnr, strength))
    if not grid:
        raise UserError("prior sweep: the grid is empty; give at least one fpr, fnr and strength")
    priors = [Prior(*values) for values in grid]
    source = population(verdicts, scenario, condition)
    streams = observed_streams(source, seeds, seed), resampled_streams(source, seeds, seed)
    observed, resampled = (_accuracies(each, scenario, priors) for each in streams)
    uncertainty = Uncertainty(2 * streams[1].per_group / seeds, level, source.n_items()[0])
    found = uncertainty.of_share(observed[:, 1:], resampled[:, 1:])
    gain = uncertainty.of_difference(observed[:, 1:] - observed[:, :1], resampled[:, 1:] - resampled[:, :1])
    frame = pd.DataFrame(grid, columns=["prior_fpr", "prior_fnr", "strength"])
    return frame.assign(
        n_seeds=seeds,
        accuracy=found.value,
        low=found.low,
        high=found.high,
        majority=observed[0, 0],
        difference=gain.value,
        difference_low=gain.low,
        difference_high=gain.high,
        is_default=[values == tuple(scenario.prior) for values in grid],
        seed=seed,
        simulated=source.box.simulated,
    )


def _accuracies(streams: Streams, scenario: Scenario, priors: Sequence[Prior]) -> FloatArray:
    """(groups, 1 + priors): the majority's accuracy over all weeks, then each prior's."""
    counts = [judged(count(streams.votes), streams, scenario)]
    # The labels that a judge has been compared with don't depend on the prior: counted once for all.
    known, votes = _label_counts(streams, scenario), split(streams.votes)
    for prior in priors:
        fpr = beta_mean(known.accepted_wrong, known.n_wrong, prior.fpr, prior.strength)
        fnr = beta_mean(known.rejected_right, known.n_right, prior.fnr, prior.strength)
        counts.append(judged(weigh_split(*votes, fpr, fnr, floor=scenario.floor), streams, scenario))
    return np.stack([metrics(streams.grouped(c.sum(axis=1)).sum(axis=1))[..., 0] for c in counts], axis=1)


def _label_counts(streams: Streams, scenario: Scenario) -> Counts:
    """(streams, weeks, judges) counts of the labels known when each week's votes are cast."""
    labels = streams.labels[..., None]
    weekly = tabulate(streams.votes, (labels == 0).astype(float), (labels == 1).astype(float))
    names = ("n_wrong", "n_right", "accepted_wrong", "rejected_right")
    return Counts(*(known_so_far(getattr(weekly, name)[..., 0, :], scenario) for name in names))
