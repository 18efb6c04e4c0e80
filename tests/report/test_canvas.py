"""Figures' files: the same bytes every time, whatever a model is called and whatever the reader's settings are."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from voirdire.report import canvas

HOSTILE = [
    "<script>alert(1)</script>",
    "$x$",
    "$unclosed_{",
    "a\nb\x00c",
    "🦙 llama",
    "&amp;",
    '"quoted"',
    "\\frac{1}{2}",
    "",
]


@canvas.styled
def labelled(label: str) -> Figure:
    figure = Figure(figsize=(3, 2), layout="constrained")
    axes = figure.subplots()
    axes.plot([1, 2], [1, 2], label=canvas.name(label) or "-")
    axes.set_xticks([1, 2], [canvas.name(label)] * 2)
    axes.legend()
    canvas.title(figure, canvas.name(label), simulated=True)
    return figure


def test_same_figure_gives_same_bytes(tmp_path: Path):
    first = canvas.save(labelled("model"), tmp_path / "a" / "figure")
    second = canvas.save(labelled("model"), tmp_path / "b" / "figure")
    assert [path.suffix for path in first] == [".svg", ".png"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_files_carry_no_date(tmp_path: Path):
    svg, png = canvas.save(labelled("model"), tmp_path / "figure")
    assert "date" not in svg.read_text(encoding="utf-8").lower()
    assert b"tEXt" not in png.read_bytes()


def test_readers_settings_change_nothing():
    before = canvas.svg_text(labelled("model"))
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "text.parse_math": True}):
        assert canvas.svg_text(labelled("model")) == before


def test_style_does_not_leak():
    before = dict(matplotlib.rcParams)
    canvas.svg_text(labelled("model"))
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_neither_break_nor_inject(hostile: str, tmp_path: Path):
    svg, _ = canvas.save(labelled(hostile), tmp_path / "figure")
    root = ElementTree.fromstring(svg.read_text(encoding="utf-8"))
    assert not [node for node in root.iter() if node.tag.endswith("script")]


def test_dollar_name_is_shown_as_it_is():
    assert ">$x$<" in canvas.svg_text(labelled("$x$"))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("gpt_5", "gpt_5"),
        ("two\nlines", "two lines"),
        ("nul\x00", "nul"),
        ("x" * 100, "x" * 14 + "…" + "x" * 13),
    ],
)
def test_name_is_one_short_line(given: str, shown: str):
    assert canvas.name(given) == shown


def test_long_names_differ_by_their_ends():
    common = "azure/deployment-of-a-model-that-has-a-long-name"
    assert canvas.name(common + "-a") != canvas.name(common + "-b")


def test_long_title_is_broken_rather_than_cut():
    figure = Figure(figsize=(4.5, 2))
    canvas.title(figure, "Self-preference: FPR on own minus on other's wrong responses", simulated=True)
    lines = figure.get_suptitle().split("\n")
    assert lines == ["Self-preference: FPR on own minus on other's wrong", "responses (simulated panel)"]
    width = max(figure.findobj(Text), key=lambda text: len(text.get_text())).get_window_extent().width
    assert width < figure.bbox.width


def test_labels_lie_inside_the_picture_at_every_resolution(tmp_path: Path):
    @canvas.styled
    def draw() -> Figure:
        figure = Figure(figsize=(4, 2), layout="constrained")
        figure.subplots().set_yticks([0, 1], ["azure/team…026-01-00"] * 2, fontsize=7.5)
        return figure

    figure = draw()
    canvas.save(figure, tmp_path / "labels")
    label = figure.axes[0].get_yticklabels()[0]
    assert figure.dpi == 150
    assert label.get_window_extent().x0 >= 0
