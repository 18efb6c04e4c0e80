"""What all processes of one program use together, seen from outside through /proc.

Limits of single processes are the kernel's business, but for their CPU time, which it counts too roughly. These are
the others: memory and CPU time of all together, and how long a program may be asleep. A machine's load is no fault of
the program: time in which a thread of it could run, and so runs or waits for a CPU, is bounded by CPU time alone. Only
a program that could run for very long without getting to its limit is given up, and then nothing is said about it.
"""

import functools
import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from voirdire.grading.sandbox.limits import Limits

# Address space of all processes, in those of one: memory that no process's size shows is bounded by it.
_SPACES = 4


@dataclass(frozen=True)
class _Process:
    pid: int
    runnable: bool
    own_ticks: int
    waited_ticks: int
    address_space: int
    resident: int


class Watch:
    """Watches a process and its descendants; `scratch` is a folder of theirs on the host, without folders in it.

    Scratch folders within namespaces have a size by themselves, and are only looked at for the number of files.
    """

    def __init__(self, pid: int, limits: Limits, scratch: Path | None = None) -> None:
        self._pid, self._limits, self._scratch = pid, limits, scratch
        self._elapsed_s = self._asleep_s = 0.0
        self._ticks: dict[int, int] = {}
        self._lock = threading.Lock()

    def look(self, elapsed_s: float) -> str | None:
        """Which limit is passed, if any, `elapsed_s` after the last look.

        "memory", "cpu", "wall" (asleep for too long), "flood" (files), or "busy" (no limit, but it takes for
        ever). Safe to call from several threads.
        """
        with self._lock:
            return self._look(elapsed_s)

    def _look(self, elapsed_s: float) -> str | None:
        limits = self._limits
        processes = list(_descent(self._pid))
        self._elapsed_s += elapsed_s
        if not any(process.runnable for process in processes):
            self._asleep_s += elapsed_s
        if self._holds_too_much(processes):
            return "memory"
        if self._takes_too_long(processes):
            return "cpu"
        if self._leaves_too_much(processes):
            return "flood"
        if self._asleep_s >= limits.wall_s:
            return "wall"
        return "busy" if self._elapsed_s >= limits.patience_s else None

    def _holds_too_much(self, processes: list[_Process]) -> bool:
        if sum(process.address_space for process in processes) > _SPACES * self._limits.memory_bytes:
            return True
        most = self._limits.total_memory_bytes
        # Shared pages count for each process here, and once in what takes the kernel longer to say.
        resident = sum(process.resident for process in processes)
        return resident > most and sum(_share(process) for process in processes) > most

    def _leaves_too_much(self, processes: list[_Process]) -> bool:
        limits = self._limits
        if self._scratch is None:
            return any(_files_within(process.pid) > limits.scratch_files for process in processes)
        sizes = _sizes(self._scratch)
        return len(sizes) > limits.scratch_files or sum(sizes) > limits.scratch_bytes

    def _takes_too_long(self, processes: list[_Process]) -> bool:
        a_second = os.sysconf("SC_CLK_TCK")
        self._ticks.update({process.pid: process.own_ticks for process in processes})
        # The living and the dead; those for whom nobody waited as last seen.
        waited = sum(process.own_ticks + process.waited_ticks for process in processes)
        total = max(waited, sum(self._ticks.values()))
        longest = max((process.own_ticks for process in processes), default=0)
        return longest > self._limits.cpu_s * a_second or total > self._limits.total_cpu_s * a_second


def _descent(pid: int) -> Iterator[_Process]:
    listed = children_are_listed()
    families = {} if listed else _families()
    waiting = [pid]
    while waiting:
        pid = waiting.pop()
        try:
            process, children = _look_at(f"/proc/{pid}", pid, listed)
        except (OSError, ValueError, IndexError):
            # It has ended meanwhile.
            continue
        waiting += children if listed else families.get(pid, [])
        yield process


@functools.cache
def children_are_listed() -> bool:
    """Whether the kernel lists a thread's children, as all but self-made ones do."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _families() -> dict[int, list[int]]:
    """The children of every process of the machine: far slower to find."""
    families: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        with suppress(OSError, IndexError, ValueError):
            families.setdefault(int(_fields(f"/proc/{int(name)}/stat")[1]), []).append(int(name))
    return families


def _look_at(folder: str, pid: int, listed: bool) -> tuple[_Process, list[int]]:
    runnable, children = False, []
    for thread in os.listdir(f"{folder}/task"):
        with suppress(OSError):
            runnable = runnable or _fields(f"{folder}/task/{thread}/stat")[0] == "R"
            if listed:
                children += [int(child) for child in _text(f"{folder}/task/{thread}/children").split()]
    fields = _fields(f"{folder}/stat")
    space, resident = _text(f"{folder}/statm").split()[:2]
    # utime, stime, cutime and cstime are the fields 14 to 17.
    own, waited = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return _Process(pid, runnable, own, waited, int(space) * mmap.PAGESIZE, int(resident) * mmap.PAGESIZE), children


def _fields(path: str) -> list[str]:
    """The fields from the third, the state; the second may hold anything."""
    return _text(path).rpartition(")")[2].split()


def _text(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def _share(process: _Process) -> int:
    """A process's memory, what it shares by parts; all of it where that may not be read."""
    try:
        lines = [line.split() for line in _text(f"/proc/{process.pid}/smaps_rollup").splitlines()]
    except OSError:
        return process.resident
    return sum(int(line[1]) << 10 for line in lines if line[0] in ("Pss:", "SwapPss:"))


def _sizes(folder: Path) -> list[int]:
    """What each file of a folder takes."""
    sizes = []
    with os.scandir(folder) as entries:
        for entry in entries:
            # It may go while it is counted.
            with suppress(OSError):
                sizes.append(entry.stat(follow_symlinks=False).st_blocks * 512)
    return sizes


def _files_within(pid: int) -> int:
    """The files in the scratch folders that a process has to itself; 0 where it shares the host's, or none may look."""
    root, files = f"/proc/{pid}/root", 0
    with suppress(OSError):
        for name in ("/tmp", "/dev/shm"):
            if os.stat(root + name).st_dev != os.stat(name).st_dev:
                held = os.statvfs(root + name)
                files += held.f_files - held.f_ffree
    return files


def kills_for_memory() -> int:
    """How many processes the kernel has killed for want of memory, on the whole machine; 0 where it doesn't say."""
    try:
        counts = _text("/proc/vmstat")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in counts.splitlines() if line.startswith("oom_kill ")), 0)
