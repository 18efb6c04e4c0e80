"""What a change of the configuration or of a prompt asks anew: exactly the calls whose answers it can change."""

import copy
import json
import shutil
from collections import Counter
from functools import reduce
from pathlib import Path

import pytest
from fault_server import FaultServer, Reply

from voirdire.benchmarks.loading import load
from voirdire.study.calling import Calling
from voirdire.study.config import parse
from voirdire.study.generation import generate
from voirdire.study.judgement import Bench, judge
from voirdire.study.study import Study

PROMPTS = Path(__file__).resolve().parents[2] / "config" / "prompts"
QUESTIONS = {"gsm8k": 2, "aime": 1}
JUDGES = ("crow", "owl")


@pytest.fixture(scope="module")
def server():
    # One answer to all: what a judge is asked depends on no change of an examinee.
    with FaultServer(lambda prompt: Reply("So it is\n#### 4\ncorrect")) as running:
        yield running


@pytest.fixture
def config(server):
    """One model answers, itself and another judge, blind and under a label."""
    endpoint = {"api_base": server.url, "api_version": None, "api_key_env": "OWN_KEY"}
    parameters = {"temperature": 0, "max_tokens": 50, "top_p": 0.5}
    crow = {"model": "openai/crow", "family": "birds", "parameters": parameters, "endpoint": endpoint}
    for_owl = {"allowed_openai_params": ["reasoning_effort"]}
    of_azure = {"api_base": server.root, "api_version": "2024-10-21", "api_key_env": "OWN_KEY"}
    owl = crow | {"model": "azure/owl", "endpoint": of_azure, "parameters": {**parameters, **for_owl}}
    return {
        "study": "small",
        "benchmarks": {task: {"limit": n} for task, n in QUESTIONS.items()},
        "models": {"crow": crow, "owl": owl},
        "examinees": ["crow"],
        "judges": list(JUDGES),
        "ablations": {"identity": {"labels": ["elite"], "examinees": ["crow"]}},
        "prompts": "prompts",
    }


class Asked:
    """Runs all jobs of a study that call models, in the working directory."""

    def __init__(self, server):
        self.server = server

    def __call__(self, config):
        """How many requests each job has sent, of those that have sent any."""
        study = Study(parse(config), config["prompts"])
        seed, sent, made = study.config.seed, Counter(), {}
        items = {task: load(task, study.source(task), seed).items for task in study.matrix.tasks}
        for task, name in study.matrix.answers:
            spec, source = json.loads(study.examinee_spec(task, name)), study.generation_input(task, name)
            calling = self._calling(study, name, "generate", task, name)
            made[task, name], _ = self._count(sent, calling, generate, name, spec, items[task], source, seed, calling)
        for condition, task, name, examinee in study.matrix.judgements:
            spec = json.loads(study.judge_spec(condition, task, name, examinee))
            calling = self._calling(study, name, "judge", condition, task, name, examinee)
            prompt = study.judge_prompt(condition, task)
            bench = Bench(name, condition, spec, items[task], made[task, examinee], None, prompt, seed, calling)
            self._count(sent, calling, judge, bench)
        return +sent

    def _calling(self, study, name, *job):
        return Calling(study.paths.journal(*job), study.call_limits(name))

    def _count(self, sent, calling, step, *arguments):
        before = len(self.server.requests)
        result = step(*arguments)
        job = " ".join(Path(calling.journal).with_suffix("").parts[3:])
        sent[job] += len(self.server.requests) - before
        return result


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The folder in which the unchanged study runs, once for all tests."""
    folder = tmp_path_factory.mktemp("asked")
    shutil.copytree(PROMPTS, folder / "prompts")
    shutil.copytree(folder / "prompts/judge/default", folder / "prompts/judge/brief")
    return folder


@pytest.fixture
def asked(server, begun, config, tmp_path, monkeypatch):
    """Runs a study, of which the unchanged one has run already."""
    monkeypatch.setenv("OWN_KEY", "planted-key")
    monkeypatch.setenv("OTHER_KEY", "planted-key")
    ask = Asked(server)
    if not (begun / "results").exists():
        monkeypatch.chdir(begun)
        assert ask(config) == generated() + judged("blind") + judged("elite")
    folder = tmp_path / "study"
    shutil.copytree(begun, folder)
    monkeypatch.chdir(folder)
    return ask


def generated(*tasks):
    return Counter({f"generate {task} crow": QUESTIONS[task] for task in tasks or QUESTIONS})


def judged(condition, tasks=QUESTIONS, judges=JUDGES):
    return Counter({f"judge {condition} {task} {judge} crow": QUESTIONS[task] for task in tasks for judge in judges})


def by(model, *tasks):
    """What a model is asked for in all its roles."""
    tasks = tasks or tuple(QUESTIONS)
    asked = judged("blind", tasks, [model]) + judged("elite", tasks, [model])
    return asked + generated(*tasks) if model == "crow" else asked


def one_of(asked):
    return Counter(dict.fromkeys(asked, 1))


ALL_JUDGED = judged("blind") + judged("elite")
NOTHING = Counter()

CHANGES = [
    # What can change an answer.
    ("models.crow.model", "openai/raven", by("crow")),
    ("models.crow.parameters.temperature", 0.7, by("crow")),
    ("models.crow.parameters.max_tokens", 51, by("crow")),
    ("models.crow.parameters.max_completion_tokens", 50, by("crow")),
    ("models.crow.parameters.seed", 1, by("crow")),
    ("models.owl.parameters.reasoning_effort", "low", by("owl")),
    ("models.owl.drop", ["top_p"], by("owl")),
    ("models.crow.tasks", {"aime": {"max_tokens": 99}}, by("crow", "aime")),
    ("models.crow.tasks", {"gsm8k": {"stop": ["x"]}}, by("crow", "gsm8k")),
    ("models.crow.endpoint.api_base", "ROOT/openai/v1", by("crow")),
    ("models.owl.endpoint.api_version", "2025-01-01", by("owl")),
    ("trials", 2, ALL_JUDGED),
    ("seed", 5, ALL_JUDGED),
    ("templates", ["default", "brief"], judged("brief")),
    ("ablations.identity.labels", ["elite", "author"], judged("author")),
    ("ablations.identity.elite", "GPT-6", judged("elite")),
    ("benchmarks.aime.limit", 2, one_of(generated("aime") + judged("blind", ["aime"]) + judged("elite", ["aime"]))),
    # What cannot.
    ("models.crow.parameters", {"top_p": 0.5, "max_tokens": 50.0, "temperature": 0.0}, NOTHING),
    ("models.crow.drop", ["stop"], NOTHING),
    ("models.crow.tasks", {"gsm8k": {"max_tokens": 50}, "mbpp": {"max_tokens": 7}}, NOTHING),
    ("models.crow.endpoint.api_base", "ROOT/v1/", NOTHING),
    ("models.crow.endpoint.api_key_env", "OTHER_KEY", NOTHING),
    ("models.crow.endpoint.pool", "shared_pool", NOTHING),
    (
        "models.crow.limits",
        {"concurrency": 3, "requests_per_minute": 60, "timeout_s": 9, "max_attempts": 1, "deadline_s": 9},
        NOTHING,
    ),
    ("models.crow.price", {"input": 1, "output": 2}, NOTHING),
    ("models.crow.mode", "batch", NOTHING),
    ("models.crow.family", "mammals", NOTHING),
    ("models.crow.title", "Crow 2", NOTHING),
    ("budget_usd", 0.000001, NOTHING),
    ("pilot", 3, NOTHING),
    ("accept_errors", 0.5, NOTHING),
    ("panel", {"quorum": 1, "tie": "correct"}, NOTHING),
    ("bootstrap", {"resamples": 200}, NOTHING),
    ("benchmarks.gsm8k.limit", 1, NOTHING),
    ("judges", ["owl"], NOTHING),
    ("ablations.identity.labels", [], NOTHING),
]


@pytest.mark.parametrize(("path", "value", "anew"), CHANGES, ids=[f"{path} {value}" for path, value, _ in CHANGES])
def test_a_change_asks_anew_for_what_it_can_change_and_for_nothing_when_it_is_undone(
    asked, server, config, path, value, anew
):
    changed = copy.deepcopy(config)
    *parents, last = path.split(".")
    value = value.replace("ROOT", server.root) if isinstance(value, str) else value
    reduce(lambda section, key: section.setdefault(key, {}), parents, changed)[last] = value
    assert asked(changed) == anew
    assert asked(config) == NOTHING
    assert asked(changed) == NOTHING


@pytest.mark.parametrize(
    ("prompt", "anew"),
    [
        ("examinee/gsm8k.md", generated("gsm8k")),
        ("judge/default/aime.md", judged("blind", ["aime"]) + judged("elite", ["aime"])),
        ("judge/brief/aime.md", NOTHING),
        ("examinee/mbpp.md", NOTHING),
    ],
)
def test_a_prompts_new_words_are_sent_and_the_old_ones_answers_kept(asked, config, prompt, anew):
    file = Path("prompts", prompt)
    before, n_before = file.read_text(), len(asked.server.requests)
    file.write_text(before.replace("\n", " Take care.\n", 1))
    assert asked(config) == anew
    assert all("Take care." in request.prompt for request in asked.server.requests[n_before:])
    file.write_text(before)
    assert asked(config) == NOTHING


def test_another_response_is_judged_anew(asked, server, config, monkeypatch):
    changed = copy.deepcopy(config)
    changed["models"]["crow"]["parameters"]["temperature"] = 1
    monkeypatch.setattr(server, "_default", lambda model, prompt: Reply(f"It is {len(prompt)}.\n#### 4\ncorrect"))
    assert asked(changed) == generated() + ALL_JUDGED
