"""Everything from outside is checked at once, and a fault is said once."""

import json

import pytest

from voirdire.errors import UserError
from voirdire.study.config import parse
from voirdire.study.inputs import check_inputs, expect_files
from voirdire.study.study import Study

ALL = {"benchmark", "generate", "grade", "judge"}

QUESTIONS = {
    "gsm8k": [{"question": "What is 2 + 2?", "answer": "#### 4"}, {"question": "And 3 + 3?", "answer": "#### 6"}],
    "aime": [{"question": "What is 5 + 5?", "answer": 10}],
}


@pytest.fixture
def write(tmp_path):
    """Writes a file below the working folder: text as it is, records as JSON lines."""

    def to(path, content):
        text = content if isinstance(content, str) else "".join(f"{json.dumps(record)}\n" for record in content)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    return to


@pytest.fixture
def study(write, tmp_path, monkeypatch, persona):
    """Makes a study of two tasks with a persona and a recorded examinee, all of whose files are sound."""
    monkeypatch.chdir(tmp_path)
    for task, records in QUESTIONS.items():
        write(f"{task}.jsonl", records)
        write(f"prompts/examinee/{task}.md", "$question")
        write(f"prompts/judge/default/{task}.md", "$identity\n$question\n$response")
    answers = [{"question": record["question"], "response": "6"} for task in QUESTIONS for record in QUESTIONS[task]]
    write("clerk.jsonl", answers)

    def make(**changes):
        config = {
            "study": "small",
            "benchmarks": {task: {"source": "path", "path": f"{task}.jsonl"} for task in QUESTIONS},
            "models": {
                "rook": {"model": "simulated/rook", "family": "corvid"},
                "clerk": {"responses": "clerk.jsonl", "family": "x"},
            },
            "personas": {"rook": persona()},
            "examinees": ["rook", "clerk"],
            "judges": ["rook"],
            "ablations": {"identity": {"examinees": ["rook"]}},
        }
        return Study(parse(config | changes), "prompts")

    return make


def faults_of(check, *arguments):
    with pytest.raises(UserError) as raised:
        check(*arguments)
    return raised.value.faults


def test_a_sound_study_passes(study):
    expect_files(study())
    check_inputs(study(), ALL)


def test_every_missing_file_is_named_once_with_what_it_is(study, tmp_path):
    for path in ("gsm8k.jsonl", "clerk.jsonl", "prompts/examinee/aime.md", "prompts/judge/default/gsm8k.md"):
        (tmp_path / path).unlink()
    hint = "; correct the path or put the file there"
    assert sorted(faults_of(expect_files, study())) == [
        f"clerk.jsonl: no such file (models.clerk.responses){hint}",
        f"gsm8k.jsonl: no such file (benchmarks.gsm8k.path){hint}",
        f"prompts/examinee/aime.md: no such file (the examinees' prompt for aime){hint}",
        f"prompts/judge/default/gsm8k.md: no such file (the judges' prompt for gsm8k){hint}",
    ]


def test_a_folder_is_no_file(study, tmp_path):
    (tmp_path / "clerk.jsonl").unlink()
    (tmp_path / "clerk.jsonl").mkdir()
    assert len(faults_of(expect_files, study())) == 1


def test_a_study_of_recorded_examinees_needs_no_examinee_prompt(study, tmp_path):
    (tmp_path / "prompts/examinee/gsm8k.md").unlink()
    recorded = study(examinees=["clerk"], ablations={})
    expect_files(recorded)
    check_inputs(recorded, ALL)


def test_faults_of_benchmarks_prompts_and_responses_are_named_together(study, write):
    write("gsm8k.jsonl", '{"question": "What?", "answer": "#### 4"}\n{torn\n')
    write("prompts/examinee/aime.md", "$article")
    write("prompts/judge/default/aime.md", "$question")
    write("clerk.jsonl", [{"question": "What is 5 + 5?"}])
    found = faults_of(check_inputs, study(), ALL)
    assert len(found) == 4
    for start in (
        "gsm8k.jsonl:2: not valid JSON",
        "prompts/examinee/aime.md: ",
        "clerk.jsonl:1: 'response' must be text",
        "prompts/judge/default/aime.md: has no $response",
    ):
        assert any(fault.startswith(start) for fault in found), found


def test_a_fault_of_a_template_that_three_conditions_share_is_said_once(study, write):
    assert len(study().conditions) == 3
    write("prompts/judge/default/aime.md", "$question $identity")
    assert len(faults_of(check_inputs, study(), ALL)) == 1


def test_a_fault_of_responses_that_two_tasks_share_is_said_once(study, write):
    write("clerk.jsonl", "{torn\n")
    assert [fault.partition(": ")[0] for fault in faults_of(check_inputs, study(), ALL)] == ["clerk.jsonl:1"]


def test_only_a_label_needs_a_place_in_the_template(study, write):
    write("prompts/judge/default/aime.md", "$question $response")
    (fault,) = faults_of(check_inputs, study(), ALL)
    assert fault.startswith("prompts/judge/default/aime.md: has no $identity")
    check_inputs(study(ablations={}), ALL)


def test_a_prompt_in_another_encoding_is_named(study, tmp_path):
    (tmp_path / "prompts/examinee/aime.md").write_bytes("Löse: $question".encode("latin-1"))
    (fault,) = faults_of(check_inputs, study(), ALL)
    assert fault == "prompts/examinee/aime.md: not UTF-8 (byte 2); save the file as UTF-8"


def test_recorded_responses_that_answer_nothing_here_are_refused(study, write):
    write("clerk.jsonl", [{"item_id": "elsewhere", "response": "6"}])
    assert all("none of its 1 records" in fault for fault in faults_of(check_inputs, study(), ALL))


def test_questions_from_the_hub_are_not_fetched_but_their_address_is_checked(study):
    hub = {"source": "hub", "repo": "openai/gsm8k", "revision": "main"}
    chosen = study(benchmarks={"gsm8k": hub}, examinees=["rook"])
    expect_files(chosen)
    (fault,) = faults_of(check_inputs, chosen, ALL)
    assert "revision" in fault


def test_nothing_is_read_where_neither_answers_nor_verdicts_are_made(study, write):
    write("prompts/judge/default/gsm8k.md", "no response in it")
    check_inputs(study(), {"metrics", "report"})
    assert faults_of(check_inputs, study(), {"judge"}) != []


def test_prompts_of_questions_that_are_yet_to_come_from_the_hub_are_checked(study, write):
    write("prompts/judge/default/gsm8k.md", "$qestion $response $identity")
    faults = faults_of(check_inputs, study(benchmarks={"gsm8k": {"source": "hub"}}), ALL)
    assert any("judge/default/gsm8k.md: unknown placeholder $qestion" in fault for fault in faults)
