"""QuALITY: which of the options a response decides for; the last decision wins.

A decision is a letter in a box, after "answer is", "answer:", "choose", "option … is correct" and the like, alone on a
line, or at the start of the response or a line with a reason or its option behind it; or, without any letter, an
option's own words as the answer. A letter that is denied ("not B") or offered beside another ("B or D") decides
nothing.
"""

import re

from voirdire.benchmarks import LETTERS
from voirdire.grading.text import visible

_LETTER = r"(?:\\(?:text|mathrm|mathbf|textbf)\{)?[(\[\"'“‘]?(?P<letter>[A-D])(?![\w'’]|\.[A-Za-z])[)\]\"'”’}]*"
# After a lone "A", which may be the article: anything but a plain word.
_NOT_ARTICLE = r"(?!(?<=A)\s+(?!because|since|as\b|due|for\b|is\b|which|and\b|or\b|with\b|based|[A-Z(])\w)"
_LINK = (
    r"(?:\s+(?:the\s+)?(?:best|correct|right|final|most\s+likely|most\s+accurate)?\s*(?:answer|option|choice|letter))?"
)
_LEADS = (
    r"\b(?:answer|option|choice|letter|statement)(?:\s+(?:to|for|here|should|must|would|will|choice|letter|option)"
    r"(?:\s+(?:the|this|question|be))*)*"
    r"(?:\s*(?:is|:|=|-|–|—|>)|\s+be)+[\s:]*(?:\w+ly|therefore|thus|indeed|then)?,?"
    r"\s*(?:the\s+)?(?:option|choice|letter|answer)?\s*:?\s*",
    r"\b(?:choose|chose|pick|picked|select|selected|go(?:ing)?\s+with|went\s+with|settle\s+on|decide\s+on|opt\s+for)"
    + _LINK
    + r"\s*:?\s*",
    r"\b(?:so|thus|hence|therefore|conclude|must\s+be|it's|it\s+is|is\s+that|but|would\s+say|i'd\s+say),?"
    r"(?:\s+(?:it\s+is|it's|it\s+must\s+be|the\s+answer\s+is|the\s+answer\s+must\s+be|option|choice))?\s+",
    r"\\(?:boxed|fbox)\{\s*",
)
# After "so D": no statement about D.
_NO_STATEMENT = r"(?!\s+(?:is|isn't|was|wasn't|seems|has|does|doesn't|can|can't|cannot|could|would|may|might)\b)"
_DECISIONS = [re.compile(lead + _LETTER + _NOT_ARTICLE + _NO_STATEMENT, re.IGNORECASE) for lead in _LEADS]
_DECISIONS.append(
    re.compile(
        r"\b(?:option\s+|choice\s+|answer\s+)?"
        + _LETTER
        + r"\s+(?:is|seems|must\s+be|would\s+be)\s+(?:clearly\s+|the\s+|therefore\s+|most\s+)*"
        r"(?:correct|right|best|answer|accurate|true)\b",
        re.IGNORECASE,
    )
)
# A line of its own, or one that opens with the letter and gives its option or a reason.
_LINE = re.compile(
    r"^[ \t>#]*(?:[-•]\s+)?(?:[Oo]ption\s+|[Cc]hoice\s+)?"
    + _LETTER
    + r"(?P<behind>[ \t]*$|[ \t]*[.):,;–—-][ \t]*[^\n]*$|\s+(?:because|since|as|due)\b[^\n]*$)",
    re.MULTILINE,
)
_DENIED = re.compile(r"(?:\bnot|n't|\bnever|\bneither|\bnor|\brather\s+than|\binstead\s+of)\s*[\"'(]*$", re.IGNORECASE)
_BESIDE = re.compile(r"[\s.)\]\"']*(?:\bor\b|\band\b|/|&|,\s*(?:or\s+|and\s+)?)\s*(?:option\s+)?[(\"']?[A-D](?![\w'’])")
_MARKS = re.compile(r"\*+|`|_{2,}|\$")
_AN_ANSWER = re.compile(r"(?:answer|option|choice)\s*(?:is|:)\s*(?:that\s+)?([^\n]*)", re.IGNORECASE)


def find_letter(response: str, options: tuple[str, ...] = ()) -> tuple[str | None, str]:
    """The letter decided for and the rule that found it; None and the reason where there is none.

    >>> find_letter("It can't be B, since he never left. The answer is D.")
    ('D', 'decision')
    """
    text = _MARKS.sub("", visible(response))
    lines = _line_decisions(text, options)
    found = sorted([*_worded_decisions(text), *lines], key=lambda decision: decision[0])
    if found:
        return found[-1][1:]
    alone = re.fullmatch(r"\W*(?:answer\W+)?(?:is\W+)?(?:option\W+)?([a-d])\W*", text.strip(), re.IGNORECASE)
    if alone:
        return alone[1].upper(), "letter alone"
    return _by_words(text, options)


def grade_choice(answer: str, options: tuple[str, ...], response: str) -> tuple[bool, str | None, str]:
    """Whether the response decides for the right letter; the letter; how it was found."""
    letter, how = find_letter(response, options)
    return letter == answer.strip().upper(), letter, how


def _worded_decisions(text: str) -> list[tuple[int, str | None, str]]:
    found: list[tuple[int, str | None, str]] = []
    for pattern in _DECISIONS:
        for match in pattern.finditer(text):
            letter = match["letter"]
            # The patterns ignore case for their words; a small letter is an article or a name, unless it ends.
            if letter.islower() and re.match(r"\s*\w", text[match.end() :]):
                continue
            start = match.start("letter")
            if _DENIED.search(text[max(0, start - 20) : start]) or re.search(r"\bnot\b", match[0], re.IGNORECASE):
                continue
            if _BESIDE.match(text, match.end()):
                found.append((start, None, "undecided: two letters"))
            else:
                found.append((start, letter.upper(), "decision"))
    return found


def _line_decisions(text: str, options: tuple[str, ...]) -> list[tuple[int, str | None, str]]:
    found: list[tuple[int, str | None, str]] = []
    matches = list(_LINE.finditer(text))
    first = len(text) - len(text.lstrip())
    # Lines that go through several options, each with its letter, weigh them; they decide nothing.
    walk = len({match["letter"] for match in matches if match["behind"].strip(" .):")}) > 1
    for match in matches:
        bare = not match["behind"].strip(" .):,;")
        if bare or (not walk and (match.start() == first or _names_option(match, options))):
            if _BESIDE.match(text, match.end("letter")):
                found.append((match.start("letter"), None, "undecided: two letters"))
            else:
                found.append((match.start("letter"), match["letter"], "letter alone" if bare else "letter first"))
    return found


def _names_option(match: "re.Match[str]", options: tuple[str, ...]) -> bool:
    index = LETTERS.index(match["letter"])
    return index < len(options) and f"{_words(match['behind'])} ".startswith(f"{_words(options[index])} ")


def _by_words(text: str, options: tuple[str, ...]) -> tuple[str | None, str]:
    """The one option whose own words are the answer."""
    candidates = [_words(text), *(_words(match[1]) for match in reversed(list(_AN_ANSWER.finditer(text))))]
    words = [_words(option) for option in options]
    for said in candidates:
        same = [letter for letter, option in zip(LETTERS, words, strict=False) if option and said == option]
        if len(same) == 1:
            return same[0], "option text"
    for said in candidates[1:]:
        within = [
            letter
            for letter, option in zip(LETTERS, words, strict=False)
            if option and f"{said} ".startswith(f"{option} ")
        ]
        if len(within) == 1:
            return within[0], "option text"
    quoted = [
        letter
        for letter, option in zip(LETTERS, words, strict=False)
        if len(option.split()) >= 3 and f" {option} " in f" {candidates[0]} "
    ]
    if len(quoted) == 1 and not re.search(r"\b[A-D]\b(?!\s+[a-z])", text):
        return quoted[0], "option text"
    return None, "no answer: no decision for one letter"


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
