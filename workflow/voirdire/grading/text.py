"""What every reader of a response does first: take out what no reader sees."""

import re
import unicodedata

# Longer texts are cut: an answer stands at the end, or at the start, of what a person would read.
LONGEST = 200_000

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
# Format characters (zero-width, direction overrides), control characters except line ends and tabs, lone surrogates.
_UNSEEN = {"Cf", "Cc", "Cs"}
_KEPT = "\n\t"


def visible(response: str) -> str:
    """The response without closed thoughts, control, zero-width and direction characters; ends kept if it's huge.

    >>> visible("<think>4?</think>\\u200b5\\x00")
    '5'
    """
    text = response.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + "\n" + text[-LONGEST // 2 :]
    text = _THOUGHTS.sub("", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in _KEPT or unicodedata.category(c) not in _UNSEEN)
