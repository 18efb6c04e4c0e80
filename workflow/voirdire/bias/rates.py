"""How often judges err, and which way; and how often examinees do."""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.counts import Counts, Totals, count
from voirdire.bias.pooling import aligned, joined, strata_of, task_mean
from voirdire.bias.rows import READINGS, prepared, responses_of, usable
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import (
    Interval,
    combined_interval,
    difference_interval,
    rate_interval,
    ratio_correlation,
)

METRICS = ("accuracy", "fpr", "fnr", "bias", "balanced_accuracy")
# Calls of the row that did not enter its rates, and why.
LEFT_OUT = ("n_not_ok", "n_not_judged", "n_truth_missing")
RATE_COLUMNS = [
    *("condition", "task", "pooling", "judge", "examinee", "reading", "n_tasks", "n_right", "n_wrong"),
    *LEFT_OUT,
    *(name + end for name in METRICS for end in ("", "_low", "_high")),
    *("interval", "n_dropped", "silent", "seed", "simulated"),
]
# An interval wider than two thirds of a rate's range says nothing: 3 answers treated alike, 7 treated both ways.
SILENT_WIDTH = 2 / 3
ACCURACY_COLUMNS = [
    *("task", "examinee", "n", "n_right", "accuracy", "accuracy_low", "accuracy_high", "n_not_ok"),
    *("accuracy_counting_not_ok_wrong", "interval", "n_dropped", "seed", "simulated"),
]


def rates(verdicts: pd.DataFrame, resamples: int = 1000, seed: int = 0, level: float = 0.95) -> pd.DataFrame:
    """Accuracy, FPR, FNR, directional bias (FPR − FNR) and balanced accuracy of each judge, over all its examinees.

    verdicts: as `voirdire.tables.VERDICTS`, of any number of conditions; missing columns get the defaults of
    `bias.rows.prepared`. One row per condition, reading, task and judge, and for judge "all". Task "all" comes twice:
    pooling "task_mean", the mean of the tasks' rates, and "verdicts", the rate over all verdicts together. A task in
    which a rate has no denominator is left out of the mean of that rate; n_tasks says how many tasks have a
    bias (for "verdicts": any verdict). Shares are 0-1; NaN where nothing can be said.

    Readings: "main" has ok verdicts only; "not_ok_correct" and "not_ok_incorrect" read all other judged calls so.

    Calls of the row that entered no rate: n_not_ok, judged with another status than ok (0 in the other readings, which
    count them); n_not_judged, of responses that were not ok and so never shown to the judge; n_truth_missing, the rest,
    of responses whose truth or verdict is unknown. With n_right and n_wrong they add up to all calls.

    Intervals: percentile cluster bootstrap, stratified by task; where hits or misses, as independent trials or as
    clusters that have one, are fewer than 40, "mid-p" with the effective n of the clustering for a rate, square-and-add
    ("mover", with the two rates' correlation over items) for what is made of such rates: bias, balanced accuracy, task
    means. So constant verdicts have rates of 0 and 1 with an interval that isn't of no width. What they cover, and
    sources: `voirdire.stats.bootstrap`, `voirdire.stats.intervals` and docs/coverage.md. `interval` names the method,
    metric by metric where they differ; n_dropped counts resamples with an empty denominator.

    silent names the metrics of the row that say nothing, "fpr bias" for one: without a value, or with an interval wider
    than two thirds, of a rate's range of 1; a bias only if such an interval covers 0, as it has a direction else. So do
    rates of up to three wrong answers that were all accepted, or all rejected, and of up to seven of which about half
    were. Without verdicts: no rows, all columns.
    """
    return _rate_table(verdicts, [("judge",), ()], resamples, seed, level)


def rates_by_examinee(
    verdicts: pd.DataFrame, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """The same as `rates`, same columns, for each judge and examinee, and for judge "all" on each examinee.

    A pair that was never judged on a task has no row there; without verdicts: no rows, all columns.
    """
    return _rate_table(verdicts, [("judge", "examinee"), ("examinee",)], resamples, seed, level)


def _rate_table(
    verdicts: pd.DataFrame, groupings: Sequence[tuple[str, ...]], resamples: int, seed: int, level: float
) -> pd.DataFrame:
    frame = prepared(verdicts)
    blocks = []
    for condition, rows in frame.groupby("condition", sort=True):
        not_ok = (rows["status"].notna() & (rows["status"] != "ok")).any()
        main = pd.DataFrame()
        for reading in READINGS:
            if reading == "main" or not_ok:
                counts = [c.margins(groupings) for c in count(rows, groupings[0], reading, seed)]
                table = _with_pooled(aligned(counts), resamples, seed, level)
            else:
                table = main
            main = table if reading == "main" else main
            named = table.assign(condition=condition, reading=reading, seed=seed)
            blocks.append(_with_left_out(named, rows, groupings, reading))
    if not blocks:
        return pd.DataFrame(columns=RATE_COLUMNS)
    table = pd.concat(blocks, ignore_index=True)
    return table.assign(examinee="all")[RATE_COLUMNS] if "examinee" not in table else table[RATE_COLUMNS]


def _with_left_out(
    table: pd.DataFrame, rows: pd.DataFrame, groupings: Sequence[tuple[str, ...]], reading: str
) -> pd.DataFrame:
    """The table of one condition and reading with the calls that enter none of its rates, counted per row."""
    out = rows.loc[rows.index.difference(usable(rows, reading).index)]
    judged = out["status"].notna()
    not_ok = judged & (out["status"] != "ok") & (reading == "main")
    out = out.assign(n_not_ok=not_ok, n_not_judged=~judged, n_truth_missing=judged & ~not_ok)
    names = groupings[0]
    by_task = [out.assign(**{name: "all" for name in names if name not in grouping}) for grouping in groupings]
    copies = pd.concat([*by_task, *(part.assign(task="all") for part in by_task)])
    sums = copies.astype(dict.fromkeys(LEFT_OUT, int)).groupby(["task", *names])[list(LEFT_OUT)].sum()
    joined_table = table.join(sums, on=["task", *names])
    return joined_table.fillna(dict.fromkeys(LEFT_OUT, 0)).astype(dict.fromkeys(LEFT_OUT, int))


def _with_pooled(counts: list[Counts], resamples: int, seed: int, level: float) -> pd.DataFrame:
    """Rows for each task, then for the mean over tasks and for all verdicts together. counts: from `aligned`."""
    samples = [c.resampled(resamples, seed) for c in counts]
    by_task = [metric_intervals(c, s, level) for c, s in zip(counts, samples, strict=True)]
    blocks = [
        _rows(c, c.totals(), intervals, np.ones(len(c.cells)), task=c.task, pooling="none")[c.cells["present"]]
        for c, intervals in zip(counts, by_task, strict=True)
    ]
    everything = joined(counts)
    means = {
        name: task_mean([i[name] for i in by_task], [getattr(s, name) for s in samples], level) for name in METRICS
    }
    n_bias = np.sum([~np.isnan(i["bias"].estimate) for i in by_task], axis=0)
    totals = everything.totals()
    blocks.append(_rows(everything, totals, means, n_bias, task="all", pooling="task_mean"))
    pooled = metric_intervals(everything, sum(samples[1:], samples[0]), level, strata_of(counts))
    n_any = np.sum([c.n.sum(axis=1) > 0 for c in counts], axis=0)
    blocks.append(_rows(everything, totals, pooled, n_any, task="all", pooling="verdicts"))
    return pd.concat(blocks, ignore_index=True)


def metric_intervals(
    counts: Totals, samples: Totals, level: float = 0.95, strata: npt.ArrayLike | None = None
) -> dict[str, Interval]:
    """Every metric of each cell with its interval.

    counts: arrays (cells, clusters); samples: arrays (resamples, cells); strata: (clusters,), default one. Returns
    intervals of (cells,) by the names of METRICS, shares; NaN and method "" where a denominator is 0.
    """
    fpr = rate_interval(counts.accepted_wrong, counts.wrong, samples.fpr, level, strata)
    fnr = rate_interval(counts.rejected_right, counts.right, samples.fnr, level, strata)
    together = ratio_correlation((counts.accepted_wrong, counts.wrong), (counts.rejected_right, counts.right), strata)
    errors = (samples.fpr + samples.fnr) / 2
    balanced_error = combined_interval([fpr, fnr], [0.5, 0.5], errors, level, together)
    return {
        "accuracy": rate_interval(counts.agreed, counts.n, samples.accuracy, level, strata),
        "fpr": fpr,
        "fnr": fnr,
        "bias": difference_interval(fpr, fnr, samples.bias, level, together),
        "balanced_accuracy": Interval(
            1 - balanced_error.estimate,
            1 - balanced_error.high,
            1 - balanced_error.low,
            balanced_error.method,
            balanced_error.n_dropped,
        ),
    }


def _rows(
    counts: Counts, totals: Totals, intervals: dict[str, Interval], n_tasks: npt.NDArray[Any], **names: str
) -> pd.DataFrame:
    columns: dict[str, Any] = {"n_tasks": n_tasks.astype(int), "n_right": totals.right, "n_wrong": totals.wrong}
    for name, interval in intervals.items():
        columns |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    columns["interval"] = describe_methods(intervals)
    columns["silent"] = _silent(intervals)
    columns["n_dropped"] = np.max([interval.n_dropped for interval in intervals.values()], axis=0)
    table = counts.cells.assign(**names, **columns)
    return table.astype({"n_right": int, "n_wrong": int})


def _silent(intervals: dict[str, Interval]) -> list[str]:
    """For each cell the metrics without a value, or with an interval too wide to say anything."""
    quiet = {name: ~(interval.high - interval.low <= SILENT_WIDTH) for name, interval in intervals.items()}
    quiet["bias"] &= ~((intervals["bias"].low > 0) | (intervals["bias"].high < 0))
    return [" ".join(compress(quiet, cell)) for cell in zip(*quiet.values(), strict=True)]


def describe_methods(intervals: dict[str, Interval]) -> list[str]:
    """For each cell the intervals' method, or "method: metrics; …" where metrics differ in it."""
    described = []
    for methods in zip(*(interval.method for interval in intervals.values()), strict=True):
        named: dict[str, list[str]] = {}
        for metric, method in zip(intervals, methods, strict=True):
            if method:
                named.setdefault(method, []).append(metric)
        only = len(named) == 1
        described.append("; ".join(m if only else f"{m}: {' '.join(metrics)}" for m, metrics in named.items()))
    return described


def task_accuracy(verdicts: pd.DataFrame, resamples: int = 1000, seed: int = 0, level: float = 0.95) -> pd.DataFrame:
    """Each examinee's own accuracy per task, and their mean as task "all"; each response counts once.

    n, n_right and accuracy (with its interval, as in `rates`) are over responses with status ok and a known truth;
    n_not_ok counts responses with another status, and the last accuracy counts those as wrong. Shares; NaN with n = 0
    where no response counts; without verdicts: no rows, all columns. simulated: whether the
    examinee or any of its judges is, as verdicts have one mark for both.
    """
    responses = responses_of(prepared(verdicts))
    if responses.empty:
        return pd.DataFrame(columns=ACCURACY_COLUMNS)
    counts = aligned(count(responses, ("examinee",), seed=seed))
    samples = [c.resampled(resamples, seed).share_right for c in counts]
    intervals = [rate_interval(c.right, c.n, s, level) for c, s in zip(counts, samples, strict=True)]
    not_ok = responses[responses["generation_status"] != "ok"].groupby(["task", "examinee"]).size()
    tables = [_accuracy_rows(c, i, not_ok)[c.cells["present"]] for c, i in zip(counts, intervals, strict=True)]
    by_task = pd.concat(tables, ignore_index=True)
    sums = by_task.groupby("examinee").agg(
        n=("n", "sum"),
        n_right=("n_right", "sum"),
        n_not_ok=("n_not_ok", "sum"),
        accuracy_counting_not_ok_wrong=("accuracy_counting_not_ok_wrong", "mean"),
        simulated=("simulated", "any"),
    )
    mean = _interval_columns(task_mean(intervals, samples, level))
    overall = mean.assign(task="all", examinee=counts[0].cells["examinee"]).join(sums, on="examinee")
    return pd.concat([by_task, overall], ignore_index=True).assign(seed=seed)[ACCURACY_COLUMNS]


def _accuracy_rows(counts: Counts, interval: Interval, not_ok: pd.Series) -> pd.DataFrame:
    examinees = counts.cells["examinee"]
    totals = counts.totals()
    keys = pd.MultiIndex.from_product([[counts.task], examinees])
    missing = not_ok.reindex(keys, fill_value=0).to_numpy()
    return _interval_columns(interval).assign(
        task=counts.task,
        examinee=examinees,
        n=totals.n.astype(int),
        n_right=totals.right.astype(int),
        n_not_ok=missing,
        accuracy_counting_not_ok_wrong=ratio(totals.right, totals.n + missing),
        simulated=counts.cells["simulated"],
    )


def _interval_columns(interval: Interval) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "accuracy": interval.estimate,
            "accuracy_low": interval.low,
            "accuracy_high": interval.high,
            "interval": interval.method,
            "n_dropped": interval.n_dropped,
        }
    )
