"""Values that cross the border of a sandbox, as typed JSON; this module runs on both sides of it.

Inside it is part of the runner, so it imports nothing that isn't there when Python starts: every program would wait.
Kinds: n None, b bool, i int, f float, c complex, s str, y bytes, l list, t tuple, e set, z frozenset, k deque, d dict,
r range, q Fraction, m Decimal, h a handle on an object that stays where it is, o anything else, by its type's name.
"""

from __future__ import annotations

import sys
from _collections import deque as _deque
from _json import encode_basestring_ascii as _quoted

# `typing` is not imported when it runs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Taken here, before a program could replace them.
_recursion_limit, _limit_recursion = sys.getrecursionlimit, sys.setrecursionlimit
# Two calls a level, and two brackets of JSON, of which `dialogue` hands on as many.
_DEEPEST = 500
# Of a Decimal, on either side of its point; the length of what is read bounds the digits of all other numbers.
_MOST_DIGITS = 5000
# Kinds whose elements count where Python's own function around a call would have gone through them.
_GONE_THROUGH = ("list", "tuple", "set", "frozenset", "dict", "str", "bytes", "bytearray")


class NotALiteral:
    """Stands for a value that is no literal, such as a generator: equal to nothing, itself included."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return False


def encode(value: Any, other: Callable[[Any], list[Any]] | None = None) -> list[Any]:
    """A value as typed JSON; of a subclass only what its base type holds.

    `other` says what stands for a value of any other type; without it its type's name does.
    """
    # `type(value)` and the base types' own methods: what the value says of itself is not asked.
    kind = type(value)
    if value is None:
        return ["n"]
    if kind is bool:
        return ["b", value]
    if issubclass(kind, int):
        return ["i", hex(int.__index__(value))]
    if issubclass(kind, float):
        return ["f", float.hex(value)]
    if issubclass(kind, complex):
        plain = complex.__add__(value, 0j)
        return ["c", plain.real.hex(), plain.imag.hex()]
    if issubclass(kind, str):
        return ["s", str.__str__(value)]
    if issubclass(kind, (bytes, bytearray)):
        return ["y", (bytes if issubclass(kind, bytes) else bytearray).hex(value)]
    if issubclass(kind, list):
        return ["l", [encode(part, other) for part in list.__iter__(value)]]
    if issubclass(kind, tuple):
        return ["t", [encode(part, other) for part in tuple.__iter__(value)]]
    if issubclass(kind, set):
        return ["e", [encode(part, other) for part in set.__iter__(value)]]
    if issubclass(kind, frozenset):
        return ["z", [encode(part, other) for part in frozenset.__iter__(value)]]
    if issubclass(kind, dict):
        return ["d", [[encode(key, other), encode(part, other)] for key, part in dict.items(value)]]
    if kind is range:
        return ["r", hex(value.start), hex(value.stop), hex(value.step)]
    if kind is _deque:
        return ["k", [encode(part, other) for part in _deque.__iter__(value)]]
    return _number(value, kind) or (other(value) if other else ["o", kind.__name__[:40]])


def encode_within(value: Any, other: Callable[[Any], list[Any]] | None = None) -> list[Any]:
    """`encode`, within the recursion that the trusted process can follow, whatever limit the program has set.

    Raises RecursionError for a value that is deeper.
    """
    limit = _recursion_limit()
    _limit_recursion(_DEEPEST)
    try:
        return encode(value, other)
    finally:
        _limit_recursion(limit)


def _number(value: Any, kind: type) -> list[Any] | None:
    # Only a program that imported these can return them.
    if kind is getattr(sys.modules.get("fractions"), "Fraction", None):
        return ["q", hex(value.numerator), hex(value.denominator)]
    if kind is getattr(sys.modules.get("decimal"), "Decimal", None):
        return ["m", str(value)]
    return None


def gone_through(value: Any) -> Any:
    """An iterator, a view or a range as the list of what it yields; anything else as it is."""
    kind = type(value)
    if any(base.__name__ in _GONE_THROUGH and base.__module__ == "builtins" for base in kind.__mro__):
        return value
    return list(value) if hasattr(kind, "__iter__") else value


def decode(message: Any, other: Callable[[list[Any]], Any] | None = None) -> Any:
    """The value that `encode` turned into JSON; `other` says what stands for a handle.

    Raises ValueError for anything that `encode` cannot have written: the message may come from untrusted code.
    """
    try:
        return _decode(message, other or (lambda parts: NotALiteral()))
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError, AttributeError) as error:
        raise ValueError("not a typed value") from error


def _decode(message: Any, other: Callable[[list[Any]], Any]) -> Any:
    if not isinstance(message, list):
        # Of an object the keys would count: one form is all that those who look at kinds have to know.
        raise ValueError
    kind, *parts = message
    if kind == "n":
        return None
    if kind in ("h", "o"):
        return other(parts) if kind == "h" else NotALiteral()
    if kind in _PARTS:
        return _PARTS[kind](*parts)
    (inner,) = parts
    if kind == "d":
        return {_decode(key, other): _decode(part, other) for key, part in inner}
    return _CONTAINERS[kind](_decode(part, other) for part in inner)


def _hex(text: str) -> int:
    return int(text, 16)


def _fraction(top: str, bottom: str) -> Any:
    import fractions

    return fractions.Fraction(_hex(top), _hex(bottom))


def _decimal(text: str) -> Any:
    import decimal

    value = decimal.Decimal(text)
    if value.is_finite() and abs(value.adjusted()) > _MOST_DIGITS:
        # `int` of it would take for ever.
        raise ValueError
    return value


_CONTAINERS: dict[str, Callable[..., Any]] = {"l": list, "t": tuple, "e": set, "z": frozenset, "k": _deque}
_PARTS: dict[str, Callable[..., Any]] = {
    "b": bool,
    "i": _hex,
    "f": float.fromhex,
    "c": lambda real, imaginary: complex(float.fromhex(real), float.fromhex(imaginary)),
    "s": str,
    "y": bytes.fromhex,
    "r": lambda start, stop, step: range(_hex(start), _hex(stop), _hex(step)),
    "q": _fraction,
    "m": _decimal,
}


def to_json(value: Any) -> str:
    """JSON of nested lists and dicts of strings, whole numbers, booleans and None, as `json.dumps` writes it.

    >>> to_json({"a": ["é", 1, True, None]})
    '{"a": ["\\\\u00e9", 1, true, null]}'
    """
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ", ".join([_quoted(key) + ": " + to_json(part) for key, part in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([to_json(part) for part in value]) + "]"
    return int.__repr__(value)


def from_json(text: str) -> Any:
    """What one line of JSON says; without the imports of `json`, which cost as much as Python's own start.

    >>> from_json('{"a": [1, "\\\\ud83d\\\\ude00"]}')
    {'a': [1, '😀']}
    """
    import _json

    scan: Any = _json.make_scanner
    return scan(_Settings)(text, 0)[0]


class _Settings:
    """What the scanner of `json` reads of its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None
    array_hook = None
