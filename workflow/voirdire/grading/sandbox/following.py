"""Stays with a program until it ends, or has to: talks to it, and looks at it from time to time."""

import os
import select
import signal
import threading
import time
from contextlib import suppress
from types import TracebackType

from voirdire.grading.sandbox.conversation import Conversation
from voirdire.grading.sandbox.watch import Watch

# Most programs end before the first look.
_LOOK_EVERY_S = 0.1
# If a look comes late, as on a busy machine or after a pause, what was between counts no more than this.
_LONGEST_STEP_S = 1.0
_WAIT_S = 0.001


def follow(pid: int, talk: Conversation, watch: Watch) -> str:
    """Talk until a child, the leader of a session, ends or has to; returns how. It is not waited for."""
    with _Guard(pid, talk, watch) as guard:
        last = time.monotonic()
        while not talk.flood:
            left = last + _LOOK_EVERY_S - time.monotonic()
            if not talk.ended:
                # What the answers take is not the program's.
                last += talk.step(left)
                if guard.passed:
                    return guard.passed
                if talk.ended:
                    continue
            elif _exits(pid, left):
                return "exit"
            if (elapsed := time.monotonic() - last) >= _LOOK_EVERY_S:
                passed = watch.look(min(elapsed, _LONGEST_STEP_S))
                if passed:
                    return passed
                last = time.monotonic()
    return "flood"


class _Guard:
    """Looks at the program while its answer is being made, which another program may have to make first.

    Only memory and CPU time count then. What passes a limit is killed, and `passed` says which it was.
    """

    def __init__(self, pid: int, talk: Conversation, watch: Watch) -> None:
        self.passed: str | None = None
        self._pid, self._talk, self._watch = pid, talk, watch
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True) if talk.may_ask else None

    def __enter__(self) -> "_Guard":
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # Before anyone waits for the process: its number is its own until then.
        self._done.set()
        if self._thread:
            self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(_LOOK_EVERY_S):
            if self._talk.answering and (passed := self._watch.look(0.0)):
                self.passed = passed
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._pid, signal.SIGKILL)
                return


def _exits(pid: int, timeout_s: float) -> bool:
    """Whether a child ends within some time; it is not waited for."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # Before Linux 5.3.
        time.sleep(min(_WAIT_S, max(0.0, timeout_s)))
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, timeout_s) * 1000))
    finally:
        os.close(descriptor)
