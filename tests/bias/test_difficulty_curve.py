"""The gap between own and others' errors as a smooth function of difficulty among the other models."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from voirdire.bias import difficulty_curve
from voirdire.bias.curve_fit import Columns, _sandwich, fitted_sides
from voirdire.bias.difficulty_curve import CURVE_COLUMNS
from voirdire.stats.likelihood import Grouped, Likelihood, Logistic
from voirdire.stats.logit import finite_maximum, penalised_maximum

MODELS = ("ann", "bob", "cas", "dee", "eve")


def study(n, seed=0, own=None, models=MODELS, ability=None, repeats=1):
    """Judges accept wrong responses on easy items less often, and their own by `own(share)` (log-odds) more."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 1.5, n)
    skill = np.zeros(len(models)) if ability is None else np.array(ability)
    truth = rng.random((n, len(models))) < expit(ease[:, None] + skill)
    frames = []
    for j, judge in enumerate(models):
        others_right = (truth.sum(axis=1) - truth[:, j]) / (len(models) - 1)
        for e, examinee in enumerate(models):
            extra = own(others_right) if own and j == e else 0.0
            accept = rng.random(n) < np.where(truth[:, e], 0.9, expit(0.4 - 0.5 * ease + extra))
            frames.append(
                pd.DataFrame({"item_id": [f"item-{i}" for i in range(n)], "verdict": accept, "truth": truth[:, e]})
                .assign(task="gsm8k", judge=judge, examinee=examinee)
            )  # fmt: skip
    frame = pd.concat(frames, ignore_index=True)
    return pd.concat([frame.assign(trial=trial) for trial in range(repeats)], ignore_index=True)


def shares_of(frame):
    """Each wrong verdict with the share right among the models that are neither judge nor compared, the slow way."""
    truth = frame.drop_duplicates(["item_id", "examinee"]).set_index(["item_id", "examinee"])["truth"].unstack()
    rows = []
    for row in frame[~frame["truth"].astype(bool)].itertuples():
        others = [m for m in truth if m != row.judge] if row.judge == row.examinee else [row.examinee]
        for other in others:
            left = truth.loc[row.item_id].drop([row.judge, other]).astype(float)
            share = round(left.mean(), 12)
            rows.append((row.judge, row.judge == row.examinee, share, row.verdict, 1 / len(others), other, row.item_id))
    return pd.DataFrame(rows, columns=["judge", "own", "share", "verdict", "weight", "other", "item"])


def direct(frame, judge):
    """Own and others' rates of one judge at every share, from the definition."""
    rows = shares_of(frame)
    rows = rows[rows["judge"] == judge]
    theirs = ~rows["own"]
    n_each = rows[theirs].groupby("other")["other"].transform("size")
    rows.loc[theirs, "weight"] = 1 / n_each
    rows["accepted"] = rows["verdict"] * rows["weight"]
    sums = rows.groupby(["own", "share"])[["accepted", "weight"]].sum()
    return sums["accepted"] / sums["weight"]


def test_two_shares_and_a_straight_line_give_the_direct_rates():
    frame = study(120, models=MODELS[:3])
    rows = difficulty_curve(frame).query("task == 'gsm8k' and judge == 'bob'").set_index("share_right")
    expected = direct(frame, "bob")
    assert rows.index.tolist() == [0.0, 1.0]
    for share in (0.0, 1.0):
        assert rows.loc[share, "own"] == pytest.approx(expected[True, share], abs=1e-9)
        assert rows.loc[share, "other_value"] == pytest.approx(expected[False, share], abs=1e-9)
        assert rows.loc[share, "gap"] == rows.loc[share, "own"] - rows.loc[share, "other_value"]


def test_shares_are_those_of_the_other_models_and_responses_are_counted_once():
    frame = study(25)
    rows = shares_of(frame)
    rows["response"] = rows["item"] + rows["other"].where(~rows["own"], "")
    result = difficulty_curve(frame).query("task == 'gsm8k' and judge != 'all'")
    result = result.set_index(["judge", "share_right"])
    for (judge, share), part in rows.groupby(["judge", "share"]):
        for own, column in ((True, "n_own"), (False, "n_other")):
            assert result.loc[(judge, share), column] == part.loc[part["own"] == own, "response"].nunique()


def test_fit_is_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(3)
    n = 400
    stratum, own, cluster = rng.integers(0, 2, n), rng.random(n) < 0.4, rng.integers(0, 60, n)
    share = rng.integers(0, 5, n) / 4
    accepted = (rng.random(n) < expit(0.5 * stratum - share + 0.8 * own)).astype(float)
    places, importance = np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.7])
    rows = Columns(stratum, own, share, accepted, np.ones(n), cluster)
    sides = fitted_sides(rows, degree=2, importance=importance, places=places)

    def design(s, o, x):
        curve = np.column_stack([x, x**2])
        return np.column_stack([s == 0, s == 1, curve, o, curve * o[:, None]]).astype(float)

    fit = sm.GLM(accepted, design(stratum, own, share), family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    covariance = fit.cov_params() * 60 / 59
    mean, slope = {}, {}
    for side in (True, False):
        x = [design(np.full(3, s), np.full(3, side), places) for s in (0, 1)]
        p = [expit(each @ fit.params) for each in x]
        mean[side] = importance @ p
        slope[side] = sum(w * (q * (1 - q))[:, None] * each for w, q, each in zip(importance, p, x, strict=True))
    assert sides.own == pytest.approx(mean[True], abs=1e-9)
    assert sides.other == pytest.approx(mean[False], abs=1e-9)
    for side, rates in ((True, sides.own), (False, sides.other)):
        assert rates == pytest.approx(mean[side], abs=1e-9)
    # The joined interval: about as wide as the plain delta method's, which isn't skewed.
    gap = slope[True] - slope[False]
    reach = stats.t.ppf(0.975, 59) * np.sqrt(np.einsum("mi,ij,mj->m", gap, covariance, gap))
    assert (sides.high - sides.low) / 2 == pytest.approx(reach, rel=0.1)


def test_covariance_is_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(5)
    n = 200
    x, cluster = np.column_stack([np.ones(n), rng.normal(size=n)]), rng.integers(0, 40, n)
    y = (rng.random(n) < expit(x[:, 1])).astype(float)
    beta = finite_maximum(Grouped(x, np.ones(n), y, np.arange(n))).beta
    fit = sm.Logit(y, x).fit(disp=0, tol=1e-14, cov_type="cluster", cov_kwds={"groups": cluster})
    p = expit(x @ beta)
    bread = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)
    # statsmodels also multiplies by (n - 1) / (n - k).
    expected = fit.cov_params() * (n - 2) / (n - 1)
    assert _sandwich(bread, x, np.arange(n), y - p, cluster) == pytest.approx(expected, abs=1e-9)
    assert beta == pytest.approx(fit.params, abs=1e-9)


def test_penalised_fit_of_a_saturated_model_adds_half_to_each_count():
    x = np.array([[1.0, 0], [1, 1]])
    cells = Grouped(x, np.array([10.0, 8]), np.array([0.0, 3]), np.arange(2))
    assert finite_maximum(cells) is None
    assert expit(x @ penalised_maximum(cells).beta) == pytest.approx([0.5 / 11, 3.5 / 9], abs=1e-9)


def test_cells_are_the_rows_that_they_are_made_of():
    rng = np.random.default_rng(8)
    x = np.array([[1.0, 0], [1, 1], [1, 2]])
    row, accepted = np.repeat([0, 1, 2], 20), rng.random(60) < 0.4
    cells = Grouped(x, np.full(3, 20.0), np.bincount(row, accepted), np.arange(3))
    rows = Logistic(x[row], accepted, np.arange(60))
    beta = np.array([-0.3, 0.2])
    assert cells.evaluate(beta).loglik == pytest.approx(rows.evaluate(beta).loglik)
    assert cells.evaluate(beta).information == pytest.approx(rows.evaluate(beta).information)
    assert cells.evaluate(beta).scores.sum(axis=0) == pytest.approx(rows.evaluate(beta).scores.sum(axis=0))
    assert cells.unit_information(beta, beta).sum() == pytest.approx(rows.unit_information(beta, beta).sum())
    assert cells.penalty_gradient(beta) == pytest.approx(Likelihood.penalty_gradient(rows, beta), abs=1e-7)


def test_judge_with_one_side_only_stays_out_of_the_others_curve():
    frame = study(300, seed=9)
    ann = frame["judge"] == "ann"
    frame = pd.concat([frame[~ann], frame[ann & (frame["examinee"] == "ann")]], ignore_index=True)
    rows, without = difficulty_curve(frame), difficulty_curve(frame[frame["judge"] != "ann"])
    assert (rows.query("judge == 'ann'")["reason"] == "no other's wrong response").all()
    columns = ["own", "other_value", "low", "high"]
    there, fewer = (table.query("judge == 'all'")[columns].to_numpy() for table in (rows, without))
    assert there == pytest.approx(fewer, abs=1e-9)


def test_separated_verdicts_get_a_penalised_fit_that_says_so():
    frame = study(80)
    frame.loc[(frame["judge"] == "ann") & (frame["examinee"] == "ann"), "verdict"] = True
    rows = difficulty_curve(frame).query("task == 'gsm8k'").set_index("judge")
    assert rows.loc["ann", "fit"].str.endswith("penalised (Firth)").all()
    assert not rows.loc["bob", "fit"].str.contains("Firth").any()
    ann = rows.loc["ann"]
    assert ((ann["own"] > 0.8) & (ann["own"] < 1) & (ann["high"] < 1) & (ann["low"] > -1)).all()


def planted(share):
    return 1.5 * share


@pytest.fixture(scope="module")
def truth_at_length():
    """The direct rates' gap of a large panel, mean over judges, who are alike: no curve is fitted."""
    rng = np.random.default_rng(99)
    ease = rng.normal(0, 1.5, 400_000)
    truth = rng.random((len(ease), len(MODELS))) < expit(ease[:, None])
    # The judge is the first model, compared with the second; the others say how hard an item is.
    share, others_right = truth[:, 2:].mean(axis=1), truth[:, 1:].mean(axis=1)
    own, other = expit(0.4 - 0.5 * ease + planted(others_right)), expit(0.4 - 0.5 * ease)
    at = np.arange(4) / 3
    return np.array(
        [
            own[~truth[:, 0] & np.isclose(share, s)].mean() - other[~truth[:, 1] & np.isclose(share, s)].mean()
            for s in at
        ]
    )


def test_planted_curve_is_recovered(truth_at_length):
    rows = difficulty_curve(study(800, seed=1, own=planted)).query("task == 'gsm8k' and judge == 'all'")
    assert rows["share_right"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert ((rows["low"] < truth_at_length) & (truth_at_length < rows["high"])).all()
    assert rows["gap"].is_monotonic_increasing
    assert rows["low"].iloc[-1] > 0.1


def test_weak_judges_with_many_errors_do_not_pass_for_self_preference():
    frame = study(800, seed=4, ability=(2, 1, 0, -1, -2))
    lenient = (frame["judge"] == "eve") & ~frame["truth"]
    frame.loc[lenient, "verdict"] = np.random.default_rng(7).random(int(lenient.sum())) < 0.9
    wrong = frame[~frame["truth"]]
    own = wrong["judge"] == wrong["examinee"]
    assert wrong.loc[own, "verdict"].mean() > wrong.loc[~own, "verdict"].mean() + 0.03
    rows = difficulty_curve(frame).query("task == 'gsm8k' and judge == 'eve'")
    assert ((rows["low"] < 0) & (rows["high"] > 0)).all()


def test_repeats_on_an_item_do_not_shrink_the_interval():
    once, often = (difficulty_curve(study(60, seed=5, repeats=n)).query("judge == 'all'") for n in (1, 20))
    assert often["gap"].to_numpy() == pytest.approx(once["gap"].to_numpy(), abs=1e-9)
    for bound in ("low", "high"):
        assert often[bound].to_numpy() == pytest.approx(once[bound].to_numpy(), abs=1e-9)


def coverage(seeds, n):
    covered = []
    for seed in range(seeds):
        rows = difficulty_curve(study(n, seed=seed)).query("task == 'gsm8k'").dropna(subset=["gap"])
        covered.append(((rows["low"] <= 0) & (rows["high"] >= 0)).mean())
    return float(np.nanmean(covered))


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 60, 300])
def test_null_gap_is_covered_over_many_seeds(n):
    covered = coverage(200, n)
    assert covered >= 0.95 + stats.norm.ppf(0.0005) * np.sqrt(0.05 * 0.95 / 200)


def test_all_tasks_weigh_equally():
    parts = []
    for task, n, level in (("aime", 60, 0.2), ("gsm8k", 900, 0.9)):
        frame = study(n, seed=n).assign(task=task)
        drawn = np.random.default_rng(n).random(len(frame)) < level
        parts.append(frame.assign(verdict=np.where(frame["truth"], frame["verdict"], drawn)))
    rows = difficulty_curve(pd.concat(parts, ignore_index=True)).query("judge == 'all' and task == 'all'")
    # By their numbers, the large task alone would count.
    assert rows["own"].to_numpy() == pytest.approx(0.55, abs=0.06)
    assert rows["other_value"].to_numpy() == pytest.approx(0.55, abs=0.06)
    assert rows["fit"].str.contains("15 parameters").all()


def test_few_own_wrong_responses_are_nan_with_their_number():
    frame = study(60)
    ann = frame["examinee"] == "ann"
    first = frame["item_id"].isin(["item-0", "item-1"])
    frame.loc[ann, "truth"] = ~first[ann]
    rows = difficulty_curve(frame).query("judge == 'ann' and task == 'gsm8k'")
    assert len(rows) > 1
    assert rows["gap"].isna().all()
    assert (rows["reason"] == "only 2 own wrong responses: too few for a curve (10 needed)").all()


def test_nothing_is_extrapolated():
    frame = study(300)
    truth = frame.drop_duplicates(["item_id", "examinee"]).set_index(["item_id", "examinee"])["truth"].unstack()
    # Where all others are right, ann is, too: no own wrong response there.
    easy = truth.index[truth.drop(columns="ann").all(axis=1)]
    frame.loc[frame["item_id"].isin(easy) & (frame["examinee"] == "ann"), "truth"] = True
    easier = truth.index[truth.drop(columns="ann").sum(axis=1) >= 3]
    frame.loc[frame["item_id"].isin(easier) & (frame["examinee"] == "ann"), "truth"] = True
    rows = difficulty_curve(frame).query("judge == 'ann' and task == 'gsm8k'").set_index("share_right")
    assert rows.loc[1.0, "n_own"] == 0
    assert np.isnan(rows.loc[1.0, "gap"])
    assert rows.loc[1.0, "reason"].endswith("not extrapolated")
    assert rows.loc[0.0, "reason"] == ""


def test_many_models_get_steps_of_a_twentieth():
    models = tuple(f"m{i:02}" for i in range(30))
    rows = difficulty_curve(study(40, models=models)).query("task == 'gsm8k' and judge == 'all'")
    steps = rows["share_right"].to_numpy() * 20
    assert steps == pytest.approx(np.round(steps))
    assert 5 < len(rows) <= 21


def test_two_models_have_no_difficulty_and_say_so():
    rows = difficulty_curve(study(40, models=MODELS[:2]))
    assert rows[["task", "judge"]].drop_duplicates().shape[0] == len(rows) == 2 * 3
    assert rows["share_right"].isna().all()
    assert (rows["reason"] == "no third model's answers say how hard an item is").all()


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("verdict", [True, False])
def test_tiny_constant_studies_have_all_columns_and_a_reason(n, verdict):
    rows = difficulty_curve(study(n).assign(verdict=verdict))
    assert rows.columns.tolist() == CURVE_COLUMNS
    assert rows["gap"].isna().all()
    assert (rows["reason"] != "").all()


def test_constant_verdicts_have_no_gap():
    rows = difficulty_curve(study(200).assign(verdict=True)).query("judge == 'all'")
    assert rows["fit"].str.contains("Firth").all()
    assert rows["gap"].abs().max() < 0.05
    assert ((rows["low"] < 0) & (rows["high"] > 0)).all()


@pytest.mark.parametrize("value", [True, False])
def test_all_right_or_all_wrong(value):
    rows = difficulty_curve(study(30).assign(truth=value))
    assert rows.columns.tolist() == CURVE_COLUMNS
    if value:
        assert rows["gap"].isna().all()
        assert (rows["reason"] != "").all()
    else:
        assert rows["share_right"].tolist() == [0.0] * len(rows)
        assert rows["fit"].str.contains("constant").all()


def test_missing_cells_do_no_harm(random_table):
    frame = random_table(3, n_items=60)
    rows = difficulty_curve(frame)
    assert rows["gap"].notna().any()
    assert (rows["gap"].notna() == (rows["reason"] == "")).all()
    known = rows.dropna(subset=["gap"])
    assert ((known["low"] <= known["gap"]) & (known["gap"] <= known["high"])).all()
    assert known["low"].ge(-1).all()
    assert known["high"].le(1).all()


@pytest.mark.parametrize("rows", [0, None])
def test_without_a_diagonal_there_are_no_rows_but_all_columns(rows):
    frame = study(5)[lambda t: (t["judge"] == "ann") & (t["examinee"] != "ann")].iloc[:rows]
    result = difficulty_curve(frame)
    assert len(result) == 0
    assert result.columns.tolist() == CURVE_COLUMNS


def test_same_verdicts_give_the_same_table():
    frame = study(50)
    pd.testing.assert_frame_equal(difficulty_curve(frame), difficulty_curve(frame))
    shuffled = frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(difficulty_curve(frame), difficulty_curve(shuffled), rtol=1e-8)
