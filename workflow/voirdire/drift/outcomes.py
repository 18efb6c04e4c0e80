"""Counts of what a rule got right over streams, and estimates with intervals from them."""

from dataclasses import dataclass

import numpy as np

from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.intervals import normal_quantile, wilson

METRICS = ("accuracy", "fpr", "fnr", "abstained", "tied")


@dataclass(frozen=True)
class Spread:
    """An estimate and its interval, arrays of one shape."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def outcomes(verdict: FloatArray, truth: FloatArray, tied: FloatArray | None = None) -> FloatArray:
    """Counts over the responses of a week, (streams, weeks, 6).

    verdict: (streams, weeks, responses), 1, 0 or NaN; truth alike; a response without one doesn't count. Last axis:
    wrong accepted, wrong rejected, right rejected, right accepted, abstained, tied.
    """
    there = np.isfinite(truth)
    counts = [((verdict == said) & (truth == true)).sum(axis=2) for true, said in ((0, 1), (0, 0), (1, 0), (1, 1))]
    ties = np.zeros(counts[0].shape) if tied is None else (tied * there).sum(axis=2)
    return np.stack([*counts, (np.isnan(verdict) & there).sum(axis=2), ties], axis=-1).astype(np.float64)


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


@dataclass(frozen=True)
class Uncertainty:
    """What turns the estimates of resampled pools into intervals.

    share: the streams of one pool by those of the observed one; level: of confidence; n_items: (weeks + 1,), how many
    items, each counted once, are behind an estimate. Estimates are arrays (1, …) from the observed pool, and
    (2 × pools, …) from two halves of each resampled pool's streams.

    The means of pools differ by their items and by the order of their streams. What order alone does is seen between
    the halves; it is taken off and added again for the observed pool's number of streams. The variance left is at least
    a quarter of that between pools, since a difference of two estimates may come near 0 by chance.
    """

    share: float
    level: float
    n_items: FloatArray

    def of_value(self, observed: FloatArray, resampled: FloatArray) -> Spread:
        """The estimate ± t times its standard error, within [0, 1]."""
        value, half = observed[0], self._half_width(resampled)
        return Spread(value, np.maximum(value - half, 0), np.minimum(value + half, 1))

    def of_difference(self, observed: FloatArray, resampled: FloatArray) -> Spread:
        """The same within [-1, 1]; where no pool shows a difference, half the width is Wilson's bound for 0 of n."""
        value, half = observed[0], self._half_width(resampled)
        unseen = wilson(np.zeros(self.n_items.shape), self.n_items, self.level)[1]
        half = np.where(half == 0, unseen, half)
        return Spread(value, np.maximum(value - half, -1), np.minimum(value + half, 1))

    def of_share(self, observed: FloatArray, resampled: FloatArray) -> Spread:
        """Wilson's interval of a share of responses, with the n whose binomial standard error is the one found.

        Symmetric intervals cover too little near 0 and 1. At 0 or 1 itself an item counts once.
        """
        value, half = observed[0], self._half_width(resampled)
        seen = (half > 0) & (value > 0) & (value < 1)
        n = np.where(seen, normal_quantile(self.level) ** 2 * ratio(value * (1 - value), half**2), self.n_items)
        low, high = wilson(value * n, np.where(np.isfinite(half), n, 0.0), self.level)
        return Spread(value, low, high)

    def _half_width(self, resampled: FloatArray) -> FloatArray:
        """NaN with fewer than two pools that have a value."""
        from scipy.special import stdtrit

        halves = resampled.reshape(-1, 2, *resampled.shape[1:])
        pools = mean_where_known(halves, axis=1)
        n = np.isfinite(pools).sum(axis=0)
        freedom = np.where(n > 1, n - 1.0, np.nan)
        deviations = pools - mean_where_known(pools, axis=0)
        between = np.where(np.isfinite(pools), deviations**2, 0.0).sum(axis=0) / freedom
        order = np.nan_to_num(mean_where_known((halves[:, 0] - halves[:, 1]) ** 2, axis=0)) / 4
        variance = np.maximum(between - order * (1 - self.share), between / 4)
        half: FloatArray = stdtrit(freedom, (1 + self.level) / 2) * np.sqrt(variance)
        return half
