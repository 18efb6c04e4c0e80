"""What of a model's text was said: not its thoughts, and not the characters that nobody sees.

Below both readers, of answers and of verdicts, so that neither takes for said what the other takes for thought.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence

# Every kind of line end that a reader, human or model, may see; nothing must hide behind one of them.
LINE_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
LINE_END = re.compile(rf"\r\n|[{LINE_ENDS}]")
_KEPT = frozenset("\t\n\r\v\f\x1c\x1d\x1e\x85")
# Controls, format characters (zero-width, direction, tags) and half characters; besides them what Unicode calls
# default-ignorable: joiners, fillers and variation selectors that count as marks or letters.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_TERMINAL = re.compile(r"\x1b\[[0-?]{0,30}[ -/]{0,5}[@-~]")

_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis)"
# Every tag begins with one of three characters: looking for these first is what makes long texts quick.
THOUGHT = re.compile(
    rf"(?=[<\[◁])(?:(?P<opens><{_NAMES}>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>"
    r"|<\|channel\|>(?:analysis|commentary)[^<]{0,100}<\|message\|>)"
    rf"|</{_NAMES}>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|end_thinking)\|>"
    r"|<\|channel\|>final[^<]{0,100}<\|message\|>)",
    re.IGNORECASE,
)
_QUOTES = ('"', "'", "`")
# "The response's <think> block": of a tag in quotes, or with such a noun behind it, the text only speaks.
_SPOKEN_OF = re.compile(r"[\"'`]|\s+(?:blocks?|tags?|sections?|parts?|tokens?|markers?)\b", re.IGNORECASE)


def thought_tags(text: str) -> list["re.Match[str]"]:
    """The tags that may open or close thoughts, in order; not one that stands in quotes by itself.

    >>> [tag[0] for tag in thought_tags("<think>It has a '</think>'.</think>18")]
    ['<think>', '</think>']
    """
    return [tag for tag in THOUGHT.finditer(text) if not _is_quoted(text, tag)]


def without_thoughts(text: str, tags: Sequence["re.Match[str]"] | None = None) -> tuple[str, str]:
    """What was said outside of thoughts, and the thoughts at its end that never ended, with their opening tag.

    Some servers keep only the tag that closes the thoughts: then what stands before it was thought too. `tags` are
    those to heed, by default all of `thought_tags`.

    >>> without_thoughts("<think>VERDICT: incorrect</think>VERDICT: correct")
    ('VERDICT: correct', '')
    >>> without_thoughts("It is 18. <think>Or")
    ('It is 18. ', '<think>Or')
    """
    if text.startswith("analysis") and "assistantfinal" in text:
        # Harmony's channels (gpt-oss) as they look where the server drops its special tokens.
        return text.rpartition("assistantfinal")[2], ""
    said: list[str] = []
    at, inside, mentioned = 0, False, False
    for tag in thought_tags(text) if tags is None else tags:
        if not tag["opens"]:
            if not inside:
                said.clear()
            at, inside = tag.end(), False
        elif not inside:
            said.append(text[at : tag.start()])
            at, inside, mentioned = tag.start(), True, is_mention(text, tag)
    if inside and not mentioned:
        return "".join(said), text[at:]
    return "".join([*said, text[at:]]), ""


def is_mention(text: str, tag: "re.Match[str]") -> bool:
    """Whether the text only speaks of an opening tag."""
    return text[max(0, tag.start() - 1) : tag.start()] in _QUOTES or bool(_SPOKEN_OF.match(text, tag.end()))


def _is_quoted(text: str, tag: "re.Match[str]") -> bool:
    quote = text[max(0, tag.start() - 1) : tag.start()]
    return quote in _QUOTES and text.startswith(quote, tag.end())


def is_unseen(character: str) -> bool:
    """Whether nobody sees a character: a control other than line ends and tabs, zero-width, half of one, a filler."""
    if character.isascii():
        return not character.isprintable() and character not in _KEPT
    if character in _KEPT:
        return False
    return unicodedata.category(character) in _UNSEEN or bool(_IGNORABLE.match(character))


def without_unseen(text: str, shown: Callable[[str], str] | None = None) -> str:
    """The text without terminal colours and characters that nobody sees, and each other one as `shown` gives it.

    Each different character is looked up once, whatever the text's length.

    >>> without_unseen("1\\u200b8\\x00")
    '18'
    """
    if "\x1b" in text:
        text = _TERMINAL.sub("", text)
    changed = {}
    for character in set(text):
        seen = "" if is_unseen(character) else shown(character) if shown else character
        if seen != character:
            changed[ord(character)] = _IGNORABLE.sub("", seen)
    return text.translate(changed) if changed else text
