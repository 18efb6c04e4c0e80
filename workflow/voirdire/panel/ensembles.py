"""The plain vote of the other judges against each model judging itself (the paper's table 2)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.errors import UserError
from voirdire.panel.estimators import ratio
from voirdire.panel.matrix import Ballots, ballots
from voirdire.panel.votes import FloatArray, Tie, count
from voirdire.stats.bootstrap import (
    Interval,
    cluster_weights,
    combined_interval,
    difference_interval,
    rate_interval,
    ratio_correlation,
)

METRICS = ("accuracy", "fpr", "fnr", "bias")
COUNTS = ("n", "n_right", "n_wrong", "n_ties", "n_abstain", "n_self_missing", "n_voters")
COLUMNS = (
    *("task", "examinee", "metric", "n", "n_right", "n_wrong"),
    *(f"{side}{end}" for side in ("majority", "self_judge", "difference") for end in ("", "_low", "_high")),
    *("n_ties", "n_abstain", "n_self_missing", "n_voters", "interval", "n_dropped", "seed", "reason", "simulated"),
)


@dataclass(frozen=True)
class _Estimate:
    """An estimate per examinee with its bootstrap samples, (resamples, examinees)."""

    interval: Interval
    samples: FloatArray


@dataclass(frozen=True)
class _Compared:
    """One task: which responses are compared, and the two verdicts on each."""

    ballots: Ballots
    majority: FloatArray
    self_verdict: FloatArray
    paired: NDArray[np.bool_]


def static_majority(
    verdicts: pd.DataFrame,
    condition: str | None = "blind",
    include_self: bool = False,
    quorum: int = 5,
    tie: Tie = "incorrect",
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Majority of the other judges against the self-judge, on the same responses, per task and examinee.

    verdicts: a VERDICTS table; condition: the judge prompt; include_self: whether the examinee votes as well;
    quorum: fewest votes that decide, or the panel's size on the task where that is smaller; tie: see `majority`.

    Returns a row per task (and "all", the mean over tasks), examinee and metric (accuracy, fpr, fnr, bias). `n`,
    `n_right` and `n_wrong` count the responses compared: truth known, the majority decided and, where the examinee is a
    judge, its own verdict ok. `n_ties` and `n_abstain` count all its responses of known truth, `n_self_missing` those
    without an own verdict, `n_voters` the judges that may vote on them. An examinee that is no judge has the majority
    alone, and a reason. Responses that are not ok were never judged; those of unknown truth are left out.

    Intervals: items drawn with replacement within each task, the same for both sides, which keeps the pairing; Wilson
    and Newcombe at effective n where counts are small (`interval` names the difference's method, or the majority's).
    """
    box = ballots(verdicts, condition)
    box = box.take(np.isfinite(box.truth))
    if not len(box.truth):
        raise UserError("verdicts: no judged response has a known truth; majority and self-judge cannot be compared")
    examinees = sorted(set(box.examinee))
    by_task: dict[str, dict[tuple[str, str], _Estimate]] = {}
    rows = []
    for number, task in enumerate(sorted(set(box.task))):
        compared = _compare(box.take(box.task == task), include_self, quorum, tie)
        by_task[task] = _estimates(compared, examinees, number, resamples, seed, level)
        rows += _rows(task, examinees, box.judges, _counted(compared, examinees), by_task[task])
    pooled = _pooled(list(by_task.values()), level)
    frame = pd.DataFrame(rows)
    totals = frame[frame["metric"] == "accuracy"].groupby("examinee")[list(COUNTS)]
    sums = totals.sum().assign(n_voters=totals.max()["n_voters"])
    counts = {examinee: dict(zip(COUNTS, map(int, sums.loc[examinee]), strict=True)) for examinee in examinees}
    rows += _rows("all", examinees, box.judges, counts, pooled)
    frame = pd.DataFrame(rows).assign(seed=seed, simulated=box.simulated)
    return frame[list(COLUMNS)].reset_index(drop=True)


def _compare(box: Ballots, include_self: bool, quorum: int, tie: Tie) -> _Compared:
    panel = box if include_self else box.without_self()
    decided = count(panel.votes).decide(panel.quorum(quorum), tie)
    own = box.own
    self_verdict = np.where(own.any(axis=1), np.where(own, box.votes, 0.0).sum(axis=1), np.nan)
    # An examinee that never judges its own responses is compared with nothing, and keeps its majority.
    judges_itself = np.isin(box.examinee, box.examinee[np.isfinite(self_verdict)])
    paired = np.isfinite(decided) & (np.isfinite(self_verdict) | ~judges_itself)
    return _Compared(panel, decided, self_verdict, paired)


def _counted(compared: _Compared, examinees: list[str]) -> dict[str, dict[str, int]]:
    box, counted = compared.ballots, {}
    tied = (count(box.votes).margin == 0) & (np.isfinite(box.votes).sum(axis=1) > 0)
    for examinee in examinees:
        mine = box.examinee == examinee
        paired = mine & compared.paired
        counted[examinee] = {
            "n": int(paired.sum()),
            "n_right": int((box.truth[paired] == 1).sum()),
            "n_wrong": int((box.truth[paired] == 0).sum()),
            "n_ties": int(tied[mine].sum()),
            "n_abstain": int(np.isnan(compared.majority[mine]).sum()),
            "n_self_missing": int(np.isnan(compared.self_verdict[mine]).sum()),
            "n_voters": int(box.can_vote[mine].sum(axis=1).max(initial=0)),
        }
    return counted


def _estimates(
    compared: _Compared, examinees: list[str], number: int, resamples: int, seed: int, level: float
) -> dict[tuple[str, str], _Estimate]:
    """(side, metric) -> estimate, for the sides majority, self_judge and difference, in one task."""
    box = compared.ballots
    n_clusters, cluster = len(np.unique(box.cluster)), np.unique(box.cluster, return_inverse=True)[1]
    weights = cluster_weights(np.zeros(n_clusters, int), resamples, [seed, number])
    who = np.searchsorted(np.array(examinees, dtype=object), box.examinee)
    cells = who * n_clusters + cluster

    def per_cluster(rows: NDArray[np.bool_]) -> FloatArray:
        return np.bincount(cells[rows], minlength=len(examinees) * n_clusters).reshape(len(examinees), -1).astype(float)

    estimates: dict[tuple[str, str], _Estimate] = {}
    ratios: dict[tuple[str, str], tuple[FloatArray, FloatArray]] = {}
    for side, verdict in (("majority", compared.majority), ("self_judge", compared.self_verdict)):
        there = compared.paired & np.isfinite(verdict)
        events = {"accuracy": verdict == box.truth, "fpr": verdict == 1, "fnr": verdict == 0}
        among = {"accuracy": there, "fpr": there & (box.truth == 0), "fnr": there & (box.truth == 1)}
        for metric in events:
            hits, trials = per_cluster(events[metric] & among[metric]), per_cluster(among[metric])
            samples = ratio(weights @ hits.T, weights @ trials.T)
            ratios[side, metric] = hits, trials
            estimates[side, metric] = _Estimate(rate_interval(hits, trials, samples, level), samples)
        together = ratio_correlation(ratios[side, "fpr"], ratios[side, "fnr"])
        estimates[side, "bias"] = _minus(estimates[side, "fpr"], estimates[side, "fnr"], level, together)
    for metric in ("accuracy", "fpr", "fnr"):
        together = ratio_correlation(ratios["majority", metric], ratios["self_judge", metric])
        estimates["difference", metric] = _minus(
            estimates["majority", metric], estimates["self_judge", metric], level, together
        )
    estimates["difference", "bias"] = _minus(estimates["difference", "fpr"], estimates["difference", "fnr"], level)
    return estimates


def _minus(first: _Estimate, second: _Estimate, level: float, correlation: FloatArray | float = 0.0) -> _Estimate:
    samples = first.samples - second.samples
    return _Estimate(difference_interval(first.interval, second.interval, samples, level, correlation), samples)


def _pooled(by_task: list[dict[tuple[str, str], _Estimate]], level: float) -> dict[tuple[str, str], _Estimate]:
    """The mean over the tasks in which an examinee has the estimate."""
    pooled = {}
    for key in by_task[0]:
        parts = [estimates[key] for estimates in by_task]
        known = np.stack([np.isfinite(part.interval.estimate) for part in parts])
        shares = np.nan_to_num(ratio(known, known.sum(axis=0)))
        samples = sum(np.where(share > 0, share * part.samples, 0.0) for share, part in zip(shares, parts, strict=True))
        interval = combined_interval([part.interval for part in parts], shares, np.asarray(samples), level)
        pooled[key] = _Estimate(interval, np.asarray(samples))
    return pooled


def _rows(
    task: str,
    examinees: list[str],
    judges: tuple[str, ...],
    counts: dict[str, dict[str, int]],
    estimates: dict[tuple[str, str], _Estimate],
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for index, examinee in enumerate(examinees):
        counted = counts.get(examinee)
        # No response of this examinee in this task.
        if not counted or not (counted["n"] or counted["n_abstain"] or counted["n_self_missing"]):
            continue
        for metric in METRICS:
            row: dict[str, object] = {"task": task, "examinee": examinee, "metric": metric, **counted}
            for side in ("majority", "self_judge", "difference"):
                interval = estimates[side, metric].interval
                row[side] = interval.estimate[index]
                row[f"{side}_low"], row[f"{side}_high"] = interval.low[index], interval.high[index]
            shown = estimates["difference", metric].interval
            if not shown.method[index]:
                shown = estimates["majority", metric].interval
            row["interval"], row["n_dropped"] = shown.method[index], int(shown.n_dropped[index])
            row["reason"] = _reason(row, examinee, judges)
            rows.append(row)
    return rows


def _reason(row: dict[str, object], examinee: str, judges: tuple[str, ...]) -> str:
    """Why an estimate is missing; empty where none is."""
    if examinee not in judges:
        return "not a judge: no self-judge to compare with"
    if row["n"] == 0:
        return "no response with both a decided majority and an own verdict"
    if np.isnan(np.array([row["majority"], row["self_judge"]], float)).any():
        if row["n_wrong"] == 0 and row["metric"] in ("fpr", "bias"):
            return "no wrong response"
        if row["n_right"] == 0 and row["metric"] in ("fnr", "bias"):
            return "no right response"
        return "no verdict on its own responses"
    return ""
