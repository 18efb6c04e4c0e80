"""Means over judges, or pairs of models, that share responses, so that their errors are not independent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.bias.contrast import Mask
from voirdire.stats.arrays import Array
from voirdire.stats.bootstrap import Interval, percentile, sample_correlation
from voirdire.stats.significance import sign_flip_p

# What is less than this is rounding.
_NOTHING = 1e-12
_ENOUGH_FOR_T = 3
# With 20 telling clusters the percentile bootstrap covers 92 %.
_ENOUGH_FOR_PERCENTILE = 40


@dataclass(frozen=True)
class DependentMean:
    """A mean with its interval; where the interval is a cautious one for want of data, the reason in words."""

    estimate: float
    low: float
    high: float
    method: str
    reason: str = ""


def n_telling(sides: Sequence[Array], known: Mask) -> int:
    """How many clusters the spread of a mean over cells rests on.

    sides: what each cluster adds to the difference, (cells, clusters), in one array where both rates are measured on
    the same items, else one for each of the two rates; known: the cells of the mean. Clusters count in which the mean
    is not zero; or fewer, where one side has fewer in which any cell is not zero: a rate of 0 or 1 seems to have no
    spread.
    """
    if not known.any():
        return 0
    parts = [side[known] for side in sides]
    counts = [(np.abs(part) > _NOTHING).any(axis=0).sum() for part in parts]
    return int(min((np.abs(np.sum(parts, axis=0).mean(axis=0)) > _NOTHING).sum(), *counts))


def dependent_mean(
    intervals: Interval,
    samples: Array,
    influence: Array,
    telling: int,
    level: float,
    enough: int = _ENOUGH_FOR_PERCENTILE,
) -> DependentMean:
    """Mean over the cells that have an estimate.

    samples: (resamples, cells); influence: (cells, clusters), what each cluster adds to the linearised estimate, sums
    of 0; telling: from `n_telling`. From `enough` telling clusters on the interval is the percentile one of the mean
    itself, in every resample over the cells that it has (their deviations, so that a missing cell moves nothing). With
    fewer it is Student's t of the clusters' parts, with as many degrees of freedom as telling clusters less one: equal
    verdicts on all other items are no evidence of a small spread, and so it goes with the sign-flip test (items that
    moved the same way: 5 are not enough, 6 are). With fewer than three there is no spread to be seen: the cells'
    own bounds are joined with the correlations of their resamples (square-and-add: Zou & Donner 2008), pair by pair of
    cells over the resamples that have both; cells without enough of those, or without spread, count as fully
    correlated, and the reason says so. A single cell keeps its own interval.
    """
    known = ~np.isnan(intervals.estimate)
    if not known.any():
        return DependentMean(np.nan, np.nan, np.nan, "")
    estimate, low, high = (array[known] for array in (intervals.estimate, intervals.low, intervals.high))
    mean = float(estimate.mean())
    if len(estimate) == 1:
        return DependentMean(mean, float(low[0]), float(high[0]), str(intervals.method[known][0]))
    if telling >= enough:
        bounds = percentile(mean + _available_mean(samples[:, known] - estimate), level)
        return DependentMean(mean, float(bounds[0]), float(bounds[1]), "percentile")
    if telling >= _ENOUGH_FOR_T:
        half = _t_reach(influence[known].mean(axis=0), telling, level)
        return DependentMean(mean, mean - half, mean + half, "t")
    correlation = sample_correlation(samples[:, known][:, :, None], samples[:, known][:, None, :])
    unknown = np.isnan(correlation) & ~np.eye(len(estimate), dtype=bool)
    correlation = np.where(np.isnan(correlation), 1.0, correlation)
    below, above = ((reach / len(estimate)) for reach in (estimate - low, high - estimate))
    reach_below, reach_above = (float(np.sqrt(max(float(d @ correlation @ d), 0.0))) for d in (below, above))
    reason = "too few items differ to see how the parts correlate: taken as fully correlated" if unknown.any() else ""
    return DependentMean(mean, mean - reach_below, mean + reach_above, "mover", reason)


def all_judges(
    name: str, intervals: Interval, samples: Array, influence: Array, units: Array, level: float
) -> dict[str, Any]:
    """The last row of a table of judges' differences on shared items: their mean, in the column `name`.

    intervals: of the judges' differences, (judges,); samples, influence: as for `dependent_mean`; units: what each
    cluster adds to the difference, (judges, clusters). Columns judge ("all"), `name`, low, high, interval, p (the mean
    parts' signs flipped) and reason: over how many judges, if not all. Without a judge that has it: NaN and a reason.
    """
    known = ~np.isnan(intervals.estimate)
    mean = dependent_mean(intervals, samples, influence, n_telling([units], known), level)
    some = "" if known.all() else f"mean over {int(known.sum())} of {len(known)} judges"
    return {
        "judge": "all",
        name: mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "interval": mean.method,
        "p": sign_flip_p(units[known].mean(axis=0)) if known.any() else np.nan,
        "reason": "; ".join(filter(None, [some, mean.reason])) if known.any() else "no judge has it",
    }


def _available_mean(deviations: Array) -> Array:
    there = ~np.isnan(deviations)
    n = there.sum(axis=1)
    return np.where(n > 0, np.where(there, deviations, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)


def _t_reach(influence: Array, telling: int, level: float) -> float:
    from scipy.special import stdtrit

    n = max(int((np.abs(influence) > _NOTHING).sum()), 2)
    variance = (influence**2).sum() * n / (n - 1)
    return float(stdtrit(telling - 1, (1 + level) / 2) * np.sqrt(variance))
