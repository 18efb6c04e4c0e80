"""A bad configuration is refused before anything runs: every fault with its key and what to do."""

from pathlib import Path

import pytest
import yaml

from voirdire.errors import UserError
from voirdire.study.config import parse
from voirdire.study.study import load_study

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def raw():
    """The default study as plain data, to be spoilt."""
    default = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text())
    default["models"]["crow"] = {"model": "openai/crow", "family": "birds"}
    return default


def faults_of(raw):
    with pytest.raises(UserError) as raised:
        parse(raw, "mine.yaml")
    return raised.value.faults


@pytest.mark.parametrize("name", ["config", "paper"])
def test_shipped_configurations_are_sound(name):
    config = parse(yaml.safe_load((PROJECT / "config" / f"{name}.yaml").read_text()))
    assert (len(config.examinees), len(config.judges), len(config.benchmarks)) == (6, 6, 4)


def spoil(raw, path, value):
    *parents, last = path.split(".")
    for key in parents:
        raw = raw.setdefault(key, {})
    raw[last] = value


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("benchmark", {}, "mine.yaml: benchmark: unknown key; did you mean 'benchmarks'?"),
        ("models.rook.modle", "x", "mine.yaml: models.rook.modle: unknown key; did you mean 'mode' or 'model'?"),
        (
            "models.rook.limits",
            {"concurency": 3},
            "mine.yaml: models.rook.limits.concurency: unknown key; did you",
        ),
        ("drift.prior", {"fpf": 0.2}, "mine.yaml: drift.prior.fpf: unknown key; did you mean 'fpr'?"),
        ("benchmarks.gsm9k", {}, "mine.yaml: benchmarks.gsm9k: unknown benchmark; known are gsm8k,"),
        ("benchmarks.gsm8k", {"source": "path"}, "mine.yaml: benchmarks.gsm8k: path: is missing"),
        (
            "benchmarks.gsm8k",
            {"limit": 3, "sample": 3},
            "mine.yaml: benchmarks.gsm8k: limit and sample: give one",
        ),
        ("benchmarks.gsm8k", {"limit": 0}, "mine.yaml: benchmarks.gsm8k.limit: "),
        ("benchmarks", {}, "mine.yaml: benchmarks: name at least one of gsm8k"),
        ("examinees", ["rook", "daw"], "mine.yaml: examinees: 'daw' is not defined under models; define it or"),
        ("examinees", [], "mine.yaml: examinees: "),
        ("judges", ["rook", "rook"], "mine.yaml: judges: 'rook' is listed 2 times; list it once"),
        ("models.rook", {"family": "x"}, "mine.yaml: models.rook: give either 'model' or 'responses'"),
        ("models.rook", {"model": "simulated/rook"}, "mine.yaml: models.rook.family: this key is needed"),
        ("models.rook.model", "simulated/crow", "mine.yaml: models.rook.model: persona 'crow' is not defined under"),
        ("models.Rook", {"model": "m", "family": "x"}, "mine.yaml: models.Rook: 'Rook' must be of a-z, 0-9 and _"),
        ("models.crow.tasks", {"maths": {}}, "mine.yaml: models.crow.tasks.maths: unknown task; known are gsm8k"),
        ("models.rook.parameters", {"top_p": 1}, "mine.yaml: models.rook: parameters: no call is made for this model"),
        ("models.crow.parameters", {"stream": True}, "mine.yaml: model 'crow': parameters: 'stream' is not a sampling"),
        ("models.crow.endpoint", {"api_base": "http://a/?key=b"}, "mine.yaml: model 'crow': api_base: must be http(s)"),
        ("models.crow.responses_examinee", "x", "mine.yaml: models.crow: 'responses_examinee' belongs to 'responses'"),
        ("models.all", {"model": "openai/x", "family": "y"}, "mine.yaml: models.all: 'all' stands for pooled rows in"),
        ("models.mean", {"model": "openai/x", "family": "y"}, "mine.yaml: models.mean: 'mean' stands for pooled rows"),
        ("templates", ["default", "default"], "mine.yaml: templates: 'default' gives the condition 'blind' a second"),
        ("templates", ["default", "blind"], "mine.yaml: templates: 'blind' gives the condition 'blind' a second time"),
        ("templates", ["default", "elite"], "mine.yaml: templates: 'default' gives the condition 'elite' a second"),
        ("seed", -1, "mine.yaml: seed: "),
        ("seed", True, "mine.yaml: seed: "),
        ("trials", 10**9, "mine.yaml: trials: "),
        ("benchmarks.gsm8k", {"limit": True}, "mine.yaml: benchmarks.gsm8k.limit: "),
        ("benchmarks.gsm8k", {"limit": "5"}, "mine.yaml: benchmarks.gsm8k.limit: "),
        (
            "benchmarks.gsm8k",
            {"source": "path", "path": "a{b}.jsonl"},
            "mine.yaml: benchmarks.gsm8k.path: a path cannot",
        ),
        ("prompts", "my {x} prompts", "mine.yaml: prompts: a path cannot have braces"),
        ("models.crow.family", "", "mine.yaml: models.crow.family: "),
        ("models.crow.model", "", "mine.yaml: models.crow.model: "),
        ("personas.rook.verbosity", 1e308, "mine.yaml: personas.rook.verbosity: "),
        ("study", "journal", "mine.yaml: study: 'journal' is where all studies' journals lie; choose another name"),
        ("drift.seed", -1, "mine.yaml: drift.seed: "),
        (
            "personas.rook.ability",
            {"gsm8k": 0.9},
            "mine.yaml: personas.rook.ability.aime: is missing, though the study",
        ),
        ("personas.rook.slip", 3, "mine.yaml: personas.rook.slip: input should be less than"),
        ("seed", "often", "mine.yaml: seed: "),
        ("accept_errors", 2, "mine.yaml: accept_errors: "),
        ("ablations.identity.examinees", ["crow"], "mine.yaml: ablations.identity.examinees: 'crow' is not among the"),
        ("ablations.template.examinees", ["crow"], "mine.yaml: ablations.template.examinees: 'crow' is not among the"),
        (
            "ablations.template.examinees",
            ["rook"] * 2,
            "mine.yaml: ablations.template.examinees: 'rook' is listed more",
        ),
        (
            "ablations.identity.examinees",
            ["rook"] * 3,
            "mine.yaml: ablations.identity.examinees: 'rook' is listed more",
        ),
        ("drift.start", {"gsm8k": 1.0}, "mine.yaml: drift: give both 'start' and 'end', or neither"),
        ("drift", {"start": {"gsm8k": 0.5}, "end": {"gsm8k": 1}}, "mine.yaml: drift: the shares of 'start', and of"),
        ("drift", {"labels_per_week": 41}, "mine.yaml: drift: 'labels_per_week' cannot exceed 'per_week'"),
        ("drift", {"start": {"x": 1}, "end": {"x": 1}}, "mine.yaml: drift.start.x: not among this study's benchmarks"),
        ("prior_sweep", {"fpr": []}, "mine.yaml: prior_sweep.fpr: "),
        ("prior_sweep", {"fnr": [0.2, 0]}, "mine.yaml: prior_sweep.fnr.1: "),
        ("prior_sweep", {"strength": [-1]}, "mine.yaml: prior_sweep.strength.0: "),
        ("study", "My Study", "mine.yaml: study: 'My Study' must be of a-z, 0-9 and _"),
    ],
)
def test_a_fault_is_named_with_its_key(raw, path, value, fault):
    spoil(raw, path, value)
    assert any(found.startswith(fault) for found in faults_of(raw)), faults_of(raw)


def test_recorded_letters_and_shuffled_options_are_refused(raw):
    spoil(raw, "benchmarks.quality", {"shuffle_options": True})
    spoil(raw, "models.old", {"responses": "a.jsonl", "family": "x"})
    parse(raw, "mine.yaml")
    raw["examinees"] = [*raw["examinees"], "old"]
    (fault,) = [fault for fault in faults_of(raw) if "shuffle_options" in fault]
    assert fault.startswith("mine.yaml: benchmarks.quality.shuffle_options: the responses of old are recorded")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("models.crow.endpoint", "sk-very-secret"),
        ("models.crow.endpoint.api_key_env", "sk-very-secret"),
        ("models.crow.endpoint.api_key_env", ["sk-very-secret"]),
        ("models.crow.endpoint.api_key", "sk-very-secret"),
        ("models.crow.parameters.api_key", "sk-very-secret"),
    ],
)
def test_a_key_in_the_configuration_is_a_fault_that_does_not_repeat_it(raw, path, value):
    spoil(raw, path, value)
    (fault,) = faults_of(raw)
    assert "crow" in fault
    assert "secret" not in fault


def test_several_faults_are_named_at_once(raw):
    spoil(raw, "examinees", ["daw"])
    spoil(raw, "judges", ["owl"])
    spoil(raw, "models.crow.tasks", {"maths": {}})
    found = " ".join(faults_of(raw))
    assert "'daw'" in found
    assert "'owl'" in found
    assert "maths" in found


def test_a_recorded_examinee_cannot_judge(raw):
    spoil(raw, "models.rook", {"responses": "a.jsonl", "family": "x"})
    assert "mine.yaml: judges: 'rook' has recorded responses and cannot judge; take it off the list" in faults_of(raw)


def test_the_key_of_a_model_is_no_configuration(raw):
    spoil(raw, "models.rook.endpoint", {"api_key": "sk-secret"})
    assert any("models.rook.endpoint.api_key: unknown key" in fault for fault in faults_of(raw))


def study(raw, **changes):
    return load_study(raw | changes, [], PROJECT)


def test_the_drift_mix_is_the_papers_where_its_tasks_are_there(raw):
    settings = study(raw).drift_settings()
    assert '"start":{"aime":0.15,"gsm8k":0.85}' in settings
    assert '"end":{"aime":0.85,"gsm8k":0.15}' in settings


def test_without_the_papers_tasks_there_is_no_drift(raw):
    assert study(raw, benchmarks={"quality": {}}).drift_settings() == "{}"


def test_a_models_parameters_differ_by_task(raw):
    raw["models"]["rook"] = {
        "model": "openai/x",
        "family": "y",
        "parameters": {"temperature": 0, "max_tokens": 9},
        "tasks": {"aime": {"max_tokens": 99}},
    }
    assert '"max_tokens":99' in study(raw).examinee_spec("aime", "rook")
    assert '"max_tokens":9,' in study(raw).examinee_spec("gsm8k", "rook")


def test_a_specification_does_not_depend_on_the_order_of_keys(raw):
    raw["models"]["rook"] = {"model": "openai/x", "family": "y", "parameters": {"a": 1, "b": 2}}
    first = study(raw).examinee_spec("aime", "rook")
    raw["models"]["rook"]["parameters"] = {"b": 2, "a": 1}
    assert study(raw).examinee_spec("aime", "rook") == first
    raw["models"]["rook"]["parameters"] = {"a": 2, "b": 1}
    assert study(raw).examinee_spec("aime", "rook") != first


def test_judges_are_shown_the_authors_title_or_the_elite_name(raw):
    chosen = study(raw)
    assert chosen.shown("author", "larch") == "Larch"
    assert chosen.shown("elite", "larch") == "Rook"
    assert chosen.shown(None, "larch") is None


def test_grades_go_to_simulated_judges_of_examinees_that_are_not(raw):
    raw["models"]["real"] = {"model": "openai/x", "family": "y"}
    chosen = study(raw)
    assert chosen.needs_grades("rook", "real")
    assert not chosen.needs_grades("rook", "larch")
    assert not chosen.needs_grades("real", "larch")


def test_a_study_survives_json(raw):
    chosen = study(raw)
    again = type(chosen).from_json(chosen.to_json())
    assert again.matrix.judgements == chosen.matrix.judgements
    assert again.judge_spec("elite", "aime", "rook", "larch") == chosen.judge_spec("elite", "aime", "rook", "larch")
