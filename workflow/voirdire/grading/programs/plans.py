"""How an item's tests are run: taken apart, or as they are, in a sandbox of their own.

Which names a test takes from the candidate is read from its text: those that it uses, that neither it nor the setup
code binds, and that are not Python's own. Where there are none, a function of Python's that the asserts call is meant
to be the candidate's (MBPP 126 asks for a `sum` of two numbers).
"""

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from voirdire.grading.programs.asserts import Check, checks

# Of Python's library, what tests use without an import: by the publishers' harness the program's own import serves.
_MODULES = {
    *("bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools"),
    *("json", "math", "operator", "random", "re", "statistics", "string", "sys", "typing"),
}

# Names that mean those modules' own; a program's class of that name would judge what it is compared with.
_STANDARD = {
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"), "collections"),
    **{"Decimal": "decimal", "Fraction": "fractions", "isclose": "math", "timedelta": "datetime"},
}


@dataclass(frozen=True)
class Plan:
    """What is called in the candidate, and the checks; `checks` None where the tests run as they are.

    `modules` are those of Python's library that the tests use, `standard` the names, with their modules.
    """

    entry_point: str
    names: tuple[str, ...]
    modules: tuple[str, ...]
    standard: tuple[tuple[str, str], ...]
    checks: tuple[Check, ...] | None


def plan(tests: Sequence[str], setup_code: str = "") -> Plan:
    """The plan for an item's tests.

    Raises SyntaxError, or ValueError, RecursionError and MemoryError like `ast.parse`, where they are not Python.

    >>> plan(["assert sorted(common([1, 2], [2])) == [2]"]).entry_point
    'common'
    >>> plan(["def check(candidate):\\n    assert candidate(1) == 2", "check(f)"]).names
    ('f',)
    """
    trees = [ast.parse(test.strip()) for test in tests]
    setup = ast.parse(setup_code)
    bound = set().union(*(_bound(tree) for tree in (*trees, setup)))
    modules = tuple(sorted({name for tree in (*trees, setup) for name in _modules(tree)} - bound))
    known = {*bound, *modules, *dir(builtins)}
    from_tests = [name for tree in trees for name in _loaded(tree) if name not in known]
    if not from_tests:
        from_tests = [name for tree in trees for name in _called_first(tree) if name not in bound]
    # If there is anything else to ask of the program.
    if others := [name for name in from_tests if name not in _STANDARD]:
        from_tests = others
    names = tuple(dict.fromkeys([*from_tests, *(name for name in _loaded(setup) if name not in {*known, *_STANDARD})]))
    loaded = {name for tree in (*trees, setup) for name in _loaded(tree)}
    standard = tuple(item for item in _STANDARD.items() if item[0] in loaded - {*bound, *names})
    called = {name for tree in trees for name in _called(tree)}
    entry_point = next((name for name in from_tests if name in called), from_tests[0] if from_tests else "")
    taken_apart = checks(tests, from_tests, {*modules, *dict(standard)})
    return Plan(entry_point, names, modules, standard, None if taken_apart is None else tuple(taken_apart))


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes, as a reader meets them."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _in_order(child)


def _loaded(tree: ast.AST) -> Iterator[str]:
    return (node.id for node in _in_order(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _called(tree: ast.AST) -> Iterator[str]:
    return (node.func.id for node in _in_order(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))


def _called_first(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Assert):
            yield from list(_called(node))[:1]


def _bound(tree: ast.AST) -> Iterable[str]:
    """Every name that a text binds anywhere: a variable of its own is never the candidate's."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]


def _modules(tree: ast.AST) -> set[str]:
    """Names of modules that are only ever used as such."""
    parts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    bases = [part.id for part in parts if isinstance(part, ast.Name)]
    loaded = list(_loaded(tree))
    return {name for name in _MODULES.intersection(bases) if bases.count(name) == loaded.count(name)}
