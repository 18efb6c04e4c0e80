"""The figure of the self-preference gap over difficulty."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from voirdire.bias.ablation_difficulty import BINS
from voirdire.report.canvas import (
    GREY,
    bar_lengths,
    colour,
    grid_of_panels,
    legend_below,
    marker,
    nothing,
    styled,
    title,
)
from voirdire.report.figures import task_title
from voirdire.report.rows import POINTS, column_values
from voirdire.tables.rows import is_simulated, select

# Middles of the paper's bins on the axis of the share right.
_MIDDLES = dict(zip(BINS, (0.165, 0.5, 0.835), strict=True))


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
    legend_below(figure, axes)
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
            panel.errorbar(
                at, pooled["gap"] * POINTS, yerr=bar_lengths(pooled, "gap", POINTS), fmt="_", color=colour(0)
            )


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
        yerr=bar_lengths(pooled, "gap", POINTS),
        fmt=marker(1),
        markersize=4,
        color=colour(1),
        capsize=3,
        label="all judges, in three bins",
    )
    return {each: f"{n:.0f}" for each, n in zip(pooled["bin"], pooled["n_own"].to_numpy(float), strict=True)}
