"""What tables of preference say in words: why a number is missing, and which version supports the word."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voirdire.bias.contrast import Mask
from voirdire.bias.power import DIFFERENCE, NOTHING, as_ratio

NOT_FOR_FNR = "right answers are all the same: see matched"


def no_answers(task: str) -> str:
    """Why a task has no version same_answer: programs, and responses of which only the truth is known."""
    return f"{task}: no answers to compare"


def missing_everywhere(version: str, rate: str, answered: Mask, otherwise: str = "no task has it") -> str:
    """Why no task has a version's difference; answered: whether its answers are known, (tasks,)."""
    if version == "same_answer" and rate == "fnr":
        return NOT_FOR_FNR
    return "no task has answers to compare" if version == "same_answer" and not answered.any() else otherwise


def sentence(who: str, word: str, rows: Sequence[Mapping[str, Any]], model: Mapping[str, Any] | None) -> str:
    """Whether the word preference is supported, from a judge's row of `preference_model`, None without one.

    Only the model can carry the word. A difference over all wrong responses may be ability: a judge failed where its
    own answer is wrong, and needn't have elsewhere, nor need the judges that the adjusted version compares it with. One
    on items that both got wrong, with the same answer even, may be that a strong model's errors look better to anyone.
    Where the word isn't supported such a difference is named, with its cause. rows: those of rate "fpr", each with
    version, difference, low and high; without a difference left out. word: "the word preference", say.
    """
    if model is None or np.isnan(model["log_odds"]):
        text = f"{who}: {word} can't be tested: {'no model of it' if model is None else model['reason']}"
    elif supports(model):
        return f"{who}: {word} is supported by {_of_model(model)}."
    elif model["says"] == NOTHING:
        text = f"{who}: too few answers to tell {word} by {_of_model(model)}"
    else:
        text = f"{who}: {word} is not shown by {_of_model(model)}"
    fpr = {row["version"]: row for row in rows}
    for version, cause in _OTHERWISE.items():
        if version in fpr and fpr[version]["low"] > 0:
            return f"{text}; the difference {cause.format(_points(fpr[version]))}."
    return text + "."


_OTHERWISE = {
    "matched": "on items that both got wrong, {}, may be how good such answers look to anyone",
    "all": "over all wrong responses, {}, may be ability alone",
}


def supports(model: Mapping[str, Any] | None) -> bool:
    """Whether a row of `preference_model` supports the word preference."""
    return model is not None and model["says"] == DIFFERENCE and model["log_odds"] > 0


def _of_model(row: Mapping[str, Any]) -> str:
    odds = " to ".join(as_ratio(row[end]) for end in ("low", "high"))
    return f"the model of judge, question and author (odds × {as_ratio(row['log_odds'])}, {odds})"


def _points(row: Mapping[str, Any]) -> str:
    return f"{100 * row['difference']:+.1f} points, {100 * row['low']:+.1f} to {100 * row['high']:+.1f}"
