"""The marks by which a response commits itself to an answer: a box, hash signs, a tag.

`voirdire.grading.numeric.answer` states the rule.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from voirdire.grading.numeric.numbers import read_number
from voirdire.grading.numeric.opinion import exact_value
from voirdire.grading.numeric.words import SPELLED

_BOX_CHARS = 2000
_BOX = re.compile(r"(?:\\|\b)(?:b?oxed|fbox|framebox)\s*(?=[{\d])")
_HASHES = re.compile(r"####(?!#)[ \t]*(?:\n[ \t]*)?([^\n]*)")
_TAG = re.compile(r"<(?:final_?)?answer>(?P<value>[^<]{1,300})(?:</|\Z)", re.IGNORECASE)
# What stands in the place of an answer where a prompt's format is repeated.
_PLACEHOLDER = re.compile(r"\W*(?:[NXn?_.…]|[ld]?dots|(?:your |final )*(?:answer|number|result))\W*", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\W*(?:step|part|case|question|problem|option|example|method|section|phase|day|approach|exercise)\W*\d",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\W*\d{1,2}[.)]\s+[A-Za-z]")
# A statement that begins with its number, in digits or words, or with an equation.
LEADS = re.compile(
    rf"(?:[\W_]|\\[a-z]+\b|\b(?:USD|EUR|GBP|Rs|about|approximately|exactly|a total of|negative|minus)\b)*"
    rf"(?:\d|(?:{SPELLED}|(?:a )?(?:hundred|thousand|million))\b|[A-Za-z]\w{{0,15}}\s*=)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Commitment:
    """The number committed to (None: none that can be read), the rule that found it, and where in the text it ends."""

    value: Fraction | None
    how: str
    end: int = 0


Reader = Callable[["re.Match[str]", str], Commitment | None]
# A pattern, what reads its match in a text, and the words without one of which, in small letters, there is none.
Mark = tuple[re.Pattern[str], Reader, tuple[str, ...]]


def _box(match: "re.Match[str]", text: str) -> Commitment | None:
    if text[match.end()] != "{":
        digits = re.compile(r"[\d.,]*\d").match(text, match.end())
        return with_opinion(read_number(digits[0], alone=True), digits[0], "boxed", digits.end()) if digits else None
    if re.search(r"\bnot\W{0,4}$", text[max(0, match.start() - 10) : match.start()]):
        return None
    content = _braced(text, match.end())
    if content is None or not content.strip() or _PLACEHOLDER.fullmatch(content):
        return None
    value = read_number(content, alone=True)
    if value is not None and re.search(r"[$=(\[]\s*[-−]$", text[max(0, match.start() - 5) : match.start()]):
        value = -value
    end = match.end() + len(content) + 2
    return with_opinion(value, content, "boxed", end)


def _braced(text: str, start: int) -> str | None:
    """What stands in the braces that open at `start`; None if they never close: the text broke off."""
    depth = 0
    for position in range(start, min(len(text), start + _BOX_CHARS)):
        if text[position] == "{" and text[position - 1] != "\\":
            depth += 1
        elif text[position] == "}" and text[position - 1] != "\\":
            depth -= 1
            if depth == 0:
                return text[start + 1 : position]
    return None


def with_opinion(value: Fraction | None, content: str, how: str, end: int = 0) -> Commitment:
    """The commitment that the rules read; where they can't, what Math-Verify makes of it."""
    if value is not None:
        return Commitment(value, how, end=end)
    value, source = exact_value(content)
    if value is not None:
        return Commitment(value, f"{how}, {source}", end=end)
    missing = f" by the rules, and {source}" if source.endswith("installed") else ""
    return Commitment(None, f"{how}: no number{missing}", end=end)


def _hashes(match: "re.Match[str]", text: str) -> Commitment | None:
    """A line of hash signs; a heading such as "#### Step 2: add", with something below it, is none."""
    content = match[1].strip()
    if not content.strip("*_ ") or "boxed" in content or _PLACEHOLDER.fullmatch(content):
        return None
    last = not text[match.end() :].strip(" \n*_`$#")
    if _NUMBERED.match(content) or (_LISTED.match(content) and not last):
        return None
    leads = LEADS.match(content) is not None
    value = read_number(content)
    if value is None:
        return with_opinion(None, content, "####") if last or (leads and len(content.split()) <= 4) else None
    return Commitment(value, "####") if leads or last or re.match(r"[^\d:=]{1,40}[:=]", content) else None


def _tag(match: "re.Match[str]", text: str) -> Commitment | None:
    if "boxed" in match["value"]:
        return None
    value = read_number(match["value"], alone=True)
    if value is None:
        value = read_number(match["value"].strip())
    return with_opinion(value, match["value"], "answer tag")


MARKS: tuple[Mark, ...] = (
    (_BOX, _box, ("oxed", "fbox", "framebox")),
    (_HASHES, _hashes, ("####",)),
    (_TAG, _tag, ("answer>",)),
)
