"""A function run in a sandbox without the runner: what it returns, or the exception that it raised."""

import textwrap
from dataclasses import replace

_PROGRAM = """
import ctypes, json, os, resource, signal, socket, sys, threading, time
job = json.loads(sys.stdin.readline())
for name, value in job["limits"].items():
    resource.setrlimit(getattr(resource, name), (value, value + 1 if name == "RLIMIT_CPU" else value))
libc = ctypes.CDLL(None, use_errno=True)
def f():
%s
print(json.dumps({"ready": True}), flush=True)
try:
    said = {"said": f()}
except BaseException as error:
    said = {"raised": type(error).__name__, "errno": getattr(error, "errno", None)}
print(json.dumps(said), flush=True)
os._exit(0)
"""


def run_inside(sandbox, body, **job):
    """The outcome of a function's body, which finds what it is told in `job`."""
    source = _PROGRAM % textwrap.indent(textwrap.dedent(body), "    ")
    return replace(sandbox, command=(*sandbox.command[:-1], source)).run(job)


def said_inside(sandbox, body, **job):
    """What the function returned ("said") or raised, with the error's number."""
    outcome = run_inside(sandbox, body, **job)
    assert outcome.started, outcome
    assert outcome.messages, outcome
    return outcome.messages[-1][0]
