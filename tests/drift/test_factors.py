"""The factors: what each changes, what the verdicts can't support, and what a cell says."""

import numpy as np
import pandas as pd
import pytest

from voirdire.drift import Scenario, drift_factors, simulate
from voirdire.drift.columns import COLUMNS
from voirdire.drift.drawing import observed_streams
from voirdire.drift.factors import BREAKS, FACTORS, KEEPS, UNDECIDED, keeps
from voirdire.drift.levels import Base, Level
from voirdire.drift.population import population
from voirdire.errors import UserError

ESTIMATORS = ("oracle", "bayesian", "disagreement")
FAMILIES = {f"model{number}": "even" if number % 2 == 0 else "odd" for number in range(6)}


@pytest.fixture(scope="module")
def several(verdicts):
    """Every judge on two models' responses under two more templates, and on all under an identity label."""
    again = verdicts[verdicts["examinee"].isin(["model0", "model1"])]
    rng = np.random.default_rng(5)
    more = [verdicts.assign(label=None)]
    for condition in ("reason", "rubric"):
        flipped = again["verdict"].to_numpy() ^ (rng.random(len(again)) < 0.05)
        more.append(again.assign(condition=condition, verdict=flipped, label=None))
    more.append(verdicts.assign(condition="elite", label="elite"))
    return pd.concat(more, ignore_index=True)


@pytest.fixture(scope="module")
def result(several):
    return drift_factors(several, families=FAMILIES, estimators=ESTIMATORS, seeds=20)


def levels(verdicts, name, scenario=None, families=None):
    base = Base(verdicts, population(verdicts, scenario or Scenario(), "blind"), families or {})
    return list(FACTORS[name](base))


def test_every_factor_has_rows_and_the_tables_columns(result):
    assert list(result.factors.columns) == list(COLUMNS["drift_factors"])
    assert list(dict.fromkeys(result.factors["factor"])) == list(FACTORS)
    assert not [name for name in result.absent if name in FACTORS]
    rows = result.factors.groupby(["factor", "level"], sort=False).size()
    assert (rows == 4 + 2 * len(ESTIMATORS)).all()
    assert result.factors["simulated"].all()


def test_the_base_is_the_simulation(several, result):
    weeks = simulate(several, estimators=ESTIMATORS, seeds=20).weeks.query("week == 0").reset_index(drop=True)
    base = result.factors[result.factors["factor"] == "base"].reset_index(drop=True)
    shared = [name for name in base.columns if name in weeks.columns]
    assert len(shared) > 12
    pd.testing.assert_frame_equal(base[shared], weeks[shared])


def test_a_cell_says_what_its_interval_shows(result):
    frame = result.factors[result.factors["estimator"] != "oracle"]
    expected = np.select(
        [frame["difference_low"] >= -0.005, frame["difference_high"] < -0.005], [KEEPS, BREAKS], UNDECIDED
    )
    assert frame["keeps"].tolist() == expected.tolist()
    assert set(expected) == {KEEPS, BREAKS, UNDECIDED}
    assert (result.factors[result.factors["estimator"] == "oracle"]["keeps"] == "").all()


def test_on_the_edge_it_keeps_and_without_an_interval_it_is_undecided():
    assert keeps(-0.005, 0.1) == KEEPS
    assert keeps(-0.1, -0.005) == UNDECIDED
    assert keeps(float("nan"), float("nan")) == UNDECIDED


def test_inverted_judges_break_the_majority_and_not_the_log_odds_oracle(result):
    at = result.factors.set_index(["factor", "level", "rule", "estimator", "weights"])
    worse = at.loc[("adversarial judges", "model5, model4", "majority", "", "")]
    plain = at.loc[("base", "as it is", "majority", "", "")]
    assert worse["keeps"] == BREAKS
    assert worse["accuracy"] < plain["accuracy"] - 0.05
    oracle = [
        at.loc[(factor, level, "wmv", "oracle", "log_odds")]["accuracy"]
        for factor, level in (("adversarial judges", "model5, model4"), ("base", "as it is"))
    ]
    assert oracle[0] == pytest.approx(oracle[1], abs=0.01)


def test_a_changed_model_costs_accuracy_only_from_the_week_on(several):
    none, strongest, _ = levels(several, "silent model change")
    assert strongest.name == "model5 becomes model0 in week 7"
    streams = observed_streams(strongest.source, 20, 0)
    before, after = (each.change(streams, [0]).votes for each in (none, strongest))
    np.testing.assert_array_equal(before[:, :6], after[:, :6])
    right = [np.nanmean(votes[:, 6:, :, 4] == streams.truth[:, 6:]) for votes in (before, after)]
    assert right[1] < right[0] - 0.05


@pytest.mark.parametrize("share", ["0.1", "0.5", "0.9"])
def test_prevalence_is_what_the_level_says_in_every_task(make, share):
    verdicts = make({"gsm8k": 200, "aime": 100})
    (level,) = (each for each in levels(verdicts, "prevalence") if isinstance(each, Level) and each.name == share)
    streams = observed_streams(level.source, 200, 0)
    for number in (0, 1):
        mine = streams.task == number
        assert streams.truth[mine].mean() == pytest.approx(float(share), abs=0.01)
    np.testing.assert_allclose(streams.prevalence, float(share))
    base = observed_streams(population(verdicts, Scenario(), "blind"), 1, 0)
    np.testing.assert_array_equal(streams.fpr[0], base.fpr[0])


def test_prevalence_without_enough_responses_of_a_kind_draws_fewer_or_says_why(verdicts):
    hard = verdicts["truth"] & ~((verdicts["task"] == "gsm8k") & (verdicts["item_id"] > "gsm8k-0001"))
    found = levels(verdicts.assign(truth=hard), "prevalence")
    lacking = dict(each for each in found if not isinstance(each, Level))
    assert "responses of gsm8k that are right are enough for" in lacking["0.95"]
    assert next(each.name for each in found if isinstance(each, Level)) == "0.1"


def test_abrupt_drift_has_two_mixes(verdicts):
    (level,) = levels(verdicts, "abrupt drift")
    assert level.name == "from week 7"
    np.testing.assert_allclose(level.source.mix[[0, 5, 6, 11], 0], [0.15, 0.15, 0.85, 0.85])


def test_panel_sizes_go_from_three_to_all(verdicts):
    assert [level.name for level in levels(verdicts, "panel size")] == ["3 of 5", "4 of 5"]
    streams = observed_streams(levels(verdicts, "panel size")[0].source, 2, 0)
    assert (np.isfinite(streams.votes).sum(axis=3) == 3).all()


def test_one_family_judges_the_others(verdicts):
    even, odd = levels(verdicts, "one family", families=FAMILIES)
    assert even.name == "even (model0, model2, model4)"
    box = even.source.box
    assert set(box.examinee) == {"model1", "model3", "model5"}
    assert np.isfinite(box.votes).all()
    assert odd.source.box.judges == ("model1", "model3", "model5")


def test_one_model_under_several_templates_is_a_panel_without_identity_labels(several):
    found = levels(several, "one model under several templates")
    level = found[2]
    assert level.name == "model2 (blind, reason, rubric)"
    box = level.source.box
    assert box.judges == ("blind", "reason", "rubric")
    assert set(box.examinee) == {"model0", "model1"}
    # A model's own responses are not for it to judge; 30 items of one examinee are too few for 40 a week, not for 35.
    own = found[0]
    assert set(own.source.box.examinee) == {"model1"}
    assert own.source.scenario.per_week == 35


def test_a_model_whose_own_responses_alone_were_judged_several_times_has_a_reason(several):
    own = several[(several["condition"] == "blind") | (several["examinee"] == "model0")]
    name, why = levels(own, "one model under several templates")[0]
    assert name.startswith("model0")
    assert "no other model's responses under all of its templates" in why


def test_what_the_verdicts_cannot_support_has_a_reason(verdicts):
    few = verdicts[verdicts["judge"].isin(["model0", "model1", "model2"])]
    names = [name for name in FACTORS if name not in ("error correlation", "prevalence", "abrupt drift")]
    result = drift_factors(few, estimators=("oracle", "disagreement"), factors=names, seeds=5)
    assert set(result.factors["factor"]) == {"base", "adversarial judges"}
    absent = {name: why for name, why in result.absent.items() if ":" not in name}
    assert set(absent) == {"panel size", "one family", "silent model change", "dropout"}
    assert absent["one family"] == "no family has 3 judges"
    assert "at most 3 votes" in absent["panel size"]
    assert all("1 templates" in why for name, why in result.absent.items() if ":" in name)


def test_without_the_scenarios_tasks_all_is_absent(verdicts):
    result = drift_factors(verdicts[verdicts["task"] == "aime"], seeds=5)
    assert result.factors.empty
    assert list(result.factors.columns) == list(COLUMNS["drift_factors"])
    assert set(result.absent) == set(FACTORS)
    assert "gsm8k" in result.absent["prevalence"]


def test_one_judge_and_few_items_give_reasons_not_crashes(verdicts):
    one = verdicts[verdicts["judge"] == "model0"]
    result = drift_factors(one, estimators=ESTIMATORS, seeds=4)
    assert {"panel size", "one family", "silent model change", "dropout", "adversarial judges"} <= set(result.absent)


def test_real_judges_redrawn_votes_are_simulated(verdicts):
    real = verdicts.assign(simulated=False)
    frame = drift_factors(real, estimators=("oracle",), factors=("base", "error correlation"), seeds=4).factors
    assert frame.groupby("factor")["simulated"].agg(["min", "max"]).to_numpy().tolist() == [[False] * 2, [True] * 2]


def test_an_unknown_factor_or_estimator_is_named(verdicts):
    with pytest.raises(UserError, match="unknown factor weather; there are base, panel size"):
        drift_factors(verdicts, factors=("weather",))
    with pytest.raises(UserError, match="unknown estimator psychic"):
        drift_factors(verdicts, estimators=("psychic",))
