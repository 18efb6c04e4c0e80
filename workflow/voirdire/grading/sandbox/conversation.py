"""Talking to a program that cannot be trusted: lines of JSON both ways, none of which can block, crash or flood us."""

import json
import os
import select
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

Message = dict[str, Any]
Answer = Callable[[Message], Mapping[str, Any] | None]

_READY = {"ready": True}
_UP = b'{"up": true}'
# What a program in Python has to begin with. By then all between it and us is bound to end with us; should we have
# ended before, its input ends too.
SIGN_OF_LIFE = f"import posix; posix.write(1, b'{_UP.decode()}\\n')\n"
_CHUNK = 1 << 16
# Far more than any item has tests; each costs this process some hundred bytes.
_MOST_LINES = 20_000
_NOISE_KEPT = 300


class Conversation:
    """One program's standard input and output; the first message waits until it shows a sign of life.

    `messages` are the objects that it wrote after `ready`, with the length of each line; `noise` the start of whatever
    else it wrote; `ended` is true once its output ended, or was too much (`flood`): more than `most` bytes, more lines
    than anyone needs, or answers asked for and not read; `answering` while one is being made, if it `may_ask` at all.
    """

    def __init__(
        self, to: IO[bytes], out_of: IO[bytes], first: Mapping[str, Any], answer: Answer | None, most: int
    ) -> None:
        self.messages: list[tuple[Message, int]] = []
        self.noise = bytearray()
        self.started = self.ended = self.flood = self.answering = False
        self.may_ask = answer is not None
        self._input, self._output, self._answer, self._most = to, out_of, answer, most
        self._unread, self._searched, self._read, self._lines = bytearray(), 0, 0, 0
        self._unsent, self._answering_s = bytearray(), 0.0
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        # A program that doesn't read must not stop us.
        os.set_blocking(self._input.fileno(), False)
        self._first: Mapping[str, Any] | None = first
        self._most_unsent = most

    def step(self, timeout_s: float) -> float:
        """Wait for the program, at most so long, and read or write what can be; the seconds that answers took."""
        self._answering_s = 0.0
        for descriptor, _ in self._poll.poll(max(0.0, timeout_s) * 1000):
            if descriptor == self._output.fileno():
                self._receive(os.read(descriptor, _CHUNK))
            else:
                self._write()
        return self._answering_s

    def _send(self, message: Mapping[str, Any]) -> None:
        self._unsent += json.dumps(message).encode() + b"\n"
        self._write()

    def _write(self) -> None:
        """Write what the pipe takes; the rest when it is read, if ever."""
        if self._input.closed:
            self._unsent.clear()
            return
        try:
            while self._unsent:
                del self._unsent[: os.write(self._input.fileno(), self._unsent[:_CHUNK])]
        except BlockingIOError:
            self._poll.register(self._input, select.POLLOUT)
            return
        except OSError:
            # It closed its end.
            self._unsent.clear()
        with suppress(KeyError):
            self._poll.unregister(self._input)
        if self._answer is None:
            self._input.close()

    def _receive(self, chunk: bytes) -> None:
        self._read += len(chunk)
        self._unread += chunk
        for line in self._complete_lines(last=not chunk):
            self._take(line)
            if self._lines > _MOST_LINES or len(self._unsent) > self._most_unsent:
                self.flood = True
                break
        self.flood = self.flood or self._read > self._most
        self.ended = not chunk or self.flood

    def _complete_lines(self, last: bool) -> Iterator[bytes]:
        while (end := self._unread.find(b"\n", self._searched)) >= 0:
            line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            self._searched = 0
            yield line
        self._searched = len(self._unread)
        if last and self._unread:
            yield bytes(self._unread)

    def _take(self, line: bytes) -> None:
        self._lines += 1
        if self._first is not None and line == _UP:
            self._send(self._first)
            self._first = None
            self._most_unsent += len(self._unsent)
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self.noise += (line + b" ")[: max(0, _NOISE_KEPT - len(self.noise))]
        elif not self.started:
            self.started = message == _READY
        elif "ask" in message and self._answer is not None:
            begin, self.answering = time.monotonic(), True
            try:
                reply = self._answer(message)
            finally:
                self.answering = False
            self._answering_s += time.monotonic() - begin
            if reply is not None:
                self._send(reply)
        else:
            self.messages.append((message, len(line)))
