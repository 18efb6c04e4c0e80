"""How long all tables on bias take at the paper's size, and in how much memory; and scipy's bootstrap beside ours."""

import os
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from planted_panel import families, panel, personas
from scipy import stats

import voirdire.bias as tables
from voirdire.bias import leniency_summary, rates_by_examinee
from voirdire.bias.counts import count
from voirdire.bias.rows import prepared
from voirdire.stats.bootstrap import percentile

pytestmark = pytest.mark.bench

PAPER = {"gsm8k": 1319, "mbpp": 500, "aime": 30, "quality": 2202}
RESAMPLES, GOAL_S, GOAL_GB = 1000, 20, 2
# As the steps call them; what is missing is of repeated trials and several templates, which the paper hasn't.
TABLES = (
    *("rates", "rates_by_examinee", "task_accuracy", "correlations", "correlation_points", "preference_tables"),
    *("leniency", "ablation_identity", "ablation_length", "ablation_difficulty", "difficulty_curve"),
)
WITHOUT_RESAMPLES = ("correlation_points", "difficulty_curve")


@pytest.fixture(scope="module")
def verdicts():
    return panel(personas(), PAPER)


def test_time_and_memory_of_all_tables(verdicts):
    models, busy = families(), os.getloadavg()[0]
    before = peak_gb()
    print(f"\n{len(verdicts):,} verdicts, {RESAMPLES:,} resamples, {os.cpu_count()} cores; peak before {before:.2f} GB")
    total, total_cpu, made = 0.0, 0.0, {}
    for name in TABLES:
        options: dict[str, Any] = {} if name in WITHOUT_RESAMPLES else {"resamples": RESAMPLES}
        if name in ("leniency", "preference_tables"):
            options["families"] = models
        made[name], wall_s, cpu_s = timed(lambda name=name, options=options: getattr(tables, name)(verdicts, **options))
        total, total_cpu = total + wall_s, total_cpu + cpu_s
        print(f"{name:20s} {wall_s:6.2f} s, CPU {cpu_s:6.2f} s, peak {peak_gb():.2f} GB")
    made["leniency_summary"], wall_s, _ = timed(lambda: leniency_summary(made["leniency"]))
    total += wall_s
    for what, found, goal, unit in (("time", total, GOAL_S, "s"), ("memory", peak_gb(), GOAL_GB, "GB")):
        print(f"{what} of all: {found:.2f} {unit}; the goal of {goal} {unit}: {'met' if found <= goal else 'missed'}")
    print(f"CPU of all: {total_cpu:.2f} s")
    if busy > 1:
        print(f"{busy:.0f} processes waited for the cores already: the time says nothing of the tables' speed")
    frames = [frame for one in made.values() for frame in (one.values() if isinstance(one, dict) else [one])]
    assert all(len(frame) for frame in frames)


def test_fpr_of_all_pairs_beside_scipys_bootstrap(verdicts):
    blind = verdicts[verdicts["condition"] == "blind"].reset_index(drop=True)
    counts = count(prepared(blind))

    def by_weights() -> list[tuple[np.ndarray, np.ndarray]]:
        return [percentile(one.resampled(RESAMPLES, 0).fpr)[:2] for one in counts]

    def by_scipy() -> list[tuple[np.ndarray, np.ndarray]]:
        return [scipys(one) for one in counts]

    ours, theirs = timed(by_weights), timed(by_scipy)
    print(
        f"\nFPR of {len(counts[0].cells)} pairs in {len(counts)} tasks, {RESAMPLES:,} resamples, percentile intervals:"
    )
    print(f"weights of items, one matrix product: {ours[1]:.2f} s, CPU {ours[2]:.2f} s")
    print(f"scipy.stats.bootstrap:                {theirs[1]:.2f} s, CPU {theirs[2]:.2f} s")
    print(f"{theirs[1] / ours[1]:.1f} times as fast, {theirs[2] / ours[2]:.1f} times by CPU")
    table = rates_by_examinee(blind, resamples=1).query("pooling == 'none' and reading == 'main' and judge != 'all'")
    for one, own, reference in zip(counts, ours[0], theirs[0], strict=True):
        direct = blind[(blind["task"] == one.task) & ~blind["truth"]].groupby(["judge", "examinee"])["verdict"].mean()
        assert one.totals().fpr == pytest.approx(direct.to_numpy(float), abs=1e-12)
        assert table.query(f"task == '{one.task}'")["fpr"].to_numpy() == pytest.approx(
            direct.to_numpy(float), abs=1e-12
        )
        # Two sets of resamples: the bounds wander by some tenths of a standard error of each.
        enough = one.totals().wrong >= 50
        se = np.sqrt(direct.to_numpy(float) * (1 - direct.to_numpy(float)) / one.totals().wrong)[enough]
        for low_or_high, other in zip(own, reference, strict=True):
            assert (np.abs(low_or_high - other)[enough] <= 0.5 * se + 0.01).all()


def scipys(counted: Any) -> tuple[np.ndarray, np.ndarray]:
    """Percentile intervals of all pairs of a task, which share their resamples of items here too."""

    def fpr(accepted: np.ndarray, wrong: np.ndarray, axis: int) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return accepted.sum(axis) / wrong.sum(axis)

    result = stats.bootstrap(
        (counted.accepted_wrong, counted.wrong),
        fpr,
        paired=True,
        vectorized=True,
        axis=-1,
        n_resamples=RESAMPLES,
        batch=50,  # all at once would take gigabytes
        method="percentile",
        rng=np.random.default_rng(0),
    )
    return result.confidence_interval.low, result.confidence_interval.high


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, the seconds of the clock, and this process's CPU seconds."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    made = run()
    return made, time.perf_counter() - wall_s, time.process_time() - cpu_s


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
