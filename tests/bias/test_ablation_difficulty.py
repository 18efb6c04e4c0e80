"""Leniency with own errors on hard, medium and easy items."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire.bias import ablation_difficulty
from voirdire.bias.ablation_difficulty import DIFFICULTY_COLUMNS, _binned
from voirdire.bias.rows import prepared, responses_of
from voirdire.stats.intervals import proportions_difference

MODELS = ("ann", "bob", "cas", "dee")


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def study(gap, n=300, seed=0, strictness=None, ability=(0.5,) * 4):
    """Judges that accept half of others' errors and `gap[bin]` more of their own; difficulty as it falls out."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 4)) < np.array(ability)
    share = truth.mean(axis=1)
    own = np.select([share < 0.33, share < 0.67], [gap["hard"], gap["medium"]], gap["easy"])
    frames = []
    for j, judge in enumerate(MODELS):
        for e, examinee in enumerate(MODELS):
            accept = (strictness or {}).get(judge, 0.5) + own * (j == e)
            verdict = rng.random(n) < np.where(truth[:, e], 0.9, accept)
            frames.append(
                pd.DataFrame({"item_id": [f"item-{i}" for i in range(n)], "verdict": verdict, "truth": truth[:, e]})
                .assign(task="gsm8k", judge=judge, examinee=examinee)
            )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


NONE = {"hard": 0.0, "medium": 0.0, "easy": 0.0}


@pytest.mark.parametrize(
    ("right", "of", "name"),
    [
        (0, 3, "hard"),
        (1, 3, "medium"),
        (2, 3, "medium"),
        (3, 3, "easy"),
        (32, 100, "hard"),
        (33, 100, "medium"),
        (66, 100, "medium"),
        (67, 100, "easy"),
    ],
)
def test_bins_are_cut_literally(right, of, name):
    frame = pd.DataFrame({"examinee": [f"m{i}" for i in range(of)], "truth": [i < right for i in range(of)]})
    rows = prepared(frame.assign(task="gsm8k", item_id="item-0", judge="m0", verdict=True))
    binned, sizes = _binned(rows, responses_of(rows))
    assert set(binned["bin"]) == {name}
    assert sizes["gsm8k", name] == 1


def test_gap_is_own_fpr_less_the_mean_of_the_fprs_on_others(random_table):
    frame = random_table(1, n_items=30)
    result = ablation_difficulty(frame, resamples=20)
    ok = frame[(frame["status"] == "ok") & frame["truth"].notna()].astype({"verdict": float, "truth": float})
    responses = frame.drop_duplicates(["task", "item_id", "examinee"]).astype({"truth": float})
    share = responses.groupby(["task", "item_id"])["truth"].mean().rename("share")
    ok = ok.join(share, on=["task", "item_id"])
    ok["bin"] = np.select([ok["share"] < 0.33, ok["share"] < 0.67], ["hard", "medium"], "easy")
    wrong = ok[ok["truth"] == 0]
    checked = 0
    for (task, judge, name), rows in wrong.groupby(["task", "judge", "bin"]):
        row = one(result, task=task, judge=judge, bin=name)
        fpr = rows.groupby("examinee")["verdict"].mean()
        assert row["n_own"] == (rows["examinee"] == judge).sum()
        assert row["n_other"] == (rows["examinee"] != judge).sum()
        assert row["gap"] == pytest.approx(
            fpr.get(judge, np.nan) - fpr.drop(judge, errors="ignore").mean(), nan_ok=True
        )
        checked += 1
    assert checked > 12


def test_all_judges_weigh_each_own_wrong_response_once_and_all_tasks_are_a_mean(random_table):
    result = ablation_difficulty(random_table(2, n_items=40, missing=0), resamples=20)
    for (task, name), rows in result[result["task"] != "all"].groupby(["task", "bin"]):
        judges = rows[(rows["judge"] != "all")].dropna(subset=["gap"])
        expected = np.average(judges["gap"], weights=judges["n_own"])
        assert one(rows, task=task, bin=name, judge="all")["gap"] == pytest.approx(expected)
    for (judge, name), rows in result.groupby(["judge", "bin"]):
        mean = rows.loc[rows["task"] != "all", "gap"].mean()
        assert one(rows, task="all", judge=judge, bin=name)["gap"] == pytest.approx(mean, nan_ok=True)


def test_planted_gap_is_recovered_in_its_bin():
    gap = {"hard": 0.4, "medium": 0.2, "easy": 0.0}
    result = ablation_difficulty(study(gap, 1200), resamples=300)
    for name, value in gap.items():
        row = one(result, task="gsm8k", judge="all", bin=name)
        assert row["low"] < value < row["high"]
        assert row["high"] - row["low"] < 0.25


def test_lenient_weak_judges_do_not_pass_for_self_preference():
    # Dee is weak (many own errors) and lenient with everybody: throwing verdicts together shows a gap, the table none.
    frame = study(NONE, 1000, strictness={"dee": 0.9, "ann": 0.2}, ability=(0.8, 0.7, 0.6, 0.2))
    row = one(ablation_difficulty(frame, resamples=300), task="gsm8k", judge="all", bin="medium")
    wrong = frame[~frame["truth"]]
    own = wrong["judge"] == wrong["examinee"]
    assert wrong.loc[own, "verdict"].mean() - wrong.loc[~own, "verdict"].mean() > 0.1
    assert row["low"] < 0 < row["high"]
    assert abs(row["gap"]) < 0.06


def test_small_counts_add_the_squares_of_their_intervals():
    frame = study(NONE, 12, seed=3)[lambda t: t["examinee"].isin(["ann", "bob"])]
    row = one(ablation_difficulty(frame, resamples=50), task="gsm8k", judge="ann", bin="medium")
    own, other = row["own"] * row["n_own"], row["other_value"] * row["n_other"]
    low, high = proportions_difference(own, row["n_own"], other, row["n_other"])
    assert (row["low"], row["high"], row["interval"]) == pytest.approx((low, high, "mover"))


def test_null_gap_is_covered():
    covered = []
    for seed in range(15):
        rows = ablation_difficulty(study(NONE, 40, seed=seed), resamples=100)
        rows = rows[(rows["task"] == "gsm8k") & rows["gap"].notna()]
        covered.append((rows["low"] <= 0) & (rows["high"] >= 0))
    # Some 200 dependent intervals: the 99.9 % binomial range of 75 independent ones.
    mean = pd.concat(covered).mean()
    assert mean >= 0.95 + stats.norm.ppf(0.0005) * np.sqrt(0.05 * 0.95 / 75)


def test_no_own_wrong_response_is_nan_with_a_reason():
    frame = study(NONE, 30)
    frame.loc[frame["examinee"] == "ann", "truth"] = True
    rows = ablation_difficulty(frame, resamples=20).query("judge == 'ann'")
    assert rows["gap"].isna().all()
    assert (rows["reason"] == "no own wrong response in the bin").all()


def test_one_item_gives_a_full_table():
    result = ablation_difficulty(study(NONE, 1), resamples=20)
    assert len(result) == 2 * 5 * 3
    assert result["n_items"].sum() == 2 * 5


@pytest.mark.parametrize("rows", [0, None])
def test_without_a_diagonal_there_are_no_rows_but_all_columns(rows):
    frame = study(NONE, 5)[lambda t: (t["judge"] == "ann") & (t["examinee"] != "ann")].iloc[:rows]
    result = ablation_difficulty(frame)
    assert len(result) == 0
    assert result.columns.tolist() == DIFFICULTY_COLUMNS
