"""Who takes part in a study's calls: what a job is called, how far it is, and whether it still lives."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.models.limits import Limits
from voirdire.models.spec import Answer

# A job of another machine that has not been seen for so long has ended without a word.
SILENT_S = 60.0
_LOOKS_S = 1.0
# What every job's line has, and others read.
LINE = {
    "job",
    "pool",
    "host",
    "pid",
    "born",
    "seen",
    "in_flight",
    "waiting",
    "reserved_usd",
    "spent_usd",
    "journal",
    "from",
}


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
        """Count an answer of this run."""
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


class Watch:
    """Tells which of the jobs in the shared state have ended without saying so.

    A job of this machine is looked up among its processes. One of another is dead when its line has not changed for
    SILENT_S by this process's own clock: the clocks of two machines need not agree.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, float]] = {}  # by job: what its line said, and since when

    def dead(self, jobs: Mapping[str, Mapping[str, Any]]) -> list[str]:
        now = self._clock()
        for name, job in jobs.items():
            if name not in self._seen or self._seen[name][0] != job["seen"]:
                self._seen[name] = (job["seen"], now)
        return [name for name, job in jobs.items() if self._is_dead(name, job, now)]

    def _is_dead(self, name: str, job: Mapping[str, Any], now: float) -> bool:
        if job["host"] == socket.gethostname() and job["born"] is not None:
            return _born(job["pid"]) != job["born"]
        return now - self._seen[name][1] > SILENT_S


def may_go(name: str, jobs: Mapping[str, Mapping[str, Any]], slots: int, now: float) -> bool:
    """Whether a waiting job may take one of its endpoint's free slots.

    Jobs that have less than their share of the `slots` come first, and among them who has waited longest: else a job
    would take again what it has just freed, before the others have looked.
    """
    pool = jobs[name]["pool"]
    here = {each: job for each, job in jobs.items() if job["pool"] == pool and (job["in_flight"] or job["waiting"])}
    share = max(1, slots // max(1, len(here)))

    def rank(job: Mapping[str, Any]) -> tuple[bool, float]:
        return job["in_flight"] >= share, job["waiting"] or now

    # One that waits looks several times a second; one that doesn't is dead, stopped, or waits for something else.
    waiting = [job for each, job in here.items() if each != name and job["waiting"] and now - job["seen"] < _LOOKS_S]
    ahead = sum(rank(job) < rank(jobs[name]) for job in waiting)
    return ahead < slots - sum(job["in_flight"] for job in here.values())


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
