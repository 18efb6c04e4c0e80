"""Orders compared, against scipy and known cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voirdire.stats.ranking import kendall_tau

VALUES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.0, 0.1 + 0.2]), min_size=2, max_size=9)


@given(VALUES, st.randoms(use_true_random=False))
def test_equals_scipy_with_ties(values, random):
    x, y = np.array(values), np.array(random.sample(values, len(values)))
    expected = stats.kendalltau(np.round(x, 9), np.round(y, 9)).statistic
    assert kendall_tau(x, y)[0] == pytest.approx(expected, nan_ok=True)


def test_each_sample_has_its_own_order():
    x = [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]
    y = [[1, 2, 3, 4], [4, 3, 2, 1], [1, 2, 4, 3]]
    assert kendall_tau(x, y) == pytest.approx([1, -1, 2 / 3])


def test_rounding_makes_no_order():
    assert np.isnan(kendall_tau([0.1 + 0.2, 0.3], [1, 2])[0])


@pytest.mark.parametrize("x", [[1.0], [2.0, 2.0], [1.0, np.nan]])
def test_nothing_to_order_has_no_tau(x):
    assert np.isnan(kendall_tau(x, np.arange(len(x)))[0])
