"""Asserts taken apart: what the candidate must compute goes into the sandbox, what it is compared with stays outside.

`assert f(1) == 2` becomes the call `f(1)`, and a check of the value that comes back; of `assert f(1).size == 3` the
expression `f(1).size` goes in, of `assert sorted(f(x)) == [1]` only `f(x)`, since Python's own functions around a call
are evaluated outside too. What goes in begins with a name of the candidate's, and holds no comparison of its own
result, so the expected value is never in it. Tests of any other form are not taken apart, but run in a sandbox of
their own (`plans`, `dialogue`).
"""

import ast
import copy
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from voirdire.grading.inside.wire import decode

_PYTHONS_OWN: tuple[Callable[..., Any], ...] = (
    abs, all, any, bool, bytes, complex, dict, float, frozenset, int, isinstance, len, list, math.isclose, max, min,
    range, round, set, sorted, str, sum, tuple, type,
)  # fmt: skip
_TRUSTED: dict[str, Any] = {function.__name__: function for function in _PYTHONS_OWN}
_CONSTANTS = {"math.inf": math.inf, "math.nan": math.nan, "math.pi": math.pi, "math.e": math.e, "math.tau": math.tau}
# They go through what they are given, so that an iterator from inside counts as the list of what it yields.
_ITERATING = {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare, ast.cmpop,
    ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.Div, ast.Call, ast.keyword,
)  # fmt: skip
# A number from inside must not say how much memory they take here.
_MAKING = {"bytes", "range"}
# What comes back may be longer than the test itself by its type marks, and a little more; far longer isn't equal.
_LENGTH_FACTOR, _LENGTH_FREE = 20, 20_000


@dataclass(frozen=True)
class Step:
    """What is done inside: a "call" (any expression) for its value, its items ("iterate"), or nothing ("do")."""

    kind: str
    text: str


@dataclass(frozen=True)
class Check:
    """One assert: the steps that run in the sandbox, and how their values decide.

    `decide` is the compiled rest of the assert, in which `_0`, `_1` … stand for the steps' values.
    """

    steps: tuple[Step, ...]
    decide: CodeType
    longest: int

    def passes(self, values: Iterable[tuple[Any, int]]) -> bool:
        """Whether the assert holds, given each step's value in typed JSON and its length in characters."""
        try:
            plain = [decode(value) for value, length in values if length <= self.longest]
            if len(plain) != len(self.steps):
                return False
            names = {f"_{number}": value for number, value in enumerate(plain)}
            return bool(eval(self.decide, {"__builtins__": {}, **_TRUSTED, **names}))
        except Exception:
            # The values are hostile: what cannot be compared (a huge Decimal, an unhashable key) isn't equal.
            return False


def checks(tests: Iterable[str], names: Collection[str]) -> list[Check] | None:
    """The checks of an item's tests, in order; None where one of them has a form that cannot be taken apart.

    `names` are those that the tests take from the candidate.

    Raises SyntaxError where a test isn't Python.
    """
    found: list[Check] = []
    known = set(names)
    for test in tests:
        before: list[Step] = []
        for node in ast.parse(test.strip()).body:
            if isinstance(node, ast.Assert):
                check = _check(node, before, known)
                if check is None:
                    return None
                found.append(check)
                before = []
            elif not _says_nothing(node):
                if not _is_a_deed(node, known):
                    return None
                before.append(Step("do", ast.unparse(node)))
        if before:
            found.append(Check(tuple(before), compile("True", "<test>", "eval"), _LENGTH_FREE))
    return found


def _says_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return [(alias.name, alias.asname) for alias in node.names] == [("math", None)]
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_a_deed(node: ast.stmt, known: set[str]) -> bool:
    """Whether a statement only calls the candidate, and perhaps names the result, which is then known as its own."""
    if isinstance(node, ast.Expr):
        return _goes_in(node.value, known)
    if isinstance(node, ast.Assign) and _goes_in(node.value, known):
        (target, *others) = node.targets
        if isinstance(target, ast.Name) and not others:
            known.add(target.id)
            return True
    return False


def _check(node: ast.Assert, before: list[Step], known: set[str]) -> Check | None:
    taker = _Taker(list(before), known)
    if any(_compares_its_own(part, known) for part in ast.walk(node.test)):
        return None
    left = taker.visit(copy.deepcopy(node.test))
    assert isinstance(left, ast.expr)
    rest = ast.fix_missing_locations(ast.Expression(left))
    names = {*_TRUSTED, *(f"_{number}" for number in range(len(taker.steps)))}
    if not all(_is_safe(part, names) for part in ast.walk(rest)):
        return None
    longest = _LENGTH_FACTOR * len(ast.unparse(node)) + _LENGTH_FREE
    return Check(tuple(taker.steps), compile(rest, "<test>", "eval"), longest)


def _is_safe(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in _TRUSTED:
            return False
        return node.func.id not in _MAKING or _names(node) == {node.func.id}
    return isinstance(node, _ALLOWED)


def _compares_its_own(node: ast.AST, known: set[str]) -> bool:
    """Whether values of the candidate's meet each other: only it knows if two objects of its own kind agree."""
    if isinstance(node, ast.Compare):
        meeting: list[ast.expr] = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
        meeting = node.args
    else:
        return False
    return sum(bool(_names(part) & known) for part in meeting) > 1


def _goes_in(node: ast.AST, known: set[str]) -> bool:
    """Whether an expression begins with a name of the candidate's, so that it belongs inside as a whole."""
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return _goes_in(node.elt, known) and all(_only_feeds(part, node.elt, known) for part in node.generators)
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in known


def _only_feeds(part: ast.comprehension, result: ast.expr, known: set[str]) -> bool:
    """Whether a comprehension's loop only gives the candidate its arguments: it could hold expected values as well."""
    used = _names(result)
    return not part.ifs and not part.is_async and _names(part.target) <= used and not _names(part.iter) & known


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


class _Taker(ast.NodeTransformer):
    """Replaces each outermost expression of the candidate's by a name, and keeps its text."""

    def __init__(self, steps: list[Step], known: set[str]) -> None:
        self.steps = steps
        self.known = known

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and not isinstance(node, ast.GeneratorExp) and _goes_in(node, self.known):
            return self._taken(node, "call")
        if isinstance(node, ast.Attribute) and "math" not in self.known and ast.unparse(node) in _CONSTANTS:
            return ast.Constant(_CONSTANTS[ast.unparse(node)])
        if isinstance(node, ast.Call) and (name := self._trusted(node)):
            node.func = ast.Name(name, ast.Load())
            first = node.args[0] if node.args else None
            if name in _ITERATING and (len(node.args) == 1 or name == "sum") and first and _goes_in(first, self.known):
                node.args[0] = self._taken(first, "iterate")
        return self.generic_visit(node)

    def _trusted(self, node: ast.Call) -> str | None:
        name = ast.unparse(node.func)
        bare = name.removeprefix("math.") if "math" not in self.known else name
        return bare if bare in _TRUSTED and name not in self.known else None

    def _taken(self, node: ast.expr, kind: str) -> ast.expr:
        self.steps.append(Step(kind, ast.unparse(node)))
        return ast.Name(f"_{len(self.steps) - 1}", ast.Load())
