"""Each format's variants, and what is left out or refused."""

import json

import pytest

from voirdire.benchmarks import Source, check, load
from voirdire.errors import UserError

GSM8K = {"question": "How many?", "answer": "Two and two.\n#### 4"}
MBPP = {
    "task_id": 11,
    "text": "Write add.",
    "code": "def add(a, b):\r\n    return a + b",
    "test_list": ["assert add(1, 2) == 3"],
    "test_setup_code": "",
    "challenge_test_list": [],
}
AIME = {"question": "Find x.", "answer": 7}
QUALITY = {"article": "Text.", "question": "Who?", "options": ["a", "b", "c", "d"], "gold_label": 2}


def write(tmp_path, *records):
    path = tmp_path / "file.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return Source("path", str(path))


def load_one(tmp_path, task, record):
    (item,) = load(task, write(tmp_path, record), seed=0).items
    return item


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("So it is.\n#### 2,125", "2125"),
        ("#### -10", "-10"),
        ("#### $1,450,000", "1450000"),
        ("#### 12.5", "12.5"),
        ("72", "72"),
        (72, "72"),
        (2.5, "2.5"),
        (3.0, "3"),
        ("#### +5", "5"),
    ],
)
def test_gsm8k_answer(tmp_path, answer, expected):
    assert load_one(tmp_path, "gsm8k", GSM8K | {"answer": answer}).answer == expected


@pytest.mark.parametrize("answer", ["#### twelve", "#### \u0663", "no mark", "#### 1,23", "#### ", True, ["#### 4"]])
def test_gsm8k_answer_without_a_number_is_a_fault(tmp_path, answer):
    (fault,) = check("gsm8k", write(tmp_path, GSM8K | {"answer": answer}), seed=0)
    assert "file.jsonl:1: answer" in fault


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(0, "0"), ("025", "25"), ("999", "999"), (49.0, "49"), ("336^\\circ", "336"), ("$82$", "82")],
)
def test_aime_answer(tmp_path, answer, expected):
    assert load_one(tmp_path, "aime", AIME | {"answer": answer}).answer == expected


@pytest.mark.parametrize("answer", [1000, -1, 1.5, "1/2", "1000", True, "12 or 13"])
def test_aime_answer_outside_0_to_999_is_a_fault(tmp_path, answer):
    (fault,) = check("aime", write(tmp_path, AIME | {"answer": answer}), seed=0)
    assert "file.jsonl:1: answer must be" in fault


def test_aime_question_may_be_called_problem(tmp_path):
    assert load_one(tmp_path, "aime", {"problem": "Find y.", "answer": "8"}).question == "Find y."


def test_own_item_id_is_kept(tmp_path):
    assert load_one(tmp_path, "gsm8k", GSM8K | {"item_id": "mine-7"}).item_id == "mine-7"


def test_mbpp_sanitised_layout(tmp_path):
    record = {"task_id": 12, "prompt": "Write f.", "test_imports": ["import math"], "test_list": ["assert f() == 1"]}
    item = load_one(tmp_path, "mbpp", record)
    assert (item.question, item.setup_code, item.reference) == ("Write f.", "import math", None)


def test_mbpp_outside_the_split_is_counted_apart_even_if_broken(tmp_path):
    loaded = load("mbpp", write(tmp_path, MBPP, {"task_id": 600}, {"task_id": 10}, MBPP | {"task_id": 9001}), seed=0)
    assert [item.item_id for item in loaded.items] == ["mbpp-11", "mbpp-9001"]
    assert (loaded.metadata["n_outside_split"], loaded.metadata["n_left_out"]) == (2, 0)


def test_quality_full_file_has_an_article_twice(tmp_path):
    shared = {"article_id": "52845", "article": "Text.", "title": "T", "year": 1955}
    question = {key: QUALITY[key] for key in ("question", "options", "gold_label")} | {
        "writer_label": 3,
        "difficult": 0,
    }
    lines = [
        shared | {"set_unique_id": f"52845_{writer}", "questions": [question, question]} for writer in ("AB", "CD")
    ]
    loaded = load("quality", write(tmp_path, *lines), seed=0)
    assert [item.item_id for item in loaded.items] == ["52845_AB-q1", "52845_AB-q2", "52845_CD-q1", "52845_CD-q2"]


def test_quality_ids_by_article(tmp_path):
    line = {"article_id": "x1", "article": "Text.", "questions": [QUALITY, QUALITY | {"question_unique_id": "own"}]}
    assert [item.item_id for item in load("quality", write(tmp_path, line), seed=0).items] == ["x1-q1", "own"]


@pytest.mark.parametrize(
    ("given", "letter"),
    [
        ({"gold_label": 1}, "A"),
        ({"gold_label": 4.0}, "D"),
        ({"answer": 0}, "A"),
        ({"answer": 3}, "D"),
        ({"answer": "C"}, "C"),
    ],
)
def test_quality_gold_label_counts_from_one_and_answer_from_zero(tmp_path, given, letter):
    record = {key: value for key, value in QUALITY.items() if key != "gold_label"} | given
    assert load_one(tmp_path, "quality", record).answer == letter


@pytest.mark.parametrize("label", [0, 5, "2", 1.5, True])
def test_quality_label_outside_the_options_is_a_fault(tmp_path, label):
    (fault,) = check("quality", write(tmp_path, QUALITY | {"gold_label": label}), seed=0)
    assert "file.jsonl:1: gold_label must be" in fault


@pytest.mark.parametrize(
    ("task", "record", "reason"),
    [
        ("gsm8k", {"question": " ", "answer": "#### 1"}, "question is missing"),
        ("gsm8k", {"question": "How?", "answer": None}, "answer is missing"),
        ("gsm8k", {"question": "How?", "answer": float("nan")}, "answer is missing"),
        ("aime", {"answer": 3}, "question or problem is missing"),
        ("mbpp", MBPP | {"test_list": []}, "test_list is missing"),
        ("mbpp", MBPP | {"test_list": ["assert f() == 1", ""]}, "test_list has an empty entry"),
        ("mbpp", {"text": "Write f.", "test_list": ["assert f() == 1"]}, "task_id is missing"),
        ("quality", QUALITY | {"gold_label": None}, "gold_label or answer is missing"),
        ("quality", QUALITY | {"article": ""}, "article is missing"),
        ("quality", QUALITY | {"options": ["a", "b", "c"]}, "options has not 4 entries"),
        ("quality", QUALITY | {"options": ["a", "b", "c", None]}, "options has an empty entry"),
        ("gsm8k", {"question": "Half \ud83d a pair", "answer": "#### 1"}, "question holds half of a surrogate pair"),
    ],
)
def test_what_lacks_something_is_left_out_and_counted(tmp_path, task, record, reason):
    good = {"gsm8k": GSM8K, "mbpp": MBPP | {"task_id": 20}, "aime": AIME, "quality": QUALITY}[task]
    loaded = load(task, write(tmp_path, record, good), seed=0)
    assert len(loaded.items) == 1
    (left,) = loaded.left_out
    assert left.where.endswith("file.jsonl:1")
    assert left.reason.startswith(reason)
    assert loaded.metadata["left_out"] == {left.reason: 1}
    assert (loaded.metadata["n_read"], loaded.metadata["n_left_out"], loaded.metadata["n_items"]) == (2, 1, 1)


def test_leaving_one_out_does_not_rename_the_others(tmp_path):
    loaded = load("gsm8k", write(tmp_path, {"question": "How?"}, GSM8K), seed=0)
    assert [item.item_id for item in loaded.items] == ["gsm8k-0002"]


@pytest.mark.parametrize(
    ("task", "record", "fault"),
    [
        ("gsm8k", {"question": 3, "answer": "#### 1"}, "question must be text, not a number"),
        ("aime", {"question": ["x"], "answer": 1}, "question must be text, not a list"),
        ("mbpp", MBPP | {"test_list": "assert f() == 1"}, "test_list must be a list of texts, not a text"),
        ("mbpp", MBPP | {"task_id": "eleven"}, "task_id must be a whole number"),
        ("quality", {"article": "Text.", "questions": {"question": "?"}}, "questions must be a list of objects"),
        ("quality", {"article": "Text.", "questions": ["?"]}, "questions must be a list of objects"),
        ("quality", QUALITY | {"options": ["a", "b", "c", 4]}, "options must be text, not a number"),
    ],
)
def test_a_wrong_type_is_a_fault_with_file_and_line(tmp_path, task, record, fault):
    with pytest.raises(UserError, match=r"file\.jsonl:1: .*mend or remove it") as raised:
        load(task, write(tmp_path, record), seed=0)
    assert fault in str(raised.value)
