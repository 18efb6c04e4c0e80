"""From a table of verdicts to arrays of votes, with real verdicts beside made ones."""

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.panel import NotEnoughVerdicts, ballots, majority

NAN = np.nan


def table(rows):
    """Verdicts from (item, examinee, judge, verdict, truth)."""
    frame = pd.DataFrame(rows, columns=["item_id", "examinee", "judge", "verdict", "truth"])
    frame["verdict"], frame["truth"] = frame["verdict"].astype("boolean"), frame["truth"].astype("boolean")
    fixed = {"condition": "blind", "trial": 0, "task": "gsm8k", "generation_status": "ok", "simulated": False}
    return frame.assign(**fixed, status=np.where(frame["verdict"].isna(), "unparsed", "ok"))


VERDICTS = table(
    [
        ("q2", "ann", "ann", True, False),
        ("q2", "ann", "bob", False, False),
        ("q1", "ann", "ann", True, True),
        ("q1", "ann", "bob", None, True),
        ("q1", "cem", "bob", True, None),
    ]
)


def test_responses_and_judges_are_sorted_and_gaps_are_nan():
    box = ballots(VERDICTS)
    assert box.judges == ("ann", "bob")
    assert list(zip(box.item_id, box.examinee, strict=True)) == [("q1", "ann"), ("q1", "cem"), ("q2", "ann")]
    np.testing.assert_array_equal(box.votes, [[1, NAN], [NAN, 1], [1, 0]])
    np.testing.assert_array_equal(box.truth, [1, NAN, 0])
    np.testing.assert_array_equal(box.cluster, [0, 0, 1])


def test_row_order_does_not_matter():
    shuffled = ballots(VERDICTS.sample(frac=1, random_state=3))
    np.testing.assert_array_equal(shuffled.votes, ballots(VERDICTS).votes)
    np.testing.assert_array_equal(shuffled.item_id, ballots(VERDICTS).item_id)


def test_only_ok_verdicts_are_votes():
    spoiled = VERDICTS.assign(verdict=True, status=["ok", "refused", "ok", None, "ok"])
    np.testing.assert_array_equal(ballots(spoiled).votes, [[1, NAN], [NAN, 1], [1, NAN]])


def test_responses_that_are_not_ok_are_left_out():
    box = ballots(VERDICTS.assign(generation_status=["ok", "ok", "empty", "empty", "ok"]))
    assert list(box.item_id) == ["q1", "q2"]


def test_an_examinee_does_not_vote_on_its_own_response():
    box = ballots(VERDICTS).without_self()
    np.testing.assert_array_equal(box.votes, [[NAN, NAN], [NAN, 1], [NAN, 0]])


def test_the_quorum_is_at_most_the_panel_on_the_response():
    np.testing.assert_array_equal(ballots(VERDICTS).quorum(5), [2, 2, 2])
    np.testing.assert_array_equal(ballots(VERDICTS).without_self().quorum(5), [1, 2, 1])
    np.testing.assert_array_equal(ballots(VERDICTS).quorum(1), [1, 1, 1])


def test_three_columns_are_enough():
    box = ballots(VERDICTS[["item_id", "judge", "verdict"]].iloc[[0, 1, 3]])
    np.testing.assert_array_equal(box.votes, [[NAN, NAN], [1, 0]][::1])
    assert np.isnan(box.truth).all()


def test_trials_are_responses_of_their_own_on_the_same_item():
    again = pd.concat([VERDICTS, VERDICTS.assign(trial=1)])
    box = ballots(again)
    assert len(box.truth) == 6
    assert box.cluster.max() == 1


def test_a_cluster_column_is_used_and_its_gaps_are_items():
    box = ballots(VERDICTS.assign(cluster=["x", "x", "x", "x", None]))
    np.testing.assert_array_equal(box.cluster, [0, 1, 0])


def test_a_second_vote_of_a_judge_on_a_response_is_refused():
    with pytest.raises(UserError, match="1 repeat a judge, response and trial, first ann on gsm8k q2 by ann"):
        ballots(pd.concat([VERDICTS, VERDICTS.iloc[[0]]]))


def changed(column, row, value):
    frame = VERDICTS.astype({column: object})
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (VERDICTS.drop(columns=["judge", "verdict"]), "no column judge, verdict; at least item_id, judge, verdict"),
        (changed("verdict", 1, "incorrect"), "verdict: verdicts must be true or false, .*; found 'incorrect' in 1 row"),
        (changed("verdict", 1, 2), "verdict: verdicts must be true or false, .*; found 2 in 1 row"),
        (changed("truth", 0, float("inf")), "truth: truths must be true or false, .*; found inf in 1 row"),
        (changed("truth", 0, True), "truth: a response is both right and wrong in 2 rows"),
        (changed("task", 2, None), "task: is missing in 1 row"),
        (changed("judge", 2, " "), "judge: is missing in 1 row"),
        (changed("item_id", 2, np.nan), "item_id: is missing in 1 row"),
        (changed("examinee", 2, "all"), "examinee: none may be called 'all'"),
        (changed("status", 2, "OK"), "status: unknown status; found 'OK' in 1 row"),
    ],
)
def test_verdicts_that_would_be_read_wrongly_are_refused(frame, message):
    with pytest.raises(UserError, match=message):
        ballots(frame)


def test_numbers_are_names_too():
    box = ballots(VERDICTS.assign(task=7, item_id=[2, 2, 1, 1, 1]))
    assert (set(box.task), list(box.item_id)) == ({"7"}, ["1", "1", "2"])


def test_an_absent_condition_is_named_with_those_there():
    with pytest.raises(UserError, match="condition 'elite' has no verdicts; conditions there: blind"):
        ballots(VERDICTS, "elite")


def test_nothing_judged_is_an_error():
    with pytest.raises(NotEnoughVerdicts, match="no response has been judged"):
        ballots(VERDICTS.assign(generation_status="refused"))


def test_majority_on_nus_feedback_has_the_published_rates(shared_data):
    box = ballots(pd.read_parquet(shared_data / "verdicts" / "nus_feedback.parquet"))
    assert box.votes.shape == (5972, 14)
    for votes, fpr, fnr in ((box.votes, 0.810, 0.021), (box.without_self().votes, 0.821, 0.020)):
        verdict = majority(votes)
        assert (verdict[box.truth == 0] == 1).mean() == pytest.approx(fpr, abs=5e-4)
        assert (verdict[box.truth == 1] == 0).mean() == pytest.approx(fnr, abs=5e-4)
        assert (verdict == box.truth).mean() == pytest.approx(0.919, abs=5e-4)
