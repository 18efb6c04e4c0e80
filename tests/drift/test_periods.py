"""Periods of natural time: zones, order, gaps, and what is no time."""

import pandas as pd
import pytest

from voirdire.drift.periods import moments, periods_of
from voirdire.errors import UserError


def of(values, by="day", tz="UTC"):
    return periods_of(moments(pd.Series(values, dtype=object), tz), by)


def test_days_between_are_periods_too_and_rows_may_be_in_any_order():
    found = of(["2026-03-04T10:00", "2026-03-01T23:59:59", "2026-03-04T00:00"])
    assert found.number.tolist() == [3, 0, 3]
    assert found.starts == ("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04")


def test_weeks_start_on_monday():
    # 1 March 2026 is a Sunday.
    found = of(["2026-03-01", "2026-03-02", "2026-03-08", "2026-03-16"], by="week")
    assert found.number.tolist() == [0, 1, 1, 3]
    assert found.starts[0] == "2026-02-23"
    assert len(found.starts) == 4


def test_one_moment_is_of_one_day_in_one_zone_and_of_another_elsewhere():
    same = ["2026-03-01T23:30:00Z", "2026-03-02T00:30:00+01:00", "2026-03-01T18:30:00-05:00"]
    assert of(same).starts == ("2026-03-01",)
    assert of(same, tz="Asia/Tokyo").starts == ("2026-03-02",)


def test_without_an_offset_the_zone_is_the_one_that_is_asked_for():
    assert moments(pd.Series(["2026-07-01T00:30"]), "Europe/Berlin")[0] == pd.Timestamp("2026-06-30T22:30Z")
    mixed = pd.Series(["2026-07-01T00:30", pd.Timestamp("2026-07-01T00:30Z")], dtype=object)
    assert moments(mixed, "Europe/Berlin").diff()[1] == pd.Timedelta(hours=2)


def test_readings_that_clocks_skip_or_repeat_are_taken():
    skipped, repeated = moments(pd.Series(["2026-03-29T02:30", "2026-10-25T02:30"]), "Europe/Berlin")
    assert skipped == pd.Timestamp("2026-03-29T01:00Z")
    assert repeated == pd.Timestamp("2026-10-25T00:30Z")


def test_a_day_of_23_hours_is_one_day():
    found = of(["2026-03-28T12:00", "2026-03-29T23:30", "2026-03-30T00:30"], tz="Europe/Berlin")
    assert found.number.tolist() == [0, 1, 2]


def test_datetime_columns_are_read_as_they_are():
    naive = pd.Series(pd.to_datetime(["2026-03-01T23:30", None]))
    assert moments(naive, "UTC").isna().tolist() == [False, True]
    aware = naive.dt.tz_localize("UTC")
    assert periods_of(moments(aware, "Asia/Tokyo"), "day").starts == ("2026-03-02",)


def test_missing_timestamps_are_in_no_period():
    found = of([None, "2026-03-01", float("nan"), pd.NaT])
    assert found.number.tolist() == [-1, 0, -1, -1]
    assert of([None, None]).starts == ()
    assert of([None, None], by=3).number.tolist() == [-1, -1]


def test_counted_periods_go_by_time_and_ties_by_row():
    found = of(["2026-03-02", "2026-03-01", None, "2026-03-01", "2026-03-03"], by=2)
    assert found.number.tolist() == [1, 0, -1, 0, 1]
    assert found.starts == ("2026-03-01T00:00:00+00:00", "2026-03-02T00:00:00+00:00")


@pytest.mark.parametrize("value", [1_772_323_200, "yesterday", 2026.5, True, "01/02/2024", "", "12-03-2024"])
def test_what_is_no_time_is_named(value):
    with pytest.raises(UserError, match="timestamp"):
        of(["2026-03-01", value])


@pytest.mark.parametrize("by", ["month", 0, -1, 2.5, True])
def test_what_is_no_period_is_named(by):
    with pytest.raises(UserError, match="is no period"):
        of(["2026-03-01"], by=by)


def test_an_unknown_zone_and_a_millennium_are_named():
    with pytest.raises(UserError, match="Atlantis"):
        of(["2026-03-01"], tz="Atlantis")
    with pytest.raises(UserError, match="more than 5,000"):
        of(["1926-03-01", "2026-03-01"])
    with pytest.raises(UserError, match="1026"):
        of(["1026-03-01"])
