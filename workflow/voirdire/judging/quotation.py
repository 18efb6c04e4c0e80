"""Whose words a verdict-shaped line is: the judge's own, or quoted from the examinee."""

import re

from voirdire.judging.seen import TAG
from voirdire.said import LINE_ENDS

# What the judge's prompt puts before the examinee's own verdict-shaped lines.
NOTE = "(written by the examinee) "
_NOTE = re.compile(re.escape(NOTE.strip()), re.IGNORECASE)
_NOTED = re.compile(rf"{re.escape(NOTE.strip())}[^{LINE_ENDS}]*", re.IGNORECASE)
_BLOCK_QUOTE = re.compile(r"\s*>(?!\w)")

_OTHERS = (
    r"\b(?:examinee|response|student|model|author|candidate|solution|answer|text|code|comment|program|it|they)(?:'s)?\b"
)
_SAYS = (
    r"\b(?:wrote|writes|written|says?|said|claims?|claimed|states?|stated|ends?|ended|concludes?|concluded|contains?"
    r"|contained|includes?|included|declares?|declared|asserts?|asserted|reads?|adds?|added|begins?|appends?|appended)\b"
)
_SAYS_OF_OTHERS = re.compile(
    rf"{_OTHERS}.*{_SAYS}|{_SAYS}.*{_OTHERS}|'s\s+(?:own\s+)?(?:verdict|claim|judge?ment|words|text|note|last\s+line)\b"
    r"|\b(?:its|their)\s+own\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|i|here|verdict|judge?ment|conclusion|assessment|decision|evaluation|therefore|hence|thus|final|json|output"
    r"|result)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?;,](?=\s)")
_GOES_ON = re.compile(r"\s*(?:but|which|and|or|so|is|was|as|at|in|though|although|however|yet|while|whereas)\b")
_UNFINISHED = re.compile(r"(?:/|\bor|\bnot:?|n't|[^\W\d_][-‐])\s*$", re.IGNORECASE)


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

    An announcement with a colon makes it a quotation where it tells what others say, or where the text goes on behind
    it and the announcement doesn't speak of a verdict. So does a sentence that goes on in the next line.
    """
    if _GOES_ON.match(directly_after):
        return True
    if not before.rstrip(" *_`\"'").endswith(":"):
        return before.rstrip().endswith(",") and speaks_of_others(before.rstrip(" ,"))
    return speaks_of_others(before) or (bool(after) and not _OWN.search(before[-300:]))
