"""Closed-form intervals against statsmodels and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from voirdire.stats.intervals import fisher_z, newcombe, newcombe_paired, square_and_add, wilson

quick = settings(deadline=None, max_examples=40)
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@quick
@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_equals_statsmodels(count, level):
    k, n = count
    assert wilson(k, n, level) == pytest.approx(proportion_confint(k, n, 1 - level, method="wilson"), abs=1e-9)


@quick
@given(counts, counts)
def test_newcombe_equals_statsmodels(first, second):
    expected = confint_proportions_2indep(*first, *second, method="newcomb", compare="diff")
    assert newcombe(*first, *second) == pytest.approx(expected, abs=1e-9)


def test_nothing_seen_gives_nan_and_never_a_zero_width():
    assert np.isnan(wilson(0, 0)).all()
    assert np.isnan(newcombe(0, 0, 1, 2)).all()
    low, high = wilson([0, 5], [5, 5])
    assert low[0] == 0
    assert high[0] == pytest.approx(0.4345, abs=1e-4)
    assert high[1] == 1
    assert low[1] == pytest.approx(1 - 0.4345, abs=1e-4)


def test_wilson_takes_an_effective_n_that_is_no_whole_number():
    assert wilson(2.5, 12.5) == pytest.approx(proportion_confint(2.5, 12.5, method="wilson"), abs=1e-9)


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


def test_newcombe_paired_is_the_unpaired_interval_when_the_pairs_are_uncorrelated():
    # 5 · 5 = 5 · 5: phi is 0, so Newcombe's method 10 is his method 8 on Wilson bounds .2993 and .7007.
    low, high = newcombe_paired(5, 5, 5, 5)
    half = np.sqrt(2) * (0.5 - 0.2992980)
    assert (low, high) == pytest.approx((-half, half), abs=1e-6)


def test_newcombe_paired_narrows_with_correlation_and_is_antisymmetric():
    low, high = newcombe_paired(40, 6, 2, 40)
    wide_low, wide_high = newcombe_paired(22, 24, 20, 22)
    assert high - low < 0.6 * (wide_high - wide_low)
    assert newcombe_paired(40, 2, 6, 40) == pytest.approx((-high, -low))


def test_newcombe_paired_has_width_without_a_discordant_pair():
    low, high = newcombe_paired(4, 0, 0, 0)
    assert low < -0.3 < 0.3 < high


def test_newcombe_paired_without_pairs_is_nan():
    assert np.isnan(newcombe_paired(0, 0, 0, 0)).all()


def test_newcombe_paired_covers():
    rng = np.random.default_rng(5)
    shared, first, second = rng.random((3, 400, 25))
    a, b = ((np.where(shared < 0.5, shared * 2, own) < p) for own, p in ((first, 0.35), (second, 0.15)))
    cells = np.stack([(a & b), (a & ~b), (~a & b), (~a & ~b)]).sum(axis=2)
    low, high = np.transpose([newcombe_paired(*counts) for counts in cells.T])
    assert np.mean((low <= 0.2) & (high >= 0.2)) >= 0.93
