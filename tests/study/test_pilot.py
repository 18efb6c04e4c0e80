"""The pilot: what is asked of whom, what is kept, and that the truth lies in the range that follows from it."""

import hashlib
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from fault_server import FaultServer, Reply
from scipy import stats

from voirdire.benchmarks import Item
from voirdire.benchmarks.items import frame_from_items
from voirdire.models import read_journal
from voirdire.models.records import spent_usd
from voirdire.steps import estimate as step
from voirdire.study import pilot as module
from voirdire.study.calling import Calling
from voirdire.study.config import parse
from voirdire.study.estimate import estimate
from voirdire.study.generation import generate
from voirdire.study.judgement import Bench, judge
from voirdire.study.study import Study
from voirdire.tables import GENERATIONS, ITEMS, write_table

# Dollars per million tokens, sent and received.
PRICES = {"crow": (1.0, 4.0), "owl": (0.5, 9.0)}
TASKS = ("gsm8k", "aime")
N_ITEMS = 40


def word_count(model, prompt):
    """Lengths of answers as models have them: lognormal, and one in twelve ten times as long."""
    share = int.from_bytes(hashlib.sha256(f"{model} {prompt}".encode()).digest()[:6]) / 2**48
    length = 30 * math.exp(0.7 * stats.norm.ppf(share))
    return max(1, round(10 * length if int(share * 2**40) % 12 == 0 else length))


def reply(model, prompt):
    words = "word " * (word_count(model, prompt) - 1)
    return Reply(words + ("correct" if "RESPONSE" in prompt else "4"))


@pytest.fixture(scope="module")
def birds():
    with FaultServer(by_model=lambda model, prompt: reply(model, prompt)) as running:
        yield running


@pytest.fixture
def study(tmp_path, monkeypatch, birds):
    """Makes a study of two tasks in which crow and owl answer and judge, of which a pilot of five is wanted."""
    monkeypatch.chdir(tmp_path)
    birds.reset()
    for task in TASKS:
        for name, text in (("examinee", "$question"), ("judge/default", "$identity\n$question\n$response\n")):
            (tmp_path / "prompts" / name).mkdir(parents=True, exist_ok=True)
            (tmp_path / "prompts" / name / f"{task}.md").write_text(text)

    def make(models=None, **changes):
        def entry(name):
            price = dict(zip(("input", "output"), PRICES[name], strict=True))
            endpoint = {"api_base": birds.url}
            basic = {"model": f"openai/{name}", "family": "bird", "parameters": {"max_tokens": 4000}}
            return {**basic, "endpoint": endpoint, "price": price} | (models or {}).get(name, {})

        config = {
            "study": "small",
            "pilot": 5,
            "benchmarks": {task: {} for task in TASKS},
            "models": {name: entry(name) for name in PRICES},
            "examinees": ["crow", "owl"],
            "judges": ["crow", "owl"],
        }
        made = Study(parse(config | changes), "prompts")
        for task in made.matrix.tasks:
            write_table(frame_from_items(questions(task)), made.paths.items(task), ITEMS)
        return made

    return make


def questions(task):
    return [
        Item(task, f"{number}", f"{task} question {number}" + " more" * (number % 7), "4") for number in range(N_ITEMS)
    ]


def run_all(study):
    """What the study's jobs do, generate and judge."""
    for task, examinee in study.matrix.answers:
        spec = json.loads(study.examinee_spec(task, examinee))
        how = Calling(study.paths.journal("generate", task, examinee), study.call_limits(examinee))
        source = study.generation_input(task, examinee)
        frame, _ = generate(examinee, spec, questions(task), source, study.config.seed, how)
        write_table(frame, study.paths.generation(task, examinee), GENERATIONS)
        for condition, judged, name, of in study.matrix.judgements:
            if (judged, of) == (task, examinee):
                spec = json.loads(study.judge_spec(condition, task, name, of))
                how = Calling(study.paths.journal("judge", condition, task, name, of), study.call_limits(name))
                prompt = study.judge_prompt(condition, task)
                judge(Bench(name, condition, spec, questions(task), frame, None, prompt, study.config.seed, how))


def journals(study):
    return {str(path): read_journal(path) for path in Path(study.paths.journals).rglob("*.jsonl")}


def sums(study):
    """Tokens sent and received, and dollars, of all that the journals have."""
    answers = [answer for journal in journals(study).values() for answer in journal.values()]
    cost = sum(spent_usd(path) for path in journals(study))
    return sum(each.prompt_tokens for each in answers), sum(each.completion_tokens for each in answers), cost


def sent_twice(birds):
    return [what for what, n in Counter((each.model, each.prompt) for each in birds.requests).items() if n > 1]


def rows(found):
    return {(row["role"], row["model"]): row for row in found.rows.to_dict("records")}


def test_the_truth_lies_inside_and_nothing_is_sent_twice(study, birds):
    chosen = study()
    found = estimate(chosen)
    assert found.faults == []
    before = sums(chosen)
    assert before[2] == pytest.approx(found.spent_usd)
    assert len(birds.requests) == 4 * 5 + 8 * 5

    run_all(chosen)
    row = rows(found)["all", ""]
    assert (row["calls"], row["to_do"]) == (4 * N_ITEMS + 8 * N_ITEMS, 12 * (N_ITEMS - 5))
    for kind, first, last in zip(("prompt_tokens", "completion_tokens", "cost_usd"), before, sums(chosen), strict=True):
        assert row[f"{kind}_low"] <= last - first <= row[f"{kind}_high"]
        assert row[f"{kind}_high"] < 15 * row[f"{kind}_low"]
    assert sent_twice(birds) == []
    assert len(birds.requests) == 12 * N_ITEMS


def test_each_model_in_each_role_has_its_own_range(study):
    chosen = study()
    found = rows(estimate(chosen))
    run_all(chosen)
    after = rows(estimate(chosen))
    assert list(found) == [("examinee", "crow"), ("examinee", "owl"), ("judge", "crow"), ("judge", "owl"), ("all", "")]
    assert all(row["to_do"] == 0 == row["cost_usd_high"] for row in after.values())
    for (role, name), row in list(found.items())[:4]:
        folder = Path(chosen.paths.journals) / ("generate" if role == "examinee" else "judge")
        place = -1 if role == "examinee" else -2
        paths = [path for path in folder.rglob("*.jsonl") if path.with_suffix("").parts[place] == name]
        truth = sum(answer.completion_tokens for path in paths for answer in read_journal(path).values())
        assert row["completion_tokens_low"] <= truth <= row["completion_tokens_high"] * 1.2


def test_a_second_pilot_asks_nothing(study, birds):
    chosen = study()
    first = estimate(chosen)
    birds.requests.clear()
    second = estimate(chosen)
    assert birds.requests == []
    assert second.rows.equals(first.rows)


def test_a_larger_pilot_asks_for_the_difference(study, birds):
    estimate(study())
    estimate(study(pilot=7))
    assert sent_twice(birds) == []
    assert len(birds.requests) == 12 * 7


def test_the_questions_are_the_same_for_all_and_chosen_by_the_seed(study):
    def asked(seed):
        chosen = study(seed=seed, study=f"seed_{seed}")
        estimate(chosen)
        return {
            path: {line["id"].partition("#")[0] for line in map(json.loads, Path(path).read_text().splitlines())}
            for path in journals(chosen)
        }

    first, second = asked(1), asked(2)
    for found in (first, second):
        for task in TASKS:
            chosen = [ids for path, ids in found.items() if f"/{task}/" in path]
            assert len(chosen) == 6
            assert all(ids == chosen[0] for ids in chosen)
            assert len(chosen[0]) == 5
    assert set(map(frozenset, first.values())) != set(map(frozenset, second.values()))
    assert {"0", "1", "2", "3", "4"} not in first.values(), "not just the first ones"


def test_answers_of_an_earlier_run_are_a_pilot(study, birds):
    done = study(judges=["owl"], examinees=["crow"], pilot=0)
    run_all(done)
    more = study(judges=["owl", "crow"], examinees=["crow"], pilot=0)
    birds.requests.clear()
    found = rows(estimate(more))
    assert birds.requests == []
    assert found["judge", "owl"]["to_do"] == 0
    assert math.isnan(found["judge", "crow"]["cost_usd_expected"]), "of this judge nothing is known"

    trials = study(judges=["owl"], examinees=["crow"], pilot=0, trials=2)
    row = rows(estimate(trials))["judge", "owl"]
    assert row["to_do"] == 2 * N_ITEMS
    assert row["cost_usd_low"] < row["cost_usd_expected"] < row["cost_usd_high"]


def test_a_pilot_larger_than_the_benchmark_leaves_nothing(study):
    found = estimate(study(pilot=1000)).rows
    assert (found["to_do"] == 0).all()
    assert (found["cost_usd_high"] == 0).all()


def test_only_the_pilots_responses_are_judged_and_those_not_ok_are_not(study, birds):
    chosen = study(judges=["owl"], examinees=["crow"])
    for number, prompt in enumerate(questions("gsm8k")):
        if number % 2:
            birds.script(prompt.question, Reply(None, finish_reason="content_filter"))
    found = estimate(chosen)
    answered = read_journal(chosen.paths.journal("generate", "gsm8k", "crow")).values()
    n_ok = sum(answer.status == "ok" for answer in answered)
    assert len(answered) == 5
    assert 0 < n_ok < 5
    assert len(read_journal(chosen.paths.journal("judge", "blind", "gsm8k", "owl", "crow"))) == n_ok
    row = rows(found)["judge", "owl"]
    assert row["to_do"] == 2 * N_ITEMS - 5 - 5


def test_refused_calls_count_with_the_tokens_that_they_took(study, birds):
    for item in (*questions("gsm8k"), *questions("aime")):
        birds.script(item.question, Reply(status=400, body=_filtered()))
    found = estimate(study(judges=["owl"], examinees=["crow"]))
    row = rows(found)["examinee", "crow"]
    assert row["answered"] == 10
    assert found.spent_usd == 0


def _filtered():
    return {"error": {"message": "filtered", "type": None, "param": "prompt", "code": "content_filter", "status": 400}}


def test_a_model_without_a_key_is_named_and_the_others_are_asked(study, birds, monkeypatch):
    monkeypatch.delenv("OWL_KEY", raising=False)
    endpoint = {"api_base": birds.url, "api_key_env": "OWL_KEY"}
    chosen = study({"owl": {"endpoint": endpoint}}, benchmarks={"gsm8k": {}}, examinees=["crow"])
    found = estimate(chosen)
    (fault,) = found.faults
    assert "owl" in fault
    assert "OWL_KEY" in fault
    assert rows(found)["examinee", "crow"]["answered"] == 5
    assert rows(found)["judge", "crow"]["answered"] == 5
    assert rows(found)["judge", "owl"]["answered"] == 0


def test_calls_that_fail_are_reported_and_the_rest_is_a_pilot_all_the_same(study, birds):
    chosen = study(benchmarks={"gsm8k": {}}, examinees=["crow"], judges=["owl"])
    (cell,) = module.cells(chosen, ("examinee",))
    failing, *_ = module.chosen(cell, 5, chosen.config.seed)
    birds.script(failing.messages[0]["content"], Reply(status=422))
    found = estimate(chosen)
    assert "1 of 5 calls failed" in found.faults[0]
    row = rows(found)["examinee", "crow"]
    assert (row["answered"], row["to_do"]) == (4, N_ITEMS - 4)
    assert row["cost_usd_low"] < row["cost_usd_high"]


def test_a_refused_parameter_of_one_task_ends_only_that_task(study, birds):
    chosen = study({"crow": {"tasks": {"aime": {"top_p": 0.5}}}}, examinees=["crow"], judges=["owl"])
    body = {"error": {"message": "Unsupported parameter: 'top_p'", "param": "top_p", "code": "unsupported_parameter"}}
    for item in questions("aime"):
        birds.script(item.question, Reply(status=400, body=body))
    found = estimate(chosen)
    assert "top_p" in found.faults[0]
    assert len(read_journal(chosen.paths.journal("generate", "gsm8k", "crow"))) == 5
    assert rows(found)["examinee", "crow"]["to_do"] == 2 * N_ITEMS - 5


def test_pilot_calls_count_against_the_budget(study, birds):
    chosen = study(budget_usd=1e-9, benchmarks={"gsm8k": {}}, examinees=["crow"], judges=["crow"])
    found = estimate(chosen)
    assert "budget_usd" in found.faults[0]
    assert len(birds.requests) <= 2, "a call in flight may overshoot, the next is not made"


def test_many_models_are_asked_by_several_processes(study, birds, monkeypatch):
    monkeypatch.setattr(module, "_FEWEST", 2)
    chosen = study(benchmarks={"gsm8k": {}}, judges=["crow"], pilot=2)
    found = estimate(chosen)
    assert found.faults == []
    assert len(birds.requests) == 2 * 2 + 2 * 2
    assert sent_twice(birds) == []


def test_a_model_in_batch_mode_is_piloted_live(study, birds):
    chosen = study({"crow": {"mode": "batch"}}, benchmarks={"gsm8k": {}}, examinees=["crow"], judges=["crow"])
    estimate(chosen)
    assert len(birds.requests) == 10


def test_a_batch_costs_half_of_the_list_and_a_configured_price_as_it_is(study, monkeypatch):
    monkeypatch.setattr("voirdire.study.estimate.price_per_token", lambda spec: spec.price or (2.0, 0.0))
    found = {}
    for mode in ("live", "batch"):
        chosen = study(
            {"crow": {"mode": mode, "price": None}, "owl": {"mode": mode, "price": {"input": 3, "output": 0}}}, pilot=0
        )
        found[mode] = rows(estimate(chosen))
    for name, share in (("crow", 0.5), ("owl", 1.0)):
        live, batch = (found[mode]["examinee", name]["cost_usd_low"] for mode in ("live", "batch"))
        assert batch == pytest.approx(share * live)


def test_the_step_tells_of_the_forecast(study, monkeypatch, capsys):
    chosen = study(benchmarks={"gsm8k": {}}, examinees=["crow"], judges=["crow"])
    monkeypatch.setattr("sys.argv", ["estimate", "--study", chosen.to_json()])
    step.main()
    output = capsys.readouterr().out
    assert "Pilot: 5 calls of 1 examinee jobs" in output
    assert "Forecast from 10 answers in the journals" in output
    assert "Bounds" not in output
    assert "Spent so far: $" in output
