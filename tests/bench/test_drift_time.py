"""How long the paper's drift simulation takes with every estimator at 1,000 seeds, estimator by estimator."""

import os
import resource
import time
from collections.abc import Callable
from typing import Any

import pytest
from planted_panel import families, panel, personas

from voirdire.drift import Scenario, drift_factors, simulate
from voirdire.drift.beliefs import believe_all
from voirdire.drift.change_study import change_study
from voirdire.drift.drawing import observed_streams, resampled_streams
from voirdire.drift.levels import Base
from voirdire.drift.population import population
from voirdire.panel import ESTIMATORS

pytestmark = pytest.mark.bench

PAPER = {"gsm8k": 1319, "aime": 30}
SEEDS, FACTOR_SEEDS, GOAL_S, GOAL_GB = 1000, 200, 60, 2


@pytest.fixture(scope="module")
def verdicts():
    return panel(personas(), PAPER)


def test_time_and_memory_of_the_papers_simulation(verdicts):
    scenario = Scenario()
    print(f"\n{SEEDS:,} seeds and as many resampled, {os.cpu_count()} cores; peak before {peak_gb():.2f} GB")
    busy()
    source = population(verdicts, scenario, "blind")
    both, wall_s, cpu_s = timed(lambda: [draw(source, SEEDS, 0) for draw in (observed_streams, resampled_streams)])
    print(f"{'drawing':14s} {wall_s:6.2f} s, CPU {cpu_s:6.2f} s")
    for name in ESTIMATORS:
        _, wall_s, cpu_s = timed(lambda name=name: [believe_all([name], each, scenario) for each in both])
        print(f"{name:14s} {wall_s:6.2f} s, CPU {cpu_s:6.2f} s")
    result, wall_s, cpu_s = timed(lambda: simulate(verdicts, estimators=tuple(ESTIMATORS), seeds=SEEDS))
    print(f"{'all of it':14s} {wall_s:6.2f} s, CPU {cpu_s:6.2f} s, peak {peak_gb():.2f} GB")
    for what, found, goal, unit in (("time", wall_s, GOAL_S, "s"), ("memory", peak_gb(), GOAL_GB, "GB")):
        print(f"{what}: the goal of {goal} {unit} is {'met' if found <= goal else 'missed'}")
    busy()
    weeks = result.weeks.query("week == 0").set_index(["rule", "estimator", "weights"])
    columns = ["accuracy", "low", "high", "difference_to_oracle", "difference_low", "difference_high"]
    print((100 * weeks[columns]).round(2).to_string())
    assert weeks["n_seeds"].eq(SEEDS).all()
    assert len(weeks) == 4 + 2 * len(ESTIMATORS) + 1


def test_time_of_all_factors(verdicts):
    busy()
    result, wall_s, cpu_s = timed(lambda: drift_factors(verdicts, families=families(), seeds=FACTOR_SEEDS))
    n_levels = len(result.factors.drop_duplicates(["factor", "level"]))
    print(f"\n{n_levels} levels at {FACTOR_SEEDS} seeds: {wall_s:.1f} s, CPU {cpu_s:.1f} s, peak {peak_gb():.2f} GB")
    base = Base(verdicts, population(verdicts, Scenario(), "blind"), {})
    study, wall_s, cpu_s = timed(lambda: change_study(base, FACTOR_SEEDS, 0))
    print(f"of these, the change-point test's study: {wall_s:.1f} s, CPU {cpu_s:.1f} s")
    print(study.drop(columns=["seed", "simulated"]).round(3).T.to_string())
    busy()
    assert (result.factors.groupby(["factor", "level"]).size() == 4 + 2 * len(ESTIMATORS) + 1).all()


def busy() -> None:
    waiting = os.getloadavg()[0]
    if waiting > 1:
        print(f"{waiting:.0f} processes wait for the cores: wall times say little of the simulation's speed")


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, the seconds of the clock, and this process's CPU seconds."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    made = run()
    return made, time.perf_counter() - wall_s, time.process_time() - cpu_s


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
