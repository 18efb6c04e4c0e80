"""Isolation by Landlock and a filter of system calls, for where namespaces are refused, as in many containers.

The program can read /usr and the Python installation, write to a folder of its own and nowhere else, open no socket,
start no process and signal none, itself included. It is less than namespaces give: the program sees whether a
file of the host exists, though not what is in it; it shares the machine's name, clock and count of processes; programs
that start others fail, which no exercise asks for; where the grader isn't root they run as the grader's user.
"""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from voirdire.grading.sandbox.filters import on_the_host
from voirdire.grading.sandbox.pythons import beside_usr, pythons, user
from voirdire.grading.sandbox.sandbox import FILTER, Sandbox

_LAUNCHER = Path(__file__).with_name("launcher.py")


def sandboxes(source: str) -> Iterator[Sandbox]:
    """A sandbox for each Python that could run `source`, best first.

    Raises FileNotFoundError where a library that it takes is missing.
    """
    spec = importlib.util.find_spec("py_landlock")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("py_landlock not found")
    refused = on_the_host()
    if refused is None:
        raise FileNotFoundError("libseccomp not found (Debian: `apt-get install libseccomp2`)")
    packages = str(Path(spec.origin).parents[1])
    for python, prefix in pythons():
        readable = ":".join(("/usr", *beside_usr(), prefix))
        yield Sandbox(
            "landlock",
            (
                *(sys.executable, "-I", "-S", str(_LAUNCHER), packages, str(user() or 0), FILTER, readable),
                *(python, "-s", "-S", "-c", source),
            ),
            user(),
            drops=True,
            filter=refused,
            scratch=True,
            counts_processes=False,
        )
