"""Every shipped configuration plans exactly its jobs; exit code 0 alone could mean that there is nothing to do."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from flow import ANALYSIS

PROJECT = Path(__file__).resolve().parents[2]

ONCE = Counter(["verdicts", *ANALYSIS])
# Four benchmarks, six examinees, six judges; one examinee judged again under each of two labels.
PANEL = {"blind": 144, "elite": 24, "author": 24}
# And by each of two templates more.
REWORDED = {**PANEL, "reason": 24, "rubric": 24}
# One benchmark; two models that judge themselves and each other.
PAIR = {"blind": 4}
PLANNED = {
    "config": (Counter(benchmark=4, generate=24, grade=24), REWORDED),
    "paper": (Counter(benchmark=4, generate=24, grade=24), PANEL),
    "local": (Counter(benchmark=1, generate=2, grade=2), PAIR),
}


def test_every_shipped_configuration_is_planned_here():
    assert {path.stem for path in (PROJECT / "config").glob("*.yaml")} == set(PLANNED)


@pytest.mark.parametrize("name", PLANNED)
def test_a_shipped_configuration_plans_its_jobs(checkout, name):
    fresh = checkout()
    fresh.config = yaml.safe_load((PROJECT / "config" / f"{name}.yaml").read_text())
    plan = fresh.plan()
    jobs, judged = PLANNED[name]
    assert Counter(job.rule for job in plan) == ONCE + jobs + Counter(judge=sum(judged.values()))
    assert Counter(job["condition"] for job in plan if job.rule == "judge") == judged


def test_a_configuration_without_benchmarks_is_laid_over_the_default_study(checkout):
    fresh = checkout()
    fresh.config = {"judges": ["rook", "stoat"]}
    assert fresh.rules()["judge"] == 2 * 6 * 4 + 4 * 2 * 4
