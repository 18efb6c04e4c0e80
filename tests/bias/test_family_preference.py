"""Family preference: against a slow direct calculation, and with planted truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preferring import Direct, answered, chosen, one, planted
from scipy import stats

from voirdire.bias import family_preference, preference_tables, self_preference, self_preference_summary
from voirdire.bias.family_preference import COLUMNS
from voirdire.bias.preference_counts import PAIRED, VERSIONS
from voirdire.stats.bootstrap import cluster_weights, task_seed
from voirdire.stats.significance import sign_flip_p

FAMILIES = {"ann": "x", "bob": "x", "cas": "y", "dee": "z"}
MODELS = ("ann", "bob", "cas", "dee")


def pairs_of(judge, families=FAMILIES):
    """(relative, outsider, judges of the baseline) of a judge."""
    near = [model for model in MODELS if families[model] == families[judge] and model != judge]
    far = [model for model in MODELS if families[model] != families[judge]]
    return [(m, o, {k for k in MODELS if families[k] not in (families[judge], families[o])}) for m in near for o in far]


def related(seed=0, n_items=600, preference=0.0, **changes):
    """Verdicts that are kinder to a relative's wrong responses, and not to one's own."""
    frame = planted(seed, n_items, models=MODELS, **changes)
    rng = np.random.default_rng(seed + 1)
    kin = (frame["judge"].map(FAMILIES) == frame["examinee"].map(FAMILIES)) & (frame["judge"] != frame["examinee"])
    kinder = kin & ~frame["truth"] & (rng.random(len(frame)) < preference / 0.7)
    return frame.assign(verdict=frame["verdict"] | kinder)


@given(seed=st.integers(0, 2**20), n_items=st.sampled_from([1, 2, 3, 8]), missing=st.sampled_from([0.0, 0.2, 0.6]))
@settings(max_examples=10)
def test_every_cell_is_the_mean_over_pairs_of_a_relative_and_an_outsider(random_table, seed, n_items, missing):
    frame = answered(random_table(seed, n_items=n_items, missing=missing), seed)
    result = family_preference(frame, families=FAMILIES, resamples=20)
    direct = {task: Direct(part) for task, part in frame.groupby("task")}
    for (task, judge, version, rate), row in result.groupby(["task", "judge", "version", "rate"]):
        if task == "all" or judge == "all":
            continue
        judged = {examinee for j, examinee in zip(frame["judge"], frame["examinee"], strict=True) if j == judge}
        kept = [pair for pair in pairs_of(judge) if {pair[0], pair[1]} <= judged]
        sides = [direct[task].values(judge, (m, o), rest, version, rate) for m, o, rest in kept]
        known = [(near, far) for near, far in sides if near and far]
        own, other = ([np.mean(list(pair[side].values())) for pair in known] for side in (0, 1))
        expected = [np.mean(own), np.mean(other), np.mean(own) - np.mean(other)] if known else [np.nan] * 3
        numbers = row[["own", "other_value", "difference"]].to_numpy(float)[0]
        assert numbers == pytest.approx(expected, abs=1e-12, nan_ok=True)
        used = [(m, o, *pair) for (m, o, _), pair in zip(kept, sides, strict=True) if pair[0] and pair[1]]
        n_own = len({(m, item) for m, _, near, _ in used for item in near})
        n_other = len({(o, item) for _, o, _, far in used for item in far})
        assert (row["n_own"].item(), row["n_other"].item()) == (n_own, n_other)
        assert row["reason"].item() != "" or not np.isnan(expected[2])


def test_over_all_judges_it_is_the_mean_over_all_their_pairs():
    families = {"ann": "x", "bob": "x", "cas": "x", "dee": "z"}
    frame = related(1, 300)
    result = chosen(family_preference(frame, families=families, resamples=20), task="all", version="all", rate="fpr")
    fpr = frame[~frame["truth"]].groupby(["judge", "examinee"])["verdict"].mean()
    differences = {
        judge: [fpr[judge, m] - fpr[judge, o] for m, o, _ in pairs_of(judge, families)]
        for judge in ("ann", "bob", "cas")
    }
    for judge, values in differences.items():
        assert one(result, judge=judge)["difference"] == pytest.approx(np.mean(values), abs=1e-12)
    assert one(result, judge="all")["difference"] == pytest.approx(np.mean([*differences.values()]), abs=1e-12)
    assert "dee" not in set(result["judge"])


def test_over_all_tasks_a_pair_counts_with_its_mean_over_the_tasks_that_have_it(random_table):
    frame = answered(random_table(3, n_items=4))
    result = family_preference(frame, families=FAMILIES, resamples=20)
    direct = {task: Direct(part) for task, part in frame.groupby("task")}
    for judge in ("ann", "bob"):
        for version in VERSIONS:
            differences = []
            for m, o, rest in pairs_of(judge):
                sides = [one_task.values(judge, (m, o), rest, version, "fpr") for one_task in direct.values()]
                values = [np.mean(list(a.values())) - np.mean(list(b.values())) for a, b in sides if a and b]
                differences += [np.mean(values)] if values else []
            row = one(result, task="all", judge=judge, version=version, rate="fpr")
            expected = np.mean(differences) if differences else np.nan
            assert row["difference"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_the_interval_is_the_percentile_of_the_mean_over_pairs_in_resamples_of_items():
    frame = related(2, 1500, preference=0.1)
    result = family_preference(frame, families=FAMILIES, resamples=300, seed=5)
    direct = Direct(frame.assign(status="ok"))
    items = sorted(frame["item_id"].unique())
    weights = cluster_weights(np.zeros(len(items)), 300, task_seed(5, "gsm8k"))
    for version in VERSIONS:
        samples = []
        for m, o, rest in pairs_of("ann"):
            sides = direct.values("ann", (m, o), rest, version, "fpr")
            values = np.array([[side.get(item, np.nan) for item in items] for side in sides])
            rates = [weights @ np.nan_to_num(side) / (weights @ ~np.isnan(side)) for side in values]
            samples.append(rates[0] - rates[1])
        row = one(result, task="gsm8k", judge="ann", version=version, rate="fpr")
        assert row["interval"] == "percentile"
        expected = np.percentile(np.mean(samples, axis=0), [2.5, 97.5])
        assert [row["low"], row["high"]] == pytest.approx(expected, abs=1e-9)


def test_the_interval_of_few_items_is_students_t_of_what_each_adds():
    frame = related(13, 160, preference=0.1)
    row = one(
        family_preference(frame, families=FAMILIES, resamples=50),
        task="gsm8k",
        judge="ann",
        version="matched",
        rate="fpr",
    )
    direct = Direct(frame.assign(status="ok"))
    added, plain = (pd.Series(0.0, sorted(frame["item_id"].unique())) for _ in range(2))
    for m, o, rest in pairs_of("ann"):
        near, far = map(pd.Series, direct.values("ann", (m, o), rest, "matched", "fpr"))
        gained = near - far
        added = added.add((gained - gained.mean()) / len(gained) / len(pairs_of("ann")), fill_value=0.0)
        plain = plain.add(gained / len(gained), fill_value=0.0)
    n, telling = (np.abs(added) > 1e-12).sum(), (np.abs(plain) > 1e-12).sum()
    reach = stats.t.ppf(0.975, telling - 1) * np.sqrt((added**2).sum() * n / (n - 1))
    assert row["interval"] == "t"
    assert [row["low"], row["high"]] == pytest.approx([row["difference"] - reach, row["difference"] + reach], abs=1e-9)


def test_p_is_the_sign_flip_of_what_items_gain_or_a_score_test_of_clusters():
    frame = related(14, 60, preference=0.1)
    result = chosen(family_preference(frame, families=FAMILIES, resamples=20), task="gsm8k", judge="ann", rate="fpr")
    direct = Direct(frame.assign(status="ok"))
    flips, scores, hit, missed = (pd.Series(0.0, sorted(frame["item_id"].unique())) for _ in range(4))
    for m, o, rest in pairs_of("ann"):
        near, far = map(pd.Series, direct.values("ann", (m, o), rest, "matched", "fpr"))
        flips = flips.add(near - far, fill_value=0.0)
        near, far = map(pd.Series, direct.values("ann", (m, o), rest, "all", "fpr"))
        both = pd.concat([near, far])
        share = {"near": len(far) / len(both), "far": len(near) / len(both)}
        scores = scores.add(share["near"] * (near - both.mean()), fill_value=0.0)
        scores = scores.sub(share["far"] * (far - both.mean()), fill_value=0.0)
        for side in (near, far):
            hit, missed = hit.add(side, fill_value=0.0), missed.add(1 - side, fill_value=0.0)
    assert one(result, version="matched")["p"] == pytest.approx(sign_flip_p(flips[flips != 0]), abs=1e-9)
    scores = scores[(hit + missed) > 0]
    t = abs(scores.sum()) / np.sqrt((scores**2).sum() * len(scores) / (len(scores) - 1))
    near_items = direct.values("ann", ("bob", "cas"), set(), "all", "fpr")[0]
    rarer = min((hit > 0).sum(), (missed > 0).sum(), len(near_items))
    assert one(result, version="all")["p"] == pytest.approx(2 * stats.t.sf(t, rarer - 1), abs=1e-9)


def test_one_pair_in_the_place_of_the_judge_itself_is_self_preference():
    # ann's verdicts on bob, given to bob as a judge of itself, are bob's self-preference against cas.
    frame = planted(4, 400, preference=0.1, models=("ann", "bob", "cas"))
    frame = frame[frame["judge"].isin(["ann", "cas"])]
    moved = frame.assign(judge=frame["judge"].replace("ann", "bob"))
    own = self_preference(moved, resamples=100)
    kin = family_preference(frame, families={"ann": "x", "bob": "x"}, resamples=100)
    columns = ["difference", "low", "high", "n_own", "n_other"]
    for version in ("all", "harmful", "matched", "same_answer"):
        expected = one(own, task="gsm8k", judge="bob", other="cas", version=version, rate="fpr")[columns]
        found = one(kin, task="gsm8k", judge="ann", version=version, rate="fpr")[columns]
        assert found.to_numpy(float) == pytest.approx(expected.to_numpy(float), abs=1e-9)


def test_planted_preference_for_the_family_is_recovered_and_not_taken_for_self_preference():
    frame = related(5, 1500, preference=0.2)
    result = chosen(family_preference(frame, families=FAMILIES, resamples=300), task="gsm8k", rate="fpr")
    assert result["difference"].to_numpy() == pytest.approx([0.2] * len(result), abs=0.1)
    assert (result["low"] > 0).all()
    assert (result["p_holm"] < 0.001).all()
    assert set(result["says"]) == {"difference"}
    summary = self_preference_summary(frame, families=FAMILIES, resamples=50)
    everyone = one(summary, judge="cas", version="matched", rate="fpr")
    assert not everyone["supports_preference"]


def test_a_preference_for_oneself_is_none_for_the_family():
    result = family_preference(planted(6, 1500, preference=0.3, models=MODELS), families=FAMILIES, resamples=200)
    rows = chosen(result, task="gsm8k", rate="fpr", judge="all")
    assert rows["difference"].to_numpy() == pytest.approx([0] * 5, abs=0.05)


def test_leniency_that_all_judges_share_is_no_preference_once_adjusted():
    result = family_preference(related(7, 1500, leniency={"bob": 0.25}), families=FAMILIES, resamples=300)
    raw, adjusted = (
        one(result, task="all", judge="ann", version=version, rate="fpr") for version in ("all", "adjusted")
    )
    assert raw["low"] > 0.15
    assert adjusted["low"] < 0 < adjusted["high"]
    assert "the difference on items that both got wrong, +" in adjusted["sentence"]


def test_the_sentence_says_what_supports_preference_for_which_family():
    result = family_preference(related(8, 1500, preference=0.2), families=FAMILIES, resamples=100)
    assert set(result["judge_family"]) == {"x", "all"}
    said = result.drop_duplicates("judge").set_index("judge")["sentence"]
    by_model = "is supported by the model of judge, question and author (odds × "
    assert said["ann"].startswith(f"ann: preference for its own family (x) {by_model}")
    assert said["all"].startswith(f"Over all judges: preference for one's own family {by_model}")


def test_without_a_third_family_there_is_no_baseline_and_the_reason_says_what_is_missing():
    families = {"ann": "x", "bob": "x", "cas": "y", "dee": "y"}
    rows = chosen(family_preference(related(9, 60), families=families, resamples=20), task="gsm8k", rate="fpr")
    adjusted = chosen(rows, version="adjusted")
    assert adjusted["difference"].isna().all()
    assert set(adjusted["reason"]) == {"no pair of a relative and another family's model has it"}
    assert set(adjusted["says"]) == {"nothing"}
    assert rows[rows["version"] != "adjusted"]["difference"].notna().all()


def test_pairs_that_are_missing_are_counted():
    frame = related(10, 60)
    frame = frame[~((frame["examinee"] == "dee") & ~frame["truth"])]
    row = one(
        family_preference(frame, families=FAMILIES, resamples=20), task="gsm8k", judge="ann", version="all", rate="fpr"
    )
    assert row["reason"].startswith("1 of 2 comparisons (pair and task) have it")


def test_holm_is_over_the_judges_of_one_task_rate_and_version():
    families = {"ann": "x", "bob": "x", "cas": "y", "dee": "y"}
    result = family_preference(related(11, 80), families=families, resamples=20)
    family = chosen(result, family="gsm8k fpr all")
    assert sorted(family["judge"]) == ["ann", "bob", "cas", "dee"]
    smallest = family.nsmallest(1, "p").iloc[0]
    assert smallest["p_holm"] == pytest.approx(min(1, 4 * smallest["p"]))
    alone = one(result, task="gsm8k", rate="fpr", version="all", judge="all")
    assert alone["p_holm"] == alone["p"]


def test_repeated_trials_change_nothing():
    once = related(12, 200, preference=0.1)
    thrice = pd.concat([once.assign(trial=trial) for trial in range(3)], ignore_index=True)
    first, third = (family_preference(frame, families=FAMILIES, resamples=100) for frame in (once, thrice))
    for column in ("low", "high", "difference", "p"):
        assert third[column].to_numpy() == pytest.approx(first[column].to_numpy(), abs=1e-9, nan_ok=True)
    items = first["version"].isin(PAIRED)
    assert (third["n_own"] == np.where(items, 1, 3) * first["n_own"]).all()


@pytest.mark.parametrize("families", [None, {}, {"ann": "x", "bob": "y"}, dict.fromkeys(MODELS, "x")])
def test_without_two_families_of_which_one_has_two_models_there_are_no_rows_but_all_columns(random_table, families):
    result = family_preference(random_table(8), families=families)
    assert result.columns.tolist() == COLUMNS
    assert result.empty


def test_a_judge_that_is_no_examinee_can_prefer_its_family(random_table):
    frame = random_table(9, n_items=40)
    frame = frame[(frame["judge"] == "ann") & (frame["examinee"] != "ann")]
    result = family_preference(frame, families=FAMILIES, resamples=20)
    assert set(result["judge"]) == {"ann", "all"}
    assert chosen(result, version="all", rate="fpr")["difference"].notna().all()


def test_tables_made_together_are_those_made_apart(random_table):
    frame = answered(random_table(10))
    together = preference_tables(frame, families=FAMILIES, resamples=50, seed=3)
    pd.testing.assert_frame_equal(together["self_preference"], self_preference(frame, resamples=50, seed=3))
    summary = self_preference_summary(frame, resamples=50, seed=3)
    pd.testing.assert_frame_equal(together["self_preference_summary"], summary)
    apart = family_preference(frame, families=FAMILIES, resamples=50, seed=3)
    pd.testing.assert_frame_equal(together["family_preference"], apart)
