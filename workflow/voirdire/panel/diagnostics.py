"""Tables on a panel: which judges add nothing or are worse than chance, and how far the judges err together."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.panel.error_correlation import Shared, error_correlation, mean_shared
from voirdire.panel.judge_value import NOTHING
from voirdire.panel.judged import VALUES, Judged, judged_by_model, judged_by_truth, mean_over_tasks
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.model_draws import NO_MODEL, model_values
from voirdire.stats.bootstrap import task_seed

# With fewer labelled responses in a task the model speaks in place of the truth.
FEWEST_LABELS = 30
# Fits of the model to resampled items, at most.
MODEL_RESAMPLES = 200
_SIDES = ("wrong", "right")
JUDGE_COLUMNS = (
    *("task", "judge", "basis", "n_wrong", "n_right"),
    *(name + end for name in VALUES for end in ("", "_low", "_high")),
    *("worse_than_chance", "adds_nothing", "interval", "reason", "resamples", "seed", "simulated"),
)
PANEL_COLUMNS = (
    *("task", "basis", "n_judges"),
    *(
        f"{name}_{side}{end}"
        for side in _SIDES
        for name, ends in (
            ("n", ("",)),
            ("n_pairs", ("",)),
            ("votes", ("",)),
            ("rho", ("", "_low", "_high")),
            ("effective_votes", ("", "_low", "_high")),
            ("reason", ("",)),
        )
        for end in ends
    ),
    *("resamples", "seed", "simulated"),
)


def judge_diagnostics(
    verdicts: pd.DataFrame,
    condition: str | None = "blind",
    include_self: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Each judge's FPR, FNR, Youden's index and gain, per task and, as the mean over tasks, for "all".

    verdicts: a VERDICTS table; condition: the judge prompt. basis: "truth" where 30 responses of the task or all have
    a known one, else "model": Dawid-Skene's model's own values, which are wrong where judges share errors.

    youden = 1 - FPR - FNR, below 0 for a judge worse than chance: worse_than_chance is "yes" or "no" where the interval
    lies on one side of 0, else "undecided". adds: accuracy of the panel's log-odds vote less its accuracy without the
    judge's votes (see `voirdire.panel.judge_value`); adds_nothing: "yes" where the interval's upper end is below half a
    point, "no" where the lower end is above 0, else "undecided". NaN with a reason where there is no value.

    Intervals resample items within tasks, all votes on one together; from small counts as `interval` says (see
    `voirdire.stats.bootstrap`). The model's are from fits to at most 200 resamples. No row where nothing was judged.
    """
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(JUDGE_COLUMNS))
    found = [_judged(each, task, resamples, seed) for task, each in _tasks(box, include_self)]
    if len(found) > 1:
        found.append(mean_over_tasks(found))
    rows = [row | _drawn(row, resamples) for each in found for row in _judge_rows(each, box.judges)]
    table = pd.DataFrame(rows, columns=list(JUDGE_COLUMNS))
    return table.assign(seed=seed, simulated=box.simulated)


def panel_diagnostics(
    verdicts: pd.DataFrame,
    condition: str | None = "blind",
    include_self: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """How far the judges err together, per task and, as the mean over tasks, for "all".

    rho_wrong, rho_right: mean correlation of two judges' votes among wrong and among right responses, with intervals;
    effective_votes: how many independent judges' votes those on a response (`votes`, their mean number) are worth. Two
    bases for each task: "truth", the responses of known truth, and "model", where Dawid-Skene's model stands in for it;
    that has explained away what it could, so its rho is a model's value, and far too low where all judges share errors.
    Arguments and intervals as in `judge_diagnostics`; reasons where there is no value.
    """
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(PANEL_COLUMNS))
    rows: list[dict[str, object]] = []
    tasks = dict(_tasks(box, include_self))
    n_judges = {task: int(np.isfinite(each.votes).any(axis=0).sum()) for task, each in tasks.items()}
    for basis, shared in (("truth", _shared_by_truth), ("model", _shared_by_model)):
        found = {task: shared(each, task, resamples, seed) for task, each in tasks.items()}
        found = {task: each for task, each in found.items() if each}
        if len(found) > 1:
            n_judges["all"] = max(n_judges[task] for task in found)
            found["all"] = {side: mean_shared([each[side] for each in found.values()]) for side in _SIDES}
        made = [_panel_row(task, basis, n_judges[task], each) for task, each in found.items()]
        rows += [row | _drawn(row, resamples) for row in made]
    table = pd.DataFrame(rows, columns=list(PANEL_COLUMNS))
    return table.assign(seed=seed, simulated=box.simulated)


def _tasks(box: Ballots, include_self: bool) -> Iterator[tuple[str, Ballots]]:
    box = box if include_self else box.without_self()
    box = box.take(np.asarray(np.isfinite(box.votes).any(axis=1), dtype=np.bool_))
    for task in sorted(set(box.task)):
        yield task, box.take(box.task == task)


def _judged(box: Ballots, task: str, resamples: int, seed: int) -> Judged:
    known: NDArray[np.bool_] = np.isfinite(box.truth)
    if known.all() or known.sum() >= FEWEST_LABELS:
        return judged_by_truth(box.take(known), task, resamples, seed)
    return judged_by_model(box, task, min(resamples, MODEL_RESAMPLES), seed)


def _judge_rows(found: Judged, judges: tuple[str, ...]) -> Iterator[dict[str, object]]:
    for index, judge in enumerate(judges):
        if not found.on_panel[index]:
            continue
        n_wrong, n_right = float(found.n_wrong[index]), float(found.n_right[index])
        row: dict[str, object] = {"task": found.task, "judge": judge, "basis": found.basis}
        row |= {"n_wrong": n_wrong, "n_right": n_right}
        for name, interval in found.intervals.items():
            row[name] = interval.estimate[index]
            row[f"{name}_low"], row[f"{name}_high"] = interval.low[index], interval.high[index]
        youden, adds = found.intervals["youden"], found.intervals["adds"]
        row["worse_than_chance"] = _answer(yes=youden.high[index] < 0, no=youden.low[index] > 0)
        row["adds_nothing"] = _answer(yes=adds.high[index] < NOTHING, no=adds.low[index] > 0)
        methods = {name: found.intervals[name].method[index] for name in VALUES}
        row["interval"] = "; ".join(f"{name}: {method}" for name, method in methods.items() if method)
        row["reason"] = found.reason or _no_rate(n_wrong, n_right)
        yield row


def _drawn(row: dict[str, object], resamples: int) -> dict[str, object]:
    return {"resamples": min(resamples, MODEL_RESAMPLES) if "model" in str(row["basis"]) else resamples}


def _answer(yes: bool, no: bool) -> str:
    return "yes" if yes else "no" if no else "undecided"


def _no_rate(n_wrong: float, n_right: float) -> str:
    if not n_wrong and not n_right:
        return "no votes"
    return "no votes on wrong responses" if not n_wrong else "no votes on right responses" if not n_right else ""


def _shared_by_truth(box: Ballots, task: str, resamples: int, seed: int) -> dict[str, Shared]:
    """Of the wrong and of the right responses; nothing where no truth is known."""
    if not np.isfinite(box.truth).any():
        return {}
    return {
        side: error_correlation(box.votes, box.truth == right, box.cluster, resamples, [*task_seed(seed, task), right])
        for right, side in enumerate(_SIDES)
    }


def _shared_by_model(box: Ballots, task: str, resamples: int, seed: int) -> dict[str, Shared]:
    made = model_values(box.votes, box.cluster, min(resamples, MODEL_RESAMPLES), task_seed(seed, task))
    if made is None:
        return {side: Shared(reason=NO_MODEL) for side in _SIDES}
    found, drawn = made
    votes = float(np.isfinite(box.votes).sum(axis=1).mean())
    shared = {}
    for side in _SIDES:
        rho, n, n_pairs = (getattr(found, f"{name}_{side}") for name in ("rho", "n", "pairs"))
        shared[side] = Shared.by_model(float(rho[0]), float(n[0]), n_pairs, votes, getattr(drawn, f"rho_{side}"))
    return shared


def _panel_row(task: str, basis: str, n_judges: int, shared: dict[str, Shared]) -> dict[str, object]:
    row: dict[str, object] = {"task": task, "basis": basis, "n_judges": n_judges}
    for side, each in shared.items():
        row |= {f"n_{side}": each.n, f"n_pairs_{side}": each.n_pairs, f"votes_{side}": each.votes}
        row |= {f"rho_{side}": each.rho, f"rho_{side}_low": each.low, f"rho_{side}_high": each.high}
        effective = zip(("", "_low", "_high"), each.effective, strict=True)
        row |= {f"effective_votes_{side}{end}": value for end, value in effective}
        row[f"reason_{side}"] = each.reason
    return row
