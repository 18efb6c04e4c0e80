"""One answer per task: does the leniency towards stronger examinees survive equal difficulty?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from voirdire.bias.leniency_design import CONDITIONAL, POOLED
from voirdire.bias.leniency_rows import ACCURACY
from voirdire.bias.power import as_ratio

LENIENCY_SUMMARY_COLUMNS = ["task", "survives", "sentence", "reason", "simulated"]
YES, NO, UNDECIDED = "yes", "no", "undecided"
# Where less than this share of the plain slope can be left, it has not survived.
_LITTLE = 0.5
_ALPHA = 0.05


def leniency_summary(table: pd.DataFrame) -> pd.DataFrame:
    """What `leniency` says, one row per task and "all": survives, and why, in a sentence with its numbers.

    table: from `leniency`. The conditional estimate decides, with its interval and with the range that it has when any
    one examinee is left out, as a handful of examinees is a handful of points:

      yes        both lie above 0, and p is below .05.
      no         both lie below 0; or the plain association is there (the pooled interval lies above 0), the conditional
                 interval isn't above 0, and neither it nor the range reaches half of the least that the plain slope may
                 be. The conditional model holds length and authorship equal too, the pooled one nothing.
      undecided  anything else; also without an estimate, or without one when some examinee is left out.

    An empty table gives no rows.
    """
    rows = []
    for task in dict.fromkeys(table["task"]):
        part = table[(table["task"] == task) & (table["term"] == ACCURACY) & (table["judge"] == "all")]
        by_method = {str(row["method"]): row for row in part.to_dict("records")}
        rows.append({"task": task, **_answer(str(task), by_method[CONDITIONAL], by_method[POOLED])})
    return pd.DataFrame(rows, columns=LENIENCY_SUMMARY_COLUMNS)


def _answer(task: str, main: Mapping[Any, Any], plain: Mapping[Any, Any]) -> dict[str, object]:
    survives, reason = _survives(main, plain)
    where = "Over all tasks" if task == "all" else f"On {task}"
    if np.isnan(main["estimate"]):
        text = f"{where} nothing can be said of leniency at equal difficulty: {main['reason']}."
    else:
        opening = {
            YES: "the leniency towards stronger examinees survives equal difficulty, for these examinees",
            NO: (
                "the leniency towards stronger examinees does not survive equal difficulty, with length and authorship"
                " held equal too, for these examinees"
            ),
            UNDECIDED: "it is undecided whether leniency towards stronger examinees survives equal difficulty",
        }[survives]
        text = (
            f"{where} {opening}: on the same question and for the same judge each 10 points of accuracy multiply the"
            f" odds of accepting a wrong answer by {_numbers(main)}"
        )
        if survives != YES:
            text += f"; {reason}"
        text += "."
    return {"survives": survives, "sentence": text, "reason": reason, "simulated": bool(main["simulated"])}


def _survives(main: Mapping[Any, Any], plain: Mapping[Any, Any]) -> tuple[str, str]:
    """The answer, and why."""
    if np.isnan(main["estimate"]):
        return UNDECIDED, str(main["reason"])
    low, high = (main[f"leave_out_{side}"] for side in ("low", "high"))
    if main["low"] > 0 and low > 0 and main["p"] < _ALPHA:
        return YES, "the interval lies above 1, and so does the estimate when any one examinee is left out"
    if main["high"] < 0 and high < 0:
        return NO, "it turns round: stronger examinees' wrong answers are accepted less"
    # Of the least that the plain slope may be: it isn't known either.
    little = _LITTLE * plain["low"]
    if plain["low"] > 0 and main["low"] <= 0 and main["high"] < little and high < little:
        apart = as_ratio(plain["estimate"])
        return NO, f"without regard to any of these it is {apart}, of which less than half can be left"
    if main["low"] <= 0 <= main["high"]:
        also = "" if plain["low"] > 0 else ", and nor is there leniency without regard to difficulty to be seen"
        return UNDECIDED, f"the interval holds 1{also}"
    if np.isnan(low):
        return UNDECIDED, str(main["reason"])
    if main["low"] > 0 and low > 0:
        return UNDECIDED, f"the interval lies above 1, but the test doesn't reject (p = {main['p']:.2f})"
    return UNDECIDED, "it rests on one examinee, without whom the estimate lies on the other side of 1"


def _numbers(row: Mapping[Any, Any]) -> str:
    text = f"{as_ratio(row['estimate'])} ({as_ratio(row['low'])} to {as_ratio(row['high'])}"
    if np.isnan(row["leave_out_low"]):
        return text + ")"
    low, high = as_ratio(row["leave_out_low"]), as_ratio(row["leave_out_high"])
    return f"{text}; {low} to {high} when any one examinee is left out)"
