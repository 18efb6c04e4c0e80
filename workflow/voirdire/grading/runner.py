"""Runs one candidate program inside the sandbox; started there from its source text, with nothing but Python's own.

It reads one JSON object from standard input: limits, setup code, the response's blocks of code, the calls to make. It
writes one JSON object a line: `ready`, the code it chose, then a value per call. Nothing that it says after the
candidate's code has begun to run can be trusted; it is only ever compared, outside, with what the candidate was
not told.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import sys
import textwrap
import types

# Not imported when it runs: every candidate would wait for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_DEFINITIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)
_START = re.compile(r"\s*(?:(?:def|class|import|from|async def)\s+|@)\w")
_STARTS_TRIED = 50
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a text, None if it isn't Python."""
    try:
        return ast.parse(text)
    except _NOT_PYTHON:
        return None


def names_defined(tree: ast.Module) -> list[str]:
    """The names that a module's top level binds, functions first."""
    functions: list[str] = []
    others: list[str] = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef):
            others.append(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            others += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Assign):
            others += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return functions + others


def _only_definitions(tree: ast.Module) -> bool:
    """Whether a block does nothing but define things, a docstring aside."""
    others = [node for node in tree.body if not isinstance(node, _DEFINITIONS)]
    constants = all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in others)
    return constants and len(others) < len(tree.body)


def _runs_of_code(text: str) -> Iterator[str]:
    """For each line that could begin code: the longest run of lines from there that is Python."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _START.match(line)]
    for start in starts[:_STARTS_TRIED]:
        end = len(lines)
        while end > start:
            run = textwrap.dedent("\n".join(lines[start:end]))
            try:
                ast.parse(run)
            except SyntaxError as error:
                end = min(end - 1, start + max(error.lineno or 1, 1) - 1)
            except _NOT_PYTHON:
                break
            else:
                yield run
                break


def choose(blocks: list[str], prose: str, entry_point: str) -> tuple[str | None, str]:
    """The code to run, and where it was found: (code, how), code None where there is none.

    The last fenced block that defines the entry point wins, after those others that only define things; then code
    in the text around; then any code at all, so that a wrong name can be told from no code.
    """
    blocks = [textwrap.dedent(block) for block in blocks]
    trees = [parsed(block) for block in blocks]
    for index in reversed(range(len(blocks))):
        tree_here = trees[index]
        if tree_here is not None and entry_point in names_defined(tree_here):
            helpers = [
                block
                for block, tree in ((blocks[other], trees[other]) for other in range(len(blocks)) if other != index)
                if tree and _only_definitions(tree) and entry_point not in names_defined(tree)
            ]
            return "\n".join([*helpers, blocks[index]]), "fenced code"
    fallback: tuple[str, str] | None = None
    for texts, how in ((blocks[::-1], "fenced code"), ([prose], "unfenced code")):
        for text in texts:
            for run in _runs_of_code(text):
                if entry_point in names_defined(ast.parse(run)):
                    return run, how
                fallback = fallback or (run, how)
    if fallback:
        return fallback
    if blocks:
        return blocks[-1], "fenced code"
    return None, "no code"


def encode(value: Any) -> list[Any]:
    """A value as typed JSON; of a subclass only what its base type holds, of anything else the type's name."""
    if value is None:
        return ["n"]
    if isinstance(value, bool):
        return ["b", bool(value)]
    if isinstance(value, int):
        return ["i", hex(int.__index__(value))]
    if isinstance(value, float):
        return ["f", float.hex(value)]
    if isinstance(value, complex):
        return ["c", value.real.hex(), value.imag.hex()]
    if isinstance(value, str):
        return ["s", str.__str__(value)]
    if isinstance(value, (bytes, bytearray)):
        return ["y", bytes(value).hex()]
    if isinstance(value, list):
        return ["l", [encode(part) for part in list.__iter__(value)]]
    if isinstance(value, tuple):
        return ["t", [encode(part) for part in tuple.__iter__(value)]]
    if isinstance(value, set):
        return ["e", [encode(part) for part in set.__iter__(value)]]
    if isinstance(value, frozenset):
        return ["e", [encode(part) for part in frozenset.__iter__(value)]]
    if isinstance(value, dict):
        return ["d", [[encode(key), encode(part)] for key, part in dict.items(value)]]
    # Only a program that imported these can return them; importing them here would slow every start.
    if "fractions" in sys.modules and isinstance(value, sys.modules["fractions"].Fraction):
        return ["q", hex(value.numerator), hex(value.denominator)]
    if "decimal" in sys.modules and isinstance(value, sys.modules["decimal"].Decimal):
        return ["m", str(value)]
    return ["o", type(value).__name__[:40]]


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        number = getattr(resource, name)
        hard = value + 1 if name == "RLIMIT_CPU" else value
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            value, hard = min(value, ceiling), min(hard, ceiling)
        resource.setrlimit(number, (value, hard))


def _setup_fault(setup: str, namespace: dict[str, Any]) -> str | None:
    try:
        exec(compile(setup, "<setup>", "exec", dont_inherit=True), namespace)
    except BaseException as error:
        return type(error).__name__
    return None


def _run(job: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> None:
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    namespace = module.__dict__
    # Before the code, which may use it; again after it where it needs the code (MBPP 367 builds the candidate's Node).
    setup_failed = _setup_fault(job["setup"], namespace)
    code, how = choose(job["blocks"], job["prose"], job["entry_point"])
    send({"code": code, "how": how})
    if code is None:
        return
    try:
        exec(compile(code, "<candidate>", "exec", dont_inherit=True), namespace)
    except BaseException as error:
        # A demonstration below the function may well fail without input or arguments: the function decides.
        send({"code_failed": type(error).__name__})
    if setup_failed and (setup_failed := _setup_fault(job["setup"], namespace)):
        send({"setup_failed": setup_failed})
        return
    if job["entry_point"] and job["entry_point"] not in namespace:
        tree = parsed(code)
        send({"wrong_name": names_defined(tree)[:1] if tree else []})
        return
    for index, step in enumerate(job["steps"]):
        try:
            if "call" in step:
                value = encode(eval(compile(step["call"], "<test>", "eval", dont_inherit=True), namespace))
            else:
                exec(compile(step["run"], "<test>", "exec", dont_inherit=True), namespace)
                value = ["s", step["nonce"]]
            send({"step": index, "value": value})
        except BaseException as error:
            send({"step": index, "raised": type(error).__name__})


def main() -> None:
    job = json.loads(sys.stdin.buffer.read())
    channel = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.closerange(3, channel)
    os.closerange(channel + 1, 256)
    dumps, write = json.dumps, os.write

    def send(message: dict[str, Any]) -> None:
        data = dumps(message).encode() + b"\n"
        while data:
            data = data[write(channel, data) :]

    _limit(job["limits"])
    send({"ready": True})
    try:
        _run(job, send)
    finally:
        # Threads that never end must not keep the process alive.
        os._exit(0)


if __name__ == "__main__":
    main()
