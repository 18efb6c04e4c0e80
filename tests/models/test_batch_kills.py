"""A batch run that is killed at any point pays for nothing twice and loses no answer."""

import dataclasses
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import batch_worker
import pytest
from fault_server import FaultServer, Reply, error_body
from job_worker import Worker

from voirdire.models import Call, Limits, ModelSpec, complete, read_journal, request_key

BROKEN = Reply(status=500, body=error_body("boom"))
BLOCKED = Reply(status=400, body=error_body("flagged", "content_filter"))
PROMPTS = ["a", "b", "blocked", "broken", "c"]
# By the numbers that the server gives: 1 is what goes up, 2 the batch, 3 its answers, 4 its errors.
POINTS = [
    "before POST /files",
    "after POST /files",
    "before POST /batches",
    "after POST /batches",
    "before GET /batches/{id}",
    "before GET /files/file-3/content",
    "after GET /files/file-3/content",
    "before GET /files/file-4/content",
    "after GET /files/file-4/content",
]


@pytest.fixture(scope="module")
def worker():
    with Worker(sys.executable, batch_worker.__file__) as worker:
        yield worker


@pytest.fixture
def server():
    with FaultServer() as server:
        told(server)
        yield server


@pytest.fixture
def spec(server):
    return ModelSpec(name="tested", model="openai/tested", api_base=server.url)


@pytest.fixture
def job(spec, journal):
    limits = {"mode": "batch"}
    return {"specification": dataclasses.asdict(spec), "journal": str(journal), "prompts": PROMPTS, "limits": limits}


def told(server):
    server.script("blocked", BLOCKED)
    server.script("broken", BROKEN, Reply("mended"))


def call(prompt: str) -> Call:
    return Call(prompt, ({"role": "user", "content": prompt},))


def kill_at(server, worker, job, point: str) -> None:
    """Run the job up to a point and kill it there with kill -9."""
    server.batches.held.clear()
    server.batches.left.clear()
    server.batches.hold = point
    (run,) = worker.start(job)
    assert server.batches.held.wait(20)
    os.kill(run, signal.SIGKILL)
    assert worker.wait() == [-signal.SIGKILL]
    # A request that the provider goes on with, though its sender is gone, is another matter.
    assert server.batches.left.wait(20)
    server.batches.hold = None


def check_finished(server, spec, journal: Path) -> None:
    """Each call was submitted once, but for the one that was broken; its table is that of live calls."""
    assert Counter(server.batches.prompts()) == {**dict.fromkeys(PROMPTS, 1), "broken": 2}
    prompt_of = {request_key(spec, call(prompt)): prompt for prompt in PROMPTS}
    told(server)
    live = complete(spec, list(map(call, PROMPTS)), journal.with_name("live.jsonl"), Limits(max_attempts=2))
    batched = {prompt_of[key]: answer for key, answer in read_journal(journal).items()}
    assert {name: dataclasses.replace(answer, latency_s=None) for name, answer in live.items()} == {
        name: dataclasses.replace(answer, attempts=live[name].attempts) for name, answer in batched.items()
    }
    records = [json.loads(line) for line in journal.read_bytes().splitlines()]
    assert Counter(record["key"] for record in records if "key" in record) == dict.fromkeys(prompt_of, 1)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_pays_for_nothing_twice(server, spec, journal, job, worker, point):
    kill_at(server, worker, job, point)
    worker.start(job)
    assert worker.wait() == [0]
    check_finished(server, spec, journal)


def test_kills_at_all_points_one_after_another_pay_for_nothing_twice(server, spec, journal, job, worker):
    # The number of the file that goes up rises with each kill before the batch.
    for point in ["after POST /files", *["before POST /batches"] * 2, *["after POST /batches"] * 1]:
        kill_at(server, worker, job, point)
    for point in ["before GET /batches", "before GET /batches/{id}", "after GET /files/{id}/content"]:
        kill_at(server, worker, job, point)
    worker.start(job)
    assert worker.wait() == [0]
    check_finished(server, spec, journal)


def test_a_batch_whose_start_was_not_confirmed_is_found_among_hundreds(server, spec, journal, job, worker):
    kill_at(server, worker, job, "after POST /batches")
    (ours,) = server.batches.created
    for number in range(250):
        document = {**ours.document, "id": f"batch_of_another_{number}", "metadata": None, "input_file_id": "file-x"}
        server.batches.created.append(dataclasses.replace(ours, id=document["id"], document=document, lines=[]))
    worker.start(job)
    assert worker.wait() == [0]
    check_finished(server, spec, journal)


def test_jobs_at_once_submit_what_the_budget_has_room_for_and_no_more(server, spec, job, worker, tmp_path):
    # Every call costs a dollar, and is feared to.
    priced = dataclasses.replace(spec, price=(0.0, 1e6), parameters={"max_tokens": 1})
    prompts = [[f"{number} {call}" for call in range(10)] for number in range(4)]
    everything = sorted(prompt for of_job in prompts for prompt in of_job)
    for prompt in everything:
        server.script(prompt, Reply("yes"))
    limits = {"mode": "batch", "budget_usd": 25.0, "shared": str(tmp_path / "shared.json")}
    jobs = [
        job
        | {"specification": dataclasses.asdict(priced), "limits": limits, "prompts": prompts[number]}
        | {"journal": str(tmp_path / f"{number}.jsonl"), "errors": str(tmp_path / f"{number}.txt")}
        for number in range(4)
    ]
    worker.start(*jobs)
    assert sorted(worker.wait()) == [0, 0, 1, 1]
    assert len(server.batches.prompts()) == len(set(server.batches.prompts())) == 25
    assert all("budget_usd: $25.00 of $25.00 is spent" in path.read_text() for path in tmp_path.glob("*.txt"))
    limits["budget_usd"] = 40.0
    worker.start(*jobs)
    assert worker.wait() == [0] * 4
    assert sorted(server.batches.prompts()) == everything
