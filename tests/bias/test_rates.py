"""Rates of judges and examinees, with intervals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tails import squares_added, tails_interval

from voirdire.bias import rates, rates_by_examinee, task_accuracy
from voirdire.bias.rates import ACCURACY_COLUMNS, METRICS, RATE_COLUMNS

quick = settings(max_examples=6)


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def by_hand(rows):
    """The metrics of verdict rows, by plain pandas; NaN of an empty mean is wanted."""
    rows = rows[(rows["status"] == "ok") & rows["truth"].notna()]
    wrong, right = rows[rows["truth"] == 0], rows[rows["truth"] == 1]
    fpr = (wrong["verdict"] == 1).mean() if len(wrong) else np.nan
    fnr = (right["verdict"] == 0).mean() if len(right) else np.nan
    accuracy = (rows["verdict"] == rows["truth"]).mean() if len(rows) else np.nan
    return {"accuracy": accuracy, "fpr": fpr, "fnr": fnr, "bias": fpr - fnr, "balanced_accuracy": 1 - (fpr + fnr) / 2}


@quick
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.9]))
def test_point_estimates_equal_direct_calculation(random_table, seed, missing):
    frame = random_table(seed, n_items=5, models=("ann", "bob", "cas"), missing=missing)
    tidy = rates_by_examinee(frame, resamples=20)
    main = tidy[tidy["reading"] == "main"]
    for _, row in main[main["pooling"] == "none"].iterrows():
        rows = frame[(frame["task"] == row["task"]) & (frame["examinee"] == row["examinee"])]
        rows = rows if row["judge"] == "all" else rows[rows["judge"] == row["judge"]]
        for metric, value in by_hand(rows).items():
            assert row[metric] == pytest.approx(value, abs=1e-9, nan_ok=True)
    for _, row in main[main["pooling"] == "task_mean"].iterrows():
        tasks = main[
            (main["pooling"] == "none") & (main["judge"] == row["judge"]) & (main["examinee"] == row["examinee"])
        ]
        for metric in METRICS:
            assert row[metric] == pytest.approx(tasks[metric].mean(), abs=1e-9, nan_ok=True)


@quick
@given(st.integers(0, 10_000))
def test_estimates_lie_in_their_intervals_and_shares_in_range(random_table, seed):
    frame = random_table(seed, n_items=4, models=("ann", "bob", "cas"), missing=0.5)
    tidy = pd.concat([rates(frame, resamples=50), rates_by_examinee(frame, resamples=50)])
    for metric in METRICS:
        known = tidy[tidy[metric].notna()]
        assert known[[f"{metric}_low", f"{metric}_high"]].notna().all(axis=None)
        small = ~known["interval"].str.contains("percentile")  # a percentile interval of 50 resamples may miss
        assert (known[f"{metric}_low"] <= known[metric] + 1e-12)[small].all()
        assert (known[f"{metric}_high"] >= known[metric] - 1e-12)[small].all()
        floor = -1 if metric == "bias" else 0
        assert known[[f"{metric}_low", f"{metric}_high"]].ge(floor - 1e-12).all(axis=None)
        assert known[[f"{metric}_low", f"{metric}_high"]].le(1 + 1e-12).all(axis=None)


def test_verdicts_pooled_over_tasks_are_counted_together(random_table):
    frame = random_table(7, n_items=20)
    tidy = rates(frame, resamples=50)
    row = one(tidy, reading="main", pooling="verdicts", judge="bob")
    for metric, value in by_hand(frame[frame["judge"] == "bob"]).items():
        assert row[metric] == pytest.approx(value, abs=1e-9)


def test_few_errors_get_the_interval_of_binomial_tails_and_the_squares_of_two_added(table):
    frame = table(verdict=[True] * 2 + [False] * 7 + [True] * 5 + [False], truth=[False] * 9 + [True] * 6)
    row = one(rates(frame), task="gsm8k", judge="ann", reading="main")
    assert (row["fpr_low"], row["fpr_high"]) == pytest.approx(tails_interval(2, 9), abs=1e-9)
    assert (row["fnr_low"], row["fnr_high"]) == pytest.approx(tails_interval(1, 6), abs=1e-9)
    assert (row["bias_low"], row["bias_high"]) == pytest.approx(squares_added((2, 9), (1, 6)), abs=1e-9)
    assert row["interval"] == "mid-p: accuracy fpr fnr; mover: bias balanced_accuracy"


def test_many_errors_get_the_percentile_bootstrap(table):
    rng = np.random.default_rng(0)
    frame = table(verdict=rng.random(1000) < 0.5, truth=rng.random(1000) < 0.5)
    row = one(rates(frame), task="gsm8k", judge="ann", reading="main")
    assert row["interval"] == "percentile"
    se = np.sqrt(row["fpr"] * (1 - row["fpr"]) / row["n_wrong"])
    assert (row["fpr_low"], row["fpr_high"]) == pytest.approx(
        (row["fpr"] - 1.96 * se, row["fpr"] + 1.96 * se), abs=0.01
    )


def test_repeats_of_an_item_do_not_shorten_an_interval(table):
    rng = np.random.default_rng(0)
    once = table(verdict=rng.random(100) < 0.4, truth=[False] * 100)
    repeated = pd.concat([once.assign(trial=trial) for trial in range(5)])
    first, second = (one(rates(f), pooling="none", judge="ann", reading="main") for f in (once, repeated))
    assert second["n_wrong"] == 500
    assert second["fpr_high"] - second["fpr_low"] == pytest.approx(first["fpr_high"] - first["fpr_low"], rel=1e-9)


@pytest.mark.parametrize(
    ("verdict", "truth", "fpr", "fnr", "accuracy"),
    [
        ([True], [False], 1.0, np.nan, 0.0),
        ([True, True], [True, True], np.nan, 0.0, 1.0),
        ([True, False], [False, False], 0.5, np.nan, 0.5),
        ([True, True], [True, False], 1.0, 0.0, 0.5),
        ([False, False, False], [True, False, False], 0.0, 1.0, 2 / 3),
    ],
    ids=["one wrong answer", "all right", "all wrong, n = 2", "always accepts", "always rejects"],
)
def test_no_denominator_no_rate(table, verdict, truth, fpr, fnr, accuracy):
    tidy = rates(table(verdict=verdict, truth=truth))
    assert set(tidy["pooling"]) == {"none", "task_mean", "verdicts"}
    for metric, value in (("fpr", fpr), ("fnr", fnr), ("bias", fpr - fnr), ("accuracy", accuracy)):
        assert tidy[metric].to_list() == pytest.approx([value] * len(tidy), nan_ok=True)
        assert tidy[f"{metric}_low"].isna().all() == np.isnan(value)


def test_one_always_accepted_wrong_answer_has_a_wide_interval(table):
    row = one(rates(table(verdict=[True], truth=[False])), pooling="none", judge="ann", reading="main")
    assert row["fpr_high"] == 1
    assert row["fpr_low"] == pytest.approx(0.025 / 0.7)


def test_a_task_without_a_denominator_is_left_out_of_the_mean_and_counted(table):
    frame = table(
        verdict=[True, True, False, True], truth=[True, False, False, True], task=["gsm8k", "gsm8k", "gsm8k", "aime"]
    )
    row = one(rates(frame), pooling="task_mean", judge="ann", reading="main")
    assert row["fpr"] == 0.5
    assert row["n_tasks"] == 1
    assert row["accuracy"] == pytest.approx((2 / 3 + 1) / 2)


def test_task_means_of_small_tasks_square_and_add(table):
    frame = table(
        verdict=[True, False, False, False, True, True, False],
        truth=[False] * 7,
        task=["aime"] * 4 + ["gsm8k"] * 3,
    )
    row = one(rates(frame), pooling="task_mean", judge="ann", reading="main")
    (low1, high1), (low2, high2) = (tails_interval(k, n) for k, n in ((1, 4), (2, 3)))
    mean = (1 / 4 + 2 / 3) / 2
    assert row["fpr"] == pytest.approx(mean)
    assert row["fpr_low"] == pytest.approx(mean - np.hypot(1 / 4 - low1, 2 / 3 - low2) / 2)
    assert row["fpr_high"] == pytest.approx(mean + np.hypot(high1 - 1 / 4, high2 - 2 / 3) / 2)
    assert row["interval"].startswith("mover")


def test_readings_take_every_failed_verdict_as_correct_or_as_incorrect(table):
    frame = table(
        verdict=[True, False, None, None],
        truth=[False, False, False, False],
        status=["ok", "ok", "unparsed", "refused"],
    )
    tidy = rates(frame)
    fpr = {r: one(tidy, pooling="none", judge="ann", reading=r)["fpr"] for r in tidy["reading"].unique()}
    assert fpr == {"main": 0.5, "not_ok_correct": 0.75, "not_ok_incorrect": 0.25}


def test_every_call_is_counted_or_said_to_be_left_out(table):
    frame = table(
        verdict=[True, False, None, None, True, None, None],
        truth=[False, True, False, True, None, None, None],
        status=["ok", "ok", "unparsed", "refused", "ok", "error", None],
        generation_status=["ok"] * 6 + ["truncated"],
    )
    for tidy in (rates(frame), rates_by_examinee(frame)):
        for pooling in ("none", "task_mean", "verdicts"):
            left = {
                reading: one(tidy, pooling=pooling, judge="ann", reading=reading)[
                    ["n_right", "n_wrong", "n_not_ok", "n_not_judged", "n_truth_missing"]
                ].tolist()
                for reading in ("main", "not_ok_correct")
            }
            assert left == {"main": [1, 1, 3, 1, 1], "not_ok_correct": [2, 2, 0, 1, 2]}


def test_calls_left_out_add_up_over_judges_examinees_and_tasks(random_table):
    frame = random_table(3)
    for tidy in (rates(frame, resamples=5), rates_by_examinee(frame, resamples=5)):
        calls = tidy[["n_right", "n_wrong", "n_not_ok", "n_not_judged", "n_truth_missing"]].sum(axis=1)
        rows = tidy.assign(calls=calls)
        whole = rows[(rows["judge"] == "all") & (rows["task"] == "all")]
        assert (whole.groupby(["reading", "pooling"])["calls"].sum() == len(frame)).all()
        parts = rows[(rows["judge"] != "all") & (rows["task"] != "all")]
        assert (parts.groupby("reading")["calls"].sum() == len(frame)).all()


def test_conditions_are_kept_apart(table):
    frame = table(verdict=[True, False], truth=[False, False], condition=["blind", "elite"], item_id=["a", "a"])
    tidy = rates(frame)
    assert one(tidy, condition="blind", pooling="none", judge="ann", reading="main")["fpr"] == 1
    assert one(tidy, condition="elite", pooling="none", judge="ann", reading="main")["fpr"] == 0


def test_simulated_rows_are_marked_as_far_as_they_reach(table):
    frame = table(verdict=[True, True], truth=[True, True], judge=["ann", "cas"], simulated=[False, True])
    tidy = rates(frame)
    marks = tidy[tidy["pooling"] == "none"].groupby("judge")["simulated"].any()
    assert marks.to_dict() == {"ann": False, "cas": True, "all": True}


def test_the_same_seed_gives_the_same_table(random_table):
    frame = random_table(8)
    pd.testing.assert_frame_equal(rates(frame, seed=1), rates(frame.sample(frac=1, random_state=0), seed=1))


def test_no_verdicts_give_a_table_without_rows(table):
    nothing = table(verdict=[True], truth=[True]).iloc[:0]
    assert list(rates(nothing).columns) == RATE_COLUMNS
    assert list(rates_by_examinee(nothing).columns) == RATE_COLUMNS
    assert list(task_accuracy(nothing).columns) == ACCURACY_COLUMNS


def test_task_accuracy_counts_each_response_once_and_shows_the_failed_ones(table):
    frame = table(
        verdict=[True, None, True, True, None],
        truth=[True, True, True, False, None],
        item_id=["a", "a", "b", "c", "d"],
        judge=["ann", "cas", "ann", "ann", "ann"],
        status=["ok", "error", "ok", "ok", None],
        generation_status=["ok", "ok", "ok", "ok", "refused"],
    )
    for task in ("gsm8k", "all"):
        row = one(task_accuracy(frame), task=task)
        assert (row["n"], row["n_right"], row["n_not_ok"]) == (3, 2, 1)
        assert row["accuracy"] == pytest.approx(2 / 3)
        assert row["accuracy_counting_not_ok_wrong"] == pytest.approx(0.5)
        assert (row["accuracy_low"], row["accuracy_high"]) == pytest.approx(tails_interval(2, 3))


def test_rates_of_real_judges_are_the_published_ones(shared_data):
    verdicts = pd.read_parquet(shared_data / "verdicts" / "nus_feedback.parquet")
    tidy = rates(verdicts)
    judges = tidy[(tidy["reading"] == "main") & (tidy["pooling"] == "none") & (tidy["judge"] != "all")]
    assert len(judges) == 14
    # The largest is .8648, which the data's description rounds up.
    assert (judges["fpr"].min().round(2), judges["fpr"].max().round(2)) == (0.46, 0.86)
    assert (judges["fnr"].min().round(2), judges["fnr"].max().round(2)) == (0.02, 0.16)
    truth = verdicts.drop_duplicates(["item_id", "examinee"])["truth"]
    accuracy = task_accuracy(verdicts).query("task == 'all'")
    assert accuracy["n_right"].sum() / accuracy["n"].sum() == pytest.approx(truth.mean())
    assert truth.mean() == pytest.approx(0.924, abs=5e-4)


def test_the_cluster_column_of_real_verdicts_is_respected(shared_data):
    verdicts = pd.read_parquet(shared_data / "verdicts" / "nus_feedback.parquet")
    clustered, unclustered = (
        one(rates(v), judge="gpt-4o", reading="main", pooling="none")
        for v in (verdicts, verdicts.drop(columns="cluster"))
    )
    assert clustered["fnr"] == unclustered["fnr"]
    widths = [row["fnr_high"] - row["fnr_low"] for row in (clustered, unclustered)]
    assert widths[0] > 1.2 * widths[1]
