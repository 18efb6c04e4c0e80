"""Who takes part in a study's calls: what a job is called, how far it is, and whether it still lives."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.models.limits import Limits
from voirdire.models.spec import Answer

# A job of another machine that has not been seen for so long has ended without a word.
SILENT_S = 60.0


@dataclass
class Counts:
    """What a job has got so far, for those who watch."""

    done: int = 0
    total: int = 0
    failed: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    priced: bool = True

    def add(self, answer: Answer) -> None:
        self.done += 1
        self.failed += answer.status == "error"
        self.tokens += (answer.prompt_tokens or 0) + (answer.completion_tokens or 0)
        self.cost_usd += answer.cost_usd or 0.0
        self.priced = self.priced and (answer.cost_usd is not None or answer.status == "error")


def identity(limits: Limits, journal: Path, since: float) -> dict[str, Any]:
    """What a job's line in the shared state says of it that doesn't change."""
    return {
        "job": job_name(journal, limits.shared),
        "pool": limits.pool,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "born": _born(os.getpid()),
        "since": since,
        "journal": str(journal),
    }


def job_name(journal: str | Path, shared: str | None) -> str:
    """What a job is called, by its journal's place beside the study's shared state: judge blind gsm8k rook larch."""
    path = Path(journal).with_suffix("")
    folder = Path(shared or journal).parent
    return " ".join(path.relative_to(folder).parts) if path.is_relative_to(folder) else path.name


def is_dead(job: dict[str, Any], now: float) -> bool:
    """Whether the process behind a line of the state has ended without saying so."""
    if job["host"] == socket.gethostname() and job["born"] is not None:
        return _born(job["pid"]) != job["born"]
    return now - job["seen"] > SILENT_S


def _born(pid: int) -> str | None:
    """When a process of this machine began, in the kernel's ticks, which tells it from a later one of the same number.

    None where there is none.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in brackets may hold anything.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()
