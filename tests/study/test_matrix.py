"""Which jobs a study has and where they write."""

import pytest

from voirdire.study.matrix import Condition, Matrix, Paths

TWO = Matrix(["gsm8k", "aime"], ["a", "b", "c"], ["j", "k"], {"blind": ["a", "b", "c"], "elite": ["b"]})


def test_every_examinee_answers_every_task():
    assert len(TWO.answers) == 6
    assert TWO.answers[0] == ("gsm8k", "a")


def test_a_labelled_condition_has_its_own_examinees_only():
    jobs = TWO.judgements
    assert len(jobs) == 2 * 2 * 3 + 2 * 2 * 1
    assert {job[3] for job in jobs if job[0] == "elite"} == {"b"}


def test_a_matrix_survives_json():
    assert Matrix.from_json(TWO.to_json()).judgements == TWO.judgements


def test_journals_lie_outside_the_studys_folder():
    paths = Paths("results/mine")
    assert paths.journal("judge", "blind", "gsm8k", "j", "a") == "results/journal/mine/judge/blind/gsm8k/j/a.jsonl"
    assert paths.judgement("blind", "gsm8k", "j", "a") == "results/mine/verdicts/blind/gsm8k/j/a.parquet"


@pytest.mark.parametrize(
    ("template", "label", "slug"),
    [
        ("default", None, "blind"),
        ("default", "author", "author"),
        ("reason", None, "reason"),
        ("reason", "elite", "reason-elite"),
    ],
)
def test_a_conditions_slug_names_template_and_label(template, label, slug):
    assert Condition(template, label).slug == slug
