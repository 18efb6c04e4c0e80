"""The figure of the examinees' accuracies: as the panel sees them, corrected by few labels, and true."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from voirdire.report.canvas import (
    GREY,
    bar_lengths,
    colour,
    grid_of_panels,
    legend_below,
    marker,
    name,
    nothing,
    styled,
    title,
)
from voirdire.report.figures import task_title
from voirdire.report.rows import POINTS, column_values
from voirdire.tables.rows import is_simulated, select


@styled
def accuracies(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Per task, each examinee's share accepted by the panel, its corrected accuracy with interval, and the truth."""
    simulated = simulated or is_simulated(frame)
    heading = "Accuracy of each examinee, raw and corrected"
    rows = frame[frame["examinee"] != "all"] if len(frame) else frame
    if rows.empty:
        return nothing(heading, reason or "no response was judged by a panel", simulated)
    tasks, examinees = column_values(rows, "task"), column_values(rows, "examinee")
    figure, axes = grid_of_panels(len(tasks), 3, 3.1, max(1.9, 1.1 + 0.27 * len(examinees)), sharey=True)
    heights = np.arange(len(examinees), dtype=float)
    for panel, task in zip(axes, tasks, strict=True):
        some = select(rows, task=task)
        _points(panel, select(some, method="raw"), examinees, 1, "share that the panel accepts", -0.14)
        chosen = some[some["recommended"].astype(bool)]
        _points(panel, chosen, examinees, 0, "corrected by few labels", 0.14)
        truth = some.drop_duplicates("examinee").set_index("examinee").reindex(examinees)["truth"].to_numpy(float)
        panel.scatter(truth * POINTS, heights, marker="|", s=160, color="black", label="truth", zorder=3)
        labels = some.drop_duplicates("examinee")["n_labels"].sum()
        panel.set_title(f"{task_title(task)}, n = {int(labels):,} labels", loc="left", fontsize=8.5)
        panel.set_yticks(heights, [name(examinee, 20) for examinee in examinees], fontsize=7.5)
        panel.set_ylim(len(examinees) - 0.4, -0.6)
        panel.set_xlim(-3, 103)
        panel.set_xlabel("accuracy (% of responses right)")
        panel.grid(alpha=0.6)
        panel.tick_params(axis="y", length=0)
    legend_below(figure, axes)
    title(figure, heading, simulated)
    return figure


def _points(panel: Axes, rows: pd.DataFrame, examinees: list[str], index: int, label: str, shift: float) -> None:
    rows = rows.dropna(subset=["estimate"])
    at = np.array([examinees.index(examinee) for examinee in rows["examinee"]], float) + shift
    panel.errorbar(
        rows["estimate"].to_numpy(float) * POINTS,
        at,
        xerr=bar_lengths(rows, "estimate", POINTS),
        fmt=marker(index),
        markersize=4,
        color=GREY if label.startswith("share") else colour(index),
        elinewidth=1.2,
        label=label,
        zorder=2,
    )
