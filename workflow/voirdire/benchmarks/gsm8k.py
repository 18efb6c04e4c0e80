"""GSM8K: grade-school word problems; the answer field is a rationale that ends in `#### number`."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from voirdire.benchmarks.items import Item
from voirdire.benchmarks.records import WrongRecordError, is_missing, required, text

_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)


def parse(record: Mapping[str, Any], position: int) -> Item:
    """One record: question, answer (a rationale ending in `#### number`, or just the number), perhaps item_id."""
    question = text(required(record, "question"), "question")
    answer = required(record, "answer")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = f"{Decimal(repr(answer)).normalize():f}"
    answer = text(answer, "answer")
    item_id = record.get("item_id")
    return Item(
        task="gsm8k",
        item_id=f"gsm8k-{position:04d}" if is_missing(item_id) else text(item_id, "item_id"),
        question=question,
        answer=_final_number(answer),
        reference=answer if "####" in answer else None,
    )


def _final_number(answer: str) -> str:
    final = answer.rpartition("####")[2].strip().removeprefix("$").removeprefix("+").rstrip(".")
    if not _NUMBER.fullmatch(final):
        raise WrongRecordError(f"answer must end in '#### number', not in {answer[-40:]!r}")
    return final.replace(",", "")
