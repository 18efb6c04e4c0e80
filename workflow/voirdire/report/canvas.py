"""What every figure shares: colours, text that cannot break, and files with the same bytes every time."""

import functools
import io
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from voirdire.tables import atomic_path

# Okabe and Ito's colours, which readers with any colour vision tell apart; yellow is left out, too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
GREY = "#767676"
DIVERGING = "PuOr_r"
NAME_LENGTH = 28
# The id of the sentence in a figure that has nothing to show.
NOTHING = "nothing-to-show"
_DOTS_PER_INCH = 150
_SIMULATED = "(simulated panel)"
# Inches that a letter of a title takes on average.
_TITLE_LETTER = 0.09

_STYLE: dict[str, Any] = {
    # A model called "$x$" is a name, not a formula.
    "text.parse_math": False,
    "axes.formatter.use_mathtext": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    # Hinted letters are wider at some resolutions than at the one that the layout is made for, which cuts labels off.
    "text.hinting": "none",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "white",
    # Text stays text: an SVG is a tenth of the size, can be searched, and is read aloud. DejaVu Sans, which the layout
    # is computed with, is wider than the fonts that a browser may put in its place, so nothing overlaps.
    "svg.fonttype": "none",
    "svg.hashsalt": "voirdire",
}

_P = ParamSpec("_P")


@contextmanager
def _style() -> Iterator[None]:
    # Starting from matplotlib's defaults, a user's matplotlibrc cannot change a figure.
    with matplotlib.rc_context(), warnings.catch_warnings():
        # An emoji in a model's name has no glyph in the PNG's font; that must not stop a study.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)  # type: ignore[arg-type]
        yield


def styled(draw: Callable[_P, Figure]) -> Callable[_P, Figure]:
    """Let a function build its figure in this project's style, whatever the reader's settings are."""

    @functools.wraps(draw)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> Figure:
        with _style():
            figure = draw(*args, **kwargs)
            # Laying out takes most of the time, and would be done again for each file.
            if layout := figure.get_layout_engine():
                layout.execute(figure)
                figure.set_layout_engine("none")
            return figure

    return wrapped


def save(figure: Figure, stem: str | Path) -> tuple[Path, Path]:
    """Write `stem`.svg and `stem`.png; the same figure gives the same bytes. Returns the two paths."""
    paths = Path(f"{stem}.svg"), Path(f"{stem}.png")
    with atomic_path(paths[0]) as beside:
        beside.write_text(svg_text(figure), encoding="utf-8", newline="\n")
    with atomic_path(paths[1]) as beside, _style():
        # Not `savefig`, which draws everything once more for an orientation that only PostScript has.
        figure.set_dpi(_DOTS_PER_INCH)
        FigureCanvasAgg(figure).print_png(beside, metadata={"Software": None})
    return paths


def svg_text(figure: Figure) -> str:
    """The figure as SVG, without a date, so that the same figure gives the same text."""
    out = io.StringIO()
    with _style():
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    return re.sub(r"[ \t]+$", "", out.getvalue(), flags=re.MULTILINE)


def name(text: object, length: int = NAME_LENGTH) -> str:
    """A model's or task's name as a label: one line, no control characters, shortened in the middle.

    >>> name("azure/a-deployment-with-a-very-long-name-2026-01-01", 20)
    'azure/a-de…026-01-01'
    """
    clean = "".join(" " if unicodedata.category(char).startswith(("C", "Z")) else char for char in str(text)).strip()
    if len(clean) <= length:
        return clean
    half = (length - 1) // 2
    return f"{clean[: length - 1 - half]}…{clean[-half:]}"


def title(figure: Figure, text: str, simulated: bool) -> None:
    """Set the figure's title, which says "simulated" where no model was asked."""
    most = int(figure.get_figwidth() / _TITLE_LETTER)
    lines = textwrap.wrap(text, most) or [""]
    if simulated:
        fits = len(lines[-1]) + len(_SIMULATED) < most
        lines = [*lines[:-1], f"{lines[-1]} {_SIMULATED}"] if fits else [*lines, _SIMULATED]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=11)


def nothing(text: str, reason: str, simulated: bool) -> Figure:
    """A figure that says why there is nothing to draw: a study's list of files never depends on its results."""
    figure = Figure(figsize=(6.5, 1.6))
    title(figure, text, simulated)
    figure.text(0.01, 0.45, f"Nothing to show: {reason}", color=GREY, wrap=True, va="center", gid=NOTHING)
    return figure


def grid_of_panels(n: int, columns: int, width: float, height: float, **subplots: Any) -> tuple[Figure, list[Axes]]:
    """A figure of `n` panels in rows of `columns`, each `width` × `height` inches; surplus panels are removed."""
    columns = max(1, min(columns, n))
    rows = -(-n // columns)
    # Constrained layout needs room of its own for the title above the panels.
    figure = Figure(figsize=(max(width * columns, 4.5), height * rows + 0.5), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, **subplots).flat)
    for surplus in axes[n:]:
        surplus.remove()
    return figure, axes[:n]


def bar_lengths(rows: pd.DataFrame, value: str, scale: float) -> np.ndarray:
    """Lengths of error bars from `value` down to `low` and up to `high`, (2, rows).

    A percentile interval need not hold its point, and matplotlib refuses negative lengths: they are 0.
    """
    middle, low, high = (rows[column].to_numpy(float) * scale for column in (value, "low", "high"))
    return np.clip(np.vstack([middle - low, high - middle]), 0, None)


def legend_below(figure: Figure, axes: list[Axes]) -> None:
    """One legend for all panels below them, each label once, two side by side."""
    found: dict[str, Artist] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    if found:
        figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=min(2, len(found)))


def inches(text: str, points: float) -> float:
    """How wide a line of text of that size is, in the style that is in force."""
    return float(TextPath((0, 0), text, size=points).get_extents().width) / 72 if text.strip() else 0.0


def colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]
