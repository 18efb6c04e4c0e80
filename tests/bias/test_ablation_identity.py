"""What an identity label does to verdicts on the same responses."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from voirdire.bias import ablation_identity
from voirdire.bias.ablation_identity import IDENTITY_COLUMNS


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def judged(condition, accept_wrong, n=300, judges=("ann", "cas"), seed=0, examinee="bob", task="gsm8k"):
    """The responses of one examinee, half of them wrong, judged under one condition."""
    truth = np.random.default_rng(99).random(n) < 0.5
    rng = np.random.default_rng([seed, len(condition)])
    label = None if condition == "blind" else condition.split("-")[-1]
    template = condition.split("-")[0] if "-" in condition else "default"
    return pd.concat(
        [
            pd.DataFrame({"item_id": [f"item-{i}" for i in range(n)], "truth": truth, "judge": judge}).assign(
                verdict=rng.random(n) < np.where(truth, 0.9, accept_wrong),
                condition=condition, template=template, label=label, task=task, examinee=examinee,
            )
            for judge in judges
        ],
        ignore_index=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def labelled():
    return pd.concat([judged("blind", 0.6), judged("elite", 0.35), judged("author", 0.6)], ignore_index=True)


def test_difference_and_p_equal_mcnemar_on_the_same_responses(labelled):
    row = one(ablation_identity(labelled), task="gsm8k", judge="ann", label="elite", rate="fpr")
    wide = labelled[labelled["judge"] == "ann"].pivot(index="item_id", columns="condition", values="verdict")
    wrong = ~labelled[(labelled["judge"] == "ann") & (labelled["condition"] == "blind")].set_index("item_id")["truth"]
    wide = wide[wrong.reindex(wide.index)].astype(bool)
    assert row["n_pairs"] == len(wide)
    assert row["blind"] == pytest.approx(wide["blind"].mean())
    assert row["difference"] == pytest.approx(wide["elite"].mean() - wide["blind"].mean())
    p = mcnemar(pd.crosstab(wide["elite"], wide["blind"]), exact=True).pvalue
    assert row["p"] == pytest.approx(p, rel=1e-6)


def test_bias_is_fpr_less_fnr_and_its_p_is_a_sign_flip(labelled):
    result = ablation_identity(labelled[labelled["item_id"].isin([f"item-{i}" for i in range(16)])], resamples=50)
    fpr, fnr, bias = (
        one(result, task="gsm8k", judge="cas", label="elite", rate=rate) for rate in ("fpr", "fnr", "bias")
    )
    for column in ("blind", "labelled", "difference"):
        assert bias[column] == pytest.approx(fpr[column] - fnr[column])
    assert bias["n_pairs"] == fpr["n_pairs"] + fnr["n_pairs"] == 16
    few = labelled[(labelled["judge"] == "cas") & labelled["item_id"].isin([f"item-{i}" for i in range(16)])]
    wide = few.pivot(index="item_id", columns="condition", values="verdict").astype(float)
    truth = few.drop_duplicates("item_id").set_index("item_id")["truth"].reindex(wide.index).to_numpy(bool)
    units = (wide["elite"] - wide["blind"]) / np.where(truth, truth.sum(), (~truth).sum())
    reference = stats.permutation_test((units,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert bias["p"] == pytest.approx(reference, abs=1e-9)


def test_planted_label_effect_is_recovered_and_none_is_not_found(labelled):
    result = ablation_identity(labelled)
    for judge in ("ann", "cas", "all"):
        elite = one(result, task="all", judge=judge, label="elite", rate="fpr")
        assert elite["low"] < -0.25 < elite["high"] < 0
        assert elite["p_holm"] < 0.001
        author = one(result, task="all", judge=judge, label="author", rate="fpr")
        assert author["low"] < 0 < author["high"]


def test_all_judges_are_the_mean_of_the_judges_and_all_tasks_of_the_tasks():
    frame = pd.concat(
        judged(c, a, n, task=task)
        for task, n in (("gsm8k", 100), ("aime", 30))
        for c, a in (("blind", 0.6), ("elite", 0.4))
    )
    result = ablation_identity(frame, resamples=50)
    for rate in ("fpr", "fnr", "bias"):
        rows = result[result["rate"] == rate].pivot(index="task", columns="judge", values="difference")
        assert rows["all"].to_numpy() == pytest.approx(rows[["ann", "cas"]].mean(axis=1).to_numpy())
        assert rows.loc["all"].to_numpy() == pytest.approx(rows.loc[["aime", "gsm8k"]].mean().to_numpy())


def test_holm_is_over_the_judges_of_one_label_task_and_rate(labelled):
    result = ablation_identity(labelled, resamples=50)
    family = result[result["family"] == "elite gsm8k fpr bob: judges"]
    assert family["judge"].tolist() == ["ann", "cas"]
    assert family["p_holm"].to_numpy() == pytest.approx(multipletests(family["p"], method="holm")[1])


def test_only_pairs_with_both_verdicts_count(labelled):
    frame = labelled.assign(status="ok").astype({"verdict": "boolean"})
    gone = (frame["condition"] == "elite") & (frame["item_id"] == "item-0")
    frame.loc[gone, "status"] = "refused"
    frame.loc[gone, "verdict"] = pd.NA
    frame = frame[~((frame["condition"] == "blind") & (frame["item_id"] == "item-1"))]
    result = ablation_identity(frame, resamples=20)
    bias = result[(result["rate"] == "bias") & (result["judge"] == "ann") & (result["task"] == "gsm8k")]
    assert bias.set_index("label")["n_pairs"].to_dict() == {"elite": 298, "author": 299}


def test_another_templates_label_is_not_compared_with_the_main_template(labelled):
    frame = pd.concat([labelled, judged("reason-elite", 0.0)], ignore_index=True)
    pd.testing.assert_frame_equal(ablation_identity(frame, resamples=20), ablation_identity(labelled, resamples=20))


def test_several_examinees_come_together_and_apart():
    frame = pd.concat(judged(c, a, 50, examinee=e) for e in ("bob", "dee") for c, a in (("blind", 0.6), ("elite", 0.4)))
    result = ablation_identity(frame, resamples=20)
    rows = result[(result["task"] == "gsm8k") & (result["judge"] == "ann") & (result["rate"] == "bias")]
    assert rows.set_index("examinee")["n_pairs"].to_dict() == {"all": 100, "bob": 50, "dee": 50}


def test_trials_are_paired_by_number_and_do_not_pass_for_more_items(labelled):
    once = ablation_identity(labelled, resamples=100)
    twice = ablation_identity(pd.concat([labelled.assign(trial=t) for t in (0, 1)], ignore_index=True), resamples=100)
    assert (twice["n_pairs"] == 2 * once["n_pairs"]).all()
    for column in ("difference", "low", "high", "p"):
        assert twice[column].to_numpy() == pytest.approx(once[column].to_numpy(), abs=1e-9)


def test_identical_verdicts_give_zero_with_some_width():
    frame = pd.concat([judged("blind", 0.5, 40), judged("blind", 0.5, 40).assign(condition="elite", label="elite")])
    row = one(ablation_identity(frame, resamples=50), task="gsm8k", judge="ann", rate="fpr")
    assert (row["difference"], row["p"], row["interval"]) == (0, 1, "mover_paired")
    assert row["low"] < -0.01 < 0.01 < row["high"]


def test_no_wrong_response_is_nan_with_a_reason():
    frame = pd.concat([judged("blind", 0.6, 20), judged("elite", 0.4, 20)]).assign(truth=True)
    row = one(ablation_identity(frame, resamples=20), task="gsm8k", judge="ann", rate="fpr")
    assert row["n_pairs"] == 0
    assert np.isnan([row["difference"], row["low"], row["p"], row["p_holm"]]).all()
    assert "no pairs" in row["reason"]


def test_conditions_without_a_label_column_are_known_by_name(labelled):
    bare = ablation_identity(labelled.drop(columns=["label", "template"]), resamples=20)
    pd.testing.assert_frame_equal(
        bare.sort_values("label", ignore_index=True),
        ablation_identity(labelled, resamples=20).sort_values("label", ignore_index=True),
    )


@pytest.mark.parametrize("rows", [0, None])
def test_without_labelled_conditions_there_are_no_rows_but_all_columns(rows):
    result = ablation_identity(judged("blind", 0.5, 10).iloc[:rows])
    assert len(result) == 0
    assert result.columns.tolist() == IDENTITY_COLUMNS
