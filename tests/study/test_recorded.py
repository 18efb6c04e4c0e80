"""Recorded responses find their items, by id or by question."""

import json

import pytest

from voirdire.benchmarks import Item
from voirdire.errors import UserError
from voirdire.study.recorded import load_recorded

ITEMS = [Item("gsm8k", "a", "How many\nducks?"), Item("gsm8k", "b", "How many geese?"), Item("gsm8k", "c", "Why?")]


@pytest.fixture
def recorded(tmp_path):
    """Writes records to a file and reads them back for an examinee."""

    def read(*records, examinee="crow"):
        path = tmp_path / "responses.jsonl"
        path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
        return load_recorded(path, examinee, ITEMS)

    return read


def faults_of(recorded, *records, **options):
    with pytest.raises(UserError) as raised:
        recorded(*records, **options)
    return raised.value.faults


def test_a_response_is_found_by_its_items_id(recorded):
    assert recorded({"item_id": "b", "response": "3"}).responses == {"b": "3"}


def test_a_response_is_found_by_its_question_whatever_the_white_space(recorded):
    assert recorded({"question": " How  many ducks?", "response": "3"}).responses == {"a": "3"}


def test_only_the_named_examinees_records_count(recorded):
    mine, others = {"item_id": "a", "examinee": "crow"}, {"item_id": "a", "examinee": "owl"}
    assert recorded(mine | {"response": "1"}, others | {"response": "2"}).responses == {"a": "1"}


def test_a_record_without_an_examinee_is_anybodys(recorded):
    assert recorded({"item_id": "a", "examinee": None, "response": "1"}).responses == {"a": "1"}


def test_records_of_other_benchmarks_are_counted(recorded):
    found = recorded({"item_id": "a", "response": "1"}, {"item_id": "z", "response": "1"})
    assert (found.responses, found.n_unmatched) == ({"a": "1"}, 1)


def test_identical_duplicates_collapse(recorded):
    assert recorded({"item_id": "a", "response": "1"}, {"item_id": "a", "response": "1"}).responses == {"a": "1"}


def test_conflicting_duplicates_are_refused_with_both_lines(recorded):
    (fault,) = faults_of(recorded, {"item_id": "a", "response": "1"}, {"item_id": "a", "response": "2"})
    assert "responses.jsonl:2: another response to a than " in fault
    assert "responses.jsonl:1" in fault


def test_a_question_asked_twice_needs_the_id():
    twice = [Item("gsm8k", "a", "Why?"), Item("gsm8k", "b", "Why?")]
    from voirdire.study.recorded import _Finder

    assert _Finder(twice)._key({"question": "Why?"}) == ""


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"item_id": "a"}, "responses.jsonl:1: 'response' must be text"),
        ({"item_id": "a", "response": 3}, "responses.jsonl:1: 'response' must be text"),
        ({"response": "3"}, "responses.jsonl:1: needs 'item_id' or 'question'"),
        ({"item_id": "z", "response": "3"}, "responses.jsonl: none of its 1 records has an item_id or question"),
        ({"item_id": "a", "response": "3", "examinee": "owl"}, "no responses of examinee 'crow'; it has owl"),
    ],
)
def test_a_fault_is_named_with_its_line(recorded, record, fault):
    assert any(fault in found for found in faults_of(recorded, record))


def test_faults_of_many_lines_are_named_together_but_not_without_end(recorded):
    assert len(faults_of(recorded, *[{"item_id": "a"}] * 30)) == 10


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"gone\.jsonl: no such file"):
        load_recorded(tmp_path / "gone.jsonl", "crow", ITEMS)


def test_lone_surrogates_of_json_do_not_break_the_table(recorded):
    assert recorded({"item_id": "a", "response": "x\ud800y"}).responses == {"a": "x?y"}


def test_real_responses_find_their_questions(shared_data):
    from voirdire.benchmarks import Source, load

    items = load("gsm8k", Source("path", str(shared_data / "benchmarks" / "gsm8k_test.jsonl")), 0).items
    path = shared_data / "generations" / "gsm8k_openai.jsonl"
    found = load_recorded(path, "175b_verification", items)
    assert (len(found.responses), found.n_unmatched) == (1319, 0)
