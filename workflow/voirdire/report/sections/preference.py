"""Whether judges prefer themselves."""

from collections.abc import Mapping

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import HtmlTable, html_table
from voirdire.report.rows import table
from voirdire.report.sections.section import Section, Tables, left_out
from voirdire.tables.rows import select


def self_preference(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "self_preference",
        "Do judges prefer themselves?",
        "A judge that solved an item rejects wrong answers by ability alone, so a difference over all items is not yet "
        "preference. Only the matched version (items that both get wrong) and the adjusted one (minus what other "
        "judges show on the same responses) support that word. “Harmful” is the paper's: items that exactly "
        "one of the two gets wrong.",
    )
    rows = select(table(tables, "self_preference"), rate="fpr")
    if rows.empty:
        section.absent.append(
            absent.get("self_preference", "Self-preference needs a model that is examinee and judge.")
        )
        return section
    section.tables += _preference_by_judge(table(tables, "self_preference_summary"))
    pairs = {name: cells.text(name) for name in ("task", "judge", "other", "version")}
    pairs |= {"n own": cells.count("n_own"), "n other": cells.count("n_other")} | left_out(rows)
    pairs |= {
        "difference in FPR (points)": cells.points("difference", "low", "high"),
        "p (Holm)": cells.p_value("p_holm"),
    }
    section.tables.append(html_table(rows, "Every comparison", pairs, folded=True))
    return section


def _preference_by_judge(summary: pd.DataFrame) -> list[HtmlTable]:
    rows = select(summary, rate="fpr")
    if rows.empty:
        return []
    columns = {"judge": cells.text("judge"), "version": cells.text("version"), "others": cells.count("n_others")}
    columns |= {"difference in FPR (points)": cells.points("difference", "low", "high")}
    said = rows.drop_duplicates("judge")
    return [
        html_table(
            said, "Is it preference? Per judge, over tasks and other models", {"answer": cells.sentence("sentence")}
        ),
        html_table(rows, "Per judge and version, mean over the other models", columns, folded=True),
    ]
