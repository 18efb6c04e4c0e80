"""From tasks to all tasks: the mean of task rates, and all verdicts together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.counts import Counts, concatenated
from voirdire.stats.arrays import Array
from voirdire.stats.bootstrap import Interval, combined_interval


def aligned(counts: Sequence[Counts]) -> list[Counts]:
    """The same tasks with the same cells in the same order; a cell that a task lacks has counts of 0.

    The cells gain a column `present`: whether the task has that cell.
    """
    keys = [name for name in counts[0].cells.columns if name != "simulated"]
    cells = pd.concat([c.cells for c in counts]).drop_duplicates(keys)[keys]
    return [_with_cells(c, cells, keys) for c in counts]


def _with_cells(counts: Counts, cells: pd.DataFrame, keys: list[str]) -> Counts:
    found = pd.MultiIndex.from_frame(counts.cells[keys]).get_indexer(pd.MultiIndex.from_frame(cells))
    there = found >= 0
    simulated = np.where(there, counts.cells["simulated"].to_numpy()[found], False)
    named = cells.assign(simulated=simulated, present=there).reset_index(drop=True)
    return counts.mapped(lambda array: np.where(there[:, None], array[found], 0.0), named)


def joined(counts: Sequence[Counts]) -> Counts:
    """All tasks' clusters side by side as one Counts, (cells, clusters of all tasks); counts: from `aligned`."""
    simulated = np.any([c.cells["simulated"].to_numpy() for c in counts], axis=0)
    clusters = np.concatenate([c.clusters for c in counts])
    return Counts(*concatenated(counts, axis=1), "all", counts[0].cells.assign(simulated=simulated), clusters)


def strata_of(counts: Sequence[Counts]) -> npt.NDArray[np.int64]:
    """The number of the task of each cluster of `joined`."""
    return np.repeat(np.arange(len(counts)), [len(c.clusters) for c in counts])


@dataclass(frozen=True)
class OverTasks:
    """A mean over the tasks in which a cell has an estimate, and how to take others over the same tasks.

    coefficients: (tasks, cells); interval: of the mean, (cells,); samples: of the mean, (resamples, cells).
    """

    coefficients: Array
    interval: Interval
    samples: Array

    def mean(self, parts: Sequence[Array]) -> Array:
        """The mean over the same tasks of (…, cells) each; NaN for a cell that no task has."""
        return weighted_sum(parts, self.coefficients)

    def total(self, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The sum over the same tasks of (cells,) each; 0 for a cell that no task has."""
        used = [np.where(c > 0, part, 0) for c, part in zip(self.coefficients, parts, strict=True)]
        return np.asarray(np.sum(used, axis=0))

    def clusters(self, parts: Sequence[Array]) -> Array:
        """See `side_by_side`."""
        return side_by_side(parts, self.coefficients)


def over_tasks(parts: Sequence[Interval], samples: Sequence[Array], level: float = 0.95) -> OverTasks:
    """The mean over the tasks in which a cell has an estimate, with its interval.

    parts: one per task, of the same cells; samples: (resamples, cells) of each. Tasks are independent strata, so
    square-and-add applies where a task's own interval is no percentile one. A cell that no task has is NaN.
    """
    coefficients = mean_coefficients([part.estimate for part in parts])
    drawn = weighted_sum(samples, coefficients)
    return OverTasks(coefficients, combined_interval(parts, coefficients, drawn, level), drawn)


def task_mean(parts: Sequence[Interval], samples: Sequence[Array], level: float = 0.95) -> Interval:
    """The interval of `over_tasks` alone."""
    return over_tasks(parts, samples, level).interval


def mean_coefficients(estimates: Sequence[Array]) -> Array:
    """1 / (number of tasks with an estimate) where a task has one, else 0: (tasks, cells)."""
    there = ~np.isnan(np.stack(estimates))
    coefficients: Array = there / np.maximum(there.sum(axis=0), 1)
    return coefficients


def weighted_sum(samples: Sequence[Array], coefficients: Array) -> Array:
    """Σ coefficient × sample over tasks; a task with coefficient 0 is left out, NaN though it be; NaN with none."""
    used = coefficients != 0
    parts = (np.where(u, c * s, 0.0) for u, c, s in zip(used, coefficients, samples, strict=True))
    return np.where(used.any(axis=0), np.sum(list(parts), axis=0), np.nan)


def side_by_side(parts: Sequence[Array], coefficients: Array) -> Array:
    """What each cluster of every task adds to the mean over tasks, (cells, clusters of all tasks).

    parts: (cells, clusters) of each task, what a cluster adds to the task's estimate; coefficients: (tasks, cells).
    """
    return np.concatenate([c[:, None] * part for c, part in zip(coefficients, parts, strict=True)], axis=1)
