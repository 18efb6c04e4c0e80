"""Responses that exist already, matched to the items of a benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.benchmarks import Item
from voirdire.benchmarks.records import Record, read_records
from voirdire.errors import Faults

# Of one file: a file in the wrong format has a fault in every line.
_MOST_FAULTS = 10


@dataclass(frozen=True)
class Recorded:
    """Responses by item id, and how many of the file's records found no item of this benchmark."""

    responses: dict[str, str]
    n_unmatched: int


def load_recorded(path: str | Path, examinee: str, items: Sequence[Item]) -> Recorded:
    """Read a file of recorded responses.

    Parameters
    ----------
    path : JSON lines or Parquet with `response`, and `item_id` or `question`; where there is an `examinee` field,
        only that examinee's records count.
    examinee : its name in the file.
    items : the items to find responses for. An item without one is not answered.

    Raises
    ------
    UserError : for a missing or malformed file, a record without the fields above, two different responses to one
        item, or a file in which nothing fits.
    """
    faults = Faults()
    records, _ = read_records(Path(path), faults)
    finder = _Finder(items)
    responses: dict[str, str] = {}
    seen: dict[str, str] = {}
    names: set[str] = set()
    unmatched = 0
    for record in records:
        whose = record.fields.get("examinee")
        # A file of one examinee's responses needn't say whose they are.
        names.add(examinee if whose is None else str(whose))
        if whose is not None and str(whose) != examinee:
            continue
        fault, item_id, response = finder.read(record)
        if fault:
            _add(faults, f"{record.where}: {fault}")
        elif item_id is None:
            unmatched += 1
        elif responses.get(item_id, response) != response:
            _add(faults, f"{record.where}: another response to {item_id} than {seen[item_id]}; keep one of them")
        else:
            responses[item_id] = response
            seen[item_id] = record.where
    if not faults.faults and not responses:
        faults.add(f"{path}: {_nothing(examinee, names, unmatched)}")
    faults.raise_if_any()
    return Recorded(responses, unmatched)


def _add(faults: Faults, fault: str) -> None:
    if len(faults.faults) < _MOST_FAULTS:
        faults.add(fault)


def _nothing(examinee: str, names: set[str], unmatched: int) -> str:
    if names and examinee not in names:
        known = ", ".join(sorted(names)[:_MOST_FAULTS])
        return f"no responses of examinee '{examinee}'; it has {known}; set responses_examinee to one of them"
    if unmatched:
        return f"none of its {unmatched} records has an item_id or question of this benchmark; check that they belong"
    return "no responses in it; check that it is the right file"


class _Finder:
    """Finds the item of a record by its id, or else by its question without regard to white space."""

    def __init__(self, items: Sequence[Item]):
        self._ids = {item.item_id for item in items}
        self._by_question: dict[str, str | None] = {}
        for item in items:
            words = _words(item.question)
            # Two items may ask the same: then only the id tells which one is meant.
            self._by_question[words] = None if words in self._by_question else item.item_id

    def read(self, record: Record) -> tuple[str, str | None, str]:
        """A fault or "", the item's id or None, and the response."""
        response = record.fields.get("response")
        if not isinstance(response, str):
            return "'response' must be text; add it or remove the record", None, ""
        key = self._key(record.fields)
        if key is None:
            return "needs 'item_id' or 'question' to say what it answers; add one of them", None, ""
        return "", key or None, response.encode("utf-8", "replace").decode()

    def _key(self, fields: Mapping[str, Any]) -> str | None:
        """The item's id, "" where no item fits, None where the record doesn't say."""
        item_id, question = fields.get("item_id"), fields.get("question")
        if isinstance(item_id, float) and item_id.is_integer():
            # Parquet makes such of whole numbers with gaps.
            item_id = int(item_id)
        if isinstance(item_id, str | int) and str(item_id) in self._ids:
            return str(item_id)
        # A file may have ids of its own.
        if isinstance(question, str):
            return self._by_question.get(_words(question)) or ""
        return None if item_id is None else ""


def _words(text: str) -> str:
    return " ".join(text.split())
