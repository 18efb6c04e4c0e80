"""One endpoint's limits and one budget, over all jobs that Snakemake runs at once."""

import pytest
from fault_server import FaultServer, Reply

from voirdire.models.records import spent_usd

# Whatever it is asked: so many tokens received, at a dollar each.
ANSWER = Reply("correct, so it is #### 4", latency_s=0.05)
COST = len(ANSWER.text.split())


@pytest.fixture
def server():
    with FaultServer(lambda prompt: ANSWER) as running:
        yield running


@pytest.fixture
def study(checkout, server):
    """Two models behind one endpoint, which answer and judge: 8 questions, 4 jobs of 8 verdicts each."""
    made = checkout(benchmarks={"gsm8k": {"limit": 8}}, examinees=["crow", "jay"], judges=["crow", "jay"], ablations={})
    for name in ("crow", "jay"):
        made.config["models"][name] = {
            "model": f"openai/{name}",
            "family": "birds",
            "parameters": {"max_tokens": 10},
            "endpoint": {"api_base": server.url},
            "limits": {"concurrency": 3},
            "price": {"input": 0, "output": 1e6},
        }
    return made


def test_limits_and_budget_hold_over_all_jobs(study, server):
    study.config["budget_usd"] = 100
    stopped = study.snakemake("judge_all", "--cores", "8", check=False)
    journals = list((study.folder / "results/journal/small").rglob("*.jsonl"))
    assert stopped.returncode == 1
    assert "of $100.00 is spent" in stopped.stdout
    assert "`voirdire estimate` says what the whole study needs" in stopped.stdout
    assert 100 <= sum(map(spent_usd, journals)) < 100 + COST * 3
    assert 1 < server.most_in_flight <= 3

    study.config["budget_usd"] = 1000
    study.snakemake("judge_all", "--cores", "8")
    assert server.most_in_flight == 3
    assert len(server.requests) == 2 * 8 + 4 * 8, "each question and each verdict was asked once"


def test_models_of_one_endpoint_must_agree_on_its_limits(study):
    study.config["models"]["jay"]["limits"] = {"concurrency": 4}
    said = study.snakemake("judge_all", "--dry-run", check=False).stdout
    assert "models.jay.limits.concurrency: is 4, but 3 for 'crow', which shares its endpoint" in said
    study.config["models"]["jay"]["endpoint"]["pool"] = "jay"
    study.snakemake("judge_all", "--dry-run")
