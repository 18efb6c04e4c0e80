"""Reading one number out of the words and marks around it, exactly."""

import re
from fractions import Fraction

_LATEX = (
    (re.compile(r"<<[^<>\n]*>>"), ""),  # GSM8K's calculator notes
    (re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox|boldsymbol|operatorname|fbox)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r" (\1)/(\2) "),
    (re.compile(r"\\[dtc]?frac\s*(\d)\s*(\d)"), r" \1/\2 "),
    (re.compile(r"\^\s*\{?\s*\\circ\s*\}?|\\degree|°|º"), " degrees "),
    (re.compile(r"\{,\}|\\,(?=\d{3})|\\!|\\left|\\right"), lambda match: "," if match[0] == "{,}" else ""),
    (re.compile(r"\\[()\[\]]|\\[,;: ]|\\q?quad|~"), " "),
    (re.compile(r"\\(?:times|cdot)\b|[×·⋅∗]"), "*"),
    (re.compile(r"\\div\b|÷"), "/"),
    (re.compile(r"\\(?:approx|equiv)\b|[≈≡]"), "="),
    (re.compile(r"\\?\$|\\?%|[€£¥₹]|\*\*|__|`|\\boxed"), lambda match: "%" if "%" in match[0] else ""),
    (re.compile(r"\((-?[\d.,]+)\)"), r"\1"),
    (re.compile(r"[−‒–—﹣－]"), "-"),
    (re.compile(r"\b(?:negative|minus)\s+(?=\d)", re.IGNORECASE), "-"),
    (re.compile(r"\b(cm|mm|km|m|ft|in|yd|mi|units?|inches|feet|meters?)\s*\^\s*\{?[23]\}?"), r"\1"),
    (re.compile(r"\b(km|m|mi|miles|ft|dollars)\s*/\s*(h|hr|hour|s|min|day)\b"), r"\1 per \2"),
    (re.compile(r"(?<=\d)[\u2009\u202f\u00a0\u2008 ](?=\d{3}(?!\d))"), ","),
)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"(?<![\w.,:/^])(?P<sign>[-+]\s?)?(?:(?P<whole>\d{{1,9}})\s+(?=\d+\s?/\s?\d))?(?P<number>{_DIGITS})"
    rf"(?:\s?/\s?(?P<below>-?\d+(?:\.\d+)?))?(?:(?:\s*\*\s*10\s*\^\s*\{{?|[eE])(?P<power>-?\d{{1,3}})\}}?)?"
    r"(?:\s*(?P<scale>thousand|million|billion|trillion|[kK])\b)?(?P<percent>\s?%)?",
)
_SCALES = {"thousand": 10**3, "k": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# After a number: it was part of a sum, a time, a ratio, a range, a list, a comparison, a share of something else.
_GOES_ON = re.compile(
    r"\s*(?:[-+*/^:!]\s?[\d({x\\a-z]|\^|!\s*\S|[<>]|,\s?\d|\.\d|(?:,|or|and|to|,\s?and|,\s?or)\s+-?\d"
    r"|(?:\w+\s+)?(?:more|less|fewer|greater)\s+than\s+-?\d|(?:times|out\s+of|of)\s+(?:the\s+)?-?\d|\\\w|\()",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*\([^)]*[a-z][^)]*\)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
# Digits beyond these are no answer to any benchmark's question, and slow to compute with.
_MOST_DIGITS = 100


def plain(text: str) -> str:
    r"""A text without currency signs, bold and LaTeX's marks; minus signs and separators made plain.

    >>> plain(r"**\$5{,}000**")
    '5,000'
    """
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    return text


def read_number(text: str, alone: bool = False) -> Fraction | None:
    """The one number that a text states; None if there is none, or it can't be told which.

    A sum counts by what stands behind its last equals sign ("9 * 2 = 18"). With `alone` nothing but a unit may stand
    beside the number, as in a box.

    >>> read_number("$1,234.50 per day")
    Fraction(2469, 2)
    >>> read_number("2:30") is None
    True
    """
    text = plain(text).strip(" \t:*")
    if not alone:
        text = _SENTENCE_END.split(text, maxsplit=1)[0]
    match = _NUMBER.search(text)
    before = text[: match.start()] if match else ""
    begins = match is not None and not before.strip(" (")
    if "=" in text and not (begins and match and not _expression_follows(text[match.end() :])):
        return read_number(text.rsplit("=", 1)[1], alone)
    if match is None or before.rstrip().endswith(("not", "n't", "*", "/", "^", "(", "{", "sqrt", "<", ">")):
        return None
    after = _COMMENT.sub("", text[match.end() :], count=1)
    if _GOES_ON.match(after) or (alone and (_NUMBER.search(after) or re.search(r"[-+*/^\\_{}!]", before + after))):
        return None
    if alone and match["scale"] in ("k", "K"):
        # Alone in a box k is as likely an unknown.
        return None
    return _value(match)


def _expression_follows(after: str) -> bool:
    return bool(re.match(r"\s*(?:[-+*/^=]|%?\s*of\b|[a-z]+\s*[-+*/=])", after, re.IGNORECASE))


def _value(match: "re.Match[str]") -> Fraction | None:
    if len(match[0]) > _MOST_DIGITS:
        return None
    value = Fraction(match["number"].replace(",", ""))
    if match["below"]:
        below = Fraction(match["below"])
        if not below:
            return None
        value /= below
    if match["whole"]:
        value += int(match["whole"])
    if match["power"]:
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
    below, places = value.denominator, 0
    while below % 10 == 0 or below % 2 == 0 or below % 5 == 0:
        below = below // (10 if below % 10 == 0 else 2 if below % 2 == 0 else 5)
        places += 1
    return f"{float(value):.{places}f}" if below == 1 and places <= 15 else str(value)
