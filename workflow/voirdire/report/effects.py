"""Figures that the paper gives as tables: forests of differences, panels against single judges."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from voirdire.bias.ablation_length import NEGLIGIBLE_D
from voirdire.report.canvas import (
    GREY,
    bar_lengths,
    colour,
    grid_of_panels,
    inches,
    marker,
    name,
    nothing,
    styled,
    title,
)
from voirdire.report.figures import task_title
from voirdire.report.rows import POINTS, column_values, pooled_examinees
from voirdire.tables.rows import is_simulated, select

_VERSIONS = {"all": "all wrong responses", "matched": "items that both get wrong"}
_METRICS = {"accuracy": "accuracy (%)", "fpr": "leniency, FPR (%)"}
_ITSELF, _OTHERS = "self-judge", "majority of the others"
# Panels in a row.
_COLUMNS = 5


def _forest(panel: Axes, rows: pd.DataFrame, at: np.ndarray, index: int, label: str, scale: float, value: str) -> None:
    """Points with intervals at heights `at`; `value` names the column, intervals are in `low` and `high`."""
    panel.errorbar(
        rows[value].to_numpy(float) * scale,
        at,
        xerr=bar_lengths(rows, value, scale),
        fmt=marker(index),
        markersize=4,
        color=colour(index),
        elinewidth=1.2,
        label=label,
    )


def _zero_line(panel: Axes, labels: list[str], heights: np.ndarray) -> None:
    panel.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    panel.set_yticks(heights, labels, fontsize=7.5)
    panel.set_ylim(heights.max() + 0.7 if len(heights) else 1, -0.7)
    panel.grid(axis="x", alpha=0.6)
    panel.tick_params(axis="y", length=0)


def _room(width: float, names: list[str], titles: list[str], label: str) -> float:
    """Inches per panel, at least `width`, with which no panel's title or label reaches into the next panel.

    names: what stands beside the first panel. titles: one per panel. label: of every panel's x axis.
    """
    # With the padding of the ticks, and the label of the y axis.
    beside = 0.4 + max(inches(each, 7.5) for each in names)
    widest = max(inches(label, 9), *(inches(each, 9.5) for each in titles))
    return max(width, beside / min(len(titles), _COLUMNS) + 0.1 + widest)


def _who(judge: str) -> str:
    return "all judges" if judge == "all" else name(judge, 20)


def _below(figure: Figure, panel: Axes) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)))


@styled
def self_preference(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Table 10 as a forest: how much more often a judge accepts its own wrong responses than another model's."""
    simulated = simulated or is_simulated(frame)
    heading = "Self-preference: FPR on own minus on other's wrong responses"
    rows = select(frame, rate="fpr", version=tuple(_VERSIONS)).dropna(subset=["difference"] if len(frame) else [])
    if rows.empty:
        return nothing(heading, reason or "no model is both examinee and judge", simulated)
    tasks = column_values(rows, "task")
    pairs = [
        (judge, other)
        for judge in column_values(rows, "judge")
        for other in column_values(select(rows, judge=judge), "other")
    ]
    labels = [f"{name(judge, 16)} → {name(other, 16)}" for judge, other in pairs]
    own = select(rows, version="all")
    titles = [f"{task_title(task)}, n = {_span(select(own, task=task)['n_own'])} own" for task in tasks]
    what = "difference (percentage points)"
    width = _room(2.4, labels, titles, what)
    # Titles, legend and the label of the axis take their inches however few the pairs are.
    figure, axes = grid_of_panels(len(tasks), _COLUMNS, width, max(2.3, 0.6 + 0.21 * len(pairs)), sharey=True)
    place = {pair: height for height, pair in enumerate(pairs)}
    for panel, task, heading_of_panel in zip(axes, tasks, titles, strict=True):
        for index, (version, label) in enumerate(_VERSIONS.items()):
            some = select(rows, task=task, version=version)
            at = np.array([place[pair] for pair in zip(some["judge"], some["other"], strict=True)], float)
            _forest(panel, some, at + 0.3 * index - 0.15, index, label, POINTS, "difference")
        _zero_line(panel, labels, np.arange(len(pairs), dtype=float))
        panel.set_title(heading_of_panel, loc="left")
        panel.set_xlabel(what)
    axes[0].set_ylabel("judge → other model")
    _below(figure, axes[0])
    title(figure, heading, simulated)
    return figure


@styled
def identity(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Table 3 as a forest: what a label naming the examinee does to a judge's leniency and strictness."""
    heading = "Identity labels: labelled minus blind, on the same responses"
    return _changes(pooled_examinees(frame), "label", heading, reason or "no labelled condition was judged", simulated)


@styled
def template(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """A forest: what asking in another template does to a judge's leniency and strictness."""
    heading = "Judge templates: other minus main, on the same responses"
    return _changes(frame, "template", heading, reason or "there is one template only", simulated)


def _changes(frame: pd.DataFrame, by: str, heading: str, reason: str, simulated: bool) -> Figure:
    """Changes of both rates of each judge over all tasks, one colour for each value of column `by`."""
    simulated = simulated or is_simulated(frame)
    rows = select(frame, task="all" if len(select(frame, task="all")) else column_values(frame, "task"))
    rows = select(rows, rate=("fpr", "fnr")).dropna(subset=["difference"] if len(rows) else [])
    if rows.empty:
        return nothing(heading, reason, simulated)
    judges, varied = column_values(rows, "judge"), column_values(rows, by)
    figure, axes = grid_of_panels(2, 2, 3.9, 0.8 + 0.32 * len(judges), sharey=True)
    names = [_who(judge) for judge in judges]
    for panel, (rate, word) in zip(axes, (("fpr", "leniency (FPR)"), ("fnr", "strictness (FNR)")), strict=True):
        of_rate = select(rows, rate=rate)
        for index, value in enumerate(varied):
            some = select(of_rate, **{by: value})
            at = np.array([judges.index(judge) for judge in some["judge"]], float)
            _forest(panel, some, at + 0.26 * index - 0.13, index, f"{by}: {value}", POINTS, "difference")
        _zero_line(panel, names, np.arange(len(judges), dtype=float))
        single = of_rate[of_rate["judge"] != "all"]
        panel.set_title(f"{word}, n = {_span(single['n_pairs'])} pairs a judge", loc="left")
        panel.set_xlabel("difference (percentage points)")
    _below(figure, axes[0])
    title(figure, heading, simulated)
    return figure


@styled
def length(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Table 4 as a forest: are accepted wrong responses longer than rejected ones? The band: negligible."""
    simulated = simulated or is_simulated(frame)
    heading = "Length of accepted against rejected wrong responses"
    rows = select(frame).dropna(subset=["d"] if len(frame) else [])
    if rows.empty:
        return nothing(heading, reason or "no judge both accepted and rejected wrong responses", simulated)
    tasks, judges = column_values(rows, "task"), column_values(rows, "judge")
    who, what = [_who(judge) for judge in judges], "Cohen's d (standard deviations)"
    judged = rows.assign(n=rows["n_accepted"] + rows["n_rejected"])
    titles = [f"{task_title(task)}, n = {_span(select(judged, task=task)['n'])}" for task in tasks]
    width = _room(2.3, who, titles, what)
    figure, axes = grid_of_panels(len(tasks), _COLUMNS, width, max(1.4, 0.8 + 0.3 * len(judges)), sharey=True)
    for panel, task, heading_of_panel in zip(axes, tasks, titles, strict=True):
        some = select(rows, task=task)
        panel.axvspan(-NEGLIGIBLE_D, NEGLIGIBLE_D, color="#e9eef2", zorder=-1)
        at = np.array([judges.index(judge) for judge in some["judge"]], float)
        _forest(panel, some, at, 0, "d with its 95 % interval", 1, "d")
        _zero_line(panel, who, np.arange(len(judges), dtype=float))
        panel.set_title(heading_of_panel, loc="left")
        panel.set_xlabel(what)
    title(figure, heading, simulated)
    return figure


@styled
def ensembles(frame: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Table 2: the majority of the other judges against the model judging itself, on the same responses."""
    simulated = simulated or is_simulated(frame)
    heading = "Majority of the other judges against the self-judge"
    rows = select(frame, metric=tuple(_METRICS)).dropna(subset=["majority"] if len(frame) else [])
    if rows.empty:
        return nothing(heading, reason or "no response had enough votes", simulated)
    tasks, models = column_values(rows, "task"), column_values(rows, "examinee")
    heights = np.arange(len(models), dtype=float)
    alike = {metric: _alike(select(rows, metric=metric)) for metric in _METRICS}
    # Intervals need a line more below the axis.
    height = max(1.3, 0.8 + 0.27 * len(models)) + 0.2 * any(alike.values())
    figure, axes = grid_of_panels(2 * len(tasks), len(tasks), 2.3, height, sharex="row", sharey=True)
    panels = [(metric, task) for metric in _METRICS for task in tasks]
    for panel, (metric, task) in zip(axes, panels, strict=True):
        some = select(rows, metric=metric, task=task).drop_duplicates("examinee").set_index("examinee").reindex(models)
        own, other = some["self_judge"].to_numpy(float) * POINTS, some["majority"].to_numpy(float) * POINTS
        if alike[metric]:
            # Points on top of each other, on an axis as narrow as rounding, would say nothing.
            for index, who, stem, shift in ((1, _ITSELF, "self_judge", 0.13), (0, _OTHERS, "majority", -0.13)):
                ends = some.assign(low=some[f"{stem}_low"], high=some[f"{stem}_high"])
                _forest(panel, ends, heights + shift, index, who, POINTS, stem)
            panel.set_xlim(-4, 104)
        else:
            panel.hlines(heights, np.fmin(own, other), np.fmax(own, other), color="#b5b5b5", linewidth=1.5, zorder=1)
            panel.scatter(own, heights, color=colour(1), marker="s", s=24, label=_ITSELF, zorder=2)
            panel.scatter(other, heights, color=colour(0), marker="o", s=24, label=_OTHERS, zorder=3)
        panel.set_yticks(heights, [name(model, 20) for model in models], fontsize=7.5)
        panel.set_ylim(len(models) - 0.4, -0.6)
        counted = some["n"] if metric == "accuracy" else some["n_wrong"]
        panel.set_title(f"{task_title(task)}, n = {_span(counted)}", loc="left", fontsize=8.5)
        panel.set_xlabel(_METRICS[metric] + ("\nwith 95 % intervals" if alike[metric] else ""))
        panel.grid(alpha=0.6)
        panel.tick_params(axis="y", length=0)
    _below(figure, axes[0])
    title(figure, heading, simulated)
    return figure


def _alike(rows: pd.DataFrame) -> bool:
    """Whether all rates of the majority and of the self-judges are the same to the percentage point."""
    rates = rows[["majority", "self_judge"]].to_numpy(float)
    return bool(np.isfinite(rates).any() and np.nanmax(rates) - np.nanmin(rates) < 0.01)


def _span(counts: pd.Series) -> str:
    """Counts in short: one number if all are the same, else from the smallest to the largest."""
    known = counts.dropna().astype(int)
    if known.empty:
        return "0"
    low, high = known.min(), known.max()
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
