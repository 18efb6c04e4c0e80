"""What judging under another condition changes: rates on the same responses, before and after, and their difference."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Contrast, Mask, compare
from voirdire.bias.counts import Counts, count
from voirdire.bias.dependent import all_judges
from voirdire.bias.pooling import aligned, over_tasks
from voirdire.bias.power import MARGIN_SHARE, with_power
from voirdire.bias.rows import usable
from voirdire.stats.arrays import Array
from voirdire.stats.bootstrap import Interval, combined_interval
from voirdire.stats.significance import holm, sign_flip_p

RATES = ("fpr", "fnr", "bias")
_KEY = ["task", "item_id", "examinee", "judge", "trial"]


@dataclass(frozen=True)
class _Change:
    """One rate after less before in one task, over cells: (cells,), samples (resamples, cells).

    units: what each cluster adds to the difference, (cells, clusters), 0 without pairs: the sign-flip test's input.
    influence: the same less what it would add if all clusters differed alike. there: clusters with pairs.
    """

    before: Array
    after: Array
    n_pairs: Array
    interval: Interval
    samples: Array
    units: Array
    influence: Array
    there: Mask


def judged(changes: pd.DataFrame, family: Sequence[str], level: float) -> pd.DataFrame:
    """Tables of `paired_changes` with p adjusted over the judges of each family, and what each row says.

    family: the columns that name it; the mean over judges is a family of its own. Adds family, p_holm, and detectable
    and says of `with_power`: a judge's FPR or FNR in one task by pairs, means over judges or tasks and the bias by
    their interval.
    """
    scope = np.where(changes["judge"] == "all", "all judges", "judges")
    named: pd.Series[str] = changes[list(family)].agg(" ".join, axis=1) + ": " + scope
    adjusted = changes.groupby(named)["p"].transform(lambda p: holm(p.to_numpy()))
    bias = changes["rate"] == "bias"
    before = changes["before"]
    return with_power(
        changes.assign(family=named, p_holm=adjusted),
        "difference",
        np.where(bias | (changes["judge"] == "all") | (changes["task"] == "all"), "interval", "pairs"),
        ("n_clusters",),
        # How far a rate, or a bias, can move from where it is.
        room=np.where(bias, 1 + before.abs(), np.maximum(before, 1 - before)),
        p="p_holm",
        margin=MARGIN_SHARE,
        level=level,
    )


def pairs_of(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The usable rows of `before` whose call has a usable verdict in `after` too, which is column verdict_after.

    Calls pair by task, item, examinee, judge and trial; both frames: rows from `prepared`, of one condition each.
    """
    return usable(before).merge(usable(after)[[*_KEY, "verdict"]], on=_KEY, suffixes=("", "_after"))


def counts_of(
    pairs: pd.DataFrame, clusters: dict[str, npt.NDArray[np.object_]], seed: int
) -> tuple[list[Counts], list[Counts]]:
    """The counts of the pairs' verdicts before and after, per task; the same judges in the same order in all of them.

    pairs: from `pairs_of`; clusters: from `clusters_of` all rows.
    """
    before = count(pairs, ("judge",), seed=seed, clusters=clusters)
    after = count(pairs.assign(verdict=pairs["verdict_after"]), ("judge",), seed=seed, clusters=clusters)
    return aligned(before), aligned(after)


def paired_changes(
    pairs: pd.DataFrame, clusters: dict[str, npt.NDArray[np.object_]], resamples: int, seed: int, level: float
) -> pd.DataFrame:
    """FPR, FNR and directional bias of the pairs' verdicts after less before, shares.

    pairs: from `pairs_of`; clusters: from `clusters_of` all rows. One row per rate, task (and "all": mean of the tasks
    that have the difference) and judge (and "all": mean of the judges); n_pairs: of wrong responses for the FPR, right
    ones for the FNR, both for the bias, n_clusters: the clusters they are of; NaN and a reason where there are none.
    Where no verdict changed: difference 0, p 1, and an interval that isn't of no width.

    Intervals: percentile cluster bootstrap of the difference; "mover_paired" where a count, or the number of clusters
    whose verdicts differ, is below 40 (see `compare`); "mover" for what is made of such; for judge "all" see
    `dependent_mean`. p: sign-flip over clusters, for FPR and FNR McNemar's exact test where a cluster is one pair.
    """
    before, after = counts_of(pairs, clusters, seed)
    judges = before[0].cells["judge"].tolist()
    tasks = [_task(b, a, resamples, seed, level) for b, a in zip(before, after, strict=True)]
    names = [counts.task for counts in before]
    return pd.concat(
        [
            _table(change, judges, level).assign(task=task, rate=rate)
            for rate in RATES
            for task, change in zip(
                [*names, "all"],
                [*(task[rate] for task in tasks), _pooled([t[rate] for t in tasks], level)],
                strict=True,
            )
        ],
        ignore_index=True,
    )


def _task(before: Counts, after: Counts, resamples: int, seed: int, level: float) -> dict[str, _Change]:
    fpr = _rate(before.task, (before.accepted_wrong, after.accepted_wrong), before.wrong, resamples, seed, level)
    fnr = _rate(before.task, (before.rejected_right, after.rejected_right), before.right, resamples, seed, level)
    samples = fpr.samples - fnr.samples
    bias = _Change(
        fpr.before - fnr.before,
        fpr.after - fnr.after,
        fpr.n_pairs + fnr.n_pairs,
        combined_interval([fpr.interval, fnr.interval], [1.0, -1.0], samples, level),
        samples,
        fpr.units - fnr.units,
        fpr.influence - fnr.influence,
        fpr.there | fnr.there,
    )
    return {"fpr": fpr, "fnr": fnr, "bias": bias}


def _rate(task: str, hits: tuple[Array, Array], n: Array, resamples: int, seed: int, level: float) -> _Change:
    paired: Mask = np.ones(len(n), bool)
    contrast = Contrast(task, hits[1], n, hits[0], n)
    compared = compare(contrast, paired, resamples, seed, level)
    later, earlier = contrast.influence()
    units = (hits[1] - hits[0]) / np.maximum(n.sum(axis=1, keepdims=True), 1)
    return _Change(
        compared.second,
        compared.first,
        compared.n_first,
        compared.interval,
        compared.samples,
        units,
        later - earlier,
        n > 0,
    )


def _pooled(tasks: Sequence[_Change], level: float) -> _Change:
    pooled = over_tasks([task.interval for task in tasks], [task.samples for task in tasks], level)
    return _Change(
        pooled.mean([task.before for task in tasks]),
        pooled.mean([task.after for task in tasks]),
        pooled.total([task.n_pairs for task in tasks]),
        pooled.interval,
        pooled.samples,
        pooled.clusters([task.units for task in tasks]),
        pooled.clusters([task.influence for task in tasks]),
        pooled.clusters([task.there.astype(np.float64) for task in tasks]) > 0,
    )


def _table(change: _Change, judges: Sequence[str], level: float) -> pd.DataFrame:
    interval = change.interval
    known = ~np.isnan(interval.estimate)
    table = pd.DataFrame(
        {
            "judge": judges,
            "n_pairs": change.n_pairs.astype(np.int64),
            "n_clusters": change.there.sum(axis=1),
            "before": change.before,
            "after": change.after,
            "difference": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "interval": interval.method.astype(str),
            "n_dropped": interval.n_dropped,
            "p": [sign_flip_p(units) if there else np.nan for units, there in zip(change.units, known, strict=True)],
            "reason": np.where(known, "", "no pairs of verdicts on such responses"),
        }
    )
    some = bool(known.any())
    last = {
        "n_pairs": int(change.n_pairs[known].sum()),
        "n_clusters": int(change.there[known].any(axis=0).sum()),
        "before": change.before[known].mean() if some else np.nan,
        "after": change.after[known].mean() if some else np.nan,
        "n_dropped": int(interval.n_dropped[known].max(initial=0)),
    } | all_judges("difference", interval, change.samples, change.influence, change.units, level)
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)
