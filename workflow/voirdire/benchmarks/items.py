"""Items: the questions of a benchmark, each with what is needed to grade an answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

# Tables are imported where they are needed: Snakemake knows items at every start, and would wait for pandas.
if TYPE_CHECKING:
    import pandas as pd

LETTERS = "ABCD"


@dataclass(frozen=True)
class Item:
    """One question. What doesn't apply to its benchmark is empty.

    `question` is the programming task's text for code; `answer` the right answer in its shortest form (a number
    without commas, a letter A-D), None for code, whose `tests` (one assert each, after `setup_code`) decide;
    `reference` a solution that no model is ever shown.
    """

    task: str
    item_id: str
    question: str
    answer: str | None = None
    options: tuple[str, ...] = ()
    article: str | None = None
    tests: tuple[str, ...] = ()
    setup_code: str = ""
    reference: str | None = None


def items_from_frame(frame: "pd.DataFrame") -> list[Item]:
    """The items of a table with the columns of the ITEMS schema, in its order."""
    from voirdire.tables import ITEMS

    return [_item(record) for record in frame[ITEMS.names].to_dict("records")]


def _item(record: Mapping[Any, Any]) -> Item:
    return Item(
        task=record["task"],
        item_id=record["item_id"],
        question=record["question"],
        answer=_text(record["answer"]),
        options=_texts(record["options"]),
        article=_text(record["article"]),
        tests=_texts(record["tests"]),
        setup_code=_text(record["setup_code"]) or "",
        reference=_text(record["reference"]),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    # A missing list is None in a fresh frame, may be NaN in one that was joined, and is an array from Parquet.
    return () if value is None or isinstance(value, float) else tuple(value)


def frame_from_items(items: Iterable[Item]) -> "pd.DataFrame":
    """A table as the ITEMS schema describes it; what an item doesn't have is missing, not empty."""
    import pandas as pd

    from voirdire.tables import ITEMS

    rows = [
        (
            item.task,
            item.item_id,
            item.question,
            item.answer,
            list(item.options) or None,
            item.article,
            list(item.tests) or None,
            item.setup_code or None,
            item.reference,
        )
        for item in items
    ]
    return ITEMS.check(pd.DataFrame(rows, columns=ITEMS.names, dtype=object), "items")
