r"""The second opinion on a number: Math-Verify, on formulas that the rules don't compute (`2^{10}`, `\binom{10}{3}`).

It runs in a process of its own, started when it is first needed and used for many expressions; with limits of CPU time
and memory per expression, and none of the environment's keys. Only short expressions of digits, operators and known
functions are put to it, without towers of powers: it takes a pair of numbers for their product, a letter for anything,
and seconds for `9^{9^{9}}`. An expression that it dies of is no number, and the next one finds a fresh process.
"""

import atexit
import importlib.util
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from voirdire.errors import UserError
from voirdire.grading.numeric.marks import plain_characters

LONGEST = 120
# Far above the limit of CPU time: it only bounds a process that doesn't run at all.
_WALL_S = 180.0
_COMMANDS = (
    "frac|dfrac|tfrac|cfrac|sqrt|binom|dbinom|tbinom|choose|over|cdot|times|ast|div|lfloor|rfloor|lceil|rceil"
    "|lvert|rvert|log|ln|gcd|lcm|min|max|pi|sin|cos|tan|quad"
)
_ALLOWED = re.compile(rf"(?:[\d.,+\-*/^_!(){{}}\[\]| ]|\\(?:{_COMMANDS})(?![A-Za-z])|\\[,;:! ])+")
_A_SUM = re.compile(r"(?=.*\d).*(?:[-+*/^!|]|\\[a-z]{2})", re.DOTALL)
_AMBIGUOUS = re.compile(
    r"\d\s*\(|\d\s+\d|\d\s*\\[dtc]?frac"  # side by side: a product, or a sum as in mixed numbers
    r"|\^(?!\s*(?:-?\d|\{[^{}^]*(?:\{[^{}^]*\}[^{}^]*)*\}))|\^\s*(?:-?[\d.]+|\{[^{}^]*\})\s*\^"  # towers of powers
    r"|!\s*!|[)}\]]\s*!|\d{4}\s*!"
    r"|\^\s*\{?[-+( ]*\d{5}|\d{31}"
    r"|^\s*-?\d+\s*-\s*\d+\s*$"  # a range, a score
    r"|\d\s*/\s*\d+\s*/"  # a date
    r"|_"  # other bases
    r"|(?<![dmnx])[(\[][^()]*,"  # a point or an interval, but for gcd(, lcm(, min(, max(
)
_UNIT = re.compile(r"\\(?:text|mathrm|textbf|mbox)\s*\{[^{}\d]*\}\s*(?:\^\s*\{?\s*[23]\s*\}?)?")
_THOUSANDS = re.compile(r"(?<=\d)(?:\{,\}|\\[,!]|,\\!|,)(?=\d{3}(?!\d))")
_LOG_BASE = re.compile(r"log\s*_\s*(?:\d|\{\d+\})")
_OF_SEVERAL = re.compile(r"\\(?:gcd|lcm|min|max)")


def exact_value(expression: str) -> tuple[Fraction | None, str]:
    r"""What an expression comes to, if exactly a rational number, and how that was found.

    The second is empty where the expression is none for Math-Verify.

    >>> exact_value(r"18\text{ apples}")
    (None, '')
    """
    latex = _for_evaluation(expression)
    if latex is None:
        return None, ""
    if not _installed():
        return None, "Math-Verify isn't installed"
    return _asked(latex), "by Math-Verify"


def _for_evaluation(expression: str) -> str | None:
    """The expression as Math-Verify wants it; None where it has no business with it."""
    if len(expression) > 2 * LONGEST:
        return None
    latex = _UNIT.sub(" ", plain_characters(expression))
    latex = re.sub(r"\\?[%$]|\\(?:left|right|displaystyle)(?![A-Za-z])", " ", latex)
    if not _OF_SEVERAL.search(latex):
        latex = _THOUSANDS.sub("", latex)
    latex = re.sub(r"√\s*(\d+)", r"\\sqrt{\1}", latex)
    latex = latex.rsplit("=", 1)[-1].replace("**", "^").replace("{}", "").strip(" \n.,;")
    if len(latex) > LONGEST or not _ALLOWED.fullmatch(latex) or not _A_SUM.match(latex):
        return None
    return None if _AMBIGUOUS.search(_LOG_BASE.sub("log ", latex)) else latex


@lru_cache(maxsize=1)
def _installed() -> bool:
    return bool(sys.executable) and os.name == "posix" and importlib.util.find_spec("math_verify") is not None


@lru_cache(maxsize=1000)
def _asked(latex: str) -> Fraction | None:
    return _PROCESS.ask(latex)


class _Process:
    """The evaluating process; one at a time, asked by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, latex: str) -> Fraction | None:
        with self._lock:
            answer = self._answer(latex)
        if not isinstance(answer, list):
            return None
        return Fraction(int(answer[0]), int(answer[1]))

    def _answer(self, latex: str) -> object:
        # A forked process must not share the pipes: answers would go astray.
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(latex).encode() + b"\n")
            line = _line(process)
        except OSError:
            line = b""
        if not line:
            self.close()
            return None
        return json.loads(line)

    def _start(self) -> None:
        self.close()
        self._process = subprocess.Popen(
            # Without -P the modules beside it would stand before Python's own (numbers).
            [sys.executable, "-P", str(Path(__file__).with_name("evaluator.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._owner = os.getpid()
        if not _line(self._process):
            self.close()
            raise UserError(
                "Math-Verify is installed but doesn't start; reinstall it: pip install --force-reinstall "
                "'math-verify[antlr4_13_2]'"
            )

    def close(self) -> None:
        """End the process, if it is this process's own."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if self._owner == os.getpid():
            process.kill()
            process.wait()


def _line(process: "subprocess.Popen[bytes]") -> bytes:
    """The next line of the process; empty if it died or takes for ever."""
    assert process.stdout is not None
    deadline, line = time.monotonic() + _WALL_S, b""
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return b""
        chunk = os.read(process.stdout.fileno(), 4096)
        if not chunk:
            return b""
        line += chunk
    return line


_PROCESS = _Process()
atexit.register(_PROCESS.close)
