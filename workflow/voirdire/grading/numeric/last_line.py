"""The answer of a response that marks none: what its last line comes to. `numeric.answer` states the rule."""

import re
from collections import deque
from fractions import Fraction

from voirdire.grading.numeric.marks import plain
from voirdire.grading.numeric.numbers import SENTENCE_END, read_number
from voirdire.grading.numeric.words import in_digits

_EQUATION = re.compile(
    r"[ \t$*\\(\[∴]*(?:(?:so|thus|hence|therefore),? )?[ \t$*\\(\[]*"
    r"(?:[A-Za-z](?:_?\w)?|total(?: [a-z]+){0,3})\s*=[^=\n]*"
    r"|[ \t*#>-]*(?:result|solution|output|total)[ *]*:[ *$\\(]*-?\d[^=\n]*"
    r"|[ \t*#>-]*(?:grand )?total(?: [a-z]+){0,4}[ *]*:[^=\n]*\d[^=\n]*=[^=\n]*",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_BRACKETS = re.compile(r"\([^()]*\)")
_TOTAL_ROW = re.compile(r"\s*\|[\s*]*(?:grand\s+)?total\b", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:[-*•#]\s|\d+[.)]\s|\|)")
_CONCLUSION = (
    r"so|thus|hence|therefore|in\s+total|altogether|finally|in\s+conclusion|overall|consequently|as\s+a\s+result|"
    r"(?:this|that|which)\s+means|in\s+summary|ultimately|we\s+conclude"
)
_CONCLUDES = re.compile(rf"(?:^|[.!?]\s+|[,;]\s+(?:and\s+)?|\bok(?:ay)?,?\s+|∴\s*)(?:{_CONCLUSION})\b,?", re.IGNORECASE)
_TOTALS = re.compile(
    r"\b(?:in\s+total|altogether|in\s+all)\b|\b(?:the|a|her|his|their|its)\s+(?:\w+\s+){0,2}?total\b", re.IGNORECASE
)
_STEP = re.compile(r"\W*(?:first|then|next|now|step|let)\b", re.IGNORECASE)
# What a plain sentence opens with that goes on to more, or says what is given.
_ON_THE_WAY = re.compile(
    r"\W*(?:(?:multiply|divide|add|subtract|calculate|compute|done|finished)\b"
    r"|first|second|third|then|next|now|step|let|if|suppose|assum|since|because|given|we\s+(?:know|need|have)"
    r"|to\s+\w+|note|for\s+(?:example|each)|also|after|before|when|while|another|one\b|I\b|according)",
    re.IGNORECASE,
)
# Among others such a sentence says what is given; alone it answers.
_IS_GIVEN = re.compile(r"\W*(?:each|every|there\s+(?:are|is|were|was))\b", re.IGNORECASE)
# Of an answer other rules speak; and what is denied or can't be known is none.
_NO_PLAIN_ANSWER = re.compile(
    r"\?$|\banswer|\bnot\b|n't\b|\bcannot\b|\bnever\b|\bunable\b|\bimpossible\b", re.IGNORECASE
)
_GIVES_UP = re.compile(
    r"\bnot\s+enough\s+information\b|\b(?:cannot|can't|not\s+possible\s+to)\s+(?:be\s+)?(?:determin|solv|answer)"
)
_SOLVED = re.compile(r"\b(?:we|you|I)\s+(?:get|find|obtain|have)\b:?\s+(?:that\s+)?(?P<equation>.*)", re.IGNORECASE)
_COMPLETE = re.compile(r"(?:[.!]|[\w.)}%](?:\*\*|\$|\\\))|\\\])[\s\"')*_]*$")
_BREAKS_OFF = re.compile(r"(?:[-+/=×÷]|[^*]\*)\s*$")
# A line that is nothing but a calculation: "9 x 2 = $18", "m + n = 199 + 5 = 204".
_CALCULATION = re.compile(
    r"[\W_]*(?:[A-Za-z](?:\s*[-+]\s*[A-Za-z]){0,3}\s*=)?[\d\s.,%+*/()x^=-]*=\s*-?\d[\d,.]*%?[\W_]*"
)
_QUANTITY = re.compile(r"[ \t$*]*[A-Za-z][A-Za-z' ]{0,40}=[^=\n]*")
_UNIT = r"(?!(?:of|the|we|and|to|is|are|were|was|will|in|for|from|at|on|with|that|he|she|they|it|more)\b)[A-Za-z]\S*"
_NUMBER_AND_UNIT = re.compile(rf"\W*\d[\d,./ *^{{}}+-]*%?(?:\s*{_UNIT})?(?:\s+{_UNIT}){{0,3}}\W*")
# Alone, "one moment" is no number of moments.
_ONE = re.compile(r"\W*one\s", re.IGNORECASE)
_ARROW = re.compile(r"^(?:[-=]>|[⇒→∴])\s*")
_LIST_MARK = re.compile(r"\d+[.)]")
_MARKED = re.compile(r"[*`$\\].*[*`$)\]]\.?", re.DOTALL)
_COURTESY = re.compile(
    r"(?:^\W*(?:note|p\.?\s?s\.?)\b:?"
    r"|\b(?:is\s+there\s+anything|would\s+you\s+like|hope|let me know|feel free|happy to help"
    r"|(?:any|more|other) questions|good luck|need (?:any|more|further))\b).*\W$",
    re.IGNORECASE,
)
# Added when the answer has been said: a check, a reason, another way, what others get wrong, a table's plain row.
_ADDED = re.compile(
    r"\W*(?:(?:double[- ])?check|verif\w+|(?:here\s+is|here's)\s+(?:why|how|(?:the|a)\s+(?:\w+\s+)?breakdown)|why"
    r"|explanation|reasoning"
    r"|(?:a\s+)?common\s+(?:mistake|error)|alternative(?:ly)?|another\s+(?:way|approach))\b(?!.*\banswer\b)"
    r"|\s*\|(?!.*\*\*)(?!.*\btotal\b)",
    re.IGNORECASE,
)
# The example of a prompt's format, repeated, says as little.
_MARKS_ONLY = re.compile(r"[\s$*_`\\\[\]()|=#>-]*|\s*####\s*\W?(?:[A-Za-z]|number|answer)\W?\s*")


def from_last_line(text: str) -> tuple[Fraction | None, str]:
    """The number that a text's last line comes to, and the rule that found it; None and the reason otherwise.

    Where it comes to none, and an explanation was added, the last line before that.
    """
    lines = [line for line in text[-4000:].split("\n") if not _MARKS_ONLY.fullmatch(line)]
    value, how = _from_last_of(lines, text)
    added = next((number for number, line in enumerate(lines) if number and _ADDED.match(line)), None)
    return _from_last_of(lines[:added], text) if value is None and added else (value, how)


def _from_last_of(lines: list[str], text: str) -> tuple[Fraction | None, str]:
    while len(lines) > 1 and (_COURTESY.search(lines[-1]) or _ADDED.match(lines[-1])):
        lines = lines[:-1]
    if not lines:
        return None, "no answer: nothing committed"
    last = lines[-1].strip()
    if len(last) < 200 and (len(lines) == 1 or not _LIST_MARK.fullmatch(last)):
        in_words = len(lines) == 1 and not _ONE.match(last)
        if _set_off(text, last) and _NUMBER_AND_UNIT.fullmatch(plain(in_digits(last) if in_words else last)):
            value = read_number(_ARROW.sub("", last).rstrip(".!"), alone=True)
            if value is not None:
                return value, "last line"
        value = _from_equation(last, _set_off(text, last))
        if value is not None:
            return value, "equation in the last line"
    if len(lines) > 1 and lines[-2].rstrip(" *").endswith(":") and _CONCLUDES.match(lines[-2].lstrip(" *")):
        value = read_number(last, unique=True)
        if value is not None:
            return value, "conclusion"
    if _COMPLETE.search(last[-50:]) and last.count("<<") == last.count(">>"):
        value, how = _from_last_sentence(last[-400:], len(lines) == 1)
        if value is not None:
            return value, how
    return None, "no answer: nothing committed"


def _from_equation(line: str, set_off: bool) -> Fraction | None:
    """What a line comes to that is one equation: a solved unknown, a named quantity, or a mere calculation."""
    if _BREAKS_OFF.search(line):
        return None
    if _EQUATION.fullmatch(line) or (_QUANTITY.fullmatch(line) and set_off):
        value = read_number(re.split("[=:]", line)[-1].rstrip(" .$*)]\\"), alone=True)
        if value is not None:
            return value
    if _CALCULATION.fullmatch(plain(line)) and not _LISTED.match(line):
        return read_number(line.rstrip(" .$*)]\\"))
    return None


def _set_off(text: str, last: str) -> bool:
    """Whether the last line isn't merely the next of several, which may be the start of another step."""
    before = text[: text.rfind(last)].rstrip(" \t")
    above = before.rstrip()
    alone = not above or before.endswith("\n\n") or above.endswith((":", "```", "$$", "\\["))
    return alone or _MARKED.fullmatch(last) is not None


def _from_last_sentence(line: str, only: bool) -> tuple[Fraction | None, str]:
    bold = [match for match in _BOLD.finditer(line) if re.search(r"\d", match[1])]
    listed = _LISTED.match(line) and not _TOTAL_ROW.match(line)
    if len(bold) == 1 and not listed and not re.search(r"\d", _BRACKETS.sub("", line[bold[0].end() :])):
        value = None if bold[0][1].rstrip().endswith(":") else read_number(bold[0][1], alone=True)
        if value is not None:
            return value, "bold in the last line"
    sentences = [sentence.strip(" *_$\"'") for sentence in SENTENCE_END.split(line) if sentence.strip(" .!*_$\"')")]
    while len(sentences) > 1 and not re.search(r"\d", sentences[-1]) and _COURTESY.search(sentences[-1] + "."):
        sentences.pop()
    sentence = sentences[-1] if sentences else ""
    conclusion = last_match(_CONCLUDES, sentence)
    if conclusion:
        return read_number(sentence[conclusion.end() :]), "conclusion"
    if _TOTALS.search(sentence) and not _STEP.match(sentence):
        return read_number(sentence, unique=True), "conclusion"
    if (not only or len(sentences) > 1) and _IS_GIVEN.match(sentence):
        return None, ""
    return _plain_sentence(line, sentence)


def _plain_sentence(line: str, sentence: str) -> tuple[Fraction | None, str]:
    """What a whole sentence states that is no step on the way; or the unknown that it solves ("We get x = 10.")."""
    if _LISTED.match(line) or _LIST_MARK.fullmatch(line) or _ON_THE_WAY.match(sentence) or _GIVES_UP.search(line):
        return None, ""
    solved = _SOLVED.search(sentence)
    if solved and _EQUATION.fullmatch(solved["equation"]):
        return read_number(solved["equation"]), "equation in the last line"
    several = "=" not in sentence and re.match(r"\W*\d", sentence) and len(re.findall(r"\d[\d.,]*", sentence)) > 1
    if several or _NO_PLAIN_ANSWER.search(sentence):
        return None, ""
    return read_number(sentence, unique=True), "last sentence"


def last_match(pattern: re.Pattern[str], text: str) -> "re.Match[str] | None":
    """The last match of a pattern."""
    found = deque(pattern.finditer(text), 1)
    return found[0] if found else None
