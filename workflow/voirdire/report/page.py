"""report.html: one self-contained page, made from tables and figures that are there already."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from voirdire.report.canvas import NOTHING
from voirdire.report.gallery import drawings
from voirdire.report.sections import FigureBlock, build_sections
from voirdire.report.summary import answer_first
from voirdire.report.words import WORDS


@dataclass(frozen=True)
class ReportContext:
    """What the page is made of.

    study, simulated, main_condition: the study's name, whether personas stand in for models, and the condition that
        every table is about which doesn't say otherwise.
    tasks: the study's tasks, without "all".
    tables: tidy frames by name, those of `voirdire.study.outputs`, "claims" and "ungraded"; any may be missing.
    figures: SVG text by stem, as `voirdire.report.gallery` draws them; a missing one is left out with a sentence.
    models, benchmarks: one mapping of column name to text per model and per benchmark, shown as they are.
    settings, versions: what else decides a result, name to value (seeds, resamples; packages).
    absent: sentence per table without rows, as `voirdire.bias.explain_absent` gives.
    """

    study: str
    simulated: bool
    tasks: Sequence[str]
    tables: Mapping[str, pd.DataFrame]
    figures: Mapping[str, str] = field(default_factory=dict)
    main_condition: str = "blind"
    models: Sequence[Mapping[str, Any]] = ()
    benchmarks: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


def render(context: ReportContext) -> str:
    """The page as HTML text; the same context gives the same text."""
    environment = Environment(
        loader=PackageLoader("voirdire.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = build_sections(context.tables, context.main_condition, context.absent)
    by_id = {section.id: section for section in sections}
    for drawing in drawings(context.tasks):
        section = by_id[drawing.section]
        svg = context.figures.get(drawing.stem)
        if svg is None:
            section.absent.append(f"Figure {drawing.stem} was not drawn.")
            continue
        empty = f'<g id="{NOTHING}"' in svg
        if empty and drawing.source in context.absent:
            # The section says why already.
            continue
        # Safe to mark as such: matplotlib made it, and escapes the names in it.
        inlined = Markup(inline_svg(svg, drawing.stem))
        alt = drawing.stem.replace("_", " ")
        section.figures.append(FigureBlock(inlined, alt, "" if empty else drawing.how_to_read, drawing.detail))
    answers = answer_first(context.tables, context.main_condition)
    return environment.get_template("report.html.j2").render(
        context=context, sections=sections, answers=answers, words=WORDS
    )


_PROLOGUE = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"\s*<style\b.*?</style>", re.DOTALL)
# Attributes only: a model may be called `id="x"`, but in text its quotation marks are not followed by a tag's end.
_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_REFERENCE = re.compile(r'(\bid="|xlink:href="#|url\(#)')


def inline_svg(svg: str, prefix: str) -> str:
    """An SVG file's text made fit to stand inside a page: ids are unique, nothing reaches beyond the figure.

    matplotlib numbers its ids anew in every file, so two figures in one page would clip each other.

    >>> inline_svg('<?xml version="1.0"?><svg width="9pt"><g id="a"/><use xlink:href="#a"/></svg>', "f")
    '<svg width="9pt"><g id="f-a"/><use xlink:href="#f-a"/></svg>'
    """
    body = _STYLE.sub("", _METADATA.sub("", _PROLOGUE.sub("", svg, count=1)))
    safe = re.sub(r"[^A-Za-z0-9_-]", "-", prefix)
    return _TAG.sub(lambda tag: _REFERENCE.sub(rf"\g<1>{safe}-", tag.group()), body).strip()
