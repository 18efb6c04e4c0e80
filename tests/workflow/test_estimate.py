"""What a study will cost, by a pilot through Snakemake, and what it then does cost."""

import hashlib
import json
import re
from collections import Counter

import pytest
from fault_server import FaultServer, Reply

PRICE = {"input": 2.0, "output": 8.0}


def reply(model, prompt):
    """Answers of 5 to 160 words, most of them short."""
    draw = hashlib.sha256(f"{model} {prompt}".encode()).digest()[0]
    words = "word " * (5 * 2 ** (draw % 16 // 3))
    return Reply(words + ("correct" if "incorrect" in prompt else "#### 4"))


@pytest.fixture
def server():
    with FaultServer(by_model=reply) as running:
        yield running


@pytest.fixture
def study(checkout, server):
    """One model that answers 30 questions, and two that judge its answers and a persona's."""
    made = checkout(
        benchmarks={"gsm8k": {"limit": 30}},
        examinees=["crow", "rook"],
        judges=["crow", "owl"],
        ablations={},
        templates=["default"],
    )
    for name in ("crow", "owl"):
        made.config["models"][name] = {
            "model": f"openai/{name}",
            "family": "birds",
            "parameters": {"temperature": 0, "max_tokens": 1000},
            "endpoint": {"api_base": server.url},
            "price": PRICE,
        }
    return made


def spent(study):
    texts = (path.read_text() for path in study.folder.glob("results/journal/small/**/*.jsonl"))
    return sum(json.loads(line)["cost_usd"] for text in texts for line in text.splitlines())


def test_a_study_costs_what_its_pilot_says_and_pays_nothing_twice(study, server):
    output = study.snakemake("estimate", "--config", "pilot=5").stdout
    assert len(server.requests) == 5 + 2 * 2 * 5
    (total,) = (line for line in output.splitlines() if line.strip().startswith("all"))
    low, high = (float(dollars.replace(",", "")) for dollars in re.findall(r"\$([\d.,]+)", total))
    pilot = spent(study)

    study.snakemake("judge_all")
    assert low <= spent(study) - pilot <= high
    assert high < 15 * low
    asked = Counter((request.model, request.prompt) for request in server.requests)
    assert set(asked.values()) == {1}
    assert len(asked) == 30 + 2 * 2 * 30

    study.config["budget_usd"] = 100.0
    assert "nothing is left to pay" in study.snakemake("estimate", "--config", "pilot=5").stdout
    assert len(server.requests) == len(asked)
    assert study.plan("judge_all") == []
