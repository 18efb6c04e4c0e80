"""What one untrusted program may use."""

import math
from dataclasses import dataclass

_LAST_RESORT = 1.5


@dataclass(frozen=True)
class Limits:
    """Per process: CPU time, address space, size of a file, descriptors. Per program: processes, output, and the rest.

    CPU time decides. A process's is read from outside, where the kernel says it exactly; its own limit counts whole
    ticks, on a busy machine a sixth too many, and is only the last resort. `wall_s` bounds the time in which nothing
    of a program could run, so that a busy machine changes no grade; after `patience_s` it is given up without a grade.
    """

    cpu_s: int = 6
    wall_s: float = 60.0
    memory_bytes: int = 1 << 30
    processes: int = 32
    file_bytes: int = 1 << 20
    descriptors: int = 64
    output_bytes: int = 2 << 20
    total_memory_bytes: int = 3 << 29
    scratch_bytes: int = 16 << 20
    scratch_files: int = 2000
    patience_s: float = 900.0

    @property
    def total_cpu_s(self) -> float:
        """CPU time of all processes of a program together."""
        return 2.0 * self.cpu_s

    def inside(self) -> dict[str, int]:
        """The limits that a process is given by the kernel, by their names in `resource`."""
        return {
            "RLIMIT_CPU": math.ceil(_LAST_RESORT * self.cpu_s),
            "RLIMIT_AS": self.memory_bytes,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.descriptors,
            "RLIMIT_CORE": 0,
        }
