"""Picking rows out of the tidy tables."""

from typing import Any

import pandas as pd


def select(frame: pd.DataFrame | None, **wanted: Any) -> pd.DataFrame:
    """The rows whose columns have the wanted values; a tuple or list means any of them, a missing column any value.

    >>> select(pd.DataFrame({"task": ["gsm8k", "all"], "n": [1, 2]}), task="all")["n"].tolist()
    [2]
    """
    if frame is None or frame.empty:
        return pd.DataFrame(columns=[] if frame is None else frame.columns)
    keep = pd.Series(True, index=frame.index)
    for column, value in wanted.items():
        if column in frame.columns:
            values = list(value) if isinstance(value, tuple | list) else [value]
            keep &= frame[column].isin(values)
    return frame[keep]


def is_simulated(frame: pd.DataFrame | None) -> bool:
    """Whether any row of a table comes from a simulated persona."""
    return frame is not None and "simulated" in frame.columns and bool(frame["simulated"].fillna(False).any())
