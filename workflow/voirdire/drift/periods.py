"""Natural time: which period each moment lies in."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from voirdire.drift.streams import IntArray
from voirdire.errors import UserError

# More days or weeks between the first and the last are a mistake in a timestamp, or call for longer periods.
_MOST = 5000


@dataclass(frozen=True)
class Periods:
    """number: which period each row is in, from 0, -1 without a timestamp; starts: the periods' names, in order.

    Names are days (ISO 8601), a week's its Monday; of counted periods the moment of their first response.
    """

    number: IntArray
    starts: tuple[str, ...]


def moments(values: "pd.Series[Any]", tz: str) -> "pd.Series[pd.Timestamp]":
    """Timestamps in the zone `tz`; missing ones stay missing.

    Those that name an offset or zone are moved to `tz`, those that don't are taken as of `tz`: when clocks go back the
    earlier of two readings, when they go forward the next that exists. Raises UserError for what is no time (numbers
    included, which may count anything), or for an unknown zone.
    """
    known: dict[Any, Any] = {}
    for value in values.dropna().unique():
        # Of "01/02/2024" nobody knows which is the month.
        is_iso = isinstance(value, str) and re.match(r"\s*\d{4}-?\d\d-?\d\d", value)
        if not is_iso and not isinstance(value, pd.Timestamp | np.datetime64):
            raise UserError(f"timestamp: {value!r} is no time; write ISO 8601, as 2026-09-12T08:30:00+02:00")
        try:
            known[value] = _in_zone(pd.Timestamp(value).as_unit("ns"), tz)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise UserError(f"timestamp: {value!r} in zone {tz!r}: {error}") from None
    found = values.map(known)
    return found.astype(pd.DatetimeTZDtype("ns", tz)) if len(known) else pd.Series(pd.NaT, values.index)


def _in_zone(moment: pd.Timestamp, tz: str) -> pd.Timestamp:
    if moment.tzinfo is None:
        return moment.tz_localize(tz, ambiguous=True, nonexistent="shift_forward")
    return moment.tz_convert(tz)


def periods_of(when: "pd.Series[pd.Timestamp]", by: str | int) -> Periods:
    """Days, weeks from Monday on, or as many responses each as `by` says, the last perhaps fewer.

    when: `moments`. Days and weeks in which nothing happened are periods too. Counted responses go by time, those of
    one moment in the order of the rows. Raises UserError for another `by`, or for more than 5,000 days or weeks.
    """
    there = when.notna().to_numpy()
    number = np.full(len(when), -1, dtype=np.int64)
    if isinstance(by, int) and not isinstance(by, bool) and by >= 1:
        order = np.flatnonzero(there)[np.argsort(when[there].to_numpy(), kind="stable")]
        number[order] = np.arange(len(order)) // by
        return Periods(number, tuple(when.iloc[row].isoformat() for row in order[::by]))
    if by not in ("day", "week"):
        raise UserError(f"by: {by!r} is no period; use day, week, or a number of responses")
    if not there.any():
        return Periods(number, ())
    # Of the zone's own calendar: a day of 23 or 25 hours is one day.
    day = when[there].dt.tz_localize(None).dt.normalize()
    if by == "week":
        day -= pd.to_timedelta(day.dt.day_of_week, unit="D")
    length = 7 if by == "week" else 1
    number[there] = (day - day.min()).dt.days.to_numpy() // length
    n = int(number.max()) + 1
    if n > _MOST:
        raise UserError(
            f"timestamp: from {when.min().date()} to {when.max().date()} there are {n:,} {by}s, more than {_MOST:,}; "
            "correct the timestamps, or count responses instead"
        )
    starts = day.min() + pd.to_timedelta(np.arange(n) * length, unit="D")
    return Periods(number, tuple(str(start.date()) for start in starts))
