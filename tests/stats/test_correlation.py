"""Pearson's r against scipy."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr

from voirdire.stats.correlation import leave_one_out, pearson

quick = settings(deadline=None, max_examples=40)


@quick
@given(st.integers(9, 40), st.integers(0, 1000))
def test_above_eight_points_r_p_and_interval_are_scipys(n, seed):
    x, y = np.random.default_rng(seed).normal(size=(2, n))
    result, expected = pearson(x, y), pearsonr(x, y)
    interval = expected.confidence_interval(0.95)
    assert (result.r, result.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 6), st.integers(0, 1000))
def test_exact_p_is_the_share_of_all_orders(n, seed):
    # Few distinct values, so that ties in |r| are tried.
    x, y = np.random.default_rng(seed).integers(0, 4, size=(2, n)).astype(float)
    result = pearson(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(result.p)
    else:
        r = [np.corrcoef(x, order)[0, 1] for order in permutations(y)]
        assert result.p == pytest.approx(np.mean(np.abs(r) >= abs(result.r) - 1e-9))


def test_six_points_in_order_cannot_have_a_smaller_p_than_two_of_720():
    assert pearson(np.arange(6), np.arange(6) ** 2).p == pytest.approx(2 / 720)


def test_perfect_correlation_is_one_with_a_closed_interval():
    result = pearson([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.6, 0.8])
    assert (result.r, result.low, result.high) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "fewer than 3 points (n = 0)"),
        ([1, 2], [3, 4], "fewer than 3 points (n = 2)"),
        ([1, 2, np.nan], [3, 4, 5], "fewer than 3 points (n = 2)"),
        ([1, 1, 1], [1, 2, 3], "x is constant"),
        ([1, 2, 3], [0.1 + 0.2, 0.3, 0.3], "y is constant"),
    ],
)
def test_too_few_points_or_no_spread_give_nan_and_the_reason(x, y, reason):
    result = pearson(x, y)
    assert np.isnan([result.r, result.low, result.high, result.p]).all()
    assert result.reason == reason


@quick
@given(st.integers(3, 9), st.integers(0, 1000))
def test_leave_one_out_equals_pearson_on_each_subset(n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 3, size=(2, 5, n)) / 7 + 0.3
    x[rng.random(x.shape) < 0.05] = np.nan
    result = leave_one_out(x, y)
    for sample in range(5):
        for column, keep in enumerate([np.ones(n, bool), *(np.arange(n) != i for i in range(n))]):
            known = not np.isnan(x[sample, keep]).any()
            expected = pearson(x[sample, keep], y[sample, keep]).r if known else np.nan
            assert result[sample, column] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_leave_one_out_of_no_points_is_nan():
    assert np.isnan(leave_one_out(np.empty((4, 0)), np.empty((4, 0)))).all()
