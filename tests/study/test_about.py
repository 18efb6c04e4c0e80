"""What the report says of a study's set-up."""

import pandas as pd
import pytest

from voirdire.study.about import benchmarks_that_ran, models_that_ran, settings, versions
from voirdire.study.config import parse
from voirdire.study.study import Study


@pytest.fixture
def study(persona):
    def make(**changes):
        config = {
            "study": "small",
            "benchmarks": {"gsm8k": {}},
            "models": {
                "crow": {"model": "azure/crow", "family": "bird", "parameters": {"temperature": 0, "max_tokens": 50}},
                "rook": {"model": "simulated/rook", "family": "corvid"},
                "clerk": {"responses": "clerk.jsonl", "family": "x"},
                "spare": {"model": "openai/spare", "family": "y"},
            },
            "personas": {"rook": persona()},
            "examinees": ["clerk", "crow"],
            "judges": ["rook", "crow"],
        }
        for name, entry in changes.pop("models", {}).items():
            config["models"][name] = config["models"][name] | entry
        return Study(parse(config | changes), "prompts")

    return make


def verdicts(**resolved):
    rows = [(judge, model) for judge, models in resolved.items() for model in models]
    return pd.DataFrame(rows, columns=["judge", "resolved_model"], dtype="str")


def row(study, model, said=None):
    rows = models_that_ran(study, verdicts() if said is None else said)
    (found,) = [row for row in rows if row["model"] == model]
    return found


def test_models_are_listed_once_with_their_roles_and_those_without_a_role_not(study):
    rows = models_that_ran(study(), verdicts())
    assert [(row["model"], row["roles"]) for row in rows] == [
        ("clerk", "examinee"),
        ("crow", "examinee, judge"),
        ("rook", "judge"),
    ]


def test_what_was_asked_for_is_a_model_or_a_file(study):
    assert row(study(), "crow")["asked for"] == "azure/crow"
    assert row(study(), "rook")["asked for"] == "simulated/rook"
    assert row(study(), "clerk")["asked for"] == "responses recorded in clerk.jsonl"


def test_every_model_that_has_answered_for_a_judge_is_named(study):
    said = verdicts(crow=["crow-2026-02", "crow-2026-01", "crow-2026-02"], rook=[None, None])
    assert row(study(), "crow", said)["answered as judge"] == "crow-2026-01, crow-2026-02"
    assert row(study(), "rook", said)["answered as judge"] == "–"
    assert row(study(), "clerk", said)["answered as judge"] == "–"


def test_parameters_are_told_with_those_of_a_task_and_those_not_sent(study):
    assert row(study(), "crow")["parameters"] == "temperature: 0, max_tokens: 50"
    assert row(study(), "rook")["parameters"] == "–"
    changed = study(models={"crow": {"tasks": {"gsm8k": {"max_tokens": 9}}, "drop": ["temperature"]}})
    assert row(changed, "crow")["parameters"] == (
        "temperature: 0, max_tokens: 50, gsm8k: (max_tokens: 9), not sent: temperature"
    )


def test_a_benchmark_is_told_with_what_was_left_out_and_its_files(study):
    facts = {
        "source": {"source": "path", "path": "mine.jsonl"},
        "n_items": 3,
        "left_out": {"answer is missing": 2},
        "files": {"mine.jsonl": "0123456789abcdef" * 4},
        "licence": "MIT",
    }
    assert benchmarks_that_ran({"gsm8k": facts}) == [
        {
            "task": "gsm8k",
            "source": "path",
            "questions": "3",
            "left out": "answer is missing: 2",
            "files (SHA-256)": "mine.jsonl (0123456789ab…)",
            "licence": "MIT",
        }
    ]
    assert benchmarks_that_ran({"gsm8k": facts | {"left_out": {}}})[0]["left out"] == "none"


def test_the_metadata_of_a_loaded_benchmark_is_what_is_told():
    from voirdire.benchmarks import Source, load

    (told,) = benchmarks_that_ran({"aime": load("aime", Source("bundled", limit=3), 0).metadata})
    assert (told["source"], told["questions"], told["left out"]) == ("bundled", "3", "none")


def test_settings_say_what_else_decides_a_result(study):
    told = settings(study(seed=7, trials=2, bootstrap={"resamples": 500}))
    assert told["seed"] == "7"
    assert told["trials per verdict"] == "2"
    assert told["conditions"] == "blind"
    assert told["intervals"] == "95 %, 500 bootstrap resamples"
    assert told["panel"] == (
        "every judge but the examinee votes; fewer than 5 votes abstain; a tie says incorrect; "
        "votes weigh at least 0.02"
    )
    assert told["drift"] == "not simulated"


def test_settings_tell_the_mix_that_drifts(study):
    told = settings(study(benchmarks={"gsm8k": {}, "aime": {}}))
    assert told["drift"].startswith("12 weeks of 40 responses; aime from 15 % to 85 %, gsm8k from 85 % to 15 %; ")
    assert "8 labels a week, after the votes; a prior of FPR 0.4, FNR 0.2, worth 10 labels; " in told["drift"]


def test_settings_are_told_in_words(study):
    told = settings(
        study(benchmarks={"gsm8k": {}, "aime": {}}, panel={"include_self": True, "quorum": 2, "tie": "abstain"})
    )
    assert told["panel"].startswith("every judge votes, the examinee too; fewer than 2 votes abstain; a tie abstains;")
    assert not any("_" in value or "{" in value for value in told.values())


def test_versions_name_what_is_not_installed(monkeypatch):
    from voirdire.study import about

    monkeypatch.setattr(about, "_PACKAGES", ("numpy", "no-such-package"))
    told = versions()
    assert told["no-such-package"] == "not installed"
    assert told["numpy"][0].isdigit()
    assert told["python"].startswith("3.")


def test_the_isolation_of_programs_is_said(study):
    told = settings(study(), ["bubblewrap", "unsafe"])["programs were run in"]
    assert told == "bubblewrap's sandbox, no sandbox (unsafe): nothing kept them from this machine"
    assert "programs were run in" not in settings(study())


def test_grades_of_programs_are_those_of_the_tasks_with_code(study):
    abilities = dict.fromkeys(("gsm8k", "mbpp"), 0.5)
    two = study(benchmarks={"gsm8k": {}, "mbpp": {}}, personas={"rook": {"ability": abilities}})
    assert two.program_grades == [f"results/small/grades/mbpp/{name}.parquet" for name in ("clerk", "crow")]
    assert study().program_grades == []
