"""MBPP: the program that a response gives, run against the item's asserts in a sandbox.

The program is the last fenced block (any tag, closed or not) that defines the function which the tests call, after the
other blocks that only define things; else the longest run of lines in the text that is Python. The tests' expected
values are compared outside the sandbox. Passing means that every assert holds; what the program prints, how it exits
and what its own demonstration does counts for nothing.
"""

import ast
import builtins
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from typing import Any

from voirdire.benchmarks import Item, function_name
from voirdire.grading.asserts import Check, checks, new_nonce
from voirdire.grading.outcome import Grade
from voirdire.grading.sandbox import Outcome, Sandbox
from voirdire.grading.text import visible

_FENCE = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[^\n`]*)$", re.MULTILINE)
_TAGS = re.compile(r"^\s*\[/?(?:PYTHON|CODE|BEGIN|DONE|ANSWER|SOLUTION)\]\s*$", re.MULTILINE | re.IGNORECASE)
_NOT_CODE = {"text", "txt", "plaintext", "output", "console", "bash", "sh", "shell", "json", "markdown", "md"}
_ENDINGS = {
    "cpu": "out of CPU time",
    "wall": "out of time",
    "flood": "too much output",
    "killed": "killed at a limit or by itself",
    "exit": "ended before it returned",
}


def code_blocks(response: str) -> tuple[list[str], str]:
    """The fenced blocks of a response that may be code, and all of its text without the fences.

    >>> code_blocks("Here:\\n```python\\ndef f(): pass\\n```\\nDone.")
    (['def f(): pass'], 'Here:\\ndef f(): pass\\nDone.')
    """
    text = _TAGS.sub("```", visible(response))
    blocks, opened, kept, at = [], None, [], 0
    for match in _FENCE.finditer(text):
        kept.append(text[at : match.start()])
        at = min(match.end() + 1, len(text))
        if opened is None:
            opened = match
        elif match["fence"].startswith(opened["fence"]) and not match["tag"].strip():
            blocks.append((opened["tag"], text[opened.end() + 1 : match.start()]))
            opened = None
        elif match["tag"].strip():
            # A new fence with a tag, though the last was never closed.
            blocks.append((opened["tag"], text[opened.end() + 1 : match.start()]))
            opened = match
    if opened is not None:
        blocks.append((opened["tag"], text[opened.end() + 1 :]))
    kept.append(text[at:])
    code = [block.rstrip("\n") for tag, block in blocks if tag.strip().lower() not in _NOT_CODE and block.strip()]
    return code, "".join(kept)


@dataclass(frozen=True)
class _Job:
    checks: tuple[Check, ...]
    nonce: str
    message: dict[str, Any]


def grade_programs(items: list[Item], responses: list[str], sandbox: Sandbox, workers: int | None) -> list[Grade]:
    """A grade per item and response; truth missing where the item or the sandbox, not the program, is at fault."""
    # Parsing happens here, in one thread: ast.parse is not safe in several (Python 3.11).
    jobs = [_prepare(item, response) for item, response in zip(items, responses, strict=True)]
    with ThreadPoolExecutor(workers or cpu_count() or 1) as pool:
        outcomes = list(pool.map(lambda job: sandbox.run(job.message) if isinstance(job, _Job) else None, jobs))
    return [
        _decide(job, outcome, sandbox.name)
        if isinstance(job, _Job) and outcome is not None
        else Grade(None, None, str(job), sandbox.name)
        for job, outcome in zip(jobs, outcomes, strict=True)
    ]


def _prepare(item: Item, response: str) -> _Job | str:
    """The job for the sandbox, or why the item cannot be graded."""
    if not item.tests:
        return "not graded: the item has no tests"
    try:
        found = tuple(checks(item.tests))
        ast.parse(item.setup_code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "not graded: the item's tests or setup code are not Python"
    blocks, prose = code_blocks(response)
    nonce = new_nonce()
    message = {
        "setup": item.setup_code,
        "blocks": blocks,
        "prose": prose,
        "entry_point": function_name(item.tests),
        "steps": [step for check in found for step in check.inside(nonce)],
    }
    return _Job(found, nonce, message)


def _decide(job: _Job, outcome: Outcome, sandbox: str) -> Grade:
    if not outcome.started:
        return Grade(None, None, f"not graded: the sandbox did not start ({outcome.ended})", sandbox)
    said: dict[str, Any] = {}
    steps: dict[int, tuple[dict[str, Any], int]] = {}
    for message, length in outcome.messages:
        if isinstance(message.get("step"), int):
            steps.setdefault(message["step"], (message, length))
        else:
            for key, value in message.items():
                said.setdefault(key, value)
    code = said.get("code")
    if not isinstance(code, str):
        how = "no code" if "code" in said else f"the code was not read: {_ENDINGS[outcome.ended]}"
        return Grade(False, None, how, sandbox)
    how = str(said.get("how"))
    passed, result = _result(job, outcome, said, steps)
    return Grade(passed, code, f"{how}: {result}", sandbox)


def _result(
    job: _Job, outcome: Outcome, said: dict[str, Any], steps: dict[int, tuple[dict[str, Any], int]]
) -> tuple[bool, str]:
    if "wrong_name" in said and not steps:
        wanted = _name(job.message["entry_point"])
        if said.get("code_failed") in ("SyntaxError", "IndentationError", "TabError"):
            return False, "not Python"
        found = said["wrong_name"]
        named = f"defines {_name(found[0])}" if isinstance(found, list) and found else "defines nothing"
        raised = f" and raised {_error(said['code_failed'])}" if "code_failed" in said else ""
        return False, f"wrong function name: {named}{raised}, the tests call {wanted}"
    if "setup_failed" in said and not steps:
        return False, f"the item's setup code raised {_error(said['setup_failed'])} with it"
    at = 0
    for number, check in enumerate(job.checks, 1):
        mine = [steps.get(index) for index in range(at, at + len(check.steps))]
        at += len(check.steps)
        answers = [(answer[0].get("value"), answer[1]) for answer in mine if answer and "value" in answer[0]]
        if check.passes(answers, job.nonce):
            continue
        where = f"test {number} of {len(job.checks)}"
        if None in mine:
            return False, f"{where}: {_ENDINGS[outcome.ended]}"
        errors = [answer[0]["raised"] for answer in mine if answer and "raised" in answer[0]]
        return False, f"{where}: " + (f"raised {_error(errors[0])}" if errors else "wrong value")
    return True, "passes its tests"


def _error(value: object) -> str:
    """The name of one of Python's own exceptions; a program may give its own any name."""
    known = getattr(builtins, value, None) if isinstance(value, str) else None
    return (
        str(value) if isinstance(known, type) and issubclass(known, BaseException) else "an exception of another kind"
    )


def _name(value: object) -> str:
    """A name from inside the sandbox, harmless in a table: word characters only, and few."""
    return re.sub(r"[^A-Za-z0-9_]", "?", str(value))[:40]
