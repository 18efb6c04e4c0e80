"""GSM8K and AIME: the last answer that a response commits itself to, compared as an exact number.

An answer is committed by, in any order, the last one counting: `\\boxed{…}`, a line `#### …`, a line `A: …`, the words
"answer is …" or "answer: …". Numbers that merely follow are nothing. Where nothing of the kind is there, the last line
counts if it is a number or an equation (`x = 10`), or concludes in a whole sentence ("So she makes $18 a day.").
The last number of a text that breaks off is never an answer. Percent and currency signs and units are not compared.
"""

import re
from fractions import Fraction

from voirdire.grading.numbers import plain, read_number, shown
from voirdire.grading.text import visible

_BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=[{\d])")
_BOXES_READ = 20
_HASHES = re.compile(r"####(?!#)[ \t]*([^\n]*)")
_LETTER = re.compile(r"^[ \t>*_]*(?:A|Ans)[*_]*:[*_]*[ \t]*([^\n]*)", re.MULTILINE)
_WORDS = re.compile(
    r"\b(?:answer|result|solution)\b(?P<between>[^\n.:=\d\\$]{0,80}?)(?:\bis\b|\bequals\b|:|=)[*_]*:?[ \t*]*(?:\n\s*)?"
    r"(?=(?P<value>[^\n]{0,300}))",
    re.IGNORECASE,
)
_EQUATION = re.compile(r"[ \t$*\\(\[]*[A-Za-z]\w{0,15}\s*=[^=\n]*")
_CONCLUDES = re.compile(
    r"(?:^|[.!?]\s+)(?:so|thus|hence|therefore|in total|altogether|finally|in conclusion)\b[^\n]*[.!]\W*$",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\d+[.)]$")


def find_number(response: str) -> tuple[Fraction | None, str]:
    """The committed answer and the rule that found it; None and the reason where there is none.

    >>> find_number("2 + 3 = 5, so the answer is 5. Check: 5 - 3 = 2.")
    (Fraction(5, 1), 'answer is')
    """
    text = visible(response)
    found = sorted([*_boxes(text), *_lines(text), *_sentences(text)], key=lambda commitment: commitment[0])
    if found:
        _, value, how = found[-1]
        return value, how if value is not None else f"{how}: no number"
    return _from_last_line(text)


def grade_number(answer: str, response: str) -> tuple[bool, str | None, str]:
    """Whether the response's committed answer equals the right one; the answer in its shortest form; how.

    Raises ValueError where the right answer is no number.
    """
    right = read_number(answer, alone=True)
    if right is None:
        raise ValueError("the item's answer is not a number")
    value, how = find_number(response)
    return value == right, None if value is None else shown(value), how


def _boxes(text: str) -> list[tuple[int, Fraction | None, str]]:
    found = []
    # The last ones suffice, and keep a text of nothing but boxes from taking long.
    for match in list(_BOX.finditer(text))[-_BOXES_READ:]:
        content = _braced(text, match.end()) if text[match.end()] == "{" else text[match.end()]
        if content is not None:
            found.append((match.start(), read_number(content, alone=True), "boxed"))
    return found


def _braced(text: str, start: int) -> str | None:
    """What stands in the braces that open at `start`; None if they never close: the text broke off."""
    depth = 0
    for position in range(start, min(len(text), start + 2000)):
        if text[position] == "{" and text[position - 1] != "\\":
            depth += 1
        elif text[position] == "}" and text[position - 1] != "\\":
            depth -= 1
            if depth == 0:
                return text[start + 1 : position]
    return None


def _lines(text: str) -> list[tuple[int, Fraction | None, str]]:
    found: list[tuple[int, Fraction | None, str]] = []
    for pattern, how in ((_HASHES, "####"), (_LETTER, "A:")):
        for match in pattern.finditer(text):
            content = match[1] if "boxed" not in match[1] else ""
            if content.strip(" *_"):
                found.append((match.start(), read_number(content), how))
    # A heading such as "#### Step 2: add" is no answer, a number that it starts with would be.
    return [commitment for commitment in found if commitment[1] is not None]


def _sentences(text: str) -> list[tuple[int, Fraction | None, str]]:
    found: list[tuple[int, Fraction | None, str]] = []
    for match in _WORDS.finditer(text):
        if "boxed" in match["value"] or re.search(r"\b(?:not|if|whether)\b", match["between"], re.IGNORECASE):
            continue
        value = read_number(match["value"])
        if value is not None:
            found.append((match.start(), value, "answer is"))
    return found


def _from_last_line(text: str) -> tuple[Fraction | None, str]:
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return None, "no answer: empty"
    last = lines[-1].strip()
    if len(last) < 200:
        if not _LIST_MARK.match(last) or len(lines) == 1:
            value = read_number(last.rstrip(".!"), alone=True) if re.match(r"\W*\d", plain(last)) else None
            if value is not None and len(plain(last).split()) <= 4:
                return value, "last line"
        if _EQUATION.fullmatch(last):
            value = read_number(last.split("=")[1].rstrip(" .$*)]\\"), alone=True)
            if value is not None:
                return value, "equation in the last line"
    conclusion = _CONCLUDES.search(last[-400:])
    if conclusion:
        words = plain(conclusion[0].strip(" .!?"))
        numbers = re.findall(r"\d[\d,.]*", words)
        if "=" in words or len(numbers) == 1:
            value = read_number(words)
            if value is not None:
                return value, "conclusion"
    return None, "no answer: nothing committed"
