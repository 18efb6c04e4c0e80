"""Preference beyond every author's, judge's and question's effect: against statsmodels, and planted."""

import numpy as np
import pandas as pd
import pytest
from preferring import one, planted
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.tools.sm_exceptions import ModelWarning

from voirdire.bias import preference_model
from voirdire.bias.preference_model import MODEL_COLUMNS

FAMILIES = {"ann": "a", "bob": "a", "cas": "c", "dee": "d"}
FOUR = ("ann", "bob", "cas", "dee")


def test_the_effect_of_all_judges_is_that_of_a_conditional_logit_with_authors_effects():
    frame = planted(1, 150, preference=0.2, leniency={"ann": 0.3}, models=FOUR)
    wrong = frame[~frame["truth"]]
    authors = [(wrong["examinee"] == name).astype(float) for name in FOUR[1:]]
    own = (wrong["judge"] == wrong["examinee"]).astype(float)
    family = (wrong["judge"].map(FAMILIES) == wrong["examinee"].map(FAMILIES)).astype(float) - own
    groups = wrong.groupby(["judge", "item_id"]).ngroup()
    with pytest.warns(ModelWarning, match="no within-group variance"):
        model = ConditionalLogit(wrong["verdict"].astype(int), np.column_stack([own, family, *authors]), groups=groups)
    expected = model.fit(disp=0, method="newton", maxiter=100)
    table = preference_model(frame, families=FAMILIES)
    for kind, value in zip(("own model", "own family"), expected.params, strict=False):
        assert one(table, kind=kind, judge="all")["log_odds"] == pytest.approx(value, abs=1e-6)


def test_planted_preference_is_recovered_and_leniency_towards_an_author_is_none():
    frame = planted(2, 1500, preference=0.2, leniency={"ann": 0.25}, models=FOUR)
    table = preference_model(frame, families=FAMILIES)
    for judge in FOUR:
        base = 0.55 if judge == "ann" else 0.3
        row = one(table, kind="own model", judge=judge)
        assert row["low"] < _logit(base + 0.2) - _logit(base) < row["high"]
        assert row["says"] == "difference"
    none = preference_model(planted(3, 1500, leniency={"ann": 0.25}, models=FOUR), families=FAMILIES)
    assert (none["low"] < 0).all()
    assert (none["high"] > 0).all()


def test_three_trials_of_the_same_verdicts_tell_no_more_than_one():
    frame = planted(4, 200, preference=0.2)
    thrice = pd.concat([frame.assign(trial=trial) for trial in range(3)], ignore_index=True)
    once, again = preference_model(frame), preference_model(thrice)
    assert once["log_odds"].to_numpy() == pytest.approx(again["log_odds"].to_numpy(), abs=1e-8)
    assert once["low"].to_numpy() == pytest.approx(again["low"].to_numpy(), abs=1e-6)


def test_a_judge_that_accepts_all_its_own_has_no_finite_effect_and_the_others_have_theirs():
    frame = planted(5, 300, models=FOUR)
    frame.loc[(frame["judge"] == "ann") & (frame["examinee"] == "ann"), "verdict"] = True
    table = preference_model(frame, families=FAMILIES)
    ann = one(table, kind="own model", judge="ann")
    assert np.isnan(ann["log_odds"])
    assert "no finite effect" in ann["reason"]
    assert ann["says"] == "nothing"
    assert one(table, kind="own model", judge="bob")["low"] < 0 < one(table, kind="own model", judge="bob")["high"]


def test_without_families_only_own_models_are_compared():
    assert set(preference_model(planted(6, 60))["kind"]) == {"own model"}


def test_two_models_can_be_told_apart_only_through_both():
    # Own of ann and own of bob are one contrast, against both authors' effects: two effects can't be had of it.
    table = preference_model(planted(7, 1500, preference=0.2, models=("ann", "bob")))
    each = table[table["judge"] != "all"]
    assert each["log_odds"].isna().all()
    assert each["reason"].str.contains("can't be told").all()
    assert one(table, judge="all")["low"] > 0


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame[:0],
        lambda frame: frame.assign(truth=True),
        lambda frame: frame.assign(verdict=True),
        lambda frame: frame[frame["judge"] == "ann"],
        lambda frame: frame[frame["examinee"] == "ann"],
        lambda frame: frame[frame["judge"] != frame["examinee"]],
        lambda frame: frame[frame["item_id"] == "0"],
    ],
)
def test_where_nothing_can_be_compared_there_is_a_reason(change):
    table = preference_model(change(planted(8, 30)).reset_index(drop=True))
    assert table.columns.tolist() == MODEL_COLUMNS
    assert table["log_odds"].isna().all()
    assert (table["reason"] != "").all()
    assert (table["says"] == "nothing").all()


@pytest.mark.slow
def test_ability_and_plausible_errors_of_strong_models_are_no_preference():
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        found.append(preference_model(_able(rng, 250)).assign(seed=seed))
    rejected = pd.concat(found).groupby("judge")["p"].agg(lambda p: (p < 0.05).mean())
    # The 99.9 % binomial range of 6 % in 100 seeds.
    assert rejected.max() <= 0.15, rejected


def _able(rng, n_items):
    """Strong models are strict judges, solve what they judge, and their errors look better to everybody."""
    ability = {"ann": 1.2, "bob": 0.7, "cas": 0.2, "dee": -0.2, "eve": -0.6}
    difficulty = rng.normal(size=n_items)
    solved = {name: skill - difficulty + rng.normal(size=n_items) > 0 for name, skill in ability.items()}
    frames = []
    for judge in ability:
        for author in ability:
            looks = 1.5 * ability[author] - 2 * ability[judge] - 4 * solved[judge]
            accept = np.where(solved[author], 0.9, 1 / (1 + np.exp(-looks)))
            frames.append(
                pd.DataFrame(
                    {
                        "item_id": [str(item) for item in range(n_items)],
                        "verdict": rng.random(n_items) < accept,
                        "truth": solved[author],
                    }
                ).assign(task="gsm8k", judge=judge, examinee=author)
            )
    return pd.concat(frames, ignore_index=True)


def _logit(share):
    return np.log(share / (1 - share))
