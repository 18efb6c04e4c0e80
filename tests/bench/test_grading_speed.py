"""How long the grading of programs takes, beside what starting so many bare Pythons in the same sandbox takes."""

import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from voirdire.benchmarks import Source, load
from voirdire.grading.backends import find_sandbox
from voirdire.grading.code import grade_programs

pytestmark = pytest.mark.bench

WORKERS = 2
# The least that a runner may say.
BARE = """import os; os.write(1, b'{"ready": true}\\n')"""


def test_time_of_grading_the_references_of_mbpp(shared_data):
    source = Source(kind="path", path=str(shared_data / "benchmarks" / "mbpp.jsonl"))
    items = load("mbpp", source, 0).items
    right = [f"```python\n{item.reference}\n```" for item in items]
    # As wrong as a program that starts can be; each makes its item's reference run, for the first time here.
    half_wrong = [
        response.replace("return", "return None and") if number % 2 else response
        for number, response in enumerate(right)
    ]
    sandbox = find_sandbox()
    bare = replace(sandbox, command=(*sandbox.command[:-1], BARE))
    print(f"\nprograms: {len(items)}, workers: {WORKERS}, sandbox: {sandbox.name}, cores: {os.cpu_count()}")

    def start_bare() -> None:
        with ThreadPoolExecutor(WORKERS) as pool:
            assert all(pool.map(lambda item: bare.run({"item": item.item_id}).started, items))

    floor = _timed("bare Pythons", len(items), start_bare)
    took = _timed("references", len(items), lambda: _all_right(grade_programs(items, right, sandbox, WORKERS)))
    print(f"references: {took / floor:.2f} times the bare Pythons")
    _timed("half of them wrong", len(items), lambda: grade_programs(items, half_wrong, sandbox, WORKERS))
    _timed("the same again", len(items), lambda: grade_programs(items, half_wrong, sandbox, WORKERS))
    assert took < 15 or took < 2.5 * floor, "500 programs take 15 s on 2 idle cores at most"


def _all_right(grades: list) -> None:
    assert [grade.how for grade in grades if not grade.truth] == []


def _timed(name: str, programs: int, run: Callable[[], object]) -> float:
    """Seconds of the wall clock; prints them, with this process's CPU time and that of the whole machine."""
    own, whole, start = _own_cpu(), _machine_cpu(), time.perf_counter()
    run()
    took = time.perf_counter() - start
    print(
        f"{name}: {took:.1f} s, {programs / took:.0f} programs/s; CPU: {_own_cpu() - own:.1f} s in this process, "
        f"{_machine_cpu() - whole:.1f} s of all processes of the machine"
    )
    return took


def _own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _machine_cpu() -> float:
    """Programs in a sandbox are no children of this process's, so only the whole machine's count has them."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
