"""MBPP: small programming tasks, each with asserts that its solution must pass."""

from collections.abc import Mapping
from typing import Any

from voirdire.benchmarks.items import Item
from voirdire.benchmarks.records import OutsideSplitError, is_missing, required, text, texts, whole_number

# Ids of the published file, and those of its evaluation split. Ids beyond are somebody's own tasks.
_PUBLISHED = range(1, 975)
_EVALUATION = range(11, 511)


def parse(record: Mapping[str, Any], position: int) -> Item:
    """One record: task_id, text (or prompt), test_list, perhaps code, test_setup_code or test_imports."""
    task_id = whole_number(required(record, "task_id"), "task_id")
    if task_id in _PUBLISHED and task_id not in _EVALUATION:
        raise OutsideSplitError
    code = record.get("code")
    return Item(
        task="mbpp",
        item_id=f"mbpp-{task_id}",
        question=text(required(record, "text", "prompt"), "text"),
        tests=texts(required_list(record, "test_list"), "test_list"),
        setup_code=_setup(record),
        reference=None if is_missing(code) else _unix(text(code, "code")),
    )


def required_list(record: Mapping[str, Any], name: str) -> Any:
    """A field that must have at least one entry. Raises LeavesOutError if it has none."""
    return required({name: record.get(name) or None}, name)


def _setup(record: Mapping[str, Any]) -> str:
    setup = record.get("test_setup_code")
    if not is_missing(setup):
        return _unix(text(setup, "test_setup_code"))
    return "\n".join(texts(record.get("test_imports") or [], "test_imports"))


def _unix(code: str) -> str:
    return code.replace("\r\n", "\n")
