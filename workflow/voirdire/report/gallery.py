"""Every figure of a study: its file, how it is drawn from the tidy tables, and how to read it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from voirdire.report import accuracies, difficulty, effects, figures, leniency_methods
from voirdire.report.figures import task_title
from voirdire.report.rows import main_rates, table, why_no_bias

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Drawing:
    """One figure: the stem of its files, the section it belongs to, the table it shows, and how to read it.

    A `detail` is folded away in the report: one task of a figure that is shown for all of them.
    `draw(tables, condition, reason, simulated)` makes it; `reason` is shown where its table has no rows.
    """

    stem: str
    section: str
    source: str
    how_to_read: str
    draw: Callable[[Tables, str, str, bool], Figure]
    detail: str = ""


def draw_all(
    tables: Tables,
    tasks: Iterable[str],
    condition: str = "blind",
    absent: Mapping[str, str] | None = None,
    simulated: bool = False,
) -> Iterator[tuple[str, Figure]]:
    """Draw every figure of a study, one after the other: (stem, figure).

    tables: tidy frames by name; a missing or empty one gives a figure that says why. tasks: the study's, without "all".
    condition: the one that the heat maps show. absent: a sentence per table that has no rows, as
    `voirdire.bias.explain_absent` gives. simulated: whether every title says so, even where a table is empty.
    """
    reasons = absent or {}
    for drawing in drawings(tasks):
        yield drawing.stem, drawing.draw(tables, condition, reasons.get(drawing.source, ""), simulated)


def drawings(tasks: Iterable[str]) -> list[Drawing]:
    """The figures of a study with these tasks, in the order of the report."""
    pooled = ["all", *tasks]
    return [*map(_heat_map, pooled), *map(_scatter, pooled), *_EFFECTS]


def _heat_map(task: str) -> Drawing:
    def draw(tables: Tables, condition: str, reason: str, simulated: bool) -> Figure:
        return figures.heat_map(table(tables, "rates_by_examinee"), task, condition, reason, simulated)

    how = (
        f"{_lead(task)}: each cell is one judge (row) on one examinee's responses (column). Orange: it "
        "accepts wrong responses more often than it rejects right ones; purple: the reverse. Outlined cells "
        "judge themselves. Dotted cells rest on too few responses to say anything; hatched ones have no bias."
    )
    return Drawing(f"figure2_bias_heatmap_{task}", "leniency", "rates_by_examinee", how, draw, _detail(task))


def _scatter(task: str) -> Drawing:
    def draw(tables: Tables, condition: str, reason: str, simulated: bool) -> Figure:
        points, r = table(tables, "correlation_points"), table(tables, "correlations")
        why = why_no_bias(main_rates(table(tables, "rates_by_examinee"), condition, task=task))
        return figures.scatter(points, r, task, reason or (why and f"the bias has no value, as {why}"), simulated)

    how = (
        f"{_lead(task)}: left, falling lines mean that models which solve the task better judge it less "
        "leniently; right, rising lines mean that stronger examinees' errors are let pass more often. Ringed "
        "points are models judging themselves: on the line, they get what any judge of that capability would give."
    )
    return Drawing(f"figure3_bias_scatter_{task}", "correlations", "correlations", how, draw, _detail(task))


def _lead(task: str) -> str:
    return "All tasks" if task == "all" else task_title(task)


def _detail(task: str) -> str:
    return "" if task == "all" else task_title(task)


def _from_one(source: str, draw: Callable[[pd.DataFrame, str, bool], Figure]) -> Callable[..., Figure]:
    return lambda tables, condition, reason, simulated: draw(table(tables, source), reason, simulated)


def _drift_fpr(tables: Tables, condition: str, reason: str, simulated: bool) -> Figure:
    rates, weeks = table(tables, "drift_rates"), table(tables, "drift")
    return figures.drift_rates(rates, weeks, "fpr", reason, simulated)


def _difficulty(tables: Tables, condition: str, reason: str, simulated: bool) -> Figure:
    bins, curve = table(tables, "ablation_difficulty"), table(tables, "difficulty_curve")
    return difficulty.difficulty(bins, curve, reason, simulated)


_EFFECTS = (
    Drawing(
        "leniency_methods",
        "leniency_or_difficulty",
        "leniency",
        "Right of the grey line, a wrong response is accepted more often the more accurate its author is. Stronger "
        "examinees fail on harder questions: where only “pooled” lies to the right, difficulty explains it. Bars are "
        "95\u00a0% intervals; the pale bars behind them go from the smallest to the largest estimate when any one "
        "examinee is left out; one that reaches the edge goes on. n counts verdicts on wrong responses.",
        _from_one("leniency", leniency_methods.methods),
    ),
    Drawing(
        "self_preference",
        "self_preference",
        "self_preference",
        "Right of zero, a judge accepts its own wrong responses more often than the other model's. Blue compares "
        "all wrong responses, which also differ in difficulty; "
        "orange only items that both get wrong, where difficulty is equal.",
        _from_one("self_preference", effects.self_preference),
    ),
    Drawing(
        "ablation_identity",
        "ablations",
        "ablation_identity",
        "The same responses judged with and without a label naming their author. Left of zero, the label makes "
        "the judge less lenient (left panel) or less strict (right panel).",
        _from_one("ablation_identity", effects.identity),
    ),
    Drawing(
        "ablation_length",
        "ablations",
        "ablation_length",
        "Right of zero, the wrong responses that a judge accepts are longer than those it rejects. An interval "
        "inside the shaded band rules out a difference that matters; one that leaves it rules out nothing.",
        _from_one("ablation_length", effects.length),
    ),
    Drawing(
        "ablation_difficulty",
        "ablations",
        "ablation_difficulty",
        "How much more often judges accept their own errors than others', from items that no other model solves (left) "
        "to items that all do. The gap includes ability, as a judge failed every item of its own errors: it is not yet "
        "preference. Orange: the paper's three bins; n counts own wrong responses in them. Blue: a smooth "
        "curve over the share right among the models that neither judge nor answer, with its 95\u00a0% band, drawn "
        "only where both sides have responses; thin lines are single judges.",
        _difficulty,
    ),
    Drawing(
        "ablation_template",
        "ablations",
        "ablation_template",
        "The same responses judged again by another judge template. Left of zero, the other template makes the judge "
        "less lenient (left panel) or less strict (right panel) than the main one.",
        _from_one("ablation_template", effects.template),
    ),
    Drawing(
        "ensembles_static_majority",
        "ensembles",
        "ensembles",
        "Per model: how well the majority of the other judges (blue circle) and the model itself (orange square) "
        "judge the model's responses. Accuracy is better to the right, leniency to the left.",
        _from_one("ensembles", effects.ensembles),
    ),
    Drawing(
        "corrected_accuracy",
        "corrected_accuracy",
        "corrected_accuracy",
        "Grey: the share of an examinee's responses that the panel accepts, too high where judges are lenient. Blue: "
        "its accuracy by few labels and all votes, with 95\u00a0% intervals. The black mark is the truth, which blue "
        "should cover in 95 of 100 such draws.",
        _from_one("corrected_accuracy", accuracies.accuracies),
    ),
    Drawing(
        "figure4_drift_accuracy",
        "drift",
        "drift",
        "Coloured lines weigh each judge's vote by its estimated error rates, grey ones do not. The closer a "
        "coloured line is to the black one (true rates known), the better its estimates. Bands, "
        "95\u00a0% intervals, are drawn for disagreement, the unweighted majority and (outline) the oracle.",
        _from_one("drift", figures.drift_accuracy),
    ),
    Drawing(
        "figure4_drift_fpr",
        "drift",
        "drift_rates",
        "Each panel is one judge. An estimator works where its line follows the dashed one, the judge's true FPR under "
        "that week's task mix.",
        _drift_fpr,
    ),
)
