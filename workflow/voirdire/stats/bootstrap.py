"""Cluster bootstrap by weights, and intervals of rates that hold up where counts are small.

A resample is a row of weights: how often each cluster was drawn. A statistic made of sums over clusters is then one
matrix product of weights with counts, for all resamples and all cells at once, and everything measured on one item
moves together.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array
from voirdire.stats.intervals import mid_p, normal_quantile, square_and_add

Seed = int | Sequence[int]

# Where fewer errors or fewer non-errors than this are seen, the percentile bootstrap covers too little: from 10 on 92 %
# of the time at worst, from 20 on 93 %, from 40 on 94 %, and with 20 clusters of several trials each 91 %.
SMALL_COUNT = 40
# A design effect is believed where as many clusters have a hit, and as many a miss.
BELIEVED_FROM = 15
# More clusters than this are first pooled at random into blocks, in every task that has more clusters than blocks.
MANY_CLUSTERS = 100_000
BLOCKS = 2_000
# Weights held in memory at a time (32 MB), so that 10⁵ clusters don't need 800 MB.
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Interval:
    """Estimates with intervals, one per cell: all arrays of shape (cells,).

    method: "percentile", "mid-p", "mover", or "" where there is no estimate.
    n_dropped: resamples that had an empty denominator, and so no value.
    """

    estimate: Array
    low: Array
    high: Array
    method: npt.NDArray[np.object_]
    n_dropped: npt.NDArray[np.int64]


def task_seed(seed: int, task: str) -> list[int]:
    """A stream of draws for each task that does not depend on which other tasks there are."""
    return [seed, zlib.crc32(task.encode())]


def blocks_of(n_clusters: int, n_in_all: int, seed: int, task: str) -> npt.NDArray[np.int64]:
    """The number, from 0, under which each cluster of a task is resampled, (n_clusters,).

    Its own; or, with more than 10⁵ clusters in all tasks and more than 2,000 in this one, that of its block. Blocks are
    drawn at random and of equal size: resampling them is then resampling clusters, coarsely.
    """
    if n_in_all <= MANY_CLUSTERS or n_clusters <= BLOCKS:
        return np.arange(n_clusters)
    return np.asarray(np.random.default_rng([*task_seed(seed, task), 1]).permutation(n_clusters) % BLOCKS)


def cluster_weights(strata: npt.ArrayLike, n_resamples: int, seed: Seed) -> Array:
    """How often each cluster is drawn in each resample: multinomial counts within each stratum.

    strata: integers (n_clusters,), the stratum of each cluster. Returns (n_resamples, n_clusters); in every row the
    weights of a stratum add up to its number of clusters. Each stratum has its own stream of draws, from (seed,
    stratum): another stratum's clusters do not change it.
    """
    strata = np.asarray(strata, np.int64)
    chunks = list(weight_chunks(strata, n_resamples, seed))
    return np.concatenate(chunks) if chunks else np.empty((0, len(strata)))


def weight_chunks(strata: npt.ArrayLike, n_resamples: int, seed: Seed) -> Iterator[Array]:
    """The rows of `cluster_weights` in order, a bounded number at a time."""
    strata = np.asarray(strata, np.int64)
    seeds = [seed] if isinstance(seed, int | np.integer) else list(seed)
    members = [(np.flatnonzero(strata == s), np.random.default_rng([*seeds, int(s)])) for s in np.unique(strata)]
    step = max(1, _CHUNK // max(len(strata), 1))
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        weights = np.zeros((rows, len(strata)))
        for where, rng in members:
            size = len(where)
            drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
            weights[:, where] = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        yield weights


def percentile(samples: npt.ArrayLike, level: float = 0.95) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Percentile interval over axis 0 of bootstrap samples (resamples, …).

    NaN samples (an empty denominator) are dropped, column by column, and counted. Quantiles interpolate linearly, as
    numpy's default. Returns (low, high, n_dropped); low and high are NaN where nothing is left.
    """
    values = np.sort(np.asarray(samples, float), axis=0)  # NaN goes last
    kept = (~np.isnan(values)).sum(axis=0)
    if not len(values):
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing.copy(), np.asarray(kept)

    def quantile(q: float) -> Array:
        position = np.maximum(kept - 1, 0) * q
        floor = np.floor(position).astype(np.int64)
        below, above = (
            np.take_along_axis(values, np.minimum(index, len(values) - 1)[None], axis=0)[0]
            for index in (floor, np.minimum(floor + 1, np.maximum(kept - 1, 0)))
        )
        return np.where(kept > 0, below + (above - below) * (position - floor), np.nan)

    tail = (1 - level) / 2
    return quantile(tail), quantile(1 - tail), np.asarray(len(values) - kept)


def effective_n(hits: Array, trials: Array, strata: npt.ArrayLike | None = None, level: float = 0.95) -> Array:
    """How many independent trials a clustered proportion is worth: n / design effect.

    hits, trials: (cells, clusters), sums per cluster. strata: (clusters,), default one stratum. level: of the interval
    that it is for.
    The design effect is the linearised variance of the ratio Σhits / Σtrials over clusters, by the binomial variance,
    kept between 1 and its value for clusters that always agree, Σm² / Σm. Two things make it cautious where it is
    hardly seen: a t quantile for the clusters it is estimated from, in place of the normal one; and where fewer than 15
    clusters have a hit (or a miss) it moves towards Σm² / Σm, which is taken at 0 and at n hits: there, repeats of one
    item count once. Clusters of one trial each are worth n. Returns (cells,), 0 where there are no trials.
    Source: Kish (1965), Survey Sampling, 8.2; Korn and Graubard (1998), Survey Methodology 24, 193-201, for t.
    """
    from scipy.special import stdtrit

    n = trials.sum(axis=1)
    n_clusters = (trials > 0).sum(axis=1)
    rarer = np.minimum((hits > 0).sum(axis=1), (hits < trials).sum(axis=1))
    trust = np.where(n_clusters > 1, np.minimum(rarer / BELIEVED_FROM, 1), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = hits.sum(axis=1) / n
        largest = np.maximum((trials**2).sum(axis=1) / n, 1)
        seen = ratio_covariance((hits, trials), (hits, trials), strata) / (share * (1 - share) / n)
        caution = (stdtrit(np.maximum(n_clusters - 1, 1), (1 + level) / 2) / normal_quantile(level)) ** 2
        seen = np.where(trust > 0, np.clip(seen * caution, 1, largest), largest)
        effect = trust * seen + (1 - trust) * largest
        return np.where(n > 0, n / effect, 0.0)


def residuals(hits: Array, trials: Array) -> Array:
    """What each cluster adds to the linearised ratio Σhits / Σtrials, less the ratio: (cells, clusters), sums of 0."""
    n = trials.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, (hits - hits.sum(axis=1, keepdims=True) / n * trials) / n, 0.0)


def ratio_covariance(
    first: tuple[Array, Array], second: tuple[Array, Array], strata: npt.ArrayLike | None = None
) -> Array:
    """Linearised covariance of two ratios Σhits / Σtrials measured on the same clusters, stratified.

    first, second: (hits, trials), each (cells, clusters). Returns (cells,); NaN where a ratio has no trials.
    Ratios that share no cluster have covariance 0 in one stratum.
    """
    labels = np.zeros(first[0].shape[1], np.int64) if strata is None else np.asarray(strata)
    total = np.zeros(first[0].shape[0])
    pairs = [(residuals(hits, trials), trials > 0) for hits, trials in (first, second)]
    for stratum in np.unique(labels):
        inside = labels == stratum
        centred, sizes = [], []
        for residual, present in pairs:
            part, there = residual[:, inside], present[:, inside]
            size = there.sum(axis=1)
            # A lone cluster has no mean to be compared with: its own residual is the (cautious) deviation.
            mean = np.where(size > 1, part.sum(axis=1) / np.maximum(size, 1), 0.0)
            centred.append(np.where(there, part - mean[:, None], 0.0))
            sizes.append(size)
        size = np.minimum(*sizes)
        total += (centred[0] * centred[1]).sum(axis=1) * np.where(size > 1, size / np.maximum(size - 1, 1), 1.0)
    known = (first[1].sum(axis=1) > 0) & (second[1].sum(axis=1) > 0)
    return np.where(known, total, np.nan)


def ratio_correlation(
    first: tuple[Array, Array], second: tuple[Array, Array], strata: npt.ArrayLike | None = None
) -> Array:
    """Correlation of two ratios over the same clusters, in [−1, 1]; 0 where either has no spread or no trials."""
    covariance = ratio_covariance(first, second, strata)
    product = ratio_covariance(first, first, strata) * ratio_covariance(second, second, strata)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = covariance / np.sqrt(product)
    return np.where(np.isfinite(r), np.clip(r, -1, 1), 0.0)


def sample_correlation(first: Array, second: Array, least: int = 30) -> Array:
    """Correlation of two estimates over their resamples, (resamples, …) each, elementwise: (…,).

    Resamples that lack either are left out. NaN where fewer than `least` have both, or one of them has no spread.
    """
    there = ~np.isnan(first + second)
    n = there.sum(axis=0)
    x, y = (np.where(there, values, 0.0) for values in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (np.where(there, values - values.sum(axis=0) / n, 0.0) for values in (x, y))
        xx, yy, xy = (x * x).sum(axis=0), (y * y).sum(axis=0), (x * y).sum(axis=0)
        r = np.clip(xy / np.sqrt(xx * yy), -1, 1)
    return np.where((n >= least) & (np.minimum(xx, yy) > 1e-20 * np.maximum(n, 1)), r, np.nan)


def rate_interval(
    hits: Array, trials: Array, samples: Array, level: float = 0.95, strata: npt.ArrayLike | None = None
) -> Interval:
    """A rate Σhits / Σtrials of each cell with its interval.

    hits, trials: (cells, clusters); samples: (resamples, cells), the rate in each bootstrap resample, NaN where its
    denominator was empty. The percentile interval, except where hits or misses, as independent trials, or the clusters
    that have one, are fewer than 40: `mid_p` with the effective n ("mid-p"). Counting 50 repeats of one item as 50
    would trust a bootstrap of one cluster. Returns NaN and method "" where there are no trials.
    """
    n, n_effective = trials.sum(axis=1), effective_n(hits, trials, strata, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(n > 0, hits.sum(axis=1) / n, np.nan)
    low, high, dropped = percentile(samples, level)
    rarer = np.minimum((hits > 0).sum(axis=1), (hits < trials).sum(axis=1))
    small = np.fmin(np.fmin(share, 1 - share) * n_effective, rarer) < SMALL_COUNT - 1e-9
    low_few, high_few = mid_p(share * n_effective, n_effective, level)
    method = np.where(n > 0, np.where(small, "mid-p", "percentile"), "").astype(object)
    return Interval(
        share,
        np.where(n > 0, np.where(small, low_few, low), np.nan),
        np.where(n > 0, np.where(small, high_few, high), np.nan),
        method,
        np.where(n > 0, dropped, 0),
    )


def combined_interval(
    parts: Sequence[Interval],
    coefficients: npt.ArrayLike,
    samples: Array,
    level: float = 0.95,
    correlation: Array | float = 0.0,
) -> Interval:
    """Interval of a linear combination of estimates, cell by cell: a difference of two rates, a mean over tasks.

    parts: k intervals of (cells,); coefficients: (k,) or (k, cells), 0 leaves a part out of that cell;
    samples: (resamples, cells) of the combination; correlation: of the first two parts (others are independent).
    The percentile interval where all parts of a cell have one, else square-and-add of the parts' own intervals
    ("mover"). A cell made of one part with coefficient 1 keeps that part's method. NaN and "" where a part is NaN or
    all coefficients are 0.
    """
    estimates, lows, highs = (np.stack([getattr(p, name) for p in parts]) for name in ("estimate", "low", "high"))
    methods = np.stack([p.method for p in parts])
    c = np.asarray(coefficients, float)
    c = np.broadcast_to(c.reshape(c.shape + (1,) * (estimates.ndim - c.ndim)), estimates.shape)
    used = c != 0
    value = np.where(used, c * estimates, 0.0).sum(axis=0)
    known = used.any(axis=0) & ~np.isnan(value)
    low, high, dropped = percentile(samples, level)
    low_parts, high_parts = square_and_add(estimates, lows, highs, c, correlation)
    exact = ((methods == "percentile") | ~used).all(axis=0)
    alone = (used.sum(axis=0) == 1) & (c.sum(axis=0) == 1)
    own = np.take_along_axis(methods, used.argmax(axis=0)[None], axis=0)[0]
    names = np.where(exact, "percentile", np.where(alone, own, "mover")).astype(object)
    return Interval(
        np.where(known, value, np.nan),
        np.where(known, np.where(exact, low, low_parts), np.nan),
        np.where(known, np.where(exact, high, high_parts), np.nan),
        np.where(known, names, "").astype(object),
        np.where(known, dropped, 0),
    )


def difference_interval(
    first: Interval, second: Interval, samples: Array, level: float = 0.95, correlation: Array | float = 0.0
) -> Interval:
    """first − second of each cell: percentile where both have it, else square-and-add of the two intervals.

    samples: (resamples, cells) of the difference. correlation: of the two estimates where they are measured on the
    same items (`ratio_correlation`); ignoring a negative one would make the interval too short.
    """
    return combined_interval([first, second], [1.0, -1.0], samples, level, correlation)
