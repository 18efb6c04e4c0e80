"""Numbers written in English words."""

import re
from fractions import Fraction

# As alternatives of a pattern.
SPELLED = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_SMALL = dict(zip(SPELLED.split("|"), [*range(20), *range(20, 100, 10)], strict=True))
_LARGE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_WORD = "|".join(sorted([*_SMALL, *_LARGE], key=len, reverse=True))
_PHRASE = re.compile(
    rf"(?<![\w-])(?:an?\s+(?=hundred|thousand|million|billion))?(?:{_WORD})"
    rf"(?:(?:\s*-\s*|\s+and\s+|\s+)(?:{_WORD}))*(?:(?:\s+|-)(?P<part>{'|'.join(_PARTS)}|halve)s?)?\b",
    re.IGNORECASE,
)

_COUNTED = re.compile(r"\s+(?!(?:possib\w*|example|way|option|approach|thing|more|less|of|that|which|who)\b)[a-z]+\W*")


def in_digits(text: str) -> str:
    """The text with its one number in words as digits; unchanged if there are several, or digits already.

    "One" by itself is as likely a pronoun, and counts only where nothing follows but what is counted.

    >>> in_digits("one hundred and five days"), in_digits("one of them"), in_digits("one.")
    ('105 days', 'one of them', '1.')
    """
    if re.search(r"\d", text):
        return text
    phrases = [match for match in _PHRASE.finditer(text) if not _pronoun(match, text)]
    if len(phrases) != 1:
        return text
    value = _value(re.findall(r"[a-z]+", phrases[0][0].lower()))
    return text if value is None else f"{text[: phrases[0].start()]}{value}{text[phrases[0].end() :]}"


def _pronoun(match: "re.Match[str]", text: str) -> bool:
    if match[0].lower() != "one":
        return False
    if _COUNTED.fullmatch(text[match.end() :]):
        return False
    return bool(re.match(r"\W*\w", text[match.end() :]) or re.search(r"\b(?:no|any|every)\s$", text[: match.start()]))


def _value(words: list[str]) -> Fraction | None:
    """The value of "two million one hundred and five"; None for a row of words that makes no number ("two five")."""
    below = _PARTS.get(words[-1].rstrip("s"), 2 if words[-1].startswith("halve") else None)
    total, group, last = 0, 0, 10**12
    for word in words[:-1] if below else words:
        if word in ("a", "an", "and"):
            continue
        if word in _SMALL:
            if _SMALL[word] and group % 100 and not (group % 10 == 0 and group % 100 >= 20 and _SMALL[word] < 10):
                return None
            group += _SMALL[word]
        elif word == "hundred":
            if group > 99:
                return None
            group = max(group, 1) * 100
        elif _LARGE[word] < last:
            total, group, last = total + max(group, 1) * _LARGE[word], 0, _LARGE[word]
        else:
            return None
    return Fraction(total + group, below or 1)
