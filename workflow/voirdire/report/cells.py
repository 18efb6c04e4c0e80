"""Tables of the page: rounded cells, intervals, and a dash with its reason where there is no value."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.bias.power import DIFFERENCE, NOTHING, UNDECIDED, as_ratio, in_words
from voirdire.report.rows import POINTS
from voirdire.report.words import WORDS

DASH = "–"
# Longer tables are folded away until the reader asks for them.
LONGEST_OPEN = 14


@dataclass(frozen=True)
class Cell:
    """A cell's text; `reason` is shown on hovering.

    kind: "text", "word" (text that is never broken), "sentence", "number", "good", "bad" or "strong"; "silent" is a
    number that is there and says nothing, "mute" a text that says so.
    """

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
    headers = [
        Cell(name, "number" if kind in ("number", "silent") else "text", WORDS.get(name, ""))
        for name, kind in zip(columns, kinds, strict=True)
    ]
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
    return lambda row: Cell(typographic(str(row[column])) if not pd.isna(row[column]) else DASH, "sentence")


_MINUS = re.compile(r"(?<![\w.-])-(?=\d)")


def typographic(text: str) -> str:
    """
    >>> typographic("gpt-5: -1.5 points")
    'gpt-5: −1.5 points'
    """
    return _MINUS.sub("−", text)


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
    """A rate's share with its interval; a dash says which responses there are none of, grey that it says nothing."""
    show = number(metric, f"{metric}_low", f"{metric}_high")

    def make(row: pd.Series) -> Cell:
        cell = show(row)
        lacking = [word for word in _NEEDS.get(metric, ()) if row.get(f"n_{word}") == 0]
        if cell.text == DASH:
            return Cell(DASH, reason=f"no value: no judged response is {' or '.join(lacking)}") if lacking else cell
        if metric in str(row.get("silent", "")).split():
            n, word = _rests_on(row, metric)
            reason = f"says nothing: only {n} verdict{'s' * (n != 1)}{word}"
            return Cell(f"{cell.text.removesuffix(')')}; n = {n})", "silent", reason)
        return cell

    return make


def _rests_on(row: pd.Series, metric: str) -> tuple[int, str]:
    """How few verdicts make a rate say nothing: for the bias the fewer of two kinds, for accuracy all."""
    if metric not in _NEEDS:
        return int(row["n_right"] + row["n_wrong"]), ""
    return min((int(row[f"n_{word}"]), f" on {word} responses") for word in _NEEDS[metric])


# A difference by the name that it has in its unit.
_HUGE_ODDS = 20
_FOUND = {"r": "correlation", "log-odds": "effect"}


def says(
    rows: pd.DataFrame, counts: Mapping[str, str], unit: str = "points", unit_column: str = ""
) -> dict[str, Format]:
    """The column of what a comparison says; none where the table doesn't have it.

    counts: columns that count what a row rests on, with words for them ("own wrong"). unit: as in
    `voirdire.bias.power.in_words`, of all rows; or unit_column: where each row has it.
    """
    if "says" not in rows.columns:
        return {}

    def make(row: pd.Series) -> Cell:
        known = [(row[name], word) for name, word in counts.items() if not pd.isna(row.get(name, np.nan))]
        counted = ", ".join(f"{n:,.0f} {word}" for n, word in known)
        word, measured = str(row["says"]), str(row[unit_column]) if unit_column else unit
        if word == NOTHING:
            if why := without_value(row):
                return Cell(word, "mute", why)
            return Cell(f"nothing: {counted}" if counted else word, "mute", in_words(word, np.nan, counted=counted))
        if word == DIFFERENCE:
            return Cell(_FOUND.get(measured, word), "strong")
        if pd.isna(row["detectable"]) or word != UNDECIDED:
            return Cell(in_words(word, row["detectable"], measured), "word")
        if measured == "log-odds" and row["detectable"] > np.log(_HUGE_ODDS):
            return Cell(f"{word}: could have shown only more than an odds ratio of {_HUGE_ODDS}", "word")
        return Cell(f"{word}: could have shown {amount(row['detectable'], measured)}", "word")

    return {"says": make}


def without_value(row: pd.Series) -> str:
    """The reason why a comparison has no value; "" where it has one, or no reason is given."""
    values = [row[name] for name in ("estimate", "difference", "r", "d", "gap") if name in row.index]
    reason = row.get("reason", "")
    return reason if values and pd.isna(values[0]) and isinstance(reason, str) else ""


def amount(effect: float, unit: str = "points") -> str:
    """An effect's size with its unit, as `voirdire.bias.power` names units.

    >>> amount(0.183), amount(0.5, "sd"), amount(0.9, "r"), amount(0.7, "log-odds")
    ('18 points', 'd = 0.50', 'r = 0.90', 'an odds ratio of 2.01')
    """
    if unit == "points":
        return f"{POINTS * effect:.0f} points"
    if unit == "log-odds":
        return f"an odds ratio of {as_ratio(effect)}"
    return f"{'r' if unit == 'r' else 'd'} = {effect:.2f}"


def odds_ratio(column: str, low: str, high: str) -> Format:
    """A log-odds coefficient as an odds ratio, with its interval or range."""

    def make(row: pd.Series) -> Cell:
        if pd.isna(row[column]):
            return _missing(row)
        ends = [row[name] for name in (low, high)]
        shown = as_ratio(row[column])
        return Cell(shown if any(map(pd.isna, ends)) else f"{shown} ({as_ratio(ends[0])} to {as_ratio(ends[1])})")

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
