"""The runner's text: the same for every Python, and short, since each program waits while it is read."""

import importlib.util
import json
import subprocess
import sys

import pytest

from voirdire.grading.inside.bundle import runner_source

JOB = {
    "setup": "",
    "blocks": ["def f(x):\n    return [x, 'é']"],
    "prose": "",
    "entry_point": "f",
    "steps": [{"call": "f(1)"}, {"call": "f()"}],
    "limits": {"RLIMIT_CORE": 0},
}


def said(text, job):
    done = subprocess.run([sys.executable, "-s", "-S", "-c", text], input=json.dumps(job).encode(), capture_output=True)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("magic", [importlib.util.MAGIC_NUMBER, b"other"], ids=["this bytecode", "other bytecode"])
def test_it_runs_in_a_python_of_this_bytecode_and_of_another(magic):
    text = runner_source().replace(repr(importlib.util.MAGIC_NUMBER), repr(magic))
    assert said(text, JOB) == [
        {"ready": True},
        {"code": JOB["blocks"][0], "how": "fenced code"},
        {"step": 0, "value": ["l", [["i", "0x1"], ["s", "é"]]]},
        {"step": 1, "raised": "TypeError"},
    ]


def test_it_is_short_and_plain():
    assert len(runner_source()) < 40_000
    assert runner_source().isascii()


def test_it_imports_nothing_that_programs_would_wait_for():
    program = "import sys\nloaded = sorted(set(sys.modules))\ndef f(x):\n    return loaded"
    (*_, answer) = said(runner_source(), JOB | {"blocks": [program], "steps": [{"call": "f(1)"}]})
    loaded = {name for _, name in answer["value"][1]}
    assert not loaded & {"ast", "json", "re", "os", "enum", "functools", "collections", "typing", "textwrap"}
    # Its own modules are not to be found by their names either.
    assert not [name for name in loaded if name.startswith("voirdire")]
