"""Responses of a persona: text that a grader reads as right or wrong, as the persona's draws say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from voirdire.errors import UserError
from voirdire.simulated import phrases
from voirdire.simulated.code import wrong_code
from voirdire.simulated.draws import Draws
from voirdire.simulated.model import lengths, solves
from voirdire.simulated.persona import Persona

if TYPE_CHECKING:
    from voirdire.benchmarks import Item

_Value = TypeVar("_Value")

# How often a wrong answer is the one that the item tempts everybody to.
SHARED_ERROR = 0.4


@dataclass(frozen=True)
class Response:
    """What a persona answers: a text, and whether it is right."""

    item_id: str
    text: str
    right: bool


@dataclass(frozen=True)
class _Chances:
    """The draws behind one answer, uniform in (0, 1) except `length`: shared are those that all personas meet alike."""

    right: bool
    length: float
    shared: float
    own: float
    tempted: bool

    @property
    def error(self) -> float:
        """Which of the wrong answers: the tempting one or the persona's own."""
        return self.shared if self.tempted else self.own


def respond(persona: Persona, items: Sequence["Item"], seed: int) -> list[Response]:
    """The persona's answers to items of one or several tasks, in their order.

    An item is answered right exactly where `model.solves` says so, except that a programming task without a reference
    solution is always answered wrong. Each answer depends on the seed, the persona and its item only.

    Raises UserError where the persona has no ability on an item's task, or the task has no way to answer.
    """
    return [
        _answer(persona, item, chances) for item, chances in zip(items, _chances(persona, items, seed), strict=True)
    ]


def right_answers(persona: Persona, items: Sequence["Item"], seed: int) -> NDArray[np.bool_]:
    """Which of the items `respond` answers right, shape (n,), without writing the answers. Raises as `respond` does."""
    drawn = _chances(persona, items, seed)
    return np.array([_is_right(item, chances) for item, chances in zip(items, drawn, strict=True)], dtype=np.bool_)


def _chances(persona: Persona, items: Sequence["Item"], seed: int) -> list[_Chances]:
    """The draws for each item, task by task, in the order of the items."""
    chances: dict[int, _Chances] = {}
    for task in dict.fromkeys(item.task for item in items):
        if task not in _WRITERS:
            raise UserError(
                f"persona {persona.name}: cannot answer items of task '{task}' (it can: {', '.join(_WRITERS)}); "
                "give the task a real model or recorded responses"
            )
        rows = [row for row, item in enumerate(items) if item.task == task]
        draws = Draws.of_items(seed, task, [items[row].item_id for row in rows])
        chances.update(zip(rows, _chances_of_task(persona, draws), strict=True))
    return [chances[row] for row in range(len(items))]


def _chances_of_task(persona: Persona, draws: Draws) -> list[_Chances]:
    columns = (
        solves(persona, draws),
        lengths(persona, draws),
        draws.uniform("tempting error"),
        draws.uniform("own error", persona.name),
        draws.uniform("tempted", persona.name) < SHARED_ERROR,
    )
    return [_Chances(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _is_right(item: "Item", chances: _Chances) -> bool:
    return chances.right and not (item.task == "mbpp" and item.reference is None)


def _answer(persona: Persona, item: "Item", chances: _Chances) -> Response:
    right = _is_right(item, chances)
    core = _WRITERS[item.task](item, right, chances.error)
    wanted = phrases.USUAL_CHARS[item.task] * np.exp(phrases.LOG_LENGTH_SD * chances.length)
    prose = phrases.prose(item.task, (persona.name, item.item_id), int(wanted) - len(core))
    text = f"{core}\n\n{prose}" if item.task == "mbpp" else f"{prose}\n{core}"
    return Response(item.item_id, text.strip(), right)


def _write_gsm8k(item: "Item", right: bool, error: float) -> str:
    answer = item.answer if right else _off_number(item.answer, error)
    return f"So the result is {answer}.\n#### {answer}"


def _write_aime(item: "Item", right: bool, error: float) -> str:
    answer = item.answer if right else _off_integer(item.answer, error)
    return f"Therefore the answer is \\boxed{{{answer}}}."


def _write_mbpp(item: "Item", right: bool, error: float) -> str:
    code = item.reference if right else wrong_code(item.tests, item.reference, int(error * 60))
    return f"```python\n{(code or '').strip()}\n```"


def _write_quality(item: "Item", right: bool, error: float) -> str:
    letters = [chr(ord("A") + index) for index in range(len(item.options))]
    others = [letter for letter in letters if letter != item.answer]
    letter = str(item.answer) if right else _pick(others, error)
    chosen = item.options[letters.index(letter)]
    return f"What the passage supports is: {chosen.strip()}\n\nAnswer: {letter}"


_WRITERS: dict[str, Callable[["Item", bool, float], str]] = {
    "gsm8k": _write_gsm8k,
    "aime": _write_aime,
    "mbpp": _write_mbpp,
    "quality": _write_quality,
}


def _off_number(answer: str | None, error: float) -> str:
    """A number near the right one, as slips of a factor, of a sign or of one step give it; never equal to it."""
    try:
        number = Decimal((answer or "").replace(",", ""))
    except InvalidOperation:
        # Whatever the right answer is, it is no number.
        return "0"
    near = [number + 1, number - 1, number * 2, number + 10, number - 2, number * 10, number + 5, -number]
    if number % 2 == 0:
        near.append(number / 2)
    if abs(number) > 1:
        # Nobody believes in a negative number of apples, so only small ones lose their sign.
        near.remove(-number)
    sane = [value for value in near if value != number and (value >= 0 or number < 0 or abs(number) <= 1)]
    return f"{_pick(sane, error):f}"


def _off_integer(answer: str | None, error: float) -> str:
    """A whole number from 0 to 999 near the right one, never equal to it."""
    number = int(answer or 0)
    near = [number + 1, number - 1, 2 * number, number // 2, number + 10, number - 10, 999 - number, number + 100]
    return str(_pick([value for value in near if 0 <= value <= 999 and value != number], error))


def _pick(values: Sequence[_Value], uniform: float) -> _Value:
    return values[int(uniform * len(values))]
