"""Intervals hold what is planted, and tests leave alone what isn't: 200 panels each, `make bench` has 2,000."""

import numpy as np
import pytest
from covered import (
    LEAST,
    MOST,
    SHARES,
    SIZES,
    bias_and_balance,
    clustered_rates,
    differences,
    difficulty_gaps,
    effect_sizes,
    exact_rates,
    means_over_judges,
    most_rejected,
    rejected,
    rejected_in_tables,
    summaries,
    task_means,
)
from planted_counts import Items, beta_rate

SEEDS = 200
ONCE = [Items(8), Items(20), Items(100)]
SIX = [Items(8, 6, 0.3), Items(20, 6, 0.3, even=False), Items(100, 6, 0.3)]


def hold(rows):
    failed = [(row, row.bounds()) for row in rows if not row.holds()]
    assert not failed


@pytest.mark.parametrize("n", SIZES[:-1])
def test_a_rate_of_separate_items_is_covered_at_every_true_share(n):
    shares = np.unique(np.r_[np.linspace(0.001, 0.999, 999), SHARES])
    used, alone = exact_rates(n, shares)
    assert used.min() >= LEAST
    expected = n * np.minimum(shares, 1 - shares)
    # Where a count of 20 is expected exactly, single counts move the coverage by more than a point.
    assert used[expected >= 20].max(initial=0) <= MOST + 0.005
    assert alone.min() < 0.3


def test_percentile_alone_covers_64_per_cent_at_20_items_and_a_rate_of_5_per_cent():
    used, alone = exact_rates(20, np.array([0.05]))
    assert alone[0] == pytest.approx(0.64, abs=0.01)
    assert used[0] >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize("agreement", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("even", [True, False])
def test_repeats_on_one_item_do_not_shrink_the_interval_of_a_rate(agreement, even):
    items = [Items(n, 6, agreement, even) for n in (3, 8, 20, 100)]
    hold(clustered_rates(SEEDS, items, [0.02, 0.1, 0.5, 0.9]))


@pytest.mark.slow
def test_a_rate_is_covered_where_items_differ_by_degrees():
    hold(clustered_rates(SEEDS, [Items(8, 6, 0.3), Items(100, 6, 0.3)], [0.05, 0.5], beta_rate))


@pytest.mark.slow
def test_bias_and_balanced_accuracy_are_covered():
    hold(bias_and_balance(SEEDS, [Items(16), Items(200), *SIX[1:]], [(0.02, 0.02), (0.3, 0.05), (0.9, 0.1)]))


@pytest.mark.slow
def test_differences_are_covered_on_separate_shared_and_the_same_items():
    hold(differences(SEEDS, [*ONCE, *SIX], [(0.05, 0.05), (0.9, 0.5), (0.3, 0.2)]))


@pytest.mark.slow
def test_means_over_judges_are_covered():
    hold(means_over_judges(SEEDS, [Items(8), Items(20, 2), Items(60)], [(0.1, 0.1), (0.9, 0.5)]))


@pytest.mark.slow
def test_means_of_a_small_task_and_large_ones_are_covered():
    hold(task_means(SEEDS, Items(8), [(0.02, 0.02, 0.02), (0.5, 0.5, 0.5), (0.9, 0.1, 0.3)]))
    hold(task_means(SEEDS, Items(30, 6, 0.3), [(0.02, 0.02, 0.02), (0.5, 0.5, 0.5)]))


@pytest.mark.slow
def test_effect_sizes_are_covered():
    hold(effect_sizes(SEEDS, [Items(8), Items(100), Items(20, 6, 0.3), Items(250, 6, 0.3)], [0.2, 0.5], [0.0, 0.5]))


@pytest.mark.slow
def test_difficulty_gaps_are_covered():
    hold(difficulty_gaps(SEEDS, [Items(8), Items(30), Items(200)], [(0.05, 0.05), (0.5, 0.3)]))


@pytest.mark.slow
def test_means_of_self_preference_are_covered():
    hold(summaries(SEEDS, 40))


@pytest.mark.slow
def test_tests_leave_equal_rates_alone():
    found = list(rejected(SEEDS, [Items(40), Items(20, 6, 0.3)], [0.3, 0.9]))
    assert not [row for row in found if row[1] > most_rejected(row[2])]


@pytest.mark.slow
def test_tables_leave_panels_without_effects_alone():
    found = list(rejected_in_tables(SEEDS, 40, with_leniency=100))
    assert len(found) > 20
    assert not [row for row in found if row[1] > most_rejected(row[2])]
