"""Batches give the very answers that live calls give, for the very same requests."""

import dataclasses

import pytest
from families import FAMILIES, KEY, KEY_VARIABLE
from fault_server import Reply, error_body

from voirdire.models import Call, Limits, complete

BATCH = Limits(mode="batch", max_attempts=3)
LIVE = Limits(max_attempts=3)
PRICE = (1e6, 2e6)


pytestmark = pytest.mark.usefixtures("quick_batches")


BUSY = Reply(status=429, body=error_body("slow down", "rate_limit_exceeded"))
BROKEN = Reply(status=500, body=error_body("boom"))
MIXED = {
    "plain": [Reply("42")],
    "reasoned": [Reply("<think>6 * 7</think>42")],
    "elsewhere": [Reply("42", message={"reasoning_content": "6 * 7"})],
    "unclosed": [Reply("<think>6 * 7 is")],
    "cut": [Reply("it is 4", "length")],
    "empty": [Reply("")],
    "filtered": [Reply("it is", "content_filter")],
    "declined": [Reply(None, message={"refusal": "I can't."})],
    "blocked": [
        Reply(status=400, body=error_body("filtered by Azure OpenAI's content management policy", "content_filter"))
    ],
    "long": [Reply(status=400, body=error_body("maximum context length is 9 tokens", "context_length_exceeded"))],
    "odd": [Reply(status=400, body=error_body("no idea"))],
    "echoed": [Reply(f"my key is {KEY}")],
    "leaked": [Reply(status=400, body=error_body(f"Incorrect API key {KEY}"))],
    "busy": [BUSY, Reply("late")],
    "broken": [BROKEN, BROKEN, Reply("later")],
    "dead": [BROKEN],
    "choiceless": [Reply(body={"id": "x", "object": "chat.completion", "model": "m", "choices": []}), Reply("now")],
    "uncounted": [Reply("a b", usage=False)],
    "snapshot": [Reply("a b", model="tested-2026")],
    "nasty": [Reply("U+0085 \u0085 U+2028 \u2028 NUL \x00 \ud800 " + "x" * 2**17)],
    "\u0085 \u2028 \x00 ü": [Reply("odd question")],
}


def told(server):
    for prompt, replies in MIXED.items():
        server.script(prompt, *replies)


def table(answers):
    """What a table shows of answers, all but how long they took and how often they were asked in what way."""
    return {name: dataclasses.replace(answer, latency_s=None) for name, answer in answers.items()}


@pytest.mark.parametrize("family", ["openai", "azure", "azure v1", "vllm"])
def test_a_batch_gives_the_table_that_live_calls_give(server, spec, calls, tmp_path, family, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    asked = spec(**FAMILIES[family].entry(server), price=PRICE, parameters={"max_tokens": 9})
    told(server)
    live = table(complete(asked, calls(*MIXED), tmp_path / "live.jsonl", LIVE))
    told(server)
    batched = complete(asked, calls(*MIXED), tmp_path / "batch.jsonl", BATCH)
    assert table(batched) == live
    assert {answer.latency_s for answer in batched.values()} == {None}
    assert {name: answer.status for name, answer in live.items() if answer.status != "ok"} == {
        **dict.fromkeys(("unclosed", "cut"), "truncated"),
        **dict.fromkeys(("filtered", "declined", "blocked"), "refused"),
        **dict.fromkeys(("long", "odd", "leaked", "dead"), "error"),
        "empty": "empty",
    }
    assert KEY not in (tmp_path / "batch.jsonl").read_text()


@pytest.mark.parametrize(
    ("family", "model", "parameters"),
    [
        ("openai", "openai/gpt-5", {"max_tokens": 9, "reasoning_effort": "low"}),
        ("openai", "openai/o3", {"max_tokens": 9}),
        ("openai", "openai/gpt-4o", {"max_tokens": 9, "temperature": 0, "seed": 3, "top_p": 0.5}),
        ("openai", "openai/tested", {"top_k": 3, "response_format": {"type": "json_object"}}),
        ("azure", "azure/gpt-4.1-mini", {"max_tokens": 9, "temperature": 0.5}),
        ("azure v1", "azure/gpt-5-mini", {"max_tokens": 9}),
        ("vllm", "hosted_vllm/qwen3", {"max_tokens": 9, "temperature": 0, "top_k": 3}),
    ],
)
def test_the_bodies_are_those_of_live_calls(server, spec, tmp_path, family, model, parameters, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    asked = spec(**FAMILIES[family].entry(server, model), parameters=parameters)
    messages = ({"role": "system", "content": "Be brief.\u2028"}, {"role": "user", "content": "ü?"})
    call = Call("a", messages)
    live = complete(asked, [call], tmp_path / "live.jsonl", LIVE)["a"]
    batched = complete(asked, [call], tmp_path / "batch.jsonl", BATCH)["a"]
    (line,) = server.batches.created[0].lines
    assert line["body"] == server.requests[0].body
    assert (line["custom_id"], line["method"]) == (live.key, "POST")
    assert line["url"] == server.batches.created[0].document["endpoint"]
    assert (batched.key, batched.sent) == (live.key, live.sent)


def test_a_switch_of_mode_asks_nothing_twice(server, spec, calls, journal):
    asked = spec()
    complete(asked, calls("a", "b"), journal, LIVE)
    complete(asked, calls("a", "b", "c"), journal, BATCH)
    complete(asked, calls("a", "b", "c", "d"), journal, LIVE)
    complete(asked, calls("a", "b", "c", "d", "e"), journal, BATCH)
    assert (server.prompts(), server.batches.prompts()) == (["a", "b", "d"], ["c", "e"])
    n_requests = len(server.batches.paths)
    complete(asked, calls("a", "b", "c", "d", "e"), journal, BATCH)
    assert len(server.batches.paths) == n_requests


def test_the_price_is_that_of_the_entry_or_half_the_lists(server, spec, calls, tmp_path):
    server.script("p", Reply("a b", model="gpt-4o"))
    listed, priced = spec(model="openai/gpt-4o"), spec(model="openai/gpt-4o", price=PRICE)
    cost = {
        name: complete(each, calls(prompt), tmp_path / name, BATCH)[prompt].cost_usd
        for name, each, prompt in (("listed", listed, "p"), ("priced", priced, "p"), ("unknown", spec(), "q"))
    }
    # Of litellm's list: 2.5 and 10 dollars for a million tokens; one was sent, two came back.
    assert cost == {"listed": pytest.approx(0.5 * (1 * 2.5 + 2 * 10) / 1e6), "priced": 5.0, "unknown": None}
