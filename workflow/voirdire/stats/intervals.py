"""Closed-form confidence intervals: Wilson, Newcombe, square-and-add for linear combinations, Fisher's z."""

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array


def normal_quantile(level: float) -> float:
    """The two-sided standard normal quantile: 1.96 at level 0.95."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """Wilson's score interval of a proportion, elementwise.

    successes and n are arrays of one shape (or scalars); n may be a non-integer effective sample size.
    Returns (low, high), NaN where n is 0 or missing; 0 and 1 exactly at 0 and n successes.
    Source: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    >>> low, high = wilson(0, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.278)
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(n, float))
    z2 = normal_quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = k / n
        centre = (k + z2 / 2) / (n + z2)
        half = np.sqrt(z2 * (n * share * (1 - share) + z2 / 4)) / (n + z2)
        # Rounding would leave 1e-17 instead of the bound itself.
        low = np.where(k <= 0, 0.0, np.clip(centre - half, 0, 1))
        high = np.where(k >= n, 1.0, np.clip(centre + half, 0, 1))
    known = n > 0
    return np.where(known & ~np.isnan(k), low, np.nan), np.where(known & ~np.isnan(k), high, np.nan)


def newcombe(
    successes1: npt.ArrayLike, n1: npt.ArrayLike, successes2: npt.ArrayLike, n2: npt.ArrayLike, level: float = 0.95
) -> tuple[Array, Array]:
    """Newcombe's hybrid score interval of p1 − p2 for independent proportions, elementwise.

    Returns (low, high), NaN where either n is 0. Source: Newcombe (1998), Stat. Med. 17, 873-890, method 10.
    """
    lows, highs = zip(wilson(successes1, n1, level), wilson(successes2, n2, level), strict=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [np.asarray(k, float) / np.asarray(n, float) for k, n in ((successes1, n1), (successes2, n2))]
    (low1, high1), (low2, high2) = (lows[0], highs[0]), (lows[1], highs[1])
    return square_and_add(np.stack(shares), np.stack([low1, low2]), np.stack([high1, high2]), np.array([1.0, -1.0]))


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


def square_and_add(
    estimates: Array, lows: Array, highs: Array, coefficients: Array, correlation: Array | float = 0.0
) -> tuple[Array, Array]:
    """Interval of a linear combination of estimates from their own intervals (MOVER).

    With θ = Σ cᵢ θᵢ, the distance from θ to its lower bound is the root of Σᵢⱼ sᵢⱼ ρᵢⱼ dᵢ dⱼ, where dᵢ is the distance
    from cᵢθᵢ to its own lower bound and sᵢⱼ the sign of cᵢcⱼ; likewise upwards. For c = (1, −1), ρ = 0 and Wilson
    intervals this is Newcombe's method. Skewed intervals stay skewed, which a normal approximation would lose.

    estimates, lows, highs: (k, …); coefficients: (k,) or (k, …), a part with coefficient 0 is ignored, whatever it is;
    correlation: of the first two estimates, a number or an array (…) in [−1, 1]; other pairs are taken as independent.
    Returns (low, high) of shape (…); NaN where a part with a coefficient is NaN.
    Source: Zou and Donner (2008), Stat. Med. 27, 1693-1702.
    """
    c = coefficients.reshape(coefficients.shape + (1,) * (estimates.ndim - coefficients.ndim))
    used = np.broadcast_to(c != 0, estimates.shape)
    parts, below, above = (np.where(used, c * bound, 0.0) for bound in (estimates, lows, highs))
    centre = parts.sum(axis=0)
    down = parts - np.minimum(below, above)
    up = np.maximum(below, above) - parts

    def root(distance: Array) -> Array:
        squares = (distance**2).sum(axis=0)
        if len(distance) > 1:
            signs = np.broadcast_to(np.sign(c), distance.shape)
            squares = squares + 2 * correlation * signs[0] * signs[1] * distance[0] * distance[1]
        result: Array = np.sqrt(np.maximum(squares, 0.0))
        return result

    return centre - root(down), centre + root(up)


def fisher_z(r: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """Interval of Pearson's r from n pairs by Fisher's transformation, elementwise.

    Returns (low, high): (−1, 1) at n = 3, where the transformation says nothing; NaN below and where r is NaN.
    Source: Fisher (1921), Metron 1, 3-32.

    >>> low, high = fisher_z(0.9, 6)
    >>> round(float(low), 2), round(float(high), 2)
    (0.33, 0.99)
    """
    r, n = np.broadcast_arrays(np.asarray(r, float), np.asarray(n, float))
    z = normal_quantile(level)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.arctanh(np.clip(r, -1, 1))
        half = z / np.sqrt(np.maximum(n - 3, 0.0))
        low = np.where(n == 3, -1.0, np.tanh(centre - half))
        high = np.where(n == 3, 1.0, np.tanh(centre + half))
    known = (n >= 3) & ~np.isnan(r)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)
