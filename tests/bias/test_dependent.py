"""Means over judges that judge the same responses."""

import numpy as np
import pytest
from scipy import stats

from voirdire.bias.dependent import dependent_mean, n_telling
from voirdire.stats.bootstrap import Interval, percentile
from voirdire.stats.significance import sign_flip_p

NO_INFLUENCE = np.zeros((3, 5))


def intervals(method="newcombe"):
    return Interval(
        np.array([0.2, 0.4, np.nan]),
        np.array([0.1, 0.1, np.nan]),
        np.array([0.4, 0.6, np.nan]),
        np.array([method, method, ""], object),
        np.zeros(3, int),
    )


def test_with_forty_telling_clusters_it_is_the_percentile_interval_of_the_mean():
    samples = np.random.default_rng(1).normal(0.3, 0.1, size=(500, 3))
    result = dependent_mean(intervals(), samples, NO_INFLUENCE, 40, 0.95)
    deviations = samples[:, :2] - [0.2, 0.4]
    low, high, _ = percentile(0.3 + deviations.mean(axis=1))
    assert (result.estimate, result.low, result.high) == pytest.approx((0.3, float(low), float(high)))
    assert (result.method, result.reason) == ("percentile", "")


def test_a_resample_without_a_cell_is_the_mean_of_the_others():
    samples = np.random.default_rng(2).normal([0.2, 0.4, 0], 0.1, size=(400, 3))
    samples[::2, 0], samples[1::2, 1] = np.nan, np.nan  # never both: nothing is complete
    result = dependent_mean(intervals(), samples, NO_INFLUENCE, 40, 0.95)
    assert (result.low, result.high) == pytest.approx((0.3 - 0.196, 0.3 + 0.196), abs=0.03)


def test_few_telling_clusters_give_students_t_of_the_clusters():
    units = np.r_[np.full(6, -1 / 6), np.zeros(16)]
    influence = np.tile((units - units.mean()) / 22, (3, 1))
    result = dependent_mean(intervals(), np.zeros((50, 3)), influence, 6, 0.95)
    half = stats.t.ppf(0.975, 5) * units.std(ddof=1) / np.sqrt(22)
    assert (result.low, result.high) == pytest.approx((0.3 - half, 0.3 + half))
    assert result.method == "t"


@pytest.mark.parametrize("moved", [3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("n", [16, 22, 40])
def test_the_t_interval_excludes_zero_where_the_sign_flip_test_does(moved, n):
    units = np.r_[np.ones(moved), np.zeros(n - moved)]
    part = Interval(
        *(np.full(2, value) for value in (units.mean(), -1.0, 1.0)), np.full(2, "mover", object), np.zeros(2)
    )
    result = dependent_mean(part, np.zeros((9, 2)), np.tile((units - units.mean()) / n, (2, 1)), moved, 0.95)
    assert (result.low > 0) == (sign_flip_p(units) < 0.05)


def test_judges_without_a_difference_do_not_widen_the_mean_of_those_that_have_one():
    rng = np.random.default_rng(3)
    moved = -(rng.random((6, 100)) < 0.3).astype(float)
    moved[:2] = 0
    weights = rng.multinomial(100, np.full(100, 0.01), size=1000)
    estimate = moved.mean(axis=1)
    wide = Interval(estimate, estimate - 0.13, estimate + 0.13, np.full(6, "newcombe_paired", object), np.zeros(6))
    known = np.ones(6, bool)
    telling = n_telling([moved / 100], known)
    result = dependent_mean(wide, weights @ moved.T / 100, (moved - estimate[:, None]) / 100, telling, 0.95)
    error = moved.mean(axis=0).std(ddof=1) / 10
    assert result.high - result.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_fully_correlated_cells_get_the_mean_of_their_bounds():
    draws = np.random.default_rng(0).normal(size=400)
    samples = np.column_stack([draws, 3 * draws + 1, np.full(400, np.nan)])
    result = dependent_mean(intervals(), samples, NO_INFLUENCE, 0, 0.95)
    assert (result.estimate, result.low, result.high) == pytest.approx((0.3, 0.1, 0.5))
    assert (result.method, result.reason) == ("mover", "")


def test_uncorrelated_cells_add_their_squares_over_the_resamples_that_have_both():
    samples = np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0.0], [np.nan, 5, 0]] * 10)
    result = dependent_mean(intervals(), samples, NO_INFLUENCE, 0, 0.95)
    mean, low, high = result.estimate, result.low, result.high
    assert (mean - low, high - mean) == pytest.approx((np.hypot(0.1, 0.3) / 2, np.hypot(0.2, 0.2) / 2))


@pytest.mark.parametrize("samples", [np.ones((50, 3)), np.full((50, 3), np.nan)], ids=["constant", "missing"])
def test_cells_whose_correlation_is_unseen_count_as_fully_correlated_and_say_so(samples):
    result = dependent_mean(intervals(), samples, NO_INFLUENCE, 0, 0.95)
    assert (result.low, result.high) == pytest.approx((0.1, 0.5))
    assert "fully correlated" in result.reason


def test_a_single_cell_keeps_its_interval():
    one = Interval(*(np.array([value, np.nan]) for value in (0.2, 0.1, 0.4)), np.array(["t", ""], object), np.zeros(2))
    result = dependent_mean(one, np.zeros((50, 2)), np.zeros((2, 5)), 20, 0.95)
    assert (result.estimate, result.low, result.high, result.method) == (0.2, 0.1, 0.4, "t")


def test_nothing_known_has_no_mean():
    nothing = Interval(*(np.full(2, np.nan) for _ in range(3)), np.array(["", ""], object), np.zeros(2, int))
    result = dependent_mean(nothing, np.zeros((5, 2)), np.zeros((2, 5)), 0, 0.95)
    assert np.isnan([result.estimate, result.low, result.high]).all()


def test_telling_clusters_are_those_that_move_the_mean():
    units = np.array([[1, 1, 0, -1, 0.0], [1, -1, 0, 0, 0], [0, 0, 5, 5, 5]])
    assert n_telling([units], np.array([True, True, False])) == 2
    assert n_telling([units], np.zeros(3, bool)) == 0


def test_a_side_without_spread_tells_nothing():
    own, other = np.zeros((2, 5)), np.array([[0, 0, 1, 1, 1.0], [0, 0, -1, 0, 0]])
    assert n_telling([own, other], np.array([True, True])) == 0
    assert n_telling([own + 1, -other], np.array([True, True])) == 3


def test_a_side_that_cancels_over_the_cells_is_no_side_without_spread():
    own, other = np.ones((2, 5)), np.array([[1.0] * 5, [-1.0] * 5])
    assert n_telling([own, other], np.array([True, True])) == 5
