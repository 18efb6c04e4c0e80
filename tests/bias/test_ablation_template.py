"""What another judge template does to rates and to the order of the judges, on the same responses."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from voirdire.bias import ablation_identity, ablation_template, template_ranking
from voirdire.bias.ablation_template import TEMPLATE_COLUMNS
from voirdire.bias.template_ranking import RANKING_COLUMNS

JUDGES = ("ann", "bea", "cas", "dov")


def judged(template, fpr, n=400, task="gsm8k", seed=0, fnr=0.1):
    """Half of n responses are wrong; fpr: what each judge accepts of them under this template."""
    truth = np.arange(n) % 2 == 0
    rng = np.random.default_rng([seed, len(template), n])
    parts = [
        pd.DataFrame({"item_id": [f"i{i}" for i in range(n)], "truth": truth, "judge": judge}).assign(
            verdict=rng.random(n) < np.where(truth, 1 - fnr, rate)
        )
        for judge, rate in zip(JUDGES, fpr, strict=False)
    ]
    condition = "blind" if template == "default" else template
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(condition=condition, template=template, label=None, task=task, examinee="bob")


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


@pytest.fixture(scope="module")
def verdicts():
    return pd.concat(
        [judged("default", (0.2, 0.4, 0.6, 0.8)), judged("reason", (0.05, 0.4, 0.6, 0.8))], ignore_index=True
    )


def test_difference_and_p_equal_mcnemar_on_the_same_responses(verdicts):
    row = one(ablation_template(verdicts, resamples=200), task="gsm8k", judge="ann", rate="fpr")
    rows = verdicts[(verdicts["judge"] == "ann") & ~verdicts["truth"]]
    wide = rows.pivot(index="item_id", columns="template", values="verdict").astype(bool)
    assert (row["template"], row["n_pairs"]) == ("reason", len(wide))
    assert row["main"] == pytest.approx(wide["default"].mean())
    assert row["difference"] == pytest.approx(wide["reason"].mean() - wide["default"].mean())
    expected = mcnemar(pd.crosstab(wide["reason"], wide["default"]), exact=True).pvalue
    assert row["p"] == pytest.approx(expected, rel=1e-6)


def test_a_planted_change_is_found_where_it_is_and_nowhere_else(verdicts):
    table = ablation_template(verdicts)
    ann = one(table, task="all", judge="ann", rate="fpr")
    assert ann["low"] < -0.15 < ann["high"] < 0
    others = table[(table["task"] == "all") & (table["rate"] == "fpr") & table["judge"].isin(JUDGES[1:])]
    assert (others["low"] < 0).all()
    assert (others["high"] > 0).all()


def test_the_same_as_for_a_label(verdicts):
    as_label = verdicts.assign(label=verdicts["template"].map({"default": None, "reason": "elite"}), template="default")
    template, label = ablation_template(verdicts, resamples=50), ablation_identity(as_label, resamples=50)
    for column in ("difference", "low", "high", "p", "p_holm"):
        np.testing.assert_allclose(template[column], label[column])


def test_labelled_conditions_of_other_templates_are_not_compared(verdicts):
    labelled = judged("reason", (1, 1, 1, 1)).assign(condition="reason-elite", label="elite")
    both = pd.concat([verdicts, labelled], ignore_index=True)
    pd.testing.assert_frame_equal(
        ablation_template(both, resamples=20), ablation_template(verdicts, resamples=20), check_exact=True
    )


@pytest.mark.parametrize(
    ("table", "columns"), [(ablation_template, TEMPLATE_COLUMNS), (template_ranking, RANKING_COLUMNS)]
)
def test_without_a_second_template_there_are_no_rows(verdicts, table, columns):
    for frame in (
        verdicts[verdicts["template"] == "default"],
        verdicts.drop(columns="template"),
        verdicts.assign(verdict=verdicts["verdict"].where(verdicts["template"] == "default")),
    ):
        result = table(frame, resamples=20)
        assert result.empty
        assert result.columns.tolist() == columns


def test_tau_is_that_of_the_rates(verdicts):
    table = template_ranking(verdicts, resamples=200)
    rates = ablation_template(verdicts, resamples=20)
    for measure in ("fpr", "fnr", "bias"):
        rows = rates[(rates["task"] == "gsm8k") & (rates["rate"] == measure) & (rates["judge"] != "all")]
        row = one(table, task="gsm8k", measure=measure)
        assert row["tau"] == pytest.approx(stats.kendalltau(rows["main"], rows["other"]).statistic)
        assert row["n_judges"] == 4
        assert row["n_pairs"] == 1600


def test_an_order_that_stays_has_no_reversed_pair_and_a_reversed_one_has_all(verdicts):
    stays = one(template_ranking(verdicts), task="all", measure="fpr")
    assert (stays["tau"], stays["n_reversed"], stays["reversed"]) == (1, 0, "")
    assert (stays["first_main"], stays["first_other"]) == ("ann", "ann")
    turned = pd.concat([judged("default", (0.2, 0.4, 0.6, 0.8)), judged("reason", (0.8, 0.6, 0.4, 0.2))])
    row = one(template_ranking(turned), task="all", measure="fpr")
    assert (row["tau"], row["n_reversed"], row["first_main"], row["first_other"]) == (-1, 6, "ann", "dov")
    assert row["reversed"].startswith("ann, bea; ann, cas")
    assert row["high"] < row["unmoved_low"]


def test_only_the_pair_that_changes_places_is_reversed():
    frame = pd.concat([judged("default", (0.1, 0.3, 0.6, 0.9)), judged("reason", (0.1, 0.6, 0.3, 0.9))])
    row = one(template_ranking(frame), task="all", measure="fpr")
    assert (row["n_reversed"], row["reversed"]) == (1, "bea, cas")


@pytest.mark.parametrize(
    ("main", "other"),
    [((0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5)), ((0.1, 0.3, 0.5, 0.7), (0.9, 0.91, 0.92, 0.93))],
    ids=["equal judges", "rates moved closer together"],
)
def test_noise_reverses_no_pair(main, other):
    found = 0
    for seed in range(40):
        frame = pd.concat([judged("default", main, 120, seed=seed), judged("reason", other, 120, seed=seed)])
        found += one(template_ranking(frame, resamples=20, seed=seed), task="all", measure="fpr")["n_reversed"] > 0
    # A reversal takes two differences of opposite sign, so far fewer than 5 % of the studies show one.
    assert found <= 2


def test_all_tasks_are_ranked_by_the_mean_of_the_task_rates():
    frame = pd.concat(
        [
            judged("default", (0.1, 0.2, 0.3, 0.4), 200),
            judged("reason", (0.1, 0.2, 0.3, 0.4), 200),
            judged("default", (0.9, 0.6, 0.5, 0.1), 100, "aime"),
            judged("reason", (0.9, 0.6, 0.5, 0.1), 100, "aime"),
        ]
    )
    rates = ablation_template(frame, resamples=20)
    means = rates[(rates["task"] == "all") & (rates["rate"] == "fpr") & (rates["judge"] != "all")]
    row = one(template_ranking(frame, resamples=50), task="all", measure="fpr")
    assert row["tau"] == pytest.approx(stats.kendalltau(means["main"].round(9), means["other"].round(9)).statistic)


def test_two_judges_and_tied_ones_have_no_order_and_a_reason():
    two = pd.concat([judged(name, (0.2, 0.6)) for name in ("default", "reason")])
    row = one(template_ranking(two, resamples=20), task="all", measure="fpr")
    assert np.isnan(row["tau"])
    assert row["reason"] == "an order needs 3 judges with this rate; there are 2"
    tied = pd.concat([judged(name, (0.0, 0.0, 0.0), fnr=0.0) for name in ("default", "reason")])
    row = one(template_ranking(tied, resamples=20), task="all", measure="fpr")
    assert (np.isnan(row["tau"]), row["reason"], row["first_main"]) == (True, "all judges are tied", "")
