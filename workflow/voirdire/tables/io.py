"""Reading and writing of tables. A file appears whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import is_numeric_dtype

from voirdire.errors import UserError
from voirdire.tables.schema import Schema

_METADATA = b"voirdire"
# A spreadsheet runs a cell that starts with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the name `path` only if the block ends well."""
    path = Path(path)
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
        os.close(handle)
        beside = Path(name)
        yield beside
        # mkstemp's 0600 would hide results from colleagues on a shared disk.
        umask = os.umask(0)
        os.umask(umask)
        beside.chmod(0o666 & ~umask)
        os.replace(beside, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror or error}); nothing earlier was lost") from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def write_table(
    frame: pd.DataFrame, path: str | Path, schema: Schema, metadata: Mapping[str, Any] | None = None
) -> None:
    """Check the frame against the schema and write it as Parquet, with JSON metadata in the file."""
    checked = schema.check(frame, str(path))
    table = pa.Table.from_pandas(checked, schema=schema.arrow(), preserve_index=False)
    _write_parquet(table, path, metadata)


def write_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the table of an analysis as Parquet."""
    _write_parquet(pa.Table.from_pandas(frame, preserve_index=False), path, None)


def _write_parquet(table: pa.Table, path: str | Path, metadata: Mapping[str, Any] | None) -> None:
    if metadata is not None:
        extra = {_METADATA: json.dumps(metadata, sort_keys=True, ensure_ascii=False).encode()}
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **extra})
    with atomic_path(path) as beside:
        pq.write_table(table, beside, compression="zstd")


def write_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a CSV that no spreadsheet takes for formulas; missing values are empty."""
    safe = frame.apply(lambda column: column if is_numeric_dtype(column) else column.map(_harmless, na_action="ignore"))
    safe.columns = [_harmless(name) for name in frame.columns]
    with atomic_path(path) as beside:
        safe.to_csv(beside, index=False)


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def read_table(path: str | Path, schema: Schema | None = None) -> pd.DataFrame:
    """Read a Parquet table and check it against its schema, if one is given.

    Raises UserError where the file is missing, cut short or not as the schema says.
    """
    try:
        table = pq.read_table(path)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; run the rule that makes it") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{path}: not a readable Parquet file ({error}); delete it and run the rule again") from error
    types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()} if schema else {}
    frame = table.to_pandas(types_mapper=types.get)
    return schema.check(frame, str(path)) if schema else frame


def read_metadata(path: str | Path) -> dict[str, Any]:
    """The JSON metadata that `write_table` put into the file; empty if there is none."""
    raw = (pq.read_schema(path).metadata or {}).get(_METADATA)
    return json.loads(raw) if raw else {}
