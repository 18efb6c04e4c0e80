"""Pearson's r of a handful of points: exact permutation test, Fisher-z interval, and r of many resamples at once."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array
from voirdire.stats.intervals import fisher_z

# Up to here all orders are tried: 8! = 40,320.
EXACT_UP_TO = 8
# Values closer than this are one value: means of equal rates differ in the last bit.
_SAME = 1e-12


@dataclass(frozen=True)
class Correlation:
    """r of n pairs, its Fisher-z interval and two-sided p; where r is NaN, the reason in words."""

    r: float
    n: int
    low: float
    high: float
    p: float
    reason: str = ""


def pearson(
    x: npt.ArrayLike, y: npt.ArrayLike, level: float = 0.95, names: tuple[str, str] = ("x", "y")
) -> Correlation:
    """Pearson's correlation of x and y, (n,) each; pairs with a NaN are left out. names: of x and y, for the reason.

    p is exact for n ≤ 8, the share of all orders of y whose |r| is at least the one seen (never 0: the order seen is
    one of them); from Student's t above. The interval is Fisher's, (−1, 1) at n = 3. NaN with a reason below three
    pairs and where x or y is constant. Sources: Fisher (1921), Metron 1, 3-32; for the permutation test Pitman (1937),
    J. R. Stat. Soc. Suppl. 4, 225-232.

    >>> pearson([1, 2, 3, 4], [1, 2, 3, 5]).p  # 2 of 24 orders
    0.08333333333333333
    >>> pearson([1, 1, 1], [1, 2, 3]).reason
    'x is constant'
    """
    first, second = np.asarray(x, float), np.asarray(y, float)
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known], second[known]
    n = len(first)
    if n < 3:
        return _unknown(n, f"fewer than 3 points (n = {n})")
    for name, values in zip(names, (first, second), strict=True):
        if np.ptp(values) <= _SAME * max(1.0, float(np.abs(values).max())):
            return _unknown(n, f"{name} is constant")
    first, second = _standardised(first), _standardised(second)
    r = float(np.clip(first @ second, -1, 1))
    low, high = fisher_z(r, n, level)
    p = _exact_p(first, second, r) if n <= EXACT_UP_TO else _student_p(r, n)
    return Correlation(r, n, float(low), float(high), p)


def _unknown(n: int, reason: str) -> Correlation:
    return Correlation(np.nan, n, np.nan, np.nan, np.nan, reason)


def _standardised(values: Array) -> Array:
    centred = values - values.mean()
    scaled: Array = centred / np.sqrt(centred @ centred)
    return scaled


def _exact_p(x: Array, y: Array, r: float) -> float:
    # Equal r of different orders differ by rounding, and must count as equal.
    return float((np.abs(y[_orders(len(y))] @ x) >= abs(r) - 1e-10).mean())


@lru_cache
def _orders(n: int) -> npt.NDArray[np.int64]:
    return np.array(list(permutations(range(n))))


def _student_p(r: float, n: int) -> float:
    from scipy.special import stdtr

    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1 - r**2))))


def _centred(values: Array) -> Array:
    centred: Array = values - values.mean(axis=1, keepdims=True) if values.shape[1] else values
    return centred


def leave_one_out(x: Array, y: Array) -> Array:
    """Pearson's r of many samples at once, over all points and without each of them.

    x, y: (samples, n). Returns (samples, n + 1): column 0 over all points, column 1 + i without point i. NaN where a
    point that is used is NaN, fewer than three are used, or x or y is constant among them.
    """
    unknown = np.isnan(x) | np.isnan(y)
    n_unknown = unknown.sum(axis=1, keepdims=True)
    # Centred first, so that sums of squares lose no digits; how exactly doesn't matter.
    x, y = (_centred(np.where(unknown, 0.0, values)) for values in (x, y))
    x, y = np.where(unknown, 0.0, x), np.where(unknown, 0.0, y)

    def sums(values: Array) -> Array:
        total = values.sum(axis=1, keepdims=True)
        return np.concatenate([total, total - values], axis=1)

    left = np.concatenate([n_unknown, n_unknown - unknown], axis=1)
    n = np.array([x.shape[1]] + [x.shape[1] - 1] * x.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        sx, sy = sums(x), sums(y)
        sxx, syy, sxy = sums(x * x) - sx * sx / n, sums(y * y) - sy * sy / n, sums(x * y) - sx * sy / n
        r = np.clip(sxy / np.sqrt(sxx * syy), -1, 1)
    usable = (left == 0) & (n >= 3) & (sxx > _SAME) & (syy > _SAME)
    return np.where(usable, r, np.nan)
