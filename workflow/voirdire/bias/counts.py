"""From verdicts to counts per cell and cluster: what every rate, difference and bootstrap of this package is made of.

A cell is what a rate is wanted for (a judge and an examinee, or whatever columns one counts by), a cluster is what is
resampled (an item, or the verdicts' `cluster` column). Counts add up: a judge's counts are the sum of its cells', and a
resampled rate is a ratio of weighted sums. So the bootstrap of all cells of a task is one matrix product, in which all
verdicts on one item move together:

    counts = count(prepared(verdicts), by=("judge", "examinee"))     # one Counts per task
    counts[0].totals().fpr                                           # (cells,)
    counts[0].resampled(1000, seed=0).fpr                            # (resamples, cells)
    counts[0].by("judge").totals().bias                              # (judges,)

The weights depend on the seed, the task's name and its number of clusters only. Frames made from the same prepared
verdicts that should be resampled together (two subsets, two conditions, the responses and the verdicts on them) must
know the same clusters: pass `clusters=clusters_of(prepared)` to each `count`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.rows import clusters_of, usable
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import blocks_of, task_seed, weight_chunks

# Whole numbers up to here are exact in float32, so products in it are too, in any order of summing.
_EXACT_FLOAT32 = 2**24


@dataclass(frozen=True)
class Totals:
    """Four sums, as arrays of one shape, and the rates made of them; NaN where a denominator is 0."""

    right: Array
    wrong: Array
    accepted_wrong: Array
    rejected_right: Array

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.right + other.right,
            self.wrong + other.wrong,
            self.accepted_wrong + other.accepted_wrong,
            self.rejected_right + other.rejected_right,
        )

    @property
    def n(self) -> Array:
        return self.right + self.wrong

    @property
    def fpr(self) -> Array:
        """P(verdict correct | response wrong)."""
        return ratio(self.accepted_wrong, self.wrong)

    @property
    def fnr(self) -> Array:
        """P(verdict incorrect | response right)."""
        return ratio(self.rejected_right, self.right)

    @property
    def bias(self) -> Array:
        """Directional bias, FPR − FNR."""
        return self.fpr - self.fnr

    @property
    def agreed(self) -> Array:
        """Verdicts that agree with the truth."""
        return self.n - self.accepted_wrong - self.rejected_right

    @property
    def accuracy(self) -> Array:
        return ratio(self.agreed, self.n)

    @property
    def balanced_accuracy(self) -> Array:
        return 1 - (self.fpr + self.fnr) / 2

    @property
    def share_right(self) -> Array:
        """Task accuracy of the responses counted, when each is counted once."""
        return ratio(self.right, self.n)


@dataclass(frozen=True)
class Counts(Totals):
    """Counts of one task: arrays of shape (cells, clusters).

    cells: frame with one row per cell, in the order of the arrays' rows; the columns counted by, and `simulated`,
    whether any verdict of the cell is. clusters: their labels, (clusters,), sorted; numbers of blocks if pooled.
    """

    task: str
    cells: pd.DataFrame
    clusters: npt.NDArray[np.object_]

    def totals(self) -> Totals:
        """Sums over clusters, (cells,)."""
        return Totals(*(array.sum(axis=1) for array in self.arrays()))

    def by(self, *columns: str) -> "Counts":
        """Counts summed over the cells that agree in these columns; without any, over all cells."""
        cells, codes = _cells(self.cells, list(columns))
        member = np.zeros((len(cells), len(codes)))
        member[codes, np.arange(len(codes))] = 1
        return self.mapped(lambda array: member @ array, cells)

    def margins(self, groupings: Sequence[Sequence[str]]) -> "Counts":
        """The cells of several groupings below each other; a column that a grouping lacks says "all"."""
        names = list(dict.fromkeys(name for grouping in groupings for name in grouping))
        parts = [self.by(*grouping) for grouping in groupings]
        cells = [part.cells.assign(**{n: "all" for n in names if n not in part.cells.columns}) for part in parts]
        together = pd.concat(cells, ignore_index=True)[[*names, "simulated"]]
        return Counts(*concatenated(parts, axis=0), self.task, together, self.clusters)

    def where(self, mask: npt.ArrayLike) -> "Counts":
        """The cells that a boolean mask (cells,) chooses; all clusters stay, so that resampling pairs with the rest."""
        chosen = np.asarray(mask, bool)
        return self.mapped(lambda array: array[chosen], self.cells[chosen].reset_index(drop=True))

    def resampled(self, n_resamples: int, seed: int) -> Totals:
        """Sums in each bootstrap resample of clusters, (resamples, cells). The same seed gives the same resamples."""
        arrays = self.arrays()
        # A weight is at most the number of clusters, so a weighted sum at most that times the largest count.
        exact = max((float(a.max(initial=0)) for a in arrays), default=0.0) * len(self.clusters) < _EXACT_FLOAT32
        kind: type[np.floating[Any]] = np.float32 if exact else np.float64
        stacked: npt.NDArray[Any] = np.concatenate(arrays).T.astype(kind)
        strata = np.zeros(len(self.clusters), np.int64)
        chunks = weight_chunks(strata, n_resamples, task_seed(seed, self.task))
        products = [np.matmul(weights.astype(kind), stacked) for weights in chunks]
        drawn = np.concatenate(products).astype(np.float64) if products else np.empty((0, stacked.shape[1]))
        return Totals(*np.split(drawn, 4, axis=1))

    def mapped(self, function: Callable[[Array], Array], cells: pd.DataFrame) -> "Counts":
        """The same function of each of the four arrays, whose rows are then `cells`."""
        right, wrong, accepted_wrong, rejected_right = map(function, self.arrays())
        return Counts(right, wrong, accepted_wrong, rejected_right, self.task, cells, self.clusters)

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.right, self.wrong, self.accepted_wrong, self.rejected_right


def concatenated(parts: Sequence[Counts], axis: int) -> tuple[Array, Array, Array, Array]:
    """The four arrays of several counts, side by side (axis 1, clusters) or below each other (axis 0, cells)."""
    right, wrong, accepted_wrong, rejected_right = zip(*(part.arrays() for part in parts), strict=True)
    return (
        np.concatenate(right, axis=axis),
        np.concatenate(wrong, axis=axis),
        np.concatenate(accepted_wrong, axis=axis),
        np.concatenate(rejected_right, axis=axis),
    )


def count(
    rows: pd.DataFrame,
    by: Sequence[str] = ("judge", "examinee"),
    reading: str = "main",
    seed: int = 0,
    clusters: dict[str, npt.NDArray[np.object_]] | None = None,
) -> list[Counts]:
    """Count prepared rows per task, cell and cluster.

    rows: from `prepared` (or a subset, with columns added to count by); only `usable` ones are counted, each trial
    once. by: columns that make a cell. clusters: of each task, default those of all the rows passed. Above 10⁵
    clusters in all, those of a task are pooled at random (seeded) into 2,000 blocks, which are then the clusters.
    Returns one Counts per task of the rows, sorted by task, with every cell of the rows, sorted by `by`: a cell without
    usable rows has counts of 0. The rows' index must be unique, as `prepared` leaves it.
    """
    known = clusters_of(rows) if clusters is None else clusters
    in_all = sum(map(len, known.values()))
    chosen = usable(rows, reading)
    result = []
    for name, part in rows.groupby("task", sort=True):
        task = str(name)
        cells, numbers = _cells(part, list(by))
        codes = pd.Series(numbers, index=part.index)
        used = chosen.loc[chosen.index.intersection(part.index)]
        labels = known[task]
        block = blocks_of(len(labels), in_all, seed, task)
        column = block[pd.Index(labels).get_indexer(pd.Index(used["cluster"]))]
        size = int(block.max(initial=-1)) + 1
        labels = labels if size == len(labels) else np.arange(size).astype(object)
        sums = _sums(used, codes[used.index].to_numpy() * len(labels) + column, (len(cells), len(labels)))
        result.append(Counts(*sums, task, cells, labels))
    return result


def _cells(rows: pd.DataFrame, by: list[str]) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """The cells that columns make (one cell without any), and the number of the cell of each row."""
    if not by:
        return pd.DataFrame({"simulated": [bool(rows["simulated"].any())]}), np.zeros(len(rows), np.int64)
    groups = rows.groupby(by, sort=True, dropna=False, observed=True)
    return groups["simulated"].any().reset_index(), groups.ngroup().to_numpy().astype(np.int64)


def _sums(rows: pd.DataFrame, flat: npt.NDArray[np.int64], shape: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    right = rows["truth"].to_numpy() == 1
    accepted = rows["verdict"].to_numpy() == 1

    def per_cluster(chosen: npt.NDArray[np.bool_]) -> Array:
        return np.bincount(flat[chosen], minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    return (
        per_cluster(right),
        per_cluster(~right),
        per_cluster(~right & accepted),
        per_cluster(right & ~accepted),
    )
