"""Effect sizes, against scipy."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from voirdire.stats.effect import cohen_d_from_moments, cohen_d_interval


def cohen_d(x, y):
    return float(cohen_d_from_moments(*(sum(v**k for v in values) for values in (x, y) for k in range(3))))


def test_cohen_d_is_the_mean_difference_over_the_pooled_standard_deviation():
    # Means 3 and 1, both variances 1.
    assert cohen_d([2, 3, 4], [0, 1, 2]) == pytest.approx(2.0)


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=20), st.lists(st.integers(-50, 50), min_size=3, max_size=20))
def test_cohen_d_agrees_with_the_t_statistic(x, y):
    assume(np.ptp(x) and np.ptp(y))
    t = stats.ttest_ind(x, y).statistic
    assert cohen_d(x, y) == pytest.approx(t * np.sqrt(1 / len(x) + 1 / len(y)), rel=1e-9, abs=1e-9)


def test_cohen_d_interval_bounds_leave_the_stated_tails_under_the_noncentral_t():
    d, root = cohen_d([5, 6, 7, 9], [1, 2, 2, 4, 5, 3]), np.sqrt(4 * 6 / 10)
    low, high = cohen_d_interval(d, 4, 6)
    assert stats.nct.cdf(d * root, 8, low * root) == pytest.approx(0.975, abs=1e-9)
    assert stats.nct.cdf(d * root, 8, high * root) == pytest.approx(0.025, abs=1e-9)


def test_cohen_d_interval_changes_method_without_a_jump():
    exact, large = cohen_d_interval(0.5, 251, 251), cohen_d_interval(0.5, 251, 251.01)
    assert exact == pytest.approx(large, abs=2e-3)


@pytest.mark.parametrize(("x", "y"), [([1], [2, 3]), ([], []), ([1, 1], [2, 2])])
def test_cohen_d_is_nan_without_two_values_each_or_without_spread(x, y):
    assert np.isnan(cohen_d(x, y))
    assert np.isnan(cohen_d_interval(np.nan, 1, 2)).all()


def test_cohen_d_of_many_samples_at_once():
    rng = np.random.default_rng(0)
    x, y = rng.normal(1, 2, 30), rng.normal(0, 1, 20)
    moments = [30, x.sum(), (x**2).sum(), 20, y.sum(), (y**2).sum()]
    both = cohen_d_from_moments(*(np.array([value, 0]) for value in moments))
    assert both[0] == pytest.approx(cohen_d(x, y), abs=1e-12)
    assert np.isnan(both[1])
