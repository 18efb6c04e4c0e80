"""Jobs that are stopped, by kill -9 or Ctrl-C, pay for no answered call twice and end like an undisturbed run."""

import os
import random
import signal
import time

import pandas as pd
import pytest
from fault_server import FaultServer, Reply
from step_jobs import MODEL, TASK, StepJobs

from voirdire.models import Call, read_journal, request_key
from voirdire.tables import GENERATIONS, JUDGEMENTS, read_table

N_ITEMS = 60
N_KILLS = 15
CONCURRENCY = 4
# From an answer's leaving the server to the kill: about as long as it takes to be read and journalled.
LONGEST_S = 0.05
NASTY = "\u0085 \u2028 \x00 \r\n \x1c 数 😀"
TABLES = {"generate": ("generations", GENERATIONS), "judge": ("judgements", JUDGEMENTS)}


def reply(model, prompt):
    """Of a model whose answers may be long every fifteenth is a megabyte; a judge has but few words."""
    if "incorrect" in prompt:
        return Reply(f"{NASTY}\nVERDICT: correct")
    is_long = model == "long" and sum(prompt.encode()) % 15 == 0
    return Reply(f"{NASTY}\n{'x' * 2**20 * is_long}\n#### 4")


@pytest.fixture
def server():
    with FaultServer(by_model=reply) as server:
        yield server


def run(worker, jobs, step):
    worker.start(jobs.job(step))
    assert worker.wait() == [0], jobs.log.read_text()
    name, schema = TABLES[step]
    return read_table(getattr(jobs, name), schema).drop(columns="latency_s")


def start_and_kill(worker, server, jobs, step, draw):
    """Kill at a random point: before the first request, between two, in the middle of a line of the journal."""
    # No more answers than that, so that each of the kills finds something left to do, however slow the machine.
    n_answers = draw.randrange(3)
    server.hold_after = server.answered + n_answers
    size = journal_size(jobs, step)
    (job,) = worker.start(jobs.job(step))
    server.wait_until(lambda server: server.answered >= server.hold_after, timeout_s=60)
    if n_answers == 2:
        # On a slow machine the time below would pass before any answer is read, in all of the kills.
        wait_for(lambda: journal_size(jobs, step) > size)
    time.sleep(draw.uniform(0, LONGEST_S))
    os.kill(job, signal.SIGKILL)
    assert worker.wait() == [-signal.SIGKILL]
    server.wait_until(lambda server: server.in_flight == 0)
    server.hold_after = None


def journal_size(jobs, step):
    path = jobs.journal(step)
    return path.stat().st_size if path.exists() else 0


def wait_for(condition, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def key_of(prompt, jobs):
    return request_key(jobs.study.model_spec(TASK, MODEL), Call("", ({"role": "user", "content": prompt},)))


# A judge would look through the megabytes for seconds, at each of its starts.
@pytest.mark.parametrize(("step", "answers"), [("generate", "long"), ("judge", "short")])
def test_fifteen_kills_lose_no_answer_and_repeat_none(tmp_path, worker, server, step, answers):
    draw = random.Random(1)
    entry = {"limits": {"concurrency": CONCURRENCY}, "model": f"openai/{answers}"}
    killed = StepJobs(tmp_path / "killed", server.url, N_ITEMS, **entry)
    whole = StepJobs(tmp_path / "whole", server.url, N_ITEMS, **entry)
    if step == "judge":
        for jobs in (killed, whole):
            run(worker, jobs, "generate")
    expected = run(worker, whole, step)
    server.reset()
    answered_at_kills = []
    for kill in range(1, N_KILLS + 1):
        start_and_kill(worker, server, killed, step, draw)
        answered = read_journal(killed.journal(step))
        answered_at_kills.append((len(server.prompts()), answered.keys()))
        assert len(server.prompts()) - len(answered) <= kill * CONCURRENCY
    assert 0 < len(answered) < N_ITEMS, "the last kill too was in the middle"
    table = run(worker, killed, step)

    pd.testing.assert_frame_equal(table, expected, check_exact=True)
    asked = [key_of(prompt, whole) for prompt in server.prompts()]
    for position, known in answered_at_kills:
        assert not known & set(asked[position:]), "an answered call was sent again"


def test_ctrl_c_ends_a_job_with_a_sentence_and_keeps_its_answers(tmp_path, worker, server):
    jobs = StepJobs(tmp_path, server.url, 12, limits={"concurrency": CONCURRENCY})
    server.hold_after = 5
    job = jobs.start("generate")
    server.wait_until(lambda server: server.answered >= 5 and server.in_flight == CONCURRENCY, timeout_s=60)
    answered = server.answered
    job.send_signal(signal.SIGINT)
    said, _ = job.communicate(timeout=60)
    assert job.returncode == 130
    assert said.splitlines()[-1] == "stopped; every answer so far is kept"
    assert "Traceback" not in said
    assert not jobs.generations.exists()
    assert len(read_journal(jobs.journal("generate"))) == answered

    server.reset()
    run(worker, jobs, "generate")
    assert len(server.prompts()) == 12 - answered
