"""Reading records from files, and fields from records, with faults that a person can act on."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import Faults

# Of one file's malformed lines; a file in the wrong format has a fault in every line.
MAX_FAULTS = 20
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


class LeavesOutError(Exception):
    """The record lacks something required: it is left out and counted, with this reason."""


class OutsideSplitError(Exception):
    """The record is sound, but no part of the split that is evaluated."""


class WrongRecordError(Exception):
    """The record is not what the format says: a fault to mend, with this description."""


@dataclass(frozen=True)
class Record:
    """One raw record and where it stands, for messages."""

    where: str
    fields: Mapping[str, Any]


def read_records(path: Path, faults: Faults) -> tuple[list[Record], str | None]:
    """The records of a JSON-lines or (by its name's end) Parquet file, and the file's SHA-256.

    Blank lines are skipped. What can't be read is added to `faults`; the hash is None if nothing could be read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        faults.add(f"{path}: no such file; check the path")
    except IsADirectoryError:
        faults.add(f"{path}: is a folder; name a .jsonl or .parquet file in it")
    except OSError as error:
        faults.add(f"{path}: cannot be read ({error.strerror or error})")
    else:
        if content.startswith(_GZIP):
            faults.add(f"{path}: is compressed; decompress it first")
            return [], None
        # Some files have lost their ending; the format says by itself what it is.
        is_parquet = path.suffix.lower() == ".parquet" or content.startswith(_PARQUET)
        reader = _parquet if is_parquet else _json_lines
        return list(reader(path, content, faults)), hashlib.sha256(content).hexdigest()
    return [], None


def _json_lines(path: Path, content: bytes, faults: Faults) -> Iterator[Record]:
    found = 0
    # Only "\n" ends a line: U+2028, U+0085 and others stand inside texts.
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            value = json.loads(line.decode("utf-8"))
        except json.JSONDecodeError as error:
            fault = f"not valid JSON ({error.msg} at column {error.colno}); each line must hold one JSON object"
        except UnicodeDecodeError as error:
            fault = f"not UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
        except (ValueError, RecursionError) as error:
            fault = f"cannot be read as JSON ({error}); mend or remove the line"
        else:
            if isinstance(value, dict):
                yield Record(where, value)
                continue
            fault = f"a JSON {_kind(value)}, not an object; each line must hold one JSON object"
        found += 1
        if found <= MAX_FAULTS:
            faults.add(f"{where}: {fault}")
    if found > MAX_FAULTS:
        faults.add(f"{path}: {found - MAX_FAULTS} more malformed lines; is this a JSON-lines file?")


def _parquet(path: Path, content: bytes, faults: Faults) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(pa.BufferReader(content)).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        faults.add(f"{path}: not a readable Parquet file ({error}); get the file again")
        return
    for number, row in enumerate(rows, start=1):
        yield Record(f"{path}, row {number}", row)


def _kind(value: Any) -> str:
    kinds = {list: "list", dict: "object", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "number")


def is_missing(value: Any) -> bool:
    """None, NaN (both formats can hold it), and text without a visible character."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
    )


def required(record: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that has a value. Raises LeavesOutError if none has."""
    for name in names:
        if not is_missing(record.get(name)):
            return record[name]
    raise LeavesOutError(f"{' or '.join(names)} is missing")


def text(value: Any, name: str) -> str:
    """The value as text that any file can hold.

    Raises WrongRecordError if it is no text, LeavesOutError if it holds half a surrogate pair (from a JSON escape).
    """
    if not isinstance(value, str):
        raise WrongRecordError(f"{name} must be text, not a {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise LeavesOutError(f"{name} holds half of a surrogate pair, which is no character") from error
    return value


def texts(value: Any, name: str) -> tuple[str, ...]:
    """The value as a tuple of texts; same errors as `text`."""
    if not isinstance(value, list):
        raise WrongRecordError(f"{name} must be a list of texts, not a {_kind(value)}")
    if any(is_missing(part) for part in value):
        raise LeavesOutError(f"{name} has an empty entry")
    return tuple(text(part, name) for part in value)


def whole_number(value: Any, name: str) -> int:
    """The value as an integer; 3.0 counts (Parquet makes such of integers with gaps). Raises WrongRecordError."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise WrongRecordError(f"{name} must be a whole number, not {str(value)[:40]!r}")
