"""The smallest effect that so few observations would have shown: two-sided tests, one comparison at a time.

Power is the probability that the test rejects. Every function is elementwise, gives the smallest effect at which it
reaches `power`, and NaN where no effect does: a test of few observations can't reject however strong the effect.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array
from voirdire.stats.intervals import normal_quantile

POWER = 0.8
# Up to here all tables of two groups are gone through: (both groups + 1) × (smaller group + 1).
_MOST_TABLES = 2_500
_GRID = 200
_HALVINGS = 45
# McNemar's power is exact up to so many changed pairs expected; more than the most are not met with then.
_FEW_CHANGED = 40
_MOST_CHANGED = 100
_FEW_HALVINGS = 14


def quantiles(level: float = 0.95, power: float = POWER) -> tuple[float, float]:
    """The standard normal quantiles of the test and of its power: 1.96 and 0.84."""
    return normal_quantile(level), normal_quantile(2 * power - 1)


def detectable_normal(se: npt.ArrayLike, level: float = 0.95, power: float = POWER) -> Array:
    """(z₀.₉₇₅ + z₀.₈) × SE: what an estimate with this standard error would have shown, in its own unit; any shape.

    NaN where the standard error is missing or 0: no spread seen is no knowledge.
    Source: Cohen (1988), Statistical Power Analysis, ch. 1; Bloom (1995), Evaluation Review 19, 547-556.

    >>> round(float(detectable_normal(0.1)), 3)
    0.28
    """
    error = np.asarray(se, float)
    return np.where(error > 1e-12, sum(quantiles(level, power)) * error, np.nan)


def detectable_flips(n: npt.ArrayLike, noise: npt.ArrayLike = 0.0, level: float = 0.95, power: float = POWER) -> Array:
    """The smallest share of n pairs that must change, all the same way, for McNemar's exact test to show it.

    noise: the share of pairs that change whatever happens, half of them either way; the changes to be shown come on
    top, so they are 1 − noise at most. The test (the sign-flip test of 0/±1 differences) rejects from k changed pairs
    on, 2 / 2ᵏ ≤ 1 − level: 6 at 5 %; rejecting on the wrong side doesn't count as showing. Exact up to 40 changed
    pairs, by the trinomial distribution; beyond, the normal limit with the continuity correction, whose exact power is
    .80 to .82. n is rounded to whole numbers. Shapes broadcast; NaN below k pairs, where the test can't reject, where a
    change of all that noise leaves has not the power, and where the noise is missing.
    Source: Connor (1987), Biometrics 43, 207-211, with (|b − c| − 1)² in the test.

    >>> [round(float(share), 2) for share in detectable_flips([5, 6, 100])]
    [nan, 0.96, 0.08]
    """
    from scipy.special import betaincinv

    k = fewest_flips(level)
    arrays = np.broadcast_arrays(np.asarray(n, float), np.asarray(noise, float))
    shape = arrays[0].shape
    known = (arrays[0] >= k) & (arrays[1] >= 0) & (arrays[1] < 1)
    # Tables have many rows of the same few numbers of pairs and shares.
    (pairs, share), back = np.unique(
        np.stack([np.rint(np.where(known, arrays[0], k)).ravel(), np.where(known, arrays[1], 0.0).ravel()]),
        axis=1,
        return_inverse=True,
    )
    least = np.minimum(betaincinv(k, pairs - k + 1, power), 1 - share)
    found = _flips_by_normal(pairs, share, level, power)
    few = np.where(np.isnan(found), pairs <= _MOST_CHANGED, pairs * (share + found) <= _FEW_CHANGED)
    pairs, share, low = pairs[few], share[few], least[few]
    high = np.maximum(np.fmin(1.2 * found[few], 1 - share), low)

    def shown(shift: Array) -> npt.NDArray[np.bool_]:
        return np.asarray(_flips_power(pairs, share, shift, level) >= power - 1e-12)

    exact = np.where(shown(high), low + _least(lambda more: shown(low + more), high - low, _FEW_HALVINGS), np.nan)
    found[few] = np.where(shown(low), low, exact)
    return np.where(known, found[back.reshape(-1)].reshape(shape), np.nan)


def _flips_by_normal(pairs: Array, noise: Array, level: float, power: float) -> Array:
    test, beyond = quantiles(level, power)

    def shown(shift: Array) -> npt.NDArray[np.bool_]:
        changed = noise + shift
        spread = test * np.sqrt(changed) + beyond * np.sqrt(np.maximum(changed - shift**2, 0))
        return np.asarray(shift * pairs - 1 >= np.sqrt(pairs) * spread)

    return np.where(shown(1 - noise), _least(shown, 1 - noise), np.nan)


def _flips_power(pairs: Array, noise: Array, shift: Array, level: float) -> Array:
    """The probability that McNemar's exact test rejects for more changes of the shifted kind; all (rows,)."""
    from scipy.special import bdtrc
    from scipy.stats import binom

    changed, needed = _flips_needed(level)
    some = np.maximum(noise + shift, 1e-300)
    up = np.clip((noise / 2 + shift) / some, 0, 1)
    chance = binom.pmf(changed, pairs[:, None], np.minimum(some, 1)[:, None])
    power: Array = (chance * bdtrc(needed - 1, changed, up[:, None])).sum(axis=1)
    return power


@lru_cache(maxsize=64)
def _flips_needed(level: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Numbers of changed pairs with which the test can reject, and how many of them must be of one kind for it to."""
    from scipy.special import bdtrc

    changed = np.arange(fewest_flips(level), _MOST_CHANGED + 1, dtype=np.int64)
    needed = np.arange(1, _MOST_CHANGED + 1, dtype=np.int64)
    rejected = 2 * bdtrc(needed - 1, changed[:, None], 0.5) <= 1 - level + 1e-12
    return changed, needed[(rejected & (needed <= changed[:, None])).argmax(axis=1)]


def fewest_flips(level: float = 0.95) -> int:
    """The number of units below which a two-sided sign-flip test can't reject: 6 at 5 %."""
    return int(np.ceil(1 - np.log2(1 - level) - 1e-9))


def detectable_r(n: npt.ArrayLike, level: float = 0.95, power: float = POWER) -> Array:
    """The smallest |r| that n points would have shown, by Fisher's z with its bias r / 2(n − 1).

    NaN up to 4 points at 5 %: of the 6 orders of 3 points one is a sixth, and with 4 the reverse order mostly has as
    large an |r|, 2 of 24; only beyond r = .99 would an exact permutation test reject 4 times in 5.
    n: any shape. Source: Cohen (1988), ch. 3; Hotelling (1953), J. R. Stat. Soc. B 15, 193-232 for the bias.

    >>> [round(float(r), 2) for r in detectable_r([4, 6, 30])]
    [nan, 0.91, 0.49]
    """
    points = np.asarray(n, float)
    enough = 2 * least_permutation_p(points) <= 1 - level
    used = np.where(enough, points, 10.0)
    z = sum(quantiles(level, power)) / np.sqrt(used - 3)
    r: Array = np.tanh(z)
    for _ in range(_HALVINGS):
        r = np.tanh(z - r / (2 * (used - 1)))
    return np.where(enough, r, np.nan)


def least_permutation_p(n: npt.ArrayLike) -> Array:
    """1 / n!, below which no exact permutation p of n points can be; any shape, 1 where n is missing."""
    from scipy.special import gamma

    points = np.nan_to_num(np.asarray(n, float))
    p: Array = 1 / gamma(np.clip(points, 0, 100) + 1)
    return p


def detectable_d(n_first: npt.ArrayLike, n_second: npt.ArrayLike, level: float = 0.95, power: float = POWER) -> Array:
    """The smallest Cohen's d that two groups of these sizes would have shown, by Student's t; any shape.

    NaN where a group has fewer than two. Source: Cohen (1988), ch. 2, with t for the normal quantiles.

    >>> round(float(detectable_d(20, 20)), 2)
    0.91
    """
    from scipy.special import stdtrit

    first, second = np.broadcast_arrays(np.asarray(n_first, float), np.asarray(n_second, float))
    enough = np.minimum(first, second) >= 2
    first, second = (np.where(enough, size, 2.0) for size in (first, second))
    freedom = first + second - 2
    reach = stdtrit(freedom, (1 + level) / 2) + stdtrit(freedom, power)
    return np.where(enough, reach * np.sqrt(1 / first + 1 / second), np.nan)


def least_fisher_p(n_first: npt.ArrayLike, n_second: npt.ArrayLike) -> Array:
    """The p of Fisher's exact test when one group is all hits and the other none: no table has a smaller one.

    Any shape; 1 where a group is empty.

    >>> float(least_fisher_p(3, 3))  # 2 of 20 tables
    0.1
    """
    from scipy.special import gammaln

    first, second = np.broadcast_arrays(np.asarray(n_first, float), np.asarray(n_second, float))
    log = gammaln(first + 1) + gammaln(second + 1) - gammaln(first + second + 1)
    p: Array = np.exp(log) * np.where(first == second, 2, 1)
    return np.minimum(1.0, np.round(p, 12))


def detectable_proportions(
    n_first: npt.ArrayLike,
    n_second: npt.ArrayLike,
    base: npt.ArrayLike,
    level: float = 0.95,
    power: float = POWER,
) -> Array:
    """The smallest difference of two independent proportions that Fisher's exact test would have shown.

    Up as well as down, where both can be shown; towards a half it takes more. base: the second group's true
    proportion, in [0, 1], which bounds what the first can differ by; shapes broadcast; sizes are rounded to whole
    numbers, at least 1. Small groups: exact, all tables gone through, every 0.005 and by straight line between; large
    ones: the normal limit with the continuity correction. NaN where the power is not reached even by 0 or 1 against the
    base, or a size or the base is missing.
    Source: Fleiss, Tytun & Ury (1980), Biometrics 36, 343-346.

    >>> [round(float(d), 2) for d in detectable_proportions([2, 100], [31, 100], 0.3)]
    [nan, 0.2]
    """
    arrays = [np.asarray(array, float) for array in (n_first, n_second, base)]
    first, second, share = (array.ravel() for array in np.broadcast_arrays(*arrays))
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    known = ~np.isnan(first + second + share)
    found = np.full(len(first), np.nan)
    first, second = (np.maximum(np.rint(np.where(known, size, 1)), 1) for size in (first, second))
    small = (first + second + 1) * (np.minimum(first, second) + 1) <= _MOST_TABLES
    for at in np.flatnonzero(known & small):
        found[at] = _exact(int(first[at]), int(second[at]), float(share[at]), level, power)
    large = known & ~small
    found[large] = _by_normal(first[large], second[large], share[large], level, power)
    return found.reshape(shape)


def _exact(first: int, second: int, base: float, level: float, power: float) -> float:
    from scipy.stats import binom

    reached = _chances(first) @ (_rejected(first, second, level) @ binom.pmf(np.arange(second + 1), second, base))
    shares = np.arange(_GRID + 1) / _GRID
    up, down = shares > base, shares < base
    crossings = [_crossing(shares[up] - base, reached[up], power)]
    crossings.append(_crossing((base - shares[down])[::-1], reached[down][::-1], power))
    return float(np.fmax(crossings[0], crossings[1]))


def _crossing(effects: Array, reached: Array, power: float) -> float:
    """The first effect at which the power is reached, between two of the grid by straight line; NaN without one."""
    enough = np.flatnonzero(reached >= power - 1e-12)
    if not len(enough):
        return np.nan
    at = int(enough[0])
    if at == 0 or reached[at] <= reached[at - 1]:
        return float(effects[at])
    part = (power - reached[at - 1]) / (reached[at] - reached[at - 1])
    return float(effects[at - 1] + part * (effects[at] - effects[at - 1]))


@lru_cache(maxsize=4096)
def _chances(n: int) -> Array:
    """Binomial probabilities of 0 … n hits for every proportion of the grid, (grid, n + 1)."""
    from scipy.stats import binom

    chances: Array = binom.pmf(np.arange(n + 1), n, np.arange(_GRID + 1)[:, None] / _GRID)
    return chances


@lru_cache(maxsize=4096)
def _rejected(first: int, second: int, level: float) -> npt.NDArray[np.bool_]:
    """Which tables, by hits of both groups (first + 1, second + 1), Fisher's exact test rejects."""
    from scipy.special import gammaln

    if first > second:
        return _rejected(second, first, level).T
    hits = np.arange(first + 1)
    rest = np.arange(first + second + 1)[:, None] - hits
    possible = (rest >= 0) & (rest <= second)
    rest = np.where(possible, rest, 0)
    log = -gammaln(hits + 1) - gammaln(first - hits + 1) - gammaln(rest + 1) - gammaln(second - rest + 1)
    weight = np.where(possible, np.exp(log - log.max(axis=1, where=possible, initial=-np.inf, keepdims=True)), 0.0)
    weight /= weight.sum(axis=1, keepdims=True)
    order = np.argsort(weight, axis=1, kind="stable")
    ordered = np.take_along_axis(weight, order, axis=1)
    # Equally likely tables count with each other: the sum up to the last of them.
    up_to = ordered.cumsum(axis=1)
    up_to[:, :-1][ordered[:, 1:] <= ordered[:, :-1] * (1 + 1e-7)] = np.inf
    up_to = np.minimum.accumulate(up_to[:, ::-1], axis=1)[:, ::-1]
    p = np.empty_like(weight)
    np.put_along_axis(p, order, up_to, axis=1)
    rejected: npt.NDArray[np.bool_] = p[hits[:, None] + np.arange(second + 1), hits[:, None]] <= 1 - level + 1e-12
    return rejected


def _by_normal(first: Array, second: Array, base: Array, level: float, power: float) -> Array:
    test, beyond = quantiles(level, power)
    smallest = np.full(len(base), np.nan)
    inverse = 1 / first + 1 / second

    def shown(effect: Array, sign: int) -> npt.NDArray[np.bool_]:
        share = np.clip(base + sign * effect, 0, 1)
        mean = (first * share + second * base) / (first + second)
        under_null = np.sqrt(mean * (1 - mean) * inverse)
        under_effect = np.sqrt(share * (1 - share) / first + base * (1 - base) / second)
        found: npt.NDArray[np.bool_] = effect - inverse / 2 >= test * under_null + beyond * under_effect
        return found

    for sign, room in ((1, 1 - base), (-1, base)):
        found = _least(partial(shown, sign=sign), room)
        smallest = np.fmax(smallest, np.where(shown(room, sign), found, np.nan))
    return smallest


def _least(shown: Callable[[Array], npt.NDArray[np.bool_]], room: Array, halvings: int = _HALVINGS) -> Array:
    """The least effect up to `room`, elementwise, from which on it is shown; `room` where it is not even there."""
    below, above = np.zeros(room.shape), room
    for _ in range(halvings):
        middle = (below + above) / 2
        there = shown(middle)
        below, above = np.where(there, below, middle), np.where(there, middle, above)
    return above
