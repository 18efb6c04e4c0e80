"""The paper's claims against this run."""

from collections.abc import Mapping

from voirdire.report import cells
from voirdire.report.cells import html_table
from voirdire.report.rows import table
from voirdire.report.sections.section import Section, Tables
from voirdire.study.judging_claims import PLANTED


def claims(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "claims",
        "Against the paper",
        "Each numeric claim of the paper against this run. Sign: does the effect go the published way? Size: is it as "
        "large as published? Undecided means that the interval lies on both sides of the bound.",
    )
    judged = table(tables, "claims")
    if judged.empty:
        section.absent.append("The claims were not judged.")
        return section
    columns = {name: cells.text(name) for name in ("id", "claim", "published")}
    columns |= {"this run": cells.number("value", "low", "high", decimals=3, plus="+")}
    columns |= {"sign": cells.verdict("sign"), "size": cells.verdict("size"), "note": cells.sentence("note")}
    # Said once above the table instead of in every row.
    note = judged["note"].str.replace(PLANTED, "", regex=False).str.removesuffix("; ")
    if bool(judged["simulated"].any()):
        section.lead += f" Here {PLANTED}."
    shown = judged.assign(note=note, reason=note)
    section.tables.append(html_table(shown, "Claims; shares, correlations or Cohen's d", columns, folded=False))
    return section
