"""Differences of two rates measured on the same clusters: estimate, interval and p, per task and pooled.

A cell is one comparison: first rate minus second rate, each a ratio of sums over clusters. All cells of a task are
resampled together, with the same weights that `counts` gives that task.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.pooling import mean_coefficients, weighted_sum
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import (
    SMALL_COUNT,
    Interval,
    blocks_of,
    combined_interval,
    difference_interval,
    effective_n,
    percentile,
    rate_interval,
    ratio_correlation,
    task_seed,
    weight_chunks,
)
from voirdire.stats.effect import cluster_difference_p, fisher_p, newcombe_paired, sign_flip_p

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Contrast:
    """What is compared in one task: sums per cell and cluster, (cells, clusters) each."""

    task: str
    first_hits: Array
    first_n: Array
    second_hits: Array
    second_n: Array

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.first_hits, self.first_n, self.second_hits, self.second_n


@dataclass(frozen=True)
class Compared:
    """The two rates and their difference: (cells,) each; samples of the difference are (resamples, cells)."""

    task: str
    first: Array
    second: Array
    n_first: Array
    n_second: Array
    interval: Interval
    samples: Array


def cluster_codes(
    rows: pd.DataFrame, task: str, clusters: dict[str, npt.NDArray[np.object_]], seed: int
) -> tuple[npt.NDArray[np.int64], int]:
    """The cluster (or its block, see `counts.count`) of each row of one task, and how many there are."""
    labels = clusters[task]
    block = blocks_of(len(labels), sum(map(len, clusters.values())), seed, task)
    return block[pd.Index(labels).get_indexer(pd.Index(rows["cluster"]))], int(block.max(initial=-1)) + 1


def summed(values: Array, codes: npt.NDArray[np.int64], size: int) -> Array:
    """Columns of values (cells, units) added up by their code: (cells, size)."""
    flat = np.arange(len(values))[:, None] * size + codes
    sums = np.bincount(flat.ravel(), values.ravel(), minlength=len(values) * size)
    return sums.reshape(len(values), size).astype(np.float64)


def weighted_sums(arrays: Sequence[Array], task: str, resamples: int, seed: int) -> list[Array]:
    """Sums over clusters in every resample, (resamples, cells) for each of the arrays (cells, clusters)."""
    stacked = np.concatenate(arrays)
    strata = np.zeros(stacked.shape[1], np.int64)
    chunks = [weights @ stacked.T for weights in weight_chunks(strata, resamples, task_seed(seed, task))]
    drawn = np.concatenate(chunks) if chunks else np.empty((0, len(stacked)))
    return np.split(drawn, np.cumsum([len(array) for array in arrays])[:-1], axis=1)


def compare(contrast: Contrast, paired: Mask, resamples: int, seed: int, level: float) -> Compared:
    """First minus second rate of each cell with its interval.

    paired: cells in which each cluster holds as many first as second trials, of the same items. The interval is the
    percentile bootstrap's; where a count is below 10, Newcombe's (paired cells: also where fewer than 10 clusters
    differ, as a bootstrap of so few has no width).
    """
    hits1, n1, hits2, n2 = contrast.arrays()
    drawn = weighted_sums(contrast.arrays(), contrast.task, resamples, seed)
    first_samples, second_samples = ratio(drawn[0], drawn[1]), ratio(drawn[2], drawn[3])
    first = rate_interval(hits1, n1, first_samples, level)
    second = rate_interval(hits2, n2, second_samples, level)
    samples = first_samples - second_samples
    correlation = ratio_correlation((hits1, n1), (hits2, n2))
    interval = difference_interval(first, second, samples, level, correlation)
    interval = _with_paired(interval, contrast, paired, level)
    return Compared(contrast.task, first.estimate, second.estimate, n1.sum(axis=1), n2.sum(axis=1), interval, samples)


def _with_paired(interval: Interval, contrast: Contrast, paired: Mask, level: float) -> Interval:
    hits1, n1, hits2, n2 = contrast.arrays()
    differ = (np.abs(hits1 - hits2) > 1e-12).sum(axis=1)
    small = paired & ~np.isnan(interval.estimate) & ((interval.method != "percentile") | (differ < SMALL_COUNT))
    low, high, method = interval.low.copy(), interval.high.copy(), interval.method.copy()
    worth = np.minimum(effective_n(hits1, n1, level=level), effective_n(hits2, n2, level=level))
    for cell in np.flatnonzero(small):
        gained = hits1[cell] - hits2[cell]
        more, fewer = np.maximum(gained, 0).sum(), np.maximum(-gained, 0).sum()
        both = hits1[cell].sum() - more
        pairs = n1[cell].sum()
        scale = worth[cell] / pairs
        neither = pairs - both - more - fewer
        low[cell], high[cell] = newcombe_paired(both * scale, more * scale, fewer * scale, neither * scale, level)
    method[small] = "newcombe_paired"
    return Interval(interval.estimate, low, high, method, interval.n_dropped)


def pool_tasks(tasks: Sequence[Compared], level: float) -> Compared:
    """The mean over tasks, cell by cell, of those in which the difference exists; n are sums over them."""
    share = mean_coefficients([task.interval.estimate for task in tasks])
    samples = weighted_sum([task.samples for task in tasks], share)
    return Compared(
        "all",
        weighted_sum([task.first for task in tasks], share),
        weighted_sum([task.second for task in tasks], share),
        np.sum([np.where(part > 0, task.n_first, 0) for part, task in zip(share, tasks, strict=True)], axis=0),
        np.sum([np.where(part > 0, task.n_second, 0) for part, task in zip(share, tasks, strict=True)], axis=0),
        combined_interval([task.interval for task in tasks], share, samples, level),
        samples,
    )


def dependent_mean(intervals: Interval, samples: Array, level: float) -> tuple[float, float, float, str]:
    """Mean over cells that share responses, so that their errors are not independent: estimate, low, high, method.

    Cells without an estimate are left out. The percentile interval of the mean where every cell has one, else the
    cells' own bounds joined with the correlations that their bootstrap samples show (square-and-add with
    correlations: Zou & Donner 2008); cells whose samples show none, being constant, count as fully correlated.
    """
    known = ~np.isnan(intervals.estimate)
    if not known.any():
        return np.nan, np.nan, np.nan, ""
    estimate, low, high = (array[known] for array in (intervals.estimate, intervals.low, intervals.high))
    drawn = samples[:, known]
    if (intervals.method[known] == "percentile").all():
        bounds = percentile(drawn.mean(axis=1), level)
        return float(estimate.mean()), float(bounds[0]), float(bounds[1]), "percentile"
    correlation = _correlation(drawn[~np.isnan(drawn).any(axis=1)])
    below, above = ((reach / len(estimate)) for reach in (estimate - low, high - estimate))
    mean = float(estimate.mean())
    reach_below, reach_above = (float(np.sqrt(max(float(d @ correlation @ d), 0.0))) for d in (below, above))
    method = str(intervals.method[known][0]) if len(estimate) == 1 else "mover"
    return mean, mean - reach_below, mean + reach_above, method


def _correlation(samples: Array) -> Array:
    if len(samples) < 2:
        return np.ones((samples.shape[1], samples.shape[1]))
    centred = samples - samples.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (centred.T @ centred) / np.outer(spread, spread)
    constant = spread < 1e-12
    return np.asarray(np.where(constant[:, None] | constant, 1.0, r))


def task_p(contrast: Contrast, compared: Compared, paired: Mask, proportions: Mask) -> Array:
    """p of each cell's difference; NaN where there is none.

    Paired cells: sign-flip of the clusters' differences (McNemar's exact p where each is one pair). Otherwise the
    cluster-robust score test; proportions whose interval had to be Newcombe's: Fisher's exact test, a cluster being
    one unit of each group whatever its repeats.
    """
    p = np.full(len(paired), np.nan)
    for cell in np.flatnonzero(~np.isnan(compared.interval.estimate)):
        hits1, n1, hits2, n2 = (array[cell] for array in contrast.arrays())
        if paired[cell]:
            p[cell] = sign_flip_p((hits1 - hits2)[n1 > 0])
        elif proportions[cell] and compared.interval.method[cell] != "percentile":
            units = [(ratio(hits, n)[n > 0].sum(), int((n > 0).sum())) for hits, n in ((hits1, n1), (hits2, n2))]
            p[cell] = fisher_p(*units[0], *units[1])
        else:
            p[cell] = cluster_difference_p(hits1, n1, hits2, n2)
    return p


def pooled_p(contrasts: Sequence[Contrast], tasks: Sequence[Compared], p_tasks: Sequence[Array], paired: Mask) -> Array:
    """p of the mean over tasks; where a single task contributes, its own p."""
    p = np.full(len(paired), np.nan)
    known = np.stack([~np.isnan(task.interval.estimate) for task in tasks])
    for cell in np.flatnonzero(known.any(axis=0)):
        here = [task for task in range(len(tasks)) if known[task, cell]]
        if len(here) == 1:
            p[cell] = p_tasks[here[0]][cell]
            continue
        parts = [[array[cell] for array in contrasts[task].arrays()] for task in here]
        if paired[cell]:
            p[cell] = sign_flip_p(np.concatenate([(h1 - h2)[n1 > 0] / n1.sum() for h1, n1, h2, _ in parts]))
        else:
            strata = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
            hits1, n1, hits2, n2 = (np.concatenate(column) for column in zip(*parts, strict=True))
            p[cell] = cluster_difference_p(hits1, n1, hits2, n2, strata)
    return p
