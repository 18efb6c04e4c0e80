"""Questions written for this project, in the formats of the four benchmarks (MIT, like the code)."""

from importlib import resources
from pathlib import Path

from voirdire.benchmarks.bundled import competition, word_problems
from voirdire.benchmarks.records import Record, read_records
from voirdire.errors import Faults

LICENCE = "MIT (written for voirdire)"


def number_questions() -> list[Record]:
    """Word problems in GSM8K's layout, from the seeded generator."""
    return _generated("word problem", word_problems.generate())


def integer_questions() -> list[Record]:
    """Problems with answers from 0 to 999 in AIME's layout, from the seeded generator."""
    return _generated("competition problem", competition.generate())


def code_questions() -> list[Record]:
    """Programming tasks in MBPP's layout."""
    return _file("mbpp.jsonl")


def choice_questions() -> list[Record]:
    """Passages with their questions in QuALITY's layout."""
    return _file("quality.jsonl")


def _generated(what: str, records: list[dict[str, str]]) -> list[Record]:
    return [Record(f"bundled {what} {number}", record) for number, record in enumerate(records, start=1)]


def _file(name: str) -> list[Record]:
    faults = Faults()
    with resources.as_file(resources.files(__package__) / name) as path:
        records, _ = read_records(Path(path), faults)
    faults.raise_if_any()
    return records
