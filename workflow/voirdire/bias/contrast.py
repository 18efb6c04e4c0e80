"""Differences of two rates measured on the same clusters: estimate, interval and p, per task and pooled.

A cell is one comparison: first rate minus second rate, each a ratio of sums over clusters. All cells of a task are
resampled together, with the same weights that `counts` gives that task.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.pooling import over_tasks
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import (
    SMALL_COUNT,
    Interval,
    blocks_of,
    difference_interval,
    effective_n,
    rate_interval,
    ratio_correlation,
    residuals,
    task_seed,
    weight_chunks,
)
from voirdire.stats.intervals import paired_difference
from voirdire.stats.significance import equal_proportions_p, sign_flip_p, swap_p

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

    def influence(self) -> tuple[Array, Array]:
        """What each cluster adds to the linearised first and second rate, (cells, clusters) each; 0 without trials."""
        hits1, n1, hits2, n2 = self.arrays()
        return residuals(hits1, n1), residuals(hits2, n2)


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
    percentile bootstrap's; where a count is below 40, square-and-add of the two rates' own ("mover"; paired cells:
    "mover_paired", and also where fewer than 40 clusters differ, as a bootstrap of few has little width or none).

    A cell without trials on one side, and so every cell where there are no clusters, has NaN rates and interval, method
    "", n as they are. One cluster has no spread to resample: the intervals are the closed ones of one trial a side,
    however many it holds (`effective_n`).
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
    worth = np.minimum(effective_n(hits1, n1, level=level), effective_n(hits2, n2, level=level))
    gained = hits1 - hits2
    more, fewer = (np.maximum(part, 0).sum(axis=1) for part in (gained, -gained))
    pairs, both = n1.sum(axis=1), hits1.sum(axis=1) - more
    scale = ratio(worth, pairs)
    neither = pairs - both - more - fewer
    low, high = paired_difference(scale * both, scale * more, scale * fewer, scale * neither, level)
    low, high = np.where(small, low, interval.low), np.where(small, high, interval.high)
    method = np.where(small, "mover_paired", interval.method)
    return Interval(interval.estimate, low, high, method, interval.n_dropped)


def pool_tasks(tasks: Sequence[Compared], level: float) -> Compared:
    """The mean over tasks, cell by cell, of those in which the difference exists; n are sums over them.

    tasks: one at least, of the same cells. A cell whose difference exists in none has NaN rates and interval, n of 0.
    """
    pooled = over_tasks([task.interval for task in tasks], [task.samples for task in tasks], level)
    return Compared(
        "all",
        pooled.mean([task.first for task in tasks]),
        pooled.mean([task.second for task in tasks]),
        pooled.total([task.n_first for task in tasks]),
        pooled.total([task.n_second for task in tasks]),
        pooled.interval,
        pooled.samples,
    )


def difference_p(
    contrasts: Sequence[Contrast], estimates: Array, known: Sequence[Mask], paired: Mask, proportions: Mask
) -> Array:
    """p of each cell's difference over one task or several; NaN where there is none.

    contrasts: one per task; estimates: the differences that p is of, (cells,); known: per task, the cells that have a
    difference there. Paired cells: sign-flip of the clusters' differences (McNemar's exact p where each is one pair).
    Other proportions: the conditional test of `equal_proportions_p`; the rest, `swap_p`. Over several tasks all tests
    add up the tasks' scores, so that a large task counts for more than in the mean: it is a test of no difference in
    any task. Should that sum point the other way than the mean, p is 1.
    """
    p = np.full(len(paired), np.nan)
    for cell in np.flatnonzero(~np.isnan(estimates)):
        parts = [
            (c.first_hits[cell], c.first_n[cell], c.second_hits[cell], c.second_n[cell])
            for c, there in zip(contrasts, known, strict=True)
            if there[cell]
        ]
        scores = [h1.sum() - (h1 + h2).sum() * n1.sum() / (n1 + n2).sum() for h1, n1, h2, n2 in parts]
        if len(parts) > 1 and sum(scores) * estimates[cell] < 0:
            p[cell] = 1.0
        elif paired[cell]:
            p[cell] = sign_flip_p(np.concatenate([(h1 - h2)[n1 > 0] for h1, n1, h2, _ in parts]))
        else:
            p[cell] = equal_proportions_p(parts) if proportions[cell] else swap_p(parts)
    return p
