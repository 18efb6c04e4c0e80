"""What a comparison of one judge's verdicts on two models is counted from: verdicts by item, and sums by cluster.

A triple is (judge, first, second): the judge's rate on the first model's responses is compared with its rate on the
second's. Where the first is the judge itself that is self-preference, where it is a relative family preference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Contrast, cluster_codes, summed
from voirdire.bias.rows import clusters_of, of_condition, prepared, usable
from voirdire.stats.arrays import Array, ratio

VERSIONS = ("all", "harmful", "matched", "same_answer", "adjusted")
# Items are their unit: each has one value of either model.
PAIRED = ("matched", "same_answer")
RATES = ("fpr", "fnr")
# Counted of each triple and rate; the adjusted version is made of the last two.
PARTS = (*VERSIONS[:-1], "raw", "baseline")

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class TaskVerdicts:
    """One task's usable verdicts as dense arrays; the last judge and the last examinee are nobody.

    truth: (items, examinees), NaN unknown; answers: (items, examinees), a number for each answer, −1 where there is
    none; n, accepted: (judges, items, examinees), verdicts and accepting ones. judges, examinees: names to places;
    codes: (items,), the cluster of each item (or its block), of n_clusters.
    """

    task: str
    truth: Array
    answers: npt.NDArray[np.int64]
    n: Array
    accepted: Array
    judges: Mapping[str, int]
    examinees: Mapping[str, int]
    codes: npt.NDArray[np.int64]
    n_clusters: int

    @property
    def has_answers(self) -> bool:
        return bool((self.answers >= 0).any())


@dataclass(frozen=True)
class Panel:
    """All tasks, sorted by name, and the pairs (judge, examinee) with rows: whether any of them is simulated."""

    tasks: list[TaskVerdicts]
    simulated: Mapping[tuple[str, str], bool]

    @classmethod
    def of(cls, verdicts: pd.DataFrame, main: str, seed: int) -> "Panel":
        """The rows of condition `main`; seed: of the blocks that very many clusters are pooled into."""
        frame = prepared(verdicts)
        rows = of_condition(frame, main)
        clusters = clusters_of(frame)
        pairs = rows.groupby(["judge", "examinee"])["simulated"].any().reset_index()
        simulated = {(judge, examinee): bool(any_) for judge, examinee, any_ in pairs.itertuples(index=False)}
        parts = rows.groupby("task", sort=True)
        return cls([_task_verdicts(part, str(name), clusters, seed) for name, part in parts], simulated)


def _task_verdicts(
    rows: pd.DataFrame, task: str, clusters: dict[str, npt.NDArray[np.object_]], seed: int
) -> TaskVerdicts:
    judges, examinees = (pd.Index(sorted(rows[role].unique())) for role in ("judge", "examinee"))
    items = rows.drop_duplicates("item_id")
    item = pd.Index(items["item_id"])
    shape = (len(judges) + 1, len(item), len(examinees) + 1)
    places = item.get_indexer(pd.Index(rows["item_id"])), examinees.get_indexer(pd.Index(rows["examinee"]))
    judged = judges.get_indexer(pd.Index(rows["judge"]))
    truth, answers = np.full(shape[1:], np.nan), np.full(shape[1:], -1)
    for array, values, there in (
        (truth, rows["truth"].to_numpy(), rows["truth"].notna().to_numpy()),
        (answers, pd.factorize(rows["answer"])[0], rows["answer"].notna().to_numpy()),
    ):
        array[places[0][there], places[1][there]] = values[there]
    kept = rows.index.get_indexer(usable(rows).index)
    flat = np.ravel_multi_index((judged[kept], places[0][kept], places[1][kept]), shape)
    size = int(np.prod(shape))
    n = np.bincount(flat, minlength=size).reshape(shape).astype(np.float64)
    accepted = np.bincount(flat, rows["verdict"].to_numpy()[kept], minlength=size).reshape(shape).astype(np.float64)
    codes, n_clusters = cluster_codes(items, task, clusters, seed)
    return TaskVerdicts(task, truth, answers, n, accepted, _places(judges), _places(examinees), codes, n_clusters)


def _places(names: pd.Index) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def item_parts(verdicts: TaskVerdicts, triple: Triple, others: Sequence[str], rate: str) -> Array:
    """What each item adds: (first hits, first n, second hits, second n) × PARTS × items.

    others: the judges whose mean verdict on the same response is the baseline of the adjusted version. Items are the
    unit of matched and same_answer: a mean over trials, n = 1. Right answers are all the same: for FNR, same_answer has
    nothing of its own and stays empty. A model without rows in the task adds nothing.
    """
    wrong = rate == "fpr"
    judge = verdicts.judges.get(triple[0], -1)
    columns = [verdicts.examinees.get(name, -1) for name in triple[1:]]
    baseline = [verdicts.judges[name] for name in others if name in verdicts.judges]
    first, second = columns
    exactly_one = verdicts.truth[:, first] + verdicts.truth[:, second] == 1
    same = (verdicts.answers[:, first] == verdicts.answers[:, second]) & (verdicts.answers[:, first] >= 0) & wrong
    sides = []
    for column in columns:
        n, accepted = verdicts.n[..., column], verdicts.accepted[..., column]
        hits = accepted if wrong else n - accepted
        here = verdicts.truth[:, column] == (0 if wrong else 1)
        expected = ratio(hits[baseline].sum(axis=0), n[baseline].sum(axis=0))
        sides.append((hits[judge] * here, n[judge] * here, expected))
    both = (sides[0][1] > 0) & (sides[1][1] > 0)
    result = []
    for side_hits, side_n, expected in sides:
        there = ~np.isnan(expected)
        matched, items = np.where(both, ratio(side_hits, side_n), 0.0), both.astype(np.float64)
        result.append([side_hits, side_hits * exactly_one, matched, matched * same, side_hits * there])
        result[-1].append(np.where(there, expected, 0.0) * side_n)
        result.append([side_n, side_n * exactly_one, items, items * same, side_n * there, side_n * there])
    return np.array(result)


def counted(verdicts: TaskVerdicts, triples: Sequence[Triple], others: Sequence[Sequence[str]]) -> Contrast:
    """Sums by cluster; cells are PARTS, then RATES, then triples."""
    size = verdicts.n_clusters
    sums = np.zeros((4, len(PARTS), len(RATES), len(triples), size))
    for place, rate in enumerate(RATES):
        for number, (triple, judges) in enumerate(zip(triples, others, strict=True)):
            parts = item_parts(verdicts, triple, judges, rate)
            flat = summed(parts.reshape(-1, len(verdicts.codes)), verdicts.codes, size)
            sums[:, :, place, number] = flat.reshape(4, -1, size)
    return Contrast(verdicts.task, *(array.reshape(-1, size) for array in sums))
