"""MBPP: the program that a response gives, run against the item's asserts in a sandbox.

**The program.** The last fenced block (any tag but another language's, closed or not) that defines the function which
the tests call, after those other blocks that only define things; else the longest run of lines in the text that is
Python and defines it, after the earlier runs that only define things. Indentation of a whole block, the prompts of an
interactive session, and what pages make of code (`&lt;`, typographic quotes, no-break spaces) are taken back where the
text is Python only then. The function must be there by its name: another name, or a method of a class, is reported as
a wrong function name, code that does not parse (Python 2's `print x`) as not Python. Nothing that can be read as
Python is "no code". All of these are wrong answers.

**The test.** The setup code runs before the program, and again after it if it failed (it may build the program's own
classes). The program runs once; an exception, its own failing demonstration or asserts, what it prints and how it
exits count for nothing. It is right when every test of the item holds: each expression that the tests ask of it is
evaluated inside the sandbox, and its value, a literal of Python's own types, is compared outside, as Python compares
(4 == 4.0, a subclass by what its base type holds). Values of other types equal no literal. Tests that cannot be taken
apart so run as they are in a second sandbox, where the program's names are stand-ins that ask the first: there too the
program never sees what is expected, unless a test makes an object of the program's of it, or gives it to a method of
one; and so do those whose values would take long to judge. Names of Python's library that tests use without an import
(`deque`, `math`) are the library's, not the program's. What cannot be tested that way: functions, classes and objects
of the test's own given to the program, awaiting its coroutines, arithmetic with its objects, the identity of values,
and more than some thousand questions.

**Limits.** CPU time, memory, processes, output (`sandbox.Limits`): a program that exceeds one is wrong.

**No truth** where the fault isn't the program's: the sandbox did not start, the item has no tests, they are not
Python, ask nothing of the program or compare nothing (functions that nobody calls), ask too much where no reference
shows that it can be less, or the item's own reference solution fails them. The reference is run only when a
response to the item failed, once in a process; a response that passes its tests is right in any case.
"""

import functools
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from typing import Any

from voirdire.benchmarks import Item
from voirdire.grading.outcome import Grade
from voirdire.grading.programs.asserts import NotHereError
from voirdire.grading.programs.blocks import code_blocks
from voirdire.grading.programs.dialogue import run_apart
from voirdire.grading.programs.plans import Plan, plan
from voirdire.grading.programs.readout import Ran, verdict
from voirdire.grading.sandbox.sandbox import Sandbox

_plan = functools.cache(plan)


@dataclass(frozen=True)
class _Job:
    """A program to find and run, and the item whose tests it must pass."""

    item: Item
    plan: Plan
    blocks: tuple[str, ...]
    prose: str = ""

    def run(self, sandbox: Sandbox) -> Grade:
        program: dict[str, Any] = {
            "setup": self.item.setup_code,
            "blocks": self.blocks,
            "prose": self.prose,
            "entry_point": self.plan.entry_point,
        }
        if self.plan.checks is not None:
            steps = [{step.kind: step.text} for check in self.plan.checks for step in check.steps]
            ran = Ran(sandbox.run({**program, "steps": steps}))
            try:
                return verdict(self.plan, len(self.item.tests), ran, sandbox.name)
            except NotHereError:
                # In a sandbox, it costs the program's time.
                pass
        nonce = secrets.token_hex(16)
        tests = {
            "tests": [test.strip() for test in self.item.tests],
            "setup": self.item.setup_code,
            "names": self.plan.names,
            "modules": self.plan.modules,
            "standard": self.plan.standard,
            "nonce": nonce,
        }
        ran = Ran(*run_apart(sandbox, {**program, "serve": True}, tests), nonce)
        grade = verdict(self.plan, len(self.item.tests), ran, sandbox.name)
        if ran.too_many and grade.truth is False and not self.item.reference:
            # A loop may be the program's doing, or the test's.
            grade = replace(grade, truth=None, how="not graded: the item's tests asked too many questions")
        return grade


def grade_programs(items: list[Item], responses: list[str], sandbox: Sandbox, workers: int | None) -> list[Grade]:
    """A grade per item and response; truth missing where the item or the sandbox, not the program, is at fault."""
    # Parsing happens here, in one thread: ast.parse is not safe in several (Python 3.11).
    jobs = [_prepare(item, response) for item, response in zip(items, responses, strict=True)]
    with ThreadPoolExecutor(workers or cpu_count() or 1) as pool:

        def run(job: _Job | str) -> Grade:
            return Grade(None, None, job, sandbox.name) if isinstance(job, str) else job.run(sandbox)

        grades = list(pool.map(run, jobs))
        failed = [job for job, grade in zip(jobs, grades, strict=True) if grade.truth is False]
        broken = _broken_items([job for job in failed if isinstance(job, _Job)], sandbox, pool)
    return [
        replace(grade, truth=None, how=broken[item]) if grade.truth is False and item in broken else grade
        for item, grade in zip(items, grades, strict=True)
    ]


def _prepare(item: Item, response: str) -> _Job | str:
    """The job for the sandbox, or why the item cannot be graded."""
    if not item.tests:
        return "not graded: the item has no tests"
    try:
        found = _plan(item.tests, item.setup_code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "not graded: the item's tests or setup code are not Python"
    if not found.entry_point:
        return "not graded: the item's tests ask nothing of the program"
    blocks, prose = code_blocks(response)
    return _Job(item, found, tuple(blocks), prose)


# Why a reference solution fails, None where it passes; kept for a process's life, by all that decides. One that got no
# time is tried again.
_references: dict[tuple[Item, Sandbox], str | None] = {}


def _broken_items(failed: list[_Job], sandbox: Sandbox, pool: ThreadPoolExecutor) -> dict[Item, str]:
    """The items whose own reference solutions fail their tests, and how to say so, among those of failed jobs."""
    items = {job.item: job for job in failed if job.item.reference}
    new = {
        item: replace(job, blocks=(item.reference or "",), prose="")
        for item, job in items.items()
        if (item, sandbox) not in _references
    }
    for item, grade in zip(new, pool.map(lambda job: job.run(sandbox), new.values()), strict=True):
        if grade.truth is not None:
            how = grade.how.partition(": ")[2] or grade.how
            _references[item, sandbox] = None if grade.truth else how
    said = {item: _references.get((item, sandbox)) for item in items}
    return {
        item: f"not graded: the item's reference solution fails its own tests ({how})"
        for item, how in said.items()
        if how
    }
