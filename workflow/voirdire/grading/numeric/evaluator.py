"""Evaluates LaTeX expressions with Math-Verify, one a line; run as a program, in a process of its own.

Nothing of voirdire is imported here: the import of sympy is all that the process costs. Each line of the input is a
JSON string; each line of the output is [numerator, denominator], or null where the expression isn't exactly a rational
number. CPU time is limited per expression, so that load changes no answer; beyond the limit the process dies, and who
asked takes that for "no number". The first line of the output says that the process is ready.
"""

import contextlib
import json
import logging
import re
import resource
import signal
import sys

CPU_S = 3.0
MEMORY_BYTES = 1 << 30
_MOST_DIGITS = 100
_DECIMAL = re.compile(r"(?<![\d.])(\d*)\.(\d+)")


def exactly(expression: str) -> list[str] | None:
    """Numerator and denominator of what an expression comes to."""
    from math_verify import LatexExtractionConfig, parse
    from sympy import Expr, Float, Rational, simplify

    # As decimals are binary fractions there, they are written as fractions.
    latex = _DECIMAL.sub(lambda match: rf"(\frac{{{match[1]}{match[2]}}}{{1{'0' * len(match[2])}}})", expression)
    found = parse(
        f"${latex}$",
        extraction_config=[LatexExtractionConfig(boxed_match_priority=-1)],
        fallback_mode="no_fallback",
        extraction_mode="first_match",
        parsing_timeout=None,
    )
    if len(found) != 1 or not isinstance(found[0], Expr) or found[0].has(Float) or found[0].free_symbols:
        return None
    value = found[0].doit()
    if not isinstance(value, Rational):
        value = simplify(value)
    if not isinstance(value, Rational) or max(abs(value.p), value.q) >= 10**_MOST_DIGITS:
        return None
    return [str(value.p), str(value.q)]


def main() -> None:
    logging.disable()
    import math_verify  # noqa: F401

    for kind, most in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        # Not every system lets each of them be set.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))

    answers = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        # Its signal ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        try:
            value = exactly(json.loads(line))
        except (Exception, RecursionError):
            value = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(value), file=answers, flush=True)


if __name__ == "__main__":
    main()
