"""Counts of what a rule got right over streams, and estimates with intervals from them."""

from dataclasses import dataclass

import numpy as np

from voirdire.panel.estimators import ratio
from voirdire.panel.votes import FloatArray

METRICS = ("accuracy", "fpr", "fnr", "abstained", "tied")


@dataclass(frozen=True)
class Spread:
    """An estimate and its interval, arrays of one shape."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def outcomes(verdict: FloatArray, truth: FloatArray, tied: FloatArray | None = None) -> FloatArray:
    """Counts over the responses of a week, (streams, weeks, 6).

    verdict: (streams, weeks, responses), 1, 0 or NaN; truth alike, 1 or 0. Last axis: wrong accepted, wrong rejected,
    right rejected, right accepted, abstained, tied.
    """
    counts = [((verdict == said) & (truth == true)).sum(axis=2) for true, said in ((0, 1), (0, 0), (1, 0), (1, 1))]
    ties = np.zeros(counts[0].shape) if tied is None else tied.sum(axis=2)
    return np.stack([*counts, np.isnan(verdict).sum(axis=2), ties], axis=-1).astype(np.float64)


def metrics(counts: FloatArray) -> FloatArray:
    """(…, 6) counts as (…, 5) METRICS; accuracy, fpr and fnr over decided responses, NaN where there are none."""
    accepted_wrong, rejected_wrong, rejected_right, accepted_right, abstained, tied = np.moveaxis(counts, -1, 0)
    wrong, right = accepted_wrong + rejected_wrong, rejected_right + accepted_right
    shares = (
        ratio(rejected_wrong + accepted_right, wrong + right),
        ratio(accepted_wrong, wrong),
        ratio(rejected_right, right),
        ratio(abstained, wrong + right + abstained),
        ratio(tied, wrong + right + abstained),
    )
    return np.stack(shares, axis=-1)


def with_all_weeks(counts: FloatArray) -> FloatArray:
    """(streams, weeks, …) counts with their sum before the first week, as week 0."""
    return np.concatenate([counts.sum(axis=1, keepdims=True), counts], axis=1)


def mean_where_known(values: FloatArray, axis: int) -> FloatArray:
    """The mean over the values that are not NaN; NaN where none is."""
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))


def spread(observed: FloatArray, resampled: FloatArray, level: float, least: float, most: float) -> Spread:
    """The estimate of the observed pool, ± t times the standard deviation of the resampled pools' estimates.

    observed: (1, …); resampled: (pools, …). That deviation holds the variance from items whole, and the variance from
    the order over the streams of one pool, more than over all streams: the interval errs on the wide side. It is kept
    within [least, most]. NaN with fewer than two pools that have a value.
    """
    from scipy.special import stdtrit

    n = np.isfinite(resampled).sum(axis=0)
    centre = mean_where_known(resampled, axis=0)
    squares = np.where(np.isfinite(resampled), (resampled - centre) ** 2, 0.0).sum(axis=0)
    freedom = np.where(n > 1, n - 1.0, np.nan)
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(squares / freedom)
    value = observed[0]
    return Spread(value, np.maximum(value - half, least), np.minimum(value + half, most))
