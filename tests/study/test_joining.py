"""Verdicts get the truth of their response, and never that of another."""

import pandas as pd
import pytest

from voirdire.benchmarks import Item
from voirdire.grading import grade as read
from voirdire.study.joining import join_verdicts, ungraded
from voirdire.tables import GENERATIONS, GRADES, JUDGEMENTS, VERDICTS


def table(schema, rows):
    return schema.check(pd.DataFrame(rows, columns=schema.names, dtype=object), schema.name)


def generation(item_id, **changes):
    facts = {"task": "t", "item_id": item_id, "examinee": "e", "status": "ok", "response_chars": 5, "simulated": False}
    return facts | changes


def grade(item_id, truth, **changes):
    return {"task": "t", "item_id": item_id, "examinee": "e", "truth": truth, "how": "h"} | changes


def judgement(item_id, **changes):
    facts = {
        "condition": "blind",
        "template": "default",
        "trial": 0,
        "task": "t",
        "item_id": item_id,
        "judge": "j",
        "examinee": "e",
        "generation_status": "ok",
        "status": "ok",
        "verdict": True,
        "simulated": False,
    }
    return facts | changes


def join(judgements, generations, grades):
    joined = join_verdicts(table(JUDGEMENTS, judgements), table(GENERATIONS, generations), table(GRADES, grades))
    return VERDICTS.check(joined, "joined").set_index(["item_id", "trial"])


def test_each_verdict_has_its_responses_truth_and_length():
    joined = join(
        [judgement("2"), judgement("1"), judgement("1", trial=1, verdict=False)],
        [generation("1"), generation("2", response_chars=9)],
        [grade("1", True), grade("2", False)],
    )
    assert joined["truth"].to_dict() == {("1", 0): True, ("1", 1): True, ("2", 0): False}
    assert joined["response_chars"].to_dict() == {("1", 0): 5, ("1", 1): 5, ("2", 0): 9}


def test_a_response_that_is_not_ok_has_no_truth_and_no_verdict():
    joined = join(
        [judgement("1", generation_status="refused", status=None, verdict=None)],
        [generation("1", status="refused")],
        [],
    )
    assert joined["truth"].isna().all()
    assert joined["status"].isna().all()


def test_each_verdict_has_what_its_response_answered():
    joined = join(
        [judgement("1"), judgement("2"), judgement("1", judge="k")],
        [generation("1"), generation("2")],
        [grade("1", False, answer="18"), grade("2", False)],
    )
    answers = joined.reset_index().sort_values(["item_id", "judge"])["answer"]
    assert answers.iloc[:2].tolist() == ["18", "18"]
    assert pd.isna(answers.iloc[2])


@pytest.mark.parametrize(
    ("task", "item", "same"),
    [
        ("gsm8k", {"answer": "20"}, ["18 boxes: #### 18", "#### $18.00", "\\boxed{36/2}", "The answer is eighteen."]),
        ("aime", {"answer": "20"}, ["\\boxed{033}", "So the answer is 33."]),
        ("gsm8k", {"answer": "2"}, ["\\boxed{\\frac{1}{3}}", "#### 2/6"]),
        ("quality", {"answer": "B", "options": tuple("wxyz")}, ["Answer: c", "I choose C.", "(C) y"]),
    ],
)
def test_answers_that_mean_the_same_are_equal(task, item, same):
    grades = [read(task, Item(task, "q", "?", **item), response) for response in same]
    assert len({found.answer for found in grades}) == 1
    assert [found.truth for found in grades] == [False] * len(same)


def test_a_program_is_no_answer_to_compare():
    joined = join([judgement("1")], [generation("1")], [grade("1", True, answer="x = 1", sandbox="landlock")])
    assert joined["answer"].isna().all()
    assert joined["truth"].tolist() == [True]


def test_a_response_that_is_not_ok_has_no_answer():
    joined = join(
        [judgement("1", generation_status="truncated", status=None, verdict=None)],
        [generation("1", status="truncated")],
        [grade("1", False, answer="18")],
    )
    assert joined["answer"].isna().all()


def test_a_response_whose_grading_failed_keeps_its_verdict():
    joined = join([judgement("1")], [generation("1")], [grade("1", None)])
    assert joined["truth"].isna().all()
    assert joined["verdict"].tolist() == [True]


@pytest.mark.parametrize(("judge", "examinee"), [(True, False), (False, True), (False, False)])
def test_a_row_is_simulated_where_either_side_is(judge, examinee):
    joined = join([judgement("1", simulated=judge)], [generation("1", simulated=examinee)], [grade("1", True)])
    assert joined["simulated"].tolist() == [judge or examinee]


def test_a_response_that_occurs_twice_is_refused():
    generations = pd.concat([table(GENERATIONS, [generation("1")])] * 2)
    with pytest.raises(pd.errors.MergeError):
        join_verdicts(table(JUDGEMENTS, [judgement("1")]), generations, table(GRADES, [grade("1", True)]))


def test_responses_without_a_grade_are_listed_with_their_reason():
    grades = [grade("1", True), grade("3", None), grade("2", None) | {"how": "not graded: the item has no tests"}]
    generations = [generation("1"), generation("2", simulated=True), generation("3")]
    found = ungraded(table(GRADES, grades), table(GENERATIONS, generations))
    assert found.to_dict("records") == [
        {
            "task": "t",
            "item_id": "2",
            "examinee": "e",
            "reason": "not graded: the item has no tests",
            "simulated": True,
        },
        {"task": "t", "item_id": "3", "examinee": "e", "reason": "h", "simulated": False},
    ]
