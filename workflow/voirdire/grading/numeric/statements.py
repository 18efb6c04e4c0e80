"""The words by which a response states an answer; `voirdire.grading.numeric.answer` states the rule."""

import re

from voirdire.grading.numeric.commitments import LEADS, Commitment, Mark, with_opinion
from voirdire.grading.numeric.numbers import SENTENCE_END, read_number

_VALUE_CHARS = 300
_SOLUTION_CHARS = 2000
# About as long as a part's own answer.
_PART_CHARS = 15
_LETTER = re.compile(r"^[ \t>*_]*(?:A[*_]*:|Ans[*_]*[:.=])[*_]*[ \t]*(?:\n[ \t]*)?(?P<value>[^\n]*)", re.MULTILINE)
# A final value, total or number may be a step's; as the label of a line it is the answer's.
_ANSWER = r"\b(?:answer|final\s+(?:result|solution)|(?<![\w'] )final\s+(?:value|total|count|amount|number)(?=[*_]*:))\b"
_GAP = r"(?:[\s*_`>\"$:|]|\\[\[(]|-{3,}|={3,})*"
_WORDS = re.compile(
    _ANSWER + r"(?P<between>[^\n.:=\\$|]{0,80}?)"
    r"(?:(?P<verb>\b(?:is|equals|becomes|(?:comes|works|turns|amounts)(?:\s+out)?\s+to(?:\s+be)?"
    r"|(?:would|should|must|will|has\s+to)\s+be|can\s+be\s+(?:written|expressed)\s+as)\b|\bof(?=\s+[$\\*]*-?\d))"
    r"|[:=→|]|[-=]>|[-–—](?=\s))"
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
    r"greater|an?\s+integer|how|what|when|which|why|where|steps?|parts?)\b",
    re.IGNORECASE,
)
# "… to part 1": the answer to something on the way, where more follows.
_OF_A_PART = re.compile(
    r"\b(?:to|of|for|from|in)\s+(?:the\s+)?(?:first\s+|previous\s+)?(?:step|part|question)\b", re.IGNORECASE
)
_CONDITION = re.compile(r"[\s$*]*\d+(?:[.,]\d+)*%?\s+(?:\w+\s+)?if\b", re.IGNORECASE)
_NOT_MEANT = re.compile(
    r"\b(?:if|whether|suppos\w+|assum\w+|unless)\b[^.!?\n,]{0,25}$"
    r"|\b(?:to|is\s+the|previous|earlier|initial|first|wrong|incorrect|student's|long|short|each|every|per)\s+$",
    re.IGNORECASE,
)
_NO_LINK = re.compile(
    r"\b(?:not|if|whether|questions|choices?|options?|format|key|never|sheet|as\s+an?)\b|n't", re.IGNORECASE
)
_NONE = re.compile(
    r"\W*(?:\w+\s+){0,2}?(?:unknown|none|undefined|impossible|indeterminate|infinit\w+"
    r"|not\s+(?:determin|enough|possible|known)\w*|cannot|can't|no\s+(?:\w+\s+)?(?:solutions?|answer)"
    r"|does(?:n't|\s+not)\s+exist|unclear)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(r"\W*[\d.,/]+%?\s+(?:[a-z]+\s+)?(?:(?:more|less|fewer|greater)\s+than|times|of|out\s+of)\b")


def _letter(match: "re.Match[str]", text: str) -> Commitment | None:
    # Where B follows, A is the first of several things.
    if re.compile(r"\s*[*_]*B[*_]*:").match(text, match.end()):
        return None
    return _stated(match["value"], match.start("value"), text, "A:", weak=True)


def _sentence(match: "re.Match[str]", text: str) -> Commitment | None:
    """ "The answer is …", "Answer: …", or a heading "Answer" with the answer below."""
    groups = match.groupdict()
    before = text[max(0, match.start() - 40) : match.start()]
    between = groups.get("between") or ""
    if _NO_LINK.search(between) or _NOT_MEANT.search(before) or (not groups.get("verb") and _DIGIT.search(between)):
        return None
    if _OF_A_PART.search(between) and re.search(r"\w", text[match.end() + _PART_CHARS :]):
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
    if not value.strip(" *_") or "boxed" in value or _NO_STATEMENT.match(value) or _CONDITION.match(value):
        return None
    leads = LEADS.match(value) is not None
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
        return with_opinion(None, _expression(value), how, end)
    bold = [] if leads else _BOLD.findall(value)
    number = read_number(bold[0] if len(bold) == 1 else value)
    if number is not None:
        return Commitment(number, how, end=end)
    if not leads or _COMPARES.match(value):
        return None
    return with_opinion(None, _expression(value), how, end)


def _solution(value: str, start: int, text: str, how: str) -> Commitment | None:
    """What a whole solution on one line, the text's last, comes to in its last sentence."""
    value = text[start:].split("\n", 1)[0].rstrip(" *_")
    end = start + len(value)
    if not value.endswith((".", "!")) or _DIGIT.search(text, end) or len(value) > _SOLUTION_CHARS:
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
    number = read_number(value) if LEADS.match(value) and "boxed" not in value else None
    return None if number is None else Commitment(number, "correction")


def _foreign(match: "re.Match[str]", text: str) -> Commitment | None:
    between = match["between"] or match["between_"] or ""
    value = match["value"] or match["value_"]
    if "boxed" in between or _FOREIGN_NOT.search(between):
        return None
    number = read_number(value, comma=bool(match["comma"]))
    return None if number is None else Commitment(number, "answer is, in another language")


_ABROAD = (
    "respuesta|réponse|antwort|antwoord|risposta|resposta|ответ|odpowiedź|cevap|svaret|jawaban|đáp án|"
    "答|답|उत्तर|الإجابة|الجواب"
)
STATEMENTS: tuple[Mark, ...] = (
    (_LETTER, _letter, ("a:", "a*", "a_", "ans")),
    (_WORDS, _sentence, ("answer", "final")),
    (_HEADING, _sentence, ("answer", "final")),
    (_DIRECT, _direct, ("answer",)),
    (_INVERSE, _inverse, ("answer",)),
    (_CORRECTION, _correction, ("should be", "must be", "correction")),
    (_FOREIGN, _foreign, tuple(_ABROAD.split("|"))),
)
