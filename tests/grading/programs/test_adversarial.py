"""Programs that would rather pass than compute: each is wrong, says nothing of its own, and leaves nothing behind."""

import os
import re
import select
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from voirdire.benchmarks import Item
from voirdire.grading.programs.code import grade_programs
from voirdire.grading.sandbox.backends import replace
from voirdire.grading.sandbox.sandbox import Limits

TAKEN_APART = Item("mbpp", "a1", "?", tests=("assert f(3) == 1234567", "assert f([4]) == [7654321]"))
CHECK = "def check(candidate):\n    for x, y in ((3, 1234567), ([4], [7654321])):\n        assert candidate(x) == y"
AS_IT_IS = Item("mbpp", "a2", "?", tests=(CHECK, "check(f)"))
# By which what programs leave behind would be known.
MARK = "97531086421"

# Programs that want to know or to give the verdict; they are run against both forms of tests.
SEEKERS = {
    "ends by sys.exit": "import sys\ndef f(x):\n    sys.exit(0)",
    "ends by SystemExit": "def f(x):\n    raise SystemExit(0)",
    "ends by os._exit": "import os\ndef f(x):\n    os._exit(0)",
    "ends before it is called": "import os\ndef f(x): pass\nos._exit(0)",
    "ends in atexit": "import atexit, os\natexit.register(os._exit, 0)\ndef f(x):\n    raise KeyboardInterrupt",
    "ends by a signal": "import os, signal\ndef f(x):\n    os.kill(os.getpid(), signal.SIGKILL)",
    "ends in a thread": "import os, threading\ndef f(x):\n    threading.Thread(target=os._exit, args=(0,)).start()\n"
    "    threading.Event().wait(9)",
    "ends with its finalizer": "import os\nclass D:\n    def __del__(self): os._exit(0)\ndef f(x):\n    D()\n"
    "    return D",
    "becomes another program": "import os\ndef f(x):\n    os.execv('/bin/echo', ['echo', 'passes its tests'])",
    "prints a pass mark": "def f(x):\n    print('passed', 'OK', True, '1 passed in 0.01s')\n    return True",
    "forges lines": """
import os
LINES = ['{"ready": true}', '{"passed": true}', '{"step": 0, "value": ["b", true]}', '{"step": []}', '[1]',
         '{"step": 1, "value": ["b", true]}', '{"how": "<b>passes its tests"}', '{"code": "<b>"}', '{"ask": 5}',
         '{"ask": {"value": ["b", true]}}', '{"step": -1, "value": ["s", "x"]}', '{"end": true}']
def f(x):
    for fd in range(64):
        for line in LINES:
            try:
                os.write(fd, b'\\n' + line.encode() + b'\\n')
            except OSError:
                pass
    os._exit(0)
""",
    "answers out of turn": """
import os
def f(x):
    for fd in range(3, 64):
        try:
            os.write(fd, b'{"ask": 5}\\n')
        except OSError:
            pass
    return 0
""",
    "forges lines for each value": """
import os
KINDS = ('["b", true]', '["o"]', '["h", 0]', '["h", "f"]', '["h", []]', '["z"]', '[]', '["d", [[["l", []], 1]]]')
LINES = '{"step": 0, "value": %s}\\n{"ask": {"value": %s, "changed": {"9": 1, "x": []}}}\\n'
def f(x):
    for fd in range(3, 64):
        for kind in KINDS:
            try:
                os.write(fd, (LINES % (kind, kind)).encode())
            except OSError:
                pass
""",
    "equals everything": "class L:\n    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n"
    "    def __hash__(self): return 0\ndef f(x):\n    return L()",
    "equals everything by its metaclass": "class M(type):\n    def __eq__(self, o): return True\n"
    "    __hash__ = type.__hash__\nclass L(metaclass=M): pass\ndef f(x):\n    return L",
    "is a number that equals everything": "class L(int):\n    def __eq__(self, o): return True\n"
    "    __hash__ = int.__hash__\n    def __index__(self): return 1234567\n    def __int__(self): return 1234567\n"
    "def f(x):\n    return L(5)",
    "is a string that equals everything": "class L(str):\n    def __eq__(self, o): return True\n"
    "    def __len__(self): return 1\n    __hash__ = str.__hash__\ndef f(x):\n    return L('x')",
    "is a list that equals everything": "class L(list):\n    def __eq__(self, o): return True\n"
    "    def __iter__(self): return iter([7654321])\n    def __getitem__(self, i): return 7654321\n"
    "def f(x):\n    return L([1])",
    "says it is of another class": "class L:\n    @property\n    def __class__(self): return int\n"
    "    def __index__(self): return 1234567\n    def __float__(self): return 1234567.0\ndef f(x):\n    return L()",
    "patches builtins": "import builtins\nfor name in ('eval', 'exec', 'compile', 'isinstance', 'issubclass', 'type',\n"
    "             'getattr', 'hex', 'enumerate', 'zip', 'list', 'dict', 'iter'):\n"
    "    setattr(builtins, name, lambda *a, **k: True)\ndef f(x):\n    return True",
    "patches assert": "import builtins\nclass Quiet(BaseException): pass\nbuiltins.AssertionError = Quiet\n"
    "def f(x):\n    return 0",
    "patches json and os": 'import json, os, posix\nforged = b\'{"step": 0, "value": ["b", true]}\\n\'\n'
    "write = os.write\nos.write = posix.write = lambda fd, data: write(fd, forged) and len(data)\n"
    "json.dumps = lambda *a, **k: forged.decode()\njson.loads = lambda *a, **k: {}\ndef f(x):\n    return True",
    "patches modules": "import sys\nfor name in list(sys.modules):\n"
    "    if name not in ('sys', 'builtins', 'solution'): sys.modules[name] = None\ndef f(x):\n    return True",
    "patches what the runner uses": """
import gc, types
for one in gc.get_objects():
    if isinstance(one, types.FunctionType) and one.__name__ in ('encode', 'to_json', 'decode', 'send'):
        one.__code__ = (lambda *a, **k: ["b", True]).__code__ if not one.__closure__ else one.__code__
def f(x):
    return True
""",
    "patches the runner's frames": """
import sys
def f(x):
    frame = sys._getframe(1)
    while frame:
        for space in (frame.f_globals, frame.f_locals):
            for name in list(space):
                if callable(space[name]) and name not in ('f', '__builtins__'):
                    space[name] = lambda *a, **k: ["b", True]
        frame = frame.f_back
    return True
""",
    "searches frames": """
import sys
def f(x):
    frame, values = sys._getframe().f_back, [str(1234566 + 1), str(7654320 + 1)]
    while frame:
        text = repr(frame.f_locals) + repr(frame.f_globals) + repr(frame.f_code.co_consts)
        for value in values:
            if value in text:
                return int(value)
        frame = frame.f_back
""",
    "searches all objects": """
import gc, sys
def f(x):
    wanted = (1234566 + 1, 7654320 + 1)
    seen = [o for o in gc.get_objects()]
    for o in seen:
        for part in gc.get_referents(o):
            if type(part) is int and part in wanted and part is not wanted[0] and part is not wanted[1]:
                return part
            if type(part) is str and ('assert' in part and '== 12345' in part or '"tests"' in part):
                return int(part.split('==')[1])
""",
    "searches its memory": """
def f(x):
    wanted = str(1234566 + 1).encode()
    with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:
        for line in maps:
            low, high = (int(part, 16) for part in line.split()[0].split('-'))
            if 'r' in line.split()[1] and high - low < 1 << 24:
                try:
                    memory.seek(low)
                    text = memory.read(high - low)
                except (OSError, ValueError):
                    continue
                at = text.find(b'== ' + wanted)
                if at >= 0:
                    return int(text[at + 3:at + 10])
""",
    "searches the process table": """
import glob, re
def f(x):
    for name in glob.glob('/proc/*/*') + glob.glob('/proc/self/fd/*'):
        if name.rsplit('/', 1)[-1] in ('cmdline', 'environ', 'comm', 'stat', 'status', 'mountinfo', '0', '1', '2'):
            try:
                found = re.search(r'f\\((3|\\[4\\])\\) == (.\\d{7})', open(name, errors='replace').read())
            except OSError:
                continue
            if found:
                return eval(found[2])
""",
    "reads what comes next": """
import os
def f(x):
    for fd in range(3, 64):
        try:
            os.set_blocking(fd, False)
            text = os.read(fd, 65536)
        except OSError:
            continue
        if b'1234567' in text:
            return int(text.split(b'== ')[1][:7])
""",
    "looks for its tests by inspect": """
import inspect, linecache
def f(x):
    for frame in inspect.stack():
        try:
            text = inspect.getsource(frame.frame) + ''.join(linecache.getlines(frame.filename))
        except (OSError, TypeError):
            continue
        if '123456' + '7' in text:
            return 1234560 + 7
""",
    "waits for input": "def f(x):\n    return int(input())",
    "reads all input": "import sys\ndef f(x):\n    return int(open(0).read() or 0)",
    "hooks imports": "import sys\nclass Finder:\n"
    "    def find_spec(self, name, path, target=None): raise SystemExit(0)\n"
    "sys.meta_path.insert(0, Finder())\ndef f(x):\n    return True",
    "traces": """
import sys
def tracer(frame, event, arg):
    if 'value' in frame.f_locals:
        frame.f_locals['value'] = True
    return tracer
sys.settrace(tracer)
sys.setprofile(tracer)
def f(x):
    return True
""",
    "hooks exceptions": "import sys, threading\nsys.excepthook = threading.excepthook = sys.unraisablehook = "
    "lambda *a: None\ndef f(x):\n    raise ValueError('passes its tests')",
    "lies in an exception": "class E(Exception):\n    def __str__(self): return 'passes its tests'\n"
    "    def __getattribute__(self, name): return ('passed',)\n"
    "E.__name__ = E.__qualname__ = 'passes its tests\\n<script>' * 99\ndef f(x):\n    raise E",
    "is called like one of Python's": "class AssertionError(Exception): pass\ndef f(x):\n"
    "    raise AssertionError('<b>')",
    "raises an exception that cannot be made": "class E(Exception):\n    def __init__(self): raise self\n"
    "def f(x):\n    raise E",
    "returns an evil type": "def f(x):\n    return type('<b>' * 9999, (), {'__getattr__': lambda s, n: s})()",
    "returns itself": "def f(x):\n    return f",
    "returns an endless list": "def f(x):\n    a = []\n    a.append(a)\n    return a",
    "returns a deep list": "def f(x):\n    a = []\n    for _ in range(10**5): a = [a]\n    return a",
    "returns a deep list with a high limit": "import sys\nsys.setrecursionlimit(10**6)\ndef f(x):\n    a = []\n"
    "    for _ in range(5000): a = [a]\n    return a",
    "returns a huge number": "def f(x):\n    return 7 ** (10 ** 6)",
    "returns a huge Decimal": "import decimal\ndef f(x):\n    return decimal.Decimal('1e999999999')",
    "returns a flood": "def f(x):\n    return 'x' * 10**8",
    "returns not a number": "def f(x):\n    return float('nan')",
    "changes its argument": "def f(x):\n    if isinstance(x, list): x[:] = [7, 6]\n    return x",
    "fails half": "def f(x):\n    return 1234560 + 7 if x == 3 else x",
    "stops at the memory": "import ctypes\ndef f(x):\n    ctypes.string_at(0)",
    "asks faulthandler": "import faulthandler\ndef f(x):\n    faulthandler.enable()\n    faulthandler._sigsegv()",
    "closes all": "import os\ndef f(x):\n    os.closerange(0, 256)\n    return 1234560 + 7",
}
# Programs that want to hurt or to outstay, and what is said of them.
VANDALS = {
    "loops": ("def f(x):\n    while True: pass", "out of CPU time"),
    "loops in its own code": ("while True: pass\ndef f(x): pass", None),
    "loops in C": ("def f(x):\n    return any(iter(int, 1))", "out of CPU time"),
    "loops in a regular expression": (
        "import re\ndef f(x):\n    return re.match(r'(a+)+$', 'a' * 60 + 'b')",
        "out of CPU time",
    ),
    "raises to a power": ("def f(x):\n    return 3 ** 10 ** 9", "out of CPU time"),
    "ignores the signal": (
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\ndef f(x):\n    while True: pass",
        None,
    ),
    "catches everything": (
        "import signal\ndef handler(*a): raise MemoryError\nsignal.signal(signal.SIGXCPU, handler)\ndef f(x):\n"
        "    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        None,
    ),
    "raises its limits": (
        "import resource\nfor which in (resource.RLIMIT_CPU, resource.RLIMIT_AS):\n"
        "    try: resource.setrlimit(which, (-1, -1))\n"
        "    except ValueError: pass\ntry: resource.setrlimit(resource.RLIMIT_CPU, (2, 2))\nexcept ValueError: pass\n"
        "def f(x):\n    while True: pass",
        None,
    ),
    "is nice": (
        "import os\ndef f(x):\n    for change in (lambda: os.nice(19), lambda: os.sched_setaffinity(0, {0})):\n"
        "        try: change()\n        except OSError: pass\n    while True: pass",
        "out of CPU time",
    ),
    "takes memory as a list": ("def f(x):\n    return [0] * 10**10", "raised MemoryError"),
    "takes memory as bytes": ("def f(x):\n    return len(bytearray(10**10))", "raised MemoryError"),
    "takes memory as a string": ("def f(x):\n    s = 'x'\n    while True: s += s", None),
    "takes memory in children": (
        "import os\ndef f(x):\n    for _ in range(16):\n        if os.fork() == 0:\n"
        "            b = bytearray(b'x') * (200 << 20)\n"
        "            while True: pass\n    while True: pass",
        None,
    ),
    "forks": (
        "import os\ndef f(x):\n    while True:\n        try: os.fork()\n        except OSError: pass",
        None,
    ),
    "floods stdout": ("def f(x):\n    while True: print('x' * 100000)", "out of CPU time"),
    "floods the channel": (
        "import os\ndef f(x):\n    while True:\n        for fd in range(3, 64):\n"
        "            try: os.write(fd, b'x' * 65536)\n            except OSError: pass",
        "too much output",
    ),
    "floods the channel with lines": (
        "import os\ndef f(x):\n    while True:\n        for fd in range(3, 64):\n"
        "            try: os.write(fd, b'{}\\n' * 9999)\n            except OSError: pass",
        "too much output",
    ),
    "fills the disk": (
        "def f(x):\n    n = 0\n    while True:\n        n += 1\n        with open(f'/tmp/x{n}', 'wb') as file:\n"
        "            file.write(b'x' * (1 << 20))",
        "raised OSError",
    ),
    "writes a huge file": (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\ndef f(x):\n"
        "    with open('/tmp/x', 'wb') as file:\n"
        "        while True: file.write(b'x' * 10**6)",
        "raised OSError",
    ),
    "deletes files": (
        "import os, shutil\ndef f(x):\n    for name in ('/bin', '/usr/bin', '/tmp', '/home', os.getcwd()):\n"
        "        shutil.rmtree(name, ignore_errors=True)",
        "wrong value",
    ),
    "recurses": ("def f(x):\n    return f(x)", "raised RecursionError"),
    "recurses without a limit": ("import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return f([x])", None),
    "recurses in its text": ("x = " + "(" * 5000 + ")" * 5000 + "\ndef f(x): pass", None),
    "nests in its text": ("def f(x):\n    return " + "-" * 100000 + "1", None),
    "starts threads that never end": (
        "import threading\ndef g():\n    while True: pass\ndef f(x):\n"
        "    for _ in range(8): threading.Thread(target=g).start()\n"
        "    return 0",
        None,
    ),
    "sleeps": ("import time\ndef f(x):\n    time.sleep(999)", "out of time"),
    "leaves a daemon": (
        f"import os, subprocess\ndef f(x):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n"
        f"            os.execv('/bin/sleep', ['sleep', '{MARK}'])\n        os._exit(0)\n"
        f"    subprocess.Popen(['/bin/sleep', '{MARK}'], start_new_session=True)\n    return 0",
        "wrong value",
    ),
    "kills all": (
        "import os\ndef f(x):\n    for pid in (-1, os.getppid(), 1, *range(2, 5000)):\n        if pid != os.getpid():\n"
        "            try: os.kill(pid, 9)\n            except OSError: pass\n    return 0",
        None,
    ),
    "traces its parent": (
        "import ctypes, os\ndef f(x):\n    c = ctypes.CDLL(None, use_errno=True)\n"
        "    return [c.ptrace(16, pid, 0, 0) for pid in (os.getppid(), 1, 2)] + [c.ptrace(0, 0, 0, 0)]",
        None,
    ),
    "leaves files": (
        f"import os\ndef f(x):\n    for folder in ('/tmp', '/dev/shm', '/var/tmp', '.', '/'):\n"
        f"        try: open(os.path.join(folder, 'left-{MARK}'), 'w').write('x')\n        except OSError: pass",
        "wrong value",
    ),
    "writes its own tests": (
        "import sys\nopen('/tmp/tests.py', 'w').write('def check(c): pass\\nresult = 1')\nsys.path.insert(0, '/tmp')\n"
        "import tests\nsys.modules['__main__'] = tests\ndef f(x):\n    return tests.result",
        "wrong value",
    ),
    "writes NULs and arrows": ("def f(x):\n    return '\\x00\\u202e\\ud800'", "wrong value"),
}  # fmt: skip
RIGHT = {
    "prints a lot": "def f(x):\n    print('x' * 10**6)\n    return 1234567 if x == 3 else [7654321]",
    "fails in its demonstration": "def f(x):\n    return 1234567 if x == 3 else [7654321]\nassert f(1) == 2",
    "exits in its demonstration": "import sys\ndef f(x):\n    return 1234567 if x == 3 else [7654321]\nsys.exit(1)",
    "asks for input below": "def f(x):\n    return 1234567 if x == 3 else [7654321]\nwhile True:\n"
    "    print(f(input()))",
    "writes a file and reads it": "def f(x):\n    open('t', 'w').write('1234567')\n"
    "    return int(open('t').read()) if x == 3 else [7654321]",
    "leaves a thread": "import threading, time\ndef f(x):\n"
    "    threading.Thread(target=time.sleep, args=(99,)).start()\n"
    "    return 1234567 if x == 3 else [7654321]",
    "recurses as far as it says": "import sys\nsys.setrecursionlimit(5000)\ndef down(n):\n"
    "    return n and 1 + down(n - 1)\ndef f(x):\n"
    "    return 1231567 + down(3000) if x == 3 else [7651321 + down(3000)]",
    "looks at its callers": """
import inspect, sys, traceback, warnings
def trace(frame, event, arg):
    frame.f_lineno + 1
    return trace
sys.settrace(trace)
def f(x):
    assert inspect.stack()[0][3] == 'f' and len(inspect.stack()) > 2
    traceback.print_stack()
    warnings.warn('careful', stacklevel=2)
    assert all(frame.lineno > 0 for frame in traceback.extract_stack())
    return 1234567 if x == 3 else [7654321]
""",
    "counts in a subclass": "class N(int): pass\ndef f(x):\n    return N(1234567) if x == 3 else [N(7654321)]",
    "is an object that is called": "class F:\n    def __call__(self, x):\n"
    "        return 1234567 if x == 3 else [7654321]\nf = F()",
    "prints to no end where none looks": "import os\ndef f(x):\n"
    "    for _ in range(99): os.write(1, b'{\"ready\": true}\\n')\n"
    "    return 1234567 if x == 3 else [7654321]",
}  # fmt: skip
SAYINGS = re.compile(
    r"fenced code: (?:test [12] of [12]: (?:wrong value|raised (?:[A-Z][A-Za-z]+|an exception of another kind)|out of "
    r"(?:CPU time|memory|time)|too much output|killed at a limit or by itself|ended before it returned)|not Python"
    r"|wrong function name: defines [\w, ]+, the tests call f|raised [A-Z]\w+ before it defined f)"
    r"|the code was not read: (?:killed at a limit or by itself|out of (?:CPU time|memory|time))"
)
LIMITS = Limits(cpu_s=1, wall_s=2)


def graded(sandbox, item, programs):
    responses = [f"```python\n{program}\n```" for program in programs.values()]
    grades = grade_programs([item] * len(responses), responses, sandbox, 3)
    return dict(zip(programs, grades, strict=True))


@pytest.fixture(scope="module")
def victim():
    """A process that programs should not be able to reach."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def children(victim):
    """This process's children before any program runs."""
    return own_children()


@pytest.fixture(scope="module")
def grades(sandbox, children):
    small = replace(sandbox, limits=LIMITS)
    vandals = {name: program for name, (program, _) in VANDALS.items()}
    return {
        "taken apart": graded(small, TAKEN_APART, SEEKERS | vandals | RIGHT),
        "as it is": graded(small, AS_IT_IS, SEEKERS | RIGHT),
    }


@pytest.mark.parametrize("form", ["taken apart", "as it is"])
@pytest.mark.parametrize("name", SEEKERS)
def test_a_program_cannot_take_the_verdict(grades, form, name):
    grade = grades[form][name]
    assert grade.truth is False, grade.how
    assert SAYINGS.fullmatch(grade.how), grade.how


@pytest.mark.parametrize("name", VANDALS)
def test_a_program_cannot_outstay_or_hurt(grades, name):
    grade, how = grades["taken apart"][name], VANDALS[name][1]
    assert grade.truth is False, grade.how
    assert SAYINGS.fullmatch(grade.how), grade.how
    assert how is None or grade.how == f"fenced code: test 1 of 2: {how}"


@pytest.mark.parametrize("form", ["taken apart", "as it is"])
@pytest.mark.parametrize("name", RIGHT)
def test_a_program_that_computes_is_right_whatever_else_it_does(grades, form, name):
    assert grades[form][name].truth is True, grades[form][name].how


def test_nothing_is_left_behind(grades, children, victim):
    assert grades
    assert victim.poll() is None
    assert str(victim.pid) in children
    assert own_children() <= children
    assert MARK not in "".join(text for _, text in of_all_processes("cmdline"))
    for folder in (tempfile.gettempdir(), "/dev/shm", "/var/tmp", "/", "."):
        assert not Path(folder, f"left-{MARK}").exists()


def own_children():
    stats = of_all_processes("stat")
    return {pid for pid, text in stats if text.rpartition(")")[2].split()[1] == str(os.getpid())}


def of_all_processes(name):
    for path in Path("/proc").glob(f"[0-9]*/{name}"):
        try:
            yield path.parent.name, path.read_text(errors="replace")
        except OSError:
            # It has ended meanwhile.
            continue


def test_secrets_files_and_the_network_are_out_of_reach(sandbox, monkeypatch, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("sesame")
    tmp_path.chmod(0o755)
    monkeypatch.setenv("SOME_API_KEY", "sk-sesame-open")
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = server.getsockname()
        programs = {
            "environment": "import glob, os\ndef f(x):\n    seen = [repr(dict(os.environ))]\n"
            "    for name in glob.glob('/proc/*/environ'):\n"
            "        try: seen.append(open(name).read())\n        except OSError: pass\n    return ' '.join(seen)",
            "file": f"def f(x):\n    return open({str(secret)!r}).read()",
            "password file": "def f(x):\n    return open('/etc/shadow').read() + 'sesame'",
            "this project": f"def f(x):\n    return open({__file__!r}).read() + 'sesame'",
            "network": f"import socket\ndef f(x):\n    socket.create_connection({address!r}, 1).send(b'x')\n"
            "    return 'sesame'",
            "network in bits": "import socket\ndef f(x):\n    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):\n"
            "        try:\n            s = socket.socket(socket.AF_INET, kind, 17)\n"
            f"            s.sendto(b'x' * 99, {address!r})\n        except OSError: pass\n    return ''",
            "abstract sockets": "import socket\ndef f(x):\n    s = socket.socket(socket.AF_UNIX)\n"
            f"    s.connect('\\0{MARK}')\n    return 'sesame'",
        }
        with closing(socket.socket(socket.AF_UNIX)) as abstract:
            abstract.bind(f"\0{MARK}")
            abstract.listen()
            item = Item("mbpp", "a3", "?", tests=("assert 'sesame' in f(1)",))
            found = graded(sandbox, item, programs)
            assert {name: grade.truth for name, grade in found.items()} == dict.fromkeys(programs, False)
            assert select.select([server, abstract], [], [], 0)[0] == []


def test_the_tests_expectations_and_the_word_never_go_to_the_program(sandbox, monkeypatch):
    """Whatever is written to the program's sandbox, in both forms."""
    sent = []
    talk = type(sandbox).talk

    def listening(self, job, answer):
        def heard(message):
            reply = answer(message)
            if "tests" not in job:
                sent.append(repr(reply))
            return reply

        if "tests" not in job:
            sent.append(repr(job))
        else:
            nonces.append(job["nonce"])
        return talk(self, job, answer and heard)

    nonces = []
    monkeypatch.setattr(type(sandbox), "talk", listening)
    for item in (TAKEN_APART, AS_IT_IS):
        assert graded(sandbox, item, {"right": RIGHT["is an object that is called"]})["right"].truth is True
    assert len(nonces) == 1
    # The program that is run holds the values itself; its own text aside, nothing does.
    others = "".join(sent).replace(repr(RIGHT["is an object that is called"])[1:-1], "")
    for secret in ("1234567", "7654321", hex(1234567), hex(7654321), nonces[0], "assert", "check"):
        assert secret not in others
    assert "[4]" in others or "0x4" in others


def test_a_program_is_run_by_the_sandboxs_python_whatever_is_in_the_way(sandbox, tmp_path, monkeypatch):
    (tmp_path / "posix.py").write_text("raise SystemExit")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "posix.py"))
    monkeypatch.chdir(tmp_path)
    assert graded(sandbox, TAKEN_APART, {"right": RIGHT["counts in a subclass"]})["right"].truth is True
    assert sys.modules["posix"]
