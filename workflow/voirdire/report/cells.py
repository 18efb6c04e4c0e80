"""Tables of the page: rounded cells, intervals, and a dash with its reason where there is no value."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from voirdire.report.rows import POINTS

DASH = "–"
# Longer tables are folded away until the reader asks for them.
LONGEST_OPEN = 14


@dataclass(frozen=True)
class Cell:
    """A cell's text; `reason` is shown on hovering, `kind` is "text", "sentence", "number", "good" or "bad"."""

    text: str
    kind: str = "number"
    reason: str = ""


Format = Callable[[pd.Series], Cell]


@dataclass(frozen=True)
class HtmlTable:
    """A table of the page, ready for the template."""

    caption: str
    headers: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    folded: bool


def html_table(frame: pd.DataFrame, caption: str, columns: dict[str, Format], folded: bool | None = None) -> HtmlTable:
    """Format a frame's rows; `columns` maps a header to what makes its cells. Long tables are folded."""
    rows = [[make(row) for make in columns.values()] for _, row in frame.iterrows()]
    kinds = [cell.kind for cell in rows[0]] if rows else ["text"] * len(columns)
    headers = [Cell(name, "number" if kind == "number" else "text") for name, kind in zip(columns, kinds, strict=True)]
    return HtmlTable(caption, headers, rows, len(rows) > LONGEST_OPEN if folded is None else folded)


def _missing(row: pd.Series) -> Cell:
    reason = row.get("reason", "")
    return Cell(DASH, reason=reason if isinstance(reason, str) and reason else "no value: too few responses")


def signed(text: str) -> str:
    """A number with a typographic minus."""
    return text.replace("-", "−")


def text(column: str) -> Format:
    def make(row: pd.Series) -> Cell:
        value = row[column]
        return Cell(DASH if pd.isna(value) or value == "" else str(value), "text")

    return make


def sentence(column: str) -> Format:
    """A whole sentence: text that may be wide, with typographic minus signs before numbers but not in names."""
    minus = re.compile(r"(?<![\w.-])-(?=\d)")
    return lambda row: Cell(minus.sub("−", str(row[column])) if not pd.isna(row[column]) else DASH, "sentence")


def count(column: str) -> Format:
    return lambda row: _missing(row) if pd.isna(row[column]) else Cell(f"{row[column]:,.0f}")


def number(column: str, low: str = "", high: str = "", scale: float = 1, decimals: int = 2, plus: str = "") -> Format:
    """A rounded number, with its interval in brackets where the row has one; `plus` "+" shows the sign always."""

    def make(row: pd.Series) -> Cell:
        if pd.isna(row[column]):
            return _missing(row)
        shown = f"{row[column] * scale:{plus}.{decimals}f}"
        if low and not (pd.isna(row[low]) or pd.isna(row[high])):
            shown += f" ({row[low] * scale:{plus}.{decimals}f} to {row[high] * scale:{plus}.{decimals}f})"
        return Cell(signed(shown))

    return make


# What a rate is a share of, and so cannot do without.
_NEEDS = {"fpr": ("wrong",), "fnr": ("right",), "bias": ("right", "wrong")}


def rate(metric: str) -> Format:
    """A rate's share with its interval; a dash says which responses there are none of."""
    show = number(metric, f"{metric}_low", f"{metric}_high")

    def make(row: pd.Series) -> Cell:
        cell = show(row)
        lacking = [word for word in _NEEDS.get(metric, ()) if row.get(f"n_{word}") == 0]
        if cell.text != DASH or not lacking:
            return cell
        return Cell(DASH, reason=f"no value: no judged response is {' or '.join(lacking)}")

    return make


def between(first: str, second: str) -> Format:
    """The two ends of a range, the smaller first."""

    def make(row: pd.Series) -> Cell:
        if pd.isna(row[first]) or pd.isna(row[second]):
            return _missing(row)
        low, high = sorted((row[first], row[second]))
        return Cell(signed(f"{low:.2f} to {high:.2f}"))

    return make


def points(column: str, low: str, high: str) -> Format:
    """A difference of shares in percentage points with its interval."""
    return number(column, low, high, POINTS, 1, "+")


def p_value(column: str) -> Format:
    def make(row: pd.Series) -> Cell:
        if pd.isna(row[column]):
            return _missing(row)
        return Cell("< 0.001" if row[column] < 0.001 else f"{row[column]:.3f}")

    return make


def verdict(column: str) -> Format:
    """A claim's or a test's verdict, coloured by its word."""

    def make(row: pd.Series) -> Cell:
        word = str(row[column])
        kinds = {"holds": "good", "yes": "good", "fails": "bad", "no": "bad"}
        return Cell(word, kinds.get(word, "text"))

    return make
