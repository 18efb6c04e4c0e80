"""What did the judge say. Never a default: a text without a final verdict is unparsed.

The contract with the judge: free thought, then a last line `VERDICT: correct` or `VERDICT: incorrect`.

**Marked verdicts.** "Verdict" at the start of a line or sentence, as a heading of the next line, as a key of JSON, as a
tag, or in front of the word in a box; a box with the word alone counts too. The last one wins. One that is off the menu
(see `voirdire.judging.menu`) makes the text unparsed, whatever stood before it; so does what casts doubt on the last
one behind it (see `voirdire.judging.behind`), such as the opposite word.

**Bare words.** "Correct" or "incorrect" as the whole text, or alone in its last paragraph. A first word with an
explanation behind it ("Correct. The sum …") is no verdict: such texts go on to "wait, no" too often. Nor are two
words ("not correct"), nor prose ("The answer is not correct.").

**Not the judge's words.** Thoughts, and texts whose thoughts never end; quotations: with ">" or the prompt's note in
front, announced as the examinee's ("The response ends with:"), in a fenced block of more than the verdict with text
behind it, or between the prompt's marks around the response. A quotation at the very end leaves the text unparsed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from voirdire.judging.behind import casts_doubt
from voirdire.judging.menu import WRAPPING, bare, on_menu
from voirdire.judging.quotation import (
    is_quoted,
    is_unfinished,
    own_part,
    runs_on,
    speaks_of_others,
    without_echo,
    without_quoted_tags,
)
from voirdire.judging.seen import plain, visible
from voirdire.said import LINE_END, without_thoughts

# A verdict stands at a text's end; of a longer text only the end is read.
_LONGEST = 200_000
_JSON_TRIED = 20

_LEAD = (
    r"(?:(?:so|thus|hence|therefore|overall|in\s+conclusion|conclusion|my|the|final|overall|here\s+is|here's|this\s+is)"
    r"[\s,:*_]++)*"
)
_ASIDE = r"(?:\([^()\n]{0,40}\)|(?:on|for)\s(?:the|this)\s[\w' ]{1,30}?(?=\W*[:=]))?"
_MARKED = re.compile(
    rf"(?!\W*</)(?P<wrapping>{WRAPPING}(?:\d{{1,2}}[.):]{WRAPPING})?)(?:```\w*\s*)?{_LEAD}verdict"
    rf"(?P<between>[\"'*_`\s\])}}]*+){_ASIDE}"
    r"[\"'*_`\s]*+(?:is\s*:|[:=>\-–—→⇒|∶]+)(?P<said>.*)",
    re.IGNORECASE,
)
_WITHOUT_COLON = re.compile(rf"{WRAPPING}{_LEAD}verdict[\s\"'*_`\])}}]++(?P<said>.*)", re.IGNORECASE)
_HEADING = re.compile(
    rf"(?!\W*</){WRAPPING}(?:\d{{1,2}}[.)]{WRAPPING})?{_LEAD}verdict(?:\s+is)?{WRAPPING}", re.IGNORECASE
)
_IN_JSON = re.compile(
    r"(?:^\W*|[{,]\s*)[\"'](?:final[_ ]|overall[_ ])?verdict[\"']\s*:\s*"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<other>[^\s,}\]\"']+))",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{(?P<said>[^{}\n]{0,200}|\{[^{}\n]{0,200}\}[^{}\n]{0,20})\}")
# "The sum is right. VERDICT: correct" ends in a verdict as if it stood on a line of its own.
_LATE = re.compile(
    r"(?<=[.!?)])\s{1,20}(?=[^\w\s]{0,10}(?:(?:so|therefore|thus|hence|my|the|final|overall),?\s){0,3}verdict\b"
    r"[\"'*_`\])]{0,5}\s?[:=>–—-])|(?<=>)(?=\s{0,5}<(?:final_)?verdict>)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class ParsedVerdict:
    """`status`: "ok", "unparsed" or "empty"; `verdict`: True for correct, False for incorrect, None unless ok."""

    status: str
    verdict: bool | None = None


def parse_verdict(text: str | None) -> ParsedVerdict:
    """Read the verdict in what a judge wrote.

    >>> parse_verdict("The sum is wrong.\\nVERDICT: incorrect")
    ParsedVerdict(status='ok', verdict=False)
    >>> parse_verdict("The answer is not correct.")
    ParsedVerdict(status='unparsed', verdict=None)
    """
    said, unfinished = without_thoughts(without_quoted_tags(text or ""))
    seen = visible(said[-_LONGEST:])[-_LONGEST:]
    if unfinished:
        # What unended thoughts say was not said.
        return ParsedVerdict("unparsed")
    if not seen.strip():
        return ParsedVerdict("empty")
    verdict = _last_verdict(plain(seen))
    return ParsedVerdict("unparsed") if verdict is None else ParsedVerdict("ok", verdict)


def looks_like_verdict(seen: str) -> bool:
    """Whether a visible line, in whoever's text, could be read as a verdict, or as the heading or key of one."""
    line = plain(seen)
    return any(
        bare(part) is not None or bool(_said(part)) or _is_heading(part) for part in LINE_END.split(_without_json(line))
    )


def _last_verdict(text: str) -> bool | None:
    lines = _outside_shown_blocks(without_echo(LINE_END.split(_without_json(text))))
    while lines and not _WORD.search(lines[-1]):
        lines.pop()
    if not lines:
        return None
    found, last = None, -1
    for number, verdict in _marked_verdicts(lines):
        found, last = verdict, number
    if last < 0:
        alone = bare(own_part(lines[-1]))
        return alone if alone is not None and _stands_alone(lines, _line_before(lines, len(lines) - 1)) else None
    if found is None or casts_doubt([own_part(line) for line in _unquoted(lines, last + 1)], found):
        return None
    return found


def _unquoted(lines: list[str], start: int) -> Iterator[str]:
    """The lines from `start` on, but for quoted verdicts."""
    return (line for line in lines[start:] if not _said(line))


def _outside_shown_blocks(lines: list[str]) -> list[str]:
    """The lines without fences and without closed blocks that show something: more than a verdict, text behind."""
    kept: list[str] = []
    opened = -1
    for number, line in enumerate(lines):
        if not _FENCE.fullmatch(line):
            kept.append(line)
        elif opened < 0:
            opened = number
        else:
            block = [inner for inner in lines[opened + 1 : number] if _WORD.search(inner)]
            more = any(not _said(inner) and not _is_heading(inner) for inner in block)
            if more and any(_WORD.search(later) for later in lines[number + 1 :]):
                del kept[len(kept) - (number - opened - 1) :]
            opened = -1
    return kept


def _marked_verdicts(lines: list[str]) -> Iterator[tuple[int, bool | None]]:
    """Each marked verdict that isn't quoted: where it ends, and what it says; None for a quotation at the very end."""
    quoted = -2
    for number, line in enumerate(lines):
        said, before = _said(line), _line_before(lines, number)
        if said:
            after = _line_after(lines, number)
            # What stands right below a quotation, in the same form, belongs to it.
            if number - 1 == quoted or is_quoted(before, lines[number + 1] if number + 1 < len(lines) else "", after):
                quoted = number
                if not after:
                    yield number, None
            elif is_unfinished(before):
                yield number, None
            else:
                yield from ((number, on_menu(one)) for one in said)
        elif _is_heading(line):
            at = next((at for at in range(number + 1, min(number + 20, len(lines))) if _WORD.search(lines[at])), number)
            following = own_part(lines[at]) if at > number else ""
            if _said(following) or _is_heading(following):
                continue
            if not speaks_of_others(line) and not is_quoted(before, "", ""):
                yield at, on_menu(following)
            elif at == len(lines) - 1:
                yield at, None


def _said(line: str) -> list[str]:
    """What the marked verdicts of one line say, in order."""
    return [said for part in _LATE.split(own_part(line)) for said in _said_by_part(part)]


def _said_by_part(part: str) -> list[str]:
    if not re.search(r"verdict|boxed|fbox", part, re.IGNORECASE):
        return []
    keys = list(_IN_JSON.finditer(part)) if re.match(r"[\W_]*(?:json\b)?\W*[{\"']", part) else []
    if keys:
        return [next(value for value in match.groups() if value is not None) for match in keys]
    if _HEADING.fullmatch(part):
        return []
    marked = _MARKED.match(part)
    if marked:
        return ["" if _is_mention(marked) else marked["said"]]
    without_colon = _WITHOUT_COLON.fullmatch(part)
    if without_colon and bare(without_colon["said"]) is not None:
        return [without_colon["said"]]
    return [
        match["said"]
        for match in _BOXED.finditer(part)
        if re.search("correct", match["said"], re.IGNORECASE) and not speaks_of_others(part[: match.start()])
    ]


def _is_mention(marked: "re.Match[str]") -> bool:
    """Whether the line only speaks of a verdict: '"VERDICT: correct", says the response'."""
    opened = re.search(r"[\"'`]", marked["wrapping"])
    if not opened or opened[0] in marked["between"]:
        return False
    closed = marked["said"].find(opened[0])
    return closed >= 0 and bool(_WORD.search(marked["said"], closed))


def _is_heading(line: str) -> bool:
    return bool(_HEADING.fullmatch(own_part(line)))


def _without_json(text: str) -> str:
    """The text with marked lines in place of its last JSON objects with a verdict, whose strings may hold anything."""
    if "{" not in text:
        return text
    decoder = json.JSONDecoder(strict=False)
    starts = [match.end() - 1 for match in re.finditer(r"(?:^|[\n\r])[ \t]*(?:```\w*[ \t]*)?\{", text)]
    pieces, at = [], 0
    for start in starts[-_JSON_TRIED:]:
        if start < at:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        verdicts = [said for key, said in value.items() if re.fullmatch(r"(?:\w+[_ ])?verdict", key, re.IGNORECASE)]
        if verdicts:
            shown = verdicts[-1] if isinstance(verdicts[-1], str) else "no text"
            pieces += [text[at:start], "\nVERDICT: ", " ".join(shown.split()), "\n"]
            at = end
    return "".join([*pieces, text[at:]])


def _line_before(lines: list[str], number: int) -> str:
    return next((line for line in reversed(lines[max(0, number - 20) : number]) if line.strip()), "")


def _line_after(lines: list[str], number: int) -> str:
    return next((line for line in lines[number + 1 : number + 20] if line.strip()), "")


def _stands_alone(lines: list[str], before: str) -> bool:
    """Whether the last line is a paragraph of its own, and isn't the end of a sentence that was wrapped."""
    if is_unfinished(before) or runs_on(before) or (before.rstrip().endswith(":") and is_quoted(before, "", "")):
        return False
    directly = lines[-2].strip() if len(lines) > 1 else ""
    if not _WORD.search(directly):
        return True
    return directly.endswith((".", "!", "?", ":")) or bool(re.fullmatch(r"(\*\*|__).*\1|#.*", directly))
