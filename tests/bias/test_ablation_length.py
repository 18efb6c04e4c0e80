"""Length of accepted and rejected wrong responses."""

import numpy as np
import pandas as pd
import pytest

from voirdire.bias import ablation_length
from voirdire.bias.ablation_length import LENGTH_COLUMNS, _influence
from voirdire.stats.effect import cohen_d_from_moments, cohen_d_interval


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def cohen_d(x, y):
    """d and its noncentral-t interval."""
    d = float(cohen_d_from_moments(*((values**k).sum() for values in (x - y.mean(), y - y.mean()) for k in range(3))))
    return d, *cohen_d_interval(d, len(x), len(y))


def study(shift, n=400, judges=("ann", "cas"), task="gsm8k", seed=0):
    """Wrong responses whose length is `shift` standard deviations above the others' where they were accepted."""
    rng = np.random.default_rng(seed)
    frames = []
    for judge in judges:
        verdict = rng.random(n) < 0.4
        chars = np.rint(rng.normal(1000, 200, n) + 200 * shift * verdict).astype(int)
        frames.append(
            pd.DataFrame({"item_id": [f"{judge}-{i}" for i in range(n)], "verdict": verdict, "response_chars": chars})
            .assign(judge=judge, examinee="bob", task=task, truth=False)
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def test_d_is_cohens_over_wrong_responses_only():
    frame = study(0.5)
    frame.loc[::7, "truth"] = True
    row = one(ablation_length(frame, resamples=50), task="gsm8k", judge="ann")
    wrong = frame[(frame["judge"] == "ann") & ~frame["truth"]]
    accepted, rejected = (wrong.loc[wrong["verdict"] == verdict, "response_chars"] for verdict in (True, False))
    assert row["d"] == pytest.approx(cohen_d(accepted, rejected)[0], abs=1e-9)
    assert (row["n_accepted"], row["n_rejected"]) == (len(accepted), len(rejected))
    assert row["mean_chars_accepted"] == pytest.approx(accepted.mean())
    assert row["mean_chars_rejected"] == pytest.approx(rejected.mean())


def test_bootstrap_interval_is_close_to_the_noncentral_t():
    frame = study(0.5)
    row = one(ablation_length(frame), task="gsm8k", judge="ann")
    part = frame[frame["judge"] == "ann"]
    reference = cohen_d(*(part.loc[part["verdict"] == verdict, "response_chars"] for verdict in (True, False)))
    assert (row["low"], row["high"]) == pytest.approx(reference[1:], abs=0.03)


@pytest.mark.parametrize(("shift", "equivalent"), [(0.0, "yes"), (0.2, "undecided"), (0.6, "no"), (-0.6, "no")])
def test_equivalence_is_decided_by_the_interval(shift, equivalent):
    row = one(ablation_length(study(shift, 2500), resamples=200), task="gsm8k", judge="cas")
    assert row["low"] < shift < row["high"]
    assert row["equivalent"] == equivalent


def test_few_responses_get_a_noncentral_t_interval_and_no_verdict_of_equivalence():
    frame = study(0.0, 12, seed=1)
    row = one(ablation_length(frame, resamples=50), task="gsm8k", judge="ann")
    part = frame[frame["judge"] == "ann"]
    reference = cohen_d(*(part.loc[part["verdict"] == verdict, "response_chars"] for verdict in (True, False)))
    assert (row["low"], row["high"]) == pytest.approx(reference[1:], abs=1e-9)
    assert (row["interval"], row["equivalent"]) == ("noncentral t", "undecided")


def test_repeats_of_an_item_do_not_shrink_the_interval():
    for n in (12, 200):
        once = study(0.3, n, seed=1)
        four = pd.concat([once.assign(trial=trial) for trial in range(4)], ignore_index=True)
        one_row, four_row = (one(ablation_length(f, resamples=200), task="gsm8k", judge="ann") for f in (once, four))
        assert four_row["high"] - four_row["low"] >= 0.95 * (one_row["high"] - one_row["low"])


def test_all_judges_and_all_tasks_are_means():
    frame = pd.concat([study(0.5, 60), study(0.1, 40, task="aime", seed=2)], ignore_index=True)
    d = ablation_length(frame, resamples=50).pivot(index="task", columns="judge", values="d")
    assert d["all"].to_numpy() == pytest.approx(d[["ann", "cas"]].mean(axis=1).to_numpy())
    assert d.loc["all"].to_numpy() == pytest.approx(d.loc[["aime", "gsm8k"]].mean().to_numpy())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verdict": True}, "too few wrong responses: 0 rejected"),
        ({"verdict": False}, "too few wrong responses: 0 accepted"),
        ({"response_chars": 500}, "all lengths within a group are the same"),
    ],
)
def test_what_cannot_be_said_is_nan_undecided_and_has_a_reason(change, reason):
    result = ablation_length(study(0, 30).assign(**change), resamples=20)
    row = one(result, task="gsm8k", judge="ann")
    assert np.isnan([row["d"], row["low"], row["high"]]).all()
    assert (row["equivalent"], row["reason"]) == ("undecided", reason)
    assert one(result, task="all", judge="ann")["reason"] == "no task has a d"
    assert one(result, task="gsm8k", judge="all")["reason"] == "no judge has a d"


def test_one_item_gives_rows_with_reasons():
    result = ablation_length(study(0, 1), resamples=20)
    assert result["d"].isna().all()
    assert (result["reason"] != "").all()


def test_a_length_of_nan_is_left_out():
    frame = study(0.5, 60)
    extra = frame.assign(item_id=frame["item_id"] + "x", response_chars=np.nan)
    both = ablation_length(pd.concat([frame, extra]), resamples=20)
    assert both["d"].to_numpy() == pytest.approx(ablation_length(frame, resamples=20)["d"].to_numpy())


@pytest.mark.parametrize(
    "frame", [study(0, 10).drop(columns="response_chars"), study(0, 10).assign(truth=True), study(0, 10).iloc[:0]]
)
def test_without_wrong_responses_of_known_length_there_are_no_rows_but_all_columns(frame):
    result = ablation_length(frame)
    assert len(result) == 0
    assert result.columns.tolist() == LENGTH_COLUMNS


def test_the_influence_of_clusters_is_the_change_of_d_when_they_weigh_more():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, (2, 1, 30)).astype(float)
    totals = counts * rng.normal(size=(2, 1, 30))
    moments = [array for n, t in zip(counts, totals, strict=True) for array in (n, t, t**2 + n)]
    d = cohen_d_from_moments(*(moment.sum(axis=1) for moment in moments))
    for cluster in (0, 7, 29):
        weights = np.ones(30)
        weights[cluster] += 1e-6
        moved = cohen_d_from_moments(*((moment * weights).sum(axis=1) for moment in moments))
        influence = sum(_influence(moments, d))[0, cluster]
        # The n − 2 of the pooled spread is no sum over clusters: the influence takes it as fixed to first order.
        assert influence == pytest.approx((moved - d)[0] / 1e-6, abs=0.02)


@pytest.mark.parametrize("trials", [1, 6])
def test_the_intervals_width_is_that_of_as_many_items_whatever_the_repeats(trials):
    # All responses to an item are alike, so that repeats tell nothing new.
    frame = pd.concat([study(0.0, 60, seed=3).assign(trial=trial) for trial in range(trials)], ignore_index=True)
    row = one(ablation_length(frame, resamples=50), task="gsm8k", judge="ann")
    once = frame[(frame["judge"] == "ann") & (frame["trial"] == 0)]
    reference = cohen_d(*(once.loc[once["verdict"] == verdict, "response_chars"] for verdict in (True, False)))
    assert row["high"] - row["low"] == pytest.approx(reference[2] - reference[1], rel=0.15)
