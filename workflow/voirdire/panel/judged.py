"""Each judge's rates and gain with intervals: by the truth, or by Dawid-Skene's model where it is unknown."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.judge_value import gains, mean_gain
from voirdire.panel.matrix import Ballots
from voirdire.panel.model_draws import NO_MODEL, model_values
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import (
    Interval,
    blocks_of,
    combined_interval,
    percentile,
    rate_interval,
    ratio_correlation,
    task_seed,
    weight_chunks,
)

VALUES = ("fpr", "fnr", "youden", "adds")
_Counts = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Judged:
    """The judges of one task: intervals by the names of VALUES, of (judges,), and samples, (resamples, judges).

    n_wrong, n_right, on_panel: (judges,), responses behind the rates, and whether the judge may vote in the task.
    """

    task: str
    basis: str
    n_wrong: FloatArray
    n_right: FloatArray
    intervals: dict[str, Interval]
    samples: dict[str, FloatArray]
    on_panel: NDArray[np.bool_]
    reason: str = ""


def judged_by_truth(box: Ballots, task: str, resamples: int, seed: int) -> Judged:
    """From responses of known truth; intervals from resampled items, or as `voirdire.stats.bootstrap` has it."""
    counts, changes, panel = _counted(box, task, seed)
    parts = [*counts["fpr"], *counts["fnr"], changes[0] - changes[1], panel]
    stacked = np.concatenate(parts)
    strata = np.zeros(stacked.shape[1], np.int64)
    drawn = [weights @ stacked.T for weights in weight_chunks(strata, resamples, task_seed(seed, task))]
    sums = np.split(np.concatenate(drawn), np.cumsum([len(part) for part in parts[:-1]]), axis=1)
    samples = {"fpr": ratio(sums[0], sums[1]), "fnr": ratio(sums[2], sums[3]), "adds": ratio(sums[4], sums[5][:, 1:])}
    intervals = {name: rate_interval(*counts[name], samples[name]) for name in counts}
    together = ratio_correlation(counts["fpr"], counts["fnr"])
    samples["youden"], intervals["youden"] = _youden(intervals, samples, together)
    n_wrong, n_right = (counts[name][1].sum(axis=1) for name in counts)
    voted = n_wrong + n_right > 0
    samples["adds"] = np.where(voted, samples["adds"], np.nan)
    intervals["adds"] = _known(mean_gain(changes, panel[0], panel[1], samples["adds"]), voted)
    return Judged(task, "truth", n_wrong, n_right, intervals, samples, _on_panel(box))


def _counted(box: Ballots, task: str, seed: int) -> tuple[dict[str, _Counts], FloatArray, FloatArray]:
    """Sums per item, or block of items: errors and trials of each rate, (judges, items); the panel's verdicts that each
    judge turns right, and those that it turns wrong, (2, judges, items); those that are right, and all, (2, items).
    """
    labels, item = np.unique(box.cluster, return_inverse=True)
    block = blocks_of(len(labels), len(labels), seed, task)[item]

    def per_block(values: FloatArray) -> FloatArray:
        sums = np.zeros((int(block.max()) + 1, *values.shape[1:]))
        np.add.at(sums, block, values)
        return sums.T

    correct, incorrect = split(box.votes)
    wrong, right = (box.truth[:, None] == each for each in (0, 1))
    panel, change = gains(box.votes, box.truth, box.cluster)
    counts = {
        "fpr": (per_block(correct * wrong), per_block((correct + incorrect) * wrong)),
        "fnr": (per_block(incorrect * right), per_block((correct + incorrect) * right)),
    }
    changes = np.stack([per_block(np.maximum(side * change, 0)) for side in (1, -1)])
    return counts, changes, np.stack([per_block(panel), per_block(np.ones(len(panel)))])


def _youden(
    intervals: dict[str, Interval], samples: dict[str, FloatArray], correlation: FloatArray | float
) -> tuple[FloatArray, Interval]:
    errors = samples["fpr"] + samples["fnr"]
    both = combined_interval([intervals["fpr"], intervals["fnr"]], [1.0, 1.0], errors, correlation=correlation)
    return 1 - errors, Interval(1 - both.estimate, 1 - both.high, 1 - both.low, both.method, both.n_dropped)


def judged_by_model(box: Ballots, task: str, resamples: int, seed: int) -> Judged:
    """From verdicts alone, as Dawid-Skene's model has it; intervals from fits to resampled items."""
    n_judges = len(box.judges)
    made = model_values(box.votes, box.cluster, resamples, task_seed(seed, task))
    if made is None:
        nothing = np.full((1, n_judges), np.nan)
        samples = dict.fromkeys(VALUES, nothing)
        intervals = {name: _percentile(nothing[0], nothing) for name in VALUES}
        zero = np.zeros(n_judges)
        return Judged(task, "model", zero, zero, intervals, samples, _on_panel(box), NO_MODEL)
    found, drawn = made
    samples = {"fpr": drawn.fpr, "fnr": drawn.fnr, "youden": 1 - drawn.fpr - drawn.fnr, "adds": drawn.gain}
    values = {"fpr": found.fpr, "fnr": found.fnr, "youden": 1 - found.fpr - found.fnr, "adds": found.gain}
    voted = np.isfinite(box.votes).any(axis=0)
    intervals = {
        name: _percentile(np.where(voted, values[name][0], np.nan), np.where(voted, samples[name], np.nan))
        for name in VALUES
    }
    share_wrong = found.n_wrong / (found.n_wrong + found.n_right)
    n_votes = np.isfinite(box.votes).sum(axis=0)
    n_wrong, n_right = n_votes * share_wrong, n_votes * (1 - share_wrong)
    return Judged(task, "model", n_wrong, n_right, intervals, samples, _on_panel(box))


def _on_panel(box: Ballots) -> NDArray[np.bool_]:
    return np.asarray(box.can_vote.any(axis=0), dtype=np.bool_)


def _percentile(estimate: FloatArray, samples: FloatArray) -> Interval:
    low, high, dropped = percentile(samples)
    method = np.full(len(estimate), "percentile", dtype=object)
    return _known(Interval(estimate, low, high, method, dropped), np.isfinite(estimate))


def _known(interval: Interval, known: NDArray[np.bool_]) -> Interval:
    """Nothing where nothing is known."""
    estimate, low, high = (np.where(known, each, np.nan) for each in (interval.estimate, interval.low, interval.high))
    return Interval(estimate, low, high, np.where(known, interval.method, "").astype(object), interval.n_dropped)


def mean_over_tasks(parts: list[Judged]) -> Judged:
    """Each value's mean over the tasks in which the judge has it."""
    intervals, samples = {}, {}
    n_samples = min(len(part.samples["fpr"]) for part in parts)
    for name in VALUES:
        known = np.stack([np.isfinite(part.intervals[name].estimate) for part in parts])
        shares = np.nan_to_num(ratio(known, known.sum(axis=0)))
        drawn = [
            np.where(k, s * p.samples[name][:n_samples], 0.0) for k, s, p in zip(known, shares, parts, strict=True)
        ]
        samples[name] = np.sum(drawn, axis=0)
        intervals[name] = combined_interval([part.intervals[name] for part in parts], shares, samples[name])
    n_wrong, n_right = (np.sum([getattr(part, side) for part in parts], axis=0) for side in ("n_wrong", "n_right"))
    on_panel = np.asarray(np.stack([part.on_panel for part in parts]).any(axis=0), dtype=np.bool_)
    reasons = " ".join(sorted({part.reason for part in parts if part.reason}))
    basis = " and ".join(sorted({part.basis for part in parts}, reverse=True))
    return Judged("all", basis, n_wrong, n_right, intervals, samples, on_panel, reasons)
