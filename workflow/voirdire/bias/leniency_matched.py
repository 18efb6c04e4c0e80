"""Leniency on matched items: two examinees' wrong responses to one question before one judge."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Compared, Contrast, cluster_codes, compare, difference_p, pool_tasks, summed
from voirdire.bias.dependent import all_judges
from voirdire.bias.leniency_rows import WrongResponses
from voirdire.bias.pooling import mean_coefficients, side_by_side
from voirdire.stats.arrays import Array, ratio


@dataclass(frozen=True)
class _Task:
    """Verdicts of one task. share: accepted, (judges, items, examinees), NaN where there is no verdict on a wrong
    response; accuracy: (examinees,), NaN unknown; codes: the cluster of each item, of n_clusters."""

    name: str
    share: Array
    accuracy: Array
    codes: npt.NDArray[np.int64]
    n_clusters: int

    def contrast(self, without: int = -1) -> Contrast:
        """Accepted shares of the better and the worse examinee over pairs of them, (judges, clusters).

        without: the number of an examinee that enters no pair.
        """
        wins, losses = self._pairs(without)
        share = np.nan_to_num(self.share)
        sums = (share * wins, wins, share * losses, losses)
        return Contrast(self.name, *(summed(part.sum(axis=2), self.codes, self.n_clusters) for part in sums))

    def n_items(self) -> npt.NDArray[np.int64]:
        """On how many items each judge met such a pair, (judges,)."""
        return np.asarray((self._pairs()[0].sum(axis=2) > 0).sum(axis=1))

    def _pairs(self, without: int = -1) -> tuple[Array, Array]:
        """In how many pairs each response is the better (the worse) examinee's, (judges, items, examinees) each."""
        there = ~np.isnan(self.share) & (np.arange(len(self.accuracy)) != without)
        better = (self.accuracy[:, None] > self.accuracy[None, :]).astype(np.float64)
        return there * (there @ better.T), there * (there @ better)


def matched(wrong: WrongResponses, resamples: int, seed: int, level: float) -> pd.DataFrame:
    """Rows of `leniency` by the method "matched": per task (and "all") and judge (and "all").

    Columns task, judge, n (pairs of responses), n_clusters, n_groups (judge × item), estimate, low, high, p, interval,
    reason, leave_out_low, leave_out_high.
    """
    tasks = [_task(wrong, name, seed) for name in wrong.tasks]
    contrasts = [task.contrast() for task in tasks]
    paired = np.ones(len(wrong.judges), bool)
    compared = [compare(contrast, paired, resamples, seed, level) for contrast in contrasts]
    known = [~np.isnan(part.interval.estimate) for part in compared]
    left_out = np.stack([_without(tasks, number) for number in range(len(wrong.examinees))])
    frames = []
    for number, part in enumerate([*compared, pool_tasks(compared, level)]):
        some = slice(None) if number == len(tasks) else slice(number, number + 1)
        p = difference_p(contrasts[some], part.interval.estimate, known[some], paired, paired)
        table = _table(part, compared[some], contrasts[some], wrong.judges, p, level)
        groups = np.stack([task.n_items() for task in tasks[some]]).sum(axis=0)
        table["n_groups"] = [*groups, groups.sum()]
        table[["leave_out_low", "leave_out_high"]] = _range(left_out[:, number], table["estimate"].to_numpy())
        frames.append(table)
    return pd.concat(frames, ignore_index=True)


def _task(wrong: WrongResponses, task: str, seed: int) -> _Task:
    rows = wrong.frame[wrong.frame["task"] == task]
    items = rows.drop_duplicates("item_id")
    codes, n_clusters = cluster_codes(items, task, wrong.clusters, seed)
    shape = (len(wrong.judges), len(items), len(wrong.examinees))
    names = ((wrong.judges, "judge"), (items["item_id"], "item_id"), (wrong.examinees, "examinee"))
    place = [pd.Index(labels).get_indexer(pd.Index(rows[column])) for labels, column in names]
    flat = np.ravel_multi_index(place, shape)
    n = np.bincount(flat, minlength=int(np.prod(shape)))
    accepted = np.bincount(flat, rows["verdict"], minlength=len(n))
    accuracy = np.asarray(wrong.accuracy.reindex([(task, name) for name in wrong.examinees]), np.float64)
    return _Task(task, ratio(accepted, n).reshape(shape), accuracy, codes, n_clusters)


def _without(tasks: Sequence[_Task], examinee: int) -> Array:
    """Differences without one examinee, (tasks + 1, judges + 1): the last of each is the mean."""
    contrasts = [task.contrast(examinee) for task in tasks]
    first = np.stack([ratio(c.first_hits.sum(axis=1), c.first_n.sum(axis=1)) for c in contrasts])
    second = np.stack([ratio(c.second_hits.sum(axis=1), c.second_n.sum(axis=1)) for c in contrasts])
    by_judge = np.vstack([first - second, _mean(first - second)])
    return np.column_stack([by_judge, _mean(by_judge.T)])


def _mean(values: Array) -> Array:
    """Over the first axis, of what there is."""
    there = ~np.isnan(values)
    return ratio(np.where(there, values, 0.0).sum(axis=0), there.sum(axis=0))


def _range(left_out: Array, estimate: Array) -> Array:
    """Smallest and largest over the first axis, (cells, 2); NaN where any is missing, or there is no estimate."""
    known = ~np.isnan(left_out).any(axis=0) & ~np.isnan(estimate)
    return np.where(known[:, None], np.stack([left_out.min(axis=0), left_out.max(axis=0)], axis=1), np.nan)


def _table(
    part: Compared,
    tasks: Sequence[Compared],
    contrasts: Sequence[Contrast],
    judges: list[str],
    p: Array,
    level: float,
) -> pd.DataFrame:
    """A row per judge and one for all of them. part: the task, or the mean over `tasks`, whose contrasts these are."""
    interval = part.interval
    known = ~np.isnan(interval.estimate)
    used = np.concatenate([contrast.first_n > 0 for contrast in contrasts], axis=1)
    table = pd.DataFrame(
        {
            "task": part.task,
            "judge": judges,
            "n": np.nan_to_num(part.n_first).astype(np.int64),
            "n_clusters": used.sum(axis=1),
            "estimate": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "p": p,
            "interval": interval.method.astype(str),
            "reason": np.where(known, "", "no question that two examinees of unequal accuracy got wrong"),
        }
    )
    share = mean_coefficients([task.interval.estimate for task in tasks])
    units = side_by_side([_units(contrast) for contrast in contrasts], share)
    first, second = (side_by_side([c.influence()[side] for c in contrasts], share) for side in (0, 1))
    last = {"task": part.task, "n": int(table["n"].sum()), "n_clusters": int(used.any(axis=0).sum())}
    last |= all_judges("estimate", interval, part.samples, first - second, units, level)
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)


def _units(contrast: Contrast) -> Array:
    """What each cluster adds to the difference, (judges, clusters)."""
    n = contrast.first_n.sum(axis=1, keepdims=True)
    return np.asarray((contrast.first_hits - contrast.second_hits) / np.maximum(n, 1))
