"""Whether judges prefer themselves."""

from collections.abc import Mapping

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import Format, html_table
from voirdire.report.rows import table
from voirdire.report.sections.section import Section, Statements, Tables, left_out
from voirdire.tables.rows import select

_VERSIONS = {
    "all": "all wrong responses",
    "matched": "both wrong",
    "same_answer": "both wrong, same answer",
    "adjusted": "less other judges'",
}


def self_preference(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "self_preference",
        "Do judges prefer themselves?",
        "A judge that solved an item rejects wrong answers by ability, and fails where its own answer is wrong: so a "
        "difference over all items is not yet preference. Nor is one on items that both get wrong (“both wrong”): a "
        "strong model's errors may look better to anyone. Only a model with an effect for every author, judge and "
        "question can carry that word. “Harmful” is the paper's: items that exactly one of the two gets wrong.",
    )
    rows = select(table(tables, "self_preference"), rate="fpr")
    if rows.empty:
        section.absent.append(
            absent.get("self_preference", "Self-preference needs a model that is examinee and judge.")
        )
        return section
    summary = _worded(select(table(tables, "self_preference_summary"), rate="fpr"))
    section.answers += _said(summary, "all")
    if by_judge := _said(summary, None):
        section.statements.append(Statements("Is it preference? Per judge, over tasks and other models", by_judge))
    _by_model(section, table(tables, "preference_model"))
    if len(summary):
        columns = {"judge": cells.text("judge"), "version": cells.text("version"), "others": cells.count("n_others")}
        columns |= {"difference in FPR (points)": cells.points("difference", "low", "high")}
        caption = "Per judge and version, mean over the other models"
        section.tables.append(html_table(summary, caption, columns, folded=True))
    pairs = {name: cells.text(name) for name in ("task", "judge", "other", "version")} | _compared(rows, "n other")
    section.tables.append(html_table(_worded(rows), "Every comparison", pairs, folded=True))
    _family(section, tables, absent)
    return section


def _by_model(section: Section, rows: pd.DataFrame) -> None:
    """The odds of accepting own wrong answers beyond every author's, judge's and question's effect."""
    if rows.empty:
        return
    columns = {"preference for": cells.text("kind"), "judge": cells.text("judge"), "n own": cells.count("n_own")}
    columns |= {"n": cells.count("n"), "questions": cells.count("n_clusters")}
    columns |= {"odds of accepting": cells.odds_ratio("log_odds", "low", "high"), "p (Holm)": cells.p_value("p_holm")}
    columns |= cells.says(rows, {"n_own": "own answers"}, "log-odds")
    caption = "Preference beyond ability and looks: the model of judge, question and author"
    section.tables.append(html_table(rows, caption, columns, folded=True))


def _family(section: Section, tables: Tables, absent: Mapping[str, str]) -> None:
    """Own family's wrong responses against other families', the judge's own left out."""
    rows = _worded(select(table(tables, "family_preference"), rate="fpr"))
    if rows.empty:
        why = "No judge has judged both a relative and a model of another family, so families can't be compared."
        section.absent.append(absent.get("family_preference", why))
        return
    overall = select(rows, task="all")
    section.answers += _said(overall, "all")
    if by_judge := _said(overall, None):
        caption = "Do they prefer their family? Its other members against other families' models"
        section.statements.append(Statements(caption, by_judge, folded=True))
    columns = {"task": cells.text("task"), "judge": cells.text("judge"), "family": cells.text("judge_family")}
    columns |= {"version": cells.text("version")} | _compared(rows, "n other families'")
    section.tables.append(html_table(rows, "Own family against other families", columns, folded=True))


def _compared(rows: pd.DataFrame, other: str) -> dict[str, Format]:
    columns = {"n own": cells.count("n_own"), other: cells.count("n_other")} | left_out(rows)
    columns |= {"difference in FPR (points)": cells.points("difference", "low", "high")}
    columns |= {"p (Holm)": cells.p_value("p_holm")}
    return columns | cells.says(rows, {"n_own": "own", "n_other": "other wrong"})


def _worded(rows: pd.DataFrame) -> pd.DataFrame:
    return (
        rows.assign(version=rows["version"].map(lambda version: _VERSIONS.get(version, version))) if len(rows) else rows
    )


def _said(rows: pd.DataFrame, judge: str | None) -> list[str]:
    """The sentences on one judge, or on all single ones."""
    if rows.empty or "sentence" not in rows.columns:
        return []
    chosen = rows[rows["judge"] == judge] if judge else rows[rows["judge"] != "all"]
    return [cells.typographic(str(text)) for text in dict.fromkeys(chosen["sentence"].dropna()) if text]
