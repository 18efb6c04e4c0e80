"""The figure of the leniency that is left when difficulty is held equal."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from voirdire.bias.leniency import MATCHED
from voirdire.bias.leniency_design import CONDITIONAL, LOGISTIC, POOLED
from voirdire.bias.leniency_rows import ACCURACY
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

# The models' ways to hold difficulty equal, the main one last, drawn lowest.
MODELS = {
    POOLED: "pooled: nothing held equal",
    LOGISTIC: "logistic: difficulty as a covariate",
    CONDITIONAL: "conditional: same judge, same question",
}
# Odds ratios beyond these are drawn at the edge: one task of 30 questions must not flatten the others.
_WIDEST = np.log(6)


@styled
def methods(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Whether stronger examinees' errors are let pass more often, by four ways to hold difficulty equal, per task."""
    simulated = simulated or is_simulated(frame)
    heading = "Leniency towards stronger examinees, difficulty held equal or not"
    rows = select(frame, term=ACCURACY).dropna(subset=["estimate"] if len(frame) else [])
    rows = rows[rows["judge"] == "all"] if len(rows) else rows
    if rows.empty:
        return nothing(heading, reason or "no method has an estimate", simulated)
    tasks = column_values(rows, "task")
    figure, axes = grid_of_panels(2, 2, 4.6, max(2.3, 1.3 + 0.62 * len(tasks)), sharey=True)
    for index, (method, label) in enumerate(MODELS.items()):
        _row(axes[0], select(rows, method=method), tasks, index, label, 0.24 * (index - 1), 1)
    _row(axes[1], select(rows, method=MATCHED), tasks, 3, "matched: both examinees wrong", 0.0, POINTS)
    low, high = _span(select(rows, method=tuple(MODELS)))
    axes[0].set_xlim(low, high)
    ticks = _ticks(low, high)
    axes[0].set_xticks(np.log(ticks), [f"{ratio:g}" for ratio in ticks])
    axes[0].set_xlabel("odds ratio per 10 points of examinee accuracy")
    axes[1].set_xlabel("more accurate − less accurate examinee (points)")
    axes[0].set_title("Odds of accepting a wrong response", loc="left")
    axes[1].set_title("Share accepted, same question", loc="left")
    verdicts = select(rows, method=POOLED).set_index("task")["n"]
    names = [f"{task_title(task)}\nn = {_count(verdicts.get(task))}" for task in tasks]
    for panel in axes:
        panel.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        panel.set_yticks(range(len(tasks)), names, fontsize=8)
        panel.set_ylim(len(tasks) - 0.4, -0.6)
        panel.grid(axis="x", alpha=0.6)
        panel.tick_params(axis="y", length=0)
    legend_below(figure, axes)
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
        xerr=bar_lengths(rows, "estimate", scale),
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
