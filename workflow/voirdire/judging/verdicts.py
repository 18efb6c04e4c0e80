"""What did the judge say. Never a default: a text without a final verdict is unparsed.

The contract with the judge: free thought, then a last line `VERDICT: correct` or `VERDICT: incorrect`. A single word
as the whole text, or alone in a last paragraph, counts too. The last verdict wins; one that is off the menu ("VERDICT:
partly correct") makes the text unparsed, whatever stood before it.
"""

import re
import unicodedata
from dataclasses import dataclass

# A verdict stands at a text's end; of a longer text only the end is read.
_LONGEST = 200_000

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHTS_START = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
# Every kind of line end that a reader, human or model, may see; a verdict must not hide behind one of them.
LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")

_WRAPPING = r"[\s\W_]*"
_MARKED = re.compile(
    rf"{_WRAPPING}(?:(?:my|the|final|overall)\s+)*verdict[\"'*_`\s]*[:=\-–—]+(?P<said>.*)", re.IGNORECASE
)
_IN_JSON = re.compile(r"[{,]\s*[\"']verdict[\"']\s*:\s*[\"'](?P<said>[^\"']*)[\"']", re.IGNORECASE)
_BOXED = re.compile(
    r"\\(?:boxed|fbox)\s*\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{)?\s*(?:verdict\s*:\s*)?(?P<said>[^{}]*)\}",
    re.IGNORECASE,
)
_MENU = re.compile(
    rf"{_WRAPPING}(?:\\(?:text|textbf|boxed)\{{)?(?P<negation>not[\s*_`]+)?(?P<word>correct|incorrect)(?!\w)(?P<rest>.*)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"{_WRAPPING}(?P<word>correct|incorrect){_WRAPPING}", re.IGNORECASE)
_EXPLAINS = re.compile(r"[\"'*_`})\]]*\s*(?:[.;:(,—–-]\s*|because\b|since\b|as\b)(?P<text>.*)", re.IGNORECASE)
_TAKES_BACK = re.compile(r"correct|\b(?:but|however|not|or|partly|partially|maybe|unsure|verdict)\b", re.IGNORECASE)
# "The sum is right. VERDICT: correct" ends in a verdict as if it stood on a line of its own.
_LATE = re.compile(r"(?<=[.!?])\s+(?=\W*(?:final\s+)?verdict\W*:)", re.IGNORECASE)
# What the judge's prompt puts before the examinee's own verdict-shaped lines.
NOTE = "(written by the examinee) "
_QUOTED = re.compile(rf"\s*(?:>|{re.escape(NOTE.strip())})", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")


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
    seen = visible(without_thoughts(text or ""))
    if not seen.strip():
        return ParsedVerdict("empty")
    if _THOUGHTS_START.match(seen):
        # The thoughts never ended: what they say was not said.
        return ParsedVerdict("unparsed")
    verdict = _last_verdict(seen[-_LONGEST:])
    return ParsedVerdict("unparsed") if verdict is None else ParsedVerdict("ok", verdict)


def without_thoughts(text: str) -> str:
    """The text after its closed thoughts; some servers keep only the closing tag."""
    text = _THOUGHTS.sub("", text)
    ends = list(_THOUGHTS_END.finditer(text))
    return text[ends[-1].end() :] if ends else text


def visible(text: str) -> str:
    """The text as it looks: compatibility forms folded, without format characters such as zero-width spaces."""
    if text.isascii():
        return text.replace("\x00", "")
    folded = unicodedata.normalize("NFKC", text)
    return "".join(c for c in folded if c != "\x00" and unicodedata.category(c) not in ("Cf", "Cs"))


def looks_like_verdict(line: str) -> bool:
    """Whether a line, in whoever's text, could be read as a verdict: marked, in JSON or a box, or a bare word."""
    seen = visible(line)
    return bool(_BARE.fullmatch(seen) or _said(seen))


def _said(line: str) -> list[str]:
    """What the verdicts in one line say, in order; nothing where the line is a quotation."""
    if _QUOTED.match(line):
        return []
    return [said for part in _LATE.split(line) for said in _said_by_part(part)]


def _said_by_part(part: str) -> list[str]:
    inline = [*_IN_JSON.finditer(part), *(match for match in _BOXED.finditer(part) if _MENU.match(match["said"]))]
    if inline:
        return [match["said"] for match in sorted(inline, key=lambda match: match.start())]
    marked = _MARKED.match(part)
    return [marked["said"]] if marked else []


def _last_verdict(text: str) -> bool | None:
    lines = [line for line in LINE_END.split(text) if not _FENCE.fullmatch(line)]
    found = [
        _on_menu(said)
        for number, line in enumerate(lines)
        if not _is_passed_over(lines, number)
        for said in _said(line)
    ]
    while lines and not lines[-1].strip():
        lines.pop()
    bare = _BARE.fullmatch(lines[-1]) if lines else None
    if bare and not _QUOTED.match(lines[-1]) and _begins_paragraph(lines):
        found.append(bare["word"].lower() == "correct")
    return found[-1] if found else None


def _is_passed_over(lines: list[str], number: int) -> bool:
    """Whether a line is quoted or goes on: announced with a colon before more text, or the start of a sentence."""
    if not _MARKED.match(lines[number]) or lines[number].lstrip().startswith(("{", '"', "'")):
        return False
    after = next((line for line in lines[number + 1 : number + 20] if line.strip()), "")
    before = next((line for line in reversed(lines[max(0, number - 20) : number]) if line.strip()), "")
    goes_on = number + 1 < len(lines) and lines[number + 1].lstrip()[:1].islower() and not _BARE.fullmatch(after)
    return goes_on or bool(after and before.rstrip().endswith(":") and not _said(after))


def _begins_paragraph(lines: list[str]) -> bool:
    """Whether the last line stands alone, and isn't the end of a sentence that was wrapped."""
    before = lines[-2].strip() if len(lines) > 1 else ""
    return not before or before.endswith((".", "!", "?", ":", "*", "`", "-", "="))


def _on_menu(said: str) -> bool | None:
    """What a marked verdict says; None where it is off the menu, or takes back what it says."""
    match = _MENU.match(said)
    if not match:
        return None
    rest = match["rest"]
    if re.search(r"\w", rest):
        explained = _EXPLAINS.fullmatch(rest)
        if not explained or _TAKES_BACK.search(explained["text"]):
            return None
    right = match["word"].lower() == "correct"
    if match["negation"]:
        return False if right else None
    return right
