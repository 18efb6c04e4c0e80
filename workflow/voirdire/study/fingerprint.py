"""A fingerprint of the library code that a step uses.

Snakemake doesn't see an edited imported module; with this in a rule's params it does. The modules are found by
reading import statements, without importing anything.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

LIBRARY = Path(__file__).resolve().parent.parent
_PACKAGE = LIBRARY.name


def fingerprint(module: str, library: Path = LIBRARY) -> str:
    """Sixteen hexadecimal digits that change with the source of `module` or of what it imports from this library.

    A package's `__init__` counts only where something is imported from the package itself: re-exports beside the
    imported module change no result. Comments and layout don't count; docstrings neither.
    """
    digest = hashlib.sha256()
    sources = {name: path for name in sorted(_closure(module, library)) if (path := _source(name, library))}
    for name, path in sources.items():
        digest.update(f"{name}\0{_read(path, library).essence}\0".encode())
    for folder in sorted({path.parent for path in sources.values()} - {library}):
        for path in _data_files(folder):
            digest.update(f"{path.relative_to(library)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _data_files(folder: Path) -> tuple[Path, ...]:
    """Templates, bundled questions and the like, which belong to the package's code."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return tuple(sorted(path for path in files if path.suffix != ".py"))


def _closure(module: str, library: Path) -> set[str]:
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            path = _source(name, library)
            waiting.extend(_read(path, library).imports if path else ())
    return found


class _Code(NamedTuple):
    """What counts of a file: what it imports of this library, and all but comments, layout and docstrings."""

    imports: tuple[str, ...]
    essence: str


@cache
def _read(path: Path, library: Path) -> _Code:
    """Both at once, so that no tree is kept: the garbage collector looked through all of them again and again."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return _Code(tuple(_find_imports(tree, library)), _essence(tree))


def _find_imports(tree: ast.Module, library: Path) -> Iterator[str]:
    for node in _blocks(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _source(alias.name, library))
        elif isinstance(node, ast.ImportFrom) and node.module and _source(node.module, library):
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if _source(name, library) else node.module for name in submodules)


@cache
def _source(module: str, library: Path) -> Path | None:
    """The file of a module of this library; None for anything else."""
    head, *parts = module.split(".")
    if head != _PACKAGE:
        return None
    base = library.joinpath(*parts)
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all statements inside it. Not `ast.walk`: nine nodes in ten are expressions, which hold neither."""
    yield node
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, part, ()):
            yield from _blocks(child)


def _essence(tree: ast.Module) -> str:
    """The code of a file without comments, layout and docstrings, which are taken out of the tree."""
    for node in _blocks(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and _is_text(
            node.body[0:1]
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(statements: list[ast.stmt]) -> bool:
    return any(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for statement in statements
    )
