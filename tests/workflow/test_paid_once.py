"""Whatever reruns, no call is paid twice."""

import os
import shutil
import time

import pytest
from fault_server import FaultServer, Reply


def answer(prompt):
    """A judge's word to a judge, a number to an examinee."""
    return Reply("correct" if "incorrect" in prompt else "So it is\n#### 4")


@pytest.fixture
def server():
    with FaultServer(answer) as running:
        yield running


@pytest.fixture
def study(checkout, server):
    """A small study in which one model, behind the server, answers and judges."""
    made = checkout(
        benchmarks={"gsm8k": {"limit": 3}},
        examinees=["crow", "rook"],
        judges=["crow"],
        ablations={},
        templates=["default"],
    )
    endpoint = {"api_base": server.url, "api_key_env": "CROW_KEY"}
    made.config["models"]["crow"] = {
        "model": "openai/crow",
        "family": "birds",
        "parameters": {"temperature": 0, "max_tokens": 50},
        "endpoint": endpoint,
    }
    made.environment["CROW_KEY"] = "sk-planted-key"
    return made


def make_everything_new(folder):
    """As a fresh checkout does: no memory of earlier runs, and every source newer than every result."""
    shutil.rmtree(folder / ".snakemake")
    now = time.time()
    for path in folder.rglob("*"):
        if path.is_file() and "results" not in path.parts:
            os.utime(path, (now, now))


def test_a_study_that_runs_again_from_nothing_pays_nothing_again(study, server):
    study.snakemake("judge_all")
    # Three questions answered; three responses of each of two examinees judged.
    assert len(server.requests) == 3 + 6
    make_everything_new(study.folder)
    study.snakemake("judge_all", "--forceall")
    shutil.rmtree(study.folder / "results/small")
    study.snakemake("judge_all")
    assert len(server.requests) == 3 + 6

    # Limits change no answer.
    study.config["models"]["crow"]["limits"] = {"concurrency": 3, "timeout_s": 30, "max_attempts": 2}
    assert study.plan("judge_all") == []

    # What has not been asked is asked, and no more.
    study.config["models"]["crow"]["parameters"]["temperature"] = 1
    plan = study.snakemake("estimate").stdout
    rows = [line.split() for line in plan.splitlines() if line.strip().startswith(("examinee", "judge"))]
    assert [row[:4] for row in rows] == [["examinee", "crow", "3", "3"], ["judge", "crow", "6", "6"]]
    assert "unknown" in plan, "this model has no price"

    kept = [path for path in study.folder.rglob("*") if path.is_file() and b"sk-planted-key" in path.read_bytes()]
    assert kept == [], "the key is written nowhere"


def test_nothing_is_left_to_pay_in_a_simulated_study(checkout):
    output = checkout().snakemake("estimate").stdout
    assert "Nothing to pay: no examinee and no judge of this study is a real model." in output
