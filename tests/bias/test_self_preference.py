"""Self-preference in its five versions, against slow direct calculations, by hand and with planted truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preferring import Direct, answered, chosen, one, planted, study
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from voirdire.bias import self_preference, self_preference_summary
from voirdire.bias.preference_counts import VERSIONS
from voirdire.bias.self_preference import COLUMNS
from voirdire.bias.self_preference_summary import SUMMARY_COLUMNS
from voirdire.stats.bootstrap import cluster_weights, task_seed


@given(seed=st.integers(0, 2**20), n_items=st.sampled_from([1, 2, 3, 8]), missing=st.sampled_from([0.0, 0.2, 0.6]))
@settings(max_examples=15)
def test_every_cell_equals_a_direct_calculation(random_table, seed, n_items, missing):
    frame = answered(random_table(seed, n_items=n_items, missing=missing), seed)
    result = self_preference(frame, resamples=20)
    assert set(result["version"]) == set(VERSIONS) or result.empty
    direct = {task: Direct(part) for task, part in frame.groupby("task")}
    for row in result[result["task"] != "all"].itertuples(index=False):
        (n_own, own), (n_other, other) = direct[row.task].own(row.judge, row.other, row.version, row.rate)
        assert (row.n_own, row.n_other) == (n_own, n_other)
        if n_own and n_other:
            assert [row.own, row.other_value] == pytest.approx([own, other], abs=1e-12)
        assert row.difference == pytest.approx(own - other, abs=1e-12, nan_ok=True)
        assert (row.reason == "") or np.isnan(row.p)


def test_pooled_is_the_mean_of_the_tasks_that_have_it(random_table):
    result = self_preference(answered(random_table(3, n_items=4)), resamples=20)
    keys = ["judge", "other", "version", "rate"]
    expected = result[result["task"] != "all"].groupby(keys)["difference"].mean()
    pooled = result[result["task"] == "all"].set_index(keys)["difference"]
    pd.testing.assert_series_equal(pooled.sort_index(), expected.sort_index(), check_exact=False)
    assert chosen(result, task="all")["reason"].str.contains("mean of 1 of 2 tasks, without").any()


def test_a_single_own_wrong_answer_is_shown_with_its_n():
    # GPT-5 on MBPP: accepts its only wrong answer, and 2 % of Llama's 98 wrong ones.
    rows = [("gpt", "item-0", False, True), ("llama", "item-0", True, True)]
    rows += [
        (model, f"item-{i}", model == "gpt", model == "gpt" or i <= 2)
        for i in range(1, 99)
        for model in ("gpt", "llama")
    ]
    frame = pd.DataFrame(rows, columns=["examinee", "item_id", "truth", "verdict"]).assign(task="mbpp", judge="gpt")
    row = one(self_preference(frame), task="mbpp", version="harmful", rate="fpr")
    assert (row["n_own"], row["n_other"]) == (1, 98)
    assert (row["own"], row["other_value"]) == pytest.approx((1.0, 2 / 98))
    assert row["interval"] != "percentile"
    assert 0 < row["low"] < row["difference"] < row["high"] <= 1
    assert row["p"] == pytest.approx(stats.fisher_exact([[1, 0], [2, 96]]).pvalue)


def test_harmful_fnr_is_about_right_responses_on_the_same_items():
    # item: judge's truth, other's truth, verdict on own, verdict on other's
    rows = [
        (True, False, False, True),
        (True, False, True, True),
        (False, True, True, False),
        (True, True, False, False),
    ]
    frame = pd.concat(
        pd.DataFrame({"item_id": [str(i)] * 2, "examinee": ["ann", "bob"], "truth": [a, b], "verdict": [c, d]})
        for i, (a, b, c, d) in enumerate(rows)
    ).assign(task="gsm8k", judge="ann")
    row = one(self_preference(frame, resamples=50), task="gsm8k", version="harmful", rate="fnr")
    # Own right where only bob is wrong: items 0 and 1, one rejected. Bob's right where only ann is: item 2, rejected.
    assert (row["n_own"], row["own"], row["n_other"], row["other_value"]) == (2, 0.5, 1, 1.0)


def test_matched_p_is_mcnemar_and_holm_is_within_task_rate_and_version():
    frame = planted(0, preference=0.15)
    result = self_preference(frame, resamples=50)
    wide = frame[frame["judge"] == "ann"].pivot(index="item_id", columns="examinee", values=["truth", "verdict"])
    wide = wide[~wide["truth"]["ann"].astype(bool) & ~wide["truth"]["bob"].astype(bool)]["verdict"]
    table = pd.crosstab(wide["ann"], wide["bob"])
    row = one(result, task="gsm8k", judge="ann", other="bob", version="matched", rate="fpr")
    assert row["n_own"] == row["n_other"] == len(wide)
    assert row["p"] == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-6)
    family = chosen(result, family="gsm8k fpr matched")
    assert len(family) == 6
    assert family["p_holm"].to_numpy() == pytest.approx(multipletests(family["p"], method="holm")[1])


def test_same_answer_compares_equal_wrong_answers_to_one_question_and_nothing_else():
    # item: the judge's answer and the other's, verdicts on them; all but the last two are wrong.
    rows = [
        ("18", "18", True, False),
        ("18", "18", True, True),
        ("18", "17", True, False),
        (None, None, True, False),
        ("18", "18", None, True),
        ("20", "20", True, True),
        ("18", "20", True, True),
    ]
    frame = pd.concat(
        pd.DataFrame({"item_id": [str(i)] * 2, "examinee": ["ann", "bob"], "answer": [a, b], "verdict": [c, d]})
        for i, (a, b, c, d) in enumerate(rows)
    ).assign(task="gsm8k", judge="ann")
    frame["truth"] = frame["answer"] == "20"
    frame["status"] = np.where(frame["verdict"].isna(), "refused", "ok")
    result = self_preference(frame, resamples=50)
    same, matched = (one(result, task="gsm8k", version=name, rate="fpr") for name in ("same_answer", "matched"))
    assert (same["n_own"], same["own"], same["n_other"], same["other_value"]) == (2, 1.0, 2, 0.5)
    assert matched["n_own"] == 4


def test_without_answers_only_that_version_is_missing_and_says_why():
    code = planted(0, 60).assign(task="mbpp", answer=None)
    frame = pd.concat([code, planted(1, 60)], ignore_index=True)
    result = chosen(self_preference(frame, resamples=20), version="same_answer")
    wrong, right = chosen(result, rate="fpr"), chosen(result, rate="fnr")
    assert set(chosen(wrong, task="mbpp")["reason"]) == {"mbpp: no answers to compare"}
    assert chosen(wrong, task="mbpp")[["n_own", "n_other"]].eq(0).all(axis=None)
    assert set(chosen(wrong, task="all")["reason"]) == {"mean of 1 of 2 tasks, without mbpp"}
    assert set(right["reason"]) == {"right answers are all the same: see matched"}
    assert right["difference"].isna().all()
    bare = self_preference(frame.drop(columns="answer"), resamples=20)
    pd.testing.assert_frame_equal(
        bare[bare["version"] != "same_answer"],
        self_preference(frame, resamples=20).query("version != 'same_answer'"),
    )
    assert set(chosen(bare, version="same_answer", task="all", rate="fpr")["reason"]) == {
        "no task has answers to compare"
    }


def test_intervals_are_the_percentiles_of_the_resampled_items():
    frame = planted(3, 4000, preference=0.1)
    result = self_preference(frame, resamples=300, seed=5)
    direct = Direct(frame.assign(status="ok"))
    items = sorted(frame["item_id"].unique())
    weights = cluster_weights(np.zeros(len(items)), 300, task_seed(5, "gsm8k"))
    for version in ("all", "matched", "same_answer", "adjusted"):
        row = one(result, task="gsm8k", judge="ann", other="bob", version=version, rate="fpr")
        sides = direct.values("ann", ("ann", "bob"), {"cas"}, version, "fpr")
        values = np.array([[side.get(item, np.nan) for item in items] for side in sides])
        rates = [weights @ np.nan_to_num(side) / (weights @ ~np.isnan(side)) for side in values]
        expected = np.percentile(rates[0] - rates[1], [2.5, 97.5])
        assert row["interval"] == "percentile"
        assert [row["low"], row["high"]] == pytest.approx(expected, abs=1e-9)


def test_p_of_large_samples_agrees_with_the_two_proportion_test():
    row = one(
        self_preference(planted(1, 1000, preference=0.05), resamples=50),
        task="gsm8k", judge="ann", other="bob", version="all", rate="fpr",
    )  # fmt: skip
    own, other, n1, n2 = row["own"], row["other_value"], row["n_own"], row["n_other"]
    shared = (own * n1 + other * n2) / (n1 + n2)
    z = (own - other) / np.sqrt(shared * (1 - shared) * (1 / n1 + 1 / n2))
    assert row["p"] == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.02)


def test_planted_preference_is_recovered_by_every_version():
    result = self_preference(planted(2, 1500, preference=0.2), resamples=300)
    rows = chosen(result, task="gsm8k", rate="fpr")
    assert rows.groupby("version")["difference"].mean().to_numpy() == pytest.approx([0.2] * 5, abs=0.03)
    assert (rows["p_holm"] < 0.01).mean() >= 0.9


def test_repeated_trials_do_not_shrink_the_interval():
    once = planted(4, 300, preference=0.1)
    thrice = pd.concat([once.assign(trial=trial) for trial in range(3)], ignore_index=True)
    first, third = (chosen(self_preference(frame, resamples=200), rate="fpr", task="gsm8k") for frame in (once, thrice))
    for column in ("low", "high", "difference", "p"):
        assert third[column].to_numpy() == pytest.approx(first[column].to_numpy(), abs=1e-9)


def test_clusters_are_respected():
    # Five items of one cluster that always go together are one observation, not five.
    once = planted(5, 60)
    five = pd.concat([once.assign(item_id=once["item_id"] + f"-{i}", cluster=once["item_id"]) for i in range(5)])
    keys = {"task": "gsm8k", "rate": "fpr"}
    first, fifth = (chosen(self_preference(frame, resamples=200), **keys) for frame in (once, five))
    widths = [(result["high"] - result["low"]).to_numpy() for result in (first, fifth)]
    assert (widths[1] >= 0.9 * widths[0] - 1e-9).all()
    both = (first["version"] != "adjusted").to_numpy()
    assert fifth["p"].to_numpy()[both] == pytest.approx(first["p"].to_numpy()[both], abs=1e-9)


def excludes_zero(frame):
    return (frame["low"] > 0) | (frame["high"] < 0)


def test_p_and_interval_say_the_same_where_models_fail_on_the_same_items():
    rows = pd.concat(self_preference(study(seed, 0.25), resamples=300) for seed in range(2))
    rows = rows[(rows["version"] == "all") & (rows["rate"] == "fpr")]
    for pooled in (True, False):
        part = rows[(rows["task"] == "all") == pooled]
        assert ((part["p"] < 0.05) != excludes_zero(part)).mean() < 0.15
        assert (part["p"] < 0.05).sum() >= 0.9 * excludes_zero(part).sum() > 0


def test_pooled_p_is_no_weaker_than_that_of_a_task_when_all_tasks_agree():
    rows = self_preference(study(1, 0.25), resamples=50)
    rows = rows[(rows["version"] == "all") & (rows["rate"] == "fpr")]
    tasks = rows[rows["task"] != "all"].pivot(index=["judge", "other"], columns="task", values=["difference", "p"])
    alike = (tasks["difference"] > 0.2).all(axis=1)
    pooled = rows[rows["task"] == "all"].set_index(["judge", "other"])["p"].reindex(tasks.index)
    assert alike.sum() >= 4
    assert (pooled <= tasks["p"].min(axis=1))[alike].all()


def test_pooled_p_is_1_where_the_large_task_points_the_other_way():
    # The mean of the tasks is above 0, the sum of their scores, ruled by the large one, below.
    frame = pd.concat([planted(0, 20, 0.6).assign(task="aime"), planted(1, 2000, -0.2).assign(task="gsm8k")])
    rows = chosen(self_preference(frame, resamples=20), task="all", version="all", rate="fpr")
    assert (rows.loc[rows["difference"] > 0.05, "p"] == 1).all()
    assert (rows["difference"] > 0.05).any()


def test_adjusted_interval_knows_that_raw_and_baseline_are_of_the_same_responses():
    # All judges agree on every response: whatever the raw difference, nothing is left once adjusted.
    frame = planted(14, 60)
    verdicts = frame.drop_duplicates(["item_id", "examinee"]).set_index(["item_id", "examinee"])["verdict"]
    keys = pd.MultiIndex.from_frame(frame[["item_id", "examinee"]])
    result = self_preference(frame.assign(verdict=verdicts.reindex(keys).to_numpy()), resamples=200)
    raw, adjusted = (
        chosen(result, task="gsm8k", rate="fpr", version=version).pipe(lambda t: t["high"] - t["low"]).to_numpy()
        for version in ("all", "adjusted")
    )
    assert (adjusted < 0.25 * raw).all()


def test_null_effects_are_rejected_rarely():
    p = [
        chosen(self_preference(planted(seed, 80), resamples=10), task="gsm8k", rate="fpr")[["version", "p"]]
        for seed in range(12)
    ]
    rejected = pd.concat(p).assign(p=lambda t: t["p"] < 0.05).groupby("version")["p"].mean()
    # 72 dependent tests per version: the 99.9 % binomial bound of 36 independent ones.
    assert (rejected <= 0.2).all()


def test_no_wrong_answer_is_nan_with_a_reason():
    frame = planted(6, 20)
    frame.loc[frame["examinee"] == "ann", "truth"] = True
    row = one(self_preference(frame, resamples=20), task="gsm8k", judge="ann", other="bob", version="all", rate="fpr")
    assert np.isnan([row["difference"], row["low"], row["high"], row["p"], row["p_holm"]]).all()
    assert row["n_own"] == 0
    assert "of ann" in row["reason"]


def test_one_item_gives_a_table(random_table):
    result = self_preference(random_table(7, n_items=1, missing=0), resamples=20)
    assert len(result) == 3 * 12 * 10
    known = result["difference"].notna()
    assert (result["low"].notna() == known).all()


@pytest.mark.parametrize("empty", [True, False])
def test_without_a_diagonal_there_are_no_rows_but_all_columns(random_table, empty):
    frame = random_table(8)
    frame = frame[frame["judge"].isin(["ann"]) & frame["examinee"].isin(["bob", "cas"])].iloc[: 0 if empty else None]
    assert self_preference(frame).columns.tolist() == COLUMNS
    assert self_preference_summary(frame).columns.tolist() == SUMMARY_COLUMNS
    assert len(self_preference(frame)) == len(self_preference_summary(frame)) == 0


def test_only_the_main_condition_counts(random_table):
    frame = random_table(9)
    other = frame.assign(condition="elite", verdict=True)
    both = self_preference(pd.concat([frame, other]), resamples=20)
    pd.testing.assert_frame_equal(both, self_preference(frame, resamples=20))


def test_the_order_of_rows_does_not_matter(random_table):
    frame = random_table(10)
    shuffled = frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(self_preference(frame, resamples=20), self_preference(shuffled, resamples=20))


def test_real_judges_rates_are_their_plain_fprs(shared_data):
    frame = pd.read_parquet(shared_data / "verdicts" / "nus_feedback.parquet")
    row = one(
        self_preference(frame, resamples=20), task="program_feedback", judge="gpt-4o", other="deepseek-chat",
        version="all", rate="fpr",
    )  # fmt: skip
    wrong = frame[(frame["truth"] == 0) & (frame["judge"] == "gpt-4o")]
    fpr, n = (wrong.groupby("examinee")["verdict"].agg(what) for what in ("mean", "size"))
    assert (row["own"], row["other_value"]) == pytest.approx((fpr["gpt-4o"], fpr["deepseek-chat"]))
    assert (row["n_own"], row["n_other"]) == (n["gpt-4o"], n["deepseek-chat"])
