"""AIME: competition problems whose answers are whole numbers from 0 to 999."""

import re
from collections.abc import Mapping
from typing import Any

from voirdire.benchmarks.items import Item
from voirdire.benchmarks.records import WrongRecordError, is_missing, required, text, whole_number

# Published files write degrees and dollar signs around some answers.
_ANSWER = re.compile(r"\$?\s*(\d{1,3})\s*(?:\^\{?\\circ\}?|°)?\s*\$?")


def parse(record: Mapping[str, Any], position: int) -> Item:
    """One record: question (or problem), answer as a number or as text, perhaps item_id."""
    question = text(required(record, "question", "problem"), "question")
    answer = required(record, "answer")
    number = _number_in(answer) if isinstance(answer, str) else whole_number(answer, "answer")
    if not 0 <= number <= 999:
        raise WrongRecordError(f"answer must be from 0 to 999, not {number}")
    item_id = record.get("item_id")
    return Item(
        task="aime",
        item_id=f"aime-{position:02d}" if is_missing(item_id) else text(item_id, "item_id"),
        question=question,
        answer=str(number),
    )


def _number_in(answer: str) -> int:
    match = _ANSWER.fullmatch(answer.strip())
    if not match:
        raise WrongRecordError(f"answer must be a whole number from 0 to 999, not {answer[:40]!r}")
    return int(match[1])
