"""What a section of the page is made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import Format, HtmlTable
from voirdire.report.paper_tables import PAPER_TABLES

Tables = Mapping[str, pd.DataFrame]
# Calls that a rate leaves out, by the columns that count them.
LEFT_OUT = {"n_not_ok": "not ok", "n_not_judged": "not judged", "n_truth_missing": "truth missing"}


@dataclass(frozen=True)
class FigureBlock:
    """An inlined figure: its SVG, a text for those who don't see it, how to read it ("" where there is nothing to
    read), and its task if it is a detail.
    """

    svg: str
    alt: str
    how_to_read: str
    detail: str = ""


@dataclass(frozen=True)
class Statements:
    """Sentences that belong together, one per judge or task; `folded` away until asked for."""

    caption: str
    lines: Sequence[str]
    folded: bool = False


@dataclass
class Section:
    """A section of the page: what it is about, its answers in sentences, figures and tables that bear them out.

    `absent` has a sentence for everything that this study cannot show.
    """

    id: str
    title: str
    lead: str
    answers: list[str] = field(default_factory=list)
    statements: list[Statements] = field(default_factory=list)
    figures: list[FigureBlock] = field(default_factory=list)
    tables: list[HtmlTable] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


def stems(*numbers: int) -> Iterator[str]:
    """Files of the paper's tables, by which some absences are named."""
    return (PAPER_TABLES[number].stem for number in numbers)


def left_out(rows: pd.DataFrame) -> dict[str, Format]:
    """Columns that count the calls which the rows leave out: not ok always, the rarer kinds where there are any."""
    counted = [name for name in LEFT_OUT if name in rows.columns]
    shown = [name for name in counted if name == "n_not_ok" or rows[name].fillna(0).any()]
    return {LEFT_OUT[name]: cells.count(name) for name in shown}
