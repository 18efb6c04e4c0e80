"""Reading a journal: its whole lines, and the answers on them that count."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from voirdire.errors import UserError
from voirdire.models.spec import Answer

# An error or a timeout is asked again; everything else is the model's answer.
REPLAYABLE = frozenset({"ok", "refused", "truncated", "empty"})
_FIELDS = {field.name for field in fields(Answer)}

# Where a line lies: its start and its length, in one number, since a journal may have a hundred thousand.
Place = int
_LONGEST = 2**32


class Answers(Mapping[str, Answer]):
    """Answers by name, each read from the journal when it is looked at."""

    def __init__(self, path: Path, places: Mapping[str, Place]) -> None:
        self.path, self._places = path, places

    def __getitem__(self, name: str) -> Answer:
        place = self._places[name]
        try:
            with open(self.path, "rb") as file:
                return answer_at(file.fileno(), place)
        except (OSError, ValueError) as error:
            raise UserError(f"{self.path}: the journal can't be read ({error}); has it been changed?") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def place_of(start: int, length: int) -> Place:
    """The place of a line from byte `start` on, of so many bytes."""
    return start * _LONGEST + length


def read_journal(path: str | Path) -> dict[str, Answer]:
    """The replayable answers of a journal by request key, without locking it; empty where there is no such file."""
    try:
        with open(path, "rb") as file:
            places, _ = places_of(file)
            return {key: answer_at(file.fileno(), place) for key, place in places.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{path}: the journal can't be read ({error.strerror})") from error


def known_keys(path: str | Path) -> set[str]:
    """The requests that a journal has a replayable answer to, without locking it; none where there is no such file."""
    try:
        with open(path, "rb") as file:
            return set(places_of(file)[0])
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise UserError(f"{path}: the journal can't be read ({error.strerror})") from error


def spent_usd(path: str | Path, start: int = 0, end: float = math.inf) -> float:
    """What the calls in a journal have cost, forgotten ones included; what has no price counts 0.

    Of the lines that begin from byte `start` on and before byte `end`.
    """
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return spent_of(file, end)
    except FileNotFoundError:
        return 0.0
    except OSError as error:
        raise UserError(f"{path}: the journal can't be read ({error.strerror})") from error


def spent_of(file: BinaryIO, end: float = math.inf) -> float:
    costs = (record.get("cost_usd") for (start, _), record in records(file) if start < end)
    return sum(cost for cost in costs if isinstance(cost, (int, float)) and 0 <= cost < math.inf)


def places_of(file: BinaryIO) -> tuple[dict[str, Place], int]:
    """Where the replayable answers are, and how long the file is."""
    places: dict[str, Place] = {}
    end = 0
    for place, record in records(file):
        end = sum(place)
        if isinstance(forgotten := record.get("forget"), list):
            for key in forgotten:
                places.pop(key, None)
        elif isinstance(key := record.get("key"), str) and record.get("status") in REPLAYABLE:
            places[key] = place_of(*place)
    return places, max(end, os.fstat(file.fileno()).st_size)


def records(file: BinaryIO, having: bytes = b"") -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """The whole lines of a journal and where they are; those cut short, or no objects, are passed over.

    having : of the lines, only those that hold these bytes.
    """
    start = file.tell()
    rest = b""
    # Lines are read by hand: an unbuffered file's own are slow. Never splitlines(): it would also cut at U+0085 and
    # U+2028, should another tool have written them unescaped.
    while chunk := file.read(2**20):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if having in line and (record := _parse(line)) is not None:
                yield (start, len(line)), record
            start += len(line) + 1
    if having in rest and (record := _parse(rest)) is not None:
        yield (start, len(rest)), record


def _parse(line: bytes) -> dict[str, Any] | None:
    """The object on a line; None for a line that was cut short, which a closing brace would have ended."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def answer_at(handle: int, place: Place) -> Answer:
    start, length = divmod(place, _LONGEST)
    record = json.loads(os.pread(handle, length, start))
    return Answer(**{name: value for name, value in record.items() if name in _FIELDS})
