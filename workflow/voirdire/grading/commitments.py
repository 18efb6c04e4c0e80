"""Where a response commits itself to an answer, and to which number; `voirdire.grading.maths` states the rule."""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from voirdire.grading.numbers import SENTENCE_END, read_number
from voirdire.grading.opinion import exact_value
from voirdire.grading.words import SPELLED

# The last ones suffice, and keep a text of nothing else from taking long.
_MARKS_READ = 200
_VALUE_CHARS = 300
_BOX_CHARS = 2000

_BOX = re.compile(r"(?:\\|\b)(?:b?oxed|fbox|framebox)\s*(?=[{\d])")
_HASHES = re.compile(r"####(?!#)[ \t]*(?:\n[ \t]*)?([^\n]*)")
_LETTER = re.compile(r"^[ \t>*_]*(?:A[*_]*:|Ans[*_]*[:.=])[*_]*[ \t]*(?:\n[ \t]*)?(?P<value>[^\n]*)", re.MULTILINE)
_TAG = re.compile(r"<(?:final_?)?answer>(?P<value>[^<]{1,300})(?:</|\Z)", re.IGNORECASE)
# A final value, total or number may be a step's; as the label of a line it is the answer's.
_ANSWER = r"\b(?:answer|final\s+(?:result|solution)|(?<![\w'] )final\s+(?:value|total|count|amount|number)(?=[*_]*:))\b"
_GAP = r"(?:[\s*_`>\"$:|]|\\[\[(]|-{3,}|={3,})*"
_WORDS = re.compile(
    _ANSWER + r"(?P<between>[^\n.:=\\$|]{0,80}?)"
    r"(?:(?P<verb>\b(?:is|equals|becomes|(?:comes|works|turns|amounts)(?:\s+out)?\s+to(?:\s+be)?"
    r"|(?:would|should|must|will|has\s+to)\s+be|can\s+be\s+(?:written|expressed)\s+as)\b|\bof(?=\s+[$\\*]*-?\d))|[:=→|]|[-=]>|[-–—](?=\s))"
    rf"(?P<gap>{_GAP})",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"^[ \t#>*_\[]*(?:[a-z]{{1,12}}[ ]){{0,2}}(?:{_ANSWER})[\] \t*_]*(?P<gap>\n{_GAP})", re.IGNORECASE | re.MULTILINE
)
_DIRECT = re.compile(
    r"(?:\b(?:the|an|our|my|final|correct)\s+|^[ \t*#_>]*)answer[*_]*,?[ \t]+(?=[$\\(*]*-?\d)(?P<value>[^\n]{1,60})",
    re.IGNORECASE | re.MULTILINE,
)
_INVERSE = re.compile(
    r"\b(?:is|as|will\s+be|must\s+be)\s+(?:the|our|my)\s+(?:(?:final|correct|right)\s+)*answer\b", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"\b(?:wait|actually|no|sorry|oops|hold\s+on)\b[^\n.!?\d]{0,60}?\b(?:should|must)\s+be\s+(?P<value>[^\n]{1,100})"
    r"|(?:^|[.!?\n*]|\boops,|\bsorry,)\s*correction:\s*(?P<corrected>[^\n]{1,100})",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?P<comma>respuesta|réponse|antwort|risposta|resposta|antwoord|ответ|odpowiedź|cevap|svaret|jawaban|đáp án)"
    r"(?P<between>[^\d\n.!?]{1,40}?)(?P<value>-?\d[^\n]{0,100})"
    r"|(?:答案|答え|答|답|정답|उत्तर|الإجابة|الجواب)(?P<between_>[^\d\n.!?。]{0,20}?)(?P<value_>-?\d[^\n]{0,100})",
    re.IGNORECASE,
)
_FOREIGN_NOT = re.compile(r"\b(?:no|nicht|pas|não|non|niet|не|nie|değil|bukan)\b|不|아니|ليس|नहीं", re.IGNORECASE)
_LEADS = re.compile(
    rf"(?:[\W_]|\\[a-z]+\b|\b(?:USD|EUR|GBP|Rs|about|approximately|exactly|a total of|negative|minus)\b)*"
    rf"(?:\d|(?:{SPELLED}|(?:a )?(?:hundred|thousand|million))\b|[A-Za-z]\w{{0,15}}\s*=)",
    re.IGNORECASE,
)
# In a formula the mark is no exclamation.
_FACTORIAL = re.compile(r"[\d\s]*\d!\s*(?:\$|\\[)\]])")
_BULLET = re.compile(r"[-•–]\s+")
_BOLD = re.compile(r"\*\*([^*\n]*\d[^*\n]*)\*\*")
# What follows is about the answer, not on the way to it.
_REASON = re.compile(
    r"\s*\(|\W*(?:th(?:is|at)\s+is|because|since|check|verif|note|explanation|reason|justification|here|where|which)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
# An answer that begins with a calculation, not with its result.
_SUM = re.compile(r"[\s$*\\(]*\d[\d.,]*(?:\s*[a-z]+)?\s*[-+*/×÷x][^=\n.]{1,60}=", re.IGNORECASE)
_NO_STATEMENT = re.compile(
    r"\W*(?:correct|right|reasonable|verified|consistent|valid|wrong|incorrect|confirmed|plausible|close|too|less|more|"
    r"greater|an?\s+integer|how|what|when|which|why|where)\b",
    re.IGNORECASE,
)
_NOT_MEANT = re.compile(
    r"\b(?:if|whether|suppos\w+|assum\w+|unless)\b[^.!?\n,]{0,25}$"
    r"|\b(?:to|is\s+the|previous|earlier|initial|first|wrong|incorrect|student's|long|short|each|every|per)\s+$",
    re.IGNORECASE,
)
_NO_LINK = re.compile(
    r"\b(?:not|if|whether|questions|choices?|options?|format|key|never|sheet|as\s+an?)\b|n't", re.IGNORECASE
)
_NONE = re.compile(
    r"\W*(?:\w+\s+){0,2}?(?:unknown|none|undefined|impossible|indeterminate|infinit\w+|not\s+(?:determin|enough|possible|known)\w*"
    r"|cannot|can't|no\s+(?:\w+\s+)?(?:solutions?|answer)|does(?:n't|\s+not)\s+exist|unclear)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(r"\W*[\d.,/]+%?\s+(?:[a-z]+\s+)?(?:(?:more|less|fewer|greater)\s+than|times|of|out\s+of)\b")
# What stands in the place of an answer where a prompt's format is repeated.
_PLACEHOLDER = re.compile(r"\W*(?:[NXn?_.…]|[ld]?dots|(?:your |final )*(?:answer|number|result))\W*", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\W*(?:step|part|case|question|problem|option|example|method|section|phase|day|approach|exercise)\W*\d",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\W*\d{1,2}[.)]\s+[A-Za-z]")


@dataclass(frozen=True)
class Commitment:
    """The number committed to (None: to none that can be read), the rule that found it, and where in the text."""

    value: Fraction | None
    how: str
    start: int = 0
    end: int = 0


def last_commitment(text: str) -> Commitment | None:
    """The last place of a text that commits to an answer."""
    found: list[tuple[int, re.Match[str], _Reader]] = []
    small = text.lower()
    for pattern, read, words in _READERS:
        if not any(word in small for word in words):
            continue
        found += [(match.start(), match, read) for match in deque(pattern.finditer(text), _MARKS_READ)]
    found.sort(key=lambda mark: mark[0], reverse=True)
    marked = any(read in (_box, _hashes) for _, _, read in found)
    for start, match, read in found[:_MARKS_READ]:
        commitment = read(match, text)
        # Words about an answer that can't be read say less than a box or a line of hash signs.
        if commitment and not (commitment.value is None and marked and read in (_sentence, _letter)):
            return Commitment(commitment.value, commitment.how, start, max(match.end(), commitment.end))
    return None


_Reader = Callable[["re.Match[str]", str], Commitment | None]


def _box(match: "re.Match[str]", text: str) -> Commitment | None:
    if text[match.end()] != "{":
        digits = re.compile(r"[\d.,]*\d").match(text, match.end())
        return _with_opinion(read_number(digits[0], alone=True), digits[0], "boxed", digits.end()) if digits else None
    if re.search(r"\bnot\W{0,4}$", text[max(0, match.start() - 10) : match.start()]):
        return None
    content = _braced(text, match.end())
    if content is None or not content.strip() or _PLACEHOLDER.fullmatch(content):
        return None
    value = read_number(content, alone=True)
    if value is not None and re.search(r"[$=(\[]\s*[-−]$", text[max(0, match.start() - 5) : match.start()]):
        value = -value
    end = match.end() + len(content) + 2
    return _with_opinion(value, content, "boxed", end)


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


def _with_opinion(value: Fraction | None, content: str, how: str, end: int = 0) -> Commitment:
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
    leads = _LEADS.match(content) is not None
    value = read_number(content)
    if value is None:
        return _with_opinion(None, content, "####") if last or (leads and len(content.split()) <= 4) else None
    return Commitment(value, "####") if leads or last or re.match(r"[^\d:=]{1,40}[:=]", content) else None


def _letter(match: "re.Match[str]", text: str) -> Commitment | None:
    # Where B follows, A is the first of several things.
    if re.compile(r"\s*[*_]*B[*_]*:").match(text, match.end()):
        return None
    return _stated(match["value"], match.start("value"), text, "A:", weak=True)


def _tag(match: "re.Match[str]", text: str) -> Commitment | None:
    if "boxed" in match["value"]:
        return None
    value = read_number(match["value"], alone=True)
    if value is None:
        value = read_number(match["value"].strip())
    return _with_opinion(value, match["value"], "answer tag")


def _sentence(match: "re.Match[str]", text: str) -> Commitment | None:
    """ "The answer is …", "Answer: …", or a heading "Answer" with the answer below."""
    groups = match.groupdict()
    before = text[max(0, match.start() - 40) : match.start()]
    between = groups.get("between") or ""
    if _NO_LINK.search(between) or _NOT_MEANT.search(before) or (not groups.get("verb") and _DIGIT.search(between)):
        return None
    below = "\n" in match["gap"]
    start = match.end()
    bullet = _BULLET.match(text, start) if below else None
    start = bullet.end() if bullet else start
    value = text[start : start + _VALUE_CHARS].split("\n", 1)[0]
    if below and "|" in match["gap"] and "|" not in value.rstrip(" |"):
        value = value.rstrip(" |")
    elif "|" in match[0] and "|" in value.rstrip(" |"):
        return None
    weak = below or not groups.get("verb")
    return _stated(value, start, text, "answer is", weak=weak, below=below)


def _stated(value: str, start: int, text: str, how: str, weak: bool = False, below: bool = False) -> Commitment | None:
    """The number that a statement gives.

    A `weak` one, behind "Answer:", may be the start of a solution instead: unless the number leads it, no other may
    follow.
    """
    if not value.strip(" *_") or "boxed" in value or _NO_STATEMENT.match(value):
        return None
    leads = _LEADS.match(value) is not None
    stop = SENTENCE_END.search(value)
    end = start + (stop.end() if stop else len(value))
    opens = weak and (not leads or (below and "=" in value) or _SUM.match(value))
    if opens and _DIGIT.search(text, end) and not _REASON.match(text, end):
        return _solution(value, start, text, how)
    if not leads and stop and stop[0] == "?":
        return None
    if not leads and _NONE.match(value):
        return Commitment(None, f"{how}: no number", end=end)
    if _FACTORIAL.match(value):
        return _with_opinion(None, _expression(value), how, end)
    bold = [] if leads else _BOLD.findall(value)
    number = read_number(bold[0] if len(bold) == 1 else value)
    if number is not None:
        return Commitment(number, how, end=end)
    if not leads or _COMPARES.match(value):
        return None
    return _with_opinion(None, _expression(value), how, end)


def _solution(value: str, start: int, text: str, how: str) -> Commitment | None:
    """What a whole solution on one line, the text's last, comes to in its last sentence."""
    value = text[start:].split("\n", 1)[0].rstrip(" *_")
    end = start + len(value)
    if not value.endswith((".", "!")) or _DIGIT.search(text, end) or len(value) > _BOX_CHARS:
        return None
    sentence = SENTENCE_END.split(value.rstrip(".!"))[-1]
    number = read_number(sentence, unique=True)
    return None if number is None else Commitment(number, how, end=end)


def _expression(value: str) -> str:
    """The formula that a statement begins with: between LaTeX's marks, or up to the sentence's end."""
    formula = re.match(r"[\s*]*(?:\$+|\\[(\[])(.+?)(?:\$|\\[)\]])", value)
    if formula:
        return formula[1]
    return re.sub(r"(?:\$|\\[)\]]).*", "", SENTENCE_END.split(value.lstrip(" *$"), maxsplit=1)[0]).strip(" *")


def _direct(match: "re.Match[str]", text: str) -> Commitment | None:
    """ "… giving the answer 18." """
    value = re.split(r"[.,;!](?=\s|$)|\s(?=which|because|since)", match["value"], maxsplit=1)[0]
    number = None if "boxed" in value or value.endswith("?") else read_number(value, alone=True)
    return None if number is None else Commitment(number, "answer is")


def _inverse(match: "re.Match[str]", text: str) -> Commitment | None:
    """ "So 18 is the answer." """
    before = re.split(r"[.!?]\s|\n", text[max(0, match.start() - 80) : match.start()])[-1]
    number = None if "boxed" in before else read_number(before, unique=True)
    return None if number is None else Commitment(number, "answer is")


def _correction(match: "re.Match[str]", text: str) -> Commitment | None:
    value = match["value"] or match["corrected"]
    number = read_number(value) if _LEADS.match(value) and "boxed" not in value else None
    return None if number is None else Commitment(number, "correction")


def _foreign(match: "re.Match[str]", text: str) -> Commitment | None:
    between = match["between"] or match["between_"] or ""
    value = match["value"] or match["value_"]
    if "boxed" in between or _FOREIGN_NOT.search(between):
        return None
    number = read_number(value, comma=bool(match["comma"]))
    return None if number is None else Commitment(number, "answer is, in another language")


_ABROAD = (
    "respuesta|réponse|antwort|risposta|resposta|ответ|odpowiedź|cevap|svaret|jawaban|đáp án|答|답|उत्तर|الإجابة|الجواب"
)
# Each with the words without one of which, in small letters, there is nothing to look for.
_READERS: tuple[tuple[re.Pattern[str], _Reader, tuple[str, ...]], ...] = (
    (_BOX, _box, ("oxed", "fbox", "framebox")),
    (_HASHES, _hashes, ("####",)),
    (_LETTER, _letter, ("a:", "a*", "a_", "ans")),
    (_TAG, _tag, ("answer>",)),
    (_WORDS, _sentence, ("answer", "final")),
    (_HEADING, _sentence, ("answer", "final")),
    (_DIRECT, _direct, ("answer",)),
    (_INVERSE, _inverse, ("answer",)),
    (_CORRECTION, _correction, ("should be", "must be", "correction")),
    (_FOREIGN, _foreign, tuple(_ABROAD.split("|"))),
)
