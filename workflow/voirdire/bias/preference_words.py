"""What tables of preference say in words: why a number is missing, and which version supports the word."""

from collections.abc import Mapping, Sequence
from typing import Any

from voirdire.bias.contrast import Mask

# A judge that solved an item rejects wrong answers by ability alone, its own (that it did not solve) excepted.
PREFERENCE_VERSIONS = ("matched", "same_answer", "adjusted")
_NAMES = {
    "matched": "matched items",
    "same_answer": "matched items with the same answer",
    "adjusted": "the baseline-adjusted difference",
}
NOT_FOR_FNR = "right answers are all the same: see matched"


def no_answers(task: str) -> str:
    """Why a task has no version same_answer: programs, and responses of which only the truth is known."""
    return f"{task}: no answers to compare"


def missing_everywhere(version: str, rate: str, answered: Mask, otherwise: str = "no task has it") -> str:
    """Why no task has a version's difference; answered: whether its answers are known, (tasks,)."""
    if version == "same_answer" and rate == "fnr":
        return NOT_FOR_FNR
    return "no task has answers to compare" if version == "same_answer" and not answered.any() else otherwise


def sentence(who: str, word: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Which versions support the word preference, from a judge's ΔFPR.

    rows: those of rate "fpr", each with version, difference, low, high and supports_preference; without a difference
    left out. word: what is supported or not, "the word preference".
    """
    fpr = {row["version"]: row for row in rows}
    telling = [fpr[version] for version in PREFERENCE_VERSIONS if version in fpr]
    support = [row for row in telling if row["supports_preference"]]
    against = [row for row in telling if not row["supports_preference"]]
    if not telling:
        return f"{who}: nothing can be said of preference; no pair of models has matched or adjusted wrong responses."
    if support:
        text = f"{who}: {word} is supported by {_listed(support)}"
        return text + (f", not by {_listed(against)}." if against else ".")
    text = f"{who}: no version supports {word}: {_listed(telling)}"
    if "all" in fpr and fpr["all"]["low"] > 0:
        return text + f"; the plain difference, {_points(fpr['all'])}, may be ability alone."
    return text + "."


def _points(row: Mapping[str, Any]) -> str:
    return f"{100 * row['difference']:+.1f} points, {100 * row['low']:+.1f} to {100 * row['high']:+.1f}"


def _listed(rows: Sequence[Mapping[str, Any]]) -> str:
    parts = [f"{_NAMES[row['version']]} ({_points(row)})" for row in rows]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
