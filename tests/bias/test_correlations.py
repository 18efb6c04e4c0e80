"""Correlations of skill and bias over judges and examinees."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from voirdire.bias import correlation_points, correlations, rates_by_examinee, task_accuracy
from voirdire.bias.correlations import CORRELATION_COLUMNS, POINT_COLUMNS, TABLES


def chosen(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


@pytest.fixture(scope="module")
def verdicts(random_table):
    return random_table(11, n_items=40)


def quantities(verdicts, task):
    """Judge × examinee tables of accuracy and bias, and task accuracy, from the tables that are published."""
    pooling = "task_mean" if task == "all" else "none"
    cells = chosen(rates_by_examinee(verdicts, resamples=10), reading="main", task=task, pooling=pooling)
    cells = cells[cells["judge"] != "all"]
    own = chosen(task_accuracy(verdicts, resamples=10), task=task).set_index("examinee")["accuracy"]
    return cells.pivot(index="judge", columns="examinee"), own


@pytest.mark.parametrize("task", ["aime", "gsm8k", "all"])
@pytest.mark.parametrize("table", list(TABLES))
def test_r_is_that_of_the_published_rates(verdicts, table, task):
    cells, own = quantities(verdicts, task)
    result = chosen(correlations(verdicts, resamples=10), table=table, task=task)
    for anchor in own.index:
        accuracy = cells["accuracy"][anchor]
        x, y = {
            6: (own, accuracy),
            7: (own, cells["bias"][anchor]),
            8: (accuracy, cells["bias"][anchor]),
            9: (own, cells["bias"].loc[anchor]),
        }[table]
        others = own.index != anchor
        for self_point, left_out, keep in (
            ("with", "", np.ones(4, bool)),
            ("without", "", others),
            ("with", own.index[0], own.index != own.index[0]),
        ):
            row = chosen(result, anchor=anchor, self_point=self_point, left_out=left_out).iloc[0]
            assert row["n"] == keep.sum()
            assert row["r"] == pytest.approx(pearsonr(x[keep], y[keep]).statistic, abs=1e-9)


@pytest.mark.parametrize("table", list(TABLES))
def test_over_verdicts_r_is_that_of_all_tasks_verdicts_together(verdicts, table):
    uneven = verdicts[(verdicts["task"] == "gsm8k") | verdicts["item_id"].isin([f"item-{i}" for i in range(9)])]
    together = uneven.assign(item_id=uneven["task"] + uneven["item_id"], task="any")
    columns = ["table", "anchor", "self_point", "left_out"]
    found = chosen(correlations(uneven, resamples=5), table=table, task="all").set_index(columns)
    expected = chosen(correlations(together, resamples=5), table=table, task="any").set_index(columns)
    for name in ("r", "low", "high", "p"):
        pd.testing.assert_series_equal(found[f"verdicts_{name}"], expected[name], check_names=False, rtol=1e-9)
    assert not np.allclose(found["verdicts_r"], found["r"])


def test_over_verdicts_there_is_but_one_r(verdicts):
    result = correlations(verdicts, resamples=5)
    assert result.loc[result["task"] != "all", ["verdicts_r", "verdicts_low", "verdicts_p"]].isna().all(axis=None)
    assert not result.duplicated(["table", "anchor", "task", "self_point", "left_out"]).any()


def test_each_model_is_left_out_once(verdicts):
    result = chosen(correlations(verdicts, resamples=10), table=7, task="all", anchor="bob")
    assert chosen(result, self_point="with")["left_out"].tolist() == ["", "ann", "bob", "cas", "dee"]
    assert chosen(result, self_point="without")["left_out"].tolist() == ["", "ann", "cas", "dee"]


def test_anchor_and_axes_are_named(verdicts):
    result = correlations(verdicts, resamples=10)
    assert set(chosen(result, table=9)["anchor_role"]) == {"judge"}
    assert set(chosen(result, table=6)["anchor_role"]) == {"examinee"}
    first = chosen(result, table=8).iloc[0]
    assert (first["x"], first["y"], first["over"]) == ("judge_accuracy", "bias", "judges")
    assert "algebraic" in first["note"]


def test_points_are_what_is_correlated(verdicts):
    points = chosen(correlation_points(verdicts), table=9, task="gsm8k", anchor="cas")
    row = chosen(
        correlations(verdicts, resamples=10), table=9, task="gsm8k", anchor="cas", self_point="with", left_out=""
    )
    assert points["is_self"].tolist() == [False, False, True, False]
    assert row["r"].iloc[0] == pytest.approx(np.corrcoef(points["x"], points["y"])[0, 1])


def test_planted_leniency_of_weak_judges_is_found(table):
    rng = np.random.default_rng(0)
    skill = {"ann": 0.9, "bob": 0.7, "cas": 0.5, "dee": 0.3, "eve": 0.1}
    rows = [
        (f"item-{i}", judge, examinee, rng.random() < (1 - skill[judge]))
        for i in range(400)
        for examinee in skill
        for judge in skill
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "judge", "examinee", "verdict"])
    right = {(f"item-{i}", examinee): rng.random() < share for i in range(400) for examinee, share in skill.items()}
    frame["truth"] = [right[key] for key in zip(frame["item_id"], frame["examinee"], strict=True)]
    result = chosen(
        correlations(frame.assign(task="gsm8k"), resamples=200), table=7, task="all", self_point="with", left_out=""
    )
    assert (result["r"] < -0.95).all()
    assert (result["boot_high"] < -0.9).all()
    assert (result["p"] <= 2 / 120 + 1e-9).all()


def test_judges_without_a_task_accuracy_are_dropped_by_name(verdicts):
    judges = verdicts[verdicts["examinee"] != "dee"]
    row = chosen(
        correlations(judges, resamples=10), table=6, task="all", anchor="ann", self_point="with", left_out=""
    ).iloc[0]
    assert row["n"] == 3
    assert row["reason"] == "no task accuracy: dee"


def test_two_judges_have_no_correlation_and_the_reason(verdicts):
    pair = verdicts[verdicts["judge"].isin(["ann", "bob"])]
    row = chosen(correlations(pair, resamples=10), table=8, task="all", self_point="with", left_out="").iloc[0]
    assert np.isnan([row["r"], row["low"], row["boot_low"], row["p"]]).all()
    assert row["reason"] == "fewer than 3 points (n = 2)"


def test_constant_verdicts_have_no_spread(verdicts):
    constant = verdicts.assign(verdict=verdicts["verdict"].where(verdicts["verdict"].isna(), True))
    row = chosen(
        correlations(constant, resamples=10), table=7, task="all", anchor="ann", self_point="with", left_out=""
    ).iloc[0]
    assert np.isnan(row["r"])
    assert row["reason"] == "bias is constant"


def test_a_constant_task_accuracy_is_called_by_its_name(verdicts):
    right = verdicts.assign(truth=True)
    table = correlations(right, resamples=10)
    row = chosen(table, table=6, task="all", anchor="ann", self_point="with", left_out="").iloc[0]
    assert row["reason"] == "task_accuracy is constant"


def test_without_a_model_in_both_roles_tables_6_and_7_are_absent(verdicts):
    panel = verdicts[verdicts["judge"].isin(["ann", "bob"]) & verdicts["examinee"].isin(["cas", "dee"])]
    assert set(correlations(panel, resamples=10)["table"]) == {8, 9}
    assert set(correlation_points(panel)["table"]) == {8, 9}


def test_no_verdicts_give_tables_without_rows(verdicts):
    assert list(correlations(verdicts.iloc[:0]).columns) == CORRELATION_COLUMNS
    assert list(correlation_points(verdicts.iloc[:0]).columns) == POINT_COLUMNS


def test_only_the_main_condition_is_read(verdicts):
    flipped = verdicts.assign(condition="elite", verdict=~verdicts["verdict"])
    both = pd.concat([verdicts, flipped], ignore_index=True)
    pd.testing.assert_frame_equal(correlations(both, resamples=20), correlations(verdicts, resamples=20))
