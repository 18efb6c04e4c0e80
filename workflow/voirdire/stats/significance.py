"""Tests whose p-values survive a correction for many comparisons.

No p-value here is a share of resamples: with 1,000 of them none can be below .001, and Holm over 30 pairs
would turn every one into "not significant".

A stratum of the two-group tests is four arrays of one entry per cluster: hits and trials of the first group, hits and
trials of the second; a cluster may hold both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.stats.arrays import Array

Stratum = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]

# Beyond this many distinct sums the exact sign-flip distribution is computed on a lattice.
_MAX_SUPPORT = 2**17
_LATTICE = 4096
_LATTICE_UNITS = 200
# Beyond this many possible totals the conditional test gives way to its normal limit.
_MAX_TOTALS = 20_000
# Pairing is never credited with more than this: a variance estimated from a few shared items can be near 0 by luck.
_LEAST_VARIANCE = 0.1


def sign_flip_p(differences: ArrayLike) -> float:
    """Two-sided p of the sign-flip (paired permutation) test that the differences are symmetric about zero.

    differences: one per independent unit (sum the differences within a cluster first); NaN are left out. Returns
    NaN without differences, 1 if all are zero.

    Exact: the distribution of Σ ±|dᵢ| is built by convolution over the distinct magnitudes, so thousands of
    0/±1 differences cost nothing and give McNemar's exact p. Where the differences take so many magnitudes that there
    may be more than 130,000 sums (17 units without ties), they are rounded to a lattice of 4,096 steps in all; above
    200 units the normal limit is used.

    >>> round(sign_flip_p([1, 1, 1, 1, 1]), 6)
    0.0625
    """
    from scipy.stats import norm

    values = _finite(differences)
    if not len(values):
        return np.nan
    if not values.any():
        return 1.0
    # Rounding merges sums that are equal but for floating point.
    scaled = np.round(values / np.abs(values).max(), 10)
    observed = abs(scaled.sum())
    distribution = _flip_distribution(np.abs(scaled[scaled != 0]))
    if distribution is not None:
        sums, probabilities, same = distribution
        return float(min(1.0, probabilities[np.abs(sums) >= observed - same].sum()))
    if np.count_nonzero(scaled) <= _LATTICE_UNITS:
        return _lattice_flip_p(scaled)
    return float(2 * norm.sf(observed / np.sqrt((scaled**2).sum())))


def _lattice_flip_p(values: NDArray[np.float64]) -> float:
    """The sign-flip p of values rounded to multiples of 1 / 4,096 of the sum of their magnitudes."""
    steps = np.rint(values * _LATTICE / np.abs(values).sum()).astype(int)
    middle = int(np.abs(steps).sum())
    probabilities = np.zeros(2 * middle + 1)
    probabilities[middle] = 1.0
    for step in np.abs(steps[steps != 0]):
        flipped = np.zeros_like(probabilities)
        flipped[step:] = probabilities[:-step] / 2
        flipped[:-step] += probabilities[step:] / 2
        probabilities = flipped
    observed = abs(int(steps.sum()))
    tail = probabilities[middle + observed :].sum()
    return float(min(1.0, 2 * tail))


def _flip_distribution(magnitudes: Array) -> tuple[Array, Array, float] | None:
    """Distinct values of Σ ±magnitude, their probabilities, and how near to each other equal sums are.

    None where there are too many.
    """
    values, counts = np.unique(magnitudes, return_counts=True)
    steps = values / values[0]
    if np.allclose(steps, np.rint(steps), rtol=0, atol=1e-7):
        size = 2 * (counts * steps).sum() + 1
        return _whole_steps(np.rint(steps).astype(int), counts, values[0]) if size <= _MAX_SUPPORT else None
    if np.log(counts + 1.0).sum() > np.log(_MAX_SUPPORT):
        return None
    return _any_steps(values, counts)


def _whole_steps(steps: NDArray[np.int_], counts: NDArray[np.int_], unit: float) -> tuple[Array, Array, float]:
    """`_flip_distribution` of magnitudes that are whole multiples of one unit: without sorting any sums."""
    from scipy.stats import binom

    probabilities: Array = np.ones(1)
    for step, count in zip(steps, counts, strict=True):
        grown: Array = np.zeros(len(probabilities) + 2 * step * count)
        for ups, weight in enumerate(binom.pmf(np.arange(count + 1), count, 0.5)):
            start = 2 * step * ups
            grown[start : start + len(probabilities)] += weight * probabilities
        probabilities = grown
    middle = len(probabilities) // 2
    sums: Array = np.multiply(unit, np.arange(len(probabilities)) - middle, dtype=np.float64)
    return sums, probabilities, unit / 2


def _any_steps(values: Array, counts: NDArray[np.int_]) -> tuple[Array, Array, float]:
    from scipy.stats import binom

    sums: Array = np.zeros(1)
    probabilities: Array = np.ones(1)
    for value, count in zip(values, counts, strict=True):
        ups = np.arange(count + 1)
        spread = np.round(sums[:, None] + value * (2 * ups - count), 8).ravel()
        weight = (probabilities[:, None] * binom.pmf(ups, count, 0.5)).ravel()
        sums, place = np.unique(spread, return_inverse=True)
        probabilities = np.bincount(place, weight).astype(np.float64)
    return sums, probabilities, 1e-7


def swap_p(strata: Sequence[Stratum]) -> float:
    """Two-sided p that two means are equal, by swapping the groups within clusters; for other than proportions.

    Under the hypothesis each cluster's part in the difference, its residuals from the mean that both groups share, is
    as likely to point the one way as the other: first and second group are exchanged within the cluster, all they have
    there at once (`sign_flip_p` of those parts). Each side counts by its group's own total, so a group that is seen
    rarely isn't drowned by the other. The statistic is the sum over strata of the score (Mantel-Haenszel weights):
    large strata count for more than in a mean. Strata that lack a group are left out; NaN where none or a single
    cluster is left.
    """
    units = np.zeros(0)
    for group in _groups(strata):
        first, second = group.residuals()
        units = np.append(units, group.weight * (first - second)[group.there])
    return sign_flip_p(units) if len(units) > 1 else np.nan


def equal_proportions_p(strata: Sequence[Stratum]) -> float:
    """Two-sided p that two proportions are equal, where groups share clusters or not; stratified.

    Conditional on each stratum's margins the first group's hits are hypergeometric; p sums the totals over strata that
    are no likelier than the one seen. Without a shared cluster and with one trial each this is Fisher's exact test,
    with several strata the exact Cochran-Mantel-Haenszel test.

    What the groups share makes Fisher's test too cautious, repeats within a cluster too bold. So all counts are first
    multiplied by the variance of the score if all trials were independent, over its cluster-robust variance (Rao and
    Scott 1992, Biometrics 48, 577-585, with the covariance of the two groups), as the intervals do with effective n.
    With shared clusters p is the mid-p (half of the probability of what was seen), as counts are not whole any more.
    To exchange the groups within clusters would not do: where they differ in size, the difference of the proportions
    rejects too often so, their score too rarely or, in the tails, much too often.

    Strata that lack a group are left out; NaN where none or a single cluster is left, 1 without any variation.

    >>> round(equal_proportions_p([([1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0] * 6, [0, 0, 0, 1, 1, 1])]), 3)
    0.1
    """
    from scipy.stats import norm

    groups = _groups(strata)
    if sum(int(group.there.sum()) for group in groups) < 2:
        return np.nan
    independent, robust = np.sum([group.variances() for group in groups], axis=0)
    # Without any spread over clusters every one of them, and so each group, has just the share of all.
    if min(independent, robust) <= 1e-12:
        return 1.0
    scale = independent / robust
    if sum(group.table[1:].min() for group in groups) * scale > _MAX_TOTALS:
        return float(2 * norm.sf(abs(sum(group.score() for group in groups)) / np.sqrt(robust)))
    first, probabilities = 0, np.ones(1)
    for group in groups:
        offset, more = _hypergeometric(*(scale * group.table))
        first, probabilities = first + offset, np.convolve(probabilities, more)
    seen = probabilities[-first]
    tie = np.abs(probabilities - seen) <= 1e-7 * seen
    share = 0.5 if any(group.shared for group in groups) else 1.0
    return float(min(1.0, probabilities[(probabilities < seen) & ~tie].sum() + share * probabilities[tie].sum()))


@dataclass(frozen=True)
class _Groups:
    """Two groups in one stratum, (clusters,) each."""

    first_hits: Array
    first_n: Array
    second_hits: Array
    second_n: Array

    @property
    def table(self) -> Array:
        """First group's hits, first group's trials, second group's trials, hits of both."""
        hits = self.first_hits.sum() + self.second_hits.sum()
        return np.array([self.first_hits.sum(), self.first_n.sum(), self.second_n.sum(), hits])

    @property
    def there(self) -> NDArray[np.bool_]:
        return np.asarray(self.first_n + self.second_n > 0)

    @property
    def shared(self) -> bool:
        return bool(((self.first_n > 0) & (self.second_n > 0)).any())

    @property
    def weight(self) -> float:
        """By which the difference becomes the score, hits less expected hits of the first group; 0 without a group."""
        _, first, second, _ = self.table
        return float(first * second / (first + second)) if min(first, second) > 0 else 0.0

    def residuals(self) -> tuple[Array, Array]:
        """From the mean that both groups share, by each group's trials."""
        _, first, second, hits = self.table
        mean = hits / (first + second)
        return (self.first_hits - mean * self.first_n) / first, (self.second_hits - mean * self.second_n) / second

    def score(self) -> float:
        hits_first, first, second, hits = self.table
        return float(hits_first - hits * first / (first + second))

    def variances(self) -> tuple[float, float]:
        """Of the score: were all trials independent, and by clusters."""
        _, first, second, hits = self.table
        mean = hits / (first + second)
        one, other = self.residuals()
        sizes = (self.first_n**2).sum(), (self.second_n**2).sum()
        spread = ((one * first) ** 2).sum() + ((other * second) ** 2).sum()
        apart = spread / sum(sizes) * (sizes[0] / first**2 + sizes[1] / second**2)
        together = max(apart - 2 * (one * other).sum(), _LEAST_VARIANCE * apart)
        return mean * (1 - mean) * self.weight, self.weight**2 * together


def _groups(strata: Sequence[Stratum]) -> list[_Groups]:
    groups = [_Groups(*(np.asarray(array, float) for array in stratum)) for stratum in strata]
    return [group for group in groups if group.weight > 0]


def _hypergeometric(seen: float, first: float, second: float, hits: float) -> tuple[int, Array]:
    """Probabilities of the first group's hits in steps of 1 from those seen, and the number of the first step (≤ 0).

    The counts need not be whole: factorials are gamma functions.
    """
    from scipy.special import gammaln

    low, high = max(0.0, hits - second), min(first, hits)
    steps = np.arange(np.ceil(low - seen - 1e-9), np.floor(high - seen + 1e-9) + 1)
    k = np.clip(seen + steps, low, high)
    log = -gammaln(k + 1) - gammaln(first - k + 1) - gammaln(hits - k + 1) - gammaln(second - hits + k + 1)
    weight = np.exp(log - log.max())
    return int(steps[0]), weight / weight.sum()


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Holm's (1979) step-down adjusted p-values of one family.

    p: one-dimensional; NaN (a test that could not be done) stays NaN and does not count towards the family's size.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps))
    return adjusted


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, float).ravel()
    return np.asarray(array[~np.isnan(array)])
