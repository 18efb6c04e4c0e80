"""The paper's figures: heat maps of directional bias, scatters with regression lines, drift week by week."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from voirdire.report.canvas import (
    DIVERGING,
    GREY,
    MARKERS,
    colour,
    grid_of_panels,
    marker,
    name,
    nothing,
    styled,
    title,
)
from voirdire.report.rows import column_values, main_rates, why_no_bias
from voirdire.report.words import spoken
from voirdire.tables.rows import is_simulated, select

# Beyond this a cell has no room for its count.
_MOST_ANNOTATED = 14
# A judge that is also the examinee: the diagonal of the study.
_SELF = "self-evaluation"

RULES = {
    "majority": "unweighted majority",
    "mean_single": "mean single judge",
    "best_single_hindsight": "best single judge, in hindsight",
    "best_single_labels": "best single judge, by labels so far",
}


# Ways to combine the panel whose band is drawn, with how strongly it is filled: the one that knows the truth, as an
# outline, the one that needs no label, and the one to beat.
_BANDS = {("wmv", "oracle"): 0.0, ("wmv", "disagreement"): 0.14, ("majority", ""): 0.16}


def task_title(task: str) -> str:
    """A task's slug as people write it.

    >>> task_title("gsm8k"), task_title("all"), task_title("my_task")
    ('GSM8K', 'all tasks', 'my_task')
    """
    known = {"gsm8k": "GSM8K", "aime": "AIME", "mbpp": "MBPP", "quality": "QuALITY", "all": "all tasks"}
    return known.get(task, name(task))


@styled
def heat_map(
    rates_by_examinee: pd.DataFrame, task: str, condition: str = "blind", reason: str = "", simulated: bool = False
) -> Figure:
    """Figure 2: directional bias of each judge towards each examinee on one task ("all": mean of the tasks).

    Self-evaluations are outlined; a cell without wrong or without right responses has no bias and is hatched; one whose
    bias says nothing (the table's `silent`) has its number in grey, and dots instead of a colour. `reason` explains an
    empty figure.
    """
    simulated = simulated or is_simulated(rates_by_examinee)
    heading = f"Directional bias (FPR − FNR) on {task_title(task)}"
    rows = main_rates(rates_by_examinee, condition, task=task)
    rows = rows[(rows["judge"] != "all") & (rows["examinee"] != "all")] if not rows.empty else rows
    if rows.empty:
        return nothing(heading, reason or "no verdicts of this task", simulated)
    judges, examinees = column_values(rows, "judge"), column_values(rows, "examinee")
    cells = rows.drop_duplicates(["judge", "examinee"])
    cells = cells.assign(mute=cells["bias"].notna() & _is_silent(cells))
    coloured = cells.assign(bias=cells["bias"].mask(cells["mute"])).set_index(["judge", "examinee"])["bias"]
    bias = coloured.unstack("examinee").reindex(index=judges, columns=examinees)
    # Names beside the cells and, slanted, below them take room of their own.
    width = max(4.5, 2.6 + 0.82 * len(examinees)) + _excess(judges, 0.06)
    height = max(2.9, 1.9 + 0.5 * len(judges)) + _excess(examinees, 0.04)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    limit = max(0.1, math.ceil(10 * np.nanmax(np.abs(bias.to_numpy(float)), initial=0)) / 10)
    image = axes.imshow(bias.to_numpy(float), cmap=DIVERGING, vmin=-limit, vmax=limit, aspect="auto")
    _annotate(axes, image, cells)
    axes.set_xticks(range(len(examinees)), [name(examinee) for examinee in examinees], rotation=35, ha="right")
    axes.set_yticks(range(len(judges)), [name(judge) for judge in judges])
    counted = "" if len(examinees) > _MOST_ANNOTATED else "\nsmall print: n wrong + n right responses"
    unknown = why_no_bias(cells[cells["bias"].isna()])
    hatched = f"\nhatched, no bias:\n{unknown}" if unknown else ""
    few = "\ndotted, no colour: too few responses to say anything (95 % interval wider than 2/3)"
    axes.set_xlabel(f"examinee (who answered){counted}{few if cells['mute'].any() else ''}{hatched}")
    axes.set_ylabel("judge")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    if bias.notna().any(axis=None):
        bar = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
        bar.set_label("FPR − FNR (share)\n← strict | lenient →")
        bar.outline.set_visible(False)
    title(figure, heading, simulated)
    return figure


def _is_silent(cells: pd.DataFrame) -> pd.Series:
    if "silent" not in cells.columns:
        return pd.Series(False, index=cells.index)
    return cells["silent"].fillna("").str.split().map(lambda metrics: "bias" in metrics).astype(bool)


def _excess(names: list[str], inches: float) -> float:
    """Inches that the longest label needs beyond the dozen letters that a figure has room for anyway."""
    return inches * max(0, max(len(name(each)) for each in names) - 12)


def _annotate(axes: Axes, image: AxesImage, cells: pd.DataFrame) -> None:
    judges, examinees = column_values(cells, "judge"), column_values(cells, "examinee")
    for judge in [each for each in judges if each in examinees]:
        corner = (examinees.index(judge) - 0.5, judges.index(judge) - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=1.6, zorder=3))
    small = len(examinees) > _MOST_ANNOTATED
    columns = (cells[name] for name in ("judge", "examinee", "bias", "n_wrong", "n_right", "mute"))
    for judge, examinee, bias, wrong, right, mute in zip(*columns, strict=True):
        row, column = judges.index(judge), examinees.index(examinee)
        text = "–" if pd.isna(bias) else f"{bias:+.2f}".replace("-", "−")
        if pd.isna(bias) or mute:
            # Dots stay paler than lines: a number is read through them.
            hatch, pale = ("..", "#e8e8e8") if mute else ("////", "#d4d4d4")
            corner = (column - 0.5, row - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch=hatch, edgecolor=pale, linewidth=0))
            ink = "#5f5f5f" if mute else "black"
        else:
            red, green, blue, _ = image.to_rgba(np.array([bias]))[0]
            ink = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.52 else "black"
        if small:
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=6)
            continue
        axes.text(column, row - 0.13, text, ha="center", va="center", color=ink, fontsize=9)
        axes.text(column, row + 0.27, f"{wrong}+{right}", ha="center", va="center", color=ink, fontsize=6.5)


@styled
def scatter(
    points: pd.DataFrame, correlations: pd.DataFrame, task: str, reason: str = "", simulated: bool = False
) -> Figure:
    """Figure 3: the better the judge, the less lenient (table 7); the better the examinee, the more it is let pass
    (table 9). One regression line per examinee resp. judge, self-evaluations marked with a ring.
    """
    simulated = simulated or is_simulated(points) or is_simulated(correlations)
    heading = f"Capability and directional bias on {task_title(task)}"
    rows = select(points, task=task)
    rows = rows[rows["table"].astype(int).isin((7, 9))].dropna(subset=["x", "y"]) if not rows.empty else rows
    if rows.empty:
        return nothing(heading, reason or "no judge has a bias towards an examinee whose accuracy is known", simulated)
    figure, axes = grid_of_panels(2, 2, 4.9, 4.6, sharey=True)
    for panel, (number, models, others) in zip(axes, ((7, "judge", "examinee"), (9, "examinee", "judge")), strict=True):
        of_table = rows[rows["table"].astype(int) == number]
        panel.set_title(f"Points: {models}s; lines: one per {others} (table {number})", loc="left")
        if of_table.empty:
            panel.text(0.5, 0.5, f"no {models} has an accuracy of its own", ha="center", transform=panel.transAxes)
            panel.set_axis_off()
            continue
        for index, anchor in enumerate(column_values(of_table, "anchor")):
            _regression(panel, of_table[of_table["anchor"] == anchor], anchor, index, correlations, number)
        panel.axhline(0, color=GREY, linewidth=0.8)
        panel.set_xlabel(f"task accuracy of the {models} (share of items)")
        panel.set_ylabel("directional bias, FPR − FNR (share)")
        panel.grid(alpha=0.6)
        # Two columns of long names would run into the other panel's.
        columns = 2 if max(map(len, column_values(of_table, "anchor"))) <= 12 else 1
        heading_of_r = f"{others}: Pearson r"
        panel.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=columns, title=heading_of_r, title_fontsize=8
        )
    axes[1].tick_params(labelleft=True)
    if rows["is_self"].astype(bool).any():
        ring = axes[0].scatter([], [], s=90, facecolors="none", edgecolors="black", linewidths=1.2)
        lines = axes[0].get_legend()
        axes[0].legend([ring], [_SELF], loc="upper right")
        if lines is not None:
            axes[0].add_artist(lines)
    title(figure, heading, simulated)
    return figure


def _regression(
    panel: Axes, points: pd.DataFrame, anchor: str, index: int, correlations: pd.DataFrame, number: int
) -> None:
    x, y = points["x"].to_numpy(float), points["y"].to_numpy(float)
    task = points["task"].iloc[0]
    found = select(correlations, anchor=anchor, task=task, self_point="with", left_out="")
    found = found[found["table"].astype(int) == number] if not found.empty else found
    r = float(found["r"].iloc[0]) if len(found) else float("nan")
    shown = "–" if math.isnan(r) else f"{r:+.2f}".replace("-", "−")
    label = f"{name(anchor, 18)}: {shown} (n = {len(x)})"
    panel.scatter(x, y, s=26, color=colour(index), marker=marker(index), label=label, zorder=2)
    own = points["is_self"].astype(bool).to_numpy()
    panel.scatter(x[own], y[own], s=90, facecolors="none", edgecolors="black", linewidths=1.2, zorder=3)
    if len(x) >= 3 and np.ptp(x) > 0:
        slope, intercept = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        panel.plot(ends, intercept + slope * ends, color=colour(index), linewidth=1, alpha=0.75, zorder=1)


@styled
def drift_accuracy(weeks: pd.DataFrame, reason: str = "", simulated: bool = False) -> Figure:
    """Figure 4, left: accuracy per week of each way to combine the panel; weights linear. 95 % bands for
    three of them."""
    simulated = simulated or is_simulated(weeks)
    heading = "Accuracy while the task mix drifts"
    rows = select(weeks, weights=("linear", ""))
    rows = rows[rows["week"] > 0] if not rows.empty else rows
    if rows.empty:
        return nothing(heading, reason or "the drift simulation did not run", simulated)
    figure = Figure(figsize=(8.6, 4.2), layout="constrained")
    axes = figure.subplots()
    estimators = column_values(select(rows, rule="wmv"), "estimator")
    lines = [("wmv", estimator) for estimator in estimators] + [(rule, "") for rule in RULES]
    for rule, estimator in lines:
        line = rows[(rows["rule"] == rule) & (rows["estimator"].fillna("") == estimator)].sort_values("week")
        if line.empty:
            continue
        week, low, high = (line[column].to_numpy(float) for column in ("week", "low", "high"))
        ink, shape, dash = _look(rule, estimator, estimators)
        label = RULES.get(rule) or f"weighted, {spoken(estimator)}"
        axes.plot(week, 100 * line["accuracy"], linestyle=dash, color=ink, marker=shape, markersize=4, label=label)
        # Eight bands would hide each other; the others' are in the table.
        if (rule, estimator) in _BANDS:
            fill = _BANDS[rule, estimator]
            axes.fill_between(week, 100 * low, 100 * high, color=ink, alpha=fill, linewidth=0, zorder=0)
            for edge in (low, high):
                axes.plot(week, 100 * edge, color=ink, linewidth=0.7, alpha=0.55, label="_band", zorder=1)
    _weeks_axis(axes, rows)
    axes.set_ylabel("accuracy of the panel's verdicts (%)")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), title=f"n = {_runs(rows)}", title_fontsize=8)
    title(figure, heading, simulated)
    return figure


@styled
def drift_rates(
    rates: pd.DataFrame, weeks: pd.DataFrame, rate: str = "fpr", reason: str = "", simulated: bool = False
) -> Figure:
    """Figure 4, right: each estimator's FPR (or FNR) of each judge, week by week, against the truth of that week.

    `weeks` is read for the number of simulated runs only.
    """
    simulated = simulated or is_simulated(rates)
    word = {"fpr": "leniency (FPR)", "fnr": "strictness (FNR)"}[rate]
    heading = f"Estimated {word} against the truth"
    rows = select(rates, rate=rate)
    rows = rows[(rows["week"] > 0) & (rows["estimator"] != "oracle")] if not rows.empty else rows
    if rows.empty:
        return nothing(heading, reason or "the drift simulation did not run", simulated)
    judges = [judge for judge in column_values(rows, "judge") if judge != "mean"]
    shown = [*judges, *(["mean"] if (rows["judge"] == "mean").any() else [])]
    estimators = column_values(rows, "estimator")
    # A single row has the titles, the legend and the label of the axis to itself.
    figure, axes = grid_of_panels(len(shown), 4, 2.5, 2.1 if len(shown) > 4 else 2.8, sharex=True, sharey=True)
    for panel, judge in zip(axes, shown, strict=True):
        of_judge = rows[rows["judge"] == judge].sort_values("week")
        for estimator in estimators:
            line = of_judge[of_judge["estimator"] == estimator]
            week, low, high = (line[column].to_numpy(float) for column in ("week", "low", "high"))
            ink = _look("wmv", estimator, estimators)[0]
            panel.plot(week, line["estimate"], color=ink, linewidth=1.4, label=spoken(estimator))
            panel.fill_between(week, low, high, color=ink, alpha=0.12, linewidth=0)
        truth = of_judge.drop_duplicates("week")
        panel.plot(truth["week"], truth["truth"], "--", color="black", linewidth=1.4, label="truth")
        panel.set_title("mean of the judges" if judge == "mean" else name(judge), loc="left")
        panel.grid(alpha=0.6)
    last = int(rows["week"].max())
    axes[0].set_xticks(range(1, last + 1, max(1, last // 4)))
    for panel in axes[-4:]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel("week")
    figure.supylabel(f"{rate.upper()} (share of {'wrong' if rate == 'fpr' else 'right'} responses)", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    title(figure, f"{heading}, n = {_runs(weeks)}", simulated)
    return figure


def _look(rule: str, estimator: str, estimators: list[str]) -> tuple[str, str, str]:
    """Colour, marker and dash: estimators in colour, the same in both figures; what they must beat in grey."""
    if rule == "wmv":
        coloured = [each for each in estimators if each != "oracle"]
        index = coloured.index(estimator) if estimator in coloured else -1
        return ("black" if index < 0 else colour(index)), marker(index), "-"
    index = list(RULES).index(rule)
    return GREY, MARKERS[index], ("--", ":", "-.", (0, (1, 1, 4, 1)))[index]  # type: ignore[return-value]


def _runs(weeks: pd.DataFrame) -> str:
    seeds = weeks["n_seeds"].dropna() if "n_seeds" in weeks.columns else pd.Series(dtype=float)
    return f"{int(seeds.max())} simulated runs" if len(seeds) else "unknown"


def _weeks_axis(axes: Axes, rows: pd.DataFrame) -> None:
    last = int(rows["week"].max())
    axes.set_xticks(range(1, last + 1, max(1, last // 12)))
    axes.set_xlabel("week")
    axes.grid(alpha=0.6)
