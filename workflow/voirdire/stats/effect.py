"""Effect sizes and tests whose p-values survive a correction for many comparisons.

No p-value here is a share of resamples: with 1,000 of them none can be below .001, and Holm over 30 pairs
would turn every one into "not significant".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.stats.intervals import wilson

# Beyond this many distinct sums the exact sign-flip distribution gives way to its normal limit.
_MAX_SUPPORT = 2**17


@dataclass(frozen=True)
class CohenD:
    """Standardised mean difference, first minus second group; NaN and a reason where there is none."""

    d: float
    low: float
    high: float
    reason: str = ""


def cohen_d(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> CohenD:
    """Cohen's d of x against y, (mean x − mean y) / pooled sd, with its noncentral-t interval.

    x, y: one-dimensional samples in the same unit; NaN are left out. Observations are taken as independent.
    NaN with a reason where either sample has fewer than two values or the pooled sd is zero.

    Cohen (1988), eq. 2.5.1 with the n − 1 denominators; interval by inverting the noncentral t distribution
    (Cumming & Finch 2001).

    >>> round(cohen_d([2, 3, 4], [0, 1, 2]).d, 3)
    2.0
    """
    first, second = (_finite(values) for values in (x, y))
    centre = np.mean(np.concatenate([first, second])) if len(first) + len(second) else 0.0
    first, second = first - centre, second - centre
    if min(len(first), len(second)) < 2:
        return CohenD(np.nan, np.nan, np.nan, f"needs two values in each group, has {len(first)} and {len(second)}")
    d = float(
        cohen_d_from_moments(
            len(first),
            first.sum(),
            (first**2).sum(),
            len(second),
            second.sum(),
            (second**2).sum(),
        )
    )
    if np.isnan(d):
        return CohenD(np.nan, np.nan, np.nan, "all values within a group are the same")
    return CohenD(d, *cohen_d_interval(d, len(first), len(second), level))


def cohen_d_from_moments(
    n_x: ArrayLike, sum_x: ArrayLike, squares_x: ArrayLike, n_y: ArrayLike, sum_y: ArrayLike, squares_y: ArrayLike
) -> NDArray[np.float64]:
    """Cohen's d from counts, sums and sums of squares, elementwise over arrays of any shape.

    So that d of every bootstrap resample is three matrix products away. Subtract a common constant from the
    values first where they are large beside their spread. NaN where n is below 2 or the pooled sd is zero.
    """
    n1, s1, q1, n2, s2, q2 = (np.asarray(a, float) for a in (n_x, sum_x, squares_x, n_y, sum_y, squares_y))
    with np.errstate(invalid="ignore", divide="ignore"):
        within = (q1 - s1**2 / n1) + (q2 - s2**2 / n2)
        variance = within / (n1 + n2 - 2)
        # What is left of a constant sample after rounding is not a spread.
        usable = (np.minimum(n1, n2) >= 2) & (within > 1e-12 * (q1 + q2))
        return np.asarray(np.where(usable, (s1 / n1 - s2 / n2) / np.sqrt(variance), np.nan))


def cohen_d_interval(d: float, n_x: float, n_y: float, level: float = 0.95) -> tuple[float, float]:
    """Noncentral-t interval of Cohen's d; n_x, n_y may be effective (non-integer) sizes, each at least 2 in effect.

    Above 500 degrees of freedom the large-sample variance of Hedges & Olkin (1985, p. 86) takes over; there the two
    agree to the third decimal and the noncentral distribution is numerically fragile.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, norm

    tail = (1 - level) / 2
    df = n_x + n_y - 2
    if not np.isfinite(d) or df <= 0:
        return np.nan, np.nan
    half = norm.isf(tail) * np.sqrt((n_x + n_y) / (n_x * n_y) + d**2 / (2 * (n_x + n_y)))
    if df > 500:
        return float(d - half), float(d + half)
    root = np.sqrt(n_x * n_y / (n_x + n_y))

    def bound(share: float, side: int) -> float:
        def excess(shift: float) -> float:
            return float(nct.cdf(d * root, df, shift)) - share

        # Step outwards: far from t scipy's distribution function gives NaN.
        inner, step = d * root, side * half * root / 2
        while side * excess(inner + step) > 0:
            inner, step = inner + step, step * 1.5
        return float(brentq(excess, inner, inner + step))

    return bound(1 - tail, -1) / root, bound(tail, 1) / root


def newcombe_paired(
    both: float, only_first: float, only_second: float, neither: float, level: float = 0.95
) -> tuple[float, float]:
    """Interval of the difference of two proportions measured on the same units, first minus second.

    The four counts are of pairs (may be non-integer: scaled to an effective number of pairs). (NaN, NaN) without
    pairs. Newcombe (1998, Statistics in Medicine 17:2635), method 10: Wilson bounds joined with the
    continuity-corrected correlation of the pairs; never of zero width, unlike a bootstrap at 0 discordant pairs.
    """
    n = both + only_first + only_second + neither
    if n <= 0:
        return np.nan, np.nan
    first, second = both + only_first, both + only_second
    (low1, high1), (low2, high2) = (
        tuple(float(bound) for bound in wilson(count, n, level)) for count in (first, second)
    )
    p1, p2 = first / n, second / n
    scale = np.sqrt(first * (n - first) * second * (n - second))
    product = both * neither - only_first * only_second
    if product > 0:
        product = max(product - n / 2, 0)
    phi = product / scale if scale > 0 else 0.0

    def reach(a: float, b: float) -> float:
        return float(np.sqrt(max(a**2 - 2 * phi * a * b + b**2, 0)))

    return p1 - p2 - reach(p1 - low1, high2 - p2), p1 - p2 + reach(high1 - p1, p2 - low2)


def mcnemar_exact(b: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
    """Two-sided exact McNemar p of b against c discordant pairs, elementwise; 1 where there are none.

    Twice the smaller tail of Binomial(b + c, 1/2), at most 1.

    >>> float(mcnemar_exact(0, 5))
    0.0625
    """
    from scipy.stats import binom

    first, second = np.asarray(b), np.asarray(c)
    return np.asarray(np.minimum(1.0, 2 * binom.cdf(np.minimum(first, second), first + second, 0.5)))


def sign_flip_p(differences: ArrayLike) -> float:
    """Two-sided p of the sign-flip (paired permutation) test that the differences are symmetric about zero.

    differences: one per independent unit (sum the differences within a cluster first); NaN are left out. Returns
    NaN without differences, 1 if all are zero.

    Exact: the distribution of Σ ±|dᵢ| is built by convolution over the distinct magnitudes, so thousands of
    0/±1 differences cost nothing and give McNemar's exact p. Only where the differences take so many magnitudes that
    there may be more than 130,000 sums (17 units without ties) its normal limit is used.

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
    if distribution is None:
        return float(2 * norm.sf(observed / np.sqrt((scaled**2).sum())))
    sums, probabilities = distribution
    return float(min(1.0, probabilities[np.abs(sums) >= observed - 1e-7].sum()))


def _flip_distribution(magnitudes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Distinct values of Σ ±magnitude and their probabilities; None where there are too many."""
    from scipy.stats import binom

    values, counts = np.unique(magnitudes, return_counts=True)
    steps = values / values[0]
    on_lattice = np.allclose(steps, np.rint(steps), rtol=0, atol=1e-7)
    size = 2 * (counts * steps).sum() + 1 if on_lattice else np.prod(counts + 1.0)
    if size > _MAX_SUPPORT:
        return None
    sums: NDArray[np.float64] = np.zeros(1)
    probabilities: NDArray[np.float64] = np.ones(1)
    for value, count in zip(values, counts, strict=True):
        ups = np.arange(count + 1)
        spread = np.round(sums[:, None] + value * (2 * ups - count), 8).ravel()
        weight = (probabilities[:, None] * binom.pmf(ups, count, 0.5)).ravel()
        sums, place = np.unique(spread, return_inverse=True)
        probabilities = np.bincount(place, weight).astype(np.float64)
    return sums, probabilities


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


def cluster_difference_p(
    sum_1: ArrayLike, n_1: ArrayLike, sum_2: ArrayLike, n_2: ArrayLike, strata: ArrayLike | None = None
) -> float:
    """Two-sided p of a cluster-robust score test that two proportions (or means) are equal.

    All arguments have one entry per cluster: the sum and the number of observations of group 1 and of group 2 in it;
    a cluster may hold both. With `strata` (integers per cluster) the tested quantity is the mean over the strata of
    the difference; strata that lack a group are left out. NaN where nothing is left or a single cluster decides.

    Score form: residuals are taken from the mean that both groups share under the hypothesis and summed within
    clusters. Their squares estimate the variance, but never below what the two groups' common residual variance
    implies: in a group of ten without a success the residuals alone would claim near certainty. The statistic is
    referred to Student's t whose degrees of freedom are the effective number of clusters, (Σu²)² / Σu⁴, less one:
    few clusters, or few that differ, must not pass for many (the reasoning of Carter, Schnepel & Steigerwald 2017).
    """
    from scipy.stats import t as student

    s1, m1, s2, m2 = (np.asarray(a, float) for a in (sum_1, n_1, sum_2, n_2))
    group = np.zeros(len(s1), int) if strata is None else np.asarray(strata)
    difference, variance, scores = 0.0, 0.0, [np.zeros(0)]
    for stratum in np.unique(group):
        here = group == stratum
        total1, total2 = m1[here].sum(), m2[here].sum()
        if total1 > 0 and total2 > 0:
            shared = (s1[here].sum() + s2[here].sum()) / (total1 + total2)
            rest1, rest2 = s1[here] - shared * m1[here], s2[here] - shared * m2[here]
            size1, size2 = (m1[here] ** 2).sum(), (m2[here] ** 2).sum()
            common = ((rest1**2).sum() + (rest2**2).sum()) / (size1 + size2)
            floor = common * (size1 / total1**2 + size2 / total2**2) - 2 * (rest1 * rest2).sum() / (total1 * total2)
            score = rest1 / total1 - rest2 / total2
            difference += s1[here].sum() / total1 - s2[here].sum() / total2
            variance += max((score**2).sum(), floor)
            scores.append(score)
    squares = np.concatenate(scores) ** 2
    if not len(squares):
        return np.nan
    if squares.sum() <= 1e-20:
        return 1.0
    df = squares.sum() ** 2 / (squares**2).sum() - 1
    return float(2 * student.sf(abs(difference) / np.sqrt(variance), df)) if df > 1e-9 else np.nan


def fisher_p(successes_1: float, n_1: float, successes_2: float, n_2: float) -> float:
    """Two-sided Fisher exact p of two proportions, for counts too small for the score test; NaN without a group.

    Valid where every unit is counted once: with several observations per cluster pass clusters, not observations.
    """
    from scipy.stats import fisher_exact

    if min(n_1, n_2) <= 0:
        return np.nan
    table = [[successes_1, n_1 - successes_1], [successes_2, n_2 - successes_2]]
    return float(fisher_exact(np.rint(table).astype(int)).pvalue)


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, float).ravel()
    return np.asarray(array[~np.isnan(array)])
