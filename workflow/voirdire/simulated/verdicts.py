"""Verdicts of a persona as a judge writes them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voirdire.simulated import phrases
from voirdire.simulated.draws import Draws, Floats
from voirdire.simulated.model import accepts, lengths
from voirdire.simulated.persona import ExamineeLook, Persona

if TYPE_CHECKING:
    from voirdire.benchmarks import Item


def judge(
    persona: Persona,
    items: Sequence["Item"],
    responses: Sequence[str],
    right: NDArray[Any],
    examinee: Persona | ExamineeLook,
    label: str | None = None,
    template: str = "default",
    trial: int = 0,
    seed: int = 0,
) -> list[str]:
    """What the persona writes about one examinee's responses to items of one task, in their order.

    right: whether each response is right, shape (n,): from the examinee's own draws or from its grades; missing
        (None, NaN or pandas' NA) where nobody knows: such a response is judged by its looks alone.
    examinee: a persona, or the look of a recorded or real model. A persona's length is its draw, which its texts
        follow; another's is measured on its texts.
    Returns "correct", "incorrect", a spelling variant of these, or rarely something that is neither.
    """
    tasks = {item.task for item in items}
    if len(tasks) > 1 or not len(items) == len(responses) == len(right):
        raise ValueError("judge takes items of one task, with one response and one truth for each")
    if not tasks:
        return []
    draws = Draws.of_items(seed, tasks.pop(), [item.item_id for item in items])
    if isinstance(examinee, Persona):
        look, length = examinee.look(draws.task), lengths(examinee, draws)
    else:
        look, length = examinee, _measured_lengths(draws.task, responses)
    accepted = accepts(persona, draws, look, _truth(right), length, label, template, trial)
    # Like the verdict's own draw, the spelling doesn't depend on the label, so that labels differ by effect alone.
    call = (persona.name, look.name, template, trial)
    silent = draws.uniform("unparsable", *call) < persona.unparsable
    spelling = draws.uniform("spelling", *call)
    words = np.where(silent, 2, accepted.astype(int))
    variants = (phrases.INCORRECT, phrases.CORRECT, phrases.UNDECIDED)
    return [
        variants[word][int(chance * len(variants[word]))]
        for word, chance in zip(words.tolist(), spelling.tolist(), strict=True)
    ]


def _measured_lengths(task: str, responses: Sequence[str]) -> Floats:
    chars = np.array([max(len(response), 1) for response in responses], dtype=np.float64)
    usual = phrases.USUAL_CHARS.get(task, 400)
    # However long a response is, its looks still count.
    return np.asarray(np.clip(np.log(chars / usual) / phrases.LOG_LENGTH_SD, -3, 3), dtype=np.float64)


def _truth(right: NDArray[Any]) -> Floats:
    import pandas as pd

    return pd.array(right, dtype="boolean").to_numpy(dtype=np.float64, na_value=np.nan)
