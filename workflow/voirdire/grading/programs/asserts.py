"""Asserts taken apart: what the candidate must compute goes into the sandbox, what it is compared with stays outside.

`assert f(1) == 2` becomes the call `f(1)`, and a check of the value that comes back; of `assert f(1).size == 3` the
expression `f(1).size` goes in, of `assert sorted(f(x)) == [1]` only `f(x)`, since Python's own functions around a call
are evaluated outside too. What goes in begins with a name of the candidate's, and holds no comparison of its own
result, so the expected value is never in it. Nor does a method that a result has: `f(1).issubset({2})` could be the
candidate's own. Every step runs, so what Python might not have evaluated (after `and`, `or`) makes no step. Tests of
any other form are not taken apart, but run in a sandbox of their own (`plans`, `dialogue`).

What is decided outside costs no more than the length of the values lets it: sums of ranges and fractions, and whatever
is long, are left to that sandbox too, and so is what asks an object of the candidate's (`NotHereError`).
"""

import ast
import copy
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from voirdire.grading.inside.wire import decode

_PYTHONS_OWN: tuple[Callable[..., Any], ...] = (
    abs, all, bool, bytes, complex, dict, float, frozenset, int, isinstance, len, list, math.isclose, max, min,
    range, round, set, sorted, str, sum, tuple, type,
)  # fmt: skip
_TRUSTED: dict[str, Any] = {function.__name__: function for function in _PYTHONS_OWN}
_CONSTANTS = {"math.inf": math.inf, "math.nan": math.nan, "math.pi": math.pi, "math.e": math.e, "math.tau": math.tau}
# They go through what they are given, so that an iterator from inside counts as the list of what it yields.
_ITERATING = {"all", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare, ast.cmpop,
    ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.Div, ast.Call, ast.keyword,
)  # fmt: skip
# A number from inside must not say how much memory or time they take here, nor a large one of the test's own.
_MAKING, _LARGEST = {"bytes", "range"}, 100_000
# What equals a literal may be longer than it by its type marks, and a little more.
_LENGTH_FACTOR, _LENGTH_FREE = 20, 20_000
# Longer values are not worked with here: keys may be made to collide, and lists of lists be summed.
_LONGEST_HERE = 50_000
_KEYED, _WITHOUT_MEASURE, _STAYING = {"d", "e", "z"}, {"r", "q", "m"}, "o"


class NotHereError(Exception):
    """What decides stays with the program (`len` of its object), or could take long: a matter for a sandbox."""


@dataclass(frozen=True)
class Step:
    """What is done inside: a "call" (any expression) for its value, its items ("iterate"), or nothing ("do")."""

    kind: str
    text: str


@dataclass(frozen=True)
class Check:
    """One assert: the steps that run in the sandbox, and how their values decide.

    `decide` is the compiled rest of the assert, in which `_0`, `_1` … stand for the steps' values. Where it only says
    what they equal (`equates`), and that as a literal, `longest` is the length of what could.
    """

    steps: tuple[Step, ...]
    decide: CodeType
    equates: bool = False
    longest: int | None = None

    def passes(self, values: Iterable[tuple[Any, int]]) -> bool:
        """Whether the assert holds, given each step's value in typed JSON and its length in characters.

        Raises NotHereError where that should be decided in a sandbox.
        """
        given = list(values)
        if len(given) != len(self.steps):
            return False
        if self.longest is not None and any(length > self.longest for _, length in given):
            return False
        if not all(self._is_for_here(value, length) for value, length in given):
            raise NotHereError
        try:
            names = {f"_{number}": decode(value) for number, (value, _) in enumerate(given)}
            return bool(eval(self.decide, {"__builtins__": {}, **_TRUSTED, **names}))
        except Exception:
            # The values are hostile: what cannot be compared (a huge Decimal, an unhashable key) isn't equal.
            return False

    def _is_for_here(self, value: Any, length: int) -> bool:
        if self.equates:
            return length <= _LONGEST_HERE or not (_KEYED | _WITHOUT_MEASURE).intersection(_kinds(value))
        return length <= _LONGEST_HERE and not {*_WITHOUT_MEASURE, _STAYING}.intersection(_kinds(value))


def _kinds(message: Any) -> Iterator[str]:
    """The kinds in a value as typed JSON."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list) and part:
            if isinstance(part[0], str):
                yield part[0]
            waiting += part


def checks(tests: Iterable[str], names: Collection[str], elsewhere: Collection[str] = ()) -> list[Check] | None:
    """The checks of an item's tests, in order; None where one of them has a form that cannot be taken apart.

    `names` are those that the tests take from the candidate, `elsewhere` those of Python's library, which is not
    there where the steps are taken.

    Raises SyntaxError where a test isn't Python.
    """
    found: list[Check] = []
    known = _Known(names)
    for test in tests:
        before: list[Step] = []
        for node in ast.parse(test.strip()).body:
            if isinstance(node, ast.Assert):
                check = _check(node, before, known)
                if check is None or any(_uses(step, {*elsewhere, "math"} - known) for step in check.steps):
                    return None
                found.append(check)
                before = []
            elif not _says_nothing(node):
                if not _is_a_deed(node, known):
                    return None
                before.append(Step("do", ast.unparse(node)))
        if any(_uses(step, {*elsewhere, "math"} - known) for step in before):
            return None
        if before:
            found.append(Check(tuple(before), compile("True", "<test>", "eval")))
    # Without a value to judge there may be nothing to hold.
    return found if any(step.kind != "do" for check in found for step in check.steps) else None


class _Known(set[str]):
    """The names that stand for something of the candidate's; those of `results` for what it returned."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(names)
        self.results: set[str] = set()


def _uses(step: Step, names: Collection[str]) -> bool:
    return not _names(ast.parse(step.text)).isdisjoint(names)


def _says_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return [(alias.name, alias.asname) for alias in node.names] == [("math", None)]
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_a_deed(node: ast.stmt, known: _Known) -> bool:
    """Whether a statement only calls the candidate, and perhaps names the result, which is then known as its own."""
    if isinstance(node, ast.Expr):
        return _goes_in(node.value, known)
    if isinstance(node, ast.Assign) and _goes_in(node.value, known) and not _lets_a_result_judge(node.value, known):
        (target, *others) = node.targets
        if isinstance(target, ast.Name) and not others:
            known.add(target.id)
            known.results.add(target.id)
            return True
    return False


def _check(node: ast.Assert, before: list[Step], known: _Known) -> Check | None:
    taker = _Taker(list(before), known)
    if isinstance(node.test, ast.Tuple):
        # True, whatever is in it.
        return None
    if _lets_a_result_judge(node.test, known):
        return None
    if any(_compares_its_own(part, known) or _may_stop_early(part, known) for part in ast.walk(node.test)):
        return None
    left = taker.visit(copy.deepcopy(node.test))
    assert isinstance(left, ast.expr)
    rest = ast.fix_missing_locations(ast.Expression(left))
    names = {*_TRUSTED, *(f"_{number}" for number in range(len(taker.steps)))}
    if not all(_is_safe(part, names) for part in ast.walk(rest)):
        return None
    equates = _only_equates(left)
    literal = equates and not any(isinstance(part, ast.Call) for part in ast.walk(left))
    longest = _LENGTH_FACTOR * len(ast.unparse(node)) + _LENGTH_FREE if literal else None
    return Check(tuple(taker.steps), compile(rest, "<test>", "eval"), equates, longest)


def _only_equates(node: ast.expr) -> bool:
    """Whether values are only compared as they are, with what the test has."""
    if not isinstance(node, ast.Compare) or not all(isinstance(how, ast.Eq) for how in node.ops):
        return False
    parts = (node.left, *node.comparators)
    return all(isinstance(part, ast.Name) or _names(part) <= set(_TRUSTED) for part in parts)


def _may_stop_early(node: ast.AST, known: set[str]) -> bool:
    """Whether Python may not come to something of the candidate's: `not f(3) or f(3)[0] == 1`."""
    later: list[ast.expr] = []
    if isinstance(node, ast.BoolOp):
        later = node.values[1:]
    elif isinstance(node, ast.Compare):
        later = node.comparators[1:]
    return any(_names(part) & known for part in later)


def _lets_a_result_judge(node: ast.AST, known: _Known) -> bool:
    """Whether a method of what the candidate returned is given something, such as what is expected."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and (part.args or part.keywords):
            on, name = part.func.value, part.func.attr
            made = any(isinstance(inner, (ast.Call, ast.Subscript)) for inner in ast.walk(on))
            if _names(on) & known and (made or name.startswith("__") or _names(on) & known.results):
                return True
    return False


def _is_safe(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in _TRUSTED:
            return False
        if node.func.id in _MAKING:
            return _names(node) == {node.func.id} and _is_small(node)
        # How many digits to round to: ten to that power is made of it.
        rounding = [*node.args[1:], *node.keywords] if node.func.id == "round" else []
        return all(not _names(part) and _is_small(part) for part in rounding)
    if isinstance(node, ast.keyword):
        return not (isinstance(node.value, ast.Name) and node.value.id in _MAKING)
    return isinstance(node, _ALLOWED)


def _is_small(node: ast.AST) -> bool:
    numbers = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return all(abs(number) <= _LARGEST for number in numbers if isinstance(number, (int, float)))


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
