"""Limits and budget hold over all jobs at once, whatever becomes of them."""

import dataclasses
import json
import os
import signal

import pytest
from fault_server import FaultServer, Reply, error_body

from voirdire.errors import UserError
from voirdire.models import Call, Limits, ModelSpec, complete, read_journal
from voirdire.models.records import spent_usd
from voirdire.models.shared import read_shared, start_afresh

# Two words sent at a dollar each, one received at eight: ten dollars a call.
PRICE = (1e6, 8e6)
COST = 10.0


@pytest.fixture
def server():
    with FaultServer(lambda prompt: Reply("yes", latency_s=0.05)) as server:
        yield server


@pytest.fixture
def jobs(server, tmp_path):
    """Makes jobs of one study: each asks its own prompts of two words."""

    def make(n_jobs, n_calls, price=None, **limits):
        spec = ModelSpec("tested", "openai/tested", {"max_tokens": 1}, api_base=server.url, price=price)
        shared = str(tmp_path / "journal" / "shared.json")
        return [
            {
                "specification": dataclasses.asdict(spec),
                "journal": str(tmp_path / "journal" / "judge" / f"{job}.jsonl"),
                "prompts": [f"{job} {number}" for number in range(n_calls)],
                "limits": dataclasses.asdict(Limits(pool="p", shared=shared, **limits)),
                "errors": str(tmp_path / f"{job}.txt"),
            }
            for job in range(n_jobs)
        ]

    return make


@pytest.fixture
def journals(tmp_path):
    return lambda: sorted((tmp_path / "journal").rglob("*.jsonl"))


def answered(journals):
    return sum(len(read_journal(path)) for path in journals())


def spent(journals):
    return sum(spent_usd(path) for path in journals())


def test_eight_jobs_never_exceed_what_one_endpoint_allows(worker, server, jobs, journals):
    worker.start(*jobs(8, 25, concurrency=5))
    assert worker.wait() == [0] * 8
    assert server.most_in_flight == 5
    assert answered(journals) == len(server.prompts()) == 200


def test_a_short_job_is_not_kept_waiting_until_a_long_one_has_ended(worker, server, jobs):
    long, short = jobs(2, 120, concurrency=4)
    short["prompts"] = short["prompts"][:20]
    worker.start(long, short)
    assert worker.wait() == [0, 0]
    prompts = server.prompts()
    assert max(place for place, prompt in enumerate(prompts) if prompt.startswith("1 ")) < 100


def test_waiting_for_ones_turn_does_not_count_towards_the_deadline(worker, server, jobs):
    busy = Reply(status=503, body=error_body("boom"))
    server.script("1 0", busy, busy, Reply("yes"))
    worker.start(*jobs(2, 40, concurrency=1, deadline_s=1.0))
    assert worker.wait() == [0, 0]


def test_an_endpoint_that_allows_less_than_configured_is_soon_given_what_it_takes(worker, server, jobs, journals):
    server.most_allowed = 3
    worker.start(*jobs(4, 40, concurrency=32))
    assert worker.wait() == [0] * 4
    assert answered(journals) == 160
    # It probes for more now and then, and pays with a 429 each time; without giving way there would be hundreds.
    assert 0 < len(server.prompts()) - 160 < 80


def test_retry_after_is_obeyed_by_all_jobs_of_the_endpoint(worker, server, jobs):
    stop = Reply(status=429, headers={"Retry-After": "1.2"}, body=error_body("slow down"))
    server.script("0 5", stop, Reply("yes"))
    worker.start(*jobs(2, 40, concurrency=2))
    assert worker.wait() == [0, 0]
    times = sorted(request.at for request in server.requests)
    stopped = next(request.at for request in server.requests if request.prompt == "0 5")
    # What was on its way already, and nothing more for as long as the server has asked.
    quiet = [at for at in times if stopped + 0.5 < at < stopped + 1.1]
    assert quiet == []
    assert times[-1] > stopped + 1.2


def test_requests_per_minute_hold_over_all_jobs(worker, server, jobs):
    # At 1200 a minute 21 may go at once, and the others at 19.67 a second.
    worker.start(*jobs(3, 30, requests_per_minute=1200))
    assert worker.wait() == [0] * 3
    times = sorted(request.at for request in server.requests)
    assert times[-1] - times[-30] >= 29 / (1180 / 60) - 0.3


def test_the_budget_holds_over_eight_jobs(worker, server, jobs, journals):
    started = jobs(8, 20, price=PRICE, budget_usd=405.0, concurrency=8)
    worker.start(*started)
    assert worker.wait() == [1] * 8
    assert 405 <= spent(journals) < 405 + COST, "one call may go out while any money is left"
    message = (
        "budget_usd: $410.00 of $405.00 is spent. "
        f"{20 - len(read_journal(started[0]['journal']))} of the 20 calls of this job are left"
    )
    with open(started[0]["errors"]) as file:
        assert file.read().startswith(message)

    paid = len(server.prompts())
    assert paid == answered(journals) == 41
    worker.start(*jobs(8, 20, price=PRICE, budget_usd=1600.0, concurrency=8))
    assert worker.wait() == [0] * 8
    assert spent(journals) == 1600
    assert len(server.prompts()) == 160, "nothing was asked twice"


def test_what_calls_may_cost_is_reserved_before_they_go_out(worker, server, jobs, journals):
    # Each could cost 100 dollars and costs 10: ten times as many can be paid as the fear of the first ones allows.
    started = jobs(4, 20, price=PRICE, budget_usd=300.0, concurrency=16)
    for job in started:
        job["specification"]["parameters"] = {"max_tokens": 12}
    server.hold_after = 0
    worker.start(*started)
    server.wait_until(lambda server: server.in_flight == 3)
    server.release()
    assert 1 in worker.wait()
    assert 300 <= spent(journals) < 300 + COST


def test_jobs_that_are_killed_are_settled_from_their_journals(worker, server, jobs, journals):
    server.hold_after = 30
    running = worker.start(*jobs(4, 40, price=PRICE, budget_usd=2000.0, concurrency=8))
    server.wait_until(lambda server: server.in_flight == 8 and server.answered >= 30)
    for process in running:
        os.kill(process, signal.SIGKILL)
    assert worker.wait() == [-signal.SIGKILL] * 4
    server.hold_after = None
    n_answered = answered(journals)
    # Their slots and reservations are free again, and what they had spent is not: 30 answers, or what came through.
    worker.start(*jobs(4, 40, price=PRICE, budget_usd=n_answered * COST + 95, concurrency=8))
    assert 1 in worker.wait()
    assert spent(journals) == n_answered * COST + 100


@pytest.mark.parametrize("damage", [b"", b'{"jobs": {"to', b"\x00" * 50])
def test_a_lost_state_heals_while_jobs_run(worker, server, jobs, journals, tmp_path, damage):
    server.hold_after = 20
    worker.start(*jobs(3, 20, price=PRICE, budget_usd=405.0, concurrency=6))
    server.wait_until(lambda server: server.in_flight == 6 and server.answered >= 20)
    (tmp_path / "journal" / "shared.json").write_bytes(damage)
    server.release()
    assert 1 in worker.wait()
    assert 405 <= spent(journals) < 405 + COST
    assert server.most_in_flight <= 6 + 6, "what was in flight is known again as soon as a job says so"


def test_money_is_counted_anew_from_the_journals_when_asked(worker, server, jobs, journals, tmp_path):
    shared = tmp_path / "journal" / "shared.json"
    worker.start(*jobs(2, 5, price=PRICE, budget_usd=1000.0))
    assert worker.wait() == [0, 0]
    assert read_shared(shared)["spent_usd"] == 100
    first = journals()[0]
    first.write_text(first.read_text().replace('"cost_usd": 10.0', '"cost_usd": 2.5'))
    start_afresh(shared, has_budget=True)
    assert read_shared(shared) == {"jobs": {}, "endpoints": {}, "spent_usd": 62.5}
    worker.start(*jobs(3, 5, price=PRICE, budget_usd=1000.0))
    assert worker.wait() == [0] * 3
    assert read_shared(shared)["spent_usd"] == spent(journals) == 5 * 2.5 + 2 * 50
    start_afresh(tmp_path / "none.json", has_budget=False)
    assert not (tmp_path / "none.json").exists()


def test_a_budget_needs_a_price(server, tmp_path):
    spec = ModelSpec("tested", "openai/tested", api_base=server.url)
    call = Call("a", ({"role": "user", "content": "p"},))
    with pytest.raises(UserError, match=r"model 'tested' .* set models\.tested\.price"):
        complete(spec, [call], tmp_path / "j.jsonl", Limits(budget_usd=1.0))
    assert server.prompts() == []
    free = dataclasses.replace(spec, price=(0, 0))
    assert complete(free, [call], tmp_path / "j.jsonl", Limits(budget_usd=1.0))["a"].cost_usd == 0


def test_the_state_says_who_does_what(worker, server, jobs, tmp_path):
    server.hold_after = 3
    (process,) = worker.start(*jobs(1, 10, price=PRICE, concurrency=2))
    server.wait_until(lambda server: server.in_flight == 2 and server.answered >= 3)
    (job,) = read_shared(tmp_path / "journal" / "shared.json")["jobs"].values()
    done = server.answered
    assert (job["job"], job["pid"], job["done"], job["total"]) == ("judge 0", process, done, 10)
    assert (job["failed"], job["tokens"], job["cost_usd"], job["in_flight"]) == (0, 3 * done, COST * done, 2)
    server.release()
    assert worker.wait() == [0]
    assert read_shared(tmp_path / "journal" / "shared.json")["jobs"] == {}


def test_the_journal_tells_what_failed_attempts_said(server, tmp_path):
    server.script(
        "p", Reply(status=503, body=error_body("boom")), Reply(status=429, body=error_body("slow")), Reply("42")
    )
    spec = ModelSpec("tested", "openai/tested", api_base=server.url)
    complete(spec, [Call("a", ({"role": "user", "content": "p"},))], tmp_path / "j.jsonl")
    history = json.loads((tmp_path / "j.jsonl").read_bytes())["history"]
    assert ["boom" in history[0], "slow" in history[1]] == [True, True]
