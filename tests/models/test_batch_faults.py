"""Batches that fail, end early or are spoken of wrongly, and what a run makes of them."""

import dataclasses
import json
import re
import signal
import threading
from collections import Counter

import pytest
from families import KEY, KEY_VARIABLE
from fault_server import Reply, error_body

from voirdire.errors import UserError
from voirdire.models import Call, Journal, Limits, batch, batch_service, complete, read_journal, request_key
from voirdire.models.shared import read_shared

BATCH = Limits(mode="batch", max_attempts=3)
PRICE = (0.0, 1e6)  # a dollar for a token received


pytestmark = pytest.mark.usefixtures("quick_batches")


@pytest.fixture
def ask(spec, calls, journal):
    """Asks prompts in a batch and returns their answers."""

    def some(*prompts: str, limits: Limits = BATCH, **changes):
        return complete(spec(**changes), calls(*prompts), journal, limits)

    return some


@pytest.fixture
def ends(server, monkeypatch):
    """Has batches end in given ways, one after another, and all later ones well: ends(("expired", 1), …)."""

    def end(*ways: tuple[str, int]) -> None:
        server.batches.finish_at_poll = None
        left = list(ways)
        look = batch_service.Service.look

        async def looking(self, name, token):
            server.batches.finish(*(left.pop(0) if left else ("completed", None)))
            return await look(self, name, token)

        monkeypatch.setattr(batch_service.Service, "look", looking)

    return end


def texts(answers):
    return {name: answer.text for name, answer in answers.items()}


def replies_to(*prompts):
    return {prompt: f"answer to: {prompt}" for prompt in prompts}


def test_what_an_expired_batch_has_answered_is_kept_and_the_rest_submitted_again(server, ask, ends):
    ends(("expired", 2))
    answers = ask("a", "b", "c", "d")
    assert texts(answers) == replies_to("a", "b", "c", "d")
    assert [each.prompts() for each in server.batches.created] == [["a", "b", "c", "d"], ["c", "d"]]
    assert {name: answer.attempts for name, answer in answers.items()} == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_a_call_that_no_batch_answers_is_an_error_after_its_attempts(server, ask, ends, journal):
    ends(("expired", 1), ("expired", 0), ("expired", 0))
    answers = ask("a", "b")
    assert texts(answers) == {"a": "answer to: a", "b": None}
    assert (answers["b"].status, answers["b"].attempts) == ("error", 3)
    assert answers["b"].error.startswith("b: batch_expired This request could not be executed before")
    last = json.loads(journal.read_text().splitlines()[-1])
    assert len(last["history"]) == 3
    ends()
    assert ask("b")["b"].text == "answer to: b"


def test_a_cancelled_batch_stops_the_run_and_keeps_what_it_has_answered(server, ask, ends):
    ends(("cancelled", 1))
    with pytest.raises(UserError, match=r"batch_2 was cancelled with 2 of 3 calls unanswered; .* rerun to submit"):
        ask("a", "b", "c")
    assert texts(ask("a", "b", "c")) == replies_to("a", "b", "c")
    assert Counter(server.batches.prompts()) == {"a": 1, "b": 2, "c": 2}


def test_a_failed_batch_stops_the_run_with_the_providers_reason(server, ask, ends):
    ends(("failed", 0))
    with pytest.raises(UserError, match=r"'tested' .* refuses the batch batch_2, .* invalid_request the batch was"):
        ask("a")
    assert texts(ask("a")) == replies_to("a")


def test_a_full_queue_is_waited_for_with_smaller_batches(server, ask, ends, monkeypatch):
    refusals = iter([4, 2])

    def finish(status="completed", answered=None, batch=None):
        for each in server.batches.created:
            if each.is_running and len(each.lines) == next(refusals, None):
                server.batches._end(each, "failed", 0, {"code": "token_limit_exceeded", "message": "Enqueued token"})
            elif each.is_running:
                server.batches._end(each, status, len(each.lines))

    monkeypatch.setattr(server.batches, "finish", finish)
    ends()
    assert texts(ask("a", "b", "c", "d")) == replies_to("a", "b", "c", "d")
    assert sorted(len(each.lines) for each in server.batches.created) == [1, 1, 2, 2, 4]


def test_too_many_calls_or_bytes_for_one_batch_make_several(server, ask, monkeypatch):
    monkeypatch.setattr(batch, "MOST_CALLS", 3)
    ask("a", "b", "c", "d", "e", "f", "g")
    assert [each.prompts() for each in server.batches.created] == [["a", "b", "c"], ["d", "e", "f"], ["g"]]
    monkeypatch.setattr(batch, "MOST_BYTES", 1000)
    ask("x" * 500, "y" * 500, "z" * 2000)
    assert [len(each.lines) for each in server.batches.created[3:]] == [1, 1, 1]


def test_results_that_were_not_asked_for_or_come_twice_do_no_harm(server, ask, journal, spec, monkeypatch):
    def line(name, text):
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        body["choices"] = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
        return json.dumps({"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None})

    key = request_key(spec(), Call("a", ({"role": "user", "content": "a"},)))
    odd = [
        line("f" * 64, "of another"), line(key, "first"), line(key, "second"), line(7, "x"), "[1]", "{", "null",
        json.dumps({"custom_id": ["a"]}), json.dumps({"custom_id": key, "response": None, "error": "text"}),
    ]  # fmt: skip
    read = batch_service.Service.content

    async def reading(self, file, name, token):
        await read(self, file, name, token)
        return "\n".join(odd).encode()

    monkeypatch.setattr(batch_service.Service, "content", reading)
    assert ask("a")["a"].text == "first"
    records = [json.loads(each) for each in journal.read_text().splitlines()]
    assert [record["text"] for record in records if "key" in record] == ["first"]


@pytest.mark.parametrize("result", [
    {"response": {"status_code": 200, "body": None}},
    {"response": {"status_code": "200", "body": {}}},
    {"response": {"status_code": 200, "body": "text"}},
    {"response": {"status_code": 99, "body": {}}},
    {"response": {}},
    {"response": None, "error": None},
    {"response": "text", "error": "text"},
    {},
])  # fmt: skip
def test_a_malformed_result_is_asked_for_again_and_then_an_error(server, ask, monkeypatch, spec, result):
    key = request_key(spec(), Call("a", ({"role": "user", "content": "a"},)))

    async def reading(self, file, name, token):
        return json.dumps({"custom_id": key, **result}).encode()

    monkeypatch.setattr(batch_service.Service, "content", reading)
    answer = ask("a")["a"]
    assert (answer.status, answer.attempts, len(server.batches.created)) == ("error", 3, 3)
    assert "Traceback" not in answer.error


FAULTS = {
    "busy": Reply(status=429, headers={"Retry-After": "0"}, body=error_body("slow down")),
    "broken": Reply(status=500, body=error_body("boom")),
    "dropped": Reply(drop=True),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("request_number", range(4))
def test_a_passing_fault_at_any_request_is_waited_out(server, ask, fault, request_number):
    server.batches.faults += [*[None] * request_number, *[FAULTS[fault]] * 2]
    assert texts(ask("a", "b")) == replies_to("a", "b")
    assert server.batches.faults == []
    assert server.batches.prompts() == ["a", "b"]


def test_a_file_that_is_not_ready_is_waited_for(server, ask):
    server.batches.pending = 3
    assert texts(ask("a")) == replies_to("a")


def test_a_batch_whose_id_never_came_back_is_taken_up_in_the_same_run(server, ask):
    server.batches.forget_to_answer = 1
    assert texts(ask("a", "b")) == replies_to("a", "b")
    assert server.batches.prompts() == ["a", "b"]


def test_where_batches_cannot_be_listed_an_unconfirmed_start_stops_the_run(server, ask, journal):
    server.batches.forget_to_answer, server.batches.listed = 1, False
    for limits in (BATCH, BATCH, Limits()):
        with pytest.raises(
            UserError, match=r"can't be listed .* isn't known whether the batch over its file file-1 was"
        ):
            ask("a", limits=limits)
    assert (server.batches.prompts(), server.prompts()) == (["a"], [])
    token = json.loads(journal.read_text().splitlines()[-1])["batch"]["token"]
    with journal.open("a") as file:
        file.write(json.dumps({"batch": {"token": token, "id": "batch_2"}}) + "\n")
    assert texts(ask("a")) == replies_to("a")
    assert server.batches.prompts() == ["a"]


def test_a_batch_that_is_gone_stops_the_run_until_it_is_given_up(server, ask, journal):
    ask("a")
    # As if the run had been killed before it could read the answer.
    lines = [line for line in journal.read_text().splitlines(True) if '"done"' not in line and '"key"' not in line]
    journal.write_text("".join(lines))
    server.batches.created.clear()
    for _ in range(2):
        with pytest.raises(UserError, match=r"the batch batch_2 can't be looked at .* gone for good") as stopped:
            ask("a")
    (line,) = re.findall(r"append to this job's journal a line (\{.*\}) and rerun", str(stopped.value))
    with journal.open("a") as file:
        file.write(line)
    assert texts(ask("a")) == replies_to("a")


def test_a_live_run_waits_for_an_open_batch_and_asks_the_rest_itself(server, ask):
    server.batches.finish_at_poll = None
    with pytest.raises(KeyboardInterrupt):
        interrupted(server, lambda: ask("a", "b"))
    server.batches.finish("expired", answered=1)
    answers = ask("a", "b", "c", limits=Limits())
    assert texts(answers) == replies_to("a", "b", "c")
    assert (server.batches.prompts(), sorted(server.prompts())) == (["a", "b"], ["b", "c"])


def interrupted(server, run):
    """Press Ctrl-C while a batch is being looked at."""
    server.batches.held.clear()
    server.batches.hold = "before GET /batches/{id}"

    def press():
        assert server.batches.held.wait(20)
        server.batches.hold = None
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    try:
        run()
    finally:
        presser.join()


def test_ctrl_c_leaves_the_batch_running_and_says_so(server, ask, capsys):
    server.batches.finish_at_poll = None
    with pytest.raises(KeyboardInterrupt):
        interrupted(server, lambda: ask("a"))
    assert "the batch batch_2 goes on at the provider; rerun for its answers" in capsys.readouterr().out
    assert server.batches.created[0].is_running
    server.batches.finish_at_poll = 1
    assert texts(ask("a")) == replies_to("a")
    assert server.batches.prompts() == ["a"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "anthropic/claude-sonnet-4-5",
            r"'tested' \(anthropic/.*mode: batch is not possible with the provider anthropic",
        ),
        ("deepseek/deepseek-chat", "mode: batch is not possible with the provider deepseek"),
        ("openai/gpt-5-pro", "mode: batch is not possible, since litellm doesn't ask this model for chat completions"),
    ],
)
def test_a_model_without_batches_is_refused_by_name(server, ask, monkeypatch, model, message):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with pytest.raises(UserError, match=message):
        ask("a", model=model, api_key_env=KEY_VARIABLE)
    assert (server.prompts(), server.batches.paths) == ([], [])


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Reply(status=401, body=error_body(f"Incorrect API key {KEY}")), f"refused: set .* {KEY_VARIABLE}"),
        (Reply(status=404, body=error_body("Not Found")), "calls can't be uploaded .*; set mode: live"),
        (Reply(status=429, body=error_body("quota", "insufficient_quota")), "no quota left"),
    ],
)
def test_a_provider_that_says_no_stops_the_run_in_a_sentence(server, ask, monkeypatch, journal, fault, message):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    server.batches.faults.append(fault)
    with pytest.raises(UserError, match=message) as stopped:
        ask("a", api_key_env=KEY_VARIABLE)
    assert KEY not in str(stopped.value) + journal.read_text()


def test_a_failure_that_dooms_all_calls_stops_the_run_after_all_results_are_kept(server, ask, journal):
    server.script("blocked", Reply(status=400, body=error_body("flagged", "content_filter")))
    server.script("bad", Reply(status=400, body=error_body("no", "unsupported_parameter", "temperature")))
    with pytest.raises(UserError, match=r"parameter 'temperature' is refused"):
        ask("a", "blocked", "bad", "b", parameters={"temperature": 0})
    assert {answer.text for answer in read_journal(journal).values()} == {"answer to: a", "answer to: b", None}


def test_a_refused_start_leaves_nothing_to_look_for(server, ask):
    server.batches.faults += [Reply(status=400, body=error_body("no such endpoint"))]
    with pytest.raises(UserError, match="can't be uploaded"):
        ask("a")
    server.batches.listed = False
    assert texts(ask("a", limits=Limits())) == replies_to("a")


def test_only_what_the_budget_has_room_for_is_submitted_and_then_the_rest(server, ask, tmp_path):
    # Each costs $3 (its words), and is feared to cost $10 (its cap).
    limits = dataclasses.replace(BATCH, budget_usd=25.0, shared=str(tmp_path / "shared.json"))
    answers = ask("a", "b", "c", "d", limits=limits, price=PRICE, parameters={"max_tokens": 10})
    assert texts(answers) == replies_to("a", "b", "c", "d")
    assert [len(each.lines) for each in server.batches.created] == [2, 1, 1]
    assert read_shared(limits.shared)["spent_usd"] == pytest.approx(12.0)


def test_where_the_budget_has_no_room_left_the_run_stops_and_says_what_is_missing(server, ask, tmp_path):
    limits = dataclasses.replace(BATCH, budget_usd=12.0, shared=str(tmp_path / "shared.json"))
    priced = {"price": PRICE, "parameters": {"max_tokens": 10}}
    with pytest.raises(
        UserError, match=r"budget_usd: \$3\.00 of \$12\.00 is spent.* 2 of the 3 calls .* about \$6\.00"
    ):
        ask("a", "b", "c", limits=limits, **priced)
    assert server.batches.prompts() == ["a"]
    limits = dataclasses.replace(limits, budget_usd=30.0)
    assert texts(ask("a", "b", "c", limits=limits, **priced)) == replies_to("a", "b", "c")


def test_those_who_watch_see_what_the_provider_has_done(server, ask, tmp_path, monkeypatch):
    server.batches.finish_at_poll = 2
    limits = dataclasses.replace(BATCH, shared=str(tmp_path / "shared.json"))
    look, seen = batch_service.Service.look, []

    async def looking(self, name, token):
        seen.extend((job["done"], job["total"]) for job in read_shared(limits.shared)["jobs"].values())
        found = await look(self, name, token)
        if found.status == "in_progress":
            found.request_counts.completed = 2
        return found

    monkeypatch.setattr(batch_service.Service, "look", looking)
    monkeypatch.setattr("voirdire.models.turns.HEARTBEAT_S", 0.001)
    monkeypatch.setattr(batch, "POLL_FIRST_S", 0.2)
    ask("a", "b", "c", limits=limits)
    assert seen == [(0, 3), (2, 3)]


def test_a_note_is_no_answer(journal):
    with Journal(journal) as record:
        record.note("batch", {"token": "t", "keys": ["k"], "key": "k", "status": "ok"})
        assert record.notes("batch") == [{"token": "t", "keys": ["k"], "key": "k", "status": "ok"}]
        assert record.notes("other") == []
    assert read_journal(journal) == {}
