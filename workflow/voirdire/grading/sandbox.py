"""Runs untrusted programs, each in a sandbox of its own.

`bubblewrap`: new user, process, network and mount namespaces, no network, no further namespaces, no capabilities; only
/usr and the Python installation can be read, only a small memory-backed /tmp can be written; the environment is empty.
Resource limits are set inside (outside they would hit bubblewrap). Root becomes nobody first, since the limit on
processes does not bind root. Limits of CPU time decide; the wall clock only bounds what sleeps.

`unsafe`: a plain subprocess with the same limits and nothing else. Never chosen by itself.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# No password, key or path of the person who grades; a fixed hash seed, so that sets print and iterate alike.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
}
_EXPLAINED = 300


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
    without which nothing is known about the program; `noise` the start of whatever else was written.
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
        inside = self.limits.inside()
        if self.name == "unsafe":
            # The count of processes is the whole user's there, not the program's.
            del inside["RLIMIT_NPROC"]
        payload = json.dumps({**job, "limits": inside}).encode()
        become: dict[str, Any] = {}
        if self.user is not None:
            become = {"user": self.user, "group": self.user, "extra_groups": []}
        with tempfile.TemporaryFile() as job_file, tempfile.TemporaryDirectory() as scratch:
            job_file.write(payload)
            job_file.seek(0)
            process = subprocess.Popen(
                self.command,
                stdin=job_file,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                cwd=scratch if self.name == "unsafe" else "/",
                start_new_session=True,
                **become,
            )
            output, ended = self._watch(process)
        return _outcome(output, ended, process.returncode)

    def _watch(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, str]:
        assert process.stdout is not None
        deadline = time.monotonic() + self.limits.wall_s
        output, ended = bytearray(), "exit"
        try:
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                    ended = "wall"
                    break
                chunk = os.read(process.stdout.fileno(), 1 << 16)
                if not chunk:
                    break
                output += chunk
                if len(output) > self.limits.output_bytes:
                    ended = "flood"
                    break
            if ended == "exit":
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    ended = "wall"
        finally:
            # The whole session; what left it inside bubblewrap dies with the process namespace.
            _kill_session(process)
            process.stdout.close()
            process.wait()
        return bytes(output), ended


def _kill_session(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def _outcome(output: bytes, ended: str, code: int) -> Outcome:
    messages, noise = [], []
    for line in output.split(b"\n"):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            messages.append((message, len(line)))
        else:
            noise.append(line)
    # bubblewrap reports a signal as 128 + its number, subprocess as its negative.
    number = -code if code < 0 else code - 128
    if ended == "exit" and number == signal.SIGXCPU:
        ended = "cpu"
    elif ended == "exit" and 0 < number < signal.NSIG:
        ended = "killed"
    started = bool(messages) and messages[0][0] == {"ready": True}
    return Outcome(
        tuple(messages[1:]) if started else (), ended, started, b" ".join(noise)[:_EXPLAINED].decode("utf-8", "replace")
    )
