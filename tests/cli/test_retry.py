"""`voirdire retry`: what it chooses, what it says, and what it refuses."""

from pathlib import Path

import pandas as pd
import pytest

from voirdire import cli
from voirdire.models import Answer, Journal, read_journal
from voirdire.study.matrix import Paths
from voirdire.tables import write_parquet

VERDICT = "VERDICT: correct"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def study(folder):
    """Two examinees, two judges of one of them; each journal has answers of several kinds."""
    paths = Paths("results/mine")
    for task, examinee in (("gsm8k", "crow"), ("gsm8k", "owl"), ("aime", "crow")):
        with Journal(paths.journal("generate", task, examinee)) as journal:
            for number, status in enumerate(("ok", "empty", "truncated", "truncated", "refused", "error")):
                journal.append(Answer(f"{task} {examinee} {number}", status, "4"), f"q{number}")
    for condition, judge in (("blind", "owl"), ("blind", "crow"), ("author", "owl")):
        with Journal(paths.journal("judge", condition, "gsm8k", judge, "crow")) as journal:
            for number, text in enumerate((VERDICT, VERDICT, "Hm.")):
                journal.append(Answer(f"{condition} {judge} {number}", "ok", text), f"q{number}#0")
    return paths


@pytest.fixture
def retry(capsys):
    """Runs the verb; its exit code, what it printed, and its faults."""

    def run(line):
        code = cli.main(["retry", *line.split()])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def known(paths, *job):
    return [int(key.split()[-1]) for key in read_journal(paths.journal(*job))]


def test_it_says_what_it_forgot_job_by_job_and_what_to_run(study, retry):
    code, said, faults = retry("--status empty,truncated")
    assert (code, faults) == (0, "")
    assert said.splitlines() == [
        "generate aime crow: 2 truncated, 1 empty",
        "generate gsm8k crow: 2 truncated, 1 empty",
        "generate gsm8k owl: 2 truncated, 1 empty",
        "Forgot 9 answers of 3 jobs: 6 truncated, 3 empty.",
        "What they cost stays counted. Next: snakemake --cores 8 all --configfile FILE",
    ]
    assert known(study, "generate", "gsm8k", "owl") == [0, 4]


def test_a_second_call_finds_nothing(study, retry):
    retry("--status empty,truncated")
    assert retry("--status empty,truncated") == (
        0,
        "Nothing to forget: no answer chosen here is empty or truncated (there are: 9 ok, 3 unparsed, 3 refused).\n",
        "",
    )


def test_a_dry_run_forgets_nothing(study, retry):
    before = {path: path.read_bytes() for path in study_files()}
    code, said, _ = retry("--status refused --dry-run")
    assert code == 0
    assert said.splitlines()[-1] == "Would forget 3 answers of 3 jobs: 3 refused."
    assert {path: path.read_bytes() for path in study_files()} == before


def study_files():
    return [path for path in Path("results").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("line", "jobs"),
    [
        ("--status unparsed --model owl", ["judge author gsm8k owl crow", "judge blind gsm8k owl crow"]),
        ("--status unparsed --condition blind", ["judge blind gsm8k crow crow", "judge blind gsm8k owl crow"]),
        ("--status ok --role judge --model crow", ["judge blind gsm8k crow crow"]),
        ("--status ok --model crow --task gsm8k", ["generate gsm8k crow", "judge blind gsm8k crow crow"]),
        ("--status ok --role examinee --examinee owl", ["generate gsm8k owl"]),
        ("--status refused --status empty --task aime", ["generate aime crow"]),
        ("--status refused --item q4 --examinee owl", ["generate gsm8k owl"]),
    ],
)
def test_choices_narrow_each_other_down(study, retry, line, jobs):
    code, said, _ = retry(line)
    assert code == 0
    assert [each.partition(":")[0] for each in said.splitlines()[:-2]] == jobs


def test_one_item_is_forgotten_alone(study, retry):
    assert retry("--status truncated --item q2 --task aime")[0] == 0
    assert known(study, "generate", "aime", "crow") == [0, 1, 3, 4]
    assert known(study, "generate", "gsm8k", "crow") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("--status emtpy", "--status: 'emtpy' is no status; known are ok, unparsed, refused, truncated, empty, error"),
        ("--status ,", "--status: nothing is no status; known are ok, unparsed, refused, truncated, empty, error"),
        ("--status ok --study mien", "--study: no answers of a study 'mien' here; known are mine"),
    ],
)
def test_an_unknown_status_or_study_is_refused_with_the_known_ones(study, retry, line, fault):
    assert retry(line) == (1, "", f"error: {fault}\n")


@pytest.mark.parametrize(
    ("name", "unknown", "known_ones"),
    [
        ("task", "gsmk", "aime, gsm8k"),
        ("model", "cro", "crow, owl"),
        ("examinee", "rook", "crow, owl"),
        ("condition", "x", "author, blind"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(study, retry, name, unknown, known_ones):
    fault = f"error: --{name}: this study has no answers of {name} '{unknown}'; known are {known_ones}\n"
    assert retry(f"--status ok --{name} {unknown}") == (1, "", fault)


def test_all_unknown_names_are_said_together(study, retry):
    code, _, faults = retry("--status ok --task gsmk --model cro")
    assert code == 1
    assert len(faults.splitlines()) == 2


def test_failed_calls_of_a_job_without_a_table_are_asked_again_anyway(study, retry):
    assert retry("--status error")[1].startswith("Nothing to forget: no answer chosen here is error")


def test_among_several_studies_one_must_be_chosen(study, retry):
    with Journal(Paths("results/other").journal("generate", "aime", "crow")) as journal:
        journal.append(Answer("0", "empty"))
    message = "error: --study: there are several studies here, choose one: mine, other\n"
    assert retry("--status empty") == (1, "", message)
    assert "generate aime crow: 1 empty" in retry("--status empty --study other")[1]


def test_where_no_answers_are_it_says_where_to_run(folder, retry):
    code, _, fault = retry("--status empty")
    assert code == 1
    assert fault.startswith("error: results/journal: no answers of real models here; run this where the study was run")


def test_a_journal_that_a_job_writes_is_refused(study, retry):
    with Journal(study.journal("generate", "aime", "crow")):
        code, said, fault = retry("--status empty")
    assert (code, said) == (1, "")
    assert "results/journal/mine/generate/aime/crow.jsonl: another running process is writing" in fault
    assert known(study, "generate", "gsm8k", "owl") == [0, 1, 2, 3, 4]


def test_answers_to_what_is_no_longer_asked_are_mentioned(study, retry):
    write_parquet(pd.DataFrame({"request_key": ["aime crow 2"], "status": "ok"}), study.generation("aime", "crow"))
    said = retry("--status truncated --task aime")[1].splitlines()
    assert said[0].startswith("Left alone: 1 answer in the journals that the study's tables don't hold")
    assert said[1] == "generate aime crow: 1 truncated"


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"mine.yaml": "study: mine\n"}, "mine.yaml"),
        ({"config/a.yaml": "# mine\nstudy: 'mine'  # ours\n", "b.yml": "study: other\n"}, "config/a.yaml"),
        ({"a b.yaml": 'study: "mine"\n'}, "'a b.yaml'"),
        ({"a.yaml": "study: mine\n", "b.yaml": "study: mine\n"}, "FILE"),
        ({"a.yaml": "study: mine2\n", "b.yaml": "x: {study: mine}\n"}, "FILE"),
    ],
)
def test_the_next_command_names_the_studys_configuration(study, folder, retry, files, named):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    assert retry("--status empty")[1].endswith(f"Next: snakemake --cores 8 all --configfile {named}\n")


def test_the_default_study_needs_no_configuration(folder, retry):
    with Journal(Paths("results/default").journal("generate", "aime", "crow")) as journal:
        journal.append(Answer("0", "empty"))
    assert retry("--status empty")[1].endswith("Next: snakemake --cores 8 all\n")


def test_another_folder_can_be_named(study, folder, retry, monkeypatch):
    (folder / "mine.yaml").write_text("study: mine\n")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    said = retry("--status empty --directory ..")[1]
    assert said.endswith("Next: snakemake --cores 8 all --configfile ../mine.yaml --directory ..\n")
    monkeypatch.chdir(folder)
    assert known(study, "generate", "aime", "crow") == [0, 2, 3, 4]
