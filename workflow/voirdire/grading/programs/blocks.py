"""The parts of a response that may be code."""

import re
from dataclasses import dataclass, field

from voirdire.grading.text import without_middle
from voirdire.said import LINE_END, is_mention, is_unseen, thought_tags, without_thoughts

# A mark of another width may stand before a fence, unseen.
_BEFORE = r"^[ \t>\ufeff\u200b-\u200f\u2060]*"
_FENCE = re.compile(
    rf"{_BEFORE}(?:(?P<line>`{{3,}}(?:[ \t]*(?:python3?|py)\b)?(?P<code>[^\n`]+)`{{3,}}[ \t]*$)"
    r"|(?P<fence>`{3,}|~{3,})(?P<tag>[^\n`]*)$"
    r"|\[(?P<ends>/?)(?P<bracket>PYTHON|CODE|BEGIN|DONE|ANSWER|SOLUTION)\][ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_INLINE = re.compile(r"(?<!`)`((?:async[ \t]+)?def[ \t][^\n`]+|\w+[ \t]*=[ \t]*lambda\b[^\n`]+)`(?!`)")
_NOT_CODE = {
    *("text", "txt", "plaintext", "output", "console", "bash", "sh", "shell", "json", "yaml", "markdown", "md"),
    *("html", "c", "cpp", "c++", "java", "javascript", "js", "sql", "diff"),
}
_NEVER_PYTHON = re.compile("[\x00\ud800-\udfff]")
# Strings and comments, in which any character may stand; an apostrophe of prose reaches to its line's end.
_ANYTHING_GOES = re.compile(
    r"(?P<kept>#[^\n]*+|\"\"\"(?s:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?s:[^\\]|\\.)*?(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]|\\[^\n])*+\"?|'(?:[^'\\\n]|\\[^\n])*+'?)|(?P<other>[^\t\n\f\x20-\x7e])"
)


def code_blocks(response: str) -> tuple[list[str], str]:
    """The fenced blocks of a response that may be code, and all of its text without the fences.

    Nothing is changed in code but what Python can't have: NUL and half characters, and outside of strings and comments
    the characters that nobody sees.

    >>> code_blocks("Here:\\n```python\\ndef f(): pass\\n```\\nDone.")
    (['def f(): pass'], 'Here:\\ndef f(): pass\\nDone.')
    """
    text = without_middle(re.sub("\r\n?", "\n", response))
    said, unended = without_thoughts(text, _tags_outside_of_code(text))
    # A text that opens with thoughts which never end says nothing; an opening tag elsewhere is no tag.
    text = said + unended if _possible(said).strip() else ""
    blocks, kept, at = [], [], 0
    walk = _Walk(list(_FENCE.finditer(text)))
    for number, fence in enumerate(walk.fences):
        opened, does = walk.opened, walk.step(number)
        if not does:
            continue
        kept.append(text[at : fence.start()])
        at = min(fence.end() + 1, len(text))
        if opened is not None:
            blocks.append((opened["tag"] or "", text[opened.end() + 1 : fence.start()]))
        if fence["line"]:
            blocks.append(("", fence["code"]))
            kept.append(fence["code"] + "\n")
    if walk.opened is not None:
        blocks.append((walk.opened["tag"] or "", text[walk.opened.end() + 1 :]))
    kept.append(text[at:])
    code = [_possible(block).rstrip("\n") for tag, block in blocks if _word(tag) not in _NOT_CODE]
    # Code within a sentence comes onto lines of its own.
    return [block for block in code if block.strip()], _INLINE.sub(r"\n\1\n", _possible("".join(kept)))


@dataclass
class _Walk:
    """Goes through a text's fences, in order, and knows which is open."""

    fences: list["re.Match[str]"]
    opened: "re.Match[str] | None" = field(default=None)

    def step(self, number: int) -> bool:
        """Whether a fence opens a block or ends one, rather than being a line of one."""
        fence, opened = self.fences[number], self.opened
        if opened is None:
            self.opened = None if fence["line"] or (fence["bracket"] and self._closes(fence)) else fence
            return True
        if fence["line"]:
            return False
        if fence["bracket"]:
            if opened["fence"] and not (self._closes(fence) and self.is_unclosed(number + 1)):
                return False
            self.opened = None if self._closes(fence) else fence
            return True
        if opened["fence"] and not fence["tag"].strip():
            if not fence["fence"].startswith(opened["fence"]):
                return False
            self.opened = None
            return True
        # A new fence with a tag, though the last was never closed, or one between two tags in brackets.
        self.opened = fence
        return True

    def is_unclosed(self, number: int) -> bool:
        """Whether the open block is never closed, by the fences from `number` on: none follows, or a new block."""
        following = next((fence for fence in self.fences[number : number + 1] if not fence["line"]), None)
        return following is None or bool(following["bracket"]) or bool(following["tag"].strip())

    @staticmethod
    def _closes(fence: "re.Match[str]") -> bool:
        return bool(fence["ends"]) or fence["bracket"].upper() == "DONE"


def _tags_outside_of_code(text: str) -> list["re.Match[str]"]:
    """The tags of thoughts that don't stand in a fenced block; fences within thoughts are none."""
    tags = [tag for tag in thought_tags(text) if not (tag["opens"] and is_mention(text, tag))]
    if not tags:
        return []
    fences = list(_FENCE.finditer(text))
    walk, number, thinking, heeded = _Walk(fences), 0, False, []
    for tag in tags:
        while number < len(fences) and fences[number].start() < tag.start():
            if not thinking:
                walk.step(number)
            number += 1
        if walk.opened is None or (not tag["opens"] and _is_alone(text, tag) and walk.is_unclosed(number)):
            walk.opened, thinking = None, bool(tag["opens"])
            heeded.append(tag)
    return heeded


def _is_alone(text: str, tag: "re.Match[str]") -> bool:
    """Whether nothing else stands on the tag's line."""
    start = text.rfind("\n", 0, tag.start()) + 1
    end = text.find("\n", tag.end())
    return not text[start : tag.start()].strip() and not text[tag.end() : end if end >= 0 else len(text)].strip()


def _possible(code: str) -> str:
    """The code without what Python can't have, wherever or outside of strings and comments."""
    code = _NEVER_PYTHON.sub("", code)
    return code if code.isascii() and code.isprintable() else _ANYTHING_GOES.sub(_kept, code)


def _kept(match: "re.Match[str]") -> str:
    if match["kept"]:
        return match[0]
    return "" if is_unseen(match["other"]) else LINE_END.sub("\n", match["other"])


def _word(tag: str) -> str:
    """A fence's language, without what renderers take after it.

    >>> _word("{.python .numberLines}"), _word(" Python title=f.py")
    ('python', 'python')
    """
    words = re.findall(r"[\w+#]+", tag.lower()[:200])
    return words[0] if words else ""
