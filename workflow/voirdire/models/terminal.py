"""Lines at the bottom of a terminal that are redrawn in place, below whatever else is written there."""

import os
from collections.abc import Sequence
from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody watches: a terminal that can move its cursor, and no CI."""
    if os.environ.get("CI") or os.environ.get("TERM") == "dumb" or os.name == "nt":
        return False
    try:
        return os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return False  # a stream that was closed or replaced by one without a file


class Block:
    """Some lines below the cursor, which rests on an empty line above them.

    So whatever others write in the meantime, the ^C of a terminal included, has a line of its own, and clearing all
    below the cursor removes the block and nothing else, even after the window has changed its size. Any fault of the
    terminal ends the drawing, silently.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = False
        self.is_dead = False

    @property
    def size(self) -> tuple[int, int]:
        """(columns, rows) of the terminal."""
        try:
            columns, rows = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            columns = rows = 0
        return columns or 80, rows or 24  # some terminals say 0

    @property
    def has_unicode(self) -> bool:
        return (self._stream.encoding or "").lower().replace("-", "").startswith("utf")

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines, none wider than the terminal, in place of the earlier ones."""
        if not lines:
            self.clear()
            return
        # One write, and no line is blank before it is new: nothing flickers.
        body = "".join(f"\n{line}\x1b[K" for line in lines)
        self._write(f"\r\x1b[K{body}\x1b[J\x1b[{len(lines)}A\r")
        self._drawn = True

    def clear(self) -> None:
        """Remove the lines; the cursor is where they began."""
        if self._drawn:
            self._write("\r\x1b[J")
            self._drawn = False

    def _write(self, text: str) -> None:
        if self.is_dead:
            return
        try:
            self._stream.flush()
            # Past the stream's buffer: a thread that dies in there at exit takes the interpreter with it.
            os.write(self._stream.fileno(), text.encode(self._stream.encoding or "ascii", "replace"))
        except (OSError, ValueError):
            self.is_dead = True
