"""Verdicts in their natural order: which responses came when."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.drift.periods import Periods, moments, periods_of
from voirdire.drift.streams import IntArray
from voirdire.errors import UserError
from voirdire.panel.matrix import Ballots, ballots

_KEY = ["task", "item_id", "examinee"]


@dataclass(frozen=True)
class Log:
    """Responses in the order of their rows in `box`, each in a period; left_out: how many had no timestamp."""

    box: Ballots
    periods: Periods
    left_out: int

    @property
    def n_periods(self) -> int:
        return len(self.periods.starts)

    @property
    def strata(self) -> IntArray:
        """(responses,): the number of each one's task."""
        return np.unique(self.box.task.astype(str), return_inverse=True)[1].astype(np.int64)


def log_of(
    verdicts: pd.DataFrame, by: str | int, condition: str | None, timestamp: str, tz: str, include_self: bool
) -> Log:
    """The first trial's responses of one condition that have a time.

    A response's time is that of its last verdict: only then could the panel have voted. Verdicts without a timestamp
    take part where another verdict on the response has one; responses without any are left out.

    Raises UserError where the column `timestamp` is missing or holds something else, NotEnoughVerdicts where no
    response has been judged.
    """
    if timestamp not in verdicts:
        raise UserError(f"verdicts: no column '{timestamp}'; natural time needs the moment of each verdict")
    box = ballots(verdicts, condition)
    box = box.take(box.trial == box.trial.min())
    box = box if include_self else box.without_self()
    when = _last_verdicts(verdicts, box, condition, timestamp, tz)
    there = when.notna().to_numpy()
    return Log(box.take(there), periods_of(when[there], by), int((~there).sum()))


def _last_verdicts(
    verdicts: pd.DataFrame, box: Ballots, condition: str | None, timestamp: str, tz: str
) -> "pd.Series[pd.Timestamp]":
    """(responses,): the time of each response's last verdict."""
    frame = verdicts
    if condition is not None and "condition" in frame:
        frame = frame[(frame["condition"] == condition).to_numpy(dtype=bool)]
    if "trial" in frame and len(frame):
        frame = frame[(frame["trial"] == box.trial.min()).to_numpy(dtype=bool)]
    frame = frame.assign(**{name: "" for name in _KEY if name not in frame}, _when=moments(frame[timestamp], tz))
    last = frame.groupby(_KEY, sort=False)["_when"].max()
    index = pd.MultiIndex.from_arrays([box.task, box.item_id, box.examinee], names=_KEY)
    return last.reindex(index).reset_index(drop=True)
