"""Runs untrusted programs, each in a sandbox of its own, within limits.

How a program is kept from the rest of the machine is said in `bubblewrap`, `unshare` and `landlock`. `unsafe` is a
plain subprocess with the same limits and nothing else, never chosen by itself. Limits of single processes are set
inside (outside they would hit the isolation), those of all processes together are watched from here.
"""

import errno
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.grading.sandbox.conversation import SIGN_OF_LIFE, Answer, Conversation
from voirdire.grading.sandbox.following import follow
from voirdire.grading.sandbox.limits import Limits
from voirdire.grading.sandbox.watch import Watch, kills_for_memory

__all__ = ["ENVIRONMENT", "FILTER", "Limits", "Outcome", "Sandbox"]

# No password, key or path of the person who grades; a fixed hash seed, so that sets print and iterate alike.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
}
# In a command: the number of the descriptor that the filter can be read from.
FILTER = "{filter}"
# A full machine may refuse a process now and allow it later.
_NEXT_ATTEMPTS_S = (0.05, 0.25, 1.0)
_PASSING = (
    *(os.strerror(number) for number in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)),
    "MemoryError",
)


@dataclass(frozen=True)
class Outcome:
    """What came back: the runner's messages with their lengths, and how it ended.

    `ended` is "exit", "cpu" (out of CPU time), "memory" (all processes together), "killed", "wall" (asleep for too
    long), "flood" (too much output), or "busy" (the machine gave it no time, or killed something for want of memory).
    `started` is whether anything is known about the program: not if the runner never came to life, nor if "busy".
    `noise` is the start of whatever else was written. Once the program's own code runs, nothing in messages and noise
    can be trusted.
    """

    messages: tuple[tuple[dict[str, Any], int], ...]
    ended: str
    started: bool
    noise: str


@dataclass(frozen=True)
class Sandbox:
    """A way to run the runner: its name, and the command, whose last part is the text of a Python program.

    `user` is who the program runs as (None: whoever grades), `drops` whether the command sees to that by itself;
    `filter` a seccomp program for it; `scratch` whether it starts in a folder of its own on the host;
    `counts_processes` whether a limit on processes binds this program's and not all of the user's.
    """

    name: str
    command: tuple[str, ...]
    user: int | None = None
    limits: Limits = field(default_factory=Limits)
    drops: bool = False
    filter: bytes | None = None
    scratch: bool = False
    counts_processes: bool = True

    def run(self, job: Mapping[str, Any]) -> Outcome:
        """Run one job of the runner; safe to call from several threads."""
        return self.talk(job, None)

    def talk(self, job: Mapping[str, Any], answer: Answer | None) -> Outcome:
        """Run one job whose runner may ask something in the middle; safe to call from several threads.

        The job is the first line of the runner's standard input. Each of its messages with a key "ask" is given to
        `answer` in this process, and what that returns (None: nothing) is the next line; such messages are not in the
        outcome. Without `answer`, standard input ends after the job. Whatever `answer` raises ends the program and
        is raised here.
        """
        inside = self.limits.inside()
        if not self.counts_processes:
            del inside["RLIMIT_NPROC"]
        job = {**job, "limits": inside}
        outcome = self._attempt(job, answer)
        for delay in _NEXT_ATTEMPTS_S:
            if outcome.started or not _passing(outcome):
                break
            time.sleep(delay)
            outcome = self._attempt(job, answer)
        return outcome

    def _attempt(self, job: Mapping[str, Any], answer: Answer | None) -> Outcome:
        killed_before = kills_for_memory()
        with self._folder() as folder:
            try:
                process = self._start(folder or "/")
            except OSError as error:
                return Outcome((), "exit", False, f"{type(error).__name__}: {error.strerror}")
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                talk = Conversation(process.stdin, process.stdout, job, answer, self.limits.output_bytes)
                ended = follow(process.pid, talk, Watch(process.pid, self.limits, Path(folder) if folder else None))
            finally:
                # Before it is waited for, while its number is its own; the whole session, though what left that dies
                # with the namespace, or could not leave.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
                process.stdin.close()
                process.stdout.close()
                code = process.wait()
        outcome = _outcome(talk, ended, code)
        if outcome.ended == "killed" and kills_for_memory() != killed_before:
            # Most likely this program, and within its own limits.
            return _unknown(outcome)
        return outcome

    @contextmanager
    def _folder(self) -> Iterator[str | None]:
        if not self.scratch:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="voirdire-") as folder:
            if self.user is not None:
                os.chown(folder, self.user, self.user)
            yield folder

    def _start(self, folder: str) -> "subprocess.Popen[bytes]":
        become: dict[str, Any] = {}
        if self.user is not None and not self.drops:
            become = {"user": self.user, "group": self.user, "extra_groups": []}
        with _readable(self.filter) as descriptors:
            *command, program = self.command
            number = "".join(map(str, descriptors))
            return subprocess.Popen(
                [*(number if part == FILTER else part for part in command), SIGN_OF_LIFE + program],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                cwd=folder,
                start_new_session=True,
                pass_fds=descriptors,
                **become,
            )


@contextmanager
def _readable(data: bytes | None) -> Iterator[tuple[int, ...]]:
    """A descriptor from which `data` can be read once: a pipe, which holds far more than a filter."""
    if data is None:
        yield ()
        return
    descriptor, writing = os.pipe()
    try:
        with open(writing, "wb") as file:
            file.write(data)
        yield (descriptor,)
    finally:
        os.close(descriptor)


def _passing(outcome: Outcome) -> bool:
    """Whether what kept a sandbox from starting may not last: it says so, or was killed."""
    return outcome.ended == "killed" or any(reason in outcome.noise for reason in _PASSING)


def _outcome(talk: Conversation, ended: str, code: int) -> Outcome:
    noise = bytes(talk.noise).decode("utf-8", "replace")
    # bubblewrap and a shell report a signal as 128 + its number, subprocess as its negative.
    number = -code if code < 0 else code - 128
    if ended == "exit" and number == signal.SIGXCPU:
        ended = "cpu"
    elif ended == "exit" and 0 < number < signal.NSIG:
        ended = "killed"
    outcome = Outcome(tuple(talk.messages), ended, talk.started, noise)
    return _unknown(outcome) if ended == "busy" else outcome


def _unknown(outcome: Outcome) -> Outcome:
    """The outcome where the machine, not the program, is at fault."""
    return Outcome((), "busy", False, outcome.noise)
