"""What came back from the sandbox, read as a grade; none of the words in it are the program's."""

import builtins
import re
from dataclasses import dataclass, field
from typing import Any

from voirdire.grading.outcome import Grade
from voirdire.grading.programs.plans import Plan
from voirdire.grading.sandbox.sandbox import Outcome

_ENDINGS = {
    "cpu": "out of CPU time",
    "memory": "out of memory",
    "wall": "out of time",
    "flood": "too much output",
    "killed": "killed at a limit or by itself",
    "exit": "ended before it returned",
}
_NAMES_SHOWN = 3
_Message = dict[str, Any]
_Steps = dict[int, tuple[_Message, int]]


@dataclass(frozen=True)
class Ran:
    """What came back from the program's sandbox, and where the tests ran in one of their own, from theirs.

    `too_many` is whether they were ended because of the number of their questions.
    """

    program: Outcome
    tests: Outcome | None = None
    too_many: bool = False
    nonce: str = field(default="", repr=False)


class _NotGradedError(Exception):
    """The fault is the item's or the sandbox's."""


def verdict(plan: Plan, tests: int, ran: Ran, sandbox: str) -> Grade:
    """The grade of a program, after one run of an item's `tests`.

    Raises NotHereError where tests that were taken apart should run in a sandbox after all.
    """
    for outcome in (ran.program, ran.tests):
        if outcome and not outcome.started:
            busy = outcome.ended == "busy"
            why = "the machine gave it no time" if busy else f"the sandbox did not start ({outcome.ended})"
            return Grade(None, None, f"not graded: {why}", sandbox)
    said, steps = _sorted(ran.program)
    code = said.get("code")
    if "code" not in said and ran.program.ended == "exit":
        return Grade(None, None, "not graded: the sandbox ended before the code was read", sandbox)
    if not isinstance(code, str):
        how = "no code" if "code" in said else f"the code was not read: {_ended(ran.program)}"
        return Grade(False, None, how, sandbox)
    try:
        fault = _fault(plan, ran, steps) if ran.tests is None else _fault_apart(tests, ran, *_sorted(ran.tests))
    except _NotGradedError as error:
        return Grade(None, code, f"not graded: {error}", sandbox)
    if fault and not steps:
        fault = _never_tested(plan, said) or fault
    return Grade(fault is None, code, f"{said.get('how')}: {fault or 'passes its tests'}", sandbox)


def _sorted(outcome: Outcome) -> tuple[_Message, _Steps]:
    """What was said first under each key, and the first answer to each step."""
    said: _Message = {}
    steps: _Steps = {}
    for message, length in outcome.messages:
        if isinstance(message.get("step"), int):
            steps.setdefault(message["step"], (message, length))
        else:
            for key, value in message.items():
                said.setdefault(key, value)
    return said, steps


def _never_tested(plan: Plan, said: _Message) -> str | None:
    if "wrong_name" in said:
        wanted = _name(plan.entry_point)
        if said["wrong_name"] is None:
            return "not Python"
        if isinstance(said.get("method_of"), str):
            return f"wrong function name: {wanted} is a method of {_name(said['method_of'])}, the tests call a function"
        found = said["wrong_name"] if isinstance(said["wrong_name"], list) else []
        if plan.entry_point in found and "code_failed" in said:
            return f"raised {_error(said['code_failed'])} before it defined {wanted}"
        named = "defines " + (", ".join(map(_name, found[:_NAMES_SHOWN])) or "nothing")
        more = f" and {len(found) - _NAMES_SHOWN} more" if len(found) > _NAMES_SHOWN else ""
        raised = f" and raised {_error(said['code_failed'])}" if "code_failed" in said else ""
        return f"wrong function name: {named}{more}{raised}, the tests call {wanted}"
    if "setup_failed" in said:
        return f"the item's setup code raised {_error(said['setup_failed'])} with it"
    return None


def _fault(plan: Plan, ran: Ran, steps: _Steps) -> str | None:
    """The first check that does not hold, where the tests were taken apart."""
    assert plan.checks is not None
    at = 0
    for number, check in enumerate(plan.checks, 1):
        mine = [steps.get(index) for index in range(at, at + len(check.steps))]
        at += len(check.steps)
        if check.passes((answer[0].get("value"), answer[1]) for answer in mine if answer and "value" in answer[0]):
            continue
        where = f"test {number} of {len(plan.checks)}"
        errors = [answer[0]["raised"] for answer in mine if answer and "raised" in answer[0]]
        if errors:
            return f"{where}: raised {_error(errors[0])}"
        return f"{where}: " + (_ended(ran.program) if None in mine else "wrong value")
    return None


def _fault_apart(tests: int, ran: Ran, said: _Message, steps: _Steps) -> str | None:
    """The first test that did not pass, where they ran in a sandbox of their own; the setup code is number -1."""
    assert ran.tests is not None
    for number in range(-1, tests):
        answer = steps[number][0] if number in steps else None
        if answer and answer.get("value") == ["s", ran.nonce]:
            continue
        where = f"test {number + 1} of {tests}" if number >= 0 else "the item's setup code"
        if answer is None and ran.too_many:
            return f"{where}: too many questions"
        if answer is None:
            # The tests end with the program, so theirs is the fault only if they ended otherwise.
            return f"{where}: " + (_ended(ran.program) if ran.tests.ended == "exit" else _ended(ran.tests))
        if answer.get("by") == "cannot cross":
            raise _NotGradedError(f"{where} hands the program an object of its own, which cannot leave its sandbox")
        if (answer.get("by"), answer.get("raised")) == ("test", "AssertionError"):
            return f"{where}: wrong value"
        return f"{where}: raised {_error(answer.get('raised'))}"
    if said.get("compared") is not True:
        raise _NotGradedError("the item's tests compare nothing that the program computes")
    return None


def _ended(outcome: Outcome) -> str:
    return _ENDINGS.get(outcome.ended, "ended")


def _error(value: object) -> str:
    """The name of one of Python's own exceptions; a program may give its own any name."""
    known = getattr(builtins, value, None) if isinstance(value, str) else None
    own = isinstance(known, type) and issubclass(known, BaseException)
    return str(value) if own else "an exception of another kind"


def _name(value: object) -> str:
    """A name from inside the sandbox, harmless in a table: word characters only, and few."""
    return re.sub(r"[^A-Za-z0-9_]", "?", str(value)[:40])
