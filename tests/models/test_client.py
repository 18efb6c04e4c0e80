"""The client against a real HTTP server that misbehaves in every way known."""

import dataclasses
import gc
import json
import os
import subprocess
import sys
import threading
from typing import ClassVar

import pytest
from fault_server import Reply, error_body

from voirdire.errors import UserError
from voirdire.models import (
    Answer,
    Call,
    Journal,
    Limits,
    ModelSpec,
    asking,
    client,
    complete,
    estimate_tokens,
    pending,
    price_per_token,
    read_journal,
    request_key,
)

LIMITS = {field.name for field in dataclasses.fields(Limits)}
KEY = "planted-key-0123456789abcdef"


@pytest.fixture
def ask(spec, calls, journal):
    """Asks one prompt and returns its answer."""

    def one(prompt: str, **changes) -> Answer:
        limits = Limits(**{name: changes.pop(name) for name in list(changes) if name in LIMITS})
        return complete(spec(**changes), calls(prompt), journal, limits)[prompt]

    return one


def test_an_answer_carries_all_that_is_known_of_it(server, spec, calls, journal):
    asked = spec(parameters={"temperature": 0, "max_tokens": 9, "top_k": 3})
    (call,) = calls("two words")
    answer = complete(asked, [call], journal)["two words"]
    assert answer == read_journal(journal)[request_key(asked, call)]
    assert (answer.status, answer.text, answer.raw_text) == ("ok", "answer to: two words", "answer to: two words")
    assert (answer.finish_reason, answer.prompt_tokens, answer.completion_tokens) == ("stop", 2, 4)
    assert (answer.resolved_model, answer.attempts, answer.error) == ("tested", 1, None)
    assert answer.sent == {"model": "openai/tested", "temperature": 0, "max_tokens": 9, "top_k": 3}
    assert 0 < answer.latency_s < 10
    body = server.requests[0].body
    assert {name: body[name] for name in ("temperature", "max_tokens", "top_k")} == asked.parameters


def test_price_is_the_lists_and_missing_where_unknown(server, ask):
    server.script("priced", Reply("a b", model="gpt-4o"))
    # Of litellm's list: 2.5 and 10 dollars for a million tokens; one was sent, two came back.
    assert ask("priced", model="openai/gpt-4o").cost_usd == pytest.approx((1 * 2.5 + 2 * 10) / 1e6)
    assert ask("unpriced").cost_usd is None


@pytest.mark.parametrize("count", [-50, 10**30, None, 2.5])
def test_a_count_that_can_be_none_costs_nothing_that_could_be_believed(server, ask, count):
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "tested", "usage": usage}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "42"}}
    server.script("p", Reply(body={**body, "choices": [choice]}))
    answer = ask("p", price=(1.0, 2.0), max_attempts=1)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost_usd) == (None, None, None)


@pytest.mark.parametrize("claimed", ["gpt-4.1-nano", "gpt-5-pro", "gpt-4.1-2025-04-14", "unheard-of"])
def test_cost_is_by_the_model_that_was_asked_whatever_the_server_claims_to_be(server, ask, claimed):
    server.script("priced", Reply("a b", model=claimed))
    # Of litellm's list: 2 and 8 dollars for a million tokens; one was sent, two came back.
    assert ask("priced", model="openai/gpt-4.1").cost_usd == pytest.approx((1 * 2 + 2 * 8) / 1e6)


def test_tokens_are_missing_where_the_server_counts_none(server, ask):
    server.script("uncounted", Reply("a b", usage=False))
    answer = ask("uncounted")
    assert (answer.status, answer.prompt_tokens, answer.completion_tokens) == ("ok", None, None)


@pytest.mark.parametrize(
    ("reply", "status", "text", "raw_text"),
    [
        (Reply("<think>6 * 7</think>\n42"), "ok", "42", "<think>6 * 7</think>\n42"),
        (Reply("so <think>6 * 7</think>42"), "ok", "so 42", "so <think>6 * 7</think>42"),
        (Reply("42", message={"reasoning_content": "6 * 7"}), "ok", "42", "<think>6 * 7</think>42"),
        (Reply("<think>6 * 7 is"), "truncated", None, "<think>6 * 7 is"),
        (Reply("it is 4", "length"), "truncated", "it is 4", "it is 4"),
        (Reply("", "length"), "truncated", None, ""),
        (Reply(None, "length"), "truncated", None, None),
        (Reply(""), "empty", None, ""),
        (Reply(None), "empty", None, None),
        (Reply(" \n"), "empty", " \n", " \n"),
        (Reply("<think>6 * 7</think>"), "empty", None, "<think>6 * 7</think>"),
        (Reply(None, "content_filter"), "refused", None, None),
        (Reply("it is", "content_filter"), "refused", None, "it is"),
        (Reply(None, message={"refusal": "I can't."}), "refused", None, "I can't."),
        (Reply("U+0085 \u0085 U+2028 \u2028 NUL \x00."), "ok", "U+0085 \u0085 U+2028 \u2028 NUL \x00.", None),
        (Reply("4 \ud800 2"), "ok", "4 ? 2", None),
        (Reply("42", message={"reasoning_content": "6 \udc00 7"}), "ok", "42", "<think>6 ? 7</think>42"),
        (Reply(None, message={"refusal": "No \ud800"}), "refused", None, "No ?"),
        (Reply("x" * 2**20), "ok", "x" * 2**20, None),
    ],
)
def test_a_response_is_classified(server, ask, reply, status, text, raw_text):
    server.script("p", reply)
    answer = ask("p")
    assert (answer.status, answer.text) == (status, text)
    assert answer.raw_text == (raw_text if raw_text is not None or status != "ok" else text)
    assert ask("p") == answer
    assert server.prompts() == ["p"]


AZURE_FILTER = error_body(
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "content_filter",
    "prompt",
    innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": {"filtered": True}}},
)


@pytest.mark.parametrize("provider", ["openai", "azure"])
@pytest.mark.parametrize(
    "body",
    [
        AZURE_FILTER,
        error_body("Your request was rejected as a result of our safety system.", "content_policy_violation"),
        error_body("The prompt was flagged by Azure OpenAI's content management policy."),
    ],
)
def test_a_policy_block_is_a_refusal_at_once_and_is_kept(server, ask, monkeypatch, provider, body):
    monkeypatch.setenv("AZURE_API_KEY", KEY)
    server.script("p", Reply(status=400, body=body))
    endpoint = {"api_base": server.azure_url, "api_version": "2024-10-21"} if provider == "azure" else {}
    answer = ask("p", model=f"{provider}/deployed", **endpoint)
    assert (answer.status, answer.text, answer.attempts) == ("refused", None, 1)
    assert answer.finish_reason == "content_filter"
    assert ask("p", model=f"{provider}/deployed", **endpoint) == answer
    assert server.prompts() == ["p"]


def test_azure_gets_deployment_version_and_key(server, ask, monkeypatch):
    monkeypatch.setenv("MY_AZURE_KEY", KEY)
    monkeypatch.setenv("AZURE_API_BASE", server.azure_url)
    monkeypatch.setenv("AZURE_API_VERSION", "2024-10-21")
    assert ask("p", model="azure/mine", api_base=None, api_key_env="MY_AZURE_KEY").status == "ok"
    (request,) = server.requests
    assert request.path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY


def test_azure_gets_the_token_of_the_environment(server, ask, monkeypatch):
    monkeypatch.delenv("AZURE_API_KEY", raising=False)
    monkeypatch.setenv("AZURE_AD_TOKEN", KEY)
    assert ask("p", model="azure/mine", api_base=server.azure_url, api_version="2024-10-21").status == "ok"
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "fault",
    [
        Reply(status=429, body=error_body("slow down", "rate_limit_exceeded")),
        Reply(status=500, body=error_body("boom")),
        Reply(status=503, body="<html>try later</html>"),
        Reply(status=408, body=error_body("too slow")),
        Reply(body='{"cut'),
        Reply(body={"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}),
        Reply(drop=True),
    ],
)
def test_a_passing_fault_is_asked_again(server, ask, fault):
    server.script("p", fault, fault, Reply("42"))
    answer = ask("p")
    assert (answer.status, answer.text, answer.attempts) == ("ok", "42", 3)
    assert len(server.prompts()) == 3


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "abort", "error", "network_error"])
def test_an_answer_that_the_servers_failure_broke_off_is_asked_again(server, ask, reason):
    server.script("p", Reply("It is 4", reason), Reply("It is 42"))
    answer = ask("p")
    assert (answer.status, answer.text, answer.attempts) == ("ok", "It is 42", 2)


def test_a_lasting_fault_is_an_error_after_the_attempts_and_asked_again_next_time(server, ask, journal):
    server.script("p", Reply(status=500, body=error_body("boom")))
    answer = ask("p", max_attempts=3)
    assert (answer.status, answer.attempts, answer.text) == ("error", 3, None)
    assert answer.error.startswith("p: ")
    assert "boom" in answer.error
    assert json.loads(journal.read_bytes())["status"] == "error"
    server.script("p", Reply("42"))
    assert ask("p").text == "42"
    assert len(server.prompts()) == 4


def test_a_dead_endpoint_ends_the_job_early(server, spec, calls, journal, monkeypatch):
    monkeypatch.setattr(client, "GIVE_UP_AFTER", 4)
    asked = calls(*(f"p{n}" for n in range(50)))
    for call in asked:
        server.script(call.id, Reply(status=503, body="<html>down</html>"))
    server.script("p3", Reply("42"))
    with pytest.raises(UserError, match=r"4 calls in a row failed 2 times each, .*503"):
        complete(spec(), asked, journal, Limits(concurrency=1, max_attempts=2))
    # Three, the answer in between, and four.
    assert len(set(server.prompts())) == 8
    assert len(read_journal(journal)) == 1


def test_a_response_of_another_form_is_an_error_of_its_call_alone(server, spec, calls, journal):
    odd = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0}]}
    server.script("odd", Reply(body=odd))
    answers = complete(spec(), calls("odd", "even"), journal, Limits(max_attempts=2))
    assert (answers["odd"].status, answers["odd"].text) == ("error", None)
    assert answers["even"].status == "ok"


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("content", [[{"type": "text", "text": "42"}], {"text": "42"}, 42])
def test_a_content_that_is_no_text_is_an_error_that_names_it(server, ask, content):
    server.script("p", Reply(message={"content": content}))
    answer = ask("p", max_attempts=1)
    assert (answer.status, answer.text) == ("error", None)
    assert answer.error.startswith("p: ")
    assert answer.error.endswith("the server's response is malformed (content: Input should be a valid string)")


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(("model", "shown"), [("m\ud800", "m?"), ("数", "数")])
def test_the_model_that_answered_can_be_written(server, ask, journal, model, shown):
    server.script("p", Reply("42", model=model))
    assert ask("p").resolved_model == shown
    assert json.loads(journal.read_bytes())["resolved_model"] == shown


def test_a_servers_message_cannot_steer_the_terminal(server, ask):
    server.script("p", Reply(status=400, body=error_body("bad \x1b[2J role \u202e\ud800\x07")))
    assert ask("p").error.endswith("bad [2J role")


def test_a_parameter_that_the_server_names_cannot_either(server, ask):
    body = error_body("no", "unsupported_parameter", "top_p\x1b[2J\n\u202e")
    server.script("p", Reply(status=400, body=body))
    with pytest.raises(UserError, match=r"parameter 'top_p\[2J' is refused"):
        ask("p", parameters={"top_p": 0.5})


def test_a_timeout_is_an_error_that_says_so(server, ask):
    server.script("p", Reply(hang=True))
    answer = ask("p", timeout_s=0.2, max_attempts=2)
    assert (answer.status, answer.attempts) == ("error", 2)
    assert "0.2 s" in answer.error


def test_retry_after_is_obeyed(server, ask, monkeypatch):
    monkeypatch.setattr(asking, "BACKOFF_FIRST_S", 1000.0)
    server.script("p", Reply(status=429, headers={"Retry-After": "0.3"}, body=error_body("slow down")), Reply("42"))
    assert ask("p").text == "42"
    first, second = server.requests
    assert 0.3 <= second.at - first.at < 100


def test_no_retries_but_ours(server, ask):
    server.script("p", Reply(status=503, headers={"Retry-After": "0"}, body=error_body("slow down")))
    ask("p", max_attempts=1)
    assert server.prompts() == ["p"]


def test_a_429_is_no_attempt(server, ask, journal):
    busy = Reply(status=429, body=error_body("slow down", "rate_limit_exceeded"))
    server.script("p", *[busy] * 5, Reply("42"))
    answer = ask("p", max_attempts=1)
    assert (answer.status, answer.attempts) == ("ok", 6)
    history = json.loads(journal.read_bytes())["history"]
    assert len(history) == 5
    assert all("slow down" in each for each in history)


def test_an_overloaded_endpoint_is_no_attempt_either(server, ask):
    server.script("p", Reply(status=529, body=error_body("overloaded")), Reply("42"))
    answer = ask("p", max_attempts=1)
    assert (answer.status, answer.text) == ("ok", "42")


def test_an_endpoint_that_turns_all_away_ends_the_job_when_the_deadline_passes(server, ask):
    server.script("p", Reply(status=429, body=error_body("slow down")))
    with pytest.raises(
        UserError, match=r"model 'tested' .* turns all calls away for longer than deadline_s .429.*slow down"
    ):
        ask("p", deadline_s=0.05)


def test_a_context_overflow_names_the_item(server, ask):
    body = error_body("This model's maximum context length is 8192 tokens.", "context_length_exceeded", "messages")
    server.script("gsm8k-0007", Reply(status=400, body=body))
    answer = ask("gsm8k-0007")
    assert (answer.status, answer.attempts) == ("error", 1)
    assert "gsm8k-0007: the prompt and max_tokens don't fit" in answer.error


def test_another_bad_request_is_an_error_at_once(server, ask):
    server.script("p", Reply(status=400, body=error_body("bad role")))
    answer = ask("p")
    assert (answer.status, answer.attempts) == ("error", 1)
    assert "bad role" in answer.error


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, error_body(f"Incorrect API key provided: {KEY}"), "API key is refused"),
        (403, error_body("no access", headers={"Authorization": f"Bearer {KEY}"}), "API key is refused"),
        (404, error_body("The API deployment does not exist", "DeploymentNotFound"), "no such model or deployment"),
        (402, error_body("pay first"), "no quota left"),
        (429, error_body("You exceeded your current quota", "insufficient_quota"), "no quota left"),
    ],
)
def test_what_dooms_every_call_stops_the_job_with_one_sentence(server, ask, monkeypatch, status, body, said):
    monkeypatch.setenv("TESTED_KEY", KEY)
    server.script("p", Reply(status=status, body=body))
    with pytest.raises(UserError) as caught:
        ask("p", api_key_env="TESTED_KEY")
    message = str(caught.value)
    assert said in message
    assert "model 'tested' (openai/tested)" in message
    assert "no quota" in said or "TESTED_KEY" in message
    assert KEY not in message
    assert caught.value.__cause__ is None
    assert len(server.prompts()) == 1


def test_a_stop_keeps_what_is_in_flight_and_starts_nothing_new(server, spec, calls, journal):
    server.script("bad", Reply(status=401, body=error_body("no")))
    server.script("slow", Reply("late", latency_s=0.3))
    asked = calls("slow", "bad", *(f"p{n}" for n in range(20)))
    with pytest.raises(UserError):
        complete(spec(), asked, journal, Limits(concurrency=2))
    assert server.prompts() == ["slow", "bad"]
    assert [answer.text for answer in read_journal(journal).values()] == ["late"]


def test_a_stop_does_not_wait_for_a_backoff(server, spec, calls, journal, monkeypatch):
    server.script("busy", Reply(status=429, headers={"Retry-After": "100"}, body=error_body("slow down")))
    server.script("bad", Reply(status=401, body=error_body("no"), latency_s=0.2))
    with pytest.raises(UserError, match="refused"):
        complete(spec(), calls("busy", "bad"), journal)


@pytest.mark.parametrize(
    ("changes", "variable"),
    [
        ({"api_key_env": "TESTED_KEY"}, "TESTED_KEY"),
        ({"api_base": None}, "OPENAI_API_KEY"),
        ({"model": "azure/mine"}, "AZURE_API_KEY"),
        ({"model": "anthropic/claude-sonnet-4-5", "api_base": None}, "ANTHROPIC_API_KEY"),
    ],
)
def test_a_missing_key_is_said_before_any_call(server, ask, monkeypatch, changes, variable):
    for name in ("TESTED_KEY", "OPENAI_API_KEY", "AZURE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match=f"model 'tested' .*no API key; set the environment variable {variable}"):
        ask("p", **changes)
    assert server.prompts() == []


@pytest.mark.parametrize("key", ["abc\ndefghi", "ключ-от-модели", "abc\x00defghi"])
def test_a_key_that_no_header_can_hold_is_said_before_any_call(server, ask, monkeypatch, key):
    if "\x00" in key:
        monkeypatch.setattr(os, "environ", {**os.environ, "TESTED_KEY": key})
    else:
        monkeypatch.setenv("TESTED_KEY", key)
    with pytest.raises(UserError, match="the key in the environment variable TESTED_KEY holds a line break") as caught:
        ask("p", api_key_env="TESTED_KEY")
    assert key not in str(caught.value)
    assert server.prompts() == []


def test_why_nothing_can_be_reached_is_said(ask):
    answer = ask("p", api_base="http://127.0.0.1:9/v1", max_attempts=1)
    assert answer.status == "error"
    assert "Connection error. (" in answer.error
    assert "127.0.0.1" in answer.error


def test_an_endpoint_that_never_answers_ends_the_job_after_a_few_calls(spec, calls, journal):
    asked = calls(*(f"p{number}" for number in range(50)))
    with pytest.raises(UserError, match=r"5 calls in a row failed 2 times each, .*check that its endpoint is up"):
        complete(spec(api_base="http://127.0.0.1:9/v1"), asked, journal, Limits(concurrency=1, max_attempts=2))


def test_the_first_failure_and_long_silence_are_told_while_they_last(server, spec, calls, journal, monkeypatch):
    class Watcher:
        notes: ClassVar[list[str]] = []

        def __call__(self, done, total, answer):
            pass

        def note(self, text):
            self.notes.append(text)
            if "no answer for" in text:
                server.release()

    monkeypatch.setattr(client, "QUIET_S", 0.05)
    server.script("p", Reply(status=503, body=error_body("boom")), Reply("42", hang=True))
    complete(spec(), calls("p"), journal, Limits(), Watcher())
    first, *others = Watcher.notes
    assert first.startswith("a first call has failed and is made again: ")
    assert "boom" in first
    assert others[-1] == "no answer for 0 s; 1 calls under way"


def test_an_endpoint_of_ones_own_is_not_sent_the_providers_key(server, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert ask("p").status == "ok"
    assert KEY not in json.dumps(server.requests[0].headers)


def test_the_named_key_is_sent(server, ask, monkeypatch):
    monkeypatch.setenv("TESTED_KEY", KEY)
    ask("p", api_key_env="TESTED_KEY")
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_model_without_provider_is_a_user_error(ask):
    with pytest.raises(UserError, match="'llama' doesn't say who serves it"):
        ask("p", model="llama", api_base=None)


def test_a_parameter_that_litellm_knows_to_be_refused_is_named_before_any_call(server, ask):
    with pytest.raises(UserError, match=r"parameter 'temperature' is refused"):
        ask("p", model="openai/gpt-5", parameters={"temperature": 0, "max_tokens": 5})
    assert server.prompts() == []


def test_a_parameter_that_the_server_refuses_is_named(server, ask):
    body = error_body("Unsupported value: 'top_p' does not support 0.5 with this model.", "unsupported_value", "top_p")
    server.script("p", Reply(status=400, body=body))
    with pytest.raises(UserError, match=r"parameter 'top_p' is refused: .*drop"):
        ask("p", parameters={"temperature": 0, "top_p": 0.5})


def test_a_dropped_parameter_is_not_sent_and_what_was_sent_is_recorded(server, ask):
    answer = ask("p", model="openai/gpt-5", parameters={"temperature": 0, "max_tokens": 5}, drop=("temperature",))
    assert answer.sent == {"model": "openai/gpt-5", "max_completion_tokens": 5}
    body = server.requests[0].body
    assert "temperature" not in body
    assert body["max_completion_tokens"] == 5


def test_no_secret_reaches_journal_or_answer(server, ask, journal, monkeypatch):
    monkeypatch.setenv("TESTED_KEY", KEY)
    echo = error_body(f"bad request: Authorization: Bearer {KEY} at https://host/v1?sig=signature")
    server.script("fails", Reply(status=400, body=echo))
    server.script("answers", Reply(f"your key is {KEY}"))
    assert ask("answers", api_key_env="TESTED_KEY").text == "your key is [secret]"
    assert ask("fails", api_key_env="TESTED_KEY").status == "error"
    written = journal.read_text()
    assert KEY not in written
    assert "sig=" not in written


def test_answered_calls_are_replayed_without_key_or_request(server, spec, calls, journal, monkeypatch):
    monkeypatch.setenv("TESTED_KEY", KEY)
    asked = spec(api_key_env="TESTED_KEY")
    first = complete(asked, calls("a", "b"), journal)
    monkeypatch.delenv("TESTED_KEY")
    assert pending(asked, calls("b", "c"), journal) == calls("c")
    assert complete(asked, calls("a", "b"), journal) == first
    assert server.prompts() == ["a", "b"]


def test_equal_calls_are_asked_once_and_trials_each(server, spec, journal):
    message = ({"role": "user", "content": "p"},)
    twice = [Call("a", message), Call("b", message), Call("a#1", message, 1), Call("a#2", message, 2)]
    answers = complete(spec(), twice, journal)
    assert list(answers) == ["a", "b", "a#1", "a#2"]
    assert answers["a"] == answers["b"]
    assert len({answer.key for answer in answers.values()}) == 3
    assert server.prompts() == ["p"] * 3


def test_ids_must_be_unique(spec, calls, journal):
    with pytest.raises(ValueError, match="unique"):
        complete(spec(), calls("a", "a"), journal)


def test_concurrency_is_reached_and_never_exceeded(server, spec, calls, journal):
    server.hold_after = 0
    watch = threading.Thread(target=lambda: (server.wait_until(lambda s: s.in_flight == 3), server.release()))
    watch.start()
    answers = complete(spec(), calls(*(f"p{n}" for n in range(12))), journal, Limits(concurrency=3))
    watch.join()
    assert server.most_in_flight == 3
    assert {answer.status for answer in answers.values()} == {"ok"}


def test_progress_counts_replayed_answers_too(spec, calls, journal):
    complete(spec(), calls("a"), journal)
    seen = []
    complete(spec(), calls("a", "b", "c"), journal, Limits(concurrency=1), lambda *progress: seen.append(progress))
    assert [(done, total, answer.text) for done, total, answer in seen] == [
        (2, 3, "answer to: b"),
        (3, 3, "answer to: c"),
    ]


def test_a_second_writer_is_refused_before_it_asks(server, spec, calls, journal):
    with Journal(journal), pytest.raises(UserError, match="another running process"):
        complete(spec(), calls("p"), journal)
    assert server.prompts() == []


def test_a_full_disk_stops_the_job(server, spec, calls, journal, monkeypatch):
    def full(self, data):
        raise UserError(f"{self.path}: the disk is full")

    monkeypatch.setattr(Journal, "_write", full)
    with pytest.raises(UserError, match="the disk is full"):
        complete(spec(), calls("a", "b"), journal, Limits(concurrency=1))
    assert server.prompts() == ["a"]


def test_ctrl_c_keeps_what_was_answered_and_leaves_nothing_to_be_logged_later(server, spec, calls, journal, caplog):
    def interrupt(done, total, answer):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        complete(spec(), calls("a", "b"), journal, Limits(concurrency=1), interrupt)
    assert pending(spec(), calls("a", "b"), journal) == calls("b")
    gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_prices_and_tokens_are_known_offline():
    assert estimate_tokens("") == 0
    assert estimate_tokens("12345678") == 2
    assert estimate_tokens("数" * 4) == 3
    assert price_per_token(ModelSpec(name="g", model="openai/gpt-4o")) == (2.5e-06, 1e-05)
    assert price_per_token(ModelSpec(name="g", model="azure/gpt-4.1-mini")) == (4e-07, 1.6e-06)
    assert price_per_token(ModelSpec(name="g", model="openai/of-my-own")) is None
    assert price_per_token(ModelSpec(name="g", model="ollama/llama3")) is None


def test_litellm_is_not_imported_before_something_is_asked(tmp_path):
    script = (
        "import sys; from pathlib import Path; from voirdire.models import *\n"
        "spec = ModelSpec(name='m', model='openai/m')\n"
        "call = Call('a', ({'role': 'user', 'content': 'p'},))\n"
        "path = Path(sys.argv[1])\n"
        "assert pending(spec, [call], path) == [call]\n"
        "with Journal(path) as journal: journal.append(Answer(request_key(spec, call), 'ok', text='yes'))\n"
        "assert complete(spec, [call], path)['a'].text == 'yes'\n"
        "assert not {'litellm', 'pandas', 'numpy'} & sys.modules.keys(), 'heavy import'\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "j.jsonl")], check=True, timeout=60)
