"""How long the grading of programs takes, beside what starting so many bare Pythons in the same sandbox takes."""

import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest

from voirdire.benchmarks import Source, load
from voirdire.grading.programs.code import grade_programs
from voirdire.grading.sandbox.backends import find_sandbox

pytestmark = pytest.mark.bench

WORKERS, BATCH, GOAL_S = 2, 25, 15
# The least that a runner may say.
BARE = """import os; os.write(1, b'{"ready": true}\\n'); os._exit(0)"""
BARE_NAME, NAME, WRONG_NAME = "bare Pythons", "references", "half of them wrong"


def test_time_of_grading_the_references_of_mbpp(shared_data):
    source = Source(kind="path", path=str(shared_data / "benchmarks" / "mbpp.jsonl"))
    items = load("mbpp", source, 0).items
    right = [f"```python\n{item.reference}\n```" for item in items]
    # For each that fails the item's reference is run too.
    wrong = [text.replace("return", "return None and") if n % 2 else text for n, text in enumerate(right)]
    sandbox, busy = find_sandbox(), os.getloadavg()[0]
    bare = replace(sandbox, command=(*sandbox.command[:-1], BARE))
    spent: dict[str, Spent] = defaultdict(Spent)
    failed = []
    # In turns, so that whatever else the machine does falls upon all of them.
    for start in range(0, len(items), BATCH):
        part = slice(start, start + BATCH)
        spent[BARE_NAME].on(lambda part=part: start_all(bare, len(items[part])))
        graded = spent[NAME].on(lambda part=part: grade_programs(items[part], right[part], sandbox, WORKERS))
        failed += [one.how for one in graded if not one.truth]
        spent[WRONG_NAME].on(lambda part=part: grade_programs(items[part], wrong[part], sandbox, WORKERS))
    print(f"\n{len(items)} programs, {WORKERS} workers, {os.cpu_count()} cores, sandbox {sandbox.name}")
    for name, one in spent.items():
        speed, ratio = len(items) / one.wall_s, one.wall_s / spent[BARE_NAME].wall_s
        print(
            f"{name}: {one.wall_s:.1f} s, {speed:.0f} a second, {ratio:.2f} times the bare ones; CPU: "
            f"{one.own_s:.1f} s in this process, {one.machine_s:.1f} s of all processes of the machine"
        )
    met = "met" if spent[NAME].wall_s < GOAL_S else "missed"
    # A machine is as fast as it is: what the grader adds to the bare ones is its own.
    print(f"the goal of {GOAL_S} s: {met}, at {spent[NAME].wall_s / spent[BARE_NAME].wall_s:.2f} times the bare ones")
    if busy > 1:
        print(f"{busy:.0f} processes waited for the cores already: the time says nothing of the grader's speed")
    assert failed == []


def start_all(sandbox, count):
    with ThreadPoolExecutor(WORKERS) as pool:
        assert all(pool.map(lambda number: sandbox.run({"number": number}).started, range(count)))


@dataclass
class Spent:
    """Time of the wall clock, CPU time of this process, and of all of the machine's.

    Programs in a sandbox are no children of this process's, so only the machine's count has them.
    """

    wall_s: float = 0.0
    own_s: float = 0.0
    machine_s: float = 0.0

    def on(self, run: Callable[[], list[Any] | None]) -> list[Any] | None:
        before = _times()
        done = run()
        wall_s, own_s, machine_s = (now - then for now, then in zip(_times(), before, strict=True))
        self.wall_s, self.own_s, self.machine_s = self.wall_s + wall_s, self.own_s + own_s, self.machine_s + machine_s
        return done


def _times() -> tuple[float, float, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    machine = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    return time.perf_counter(), usage.ru_utime + usage.ru_stime, machine
