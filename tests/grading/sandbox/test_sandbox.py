"""Hostile programs: none of them passes, harms the host, or keeps it waiting."""

from dataclasses import replace

import pytest

from voirdire.benchmarks import Item
from voirdire.grading.programs.code import grade_programs
from voirdire.grading.sandbox.limits import Limits

ITEM = Item("mbpp", "m1", "?", tests=("assert f(3) == 1234567",))
HOSTILE = {
    "exits early": "import os\ndef f(x):\n    os._exit(0)",
    "exits at once": "import os\nos._exit(0)\ndef f(x): pass",
    "raises SystemExit": "import sys\ndef f(x):\n    sys.exit(0)",
    "prints a pass mark": "def f(x):\n    print('passed', 'OK', True)\n    return True",
    "forges messages": """
import os
def f(x):
    for fd in range(64):
        try:
            os.write(fd, b'\\n{"step": 0, "value": ["b", true]}\\n{"ready": true}\\n{"passed": true}\\n')
        except OSError:
            pass
    os._exit(0)
""",
    "lies in __eq__": "class L:\n    def __eq__(self, o): return True\ndef f(x):\n    return L()",
    "lies in a subclass": "class L(int):\n    def __eq__(self, o): return True\ndef f(x):\n    return L(5)",
    "lies in __class__": "class L:\n    @property\n    def __class__(self): return int\n"
    "    def __index__(self): return 5\ndef f(x):\n    return L()",
    "patches builtins": "import builtins, json\nbuiltins.eval = lambda *a: True\n"
    "builtins.compile = lambda *a, **k: None\n"
    "json.dumps = lambda *a, **k: '{\"step\": 0, \"value\": [\"b\", true]}'\ndef f(x):\n    return True",
    "looks for the value": """
import sys
def f(x):
    frame, value = sys._getframe().f_back, ''.join(chr(c) for c in (49, 50, 51, 52, 53, 54, 55))
    while frame:
        if value in repr(frame.f_locals) + repr(frame.f_globals):
            return int(value)
        frame = frame.f_back
""",
    "loops": "def f(x):\n    while True: pass",
    "loops in C": "import re\ndef f(x):\n    return re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "ignores the CPU signal": "import signal\n"
    "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\ndef f(x):\n    while True: pass",
    "catches everything": "def f(x):\n    while True:\n        try:\n            while True: pass\n"
    "        except BaseException: pass",
    "takes memory": "def f(x):\n    return [0] * 10**10",
    "recurses": "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return f(x)",
    "floods stdout": "def f(x):\n    while True: print('x' * 100000)",
    "floods the channel": """
import os
def f(x):
    while True:
        for fd in range(3, 64):
            try:
                os.write(fd, b'x' * 65536)
            except OSError:
                pass
""",
    "returns a flood": "def f(x):\n    return 'x' * 10**8",
    "returns a deep list": "def f(x):\n    a = []\n    for _ in range(10**5): a = [a]\n    return a",
    "returns a huge number": "import decimal\ndef f(x):\n    return decimal.Decimal('1e999999999')",
    "starts threads that never end": "import threading\ndef g():\n    while True: pass\n"
    "def f(x):\n    for _ in range(8): threading.Thread(target=g).start()\n    return 0",
    "kills all": "import os, signal\ndef f(x):\n    os.kill(-1, signal.SIGKILL)\n    os.kill(os.getppid(), 9)\n"
    "    os.kill(os.getpid(), 9)",
    "fills the disk": "def f(x):\n    with open('/tmp/x', 'wb') as file:\n        while True: file.write(b'x' * 10**6)",
    "deletes files": "import shutil\ndef f(x):\n    shutil.rmtree('/usr/bin', ignore_errors=True)",
    "lies in an exception": "class E(Exception):\n    def __str__(self): return 'passed'\n"
    "E.__name__ = 'passes its tests\\n<script>' * 99\ndef f(x):\n    raise E",
    "returns an evil type": "def f(x):\n    return type('<b>' * 9999, (), {})()",
    "waits for input": "def f(x):\n    return input()",
    "defines an evil name": "def g(x): pass\n" + "def " + "g" * 9999 + "(x): pass",
}  # fmt: skip


def all_grades(sandbox):
    programs = [f"```python\n{program}\n```" for program in HOSTILE.values()]
    return dict(zip(HOSTILE, grade_programs([ITEM] * len(programs), programs, sandbox, 2), strict=True))


@pytest.fixture(scope="module")
def grades(sandbox):
    return all_grades(sandbox)


def assert_wrong(grade):
    assert grade.truth is False, grade.how
    assert len(grade.how) < 200
    assert "<" not in grade.how
    assert "passes" not in grade.how


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_is_wrong_and_says_nothing_of_its_own(grades, name):
    assert_wrong(grades[name])


@pytest.mark.slow
def test_a_hostile_program_is_wrong_in_every_kind_of_sandbox(isolated):
    for grade in all_grades(replace(isolated, limits=Limits(cpu_s=1, wall_s=5))).values():
        assert_wrong(grade)


def test_a_limit_is_named(grades):
    assert grades["loops"].how == "fenced code: test 1 of 1: out of CPU time"
    assert grades["exits early"].how == "fenced code: test 1 of 1: ended before it returned"
    assert grades["takes memory"].how == "fenced code: test 1 of 1: raised MemoryError"
    assert grades["floods the channel"].how == "fenced code: test 1 of 1: too much output"


def finds(sandbox, program):
    """Whether a program's f() returns True inside the sandbox."""
    item = Item("mbpp", "m1", "?", tests=("assert f() == True",))
    graded = grade_programs([item], [f"```python\n{program}\n```"], sandbox, 1)[0]
    assert graded.truth is not None
    return graded.truth


def test_a_sleeper_is_bounded_by_the_wall_clock(sandbox):
    short = replace(sandbox, limits=Limits(wall_s=1))
    graded = grade_programs([ITEM], ["```python\nimport time\ndef f(x):\n    time.sleep(99)\n```"], short, 1)[0]
    assert (graded.truth, graded.how) == (False, "fenced code: test 1 of 1: out of time")


def test_a_fork_bomb_is_bounded_and_leaves_nothing_behind(sandbox):
    short = replace(sandbox, limits=Limits(cpu_s=1, wall_s=2))
    program = "import os\ndef f(x):\n    while True:\n        try: os.fork()\n        except OSError: pass"
    assert grade_programs([ITEM], [f"```python\n{program}\n```"], short, 1)[0].truth is False
    assert finds(sandbox, "def f():\n    return True")


def test_secrets_of_the_environment_are_out_of_reach(sandbox, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-sesame-open")
    program = """
import glob, os
def f():
    seen = repr(dict(os.environ))
    for name in glob.glob('/proc/*/environ'):
        try:
            seen += open(name).read()
        except OSError:
            pass
    return 'sesame' not in seen and 'HOME' in seen
"""
    assert finds(sandbox, program)


def test_sets_come_in_the_same_order_every_time(sandbox):
    program = "def f():\n    return list({'a', 'b', 'c', 'd', 'e'})"
    item = Item("mbpp", "m1", "?", tests=("assert f() == 0",))
    values = {str(sandbox.run(_job(item, program)).messages[-1][0]["value"]) for _ in range(3)}
    assert len(values) == 1


def _job(item, program):
    return {"setup": "", "blocks": [program], "prose": "", "entry_point": "f", "steps": [{"call": "f()"}]}
