"""Values that come out of the sandbox, as plain Python objects of known types."""

import decimal
import fractions
from typing import Any


class NotALiteral:
    """Stands for a value that is no literal, such as a generator: equal to nothing, itself included."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return False


def decode(message: Any) -> Any:
    """The value that the runner's `encode` turned into JSON.

    Raises ValueError for anything that it cannot have written: the message comes from untrusted code.
    """
    try:
        return _decode(message)
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError, AttributeError) as error:
        raise ValueError("not a typed value") from error


def _decode(message: Any) -> Any:
    kind, *parts = message
    match kind:
        case "n":
            return None
        case "b":
            return bool(parts[0])
        case "i":
            return int(parts[0], 16)
        case "f":
            return float.fromhex(parts[0])
        case "c":
            return complex(float.fromhex(parts[0]), float.fromhex(parts[1]))
        case "s":
            return str(parts[0])
        case "y":
            return bytes.fromhex(parts[0])
        case "l":
            return [_decode(part) for part in parts[0]]
        case "t":
            return tuple(_decode(part) for part in parts[0])
        case "e":
            return {_decode(part) for part in parts[0]}
        case "d":
            return {_decode(key): _decode(part) for key, part in parts[0]}
        case "q":
            return fractions.Fraction(int(parts[0], 16), int(parts[1], 16))
        case "m":
            return decimal.Decimal(parts[0])
        case _:
            return NotALiteral()
