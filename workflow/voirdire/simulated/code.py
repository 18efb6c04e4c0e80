"""Code that a persona hands in: the reference solution, or one that fails at least one assert of its item."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from typing import Any


def function_name(tests: Sequence[str], reference: str | None = None) -> str | None:
    """The function that the asserts call; of several, the one that the reference defines."""
    called = [name for test in tests for name in _called(_parse(test))]
    if reference is not None:
        defined = {node.name for node in ast.walk(_parse(reference)) if isinstance(node, ast.FunctionDef)}
        called = [name for name in called if name in defined] or called
    return called[0] if called else None


def wrong_code(tests: Sequence[str], reference: str | None, variant: int) -> str:
    """Code that fails the first assert: the reference with its result put slightly off.

    variant: which of the small faults that suit the expected value's type.
    Where the first assert isn't of the form `function(…) == literal`, or there is no reference, the code gives up.
    """
    name = function_name(tests, reference)
    expected = _expected(tests[0], name) if tests else None
    if name is None or reference is None or expected is None:
        return f'def {name or "solution"}(*args):\n    raise ValueError("no case matches the given input")'
    tree = _parse(reference)
    # Recursive calls must reach the unspoilt function, or faults could cancel each other out.
    helper = _free_name(f"{name}_core", tree)
    _Renamed(name, helper).visit(tree)
    faults = _faults(expected[0])
    fault = faults[variant % len(faults)]
    return f"{ast.unparse(tree)}\n\ndef {name}(*args):\n    result = {helper}(*args)\n    return {fault}"


def _faults(expected: Any) -> list[str]:
    """Expressions of `result` that differ from `expected` where the result equals it."""
    if isinstance(expected, bool):
        return ["not result"]
    if isinstance(expected, int | complex) or (isinstance(expected, float) and abs(expected) < 1000):
        return ["result + 1", "result - 1", *(["result * 2"] if abs(expected) > 1 else [])]
    if isinstance(expected, float):
        # A step of one could vanish in a grader's tolerance.
        return ["result * 2", "result / 2"]
    if isinstance(expected, str | bytes):
        blank = '"0"' if isinstance(expected, str) else 'b"0"'
        return ["result[:-1]", "result[1:]", f"result + {blank}"] if expected else [blank]
    if isinstance(expected, list):
        return ["result[:-1]", "result[1:]", "result + result[:1]"] if expected else ["[0]"]
    if isinstance(expected, tuple):
        return ["tuple(result[:-1])", "tuple(result[1:])"] if expected else ["(0,)"]
    if isinstance(expected, set):
        return ["set(sorted(result, key=str)[1:])"] if expected else ["{0}"]
    if isinstance(expected, dict):
        return ["dict(list(result.items())[:-1])"] if expected else ["{0: 0}"]
    return ["0"]


def _expected(test: str, name: str | None) -> tuple[Any] | None:
    """The literal that the assert compares the function's result with, in a tuple since it may be None."""
    body = _parse(test).body
    match body:
        case [
            ast.Assert(test=ast.Compare(left=ast.Call(func=ast.Name(id=called)), ops=[ast.Eq()], comparators=[right]))
        ]:
            if called != name:
                return None
            try:
                return (ast.literal_eval(right),)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                return None
    return None


def _parse(code: str) -> ast.Module:
    # An invalid escape in somebody's reference is a warning that this reader need not pass on.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code.replace("\r\n", "\n"))
        except (SyntaxError, ValueError):
            return ast.Module(body=[], type_ignores=[])


def _called(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def _free_name(wanted: str, tree: ast.Module) -> str:
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    while wanted in taken:
        wanted += "_"
    return wanted


class _Renamed(ast.NodeTransformer):
    """One function renamed, with every mention of it as a name; attributes and imports keep theirs."""

    def __init__(self, old: str, new: str):
        self.old, self.new = old, new

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self.new if node.name == self.old else node.name
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.new if node.id == self.old else node.id
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.new if node.arg == self.old else node.arg
        return node
