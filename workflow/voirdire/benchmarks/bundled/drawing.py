"""Random draws that are the same on every machine and Python, and solutions that compute their own answers."""

import ast
import operator
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")

_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Draw:
    """Draws from a seed. Only `random.Random.random` is used, the one method that Python promises to keep as it is."""

    def __init__(self, seed: str):
        self._random = random.Random(seed)

    def whole(self, low: int, high: int, step: int = 1) -> int:
        """A whole number from low to high, both included, in steps."""
        return low + step * int(self._random.random() * ((high - low) // step + 1))

    def one(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.whole(0, len(values) - 1)]

    def several(self, values: Sequence[T], count: int) -> list[T]:
        """Different ones of the values, in random order."""
        left = list(values)
        return [left.pop(self.whole(0, len(left) - 1)) for _ in range(count)]


class Solution:
    """The worked solution of a word problem: a line per step; the last step's value is the answer."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.answer = 0

    def step(self, line: str, expression: str) -> int:
        """Work out an expression of whole numbers and + - * / ( ), and write it into the line's `{}`.

        Raises ValueError unless the value is a whole number above 0.

        >>> solution = Solution()
        >>> solution.step("The trays hold {} rolls.", "6*8")
        48
        >>> solution.lines
        ['The trays hold 6*8=<<6*8=48>>48 rolls.']
        """
        value = _value(ast.parse(expression, mode="eval").body)
        if value.denominator != 1 or value <= 0:
            raise ValueError(f"{expression} is {value}, not a whole number above 0")
        self.answer = int(value)
        self.lines.append(line.format(f"{expression}=<<{expression}={self.answer}>>{self.answer}"))
        return self.answer

    def text(self) -> str:
        """The rationale in GSM8K's form, ending in `#### answer`."""
        return "\n".join([*self.lines, f"#### {self.answer}"])


def _value(node: ast.AST) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("only whole numbers, + - * / and parentheses")
