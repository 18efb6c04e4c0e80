"""Self-preference in its four versions, against slow direct calculations, by hand and with planted truth."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from voirdire.bias import self_preference, self_preference_summary
from voirdire.bias.self_preference import COLUMNS, VERSIONS
from voirdire.bias.self_preference_summary import SUMMARY_COLUMNS


def chosen(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def one(frame, **where):
    rows = chosen(frame, **where)
    assert len(rows) == 1
    return rows.iloc[0]


def planted(seed, n_items=400, preference=0.0, leniency=None, models=("ann", "bob", "cas"), trials=1):
    """Verdicts of judges that accept 30 % of wrong responses, `leniency` more of an examinee's, `preference` of own."""
    rng = np.random.default_rng(seed)
    frames = []
    for examinee in models:
        truth = rng.random(n_items) < 0.5
        for judge in models:
            for trial in range(trials):
                accept = 0.3 + (leniency or {}).get(examinee, 0.0) + preference * (judge == examinee)
                verdict = rng.random(n_items) < np.where(truth, 0.9, accept)
                frames.append(
                    pd.DataFrame({"item_id": range(n_items), "verdict": verdict, "truth": truth}).assign(
                        task="gsm8k", judge=judge, examinee=examinee, trial=trial
                    )
                )
    return pd.concat(frames, ignore_index=True).astype({"item_id": str})


def direct(frame, judge, other, version, rate):
    """Own rate and other rate of one task, from the definitions, item by item: (n, mean) of each."""
    wanted = rate == "fnr"
    truth = dict(zip(zip(frame["item_id"], frame["examinee"], strict=True), frame["truth"], strict=True))
    ok = frame[(frame["status"] == "ok") & frame["verdict"].notna() & frame["truth"].notna()]
    keys = zip(ok["judge"], ok["item_id"], ok["examinee"], strict=True)
    hit = {key: float(bool(verdict) != wanted) for key, verdict in zip(keys, ok["verdict"], strict=True)}
    values = {judge: [], other: []}
    for item in {item for item, _ in truth}:
        both = [truth.get((item, model), pd.NA) for model in (judge, other)]
        both = [None if pd.isna(each) else bool(each) for each in both]
        for model in (judge, other):
            if (judge, item, model) not in hit or truth[item, model] != wanted:
                continue
            value = hit[judge, item, model]
            if version == "harmful" and (None in both or both[0] == both[1]):
                continue
            paired = both == [wanted, wanted] and {(judge, item, judge), (judge, item, other)} <= set(hit)
            if version == "matched" and not paired:
                continue
            if version == "adjusted":
                third = {"ann", "bob", "cas", "dee"} - {judge, other}
                rest = [hit[each, item, model] for each in third if (each, item, model) in hit]
                if not rest:
                    continue
                value -= np.mean(rest)
            values[model].append(value)
    return [(len(found), np.mean(found) if found else np.nan) for found in (values[judge], values[other])]


def test_every_cell_equals_a_direct_calculation(random_table):
    frame = random_table(0, n_items=8)
    result = self_preference(frame, resamples=20)
    assert set(result["version"]) == set(VERSIONS)
    for row in result[result["task"] != "all"].itertuples(index=False):
        part = frame[frame["task"] == row.task]
        (n_own, own), (n_other, other) = direct(part, row.judge, row.other, row.version, row.rate)
        assert (row.n_own, row.n_other) == (n_own, n_other)
        assert [row.own, row.other_value] == pytest.approx([own, other], abs=1e-12, nan_ok=True) or not (
            n_own and n_other
        )
        assert row.difference == pytest.approx(own - other, abs=1e-12, nan_ok=True)
        assert (row.reason == "") or np.isnan(row.p)


def test_pooled_is_the_mean_of_the_tasks_that_have_it(random_table):
    result = self_preference(random_table(3, n_items=4), resamples=20)
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
    assert row["interval"] == "mover"
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
    assert rows.groupby("version")["difference"].mean().to_numpy() == pytest.approx([0.2] * 4, abs=0.03)
    assert (rows["p_holm"] < 0.01).mean() >= 0.9


def test_leniency_that_all_judges_share_is_no_preference_once_adjusted():
    # Ann's errors look plausible to everybody: raw self-preference of ann, none after adjusting.
    summary = self_preference_summary(planted(3, 1500, leniency={"ann": 0.25}), resamples=300)
    raw = one(summary, judge="ann", version="all", rate="fpr")
    adjusted = one(summary, judge="ann", version="adjusted", rate="fpr")
    assert raw["low"] > 0.15
    assert adjusted["low"] < 0 < adjusted["high"]
    assert "baseline-adjusted" in adjusted["sentence"]
    assert "not by the baseline-adjusted difference" in adjusted["sentence"]


def test_repeated_trials_do_not_shrink_the_interval():
    once = planted(4, 300, preference=0.1)
    thrice = pd.concat([once.assign(trial=trial) for trial in range(3)], ignore_index=True)
    first, third = (chosen(self_preference(frame, resamples=200), rate="fpr", task="gsm8k") for frame in (once, thrice))
    for column in ("low", "high", "difference"):
        assert third[column].to_numpy() == pytest.approx(first[column].to_numpy(), abs=1e-9)
    assert third["p"].to_numpy() == pytest.approx(first["p"].to_numpy(), abs=1e-9)


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


def study(seed, preference=0.0, sizes=(("aime", 30), ("gsm8k", 80), ("mbpp", 60))):
    """Six models that fail on the same items and judge alike what looks right; judges differ in leniency."""
    rng = np.random.default_rng(seed)
    frames = []
    for task, n in sizes:
        difficulty, plausibility = rng.normal(size=(2, n))
        for examinee, ability in enumerate((0.75, 0.7, 0.6, 0.55, 0.5, 0.45)):
            truth = (difficulty + rng.normal(size=n)) / np.sqrt(2) < stats.norm.ppf(ability)
            looks = (plausibility + rng.normal(size=n)) / 2
            for judge in range(6):
                accept = 0.2 + 0.1 * judge + preference * (judge == examinee)
                accepted = looks + rng.normal(size=n) / np.sqrt(2) < stats.norm.ppf(accept)
                verdict = np.where(truth, rng.random(n) < 0.93, accepted)
                frame = pd.DataFrame({"item_id": np.arange(n).astype(str), "truth": truth, "verdict": verdict})
                frames.append(frame.assign(task=task, judge=f"m{judge}", examinee=f"m{examinee}"))
    return pd.concat(frames, ignore_index=True)


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
    assert len(result) == 3 * 12 * 8
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


def test_summary_is_the_mean_over_the_others(random_table):
    frame = random_table(11)
    pairs, summary = self_preference(frame, resamples=50), self_preference_summary(frame, resamples=50)
    pooled = chosen(pairs, task="all")
    expected = pooled.groupby(["judge", "version", "rate"])["difference"].mean()
    found = chosen(summary[summary["judge"] != "all"]).set_index(["judge", "version", "rate"])["difference"]
    pd.testing.assert_series_equal(found.sort_index(), expected.sort_index(), check_exact=False)
    everyone = one(summary, judge="all", version="matched", rate="fpr")
    mean = chosen(pooled, version="matched", rate="fpr")["difference"].mean()
    assert everyone["difference"] == pytest.approx(mean)
    assert everyone["low"] < mean < everyone["high"]


def test_sentence_says_which_versions_support_preference():
    summary = self_preference_summary(planted(12, 1500, preference=0.2), resamples=200)
    sentence = one(summary, judge="bob", version="all", rate="fpr")["sentence"]
    assert sentence.startswith("bob: the word preference is supported by matched items (+")
    assert "and the baseline-adjusted difference" in sentence
    assert not chosen(summary, version="all")["supports_preference"].any()
    assert chosen(summary, version="matched", rate="fpr")["supports_preference"].all()
    none = self_preference_summary(planted(13, 300), resamples=200)
    assert one(none, judge="all", version="all", rate="fpr")["sentence"].startswith("Over all judges: no version")


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
