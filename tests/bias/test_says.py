"""What the tables say of themselves: no cell lets "no difference" stand for "too few wrong answers"."""

import numpy as np
import pandas as pd
import pytest
from preferring import planted

from voirdire.bias import (
    ablation_difficulty,
    ablation_identity,
    ablation_length,
    ablation_template,
    correlations,
    rates,
    rates_by_examinee,
    self_preference,
)

MODELS = ("ann", "bob", "cas", "dee")


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def panel(n_wrong, n_right=30, accept=0.5, seed=0, task="aime", models=MODELS, more=0):
    """Every model judges every model; each has so many wrong responses at random items, `more` the next model."""
    rng = np.random.default_rng(seed)
    n = n_wrong + n_right
    truth = {model: rng.permutation(n) >= n_wrong + more * place for place, model in enumerate(models)}
    return pd.concat(
        [
            pd.DataFrame({"item_id": [f"item-{i}" for i in range(n)], "truth": truth[examinee]}).assign(
                verdict=rng.random(n) < np.where(truth[examinee], 0.9, accept),
                response_chars=rng.integers(500, 1500, n), judge=judge, examinee=examinee, task=task,
            )
            for judge in models
            for examinee in models
        ],
        ignore_index=True,
    )  # fmt: skip


def conditions(n, after, before=0.5, seed=0):
    """`n` wrong and `n` right responses of one examinee, judged blind, labelled and by another template."""
    rng = np.random.default_rng(seed)
    truth = np.arange(2 * n) >= n
    return pd.concat(
        [
            pd.DataFrame({"item_id": [f"item-{i}" for i in range(2 * n)], "truth": truth, "judge": judge}).assign(
                verdict=rng.random(2 * n) < np.where(truth, 0.9, accept),
                condition=condition, template=template, label=label, task="aime", examinee="bob",
            )
            for condition, template, label, accept in (
                ("blind", "default", None, before),
                ("elite", "default", "elite", after),
                ("reason", "reason", None, after),
            )
            for judge in ("ann", "cas")
        ],
        ignore_index=True,
    )  # fmt: skip


@pytest.mark.parametrize("accept", [0.0, 1.0])
@pytest.mark.parametrize("n_wrong", [1, 2, 3])
def test_a_rate_of_two_wrong_answers_is_silent_whatever_became_of_them(n_wrong, accept):
    table = rates_by_examinee(panel(n_wrong, accept=accept), resamples=200)
    silent = table.loc[(table["judge"] != "all") & (table["task"] == "aime"), "silent"].str.split()
    assert all("fpr" in names and not {"fnr", "accuracy"} & set(names) for names in silent)


@pytest.mark.parametrize(
    ("n_wrong", "n_accepted", "silent"),
    [(3, 3, True), (3, 0, True), (4, 4, False), (4, 0, False), (7, 3, True), (8, 4, False), (14, 7, False)],
)
def test_a_rate_speaks_from_four_answers_at_an_end_and_eight_in_the_middle(n_wrong, n_accepted, silent):
    frame = panel(n_wrong, models=("ann", "bob"))
    wrong = frame.index[~frame["truth"] & (frame["judge"] == "ann") & (frame["examinee"] == "bob")]
    frame.loc[wrong, "verdict"] = np.arange(n_wrong) < n_accepted
    row = one(rates_by_examinee(frame, resamples=200), judge="ann", examinee="bob", task="aime", reading="main")
    assert ("fpr" in row["silent"].split()) == silent
    assert (row["fpr_high"] - row["fpr_low"] > 2 / 3) == silent


def test_a_bias_is_silent_where_a_silent_rate_leaves_its_direction_open():
    none, every = (rates_by_examinee(panel(2, accept=accept), resamples=200) for accept in (0.0, 1.0))
    where = {"judge": "ann", "examinee": "bob", "task": "aime", "reading": "main"}
    assert one(none, **where)["silent"] == "fpr bias"
    # That two of two were accepted leaves the FPR open, but not that it is above a FNR of about .1.
    assert one(every, **where)["bias_low"] > 0
    assert one(every, **where)["silent"] == "fpr"


def test_enough_answers_are_not_silent_and_none_at_all_are():
    enough = rates(panel(60, 60), resamples=200)
    assert (enough["silent"] == "").all()
    perfect = rates(panel(0), resamples=200)
    assert (perfect["silent"] == "fpr bias balanced_accuracy").all()


def test_other_readings_have_their_own_silent_metrics():
    frame = panel(40, 40).assign(status="ok")
    frame.loc[(frame["examinee"] == "bob") & (frame["truth"]), "status"] = "refused"
    table = rates_by_examinee(frame, resamples=200)
    where = {"judge": "ann", "examinee": "bob", "task": "aime"}
    assert "fnr" in one(table, **where, reading="main")["silent"]
    assert one(table, **where, reading="not_ok_correct")["silent"] == ""


@pytest.mark.parametrize(("table", "name"), [(ablation_identity, "label"), (ablation_template, "template")])
def test_a_condition_changes_nothing_that_five_pairs_could_show(table, name):
    found = table(conditions(5, after=0.0, before=1.0), resamples=200)
    assert (found.loc[found["rate"] != "bias", "says"] == "nothing").all()
    assert found.loc[found["rate"] != "bias", "detectable"].isna().all()
    assert found[name].nunique() == 1


@pytest.mark.parametrize("table", [ablation_identity, ablation_template])
def test_a_condition_that_changes_much_little_or_an_unknown_share_of_many_pairs(table):
    planted = table(conditions(200, after=0.2), resamples=200)
    assert one(planted, judge="ann", rate="fpr", task="aime")["says"] == "difference"
    assert one(planted, judge="ann", rate="fnr", task="aime")["says"] == "no difference beyond 0.1"
    few = one(table(conditions(40, after=0.5), resamples=200), judge="ann", rate="fpr", task="aime")
    assert few["says"] == "undecided"
    # 40 pairs of which half change either way: McNemar shows a shift of .4 to .5 only.
    assert 0.35 < few["detectable"] < 0.55


def test_length_says_what_d_would_have_shown():
    table = ablation_length(panel(40, 10, models=("ann", "bob")), resamples=200)
    row = one(table, task="aime", judge="ann")
    assert row["says"] == "undecided"
    # About 40 accepted and 40 rejected: 0.63 by any textbook.
    assert row["detectable"] == pytest.approx(0.63, abs=0.12)


def test_length_of_one_accepted_response_says_nothing():
    frame = panel(20, 10, accept=0.0, models=("ann", "bob"))
    frame.loc[frame.index[~frame["truth"]][:1], "verdict"] = True
    table = ablation_length(frame, resamples=200)
    assert one(table, task="aime", judge="ann")["says"] == one(table, task="aime", judge="bob")["says"] == "nothing"


def test_own_errors_are_not_called_equal_to_others_where_there_are_two():
    table = ablation_difficulty(panel(2, 28), resamples=200)
    known = table[table["gap"].notna() & (table["judge"] != "all")]
    assert len(known)
    assert set(known["says"]) == {"nothing"}


def test_own_errors_that_are_many_are_called_equal_or_not():
    table = ablation_difficulty(panel(600, 600, seed=3), resamples=200)
    row = one(table, task="aime", judge="all", bin="medium")
    assert row["says"] == "no difference beyond 0.1"
    assert row["detectable"] < 0.1


def test_correlations_of_four_models_say_nothing_unless_exact_p_does():
    table = correlations(panel(10, 30, more=3), resamples=20)
    whole = table[(table["left_out"] == "") & (table["self_point"] == "with")]
    assert (whole["n"] == 4).all()
    assert whole["detectable"].isna().all()
    assert (whole["says"] == np.where(whole["p"] < 0.05, whole["says"], "nothing")).all()
    assert (table.loc[table["n"] < 4, "says"] == "nothing").all()


def test_range_is_that_of_the_rows_without_one_model():
    table = correlations(panel(10, 30, models=(*MODELS, "eve"), more=3), resamples=20)
    assert table["r"].notna().all()
    for keys, part in table.groupby(["table", "anchor", "task", "self_point"]):
        whole, without = part[part["left_out"] == ""].iloc[0], part[part["left_out"] != ""]
        assert (whole["range_low"], whole["range_high"]) == (without["r"].min(), without["r"].max()), keys
        assert without[["range_low", "range_high"]].isna().all(axis=None)


def test_range_of_three_models_has_no_value():
    table = correlations(panel(10, 30, models=MODELS[:3], more=3), resamples=20)
    assert table[["range_low", "range_high"]].isna().all(axis=None)
    assert set(table["says"]) == {"nothing"}


def test_range_has_no_value_where_one_model_left_out_leaves_no_correlation():
    models, rng = [*MODELS[:4], "eve"], np.random.default_rng(3)
    keys = [(f"i{i}", e, j, (i < 12) if e != "eve" else (i < 20)) for i in range(30) for e in models for j in models]
    frame = pd.DataFrame(keys, columns=["item_id", "examinee", "judge", "truth"]).assign(task="gsm8k")
    table = correlations(frame.assign(verdict=rng.random(len(frame)) < 0.5), resamples=20)
    # In table 8 accuracy is that of the verdicts, which differs.
    table = table[table["table"] != 8]
    whole = table[(table["left_out"] == "") & table["r"].notna()]
    assert len(whole)
    assert table.loc[table["left_out"] == "eve", "r"].isna().all()
    assert whole[["range_low", "range_high"]].isna().all(axis=None)


def test_trials_and_items_of_one_cluster_show_no_more_than_their_clusters():
    frame = planted(31, 74, preference=0.4)
    frame["cluster"] = (frame["item_id"].astype(int) % 4).astype(str)
    table = self_preference(pd.concat([frame.assign(trial=trial) for trial in range(3)]), resamples=50)
    rows = table[table["version"].isin(["matched", "same_answer"]) & (table["rate"] == "fpr")]
    assert set(rows["says"]) == {"nothing"}
    assert rows["detectable"].isna().all()
