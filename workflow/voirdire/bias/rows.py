"""Rows of verdicts made ready: plain types, the rows that enter a rate, the main condition, each response once."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.errors import UserError

READINGS = ("main", "not_ok_correct", "not_ok_incorrect")
_NEEDED = ("task", "item_id", "judge", "examinee", "verdict", "truth")
_DEFAULTS: dict[str, Any] = {
    "condition": "blind",
    "trial": 0,
    "generation_status": "ok",
    "status": "ok",
    "simulated": False,
    "answer": None,
}


def prepared(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with plain types and every column that this package reads.

    Missing columns: condition "blind", trial 0, statuses "ok", simulated false, no answers; cluster is the item.
    verdict and truth become floats 1, 0 or NaN (missing). Clusters are clusters within a task. Raises UserError naming
    missing columns.
    """
    missing = [name for name in _NEEDED if name not in verdicts.columns]
    if missing:
        raise UserError(f"verdicts: columns {', '.join(missing)} are missing; a table of verdicts has {_NEEDED}")
    frame = verdicts.assign(**{name: value for name, value in _DEFAULTS.items() if name not in verdicts.columns})
    for name in ("verdict", "truth"):
        values = frame[name].astype("boolean") if frame[name].dtype == object else frame[name]
        frame[name] = values.astype("Float64").to_numpy(np.float64, na_value=np.nan)
    frame["simulated"] = frame["simulated"].astype(bool)
    frame["cluster"] = (frame["cluster"] if "cluster" in verdicts.columns else frame["item_id"]).astype(str)
    return frame.reset_index(drop=True)


def usable(rows: pd.DataFrame, reading: str = "main") -> pd.DataFrame:
    """The rows that enter a rate: status ok, with a verdict and a known truth.

    The readings "not_ok_correct" and "not_ok_incorrect" add the judged rows whose status is not ok, all read as that
    verdict. Responses that were never judged (status missing) enter no reading.
    """
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {READINGS}, not {reading!r}")
    known = rows["truth"].notna()
    ok = (rows["status"] == "ok").fillna(False).astype(bool)
    if reading == "main":
        return rows[known & ok & rows["verdict"].notna()]
    judged = rows[known & rows["status"].notna()]
    ok = ok[judged.index]
    read = judged["verdict"].where(ok, 1.0 if reading == "not_ok_correct" else 0.0)
    return judged.assign(verdict=read).dropna(subset=["verdict"])


def of_condition(rows: pd.DataFrame, main: str) -> pd.DataFrame:
    """The rows of condition `main`, or all rows where they know one condition only.

    Raises UserError where there are several conditions and `main` is none of them.
    """
    conditions = sorted(rows["condition"].unique())
    if len(conditions) <= 1:
        return rows
    if main not in conditions:
        raise UserError(f"verdicts: no condition {main!r}; choose the main condition among {', '.join(conditions)}")
    return rows[rows["condition"] == main]


def responses_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Each response once, whatever its judges, conditions and trials: task, item_id, examinee, cluster, …, truth.

    The columns status and verdict are the response's own: its generation's status, and 1 throughout, so that `count`
    of these rows by examinee has the right and wrong responses of each (`share_right` is its task accuracy).
    """
    once = rows.sort_values("truth", na_position="last", kind="stable").drop_duplicates(["task", "item_id", "examinee"])
    return once.sort_index().assign(status=once["generation_status"], verdict=1.0)


def clusters_of(rows: pd.DataFrame) -> dict[str, npt.NDArray[np.object_]]:
    """The clusters of each task, sorted: all that the rows name, whether or not they enter a rate."""
    return {str(task): np.sort(part.unique()).astype(object) for task, part in rows.groupby("task")["cluster"]}
