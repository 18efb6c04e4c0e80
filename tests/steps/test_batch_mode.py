"""`mode: batch` in a model's entry leads to the very tables that live calls lead to."""

import sys

import batch_worker
import pandas as pd
import pytest
from fault_server import FaultServer, Reply, error_body
from job_worker import Worker
from step_jobs import StepJobs

from voirdire.tables import GENERATIONS, JUDGEMENTS, read_table


def reply(prompt):
    """To every question something else, to judges now and then nothing that can be read."""
    number = sum(prompt.encode())
    if number % 7 == 0:
        return Reply(status=400, body=error_body("flagged", "content_filter"))
    if "incorrect" in prompt:
        return Reply("VERDICT: correct" if number % 5 else "Who knows.")
    return Reply(f"<think>so</think>#### {number % 3}", "stop" if number % 11 else "length")


@pytest.fixture
def server():
    with FaultServer(reply) as server:
        yield server


def tables(jobs, worker):
    for step in ("generate", "judge"):
        worker.start(jobs.job(step))
        assert worker.wait() == [0], jobs.log.read_text()
    generations, judgements = read_table(jobs.generations, GENERATIONS), read_table(jobs.judgements, JUDGEMENTS)
    return generations.drop(columns="latency_s"), judgements.drop(columns="latency_s")


def test_the_tables_of_both_steps_are_those_of_live_calls(server, tmp_path):
    price = {"input": 1.0, "output": 2.0}
    live = StepJobs(tmp_path / "live", server.url, 40, price=price)
    batched = StepJobs(tmp_path / "batch", server.url, 40, price=price, mode="batch")
    with Worker(sys.executable, batch_worker.__file__) as worker:
        expected, got = tables(live, worker), tables(batched, worker)
    for ours, theirs in zip(got, expected, strict=True):
        pd.testing.assert_frame_equal(ours, theirs)
        assert ours["status"].nunique() > 1
    assert sorted(server.batches.prompts()) == sorted(server.prompts())
    assert " calls are under way in the batch batch_" in batched.log.read_text()
