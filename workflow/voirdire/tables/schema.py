"""What a table must look like, and a check that names the first rows that don't."""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
from pandas.api.types import pandas_dtype

from voirdire.errors import Faults

# Shown of each kind of fault: enough to find the cause, few enough to read.
EXAMPLES = 5

_ARROW = {
    "string": pa.string(),
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "strings": pa.list_(pa.string()),
}
_PANDAS = {"string": "str", "bool": "boolean", "int": "Int64", "float": "float64"}


@dataclass(frozen=True)
class Column:
    """One column: its kind (string, bool, int, float, strings), whether it may be missing, its allowed values."""

    name: str
    kind: str
    nullable: bool = False
    allowed: tuple[str, ...] = ()
    meaning: str = ""

    def arrow(self) -> pa.Field:
        return pa.field(self.name, _ARROW[self.kind], nullable=self.nullable)


@dataclass(frozen=True)
class Schema:
    """A named list of columns and the columns that together identify a row."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def arrow(self) -> pa.Schema:
        return pa.schema([column.arrow() for column in self.columns])

    def check(self, frame: pd.DataFrame, source: str) -> pd.DataFrame:
        """Return the frame with this schema's columns, order and types.

        Nullable booleans and integers come back as pandas' `boolean` and `Int64`, so that a missing value
        never turns into a number. Extra columns are refused, not dropped.

        Raises UserError naming the table, column, rows and reason of every fault found.
        """
        faults = Faults()
        where = f"{source} ({self.name} table)"
        for name in self.names:
            if name not in frame.columns:
                faults.add(f"{where}: column '{name}' is missing")
        for name in frame.columns:
            if name not in self.names:
                faults.add(f"{where}: unknown column '{name}'")
        faults.raise_if_any()
        typed = {column.name: self._typed(frame[column.name], column, where, faults) for column in self.columns}
        faults.raise_if_any()
        result = pd.DataFrame(typed, index=range(len(frame)))
        self._check_key(result, where, faults)
        faults.raise_if_any()
        return result

    def _typed(self, values: pd.Series, column: Column, where: str, faults: Faults) -> pd.Series:
        values = values.reset_index(drop=True)
        missing = values.isna()
        if not column.nullable and missing.any():
            faults.add(f"{where}: column '{column.name}' has no value in row{_rows(missing)}")
        if column.kind == "strings":
            return values.map(lambda value: [str(part) for part in value] if value is not None else None)
        try:
            typed = values.astype(pandas_dtype(_PANDAS[column.kind]))
        except (TypeError, ValueError) as error:
            faults.add(f"{where}: column '{column.name}' must be of kind {column.kind}: {error}")
            return values
        if column.allowed:
            wrong = ~typed.isin(column.allowed) & ~missing
            if wrong.any():
                found = ", ".join(repr(value) for value in typed[wrong].unique()[:EXAMPLES])
                faults.add(
                    f"{where}: column '{column.name}' has {found} in row{_rows(wrong)}; "
                    f"allowed are {', '.join(column.allowed)}"
                )
        return typed

    def _check_key(self, frame: pd.DataFrame, where: str, faults: Faults) -> None:
        if not self.key:
            return
        repeated = frame.duplicated(list(self.key))
        if repeated.any():
            faults.add(f"{where}: ({', '.join(self.key)}) must be unique; it repeats in row{_rows(repeated)}")


def _rows(mask: pd.Series) -> str:
    """The first rows of a mask in words, counted from 1."""
    rows = [str(index + 1) for index in mask[mask].index[:EXAMPLES]]
    more = int(mask.sum()) - len(rows)
    return f"{'s' if len(rows) > 1 else ''} {', '.join(rows)}" + (f" and {more} more" if more else "")
