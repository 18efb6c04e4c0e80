"""The gap between a judge's leniency with its own errors and with others', as a smooth function of difficulty.

Three bins with fixed cuts throw away most of what is known of an item, and their difficulty counts the judge and the
examinee, whose failure is what chose the item. Here the models that neither judge nor answer say how hard an item is,
and the same ones do so for a judge's own response and for the one that it is compared with.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.curve_fit import Columns, Sides, fitted_sides
from voirdire.bias.rows import of_condition, prepared, responses_of, usable
from voirdire.stats.arrays import Array

CURVE_COLUMNS = [
    *("task", "judge", "share_right", "n_own", "n_other", "own", "other_value", "gap", "low", "high"),
    *("interval", "fit", "reason", "simulated"),
]
# Fewer own wrong responses than this make no curve, and fewer than `_FOR_A_BEND` a straight one (on the logit scale).
LEAST_OWN = 10
_FOR_A_BEND = 30
_MOST_VALUES = 21
_FEW_MODELS = "no third model's answers say how hard an item is"


@dataclass(frozen=True)
class _Wrong:
    """Verdicts on wrong responses, an array each, (n,): those on an own one come once per other examinee.

    response: its number, the same for all its trials and copies, whose weights add up to its own.
    """

    judge: npt.NDArray[np.int64]
    task: npt.NDArray[np.int64]
    own: npt.NDArray[np.bool_]
    share: Array
    accepted: Array
    weight: Array
    cluster: npt.NDArray[np.int64]
    response: npt.NDArray[np.int64]

    def where(self, mask: npt.NDArray[np.bool_]) -> "_Wrong":
        return _Wrong(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))


def difficulty_curve(verdicts: pd.DataFrame, main: str = "blind", level: float = 0.95) -> pd.DataFrame:
    """FPR of a judge on its own wrong responses less its FPR on others', as a smooth function of an item's difficulty.

    verdicts: as `voirdire.tables.VERDICTS`; rows of condition `main`. Difficulty is the share right among the *other*
    models: for a judge j and another examinee m those that are neither j nor m, for j's own response too, which is
    compared with m's. It enters once per m, weighing 1 in all, and the trials of a response weigh 1 together. Models
    whose truth is unknown are left out of a share. Of each judge, all other examinees weigh the same, as in
    `ablation_difficulty`. Shares, not points; `own` − `other_value` = `gap`.

    As in `ablation_difficulty` the gap is ability, not yet preference: a judge failed the items of its own errors.

    One row per task (and "all"), judge that judged its own responses (and "all") and share_right: the shares that both
    sides have in the task, or, where they are more than 21, steps of .05 between them. n_own, n_other: wrong responses
    at that share (the nearest step); an own one may be counted at two. Values outside what *both* sides of a judge have
    are NaN, never extrapolated, with a reason; so is a judge with fewer than 10 own wrong responses. Without a third
    examinee there is one row per task and judge, all NaN. Without a model that judged itself: no rows, all columns.

    The fit is a logistic regression of accepting a wrong response on own × a polynomial of the share: quadratic,
    straight with fewer than 30 own wrong responses or two shares; an intercept for each judge and task. Judge "all"
    and task "all" share one curve; their gap is the mean over judges, by their own wrong responses, resp. over tasks,
    which weigh equally. `fit` names the fit, its parameters, and whether it was penalised (Firth) because verdicts were
    separated, that is, without a finite maximum.

    Intervals ("delta"): each side's, from the cluster-robust covariance on the logit scale, and Student's t with one
    degree of freedom less than clusters with own wrong responses; joined by square-and-add with their correlation.
    Pointwise, not for the whole curve.

    No `seed`, as nothing is drawn at random. No `says` or `detectable`: points of one curve are no comparisons of their
    own, each borrows from all others, and to count them as such would multiply what is one question by the number of
    shares; `ablation_difficulty` says it of the three bins.
    """
    frame = prepared(verdicts)
    rows = of_condition(frame, main)
    judges = sorted(rows.loc[rows["judge"] == rows["examinee"], "judge"].unique())
    if not judges:
        return pd.DataFrame(columns=CURVE_COLUMNS)
    rows = rows.assign(cluster=rows.groupby(["task", "cluster"], sort=True).ngroup())
    judged = rows[rows["judge"].isin(judges)]
    tasks = sorted(str(task) for task in judged["task"].unique())
    wrong = _wrong(usable(judged), responses_of(rows), judges, tasks)
    simulated = judged.groupby("judge")["simulated"].any().reindex(judges).to_numpy()
    tables = []
    for number, task in enumerate([*tasks, "all"]):
        of_task = wrong if task == "all" else wrong.where(wrong.task == number)
        shares = _shares(of_task)
        for place, judge in enumerate([*judges, "all"]):
            chosen = of_task if judge == "all" else of_task.where(of_task.judge == place)
            part = _curve(chosen, shares, level)
            marked = simulated.any() if judge == "all" else simulated[place]
            tables.append(part.assign(task=task, judge=judge, simulated=bool(marked)))
    return pd.concat(tables, ignore_index=True)[CURVE_COLUMNS]


def _wrong(used: pd.DataFrame, responses: pd.DataFrame, judges: Sequence[str], tasks: Sequence[str]) -> _Wrong:
    """The wrong responses among usable verdicts, each with the share right among the models it doesn't concern."""
    used = used[used["truth"] == 0]
    truth = responses.pivot(index=["task", "item_id"], columns="examinee", values="truth")
    known, right = truth.notna().to_numpy(np.float64), truth.fillna(0).to_numpy(np.float64)
    item = truth.index.get_indexer(pd.MultiIndex.from_frame(used[["task", "item_id"]]))
    model = pd.Index(truth.columns)
    judge, examinee = model.get_indexer(pd.Index(used["judge"])), model.get_indexer(pd.Index(used["examinee"]))
    own = judge == examinee

    # (verdicts, models), whom the judge is compared with: the examinee, or for an own response every other model.
    others = np.where(own[:, None], np.arange(len(model)) != judge[:, None], np.arange(len(model)) == examinee[:, None])
    n_left = known[item].sum(axis=1) - known[item, judge]
    right_left = right[item].sum(axis=1) - right[item, judge]
    n_left, right_left = n_left[:, None] - known[item], right_left[:, None] - right[item]
    row, other = np.nonzero(others & (n_left > 0))
    n_copies = np.bincount(row, minlength=len(used))
    _, response = np.unique(np.stack([item, judge, examinee]), axis=1, return_inverse=True)
    response = response.reshape(-1).astype(np.int64)
    n_trials = np.bincount(response, minlength=len(used))[response]
    copies = _Wrong(
        judge=pd.Index(judges).get_indexer(pd.Index(used["judge"]))[row],
        task=pd.Index(tasks).get_indexer(pd.Index(used["task"].astype(str)))[row],
        own=own[row],
        # Shares are counted in twelve digits: 1 of 3 is the same value wherever it comes from.
        share=np.round(right_left[row, other] / n_left[row, other], 12),
        accepted=used["verdict"].to_numpy(np.float64)[row],
        weight=1 / (n_copies * n_trials)[row],
        cluster=used["cluster"].to_numpy(np.int64)[row],
        response=response[row],
    )
    stratum = copies.task * len(judges) + copies.judge
    return _weighing_examinees_equally(copies, stratum, np.where(copies.own, -1, other))


def _weighing_examinees_equally(wrong: _Wrong, stratum: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> _Wrong:
    """others' responses weigh the same for each examinee, and as many as they are in all; own ones as they did."""
    cell = pd.DataFrame({"stratum": stratum, "other": other, "weight": wrong.weight})
    theirs = cell[other >= 0]
    n_cell = theirs.groupby(["stratum", "other"])["weight"].transform("sum")
    n_all = theirs.groupby("stratum")["weight"].transform("sum")
    n_examinees = theirs.groupby("stratum")["other"].transform("nunique")
    weight = wrong.weight.copy()
    weight[other >= 0] = (theirs["weight"] * n_all / (n_examinees * n_cell)).to_numpy()
    fields = {name: getattr(wrong, name) for name in wrong.__dataclass_fields__}
    return _Wrong(**fields | {"weight": weight})


def _shares(wrong: _Wrong) -> Array:
    """Where a task's curves are shown: at the shares that both sides have, or at steps of .05 if they are many."""
    both = np.intersect1d(wrong.share[wrong.own], wrong.share[~wrong.own])
    if len(both) <= _MOST_VALUES:
        return np.asarray(both)
    steps = np.linspace(0, 1, _MOST_VALUES)
    return np.asarray(steps[(steps >= both.min()) & (steps <= both.max())])


def _curve(wrong: _Wrong, shares: Array, level: float) -> pd.DataFrame:
    at = shares if len(shares) else np.array([np.nan])
    table = pd.DataFrame({"share_right": at, "n_own": 0, "n_other": 0})
    table = table.assign(**dict.fromkeys(("own", "other_value", "gap", "low", "high"), np.nan), interval="", fit="")
    wrong = _comparable(wrong)
    n_own, n_other = (len(np.unique(wrong.response[side])) for side in (wrong.own, ~wrong.own))
    if not len(shares):
        lacking = "own" if not n_own else "other's"
        there = n_own or n_other
        return table.assign(reason=f"no {lacking} wrong response" if there and not n_own * n_other else _FEW_MODELS)
    nearest = np.abs(wrong.share[:, None] - shares).argmin(axis=1)
    for side, name in ((wrong.own, "n_own"), (~wrong.own, "n_other")):
        seen = np.unique(np.stack([nearest[side], wrong.response[side]]), axis=1)
        table[name] = np.bincount(seen[0], minlength=len(shares))
    if n_own < LEAST_OWN or not n_other:
        few = f"only {n_own} own wrong response{'s' * (n_own != 1)}: too few for a curve ({LEAST_OWN} needed)"
        return table.assign(reason=few if n_other else "no other's wrong response")
    low, high = (
        pick([end(wrong.share[wrong.own]), end(wrong.share[~wrong.own])])
        for pick, end in ((max, np.min), (min, np.max))
    )
    inside = (shares >= low) & (shares <= high)
    if not inside.any():
        return table.assign(reason="own and others' wrong responses are on items of different difficulty")
    values = np.intersect1d(wrong.share[wrong.own], wrong.share[~wrong.own])
    degree = min(2 if n_own >= _FOR_A_BEND else 1, max(len(values) - 1, 0))
    sides, fit = _fit(wrong, degree, shares[inside], level)
    for name, column in (("own", sides.own), ("other_value", sides.other), ("low", sides.low), ("high", sides.high)):
        table.loc[inside, name] = column
    table["gap"] = table["own"] - table["other_value"]
    table.loc[inside, ["interval", "fit"]] = "delta", fit
    return table.assign(reason=np.where(inside, "", "not seen on both sides at this share: not extrapolated"))


def _comparable(wrong: _Wrong) -> _Wrong:
    """Without the judges that have one side only in a task, unless all are such."""
    stratum = wrong.task * (wrong.judge.max(initial=0) + 1) + wrong.judge
    both = np.isin(stratum, np.intersect1d(stratum[wrong.own], stratum[~wrong.own]))
    return wrong.where(both) if both.any() else wrong


def _fit(wrong: _Wrong, degree: int, shares: Array, level: float) -> tuple[Sides, str]:
    """Both sides' fitted rates at these shares, mean over tasks and, by own wrong responses, over judges."""
    _, stratum = np.unique(np.stack([wrong.task, wrong.judge]), axis=1, return_inverse=True)
    stratum = stratum.reshape(-1)
    n_own = np.bincount(stratum, wrong.weight * wrong.own)
    task_of = np.zeros(len(n_own), np.int64)
    task_of[stratum] = wrong.task
    of_task = np.bincount(task_of, n_own)
    importance = n_own / np.maximum(of_task[task_of], 1e-12) / max(int((of_task > 0).sum()), 1)
    columns = Columns(stratum, wrong.own, wrong.share, wrong.accepted, wrong.weight, wrong.cluster)
    sides = fitted_sides(columns, degree=degree, importance=importance, places=shares, level=level)
    shape = ("constant", "straight", "quadratic")[degree]
    return sides, f"logistic, {shape} in the share, {sides.n_parameters} parameters" + (
        ", penalised (Firth)" if sides.penalised else ""
    )
