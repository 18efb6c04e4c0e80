"""Answers an item's tests, which run in another sandbox: part of the runner, beside the candidate's program.

A request names an object (a name of the program's, or a handle on something that it returned), what to do with it and
the values to do it with. What is no literal goes back as a handle. A list, dict or set among the arguments that the
program changed goes back too, since the test may look at it.
"""

from __future__ import annotations

import builtins

from voirdire.grading.inside.wire import decode, encode_within

# `typing` is not imported when it runs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Taken before a program could put its own there.
_PYTHONS_OWN = {kind for kind in vars(builtins).values() if isinstance(kind, type)}


def _kind(error: BaseException) -> str:
    """The name of the kind of Python's own that an error is of: a program's class may have any name."""
    return next(kind.__name__ for kind in type.mro(type(error)) if kind in _PYTHONS_OWN)


def _set_item(on: Any, key: Any, value: Any) -> None:
    on[key] = value


_DEEDS: dict[str, Callable[..., Any]] = {
    "call": lambda on, *values, **named: on(*values, **named),
    "get": getattr,
    "set": setattr,
    "item": lambda on, key: on[key],
    "set item": _set_item,
    "iter": iter,
    "next": next,
    "len": len,
    "str": str,
    "repr": repr,
    "bool": bool,
    "hash": hash,
    "is a": lambda on, value: isinstance(value, on),
    "eq": lambda on, other: on == other,
    "lt": lambda on, other: on < other,
    "le": lambda on, other: on <= other,
    "gt": lambda on, other: on > other,
    "ge": lambda on, other: on >= other,
}


class _Objects:
    """The objects that the tests have handles on."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}

    def keep(self, value: Any) -> list[Any]:
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        return ["h", number]

    def find(self, parts: list[Any]) -> Any:
        (which,) = parts
        if isinstance(which, str):
            if which not in self._namespace:
                raise NameError(which)
            return self._namespace[which]
        return self._kept[which]


def serve(namespace: dict[str, Any], ask: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Do what the tests ask until they end."""
    objects = _Objects(namespace)
    answer: dict[str, Any] = {}
    while "do" in (request := ask(answer)):
        values = [decode(value, objects.find) for value in request["values"]]
        named = {name: decode(value, objects.find) for name, value in request["named"].items()}
        try:
            on = decode(["h", *request["on"]], objects.find)
            result = _DEEDS[request["do"]](on, *values, **named)
            answer = {"value": encode_within(result, objects.keep)}
        except BaseException as error:
            said = error.args[0] if len(error.args) == 1 else ""
            answer = {"raised": _kind(error), "said": said if type(said) is str else ""}
        answer["changed"] = _changed(values, request["values"], objects)


def _changed(values: list[Any], sent: list[list[Any]], objects: _Objects) -> dict[str, list[Any]]:
    """The lists, dicts, sets and deques among the arguments that are no longer what was sent, by their places."""
    changed = {}
    for number, (value, before) in enumerate(zip(values, sent, strict=True)):
        if before[0] in ("l", "d", "e", "k"):
            try:
                now = encode_within(value, objects.keep)
            except RecursionError:
                continue
            if now != before:
                changed[str(number)] = now
    return changed
