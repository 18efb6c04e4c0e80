"""The majority of the others against the self-judge."""

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.panel import ballots, majority, static_majority
from voirdire.panel.ensembles import COLUMNS
from voirdire.stats import bootstrap

JUDGES = ("ann", "bob", "cem", "dia")


def table(responses, task="gsm8k"):
    """Verdicts from (item, examinee, truth, votes of JUDGES), a vote being 1, 0 or None (refused)."""
    rows = [
        (task, item, examinee, judge, vote, truth)
        for item, examinee, truth, votes in responses
        for judge, vote in zip(JUDGES, votes, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["task", "item_id", "examinee", "judge", "verdict", "truth"])
    frame["verdict"], frame["truth"] = frame["verdict"].astype("boolean"), frame["truth"].astype("boolean")
    fixed = {"condition": "blind", "trial": 0, "generation_status": "ok", "simulated": True}
    return frame.assign(**fixed, status=np.where(frame["verdict"].isna(), "refused", "ok"))


# Ann accepts all of her own; the others find two of her three errors.
ANNS = [
    ("q1", "ann", 0, (1, 0, 0, 1)),
    ("q2", "ann", 0, (1, 0, 0, 0)),
    ("q3", "ann", 0, (1, 1, 1, 0)),
    ("q4", "ann", 1, (1, 1, 1, 1)),
    ("q5", "ann", 1, (1, 0, 0, 1)),
]


def row(frame, metric, task="gsm8k", examinee="ann"):
    return frame[(frame["task"] == task) & (frame["examinee"] == examinee) & (frame["metric"] == metric)].iloc[0]


def test_both_are_measured_on_the_same_responses():
    frame = static_majority(table(ANNS), resamples=50)
    fpr, fnr, accuracy, bias = (row(frame, metric) for metric in ("fpr", "fnr", "accuracy", "bias"))
    assert (fpr["majority"], fpr["self_judge"]) == (pytest.approx(1 / 3), 1)
    assert (fnr["majority"], fnr["self_judge"]) == (0.5, 0)
    assert accuracy["difference"] == pytest.approx(3 / 5 - 2 / 5)
    assert bias["difference"] == pytest.approx((1 / 3 - 1 / 2) - (1 - 0))
    assert (accuracy["n"], accuracy["n_right"], accuracy["n_wrong"], accuracy["n_voters"]) == (5, 2, 3, 3)
    assert frame["simulated"].all()


def test_intervals_hold_their_estimates():
    frame = static_majority(table(ANNS), resamples=200)
    for side in ("majority", "self_judge", "difference"):
        assert (frame[f"{side}_low"] <= frame[side]).all()
        assert (frame[side] <= frame[f"{side}_high"]).all()
    assert set(frame["interval"]) == {"mover"}


def test_a_response_without_own_verdict_leaves_the_comparison_and_is_counted():
    frame = static_majority(table([*ANNS, ("q6", "ann", 1, (None, 1, 1, 1))]), resamples=20)
    assert row(frame, "accuracy")[["n", "n_self_missing"]].tolist() == [5, 1]


def test_ties_and_abstentions_are_counted():
    responses = [*ANNS, ("q6", "ann", 1, (1, 1, 0, None)), ("q7", "ann", 0, (1, 1, None, None))]
    frame = static_majority(table(responses), resamples=20, quorum=2)
    assert row(frame, "fnr")[["n", "n_ties", "n_abstain", "majority"]].tolist() == [6, 1, 1, pytest.approx(2 / 3)]
    abstaining = static_majority(table(responses), resamples=20, quorum=2, tie="abstain")
    assert row(abstaining, "fnr")[["n", "n_ties", "n_abstain", "majority"]].tolist() == [5, 1, 2, 0.5]
    # The default quorum of five is cut to the panel of three.
    assert row(static_majority(table(responses), resamples=20), "fnr")["n_abstain"] == 2


def test_the_examinee_votes_only_when_told_to():
    responses = [("q1", "ann", 1, (1, 1, 0, None)), ("q2", "ann", 0, (0, 0, 0, 0))]
    alone = static_majority(table(responses), resamples=20, quorum=1)
    joined = static_majority(table(responses), resamples=20, quorum=1, include_self=True)
    assert (row(alone, "fnr")["majority"], row(joined, "fnr")["majority"]) == (1, 0)
    assert (row(alone, "fnr")["n_voters"], row(joined, "fnr")["n_voters"]) == (3, 4)


def test_a_model_that_is_no_judge_has_the_majority_and_a_reason():
    frame = static_majority(table([*ANNS, ("q1", "eve", 0, (1, 0, 0, 0)), ("q2", "eve", 1, (1, 1, 1, 1))]))
    eve = row(frame, "accuracy", examinee="eve")
    assert (eve["n"], eve["majority"]) == (2, 1)
    assert np.isnan([eve["self_judge"], eve["difference"], eve["difference_low"]]).all()
    assert eve["reason"] == "not a judge: no self-judge to compare with"
    assert row(frame, "accuracy")["reason"] == ""


def test_without_wrong_responses_there_is_no_fpr_but_a_reason():
    frame = static_majority(table(ANNS[3:]), resamples=20)
    assert np.isnan(row(frame, "fpr")["majority"])
    assert row(frame, "fpr")["reason"] == row(frame, "bias")["reason"] == "no wrong response"
    assert row(frame, "fnr")["reason"] == ""


def test_all_is_the_mean_of_the_tasks_that_have_the_rate():
    aime = table([("a1", "ann", 1, (0, 1, 1, 1))], task="aime")
    frame = static_majority(pd.concat([table(ANNS), aime]), resamples=20)
    assert row(frame, "accuracy", "all")["majority"] == pytest.approx((3 / 5 + 1) / 2)
    assert row(frame, "fpr", "all")["majority"] == pytest.approx(1 / 3)
    assert row(frame, "accuracy", "all")["n"] == 6


def test_row_order_does_not_matter():
    verdicts = pd.concat([table(ANNS), table(ANNS[2:], task="aime")])
    shuffled = verdicts.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(static_majority(verdicts), static_majority(shuffled))


@pytest.mark.parametrize("change", [{"truth": None}, {"generation_status": "refused"}], ids=["no truth", "no response"])
def test_without_a_response_of_known_truth_there_are_columns_but_no_row(change):
    verdicts = table(ANNS)
    for frame in (verdicts.assign(**change), verdicts.iloc[:0]):
        found = static_majority(frame)
        assert found.empty
        assert tuple(found.columns) == COLUMNS


def test_a_condition_that_is_not_there_is_an_error():
    with pytest.raises(UserError, match="condition 'elite' has no verdicts"):
        static_majority(table(ANNS), condition="elite")


def test_trials_are_votes_taken_but_add_no_items():
    once = table([(f"q{number}", "ann", number % 2, (1, int(number % 3 == 0), 1, 0)) for number in range(40)])
    twice = pd.concat([once, once.assign(trial=1)])
    first, second = (row(static_majority(frame, resamples=400), "accuracy") for frame in (once, twice))
    assert (first["n"], first["n_right"], second["n"], second["n_right"]) == (40, 20, 80, 40)
    assert first["n_ties"] * 2 == second["n_ties"] == 0
    columns = ["majority", "majority_low", "majority_high", "difference", "difference_low", "difference_high"]
    np.testing.assert_allclose(first[columns].astype(float), second[columns].astype(float))


def test_another_benchmark_does_not_change_a_tasks_intervals():
    rng = np.random.default_rng(3)
    responses = [(f"q{n}", "ann", n % 2, tuple(rng.integers(2, size=4))) for n in range(400)]
    gsm8k = table(responses)
    alone = static_majority(gsm8k)
    beside = static_majority(pd.concat([table(responses[:30], task="aime"), gsm8k]))
    assert "percentile" in set(alone["interval"])
    mine = [frame[frame["task"] == "gsm8k"].reset_index(drop=True) for frame in (alone, beside)]
    pd.testing.assert_frame_equal(*mine)


def test_many_items_are_resampled_in_blocks(monkeypatch):
    responses = [(f"q{n}", "ann", n % 2, (1, int(n % 3 == 0), 1, int(n % 5 == 0))) for n in range(600)]
    whole = row(static_majority(table(responses)), "accuracy")
    monkeypatch.setattr(bootstrap, "MANY_CLUSTERS", 500)
    monkeypatch.setattr(bootstrap, "BLOCKS", 100)
    blocks = row(static_majority(table(responses)), "accuracy")
    assert blocks["majority"] == whole["majority"]
    assert blocks["majority_low"] != whole["majority_low"]
    assert blocks["majority_low"] == pytest.approx(whole["majority_low"], abs=0.02)


def test_the_difference_of_bias_heeds_that_its_parts_hang_together():
    # A cluster is a page of a right and a wrong response; on some pages the others accept both, on some neither.
    responses = [
        (f"q{page}{truth}", "ann", truth, (1 - truth, lenient, lenient, lenient))
        for page, lenient in enumerate([1] * 8 + [0] * 12)
        for truth in (0, 1)
    ]
    frame = table(responses)
    paged = frame.assign(cluster=frame["item_id"].str[:-1])
    bias, fpr, fnr = (row(static_majority(paged), metric) for metric in ("bias", "fpr", "fnr"))
    assert bias["interval"] == "mover"
    # FPR rises where FNR falls, so that their difference varies by as much as both together.
    for end in ("low", "high"):
        away = [abs(each[f"difference_{end}"] - each["difference"]) for each in (bias, fpr, fnr)]
        assert away[0] > 1.7 * max(away[1:])


def test_nus_feedback_agrees_with_votes_counted_directly(shared_data):
    verdicts = pd.read_parquet(shared_data / "verdicts" / "nus_feedback.parquet")
    frame = static_majority(verdicts, resamples=100)
    box = ballots(verdicts).without_self()
    vote = majority(box.votes, quorum=5)
    own = verdicts[verdicts["judge"] == verdicts["examinee"]]
    wrong = own[(own["truth"] == 0) & (own["examinee"] == "deepseek-chat")]
    judged = np.isin(box.item_id, wrong["item_id"]) & (box.examinee == "deepseek-chat")
    fpr = row(frame, "fpr", "program_feedback", "deepseek-chat")
    assert fpr["self_judge"] == pytest.approx(wrong["verdict"].mean())
    assert fpr["majority"] == pytest.approx(np.nanmean(vote[judged]))
    assert fpr["n_wrong"] == len(wrong) == 72
