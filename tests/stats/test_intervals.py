"""Closed-form intervals against statsmodels and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr
from statsmodels.stats.proportion import proportion_confint
from tails import squares_added, tails_interval

from voirdire.stats.intervals import (
    fisher_z,
    mid_p,
    paired_difference,
    proportions_difference,
    square_and_add,
    wilson,
)

quick = settings(deadline=None, max_examples=40)
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@quick
@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_equals_statsmodels(count, level):
    k, n = count
    assert wilson(k, n, level) == pytest.approx(proportion_confint(k, n, 1 - level, method="wilson"), abs=1e-9)


@quick
@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_with_whole_ties_mid_p_is_clopper_and_pearsons_interval(count, level):
    expected = proportion_confint(*count, 1 - level, method="beta")
    assert mid_p(*count, level, tie=1.0) == pytest.approx(np.nan_to_num(expected, nan=0.0), abs=1e-9)


@quick
@given(counts, st.sampled_from([0.8, 0.95, 0.999]), st.sampled_from([0.5, 0.7, 1.0]))
def test_mid_p_is_what_its_definition_says(count, level, tie):
    assert mid_p(*count, level, tie) == pytest.approx(tails_interval(*count, level, tie), abs=1e-9)


@quick
@given(counts, counts)
def test_a_difference_adds_the_squares_of_two_intervals(first, second):
    assert proportions_difference(*first, *second) == pytest.approx(squares_added(first, second), abs=1e-9)


def test_nothing_seen_gives_nan_and_never_a_zero_width():
    for interval in (wilson, mid_p):
        assert np.isnan(interval(0, 0)).all()
        low, high = interval([0, 5], [5, 5])
        assert (low[0], high[1]) == (0, 1)
        assert high[0] == 1 - low[1] > 0.4
    assert np.isnan(proportions_difference(0, 0, 1, 2)).all()


@pytest.mark.parametrize("n", [1.2, 12.5, 3000.5])
def test_an_effective_n_need_not_be_a_whole_number(n):
    assert wilson(0.2 * n, n) == pytest.approx(proportion_confint(0.2 * n, n, method="wilson"), abs=1e-9)
    assert mid_p(0.2 * n, n, tie=1.0) == pytest.approx(proportion_confint(0.2 * n, n, method="beta"), abs=1e-9)
    (low, high), (low_before, high_before) = mid_p(0.2 * n, n), mid_p(0.2 * n - 1e-6, n)
    assert 0 <= low - low_before < 1e-5 / n + 1e-7
    assert 0 <= high - high_before < 1e-5 / n + 1e-7
    assert low < 0.2 < high


def test_less_than_a_hit_leaves_the_bounds_around_the_share():
    k = np.geomspace(1e-12, 1, 60)
    for n in (1.0, 8.0, 900.0):
        low, high = mid_p(k, n)
        assert (low <= k / n).all()
        assert (high >= k / n).all()
        assert (np.diff(low) > -1e-12).all()


def test_square_and_add_of_symmetric_intervals_adds_variances():
    estimates = np.array([0.2, 0.5, 0.6])
    half = np.array([0.03, 0.04, 0.12])
    low, high = square_and_add(estimates, estimates - half, estimates + half, np.full(3, 1 / 3))
    assert (low, high) == pytest.approx((1.3 / 3 - 0.13 / 3, 1.3 / 3 + 0.13 / 3))


def test_square_and_add_of_a_difference_uses_the_correlation():
    estimates = np.array([0.5, 0.3])
    half = np.array([0.03, 0.04])
    bounds = (estimates, estimates - half, estimates + half, np.array([1.0, -1.0]))
    assert square_and_add(*bounds, -1.0) == pytest.approx((0.13, 0.27))
    assert square_and_add(*bounds, 1.0) == pytest.approx((0.19, 0.21))


def test_square_and_add_ignores_a_part_without_a_coefficient():
    nan = np.nan
    parts = np.array([[0.4, 0.4], [nan, 0.6]])
    low, high = square_and_add(parts, parts - 0.1, parts + 0.1, np.array([[1.0, 0.5], [0.0, 0.5]]))
    assert low == pytest.approx([0.3, 0.5 - np.sqrt(0.005)])
    assert high == pytest.approx([0.5, 0.5 + np.sqrt(0.005)])


@quick
@given(st.integers(3, 30), st.integers(0, 1000))
def test_fisher_z_equals_scipy(n, seed):
    x, y = np.random.default_rng(seed).normal(size=(2, n))
    result = pearsonr(x, y)
    expected = result.confidence_interval(0.95)
    assert fisher_z(result.statistic, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_fisher_z_below_three_points_is_nan():
    assert np.isnan(fisher_z(1.0, 2)).all()


def test_paired_difference_is_the_unpaired_interval_when_the_pairs_are_uncorrelated():
    # 5 · 5 = 5 · 5: phi is 0.
    assert paired_difference(5, 5, 5, 5) == pytest.approx(squares_added((10, 20), (10, 20)), abs=1e-9)


def test_paired_difference_narrows_with_correlation_and_is_antisymmetric():
    low, high = paired_difference(40, 6, 2, 40)
    wide_low, wide_high = paired_difference(22, 24, 20, 22)
    assert high - low < 0.6 * (wide_high - wide_low)
    assert paired_difference(40, 2, 6, 40) == pytest.approx((-high, -low))


def test_paired_difference_has_width_without_a_discordant_pair():
    low, high = paired_difference(4, 0, 0, 0)
    assert low < -0.3 < 0.3 < high


def test_paired_difference_without_pairs_is_nan():
    assert np.isnan(paired_difference(0, 0, 0, 0)).all()
