"""Replay: the simulation's arithmetic on the real order, and what becomes of gaps and strays."""

from dataclasses import replace as changed

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.drift import Scenario, replay
from voirdire.drift.columns import COLUMNS
from voirdire.drift.drawing import observed_streams
from voirdire.drift.population import population
from voirdire.drift.running import run_rules
from voirdire.errors import UserError
from voirdire.panel.forgetting import Forgetting

ALL = ("oracle", "bayesian", "stratified", "disagreement", "dawid_skene", "hybrid")
MONDAY = pd.Timestamp("2026-03-02", tz="UTC")


def table_of(streams, labels_known=None):
    """One stream's weeks as a table of verdicts with timestamps; items of their own in every week."""
    _, weeks, responses, judges = (range(n) for n in streams.votes.shape)
    rows = [
        {
            "task": ("aime", "gsm8k")[streams.task[0, week, response]],
            "item_id": f"{week:02d}-{response:02d}",
            "examinee": "x",
            "judge": f"judge{judge}",
            "verdict": bool(streams.votes[0, week, response, judge]),
            "truth": bool(streams.truth[0, week, response]),
            "timestamp": (MONDAY + pd.Timedelta(days=7 * week, minutes=response, seconds=judge)).isoformat(),
        }
        for week in weeks
        for response in responses
        for judge in judges
        if np.isfinite(streams.votes[0, week, response, judge])
    ]
    return pd.DataFrame(rows).assign(condition="blind", trial=0, status="ok", simulated=True)


def rates_of(streams):
    """The streams with the rates that their own votes have, as the replay's oracle knows them."""
    fpr, fnr, prevalence = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros(2)
    for number in (0, 1):
        said, truth = (each[0][streams.task[0] == number] for each in (streams.votes, streams.truth))
        fpr[number] = np.nanmean(said[truth == 0], axis=0)
        fnr[number] = np.nanmean(1 - said[truth == 1], axis=0)
        prevalence[number] = truth.mean()
    shape = (1, 12, 2, 6)
    return changed(
        streams, fpr=np.broadcast_to(fpr, shape), fnr=np.broadcast_to(fnr, shape), prevalence=prevalence[None]
    )


@pytest.fixture(scope="module")
def stream(verdicts):
    drawn = observed_streams(population(verdicts, Scenario(), "blind"), seeds=1, seed=4)
    return rates_of(changed(drawn, labels=drawn.truth))


@pytest.fixture(scope="module")
def table(stream):
    return table_of(stream)


@pytest.mark.parametrize("forgetting", [None, Forgetting(window=3)])
def test_it_is_the_simulations_arithmetic_on_the_same_order(stream, table, forgetting):
    scenario = Scenario(forgetting=forgetting)
    found = dict(list(replay(table, "week", ALL, scenario).groupby(["rule", "estimator", "weights"])))
    run = run_rules(stream, scenario, ALL)
    assert len(run.votes) == 4 + 2 * 6 + 1
    for key, metric in run.votes.items():
        mine = found[key]
        columns = mine[["accuracy", "fpr", "fnr", "abstained", "tied"]].to_numpy()
        np.testing.assert_allclose(columns, metric[0], atol=1e-9)
        for baseline in ("oracle", "majority", "mean_single"):
            np.testing.assert_allclose(mine[f"difference_to_{baseline}"], run.gains[key, baseline][0], atol=1e-9)


def test_a_row_per_period_and_rule_with_the_tables_columns(table):
    frame = replay(table, "week", ("bayesian",))
    assert list(frame.columns) == list(COLUMNS["replay"])
    assert frame.groupby(["rule", "estimator", "weights"])["period"].agg(list).map(len).tolist() == [13] * 6
    assert frame["start"].tolist()[:3] == ["", "2026-03-02", "2026-03-09"]
    first = frame[frame["rule"] == "majority"]
    assert first["n_responses"].tolist() == first["n_known"].tolist() == first["n_labels"].tolist() == [480, *[40] * 12]
    assert ((frame["low"] <= frame["accuracy"]) & (frame["accuracy"] <= frame["high"])).all()
    assert frame["simulated"].all()


def test_count_and_week_are_the_same_where_a_week_has_that_many(table):
    weekly, counted = (replay(table, by, ("bayesian", "dawid_skene")) for by in ("week", 40))
    assert counted["start"][1].startswith("2026-03-02T00:00:0")
    pd.testing.assert_frame_equal(weekly.drop(columns="start"), counted.drop(columns="start"))


@pytest.fixture(scope="module")
def in_order(table):
    return replay(table, "week", ("bayesian", "disagreement"))


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_order_of_rows_does_not_matter(seed, table, in_order):
    shuffled = table.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(replay(shuffled, "week", ("bayesian", "disagreement")), in_order)


def test_no_vote_sees_its_own_label_or_a_later_one(table):
    late = pd.to_datetime(table["timestamp"]) >= MONDAY + pd.Timedelta(days=7 * 5)
    turned = table.assign(truth=table["truth"] ^ late)
    for name in ("bayesian", "hybrid"):
        before, after = (
            replay(each, "week", (name,)).query("estimator == @name and period >= 1 and period <= 6")
            for each in (table, turned)
        )
        # Truths are turned from the sixth period on; what is said in it is the same, and so as often wrong as right.
        sixth = before[before["period"] == 6]["accuracy"] + after[after["period"] == 6]["accuracy"]
        np.testing.assert_allclose(sixth, 1)
        earlier = [each[each["period"] < 6]["accuracy"].to_numpy() for each in (before, after)]
        np.testing.assert_array_equal(*earlier)


def test_a_response_is_voted_on_when_its_last_verdict_is_there(table):
    late = (table["item_id"] == "00-00") & (table["judge"] == table["judge"].min())
    moved = table.assign(timestamp=table["timestamp"].mask(late, "2026-03-10T00:00Z"))
    counts = replay(moved, "week", ()).query("rule == 'majority'")["n_responses"].tolist()
    assert counts == [480, 39, 41, *[40] * 10]


def test_empty_periods_have_rows_without_values_and_change_nothing_that_is_not_forgotten(table):
    moment = pd.to_datetime(table["timestamp"])
    late = moment >= MONDAY + pd.Timedelta(days=7 * 6)
    gap = table.assign(timestamp=moment + pd.to_timedelta(np.where(late, 14, 0), unit="D"))
    plain, found = (replay(each, "week", ALL) for each in (table, gap))
    empty = found[found["period"].isin([7, 8])]
    assert (empty["n_responses"] == 0).all()
    assert empty[["accuracy", "low", "high", "fpr", "difference_to_majority", "abstained"]].isna().all(axis=None)
    rest = found[~found["period"].isin([7, 8])].reset_index(drop=True)
    np.testing.assert_allclose(rest["accuracy"], plain["accuracy"], atol=1e-9)
    forgetful = replay(gap, "week", ("disagreement",), Scenario(forgetting=Forgetting(window=2)))
    ninth = forgetful.query("period == 9 and estimator == 'disagreement'")["accuracy"]
    assert ninth.notna().all()


def test_responses_without_a_time_are_left_out_and_counted(table):
    lost = table["item_id"].isin(["00-00", "03-07"])
    part = table["item_id"].eq("05-05") & table["judge"].eq("judge2")
    frame = replay(table.assign(timestamp=table["timestamp"].mask(lost | part)), "week", ("bayesian",))
    assert (frame["left_out"] == 2).all()
    assert frame.query("rule == 'majority' and period == 0")["n_responses"].item() == 478
    assert replay(table.assign(timestamp=None), "week").empty


def test_unknown_truths_are_voted_on_but_not_measured(table):
    unknown = table["item_id"].str.startswith("00-0")
    frame = replay(table.assign(truth=table["truth"].astype("boolean").mask(unknown)), "week", ("dawid_skene",))
    first = frame.query("period == 1").iloc[0]
    assert (first["n_responses"], first["n_known"], first["n_labels"]) == (40, 30, 30)
    none = replay(table.assign(truth=pd.NA), "week", ALL)
    assert none["accuracy"].isna().all()
    assert (none["n_responses"] > 0).all()


def test_fewer_labels_than_truths_if_asked(table):
    frame = replay(table, "week", ("bayesian",), labels_per_period=8)
    assert frame.query("rule == 'majority'")["n_labels"].tolist() == [96, *[8] * 12]
    none = replay(table, "week", ("bayesian",), labels_per_period=0).query("rule == 'wmv' and weights == 'linear'")
    plain = replay(table, "week", ("bayesian",)).query("rule == 'wmv' and weights == 'linear'")
    assert none["accuracy"].iloc[1] == plain["accuracy"].iloc[1]
    assert none["accuracy"].iloc[0] != plain["accuracy"].iloc[0]


def test_one_period_is_all_of_them(table):
    one = replay(table, 1000, ("bayesian", "dawid_skene"))
    assert set(one["period"]) == {0, 1}
    values = [
        one[one["period"] == period].drop(columns=["period", "start"]).reset_index(drop=True) for period in (0, 1)
    ]
    pd.testing.assert_frame_equal(*values)


def test_repeats_of_one_item_count_once_where_they_agree(table):
    several = pd.concat([table.assign(examinee=name) for name in ("x", "y", "z")])
    few, many = (replay(each, "week", ()).query("rule == 'majority'") for each in (table, several))
    np.testing.assert_allclose(few["accuracy"], many["accuracy"])
    width = [(each["high"] - each["low"]).to_numpy() for each in (few, many)]
    assert (width[1] > 0.9 * width[0]).all()


def test_the_column_and_estimators_must_be_there(table):
    with pytest.raises(UserError, match="no column 'when'"):
        replay(table, timestamp="when")
    with pytest.raises(UserError, match="unknown estimator psychic"):
        replay(table, estimators=("psychic",))


def test_no_verdicts_no_rows(table):
    assert list(replay(table[:0]).columns) == list(COLUMNS["replay"])
