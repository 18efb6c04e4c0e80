"""Rows of verdicts made ready: plain types, the rows that enter a rate, the main condition, each response once."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.errors import UserError
from voirdire.stats.arrays import Array
from voirdire.tables.checks import NAMES, Checked

READINGS = ("main", "not_ok_correct", "not_ok_incorrect")
_NEEDED = ("task", "item_id", "judge", "examinee", "verdict", "truth")
_DEFAULTS: dict[str, Any] = {
    "condition": "blind",
    "trial": 0,
    "generation_status": "ok",
    "simulated": False,
    "answer": None,
}
_TRANSLATE = "Translate codes and words into true and false before calling this."


def prepared(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with plain types and every column that this package reads; all that is read is checked first.

    Missing columns: condition "blind", trial 0, generation_status "ok", simulated false, no answers; cluster is the
    item; status is "ok" with a verdict, "unparsed" without, missing (not judged) if the generation is not ok either.
    verdict and truth, true or false, 1 or 0, become floats 1, 0 or NaN (missing). Names become strings, whole numbers
    too. simulated: missing is false. cluster: clusters within a task; a missing one is the item's own. answer: compared
    without outer blanks and case; an empty one is missing. response_chars
    that are negative, infinite or above 10¹² are unknown (NaN). Rows that say the same of the same call (condition,
    trial, task, item_id, judge, examinee) again count once.

    Raises UserError with all faults, each with its column, what was found, the first five rows and a remedy: missing
    columns; verdict, truth or simulated of other values; missing names, and names that are no text; "all" as a task,
    judge or examinee; unknown statuses; status ok without a verdict; calls with conflicting rows; responses both right
    and wrong; items with rows in several clusters.
    """
    missing = [name for name in _NEEDED if name not in verdicts.columns]
    if missing:
        raise UserError(
            f"verdicts: missing {'column' if len(missing) == 1 else 'columns'}: {', '.join(missing)}. "
            f"A table of verdicts needs {', '.join(_NEEDED)}; rename yours, or add what is missing."
        )
    frame = verdicts.assign(**{name: value for name, value in _DEFAULTS.items() if name not in verdicts.columns})
    frame = frame.reset_index(drop=True)
    checked = Checked(frame)
    named = {name: checked.names(name) for name in NAMES}
    checked.trial()
    verdict = checked.binary("verdict", "verdicts", _TRANSLATE)
    truth = checked.binary("truth", "truths", _TRANSLATE)
    simulated = checked.binary("simulated", "simulated", "Write true for rows of simulated models, false for others.")
    checked.words("generation_status", may_miss=False)
    if "status" in verdicts.columns:
        checked.words("status", may_miss=True)
        checked.verdict_there(verdict)
    else:
        frame["status"] = _statuses(frame["generation_status"], verdict)
    if "response_chars" in verdicts.columns:
        frame["response_chars"] = checked.lengths("response_chars")
    checked.faults.raise_if_any()
    checked.one_truth(truth)
    again = checked.repeated(verdict, truth)
    if "cluster" in frame.columns:
        frame["cluster"] = checked.clusters(named["task"], named["item_id"])
    else:
        frame["cluster"] = named["item_id"].astype(str)
    checked.faults.raise_if_any()
    frame["answer"] = checked.answers()
    frame = frame.assign(**named, verdict=verdict, truth=truth, simulated=simulated == 1)
    return frame[~again].reset_index(drop=True) if again.any() else frame


def _statuses(generation: "pd.Series[Any]", verdict: Array) -> "pd.Series[Any]":
    """Of calls whose status nobody noted: ok with a verdict; without, unparsed, or not judged as there was nothing."""
    statuses = pd.Series("ok", index=generation.index, dtype="str")
    statuses[np.isnan(verdict)] = "unparsed"
    statuses[np.isnan(verdict) & ~(generation == "ok").fillna(False).to_numpy(bool)] = None
    return statuses


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
