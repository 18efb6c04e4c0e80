"""What every reader of a response does first: take out what no reader sees."""

import re
import unicodedata

# Longer texts are cut: an answer stands at the end, or at the start, of what a person would read.
LONGEST = 200_000

_THOUGHT_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
# Format characters (zero-width, direction overrides), control characters except line ends and tabs, lone surrogates.
_UNSEEN = {"Cf", "Cc", "Cs"}
_UNUSUAL = re.compile(r"[^\n\t\x20-\x7e]")


def visible(response: str) -> str:
    """The response without closed thoughts, control, zero-width and direction characters; ends kept if it's huge.

    >>> visible("<think>4?</think>\\u200b5\\x00")
    '5'
    """
    text = response.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + "\n" + text[-LONGEST // 2 :]
    return _UNUSUAL.sub(_seen, _without_thoughts(text))


def _seen(match: "re.Match[str]") -> str:
    return "" if unicodedata.category(match[0]) in _UNSEEN else match[0]


def _without_thoughts(text: str) -> str:
    """The text without what stands between thinking tags, or before a closing one whose opening the prompt held.

    A text that opens with thoughts which never close says nothing; an opening tag elsewhere is no tag.
    """
    kept: list[str] = []
    seen, opened = 0, -1
    for tag in _THOUGHT_TAG.finditer(text):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
            continue
        if opened < 0:
            kept.clear()
        else:
            kept.append(text[seen:opened])
        seen, opened = tag.end(), -1
    if opened >= 0 and not "".join(kept).strip() and not text[seen:opened].strip():
        return ""
    return "".join(kept) + text[seen:]
