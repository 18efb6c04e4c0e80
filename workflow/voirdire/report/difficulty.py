"""Figures about difficulty: the self-preference gap over it, and the leniency that is left when it is held equal."""

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from voirdire.bias.ablation_difficulty import BINS
from voirdire.report.canvas import GREY, colour, grid_of_panels, marker, nothing, styled, title
from voirdire.report.figures import task_title
from voirdire.report.rows import POINTS, column_values
from voirdire.tables.rows import is_simulated, select

# Middles of the paper's bins on the axis of the share right.
_MIDDLES = dict(zip(BINS, (0.165, 0.5, 0.835), strict=True))
# The models' ways to hold difficulty equal, the main one last, drawn lowest.
MODELS = {
    "pooled": "pooled: nothing held equal",
    "logistic": "logistic: difficulty as a covariate",
    "conditional": "conditional: same judge, same question",
}
# Odds ratios beyond these are drawn at the edge: one task of 30 questions must not flatten the others.
_WIDEST = np.log(6)


@styled
def difficulty(bins: pd.DataFrame, curve: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Table 5, and its smooth version: the self-preference gap over difficulty, single judges as thin lines."""
    simulated = simulated or is_simulated(bins) or is_simulated(curve)
    heading = "Self-preference gap by how hard the item is"
    rows = select(bins).dropna(subset=["gap"] if len(bins) else [])
    smooth = select(curve).dropna(subset=["gap"] if len(curve) else [])
    if rows.empty and smooth.empty:
        return nothing(heading, reason or "no model is both examinee and judge", simulated)
    tasks = column_values(pd.concat([rows[["task"]] if len(rows) else rows, smooth]), "task")
    figure, axes = grid_of_panels(len(tasks), 5, 2.4, 3.1, sharey=True)
    for panel, task in zip(axes, tasks, strict=True):
        _curves(panel, select(smooth, task=task))
        own = _bins(panel, select(rows, task=task), not len(smooth))
        panel.axhline(0, color=GREY, linewidth=0.8, zorder=0)
        panel.set_xticks(list(_MIDDLES.values()), [f"{each}\nn = {own.get(each, '0')}" for each in BINS])
        panel.set_xlim(-0.04, 1.04)
        panel.set_title(task_title(task), loc="left")
        panel.set_xlabel("share right, n own wrong")
        panel.grid(axis="y", alpha=0.6)
    shown = [part[part["judge"] == "all"] for part in (rows, smooth) if len(part)]
    ends = np.concatenate([part[["gap", "low", "high"]].to_numpy(float).ravel() for part in shown] or [np.zeros(1)])
    reach = max(8.0, POINTS * float(np.nanmax(np.abs(ends), initial=0))) * 1.06
    axes[0].set_ylim(-min(reach, 104), min(reach, 104))
    axes[0].set_ylabel("FPR on own − on others'\n(percentage points)")
    _legend(figure, axes)
    title(figure, heading, simulated)
    return figure


def _curves(panel: Axes, curves: pd.DataFrame) -> None:
    for judge, line in curves[curves["judge"] != "all"].groupby("judge", sort=False) if len(curves) else ():
        panel.plot(line["share_right"], line["gap"] * POINTS, color="#b5b5b5", linewidth=0.8, label=f"_{judge}")
    pooled = select(curves, judge="all")
    if len(pooled):
        at, low, high = (pooled[column].to_numpy(float) for column in ("share_right", "low", "high"))
        panel.plot(at, pooled["gap"] * POINTS, color=colour(0), linewidth=1.6, label="all judges, smooth")
        panel.fill_between(at, low * POINTS, high * POINTS, color=colour(0), alpha=0.15, linewidth=0, zorder=0)
        if len(at) == 1:
            panel.errorbar(at, pooled["gap"] * POINTS, yerr=_reach(pooled), fmt="_", color=colour(0))


def _bins(panel: Axes, rows: pd.DataFrame, with_judges: bool) -> dict[str, str]:
    """The three bins' gaps; returns the own wrong responses in each."""
    for judge, line in rows[rows["judge"] != "all"].groupby("judge", sort=False) if with_judges else ():
        line = line.set_index("bin").reindex(BINS)
        panel.plot(list(_MIDDLES.values()), line["gap"] * POINTS, color="#b5b5b5", linewidth=0.8, label=f"_{judge}")
    pooled = select(rows, judge="all").drop_duplicates("bin") if len(rows) else rows
    if not len(pooled):
        return {}
    panel.errorbar(
        pooled["bin"].map(_MIDDLES).to_numpy(float),
        pooled["gap"].to_numpy(float) * POINTS,
        yerr=_reach(pooled),
        fmt=marker(1),
        markersize=4,
        color=colour(1),
        capsize=3,
        label="all judges, in three bins",
    )
    return {each: f"{n:.0f}" for each, n in zip(pooled["bin"], pooled["n_own"].to_numpy(float), strict=True)}


def _reach(rows: pd.DataFrame, value: str = "gap", scale: float = POINTS) -> np.ndarray:
    """Lengths of error bars down and up. A percentile interval need not hold its point; negative ones are refused."""
    middle, low, high = (rows[column].to_numpy(float) * scale for column in (value, "low", "high"))
    return np.clip(np.vstack([middle - low, high - middle]), 0, None)


@styled
def methods(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Whether stronger examinees' errors are let pass more often, by four ways to hold difficulty equal, per task."""
    simulated = simulated or is_simulated(frame)
    heading = "Leniency towards stronger examinees, difficulty held equal or not"
    rows = select(frame, term="examinee_accuracy").dropna(subset=["estimate"] if len(frame) else [])
    rows = rows[rows["judge"] == "all"] if len(rows) else rows
    if rows.empty:
        return nothing(heading, reason or "no method has an estimate", simulated)
    tasks = column_values(rows, "task")
    figure, axes = grid_of_panels(2, 2, 4.6, max(2.3, 1.3 + 0.62 * len(tasks)), sharey=True)
    for index, (method, label) in enumerate(MODELS.items()):
        _row(axes[0], select(rows, method=method), tasks, index, label, 0.24 * (index - 1), 1)
    _row(axes[1], select(rows, method="matched"), tasks, 3, "matched: both examinees wrong", 0.0, POINTS)
    low, high = _span(select(rows, method=tuple(MODELS)))
    axes[0].set_xlim(low, high)
    ticks = _ticks(low, high)
    axes[0].set_xticks(np.log(ticks), [f"{ratio:g}" for ratio in ticks])
    axes[0].set_xlabel("odds ratio per 10 points of examinee accuracy")
    axes[1].set_xlabel("more accurate − less accurate examinee (points)")
    axes[0].set_title("Odds of accepting a wrong response", loc="left")
    axes[1].set_title("Share accepted, same question", loc="left")
    verdicts = select(rows, method="pooled").set_index("task")["n"]
    names = [f"{task_title(task)}\nn = {_count(verdicts.get(task))}" for task in tasks]
    for panel in axes:
        panel.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        panel.set_yticks(range(len(tasks)), names, fontsize=8)
        panel.set_ylim(len(tasks) - 0.4, -0.6)
        panel.grid(axis="x", alpha=0.6)
        panel.tick_params(axis="y", length=0)
    _legend(figure, axes)
    title(figure, heading, simulated)
    return figure


def _row(panel: Axes, rows: pd.DataFrame, tasks: list[str], index: int, label: str, shift: float, scale: float) -> None:
    """One method's estimates: intervals as bars, the range without any one examinee as a pale one behind them."""
    if rows.empty:
        return
    rows = rows.drop_duplicates("task")
    at = np.array([tasks.index(task) for task in rows["task"]], float) + shift
    least, most = (rows[column].to_numpy(float) * scale for column in ("leave_out_low", "leave_out_high"))
    panel.hlines(at, least, most, color=colour(index), alpha=0.28, linewidth=6, zorder=1)
    panel.errorbar(
        rows["estimate"].to_numpy(float) * scale,
        at,
        xerr=_reach(rows, "estimate", scale),
        fmt=marker(index),
        markersize=4,
        color=colour(index),
        elinewidth=1.2,
        label=label,
        zorder=2,
    )


def _span(rows: pd.DataFrame) -> tuple[float, float]:
    ends = rows[["estimate", "low", "high", "leave_out_low", "leave_out_high"]].to_numpy(float)
    low, high = np.nanmin(ends, initial=-0.12), np.nanmax(ends, initial=0.12)
    return float(max(low, -_WIDEST)) * 1.08, float(min(high, _WIDEST)) * 1.08


def _ticks(low: float, high: float) -> list[float]:
    """Odds ratios to name between two log-odds, 1 always, none so close to the one before that they would touch.

    >>> _ticks(-0.2, 1.8)
    [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6]
    """
    named: list[float] = [1]
    for ratio in (1.05, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6):
        # A ratio below 1 is written out like 0.67, and takes more room.
        for one in (ratio, round(1 / ratio, 2)):
            apart = min(abs(np.log(one / other)) for other in named)
            if low <= np.log(one) <= high and apart > (high - low) / 12:
                named.append(one)
    return sorted(named)


def _count(n: float | None) -> str:
    return "0" if n is None or np.isnan(n) else f"{n:,.0f}"


def _legend(figure: Figure, axes: list[Axes]) -> None:
    found: dict[str, Artist] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    if found:
        figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=min(2, len(found)))
