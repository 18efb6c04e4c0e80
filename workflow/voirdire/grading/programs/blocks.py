"""The parts of a response that may be code."""

import re

from voirdire.grading.text import visible

_FENCE = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})(?P<tag>[^\n`]*)$", re.MULTILINE)
_FENCED_LINE = re.compile(r"^[ \t>]*`{3,}(?:[ \t]*(?:python3?|py)\b)?(?P<code>[^\n`]+)`{3,}[ \t]*$", re.MULTILINE)
_TAGS = re.compile(r"^[ \t]*\[/?(?:PYTHON|CODE|BEGIN|DONE|ANSWER|SOLUTION)\][ \t]*$", re.MULTILINE | re.IGNORECASE)
_INLINE = re.compile(r"(?<!`)`((?:async[ \t]+)?def[ \t][^\n`]+|\w+[ \t]*=[ \t]*lambda\b[^\n`]+)`(?!`)")
_NOT_CODE = {
    *("text", "txt", "plaintext", "output", "console", "bash", "sh", "shell", "json", "yaml", "markdown", "md"),
    *("html", "c", "cpp", "c++", "java", "javascript", "js", "sql", "diff"),
}


def code_blocks(response: str) -> tuple[list[str], str]:
    """The fenced blocks of a response that may be code, and all of its text without the fences.

    >>> code_blocks("Here:\\n```python\\ndef f(): pass\\n```\\nDone.")
    (['def f(): pass'], 'Here:\\ndef f(): pass\\nDone.')
    """
    text = _FENCED_LINE.sub(r"```\n\g<code>\n```", _TAGS.sub("```", visible(response)))
    blocks, opened, kept, at = [], None, [], 0
    for match in _FENCE.finditer(text):
        kept.append(text[at : match.start()])
        at = min(match.end() + 1, len(text))
        if opened is None:
            opened = match
        elif match["fence"].startswith(opened["fence"]) and not match["tag"].strip():
            blocks.append((opened["tag"], text[opened.end() + 1 : match.start()]))
            opened = None
        elif match["tag"].strip():
            # A new fence with a tag, though the last was never closed.
            blocks.append((opened["tag"], text[opened.end() + 1 : match.start()]))
            opened = match
    if opened is not None:
        blocks.append((opened["tag"], text[opened.end() + 1 :]))
    kept.append(text[at:])
    code = [block.rstrip("\n") for tag, block in blocks if _word(tag) not in _NOT_CODE and block.strip()]
    # Code within a sentence comes onto lines of its own.
    return code, _INLINE.sub(r"\n\1\n", "".join(kept))


def _word(tag: str) -> str:
    """A fence's language, without what renderers take after it.

    >>> _word("{.python .numberLines}"), _word(" Python title=f.py")
    ('python', 'python')
    """
    words = re.findall(r"[\w+#]+", tag.lower()[:200])
    return words[0] if words else ""
