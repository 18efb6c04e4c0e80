"""Runs untrusted programs, each in a sandbox of its own.

`bubblewrap`: new user, process, network and mount namespaces, no network, no further namespaces, no capabilities; only
/usr and the Python installation can be read, only a small memory-backed /tmp can be written; the environment is empty.
Resource limits are set inside (outside they would hit bubblewrap). Root becomes nobody first, since the limit on
processes does not bind root. Limits of CPU time decide; the wall clock only bounds what sleeps.

`unsafe`: a plain subprocess with the same limits and nothing else. Never chosen by itself.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from voirdire.grading.conversation import Answer, Conversation

# No password, key or path of the person who grades; a fixed hash seed, so that sets print and iterate alike.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
}


@dataclass(frozen=True)
class Limits:
    """What one program may use; `wall_s` is far above `cpu_s`, so that a busy machine changes no grade."""

    cpu_s: int = 6
    wall_s: float = 60.0
    memory_bytes: int = 1 << 30
    processes: int = 32
    file_bytes: int = 1 << 20
    descriptors: int = 64
    output_bytes: int = 2 << 20

    def inside(self) -> dict[str, int]:
        return {
            "RLIMIT_CPU": self.cpu_s,
            "RLIMIT_AS": self.memory_bytes,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.descriptors,
            "RLIMIT_CORE": 0,
        }


@dataclass(frozen=True)
class Outcome:
    """What came back: the runner's messages with their lengths, and how it ended.

    `ended` is "exit", "cpu" (out of CPU time), "killed", "wall" or "flood"; `started` whether the runner came to life,
    without which nothing is known about the program; `noise` the start of whatever else was written. Nothing in them
    can be trusted, once the program's own code runs.
    """

    messages: tuple[tuple[dict[str, Any], int], ...]
    ended: str
    started: bool
    noise: str


@dataclass(frozen=True)
class Sandbox:
    """A way to run the runner: its name, the command, the user that it must become (None: stay)."""

    name: str
    command: tuple[str, ...]
    user: int | None = None
    limits: Limits = field(default_factory=Limits)

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
        if self.name == "unsafe":
            # The count of processes is the whole user's there, not the program's.
            del inside["RLIMIT_NPROC"]
        become: dict[str, Any] = {}
        if self.user is not None:
            become = {"user": self.user, "group": self.user, "extra_groups": []}
        with tempfile.TemporaryDirectory() if self.name == "unsafe" else nullcontext("/") as folder:
            process = subprocess.Popen(
                self.command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                cwd=folder,
                start_new_session=True,
                **become,
            )
            talk = Conversation(process, {**job, "limits": inside}, answer, self.limits.output_bytes)
            ended = self._watch(process, talk)
        return _outcome(talk, ended, process.returncode)

    def _watch(self, process: "subprocess.Popen[bytes]", talk: Conversation) -> str:
        deadline, ended = time.monotonic() + self.limits.wall_s, "exit"
        try:
            while not talk.ended and (left := deadline - time.monotonic()) > 0:
                talk.step(left)
            if talk.flood:
                ended = "flood"
            elif not talk.ended:
                ended = "wall"
            else:
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    ended = "wall"
        finally:
            # The whole session; what left it inside bubblewrap dies with the process namespace.
            _kill_session(process)
            talk.close()
            process.wait()
        return ended


def _kill_session(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def _outcome(talk: Conversation, ended: str, code: int) -> Outcome:
    # bubblewrap reports a signal as 128 + its number, subprocess as its negative.
    number = -code if code < 0 else code - 128
    if ended == "exit" and number == signal.SIGXCPU:
        ended = "cpu"
    elif ended == "exit" and 0 < number < signal.NSIG:
        ended = "killed"
    noise = bytes(talk.noise).decode("utf-8", "replace")
    return Outcome(tuple(talk.messages), ended, talk.started, noise)
