"""Schemas of every table, and atomic reading and writing of Parquet."""

from voirdire.tables.contracts import (
    GENERATIONS,
    GRADES,
    ITEMS,
    JUDGEMENTS,
    STATUSES,
    VERDICTS,
)
from voirdire.tables.io import (
    atomic_path,
    read_metadata,
    read_table,
    write_csv,
    write_parquet,
    write_table,
)
from voirdire.tables.schema import Column, Schema

__all__ = [
    "GENERATIONS",
    "GRADES",
    "ITEMS",
    "JUDGEMENTS",
    "STATUSES",
    "VERDICTS",
    "Column",
    "Schema",
    "atomic_path",
    "read_metadata",
    "read_table",
    "write_csv",
    "write_parquet",
    "write_table",
]
