"""What is still to pay: counts, tokens and cost that can be worked out by hand."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from fault_server import Reply

from voirdire.benchmarks.items import frame_from_items
from voirdire.errors import UserError
from voirdire.judging import judge_prompt
from voirdire.models import estimate_tokens
from voirdire.steps import estimate as step
from voirdire.study import estimate as module
from voirdire.study.calling import Calling
from voirdire.study.config import parse
from voirdire.study.estimate import estimate
from voirdire.study.generation import generate
from voirdire.study.judgement import Bench, judge
from voirdire.study.study import Study
from voirdire.tables import GENERATIONS, ITEMS, JUDGEMENTS, write_table

# Dollars per token sent and received: whatever comes out can be read off as tokens.
PRICE = (1.0, 1000.0)
# "question a", a blind judge's prompt around no response, and around "#### 4": at four characters a token.
QUESTION = estimate_tokens("question a")
ASKED = estimate_tokens("\nquestion a\nBEGIN RESPONSE 0123456789ab\n\nEND RESPONSE 0123456789ab\n")
ASKED_FOUR = estimate_tokens("\nquestion a\nBEGIN RESPONSE 0123456789ab\n#### 4\nEND RESPONSE 0123456789ab\n")


@pytest.fixture
def prices(monkeypatch):
    """The price list: every model at PRICE, unless a test takes it off."""
    listed = {}
    monkeypatch.setattr(module, "price_per_token", lambda spec: listed.get(spec.model, PRICE))
    return listed


@pytest.fixture
def study(tmp_path, monkeypatch, server, items, persona, prices):
    """Makes a study of four questions in which crow is a real model, answers and judges."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("examinee", "$question"), ("judge/default", "$identity\n$question\n$response\n")):
        (tmp_path / "prompts" / name).mkdir(parents=True)
        (tmp_path / "prompts" / name / "gsm8k.md").write_text(text)

    def make(crow=None, **changes):
        entry = {
            "model": "openai/crow",
            "family": "bird",
            "parameters": {"max_tokens": 50},
            "endpoint": {"api_base": server.url},
        }
        config = {
            "study": "small",
            "benchmarks": {"gsm8k": {}},
            "models": {
                "crow": entry | (crow or {}),
                "owl": {**entry, "model": "openai/owl"},
                "rook": {"model": "simulated/rook", "family": "corvid"},
                "clerk": {"responses": "responses.jsonl", "family": "x"},
            },
            "personas": {"rook": persona()},
            "examinees": ["crow"],
            "judges": ["crow"],
        }
        made = Study(parse(config | changes), "prompts")
        write_table(frame_from_items(items), made.paths.items("gsm8k"), ITEMS)
        return made

    return make


@pytest.fixture
def answer(items):
    """Runs an examinee's job as its rule does."""

    def run(study, examinee):
        frame, _ = generate(
            examinee,
            json.loads(study.examinee_spec("gsm8k", examinee)),
            items,
            study.generation_input("gsm8k", examinee),
            study.config.seed,
            Calling(study.paths.journal("generate", "gsm8k", examinee), accept_errors=study.config.accept_errors),
        )
        write_table(frame, study.paths.generation("gsm8k", examinee), GENERATIONS)
        return frame

    return run


def judge_all(study, items, judge_name, examinee, generations):
    for condition in study.conditions:
        spec = json.loads(study.judge_spec(condition, "gsm8k", judge_name, examinee))
        calling = Calling(
            study.paths.journal("judge", condition, "gsm8k", judge_name, examinee),
            accept_errors=study.config.accept_errors,
        )
        prompt = study.judge_prompt(condition, "gsm8k")
        bench = Bench(judge_name, condition, spec, items, generations, None, prompt, study.config.seed, calling)
        write_table(judge(bench), study.paths.judgement(condition, "gsm8k", judge_name, examinee), JUDGEMENTS)


def row(found, role, model="crow"):
    rows = found.rows
    (chosen,) = rows[(rows["role"] == role) & (rows["model"] == model)].to_dict("records")
    return chosen


def ends(found_row, kind):
    return found_row[f"{kind}_low"], found_row[f"{kind}_high"]


def test_before_anything_has_run_all_is_to_do_and_bounded_by_the_cap(study):
    found = estimate(study())
    examinee = row(found, "examinee")
    assert (examinee["calls"], examinee["to_do"], examinee["answered"]) == (4, 4, 0)
    assert ends(examinee, "prompt_tokens") == (4 * QUESTION, 4 * QUESTION)
    assert ends(examinee, "completion_tokens") == (0, 4 * 50)
    assert ends(examinee, "cost_usd") == (4 * QUESTION, 4 * QUESTION + 4 * 50 * 1000)

    judging = row(found, "judge")
    assert (judging["calls"], judging["to_do"]) == (4, 4)
    assert ends(judging, "prompt_tokens") == (4 * ASKED, 4 * (ASKED + 50))
    assert ends(judging, "cost_usd") == (4 * ASKED, 4 * (ASKED + 50) + 4 * 50 * 1000)

    total = row(found, "all", "")
    assert (total["calls"], total["to_do"]) == (8, 8)
    assert ends(total, "prompt_tokens") == (4 * (QUESTION + ASKED), 4 * (QUESTION + ASKED + 50))
    assert (found.spent_usd, found.faults) == (0, [])


def test_trials_and_conditions_are_calls_of_their_own(study):
    chosen = study(trials=3, ablations={"identity": {"examinees": ["crow"]}})
    assert row(estimate(chosen), "judge")["to_do"] == 4 * 3 * 3
    assert row(estimate(chosen), "examinee")["to_do"] == 4


def test_judges_of_several_examinees_are_added_up(study):
    found = estimate(study(examinees=["crow", "owl"], judges=["crow", "owl"]))
    assert found.rows[["role", "model", "to_do"]].to_numpy().tolist() == [
        ["examinee", "crow", 4],
        ["examinee", "owl", 4],
        ["judge", "crow", 8],
        ["judge", "owl", 8],
        ["all", "", 24],
    ]


def test_one_question_asked_twice_is_one_call(study, items):
    chosen = study()
    twin = replace(items[0], item_id="twin")
    write_table(frame_from_items([*items, twin]), chosen.paths.items("gsm8k"), ITEMS)
    examinee = row(estimate(chosen), "examinee")
    assert (examinee["calls"], examinee["to_do"]) == (4, 4)
    assert ends(examinee, "prompt_tokens") == (4 * QUESTION, 4 * QUESTION)


def test_answers_in_the_journal_are_not_counted_again(study, server, answer, items):
    for item in items:
        server.script(item.question, Reply("#### 4"))
    chosen = study()
    generations = answer(chosen, "crow")
    done = row(estimate(chosen), "examinee")
    assert (done["calls"], done["to_do"], done["answered"]) == (4, 0, 4)
    assert ends(done, "prompt_tokens") == ends(done, "cost_usd") == (0, 0)
    left = row(estimate(chosen), "judge")
    assert left["to_do"] == 4
    assert ends(left, "prompt_tokens") == (4 * ASKED_FOUR, 4 * ASKED_FOUR), "the responses are known by now"

    judge_all(chosen, items, "crow", "crow", generations)
    assert (estimate(chosen).rows["to_do"] == 0).all()
    assert estimate(chosen).rows["calls"].tolist() == [4, 4, 8]
    assert len(server.requests) == 4 + 4


def test_what_is_answered_is_free_even_where_the_price_is_unknown(study, answer, prices):
    prices["openai/crow"] = None
    chosen = study()
    before = row(estimate(chosen), "examinee")
    assert before["price"] == "unknown"
    assert math.isnan(before["cost_usd_low"])
    answer(chosen, "crow")
    assert ends(row(estimate(chosen), "examinee"), "cost_usd") == (0, 0)


def test_responses_that_are_not_ok_will_not_be_judged(study, server, answer):
    server.script("question a", Reply(None, finish_reason="content_filter"))
    server.script("question b", Reply("", finish_reason="stop"))
    server.script("question c", Reply("#### 4", finish_reason="length"))
    chosen = study()
    answer(chosen, "crow")
    assert row(estimate(chosen), "judge")["calls"] == 1


def test_failures_that_a_finished_job_has_accepted_are_not_to_do(study, server, answer, items):
    server.script("question a", Reply(status=422))
    chosen = study(accept_errors=0.5, judges=["owl"])
    generations = answer(chosen, "crow")
    assert row(estimate(chosen), "examinee")["to_do"] == 0
    assert row(estimate(chosen), "judge", "owl")["calls"] == 3, "what has failed is not judged"

    template = Path("prompts/judge/default/gsm8k.md").read_text()
    asked = judge_prompt(template, items[1], "answer to: question b", None, chosen.config.seed)
    server.script(asked, Reply(status=422))
    judge_all(chosen, items, "owl", "crow", generations)
    assert row(estimate(chosen), "judge", "owl")["to_do"] == 0

    Path(chosen.paths.generation("gsm8k", "crow")).unlink()
    assert row(estimate(chosen), "examinee")["to_do"] == 1, "without its table the job runs, and asks, again"


def test_responses_of_an_examinee_whose_parameters_have_changed_will_be_judged_anew(study, server, answer, items):
    before = study(judges=["owl"])
    judge_all(before, items, "owl", "crow", answer(before, "crow"))
    assert row(estimate(before), "judge", "owl")["to_do"] == 0

    after = estimate(study({"parameters": {"max_tokens": 70}}, judges=["owl"]))
    assert row(after, "examinee")["to_do"] == 4
    judging = row(after, "judge", "owl")
    assert judging["to_do"] == 4, "though the old generations are still there"
    assert judging["prompt_tokens_high"] - judging["prompt_tokens_low"] == 4 * 70


def test_deleted_results_cost_nothing_while_the_journals_are_there(study, server, answer, items):
    chosen = study()
    judge_all(chosen, items, "crow", "crow", answer(chosen, "crow"))
    Path(chosen.paths.generation("gsm8k", "crow")).unlink()
    assert (estimate(chosen).rows["to_do"] == 0).all()


def test_a_personas_responses_are_known_before_they_are_generated(study, items, answer):
    chosen = study(examinees=["rook"])
    before = row(estimate(chosen), "judge")
    assert before["to_do"] == 4
    assert before["prompt_tokens_low"] == before["prompt_tokens_high"] > 4 * ASKED
    answer(chosen, "rook")
    assert ends(row(estimate(chosen), "judge"), "cost_usd") == ends(before, "cost_usd")


def test_recorded_responses_are_known_and_only_those_there_are(study, tmp_path):
    lines = [json.dumps({"item_id": name, "response": text}) for name, text in (("a", "#### 4"), ("c", " "))]
    (tmp_path / "responses.jsonl").write_text("\n".join(lines))
    found = estimate(study(examinees=["clerk"]))
    assert found.rows["role"].tolist() == ["judge", "all"]
    assert row(found, "judge")["to_do"] == 1
    assert row(found, "judge")["prompt_tokens_high"] == ASKED_FOUR


@pytest.mark.parametrize("parameters", [{}, {"max_tokens": None}])
def test_without_a_cap_there_is_no_upper_bound(study, parameters):
    found = row(estimate(study({"parameters": parameters})), "examinee")
    assert found["prompt_tokens_high"] == 4 * QUESTION
    assert math.isnan(found["completion_tokens_high"])
    assert found["cost_usd_low"] == 4 * QUESTION
    assert math.isnan(found["cost_usd_high"])


def test_a_cap_that_is_not_sent_is_none(study):
    assert math.isnan(row(estimate(study({"drop": ["max_tokens"]})), "examinee")["completion_tokens_high"])


def test_a_tasks_own_cap_counts(study):
    crow = {"parameters": {"max_tokens": 50}, "tasks": {"gsm8k": {"max_tokens": 9}}}
    assert row(estimate(study(crow)), "examinee")["completion_tokens_high"] == 4 * 9


def test_the_other_name_of_the_cap_counts(study):
    crow = {"parameters": {"max_completion_tokens": 60}}
    assert row(estimate(study(crow)), "examinee")["completion_tokens_high"] == 4 * 60


def test_an_unknown_price_leaves_the_tokens_known(study, prices):
    prices["openai/crow"] = None
    found = row(estimate(study()), "examinee")
    assert found["prompt_tokens_low"] == 4 * QUESTION
    assert math.isnan(found["cost_usd_low"])
    assert math.isnan(found["cost_usd_high"])


def test_the_price_of_a_dear_judge_is_not_that_of_the_examinee(study, prices):
    prices["openai/owl"] = (2.0, 0.0)
    found = row(estimate(study(judges=["owl"])), "judge", "owl")
    assert found["cost_usd_low"] == 2 * 4 * ASKED
    assert found["cost_usd_high"] == 2 * 4 * (ASKED + 50)


def test_an_endpoint_in_dotenv_is_part_of_what_a_call_is_known_by(study, server, answer, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "")
    monkeypatch.delenv("OPENAI_API_BASE")  # set first, so that it is taken away again afterwards
    monkeypatch.setenv("CROW_KEY", "sk-planted")
    (tmp_path / ".env").write_text(f"OPENAI_API_BASE={server.url}\n")
    chosen = study({"endpoint": {"api_key_env": "CROW_KEY"}})
    answer(chosen, "crow")
    monkeypatch.delenv("OPENAI_API_BASE")  # as in the new process in which an estimate runs
    assert row(estimate(chosen), "examinee")["to_do"] == 0


def test_a_simulated_study_has_nothing_to_pay(study):
    assert estimate(study(examinees=["rook"], judges=["rook"])).rows.empty


def test_items_that_are_not_there_are_named_with_what_to_do(study, tmp_path):
    chosen = study()
    (tmp_path / chosen.paths.items("gsm8k")).unlink()
    with pytest.raises(UserError, match=r"items/gsm8k\.parquet: no such file; run the rule that makes it"):
        estimate(chosen)


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the step prints for a study."""

    def run(study):
        monkeypatch.setattr("sys.argv", ["estimate", "--study", study.to_json()])
        step.main()
        return capsys.readouterr().out

    return run


def table(output):
    """The cells of the printed table by its first two columns."""
    return {tuple(line.split()[:2]): line for line in output.splitlines()}


def test_the_step_prints_each_model_and_the_total(study, printed):
    shown = table(printed(study()))
    assert shown["examinee", "crow"].split()[2:] == ["4", "4", "12", "0", "-", "200", "$12.00", "-", "$201,000.00"]
    assert shown["judge", "crow"].split()[2:6] == ["4", "4", str(4 * ASKED), "-"]
    assert shown["all", "8"].split()[1:3] == ["8", "8"]


def test_the_step_says_what_a_bound_is_and_how_to_narrow_it(study, printed):
    output = printed(study())
    assert "Bounds, not a forecast, for crow as examinee, crow as judge" in output
    assert "voirdire estimate --pilot 5" in output
    assert "Forecast" not in output


def test_the_step_names_the_model_whose_price_is_unknown(study, printed, prices):
    prices["openai/owl"] = None
    output = printed(study(judges=["owl"]))
    shown = table(output)
    assert shown["examinee", "crow"].endswith("$12.00 - $201,000.00")
    assert shown["judge", "owl"].endswith("price unknown")
    assert shown["all", "8"].endswith("$12.00 - $201,000.00 + unknown")
    assert "owl: price unknown: set models.owl.price" in output


def test_a_price_that_is_unknown_for_all_is_never_shown_as_dollars(study, printed, prices):
    prices["openai/crow"] = None
    assert "$" not in printed(study())


def test_a_free_model_is_said_to_be_free(study, printed, prices):
    prices["openai/crow"] = (0.0, 0.0)
    shown = table(printed(study()))
    assert shown["examinee", "crow"].endswith(" free")
    assert shown["all", "8"].endswith(" free")


def test_without_a_cap_the_step_gives_the_lower_bound_alone(study, printed):
    shown = table(printed(study({"parameters": {}})))
    assert shown["examinee", "crow"].endswith("0 or more $12.00 or more")


def test_the_step_says_nothing_is_to_pay_for_what_is_done(study, printed, answer):
    chosen = study()
    answer(chosen, "crow")
    assert table(printed(chosen))["examinee", "crow"].endswith(" nothing")


@pytest.mark.parametrize(
    ("budget_usd", "verdict"),
    [
        (1e6, "the rest fits"),
        (500.0, "the rest may not fit"),
        (1.0, "the rest does not fit"),
    ],
)
def test_the_step_says_whether_the_rest_fits_into_the_budget(study, printed, budget_usd, verdict):
    line = printed(study(budget_usd=budget_usd)).splitlines()[-1]
    assert line == f"Budget: ${budget_usd:,.2f}, of which $0.00 spent and ${budget_usd:,.2f} left: {verdict}."


def test_whether_an_unknown_price_fits_cannot_be_told(study, printed, prices):
    prices["openai/crow"] = None
    assert printed(study(budget_usd=5.0)).rstrip().endswith("can't be told, as a price is unknown.")


def test_what_earlier_runs_have_spent_is_in_the_budget(study, printed, answer):
    priced = {"price": {"input": 1e6, "output": 0}}
    answer(study(priced), "crow")
    output = printed(study(priced, budget_usd=1000.0))
    assert "Budget: $1,000.00, of which $8.00 spent and $992.00 left" in output
    assert "Spent so far: $8.00." in printed(study(priced))


def test_the_step_says_where_there_is_nothing_to_pay(study, printed):
    assert printed(study(examinees=["rook"], judges=["rook"])).startswith("Nothing to pay")
