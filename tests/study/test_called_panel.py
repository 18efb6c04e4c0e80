"""The simulated panel behind HTTP, and as a provider of litellm's, says what it says when it is called in bulk."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from panel_server import called, panel_provider, panel_server, panel_texts

from voirdire.benchmarks.loading import load
from voirdire.models import Call, Limits, ModelSpec, complete, engine
from voirdire.study.calling import Calling
from voirdire.study.config import parse
from voirdire.study.generation import generate
from voirdire.study.judgement import Bench, judge
from voirdire.study.study import Study

CONFIG = Path(__file__).resolve().parents[2] / "config"
# All tasks and conditions; few questions, since every verdict is a call.
SMALL = {
    "benchmarks": {task: {"limit": 3} for task in ("gsm8k", "aime", "mbpp", "quality")},
    "examinees": ["larch", "stoat"],
    "judges": ["rook", "larch"],
}
# What tells of a call, or that there was none.
OF_CALLS = ["simulated", "finish_reason", "sent", "prompt_tokens", "completion_tokens", "cost_usd", "latency_s"]
OF_CALLS += ["resolved_model", "request_key"]


def study_of(config):
    return Study(parse(config), str(CONFIG / "prompts"))


@pytest.fixture(scope="module")
def config():
    return yaml.safe_load((CONFIG / "config.yaml").read_text()) | SMALL


@pytest.fixture(scope="module")
def bulk(config):
    return study_of(config)


@pytest.fixture(scope="module")
def texts(bulk):
    return panel_texts(bulk)


def run(study, folder):
    """All generations and judgements of a study, by their jobs."""
    items = {task: load(task, study.source(task), study.config.seed).items for task in study.matrix.tasks}
    made = {}
    for task, name in study.matrix.answers:
        spec = json.loads(study.examinee_spec(task, name))
        calling = Calling(str(folder / f"{task}-{name}.jsonl"))
        source = study.examinee_prompt(task)
        made[task, name], _ = generate(name, spec, items[task], source, study.config.seed, calling=calling)
    for condition, task, name, examinee in study.matrix.judgements:
        bench = Bench(
            name=name,
            condition=condition,
            spec=json.loads(study.judge_spec(condition, task, name, examinee)),
            items=items[task],
            generations=made[task, examinee],
            grades=None,
            prompt=study.judge_prompt(condition, task),
            seed=study.config.seed,
            calling=Calling(str(folder / f"{condition}-{task}-{name}-{examinee}.jsonl")),
        )
        made[condition, task, name, examinee] = judge(bench)
    return made


def without(frame):
    """The frame without what tells of a call."""
    return frame.drop(columns=OF_CALLS, errors="ignore")


def test_a_study_over_http_gives_what_the_bulk_run_gives(bulk, config, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no .env
    expected = run(bulk, tmp_path / "bulk")
    with panel_server(texts) as server:
        made = run(study_of(called(config, server.url)), tmp_path / "http")
        asked = server.prompts()
    assert made.keys() == expected.keys()
    for job, frame in made.items():
        pd.testing.assert_frame_equal(without(frame), without(expected[job]))
        assert not frame["simulated"].any()
        assert frame["request_key"].notna().all()
    # Every prompt is asked, and none that the panel wouldn't know: answers, verdicts, two labels, two more templates.
    assert len(asked) == len(texts) == 4 * 3 * (2 + 4 + 2 * 2 + 2 * 2)


def test_the_panel_as_a_provider_of_litellms_says_what_the_bulk_run_says(texts, tmp_path, monkeypatch):
    litellm = engine.load_litellm()
    panel = panel_provider(litellm, texts)
    monkeypatch.setattr(litellm, "custom_provider_map", [{"provider": "panel", "custom_handler": panel}])
    litellm.utils.custom_llm_setup()
    for name in {model for model, _ in texts}:
        prompts = [prompt for model, prompt in texts if model == name]
        calls = [Call(str(number), ({"role": "user", "content": p},)) for number, p in enumerate(prompts)]
        spec = ModelSpec(name=name, model=f"panel/{name}")
        answers = complete(spec, calls, tmp_path / f"{name}.jsonl", Limits(concurrency=8))
        assert [answers[call.id].text for call in calls] == [texts[name, prompt] for prompt in prompts]
        assert {answer.status for answer in answers.values()} == {"ok"}


def test_trials_cannot_be_told_apart_by_a_prompt(config):
    with pytest.raises(ValueError, match="trial"):
        panel_texts(study_of(config | {"trials": 2}))
