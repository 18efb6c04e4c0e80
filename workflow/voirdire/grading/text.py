"""What every reader of a response does first: take out what was not said, and what no reader sees."""

from voirdire.said import LINE_END, without_thoughts, without_unseen

# Longer texts are cut: an answer stands at the end, or at the start, of what a person would read.
LONGEST = 200_000


def visible(response: str) -> str:
    """The response without closed thoughts, control, zero-width and direction characters; ends kept if it's huge.

    A text that opens with thoughts which never close says nothing; an opening tag elsewhere is no tag.

    >>> visible("<think>4?</think>\\u200b5\\x00"), visible("<think>5"), visible("5 <think>")
    ('5', '', '5 <think>')
    """
    said, unended = without_thoughts(without_middle(LINE_END.sub("\n", response)))
    said = without_unseen(said)
    return said + without_unseen(unended) if said.strip() else ""


def without_middle(text: str) -> str:
    """The text, or its two ends if it's huge."""
    return text if len(text) <= LONGEST else text[: LONGEST // 2] + "\n" + text[-LONGEST // 2 :]
