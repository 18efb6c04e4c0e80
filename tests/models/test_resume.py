"""A run killed with kill -9, over and over, pays for no answered call twice and loses no answer."""

import dataclasses
import json
import os
import signal
from collections import Counter

import pytest
from fault_server import FaultServer, Reply

from voirdire.errors import UserError
from voirdire.models import Answer, Call, Journal, ModelSpec, read_journal, request_key

PROMPTS = [f"question {number}" for number in range(60)]
COUNT = len(PROMPTS)
CONCURRENCY = 4
NASTY = "\u0085 \u2028 \x00 " + "x" * 2**16


@pytest.fixture
def server():
    with FaultServer(lambda prompt: Reply(f"{prompt} {NASTY}")) as server:
        yield server


@pytest.fixture
def spec(server):
    return ModelSpec(name="tested", model="openai/tested", api_base=server.url)


@pytest.fixture
def job(spec, journal):
    return {
        "specification": dataclasses.asdict(spec),
        "journal": str(journal),
        "prompts": PROMPTS,
        "limits": {"concurrency": CONCURRENCY},
    }


def keys_of(spec: ModelSpec) -> dict[str, str]:
    return {request_key(spec, Call(p, ({"role": "user", "content": p},))): p for p in PROMPTS}


def test_kill_9_loses_no_answer_and_repeats_none(server, spec, journal, job, worker):
    prompt_of = keys_of(spec)
    answered_at_kills = []
    for kill in range(1, 6):
        # The run is killed with some answers written, some perhaps on their way, and the rest in flight.
        server.hold_after = server.answered + 7
        (run,) = worker.start(job)
        server.wait_until(lambda server: server.answered >= server.hold_after and server.in_flight == CONCURRENCY)
        os.kill(run, signal.SIGKILL)
        assert worker.wait() == [-signal.SIGKILL]
        server.wait_until(lambda server: server.in_flight == 0)
        if kill % 2:
            # What a kill in the middle of a write leaves.
            with journal.open("ab") as file:
                file.write(b'{"key": "torn", "status": "o')
        answered = {prompt_of[key] for key in read_journal(journal)}
        answered_at_kills.append((len(server.prompts()), answered))
    server.hold_after = None
    worker.start(job)
    assert worker.wait() == [0]

    asked = server.prompts()
    for position, answered in answered_at_kills:
        assert not answered & set(asked[position:]), "an answered call was sent again"
    final = read_journal(journal)
    assert {prompt_of[key]: answer.text for key, answer in final.items()} == {p: f"{p} {NASTY}" for p in PROMPTS}
    assert len(asked) - COUNT <= 5 * CONCURRENCY
    whole = [json.loads(line) for line in journal.read_bytes().split(b"\n") if line and b'"torn"' not in line]
    assert Counter(record["key"] for record in whole) == dict.fromkeys(prompt_of, 1)


def test_a_second_process_is_refused_while_the_first_lives_and_not_after(server, spec, journal, job, worker):
    server.hold_after = 1
    (run,) = worker.start(job)
    server.wait_until(lambda server: server.in_flight == CONCURRENCY and server.answered == 1)
    with pytest.raises(UserError, match=r"tested\.jsonl: another running process is writing"):
        Journal(journal)
    os.kill(run, signal.SIGKILL)
    worker.wait()
    with Journal(journal) as reopened:
        reopened.append(Answer("k", "ok"))
