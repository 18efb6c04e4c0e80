"""Changed judges: found when planted, and seldom when not."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from voirdire.drift import Scenario, change_points
from voirdire.drift.change_study import alarms, change_study
from voirdire.drift.columns import COLUMNS
from voirdire.drift.drawing import observed_streams
from voirdire.drift.levels import Base
from voirdire.drift.population import population
from voirdire.drift.transforms import replaced
from voirdire.errors import UserError

MONDAY = pd.Timestamp("2026-03-02")


def dated(verdicts, seed=0):
    """A made study with every item judged in one of 12 weeks."""
    items = verdicts[["task", "item_id"]].drop_duplicates().reset_index(drop=True)
    week = np.random.default_rng(seed).integers(12, size=len(items))
    frame = verdicts.merge(items.assign(week=week), on=["task", "item_id"])
    return frame.assign(timestamp=MONDAY + pd.to_timedelta(7 * frame["week"], unit="D"))


def with_change(frame, judge="model5", share=0.6, week=6, seed=1):
    """From a week on the judge accepts a share of what it would have rejected."""
    late = ((frame["judge"] == judge) & (frame["week"] >= week)).to_numpy()
    lenient = np.random.default_rng(seed).random(len(frame)) < share
    return frame.assign(verdict=frame["verdict"] | (late & lenient))


@pytest.fixture(scope="module")
def frame(make):
    return dated(make({"gsm8k": 120, "aime": 60}))


def test_a_planted_change_is_found_dated_and_laid_to_the_right_judge(frame):
    found = change_points(with_change(frame)).set_index("judge")
    assert list(found.reset_index().columns) == list(COLUMNS["change_points"])
    changed = found.loc["model5"]
    assert changed["says"] == "changed"
    assert changed["since"] == "2026-04-13"
    assert "2026-04-13" <= changed["first_alarm"] <= "2026-05-04"
    assert changed["reading"] == "leniency"
    assert changed["after"] > changed["before"] + 0.1
    assert changed["statistic"] > changed["threshold"]
    assert changed["p"] == 0.001
    assert changed["note"] == "or the share of right responses in a task has changed"
    others = found.drop(index="model5")
    assert (others["says"] == "no evidence").all()
    assert (others["note"] == "").all()
    assert (others[["since", "first_alarm"]] == "").all(axis=None)


def test_two_changes_are_laid_to_two_judges(frame):
    both = with_change(with_change(frame), "model4", 0.7, week=4, seed=2)
    found = change_points(both).set_index("judge")
    assert found["says"][found["says"] == "changed"].index.tolist() == ["model4", "model5"]
    assert found.loc["model4", "since"] == "2026-03-30"


def test_a_judge_that_begins_to_guess_disagrees_more(frame):
    late = ((frame["judge"] == "model5") & (frame["week"] >= 6)).to_numpy()
    # As lenient as before, on the wrong responses.
    own = frame["judge"] == "model5"
    guess = np.random.default_rng(0).permutation(frame.loc[own, "verdict"].to_numpy())
    verdict = frame["verdict"].to_numpy().copy()
    verdict[own] = np.where(late[own], guess, verdict[own])
    changed = change_points(frame.assign(verdict=verdict)).set_index("judge").loc["model5"]
    assert (changed["says"], changed["reading"]) == ("changed", "agreement")
    assert changed["after"] < changed["before"]


def test_another_mix_of_tasks_is_no_change(make):
    verdicts = make({"gsm8k": 120, "aime": 120}, leniency=0.9)
    frame = dated(verdicts)
    # Word problems in the first half only, competition problems in the second, as far as there are any.
    frame["week"] = np.where(frame["task"] == "gsm8k", frame["week"] // 2, 5 + frame["week"] // 2)
    frame["timestamp"] = MONDAY + pd.to_timedelta(7 * frame["week"], unit="D")
    assert (change_points(frame)["says"] == "no evidence").all()
    pooled = change_points(frame.assign(item_id=frame["task"] + frame["item_id"], task="both"))
    assert (pooled["says"] == "changed").any()


def test_another_share_of_right_responses_is_taken_for_a_judge_and_the_note_says_so():
    """No judge changes; in the seventh week the share of right responses in the task goes from .5 to .8."""
    rng, n = np.random.default_rng(1), 2400
    week = rng.integers(12, size=n)
    truth = rng.random(n) < np.where(week < 6, 0.5, 0.8)
    fpr, fnr = np.array([0.05, 0.1, 0.2, 0.5, 0.6]), np.array([0.1, 0.1, 0.1, 0.05, 0.05])
    votes = rng.random((n, 5)) < np.where(truth[:, None], 1 - fnr, fpr)
    row, judge = np.indices(votes.shape).reshape(2, -1)
    log = pd.DataFrame({"item_id": row.astype(str), "judge": np.array(list("abcde"))[judge], "verdict": votes.ravel()})
    log = log.assign(task="t", examinee="x", truth=pd.NA, timestamp=MONDAY + pd.to_timedelta(7 * week[row], unit="D"))
    named = (found := change_points(log, condition=None, permutations=99))["says"] == "changed"
    assert named.any()
    assert (found["note"][named] == "or the share of right responses in a task has changed").all()


def test_rows_and_judges_may_stand_in_any_order(frame):
    # Judges' numbers are their names' order; whatever they are called, the same changes are found.
    changed = with_change(frame)
    plain = change_points(changed, permutations=199)
    pd.testing.assert_frame_equal(change_points(changed.sample(frac=1, random_state=3), permutations=199), plain)
    names = {f"model{number}": f"model{5 - number}" for number in range(6)}
    renamed = changed.assign(judge=changed["judge"].map(names), examinee=changed["examinee"].map(names))
    turned = change_points(renamed, permutations=199).set_index("judge").loc[[*names.values()]].reset_index(drop=True)
    columns = ["says", "since", "first_alarm", "reading", "before", "after", "n_votes"]
    pd.testing.assert_frame_equal(turned[columns], plain[columns], check_exact=False)
    np.testing.assert_allclose(turned["statistic"], plain["statistic"])


def test_what_cannot_be_tested_says_why(frame):
    one = change_points(frame.assign(timestamp=MONDAY))
    assert (one["says"] == "not tested").all()
    assert one["note"].unique().tolist() == ["one period: nothing to compare it with"]
    two = change_points(frame[frame["judge"].isin(["model0", "model1"])])
    assert (two["says"] == "not tested").all()
    assert two["note"].unique().tolist() == ["too few judges voted"]
    assert list(change_points(frame[:0]).columns) == list(COLUMNS["change_points"])
    silent = change_points(frame.assign(verdict=frame["verdict"].astype("boolean").mask(frame["judge"] == "model3")))
    assert silent.set_index("judge")["says"]["model3"] == "not tested"
    lost = change_points(frame.assign(timestamp=pd.NaT))
    assert (lost["says"] == "not tested").all()
    assert (lost["left_out"] == 180 * 6).all()


def test_bad_settings_are_named(frame):
    with pytest.raises(UserError, match="at least 19 permutations"):
        change_points(frame, permutations=10)
    with pytest.raises(UserError, match="alpha"):
        change_points(frame, alpha=0)
    with pytest.raises(UserError, match="no column 'timestamp'"):
        change_points(frame.drop(columns="timestamp"))


def base(verdicts):
    return Base(verdicts, population(verdicts, Scenario(), "blind"), {})


def test_the_study_has_power_delay_and_false_alarms(make):
    verdicts = make({"gsm8k": 120, "aime": 60})
    lenient = verdicts["judge"] == "model0"
    study = change_study(base(verdicts.assign(verdict=verdicts["verdict"] | lenient)), seeds=20, seed=0)
    assert list(study.columns) == list(COLUMNS["drift_changes"])
    assert study[["judge", "becomes"]].to_numpy().tolist()[0] == ["model5", "model0"]
    assert (study["week"] == 7).all()
    assert study["power"].iloc[0] > 0.8
    assert 0 <= study["mean_delay"].iloc[0] <= 5
    # 20 streams at 5 %: 5 or more happen once in 400 times.
    assert (study["false_alarms"] <= 0.2).all()
    assert ((study["power_low"] <= study["power"]) & (study["power"] <= study["power_high"])).all()


def test_three_judges_have_no_study(verdicts):
    three = verdicts[verdicts["judge"].isin(["model0", "model1", "model2"])]
    study = change_study(base(three), seeds=2, seed=0)
    assert study.empty
    assert list(study.columns) == list(COLUMNS["drift_changes"])


@pytest.mark.slow
def test_false_alarms_are_at_most_five_in_a_hundred_in_twelve_weeks(make):
    """1,000 streams without a change; a rate of .05 gives more than 67 alarms once in 150 times."""
    source = population(make({"gsm8k": 200, "aime": 60}), Scenario(), "blind")
    found = alarms(observed_streams(source, 1000, 5), 5)
    assert (found.week >= 0).sum() <= binom(1000, 0.05).ppf(0.993)
    assert (found.week >= 0).sum() > 5


@pytest.mark.slow
def test_false_alarms_on_logs_whose_items_come_whole(make):
    """300 logs in which all six responses to an item come in one week, as in a study that is judged item by item."""
    alarmed = 0
    for seed in range(300):
        frame = dated(make({"gsm8k": 60, "aime": 30}, seed=seed), seed)
        alarmed += (change_points(frame, permutations=99, seed=seed)["says"] == "changed").any()
    assert alarmed <= binom(300, 0.05).ppf(0.995)


@pytest.mark.slow
def test_a_planted_change_is_found_in_most_streams(make):
    verdicts = make({"gsm8k": 200, "aime": 60})
    verdicts["verdict"] |= verdicts["judge"] == "model0"
    source = population(verdicts, Scenario(), "blind")
    found = alarms(replaced(observed_streams(source, 200, 6), 5, 0, 6), 6)
    hit = (found.judge == 4) & (found.week >= 6)
    assert hit.mean() > 0.9
    assert np.abs(found.since[hit] - 6).mean() < 1
