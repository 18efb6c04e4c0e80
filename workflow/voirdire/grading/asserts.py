"""Tests taken apart: what the candidate must compute goes into the sandbox, what it is compared with stays outside.

`assert f(1) == 2` becomes the call `f(1)`, and a check of the value that comes back. Python's own functions around a
call are evaluated outside too: of `assert sorted(f(x)) == [1]` only `f(x)` goes in. A test of any other form has to run
inside as a whole and answers with a random word; that is weaker, since the candidate could look for the word.
"""

import ast
import math
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from voirdire.grading.wire import decode

_PYTHONS_OWN: tuple[Callable[..., Any], ...] = (
    abs, all, any, bool, dict, float, frozenset, int, len, list, math.isclose, max, min, round, set, sorted, str, sum,
    tuple,
)  # fmt: skip
_TRUSTED: dict[str, Any] = {function.__name__: function for function in _PYTHONS_OWN}
_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare, ast.cmpop,
    ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.Div, ast.Call, ast.keyword,
)  # fmt: skip
# What comes back may be longer than the test itself by its type marks, and a little more; far longer isn't equal.
_LENGTH_FACTOR, _LENGTH_FREE = 20, 20_000


@dataclass(frozen=True)
class Check:
    """One assert: the steps that run in the sandbox, and how their values decide.

    `steps` are expressions to evaluate inside, or one text to run whole; `decide` the compiled rest of the assert, in
    which `_0`, `_1` … stand for the steps' values; None where the nonce decides.
    """

    steps: tuple[str, ...]
    decide: CodeType | None
    longest: int

    def inside(self, nonce: str) -> list[dict[str, str]]:
        """What the runner is told: never the expected value, unless the form of the test leaves no choice."""
        if self.decide is None:
            return [{"run": self.steps[0], "nonce": nonce}]
        return [{"call": step} for step in self.steps]

    def passes(self, values: Iterable[tuple[Any, int]], nonce: str) -> bool:
        """Whether the test passes, given each step's value in typed JSON and its length in characters."""
        try:
            plain = [decode(value) for value, length in values if length <= self.longest]
            if len(plain) != len(self.steps):
                return False
            if self.decide is None:
                return plain == [nonce]
            names = {f"_{number}": value for number, value in enumerate(plain)}
            return bool(eval(self.decide, {"__builtins__": {}, **_TRUSTED, **names}))
        except Exception:
            # The values are hostile: what cannot be compared (a huge Decimal, an unhashable key) isn't equal.
            return False


def new_nonce() -> str:
    return secrets.token_hex(16)


def checks(tests: Iterable[str]) -> list[Check]:
    """The checks of an item's tests, in order.

    Raises SyntaxError where a test isn't Python.
    """
    found = []
    for test in tests:
        body = ast.parse(test.strip()).body
        if body and all(isinstance(node, ast.Assert) for node in body):
            found += [_check(node) for node in body if isinstance(node, ast.Assert)]
        else:
            found.append(Check((test,), None, _LENGTH_FREE))
    return found


def _check(node: ast.Assert) -> Check:
    taken = _TakeCalls()
    rest = ast.fix_missing_locations(ast.Expression(taken.visit(node.test)))
    source = ast.unparse(node)
    names = {*_TRUSTED, *(f"_{number}" for number in range(len(taken.steps)))}
    if taken.steps and all(_is_safe(part, names) for part in ast.walk(rest)):
        longest = _LENGTH_FACTOR * len(source) + _LENGTH_FREE
        return Check(tuple(taken.steps), compile(rest, "<test>", "eval"), longest)
    return Check((source,), None, _LENGTH_FREE)


def _is_safe(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, _ALLOWED)


class _TakeCalls(ast.NodeTransformer):
    """Replaces each outermost call that isn't Python's own by a name, and keeps the call's text."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func).removeprefix("math.") in _TRUSTED:
            node.func = ast.Name(ast.unparse(node.func).removeprefix("math."), ast.Load())
            return self.generic_visit(node)
        self.steps.append(ast.unparse(node))
        return ast.Name(f"_{len(self.steps) - 1}", ast.Load())
