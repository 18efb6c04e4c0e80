"""Has a judge changed? Cumulative statistics over periods, and what chance makes of them.

Two readings of each vote, both relative to the other judges on the same response: how much more the judge agrees with
the others' majority than those do with theirs, and how much more often it says "correct". Agreement alone is nearly
blind to a judge that becomes lenient: it agrees more where the panel accepts, and less where it rejects. Both are
compared before and after every possible change, within strata (tasks), so that another mix of tasks is no change. What
chance makes of the largest difference over judges, readings, changes and moments is seen by permuting responses between
periods within strata.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.drift.streams import IntArray
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio

READINGS = ("agreement", "leniency")
# Votes of the judge that must lie on either side of a possible change: fewer make outliers, and chance's bound high.
LEAST = 20
# Numbers held at once while responses are permuted.
_CELLS = 4_000_000


def deviations(votes: ArrayLike) -> FloatArray:
    """Each vote beside the other judges' on the same response: (..., responses, READINGS, judges), in [-1, 1].

    votes: (..., responses, judges). Agreement: 1 or 0, less the others' mean; NaN where the judge hasn't voted, the
    others are tied, or no other judge has a majority to agree with. Leniency: the vote less the mean of the others';
    NaN where either is missing.

    >>> deviations([[1, 1, 1, 0]]).round(2)
    array([[[ 0.33,  0.33,  0.33, -1.  ],
            [ 0.33,  0.33,  0.33, -1.  ]]])
    """
    correct, incorrect = split(votes)
    signed = correct - incorrect
    others = signed.sum(axis=-1, keepdims=True) - signed
    agrees = np.where((signed != 0) & (others != 0), np.sign(others) == signed, np.nan)
    said = np.where(signed != 0, correct, np.nan)
    return np.stack([_beside_others(agrees), _beside_others(said)], axis=-2)


def _beside_others(values: FloatArray) -> FloatArray:
    """(..., judges): each value less the mean of the others that there are."""
    there = np.isfinite(values)
    known = np.where(there, values, 0.0)
    n_others = there.sum(axis=-1, keepdims=True) - there
    return values - ratio(known.sum(axis=-1, keepdims=True) - known, n_others)


@dataclass(frozen=True)
class Blocks:
    """Responses that stay together when periods are permuted, one block per stratum, cluster and period.

    sums, counts: (blocks, columns), the deviations' sums and numbers, a column per reading and judge; kind, stratum,
    period: (blocks,), from 0; blocks of one kind, those of one stratum and number of responses, are exchanged;
    variance: (strata, columns), of a deviation.
    """

    sums: FloatArray
    counts: FloatArray
    kind: IntArray
    stratum: IntArray
    period: IntArray
    variance: FloatArray
    n_periods: int

    @classmethod
    def of(
        cls, deviation: FloatArray, stratum: IntArray, period: IntArray, n_periods: int, cluster: IntArray | None = None
    ) -> "Blocks":
        """deviation: `deviations`; the rest (responses,), numbers from 0; without clusters each response is alone."""
        flat = deviation.reshape(len(deviation), -1)
        there = np.isfinite(flat)
        values = np.where(there, flat, 0.0)
        variance = _variance(values, there, stratum)
        n = len(stratum)
        if cluster is None:
            first, block, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
        else:
            keys = (stratum * (cluster.max(initial=0) + 1) + cluster) * n_periods + period
            _, first, block, size = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        sums, counts = np.zeros((len(first), values.shape[1])), np.zeros((len(first), values.shape[1]))
        np.add.at(sums, block, values)
        np.add.at(counts, block, there)
        kind = stratum[first] * (size.max(initial=0) + 1) + size
        return cls(sums, counts, kind, stratum[first], period[first], variance, n_periods)

    def observed(self) -> tuple[FloatArray, FloatArray]:
        """Sums and counts by period, stratum and column: (periods, strata, columns)."""
        shape = (self.n_periods, len(self.variance), self.sums.shape[1])
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, (self.period, self.stratum), self.sums)
        np.add.at(counts, (self.period, self.stratum), self.counts)
        return sums, counts

    def permuted(self, n: int, rng: np.random.Generator) -> Iterator[tuple[FloatArray, FloatArray]]:
        """The same for n permutations of the periods within kinds, some at a time: (permutations, periods, …)."""
        both = np.concatenate([self.sums, self.counts], axis=1)
        n_columns = self.sums.shape[1]
        step = max(1, _CELLS // max(both.size, 1))
        kinds = [np.flatnonzero(self.kind == kind) for kind in np.unique(self.kind)]
        kinds = [mine[np.argsort(self.period[mine], kind="stable")] for mine in kinds]
        for start in range(0, n, step):
            rows = min(step, n - start)
            out = np.zeros((rows, self.n_periods, len(self.variance), 2 * n_columns))
            for mine in kinds:
                order = rng.random((rows, len(mine))).argsort(axis=1)
                present, first = np.unique(self.period[mine], return_index=True)
                out[:, present, self.stratum[mine[0]]] += np.add.reduceat(both[mine[order]], first, axis=1)
            yield out[..., :n_columns], out[..., n_columns:]


def _variance(values: FloatArray, there: NDArray[np.bool_], stratum: IntArray) -> FloatArray:
    """(strata, columns)."""
    found = np.zeros((int(stratum.max(initial=-1)) + 1, values.shape[1]))
    for number in range(len(found)):
        mine = stratum == number
        n = there[mine].sum(axis=0)
        mean = ratio(values[mine].sum(axis=0), n)
        squares = (np.where(there[mine], values[mine] - mean, 0.0) ** 2).sum(axis=0)
        found[number] = np.where(n > 1, squares / np.maximum(n - 1, 1), 0.0)
    return found


def largest(sums: FloatArray, counts: FloatArray, variance: FloatArray) -> tuple[FloatArray, IntArray]:
    """The largest |z| of a change so far, (..., periods, columns), and the first period after that change.

    sums, counts: (..., periods, strata, columns); variance: (strata, columns). z is the sum of a judge's deviations
    since the change less what its mean over all periods so far would give, over its standard deviation; stratum by
    stratum, then added up. 0 where fewer than LEAST votes lie on a side.
    """
    upto, n_upto = np.cumsum(sums, axis=-3), np.cumsum(counts, axis=-3)
    shape = (*sums.shape[:-2], sums.shape[-1])
    found, since = np.zeros(shape), np.zeros(shape, np.int64)
    for now in range(1, sums.shape[-3]):
        total, n = upto[..., now : now + 1, :, :], n_upto[..., now : now + 1, :, :]
        before, n_before = upto[..., :now, :, :], n_upto[..., :now, :, :]
        n_after, safe = n - n_before, np.maximum(n, 1)
        excess = ((total - before) - n_after * total / safe).sum(axis=-2)
        spread = (variance * n_after * n_before / safe).sum(axis=-2)
        enough = np.minimum(n_after.sum(axis=-2), n_before.sum(axis=-2)) >= LEAST
        z = np.where(enough & (spread > 1e-12), np.abs(excess) / np.sqrt(np.maximum(spread, 1e-12)), 0.0)
        found[..., now, :], since[..., now, :] = z.max(axis=-2), z.argmax(axis=-2) + 1
    return found, since


@dataclass(frozen=True)
class Scan:
    """z, since: (periods, READINGS, judges), see `largest`; by_chance: (permutations,), the largest z of each."""

    z: FloatArray
    since: IntArray
    by_chance: FloatArray

    def threshold(self, level: float) -> float:
        """What z is above with probability `level` at most in any judge and period, if no judge changes."""
        rank = int(np.ceil((1 - level) * (len(self.by_chance) + 1) - 1e-9))
        return float(np.sort(self.by_chance)[rank - 1]) if rank <= len(self.by_chance) else float("inf")

    def p(self) -> FloatArray:
        """(judges,): p of each judge, adjusted for all of them and for both readings."""
        as_large = (self.by_chance[:, None] >= self.z.max(axis=(0, 1)) - 1e-9).sum(axis=0)
        adjusted: FloatArray = (1 + as_large) / (1 + len(self.by_chance))
        return adjusted


def scan(blocks: Blocks, permutations: int, rng: np.random.Generator) -> Scan:
    """The statistic of every judge and period, and of permuted periods."""
    z, since = largest(*blocks.observed(), blocks.variance)
    by_judge = (len(z), len(READINGS), -1)
    chance = [largest(*each, blocks.variance)[0].max(axis=(-2, -1)) for each in blocks.permuted(permutations, rng)]
    by_chance = np.concatenate(chance) if chance else np.zeros(0)
    return Scan(z.reshape(by_judge), since.reshape(by_judge), by_chance)
