"""A pseudo-terminal, and what somebody in front of it sees."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import termios
import threading
from collections.abc import Callable
from typing import TextIO

# Looking at the terminal first writes an attribute that no terminal has, and waits until it comes out.
_LOOK = 1000
_TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    """The little of a terminal that is used here: lines that scroll, carriage returns, cursor up, clearing, colours."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._lines, self._row, self._column = [""], 0, 0
        self._rest = ""  # a sequence of which the end hasn't come yet
        self.last_attribute = 0

    def feed(self, text: str) -> None:
        text, position = self._rest + text, 0
        while token := _TOKEN.match(text, position):
            position = token.end()
            number, command, control, printed = token.groups()
            if command:
                self._command(command, int(number or 1))
            elif control:
                self._move(control)
            else:
                self._print(printed)
        self._rest = text[position:]
        assert len(self._rest) < 10, f"not understood: {self._rest!r}"

    def _print(self, text: str) -> None:
        room = self.columns - self._column
        line = self._lines[self._row].ljust(self._column)
        self._lines[self._row] = line[: self._column] + text[:room] + line[self._column + len(text[:room]) :]
        self._column += len(text[:room])
        if text[room:]:
            self._move("\n")
            self._move("\r")
            self._print(text[room:])

    def _move(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        else:
            self._row += 1
            self._lines += [""] * (self._row + 1 - len(self._lines))

    def _command(self, command: str, number: int) -> None:
        top = max(0, len(self._lines) - self.rows)
        if command == "A":
            self._row = max(top, self._row - number)
        elif command in "JK":
            self._lines[self._row] = self._lines[self._row][: self._column]
            if command == "J":
                del self._lines[self._row + 1 :]
        else:
            assert command == "m", command
            self.last_attribute = number

    @property
    def lines(self) -> list[str]:
        """All lines, those that have scrolled away included, without empty ones at the end."""
        lines = [line.rstrip() for line in self._lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines


class Terminal:
    """A pseudo-terminal that is watched all the time; use as a context manager. `stream` is what programs write to."""

    def __init__(self, columns: int = 100, rows: int = 24) -> None:
        self._screen = Screen(columns, rows)
        self._master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.stream: TextIO = os.fdopen(self.slave, "w", encoding="utf-8")
        self._changed = threading.Condition()
        self._looks = 0
        self._hang_up, self._hung_up = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *exception: object) -> None:
        self.hang_up()
        self.stream.close()
        os.close(self._hang_up)

    def hang_up(self) -> None:
        """Close the window."""
        if self._thread.is_alive():
            os.close(self._hung_up)
            self._thread.join(10)

    def resize(self, columns: int, rows: int) -> None:
        self._screen.columns, self._screen.rows = columns or 80, rows or 24
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def look(self) -> list[str]:
        """All lines, once what has been written by now is there."""
        self._looks += 1
        os.write(self.slave, f"\x1b[{_LOOK + self._looks}m".encode())
        return self.wait_for(lambda lines: self._screen.last_attribute == _LOOK + self._looks)

    def wait_for(self, condition: Callable[[list[str]], bool], timeout_s: float = 60.0) -> list[str]:
        """All lines as soon as they satisfy the condition; fails after the time."""
        with self._changed:
            satisfied = self._changed.wait_for(lambda: condition(self._screen.lines), timeout_s)
            assert satisfied, "\n".join(["never seen on the terminal:", *self._screen.lines])
            return self._screen.lines

    def _watch(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")()
        while True:
            ready, _, _ = select.select([self._master, self._hang_up], [], [])
            if self._master not in ready:
                break
            with self._changed:
                self._screen.feed(decoder.decode(os.read(self._master, 65536)))
                self._changed.notify_all()
        os.close(self._master)
