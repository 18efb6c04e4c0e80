"""Whether leniency towards strong examinees is leniency, or the difficulty of what they fail on."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from voirdire.bias.leniency import MATCHED
from voirdire.bias.leniency_design import CONDITIONAL, LOGISTIC, POOLED
from voirdire.bias.leniency_rows import ACCURACY, DIFFICULTY, FAMILY, LENGTH, OWN
from voirdire.bias.power import as_ratio
from voirdire.report import cells
from voirdire.report.cells import Cell, Format, html_table
from voirdire.report.rows import POINTS, table
from voirdire.report.sections.section import Section, Statements, Tables
from voirdire.tables.rows import select

_METHODS = {
    POOLED: "pooled: nothing held equal (the paper's reading)",
    MATCHED: "matched: same judge and question, both examinees wrong",
    CONDITIONAL: "conditional logit within judge and question (main)",
    LOGISTIC: "logistic, difficulty among the other models as a covariate",
}
_TERMS = {
    DIFFICULTY: "other models right, per 10 points",
    LENGTH: "length, per doubling",
    OWN: "own response",
    FAMILY: "response of the own family",
}
_OTHERS = "What else the models find, over all tasks"
_COUNTS = {"n_clusters": "questions"}


def leniency_or_difficulty(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "leniency_or_difficulty",
        "Is it leniency or difficulty?",
        "Stronger examinees' wrong responses may be accepted more often because judges are lenient with the strong, or "
        "because the strong fail on harder questions only. Three of these four estimates hold difficulty equal. "
        "Examinees are few: the range when any one of them is left out says more than an interval over questions.",
    )
    summary, frame = table(tables, "leniency_summary"), table(tables, "leniency")
    said = select(summary, task="all")
    section.answers += [_minus(text) for text in said["sentence"]] if len(said) else []
    by_task = summary[summary["task"] != "all"] if len(summary) else summary
    if len(by_task):
        lines = [_minus(text) for text in by_task["sentence"]]
        section.statements.append(Statements("The same per task", lines, folded=True))
    rows = select(frame, term=ACCURACY)
    if rows.empty:
        section.absent.append(absent.get("leniency", "No wrong response was judged, so leniency has no measure."))
        return section
    pooled = rows[(rows["task"] == "all") & (rows["judge"] == "all")]
    if len(pooled):
        section.tables.append(html_table(_named(pooled, True), "Over all tasks", _effects(pooled), folded=False))
    single = rows[(rows["task"] != "all") & (rows["judge"] == "all")]
    if len(single):
        columns = {"task": cells.text("task")} | _effects(single)
        section.tables.append(html_table(_named(single), "Per task", columns, folded=True))
    judges = rows[rows["judge"] != "all"]
    if len(judges):
        columns = {"task": cells.text("task"), "judge": cells.text("judge")} | _effects(judges)
        del columns["method"]
        section.tables.append(html_table(_named(judges), "Matched, per judge", columns, folded=True))
    others = frame[frame["term"].isin(list(_TERMS)) & (frame["task"] == "all")]
    if len(others):
        columns = {"method": cells.text("method"), "what": cells.text("what"), "n": cells.count("n")}
        columns |= _ratios() | cells.says(others, _COUNTS, unit_column="unit_of_says")
        section.tables.append(html_table(_named(others), _OTHERS, columns, folded=True))
    return section


def _named(rows: pd.DataFrame, in_full: bool = False) -> pd.DataFrame:
    units = rows["method"].map(lambda method: "points" if method == MATCHED else "log-odds")
    what = rows["term"].map(lambda term: _TERMS.get(term, term))
    named = rows["method"].map(lambda name: _METHODS.get(name, name)) if in_full else rows["method"]
    return rows.assign(method=named, what=what, unit_of_says=units)


def _ratios() -> dict[str, Format]:
    columns = {"odds ratio": cells.odds_ratio("estimate", "low", "high"), "without any one examinee": _range}
    return columns | {"p": cells.p_value("p"), "fit": cells.text("fit")}


def _effects(rows: pd.DataFrame) -> dict[str, Format]:
    columns = {"method": cells.text("method"), "n": cells.count("n"), "questions": cells.count("n_clusters")}
    columns |= {"effect of a more accurate author": _effect, "without any one examinee": _range}
    columns |= {"p": cells.p_value("p")} | cells.says(rows, _COUNTS, unit_column="unit_of_says")
    # "difference of shares" and "maximum likelihood" go without saying.
    return columns | ({"fit": cells.text("fit")} if rows["fit"].str.contains("penalised").any() else {})


_ODDS, _POINTS = cells.odds_ratio("estimate", "low", "high"), cells.points("estimate", "low", "high")


def _effect(row: pd.Series) -> Cell:
    """An odds ratio per 10 points of accuracy, or for matched responses a difference of shares."""
    cell = (_POINTS if row["unit_of_says"] == "points" else _ODDS)(row)
    if cell.text == cells.DASH:
        return cell
    return replace(cell, text=f"{cell.text} points" if row["unit_of_says"] == "points" else f"odds × {cell.text}")


def _range(row: pd.Series) -> Cell:
    ends = row["leave_out_low"], row["leave_out_high"]
    if any(map(pd.isna, ends)):
        return Cell(cells.DASH, reason=str(row["reason"]) or "too few examinees to leave one out")
    if row["unit_of_says"] == "points":
        return Cell(cells.signed(f"{ends[0] * POINTS:+.1f} to {ends[1] * POINTS:+.1f}"))
    return Cell(f"{as_ratio(ends[0])} to {as_ratio(ends[1])}")


def _minus(text: str) -> str:
    return cells.typographic(str(text))
