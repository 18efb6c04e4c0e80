"""Runs an item's tests, as they are, while the candidate's program runs in another sandbox.

Part of the runner. The names that the tests take from the program are stand-ins; what is done with one is asked of the
other sandbox, through the trusted process, and values come back as plain literals. So a test may have any form, and
yet its text, what it expects, and the word that says it passed are never where the program is.

An object that is no literal stays there, and the test gets a stand-in for it too: attributes, calls, items, iteration,
`len`, `str` and comparison with other such objects are asked of it. It is never asked what would tell it the expected
value: a stand-in equals no literal, there is no arithmetic with it, and what it returned has no method that judges
(`issubset`, `startswith`). What a test gives to another method of the program's own objects the program does see.
"""

from __future__ import annotations

import _ast
import builtins
import posix
import sys
from _collections import deque

from voirdire.grading.inside.wire import decode, encode

# `typing` is not imported when it runs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Ask = Callable[[dict[str, Any]], dict[str, Any]]


# Methods of Python's own types whose answer is the verdict: only those types have them here.
_JUDGING = ("issubset", "issuperset", "isdisjoint", "startswith", "endswith")


class ProgramError(Exception):
    """An exception of the program's own kind."""


class CannotCrossError(TypeError):
    """The test hands the program something that is no literal."""


class _Program:
    """The other side: asks it, and makes stand-ins of what it keeps."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.raised: BaseException | None = None
        self.cannot_cross = False
        self.asked = self.has_raised = False

    def do(self, on: list[Any], what: str, values: tuple[Any, ...] = (), named: dict[str, Any] | None = None) -> Any:
        self.asked = True
        sent = [encode(value, self._handle) for value in values]
        answer = self._ask(
            {
                "on": on,
                "do": what,
                "values": sent,
                "named": {name: encode(value, self._handle) for name, value in (named or {}).items()},
            }
        )
        if "gone" in answer:
            # At once: the test must not be able to take a program that has ended for one that raised.
            posix._exit(0)
        self._restore(values, answer.get("changed"))
        if "value" in answer:
            return decode(answer["value"], lambda parts: StandIn(self, parts))
        self.has_raised = True
        self.raised = _exception(answer)
        raise self.raised

    def _handle(self, value: Any) -> list[Any]:
        if type(value) is StandIn:
            return ["h", *object.__getattribute__(value, "_on")]
        self.cannot_cross = True
        raise CannotCrossError(type(value).__name__)

    def _restore(self, values: tuple[Any, ...], changed: Any) -> None:
        """What the program did to the lists, dicts and sets that it was given."""
        for number, now in (changed or {}).items():
            value, new = values[int(number)], decode(now, lambda parts: StandIn(self, parts))
            if type(value) is type(new) and isinstance(value, list):
                value[:] = new
            elif type(value) is type(new) and isinstance(value, (dict, set)):
                value.clear()
                value.update(new)
            elif type(value) is type(new) and isinstance(value, deque):
                value.clear()
                value.extend(new)


def _exception(answer: dict[str, Any]) -> BaseException:
    kind = getattr(builtins, str(answer.get("raised")), None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        said = str(answer.get("said") or "")
        try:
            return kind(said) if said else kind()
        except TypeError:
            pass
    return ProgramError()


class StandIn:
    """Stands for an object of the program's."""

    __slots__ = ("_on", "_program")

    def __init__(self, program: _Program, on: list[Any]) -> None:
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_on", on)

    def _do(self, what: str, *values: Any, **named: Any) -> Any:
        get = object.__getattribute__
        return get(self, "_program").do(get(self, "_on"), what, values, named)

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self._do("call", *values, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__doc__", "__dict__"):
            raise AttributeError(name)
        (on,) = object.__getattribute__(self, "_on")
        if name in _JUDGING and not isinstance(on, str):
            raise AttributeError(name)
        return self._do("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._do("set", name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._do("item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._do("set item", key, value)

    def __iter__(self) -> Iterator[Any]:
        return self._do("iter")  # type: ignore[no-any-return]

    def __next__(self) -> Any:
        return self._do("next")

    def __len__(self) -> int:
        return self._do("len")  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return self._do("bool") is True

    def __str__(self) -> str:
        return str(self._do("str"))

    def __repr__(self) -> str:
        return str(self._do("repr"))

    def __hash__(self) -> int:
        return self._do("hash")  # type: ignore[no-any-return]

    def __instancecheck__(self, value: Any) -> bool:
        return type(value) is StandIn and self._do("is a", value) is True

    def _compared(self, how: str, other: Any) -> Any:
        return self._do(how, other) if type(other) is StandIn else NotImplemented

    def __eq__(self, other: object) -> Any:
        # A literal on the other side is what the test expects: not for the program to see or to judge.
        return self._compared("eq", other) is True

    def __lt__(self, other: Any) -> Any:
        return self._compared("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared("ge", other)


class _Counter:
    """Counts the asserts that are come to, and looks for what else could fail a test."""

    NAME = "__come_to__"

    def __init__(self) -> None:
        self.asserts = 0
        self.may_raise = False

    def __call__(self, value: Any) -> Any:
        self.asserts += 1
        return value

    def compiled(self, text: str) -> Any:
        tree: Any = compile(text, "<test>", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        waiting: list[Any] = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, _ast.Assert) and not isinstance(node.test, (_ast.Tuple, _ast.Constant)):
                at = {name: getattr(node.test, name) for name in node.test._attributes}
                waiting.append(node.test)
                node.test = _ast.Call(_ast.Name(self.NAME, _ast.Load(), **at), [node.test], [], **at)
                continue
            if isinstance(node, _ast.Raise) or (isinstance(node, _ast.Call) and _is_called_assert(node.func)):
                self.may_raise = True
            for name in node._fields:
                part = getattr(node, name, None)
                waiting += [one for one in (part if isinstance(part, list) else [part]) if isinstance(one, _ast.AST)]
        return compile(tree, "<test>", "exec", dont_inherit=True)


def _is_called_assert(function: _ast.expr) -> bool:
    """Whether a function is one like `assertEqual` or `assert_allclose`."""
    return str(getattr(function, "attr", "") or getattr(function, "id", "")).startswith("assert")


def run_tests(job: dict[str, Any], send: Callable[[dict[str, Any]], None], ask: Ask) -> None:
    """Run each test, and say of each whether it passed, by the word that only this sandbox knows.

    And in the end whether they compared anything: tests that are defined and not called pass with every program.
    """
    program, counter = _Program(ask), _Counter()
    module = type(sys)("tests")
    sys.modules["tests"] = module
    namespace = module.__dict__
    namespace.update({name: __import__(name) for name in job["modules"]})
    namespace.update({name: getattr(__import__(origin), name) for name, origin in job["standard"]})
    namespace.update({name: StandIn(program, [name]) for name in job["names"]})
    namespace[counter.NAME] = counter
    for index, text in enumerate([job["setup"], *job["tests"]], -1):
        program.raised = None
        try:
            exec(counter.compiled(text), namespace)
        except BaseException as error:
            own = "cannot cross" if program.cannot_cross else "program" if error is program.raised else "test"
            send({"step": index, "raised": type(error).__name__, "by": own})
        else:
            send({"step": index, "value": ["s", job["nonce"]]})
    # What raises is a comparison too: `try: f(-1)`, `except ValueError: pass`, `else: assert False`.
    compared = bool(counter.asserts) or counter.may_raise or program.has_raised
    send({"compared": program.asked and compared})
