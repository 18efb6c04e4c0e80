"""The plain vote of the other judges against each model judging itself (the paper's table 2)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.singles import self_judge
from voirdire.panel.votes import FloatArray, Tie, tally
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import (
    Interval,
    blocks_of,
    combined_interval,
    difference_interval,
    rate_interval,
    ratio_correlation,
    ratio_covariance,
    task_seed,
    weight_chunks,
)

SIDES = ("majority", "self_judge")
METRICS = ("accuracy", "fpr", "fnr", "bias")
COUNTS = ("n", "n_right", "n_wrong", "n_ties", "n_abstain", "n_self_missing", "n_voters")
COLUMNS = (
    *("task", "examinee", "metric", "n", "n_right", "n_wrong"),
    *(f"{side}{end}" for side in (*SIDES, "difference") for end in ("", "_low", "_high")),
    *("n_ties", "n_abstain", "n_self_missing", "n_voters", "interval", "n_dropped", "seed", "reason", "simulated"),
)

# Hits and trials of a rate, each (examinees, blocks of items).
_Ratio = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class _Estimate:
    """An estimate per examinee with its bootstrap samples, (resamples, examinees)."""

    interval: Interval
    samples: FloatArray


@dataclass(frozen=True)
class _Draws:
    """Bootstrap draws of a task's items, whose number over all tasks is `n_in_all`."""

    task: str
    n_in_all: int
    resamples: int
    seed: int

    def blocks(self, n_clusters: int) -> NDArray[np.int64]:
        return blocks_of(n_clusters, self.n_in_all, self.seed, self.task)

    def of(self, ratios: dict[tuple[str, str], _Ratio]) -> dict[tuple[str, str], FloatArray]:
        """Each ratio in every resample, (resamples, examinees)."""
        stacked = np.concatenate([array for pair in ratios.values() for array in pair])
        strata = np.zeros(stacked.shape[1], np.int64)
        chunks = weight_chunks(strata, self.resamples, task_seed(self.seed, self.task))
        sums = np.split(np.concatenate([weights @ stacked.T for weights in chunks]), 2 * len(ratios), axis=1)
        return {key: ratio(hits, trials) for key, hits, trials in zip(ratios, sums[::2], sums[1::2], strict=True)}


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

    Returns a row per task (and "all", the mean over tasks), examinee and metric (accuracy, fpr, fnr, bias). All counts
    are of votes taken: a response judged in three trials was voted on three times. `n`, `n_right` and `n_wrong` count
    those compared: truth known, the majority decided and, where the examinee is a judge, its own verdict ok. `n_ties`
    and `n_abstain` count all of known truth, `n_self_missing` those without an own verdict, `n_voters` the judges that
    may vote. An examinee that is no judge has the majority alone, and a reason. Responses that are not ok were never
    judged; those of unknown truth are left out. No row, but all columns, where no judged response has a known truth.

    Intervals: items drawn with replacement within each task, the same for both sides, which keeps the pairing, and for
    all trials, which adds no items; above 10⁵ items in all, blocks of them. Where counts are small, mid-P at
    effective n and square-and-add (`interval` names the difference's method, or the majority's).
    """
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(COLUMNS))
    box = box.take(np.isfinite(box.truth))
    examinees, tasks = sorted(set(box.examinee)), sorted(set(box.task))
    many = len(np.unique(box.cluster))
    estimates, rows = [], []
    for task in tasks:
        compared = _compare(box.take(box.task == task), include_self, quorum, tie)
        estimates.append(_estimates(compared, examinees, _Draws(task, many, resamples, seed), level))
        rows += _rows(task, examinees, box.judges, _counted(compared, examinees), estimates[-1])
    if not rows:
        return pd.DataFrame(columns=list(COLUMNS))
    rows += _rows("all", examinees, box.judges, _summed(rows), _pooled(estimates, level))
    frame = pd.DataFrame(rows).assign(seed=seed, simulated=box.simulated)
    return frame[list(COLUMNS)].reset_index(drop=True)


def _compare(box: Ballots, include_self: bool, quorum: int, tie: Tie) -> _Compared:
    panel = box if include_self else box.without_self()
    decided = tally(panel.votes).decide(panel.quorum(quorum), tie)
    own = box.own
    self_verdict = self_judge(box.votes, own)
    # An examinee that never judges its own responses is compared with nothing, and keeps its majority.
    # By the few names: numpy compares every pair where it is given texts for each response.
    judges_itself = np.isin(box.examinee, sorted(set(box.examinee[np.isfinite(self_verdict)])))
    paired = np.isfinite(decided) & (np.isfinite(self_verdict) | ~judges_itself)
    return _Compared(panel, decided, self_verdict, paired)


def _counted(compared: _Compared, examinees: list[str]) -> dict[str, dict[str, int]]:
    box, counted = compared.ballots, {}
    tied = (tally(box.votes).margin == 0) & (np.isfinite(box.votes).sum(axis=1) > 0)
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


def _summed(rows: list[dict[str, object]]) -> dict[str, dict[str, int]]:
    """The counts of each examinee over its tasks; of the voters, the most there were."""
    counts = pd.DataFrame([row for row in rows if row["metric"] == "accuracy"]).groupby("examinee")[list(COUNTS)]
    sums = counts.sum().assign(n_voters=counts.max()["n_voters"])
    return {str(examinee): dict(zip(COUNTS, map(int, row), strict=True)) for examinee, row in sums.iterrows()}


def _estimates(
    compared: _Compared, examinees: list[str], draws: _Draws, level: float
) -> dict[tuple[str, str], _Estimate]:
    """(side, metric) -> estimate, for the sides majority, self_judge and difference, in one task."""
    ratios = _ratios(compared, examinees, draws)
    estimates: dict[tuple[str, str], _Estimate] = {}
    for key, samples in draws.of(ratios).items():
        estimates[key] = _Estimate(rate_interval(*ratios[key], samples, level), samples)
    for side in SIDES:
        together = ratio_correlation(ratios[side, "fpr"], ratios[side, "fnr"])
        estimates[side, "bias"] = _minus(estimates[side, "fpr"], estimates[side, "fnr"], level, together)
    for metric in ("accuracy", "fpr", "fnr"):
        majority, own = (estimates[side, metric] for side in SIDES)
        together = ratio_correlation(*(ratios[side, metric] for side in SIDES))
        estimates["difference", metric] = _minus(majority, own, level, together)
    together = _difference_correlation(*([ratios[side, metric] for side in SIDES] for metric in ("fpr", "fnr")))
    fpr, fnr = estimates["difference", "fpr"], estimates["difference", "fnr"]
    estimates["difference", "bias"] = _minus(fpr, fnr, level, together)
    return estimates


def _ratios(compared: _Compared, examinees: list[str], draws: _Draws) -> dict[tuple[str, str], _Ratio]:
    """(side, metric) -> hits and trials."""
    box = compared.ballots
    labels, cluster = np.unique(box.cluster, return_inverse=True)
    block = draws.blocks(len(labels))
    shape = len(examinees), int(block.max()) + 1
    cells = np.searchsorted(np.array(examinees, dtype=object), box.examinee) * shape[1] + block[cluster]

    def per_block(rows: NDArray[np.bool_]) -> FloatArray:
        return np.bincount(cells[rows], minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    ratios = {}
    for side, verdict in zip(SIDES, (compared.majority, compared.self_verdict), strict=True):
        there = compared.paired & np.isfinite(verdict)
        events = {"accuracy": verdict == box.truth, "fpr": verdict == 1, "fnr": verdict == 0}
        among = {"accuracy": there, "fpr": there & (box.truth == 0), "fnr": there & (box.truth == 1)}
        for metric, event in events.items():
            ratios[side, metric] = per_block(event & among[metric]), per_block(among[metric])
    return ratios


def _difference_correlation(first: list[_Ratio], second: list[_Ratio]) -> FloatArray:
    """Correlation of two differences, each of two ratios over the same clusters; 0 where either has no spread."""

    def covariance(one: list[_Ratio], other: list[_Ratio]) -> FloatArray:
        signs = ((0, 0, 1), (0, 1, -1), (1, 0, -1), (1, 1, 1))
        terms: FloatArray = np.stack([sign * ratio_covariance(one[i], other[j]) for i, j, sign in signs])
        return np.asarray(terms.sum(axis=0))

    spread = covariance(first, first) * covariance(second, second)
    r = ratio(covariance(first, second), np.sqrt(np.maximum(spread, 0)))
    return np.where(np.isfinite(r), np.clip(r, -1, 1), 0.0)


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
            for side in (*SIDES, "difference"):
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
