"""Whether a judge that is asked again says the same."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from voirdire.bias import trial_agreement
from voirdire.bias.trial_agreement import AGREEMENT_COLUMNS


def repeated(said, judge="ann", truth=None, task="gsm8k"):
    """said: (calls, trials) verdicts, None for one that isn't ok."""
    rows = [
        {"item_id": f"i{call}", "trial": trial, "verdict": verdict, "status": "unparsed" if verdict is None else "ok"}
        for call, verdicts in enumerate(said)
        for trial, verdict in enumerate(verdicts)
    ]
    frame = pd.DataFrame(rows).astype({"verdict": "boolean"})
    known = dict(enumerate([True] * len(said) if truth is None else truth))
    frame["truth"] = frame["item_id"].str[1:].astype(int).map(known).astype("boolean")
    return frame.assign(judge=judge, task=task, examinee="bob", condition="blind")


def row(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_agreement_and_kappa_equal_fleiss():
    said = np.random.default_rng(5).random((200, 4)) < np.random.default_rng(6).beta(1, 1, 200)[:, None]
    table = trial_agreement(repeated(said.tolist()), resamples=200)
    counts = np.column_stack([said.sum(axis=1), (~said).sum(axis=1)])
    result = row(table, responses="all")
    assert result["kappa"] == pytest.approx(fleiss_kappa(counts, method="fleiss"))
    pairs = [np.mean([a == b for k, a in enumerate(v) for b in v[k + 1 :]]) for v in said]
    assert result["agreement"] == pytest.approx(np.mean(pairs))
    assert result["unanimous"] == pytest.approx(np.isin(said.sum(axis=1), (0, 4)).mean())
    assert (result["n_calls"], result["n_left_out"], result["mean_trials"]) == (200, 0, 4)
    assert result["low"] < result["agreement"] < result["high"]
    assert result["kappa_low"] < result["kappa"] < result["kappa_high"]


def test_wrong_and_right_responses_apart():
    frame = repeated([(1, 1), (0, 0), (1, 0), (1, 0)], truth=[True, True, False, False])
    table = trial_agreement(frame, resamples=20).set_index("responses")
    assert table["agreement"].to_dict() == {"all": 0.5, "wrong": 0.0, "right": 1.0}
    assert table["n_calls"].to_dict() == {"all": 4, "wrong": 2, "right": 2}


def test_trials_that_are_not_ok_are_left_out_and_calls_without_two_are_counted():
    result = row(trial_agreement(repeated([(1, 1, None), (1, None, None), (None,) * 3])), responses="all")
    assert (result["n_calls"], result["n_left_out"], result["agreement"], result["mean_trials"]) == (1, 2, 1, 2)
    nothing = row(trial_agreement(repeated([(1, None), (None, 0)])), responses="all")
    assert (nothing["n_calls"], nothing["n_left_out"]) == (0, 2)
    assert np.isnan([nothing["agreement"], nothing["low"], nothing["kappa"]]).all()
    assert nothing["reason"] == "no call has two verdicts that are ok"


def test_agreement_needs_no_truth():
    frame = repeated([(1, 1), (1, 0), (0, 0), (0, 1)], truth=[None, None, True, False])
    table = trial_agreement(frame, resamples=20).set_index("responses")
    assert table["n_calls"].to_dict() == {"all": 4, "wrong": 1, "right": 1}
    assert table["agreement"].to_dict() == {"all": 0.5, "wrong": 0.0, "right": 1.0}
    unlabelled = trial_agreement(frame.assign(truth=pd.array([None] * 8, dtype="boolean")), resamples=20)
    assert unlabelled["responses"].tolist() == ["all"]


def test_a_judge_that_always_says_the_same_has_an_interval_and_no_kappa():
    result = row(trial_agreement(repeated([(1, 1)] * 30), resamples=50), responses="all")
    assert (result["agreement"], result["high"], result["interval"]) == (1, 1, "mid-p")
    assert 0.8 < result["low"] < 0.95
    assert (np.isnan(result["kappa"]), result["reason"]) == (True, "all verdicts are equal")


def test_judges_tasks_and_conditions_are_apart():
    frames = [repeated([(1, 1)] * 3), repeated([(1, 0)] * 3, "bea"), repeated([(1, 1)] * 3, task="aime")]
    frames.append(repeated([(0, 1)] * 3).assign(condition="reason"))
    table = trial_agreement(pd.concat(frames, ignore_index=True), resamples=20)
    found = table[table["responses"] == "all"].set_index(["condition", "task", "judge"])["agreement"].to_dict()
    assert found == {
        ("blind", "aime", "ann"): 1,
        ("blind", "gsm8k", "ann"): 1,
        ("blind", "gsm8k", "bea"): 0,
        ("reason", "gsm8k", "ann"): 0,
    }


def test_one_trial_each_has_no_rows():
    table = trial_agreement(repeated([(1,), (0,)]))
    assert table.empty
    assert table.columns.tolist() == AGREEMENT_COLUMNS


def test_repeats_of_one_item_do_not_pass_for_more_items():
    """Ten examinees' responses to each of 12 items, on which the judge wavers by item."""
    by_item = [(1, 1) if item % 2 else (1, 0) for item in range(12)]
    once = repeated(by_item)
    many = pd.concat([once.assign(examinee=f"e{k}") for k in range(10)], ignore_index=True)
    alone, together = (row(trial_agreement(f, seed=3), responses="all") for f in (once, many))
    assert together["agreement"] == alone["agreement"] == 0.5
    assert together["high"] - together["low"] > 0.8 * (alone["high"] - alone["low"])
