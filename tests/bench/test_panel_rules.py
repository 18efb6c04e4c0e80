"""What hybrid gains on three real panels, by how much it misses the share of right responses, and how long it takes."""

import time

import numpy as np
import pytest
from panel_zoo import Kind, correlated
from vote_tables import real_panels

from voirdire.panel import Hybrid, compare_rules

pytestmark = pytest.mark.bench

DRAWS, N_LABELS, GOAL_POINTS, GOAL_MS = 500, 30, -0.5, 40
PLAIN = ("majority", "dawid_skene", "linear_disagreement")


def test_hybrid_beside_the_best_rule_without_labels(shared_data):
    print(f"\nhybrid with {N_LABELS} labels, {DRAWS} draws, points:")
    for name, verdicts in real_panels(shared_data / "verdicts").items():
        start = time.perf_counter()
        table = compare_rules(verdicts, [N_LABELS], DRAWS).set_index("rule")
        took = time.perf_counter() - start
        best = table.loc[list(PLAIN), "accuracy"].idxmax()
        gain = 100 * (table.loc["hybrid", "accuracy"] - table.loc[best, "accuracy"])
        off, alone = (100 * table.loc[rule, "prevalence_error"] for rule in ("hybrid", "labels_alone"))
        print(
            f"{name:13s} {gain:+.2f} to {best}; share of right responses off by {off:.2f}, labels alone {alone:.2f}; "
            f"ECE {100 * table.loc['hybrid', 'ece']:.1f}; all rules took {took:.1f} s"
        )
        assert gain >= GOAL_POINTS
        assert off <= alone


@pytest.mark.parametrize("check_halves", [False, True])
def test_time_of_one_panel(check_halves):
    votes, truth = correlated(Kind(14, 3000, 0.85, 0.6, 0.05), 0, 1.5)
    took = []
    for _ in range(7):
        start = time.perf_counter()
        panel = Hybrid(14, check_halves=check_halves)
        panel.update(votes)
        panel.label(votes[:N_LABELS], truth[:N_LABELS])
        probability = panel.probability(votes)
        took.append(1000 * (time.perf_counter() - start))
    halves = "asking halves of the judges" if check_halves else "without asking halves"
    print(f"\n3,000 responses, 14 judges, {N_LABELS} labels, {halves}: {np.median(took):.0f} ms (goal {GOAL_MS} ms)")
    assert np.isfinite(probability).all()


def test_time_of_the_drift_study():
    """States as they are in it: 1,000 streams, twelve weeks of 40 responses and 8 labels."""
    votes, truth = correlated(Kind(5, 20_000, 0.5, 0.4, 0.1), 0)
    rows = np.random.default_rng(0).integers(0, 20_000, (12, 1000, 40))
    panel, start = Hybrid(5, batch=(1000,)), time.perf_counter()
    for week in rows:
        panel.update(votes[week])
        panel.rates()
        panel.probability(votes[week])
        panel.label(votes[week[:, :8]], truth[week[:, :8]])
    print(f"\n1,000 streams × 12 weeks: {time.perf_counter() - start:.1f} s")
