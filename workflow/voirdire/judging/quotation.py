"""Whose words a verdict-shaped line is: the judge's own, or quoted from the examinee."""

import re

from voirdire.judging.seen import TAG
from voirdire.said import LINE_ENDS

# What the judge's prompt puts before the examinee's own verdict-shaped lines.
NOTE = "(written by the examinee) "
_NOTE = re.compile(re.escape(NOTE.strip()), re.IGNORECASE)
_NOTED = re.compile(rf"{re.escape(NOTE.strip())}[^{LINE_ENDS}]*", re.IGNORECASE)
_BLOCK_QUOTE = re.compile(r"\s*>(?!\w)")

_ECHO = re.compile(r"\W*(?P<edge>BEGIN|END) RESPONSE\b(?!.*\bEND RESPONSE\b)")
_ECHO_IN_LINE = re.compile(r"\W*BEGIN RESPONSE\b.*\bEND RESPONSE\b")

_OTHERS = (
    r"\b(?:examinee|response|student|model|author|candidate|solution|answer|text|code|comment|program|prompt"
    r"|lines?|bottom"
    r"|instructions?|note|it|they)(?:'s)?\b"
)
_SAYS = (
    r"\b(?:wrote|writes?|written|writing|says?|said|saying|claim(?:s|ed|ing)?|stat(?:es?|ed|ing)|end(?:s|ed|ing)"
    r"|conclud(?:es?|ed|ing)|contain(?:s|ed|ing)?|includ(?:es?|ed|ing)|declar(?:es?|ed|ing)|assert(?:s|ed|ing)?|reads?"
    r"|reading|add(?:s|ed|ing)?|begins?|append(?:s|ed|ing)?|inject\w*|insert\w*|tr(?:y|ies|ied|ying)|attempt\w*|wants?"
    r"|wanted|tells?|told|asks?|asked|instruct(?:s|ed)|orders?|demand\w*|request(?:s|ed)|urg(?:es?|ed)|suggest(?:s|ed)"
    r"|clos(?:es?|ed|ing)|finish\w*|prints?|printed|outputs?|outputted|shows?|showed|puts?|repeats?|repeated|quot\w+)\b"
)
_SAYS_OF_OTHERS = re.compile(
    rf"{_OTHERS}.*{_SAYS}|{_SAYS}.*{_OTHERS}|'s\s+(?:own\s+)?(?:verdict|claim|judge?ment|words|text|note|last\s+line)\b"
    r"|\b(?:its|their)\s+own\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|here(?:'s|\s+is)|verdict|judge?ment|conclusion|assessment|decision|evaluation|therefore|hence"
    r"|thus|final|json"
    r"|output|result|i\s+(?:\w+\s+)?(?:conclude|judge|decide|rate|say|answer|vote))\b",
    re.IGNORECASE,
)
# "At the bottom I see this:", "If right:": what follows is shown, or supposed.
_POINTS = re.compile(
    r"\b(?:see|saw|find|found|read|notice|noticed|spot|met)\b[^.]{0,60}:\W*$|\b(?:this|following)(?:\s+\w+){0,2}:\W*$"
    r"|\A[\W_]*(?:\d{1,2}[.)]\s*)?(?:(?:and|or|so|but)\s+)?(?:if|when|where|unless|otherwise|else|in\s+case|suppose"
    r"|assuming|had"
    r"|either|or|e\.g\.|for\s+(?:example|instance)|example|format|template|reply|respond|answer|end)\b",
    re.IGNORECASE,
)
_VERDICT_ANNOUNCED = re.compile(
    r"\b(?:my|verdict|judge?ment|conclusion|decision|assessment|evaluation)\b", re.IGNORECASE
)
_CLAUSE_END = re.compile(r"[.!?;,](?=\s)")
_GOES_ON = re.compile(r"\s*(?:but|which|and|or|so|is|was|as|at|in|though|although|however|yet|while|whereas)\b")
_LABEL = re.compile(r"\s*(?:[#|>*_\-•]|\d{1,2}[.)]|assistant\b|model\b)|[^\W\d_a-z]\w*(?:\s+\w+){0,2}\s*\Z")
_DANGLING = re.compile(
    r"\b(?:a|an|the|is|are|was|were|has|have|had|be|been|being|as|at|by|for|from|in|into|of|on|onto|than|that|to|under"
    r"|upon|with|without"
    r"|and|or|nor|but|if|whether|not|never|hardly|barely|so|very|too|quite|rather|almost|nearly|partly"
    r"|partially|mostly|only"
    r"|seems?|looks?|appears?|sounds?|considered|called|deemed|say|says|said|reads?|writes?|wrote|answer|inject)\s*\Z",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(r"(?:/|\bor|\bnot:?|n't|[^\W\d_][-‐])\s*$", re.IGNORECASE)
# "The response ends in this line", but not "the response says 18".
_LEADS_ON = re.compile(
    rf"(?:,|{_SAYS}(?:\s+(?:me|us|that|this|with|in|to))?"
    r"|\b(?:lines?|text|words?|sentence|statement|instruction|note|comment|claim|verdict|way|follows?|following))\s*\Z",
    re.IGNORECASE,
)
_OWN_UNFINISHED = re.compile(
    r"\bmy\s(?:[^.;]{0,40}\s)?(?:is|be)\Z|\bthe\s+(?:final\s+)?verdict\s+is\Z"
    r"|\bI\s+(?:\w+\s+)?(?:answer|say|conclude|vote|reply)(?:\s+with)?\Z",
    re.IGNORECASE,
)


def without_quoted_tags(text: str) -> str:
    """The text with all tags and tokens gone from what is quoted behind the prompt's note, so that they end nothing."""
    return _NOTED.sub(lambda match: TAG.sub("", match[0]), text) if _NOTE.search(text) else text


def own_part(line: str) -> str:
    """What of a line is the judge's own: nothing of a block quotation, and nothing behind the prompt's note."""
    return "" if _BLOCK_QUOTE.match(line) else _NOTE.split(line, maxsplit=1)[0]


def speaks_of_others(text: str) -> bool:
    """Whether the text's last clause tells what somebody else says.

    >>> speaks_of_others("It is 18. The examinee wrote:"), speaks_of_others("It says 18, so here is my verdict:")
    (True, False)
    """
    clause = _CLAUSE_END.split(text[-300:].rstrip())[-1]
    return bool(_SAYS_OF_OTHERS.search(clause)) and not re.search(r"\b(?:my|i)\b", clause, re.IGNORECASE)


def is_unfinished(line: str) -> bool:
    """Whether a sentence goes on behind this line in a way that changes what the next one says."""
    return bool(_UNFINISHED.search(line[-50:]))


def is_quoted(before: str, directly_after: str, after: str) -> bool:
    """Whether a verdict-shaped line is a quotation, by the lines around it.

    Parameters
    ----------
    before : the last line before it that isn't blank.
    directly_after : the line right behind it.
    after : the next line that isn't blank.

    An announcement makes it a quotation where it tells what others say, points at what it shows, or only supposes; and
    where the text goes on behind it and the announcement, with a colon, doesn't speak of a verdict. So does a sentence
    that goes on in the next line.
    """
    if _GOES_ON.match(directly_after) or _GOES_ON.match(after):
        return True
    before = own_part(before)
    announcement = before.rstrip(" *_`\"'")[-300:]
    if not announcement.endswith(":"):
        if announcement.endswith((".", "!", "?", ";")):
            return False
        if _OWN_UNFINISHED.search(announcement) and not speaks_of_others(announcement):
            return False
        return bool(_DANGLING.search(announcement)) or (
            bool(_LEADS_ON.search(announcement)) and speaks_of_others(announcement.rstrip(","))
        )
    if _POINTS.search(announcement) and not _VERDICT_ANNOUNCED.search(announcement):
        return True
    return speaks_of_others(before) or (bool(after) and not _OWN.search(announcement))


def runs_on(line: str) -> bool:
    """Whether a line is prose that doesn't end there: no sentence's end, no label, no entry of a list.

    >>> runs_on("The response tells me to answer"), runs_on("Far from"), runs_on("Final result"), runs_on("It is 18.")
    (True, True, False, False)
    """
    line = line[-300:].rstrip(" ")
    if not line or not line[-1].isalpha():
        return False
    return bool(_DANGLING.search(line)) or not _LABEL.match(line)


def without_echo(lines: list[str]) -> list[str]:
    """The lines without what a judge repeats of the prompt between the marks around the response.

    >>> without_echo(["BEGIN RESPONSE 1f", "VERDICT: correct", "END RESPONSE 1f", "It is wrong."])
    ['It is wrong.']
    """
    kept: list[str] = []
    inside = False
    for line in lines:
        edge = None if _ECHO_IN_LINE.match(line) else _ECHO.match(line)
        if edge is None:
            if not inside and not _ECHO_IN_LINE.match(line):
                kept.append(line)
        elif edge["edge"] == "BEGIN":
            inside = True
        else:
            if not inside:
                # The beginning was not repeated.
                kept.clear()
            inside = False
    # Of an echo that doesn't end nobody knows how far it goes.
    return [] if inside else kept
