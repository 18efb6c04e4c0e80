"""Reading one number, exactly, out of the words and marks around it."""

import re
from fractions import Fraction

from voirdire.grading.numeric.marks import decimal_comma, plain
from voirdire.grading.numeric.words import in_digits

_SIMPLE = re.compile(r"[\s*$]*(-?\d{1,15})\*{0,2}\.?(?:\*\*)?[\s$]*")
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"(?<![\w.,:/^'])(?<![A-Za-z]-)(?P<sign>[-+]\s*)?(?:(?P<whole>\d{{1,9}})\s+(?=\d+\s?/\s?\d))?(?P<number>{_DIGITS})"
    rf"(?:\s?/\s?(?P<below>-?(?:{_DIGITS})))?(?:(?:\s*\*\s*10\s*\^\s*\{{?\s*|[eE])(?P<power>[-+]?\d{{1,3}})\}}?)?"
    r"(?:\s*(?P<scale>hundred|thousand|million|billion|trillion|[kK])\b)?(?P<percent>\s?%)?",
)
_SCALES = {"hundred": 100, "thousand": 10**3, "k": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_MEASURES = (
    r"(?:hours?|hrs?|h|minutes?|mins?|m|seconds?|days?|weeks?|months?|years?|feet|foot|ft|yards?|pounds?|lbs?|"
    r"gallons?|quarts?|meters?|miles?|kilometers?|dollars?|degrees)"
)
# After a number: it was part of a sum, a time, a ratio, a range, a list, a comparison, a share of something else.
_GOES_ON = re.compile(
    r"-[a-z]|(?:st|nd|rd|th)?\s*(?:\^|[-+*/]\s*$|[-+*]\s?(?:[\d({\\.]|(?!a\s|i\s)[a-z](?![\w']))"
    r"|/\s?(?:[\d({\\]|[a-z]\b)|:\s?\d|'\s?\d|!\s*\S"
    r"|[<>≤≥≠π√∞±&]|,\s?\d|\.\d|(?:,\s?)?(?:or|and|to|by)\s+-?\d"
    r"|(?:\w+\s+)?(?:more|less|fewer|greater)\s+than\s+-?\d"
    r"|(?:times|plus|minus|multiplied\s+by|divided\s+by|out\s+of|of)\s+(?:the\s+)?-?\d|\\\w|\()"
    rf"|\s*{_MEASURES},?\s*(?:and\s+)?\d|\s+[a-z]+(?:\s+[a-z]+)?,?\s+and\s+-?\d"
    r"|\s+(?P<noun>[a-z]+)\s+(?:or|to)\s+-?[\d.,]+\s+(?P=noun)\b",
    re.IGNORECASE,
)
# A letter behind a number is an unknown (18x), unless it may be a unit.
_UNKNOWN = re.compile(r"\s?(?![mghslLJWVNCFc]\b)[A-Za-z](?![\w'])(?!\s+[a-z])")
_SUM_FOLLOWS = re.compile(
    r"(?:[a-z]\b)?(?:\s+(?!(?:because|since|as|which|where|so|for|when|if|that|from|and)\b)[a-z]+){0,4}\s*"
    r"(?:[-+*/^=]|%?\s*of\s+(?:the\s+)?\d|(?:times|plus|minus|multiplied\s+by|divided\s+by|mod)\s)",
    re.IGNORECASE,
)
_EXPLANATION = re.compile(
    r"[^=]*?(?:[,:]\s|[;(]|\b(?:because|since|as|which|where|if|when|that|by|from)\b)", re.IGNORECASE
)
_COMPARED = re.compile(r"\s(?:more|less|fewer|greater)\s+than\b.*", re.IGNORECASE)
_RESULT = re.compile(r"\b(?:is|makes|gives|leaves)\s+(?=-?[\d.])", re.IGNORECASE)
_COMMENT = re.compile(r"\s\([^()]*+(?:\([^()]*+\)[^()]*+)?\)|\([^()]*[a-z][^()]*\)", re.IGNORECASE)
SENTENCE_END = re.compile(
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bRs)(?<!\bNo)(?<!\bvs)(?<!\bapprox)(?<!i\.e)(?<!e\.g)"
    r"[.!?](?=\s|$)|\n"
)
_NO_NUMBER_AFTER = re.compile(
    r"(?:\b(?:not|neither|nor|either)|n't|[*/^({<>≤≥≠√±]|sqrt|\b(?:more|less|fewer|greater|larger|smaller)\s+than|\b(?:over|under|above|below)"
    r"|\b(?:divided\s+by|mod|modulo|twice|double|triple|half(?:\s+of)?))\s*$",
    re.IGNORECASE,
)
_CORRECTED = re.compile(r"\bnot\s+[^\s,]+(?:\s[a-z]+)?,?\s*(?:but|rather|it's|it\s+is)\s+", re.IGNORECASE)
# The end of an emphasis that began before the text; between spaces it is an operator.
_ONE_STAR = re.compile(r"(?<=[\w.%)])\*(?!\s*[\w(\\$])")
_UNENDING = re.compile(r"\.\.|…|\\[lc]?dots")
_IN_WORDS = re.compile(r"(?<=\d)\s*\(\s*[A-Za-z][A-Za-z ,-]{2,}\)\s*$")
_NEGATIVE = re.compile(r"\b(?:negative|minus)\s+(?=\d)", re.IGNORECASE)
_DOTS = re.compile(r"^(?:\.{2,}|…)\s*")
# A sign behind these is an operator.
_OPERAND = re.compile(r"(?:(?<![A-Za-z'])[b-hj-zB-HJ-Z]|[\d)}\]])\s*$")
_CHOICE_LETTER = re.compile(r"^\W*\(?[A-E]\s?[).]\s*(?=-?\.?\d)")
_ASSIGNMENTS = re.compile(r"(?:,|;|\band|\bor)\s*[A-Za-z]\w*\s*$")
_OPENING_CLAUSE = re.compile(
    r"\W*(?:in|after|for|with|at|by|on|from|if|when|over|during|since|within|given|because|as|out\s+of)\b[^,]*,\s+",
    re.IGNORECASE,
)
# Before a number: it counts something that is given ...
_GIVEN = re.compile(
    r"\b(?:the|all|these|those|her|his|their|its|my|our|your|each|every|per|both|other)"
    r"(?:\s+(?:of|the|all|first|last|next|other))*\s+$",
    re.IGNORECASE,
)
# ... or says when, where, for whom.
_CIRCUMSTANCE = re.compile(
    r"\b(?:in|for|with|at|by|on|from|than"
    r"|after|before|until|within|during|among|between(?:\s+\S+\s+and)?|from\s+\S+\s+to|through"
    r"|(?<!total )(?<!sum )(?<!amount )(?<!profit )(?<!cost )(?<!average )of)"
    r"(?:\s+(?:of|the|all|first|last|next|other))*\s+$",
    re.IGNORECASE,
)
# Digits beyond these are no answer to any benchmark's question, and slow to compute with.
_MOST_DIGITS = 100


def read_number(text: str, alone: bool = False, unique: bool = False, comma: bool = False) -> Fraction | None:
    """The one number that a text states; None if there is none, or it can't be told which.

    A sum counts by what stands behind its last equals sign ("9 * 2 = 18"). Among several numbers in a sentence the
    first counts that doesn't merely count what is given, or say when or for whom; with `unique` there must be just one
    such. With `alone` nothing but a unit or words may stand beside the number, as in a box. With `comma` the text's
    language writes 1.250,5 for 1,250.5.

    >>> read_number("$1,234.50 per day")
    Fraction(2469, 2)
    >>> read_number("2:30") is None
    True
    """
    simple = _SIMPLE.fullmatch(text)
    if simple:
        return Fraction(int(simple[1]))
    text = decimal_comma(text) if comma else text
    text = plain(text).replace("\n", " " if alone else "\n").lstrip(" \t\n:*\"'").rstrip(" \t\n:\"'")
    if not alone:
        text = _ONE_STAR.sub("", SENTENCE_END.split(_DOTS.sub("", text.strip("|")), maxsplit=1)[0])
        text = _COMMENT.sub("", _CORRECTED.sub("", text))
    else:
        text = _IN_WORDS.sub("", re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", " ", text)).rstrip(" .,;")
    text = _NEGATIVE.sub("-", _CHOICE_LETTER.sub("", in_digits(text)))
    return _read(text, alone, unique)


def _read(text: str, alone: bool, unique: bool) -> Fraction | None:
    match = _NUMBER.search(text)
    begins = match is not None and not text[: match.start()].strip(" (\"'[")
    if "=" in text and not (match and begins and _explained(text[match.end() :])):
        return _behind_equals(text.split("="), alone)
    if match and begins and not alone and _GOES_ON.match(text, match.end()):
        return _said_twice(match, text) or _result(text[match.end() :])
    if match and not begins and not alone:
        match = _stated(text, unique)
    if match is None:
        return None
    before, after = text[: match.start()], text[match.end() :]
    if _NO_NUMBER_AFTER.search(before):
        return None if alone else _result(after)
    if (match["sign"] and _OPERAND.search(before)) or ("." in match["number"] and _UNENDING.match(after)):
        return None
    if _GOES_ON.match(after):
        return None if alone else _result(after)
    if _UNKNOWN.match(after):
        return None
    return None if alone and not _alone(match, before, after) else _value(match)


def _explained(after: str) -> bool:
    """Whether a number is followed by why it is right ("18, since 9 * 2 = 18"), not by a sum that makes another."""
    return not _SUM_FOLLOWS.match(after) and _EXPLANATION.match(after) is not None


def _alone(match: "re.Match[str]", before: str, after: str) -> bool:
    # Alone in a box k is as likely an unknown.
    unknown = match["scale"] in ("k", "K")
    return not (unknown or _NUMBER.search(after) or re.search(r"[-+*/^\\_{}!|]", before + after))


def _result(after: str) -> Fraction | None:
    """ "18% of 50, which is 9"."""
    result = _RESULT.search(after)
    return _read(after[result.end() :], False, False) if result else None


def _said_twice(match: "re.Match[str]", text: str) -> Fraction | None:
    """ "1/2, or 0.5", "1/2 or 50%"."""
    again = re.compile(r",?\s*or\s+").match(text, match.end())
    other = _NUMBER.match(text, again.end()) if again else None
    if other is None:
        return None
    first, second = _value(match), _value(other)
    if first is None or second is None:
        return None
    shares = [value / 100 if found["percent"] else value for value, found in ((first, match), (second, other))]
    return first if shares[0] == shares[1] else None


def _behind_equals(parts: list[str], alone: bool) -> Fraction | None:
    """What a chain of equations comes to: its last side that is a number."""
    if re.fullmatch(r"[\W_]*[A-Za-z][\w ]*", parts[0]) and _ASSIGNMENTS.search(parts[-2]):
        return None
    value = _read(_COMPARED.sub("", parts[-1]).strip(" \"'"), alone, False)
    if value is None and not _NUMBER.search(re.sub(r"[A-Za-z]\w*", "", parts[-1])):
        return _read(parts[-2].strip(" \"'"), True, False)
    if value is None and len(parts) == 2:
        return _read(parts[0].strip(" \"'"), True, False)
    return value


def _stated(text: str, unique: bool) -> "re.Match[str] | None":
    """Which of a sentence's numbers it states."""
    opening = _OPENING_CLAUSE.match(text)
    matches = list(_NUMBER.finditer(text, opening.end() if opening else 0)) or list(_NUMBER.finditer(text))
    new = [match for match in matches if not _GIVEN.search(text, 0, match.start())]
    stated = [match for match in new if not _CIRCUMSTANCE.search(text, 0, match.start())]
    if unique and len(stated) > 1:
        return None
    if not stated and len(new) == 1:
        return new[0]
    return stated[0] if stated else matches[0] if len(matches) == 1 else None


def _value(match: "re.Match[str]") -> Fraction | None:
    if len(match[0]) > _MOST_DIGITS:
        return None
    value = Fraction(match["number"].replace(",", ""))
    if match["below"]:
        below = Fraction(match["below"].replace(",", ""))
        if not below:
            return None
        value /= below
    if match["whole"]:
        if not 0 < value < 1:
            # 3 4/2 is no mixed number; it may be a product.
            return None
        value += int(match["whole"])
    if match["power"]:
        if abs(int(match["power"])) > _MOST_DIGITS:
            return None
        value *= Fraction(10) ** int(match["power"])
    if match["scale"]:
        value *= _SCALES[match["scale"].lower()]
    return -value if (match["sign"] or "").startswith("-") else value


def shown(value: Fraction) -> str:
    """A number in its shortest form: 18, 2.5, 1/3.

    >>> shown(Fraction(5, 2)), shown(Fraction(1, 3))
    ('2.5', '1/3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    for places in range(1, 16):
        scaled = abs(value) * 10**places
        if scaled.denominator == 1:
            digits = str(scaled.numerator).zfill(places + 1)
            return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return str(value)
