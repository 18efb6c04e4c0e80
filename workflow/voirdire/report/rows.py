"""Picking the rows that a figure, table or sentence is about out of the tidy tables."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from voirdire.tables.rows import select

# The difference of a rate is shown in percentage points.
POINTS = 100


def main_rates(rates: pd.DataFrame | None, condition: str, **wanted: Any) -> pd.DataFrame:
    """Rates of one condition as the paper reads them: calls that are not ok left out, tasks pooled by their mean."""
    return select(rates, condition=condition, reading="main", pooling=("none", "task_mean"), **wanted)


def table(tables: Mapping[str, pd.DataFrame], name: str) -> pd.DataFrame:
    """The tidy table of that name; an empty frame where the study has none."""
    found = tables.get(name)
    return pd.DataFrame() if found is None else found


def ordered(values: Iterable[Any]) -> list[str]:
    """Distinct values in the order of the configuration, the pooled "all" last."""
    distinct = list(dict.fromkeys(str(value) for value in values))
    return [value for value in distinct if value != "all"] + [value for value in distinct if value == "all"]


def column_values(frame: pd.DataFrame, column: str) -> list[str]:
    """Distinct values of a column, in order; empty where the column is missing."""
    return ordered(frame[column]) if column in frame.columns else []


def pooled_examinees(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows over all examinees where there are such, else all rows: those of the only examinee."""
    everyone = select(frame, examinee="all")
    return everyone if len(everyone) and "examinee" in frame.columns else frame


def why_no_bias(rates: pd.DataFrame) -> str:
    """Why rows of rates, none of which has a bias, have none: a clause; "" where one has, or where there is no row."""
    if rates.empty or rates["bias"].notna().any():
        return ""
    for column, word in (("n_right", "right"), ("n_wrong", "wrong")):
        if not rates[column].any():
            return f"no judged response is {word}"
    if (rates["n_right"].astype(bool) & rates["n_wrong"].astype(bool)).any():
        return "no task has both right and wrong responses"
    return "right or wrong responses are missing"


def number(frame: pd.DataFrame, column: str) -> float:
    """The column's value in the first row; NaN where there is no row, column or value."""
    if frame.empty or column not in frame.columns or pd.isna(frame[column].iloc[0]):
        return float("nan")
    return float(frame[column].iloc[0])
