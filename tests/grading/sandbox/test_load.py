"""The same programs get the same grades alone and on a machine that is full."""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest

from voirdire.benchmarks import Item
from voirdire.grading.programs.code import grade_programs
from voirdire.grading.sandbox.limits import Limits

ITEM = Item("mbpp", "m1", "?", tests=("assert f(3) == 9", "assert f(4) == 16"))
# Goes on until this share of the limit on CPU time is used, in each of two calls.
SPIN = """
import time
def spin(share):
    end = time.process_time() + share * {cpu_s}
    # Asking the time enters the kernel, which then counts too much for its own limit on CPU time.
    while time.process_time() < end: pass
"""
PROGRAMS = {
    "right": ("def f(x):\n    return x * x", True, "passes"),
    "wrong": ("def f(x):\n    return x + 6", False, "test 2 of 2: wrong value"),
    "raises": ("def f(x):\n    return x // (x - 4)", False, "test 1 of 2: "),
    "wrong name": ("def g(x):\n    return x * x", False, "wrong function name"),
    "slow and right": (SPIN + "def f(x):\n    spin(.15)\n    return x * x", True, "passes"),
    "slow and wrong": (SPIN + "def f(x):\n    spin(.15)\n    return 9", False, "test 2 of 2: wrong value"),
    "near the limit": (SPIN + "def f(x):\n    spin(.42)\n    return x * x", True, "passes"),
    "slow to load": (SPIN + "spin(.3)\ndef f(x):\n    return x * x", True, "passes"),
    "over the limit": (SPIN + "def f(x):\n    spin(2)\n    return x * x", False, "test 1 of 2: out of CPU time"),
    "over it at last": (SPIN + "def f(x):\n    spin(.8)\n    return x * x", False, "test 2 of 2: out of CPU time"),
    "sleeps a little": ("import time\ndef f(x):\n    time.sleep(.05)\n    return x * x", True, "passes"),
    "sleeps for ever": ("import time\ndef f(x):\n    time.sleep(9999)", False, "test 1 of 2: out of time"),
    "takes what it may": ("kept = b'x' * (100 << 20)\ndef f(x):\n    return x * x", True, "passes"),
    "takes too much": ("def f(x):\n    return b'x' * (2 << 30)", False, "test 1 of 2: raised MemoryError"),
    "uses a thread": (
        SPIN + "import threading\ndef f(x):\n    got = []\n"
        "    thread = threading.Thread(target=lambda: (spin(.1), got.append(x * x)))\n"
        "    thread.start()\n    thread.join()\n    return got[0]",
        True,
        "passes",
    ),
}  # fmt: skip
# Ends by itself should whoever started it be killed.
BUSY = """
import os
parent = os.getppid()
print(flush=True)
while os.getppid() == parent:
    for _ in range(10**6): pass
"""


@contextmanager
def a_full_machine():
    """Four busy processes a core, each in a session of its own: the kernel may share out time by sessions."""
    count = 4 * len(os.sched_getaffinity(0))
    start = {"stdout": subprocess.PIPE, "start_new_session": True}
    busy = [subprocess.Popen([sys.executable, "-I", "-S", "-c", BUSY], **start) for _ in range(count)]
    try:
        for process in busy:
            process.stdout.readline()
        yield
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()
            process.stdout.close()


def grades(sandbox, limits):
    programs = [f"```python\n{program.replace('{cpu_s}', str(limits.cpu_s))}\n```" for program, *_ in PROGRAMS.values()]
    found = grade_programs([ITEM] * len(programs), programs, replace(sandbox, limits=limits), 4)
    return {name: (grade.truth, grade.how) for name, grade in zip(PROGRAMS, found, strict=True)}


def assert_as_expected(found):
    for name, (truth, how) in found.items():
        assert (name, truth) == (name, PROGRAMS[name][1]), how
        assert PROGRAMS[name][2] in how, name


def test_grades_are_the_same_alone_and_on_a_full_machine(sandbox):
    # The machine gives a program a tenth of a core, so that most take far longer than they may sleep.
    limits = Limits(cpu_s=1, wall_s=1.5)
    alone = grades(sandbox, limits)
    assert_as_expected(alone)
    with a_full_machine():
        assert grades(sandbox, limits) == alone


@pytest.mark.slow
def test_grades_are_the_same_at_the_limits_of_a_study(isolated):
    limits = Limits(wall_s=10)
    alone = grades(isolated, limits)
    assert_as_expected(alone)
    with a_full_machine():
        assert grades(isolated, limits) == alone
