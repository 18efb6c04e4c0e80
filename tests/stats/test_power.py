"""The smallest effect that so few observations would have shown, against enumeration, statsmodels and simulation."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact, ttest_ind
from statsmodels.stats.power import NormalIndPower, TTestIndPower

from voirdire.stats.correlation import pearson
from voirdire.stats.power import (
    detectable_d,
    detectable_flips,
    detectable_normal,
    detectable_proportions,
    detectable_r,
    fewest_flips,
    least_fisher_p,
    least_permutation_p,
    quantiles,
)
from voirdire.stats.significance import sign_flip_p

SMALL = st.integers(1, 12)


def _power_of_fisher(n_first, n_second, first, base):
    """By going through every table with scipy's test."""
    tables = [(x, y) for x in range(n_first + 1) for y in range(n_second + 1)]
    shown = [fisher_exact([[x, n_first - x], [y, n_second - y]]).pvalue <= 0.05 + 1e-9 for x, y in tables]
    chance = [binom.pmf(x, n_first, first) * binom.pmf(y, n_second, base) for x, y in tables]
    return sum(c for c, s in zip(chance, shown, strict=True) if s)


def test_the_quantiles_are_those_of_every_textbook():
    assert quantiles() == pytest.approx((1.959963984540054, 0.8416212335729143))


@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.9, 0.6), (0.99, 0.95)])
def test_by_normal_limits_it_is_what_statsmodels_solves_for(level, power):
    expected = NormalIndPower().solve_power(nobs1=50, alpha=1 - level, power=power, ratio=1)
    # statsmodels counts rejections on the wrong side too, which hardly ever happen.
    assert detectable_normal(np.sqrt(2 / 50), level, power) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("se", [0.0, np.nan])
def test_no_spread_seen_is_no_knowledge(se):
    assert np.isnan(detectable_normal(se))


@pytest.mark.parametrize("sizes", [(4, 4), (10, 10), (2, 31), (30, 60)])
def test_cohens_d_is_close_to_what_statsmodels_solves_for(sizes):
    first, second = sizes
    expected = TTestIndPower().solve_power(nobs1=first, alpha=0.05, power=0.8, ratio=second / first)
    # Central t for the power overstates what the noncentral one asks for, by 5 % at 6 degrees of freedom.
    assert detectable_d(first, second) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("sizes", [(2, 2), (2, 31), (10, 10), (30, 60)])
def test_a_shift_of_the_detectable_d_is_shown_four_times_in_five(sizes):
    rng = np.random.default_rng(1)
    first, second = (rng.standard_normal((size, 4000)) for size in sizes)
    shown = ttest_ind(first + detectable_d(*sizes), second).pvalue < 0.05
    assert 0.73 < shown.mean() < 0.83


@pytest.mark.parametrize("sizes", [(1, 40), (40, 1), (0, 0), (np.nan, 5)])
def test_no_d_of_fewer_than_two(sizes):
    assert np.isnan(detectable_d(*sizes))


@pytest.mark.parametrize("n", [6, 7, 19, 282])
def test_the_share_that_must_change_flips_six_pairs_four_times_in_five(n):
    assert binom.sf(5, n, detectable_flips(n)) == pytest.approx(0.8, abs=1e-9)


def _power_of_mcnemar(n, noise, shift):
    """By going through every number of changed pairs, either way, with scipy's binomial test."""
    changed = noise + shift
    power = 0.0
    for m in range(1, n + 1):
        least = next((u for u in range(m // 2 + 1, m + 1) if 2 * binom.sf(u - 1, m, 0.5) <= 0.05 + 1e-12), m + 1)
        power += binom.pmf(m, n, changed) * binom.sf(least - 1, m, min(1.0, (noise / 2 + shift) / changed))
    return power


@pytest.mark.parametrize("n", [6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 70, 100, 150, 300, 700])
def test_beside_noise_the_exact_test_shows_it_four_times_in_five(n):
    found = {noise: float(detectable_flips(n, noise)) for noise in (0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)}
    shown = {noise: _power_of_mcnemar(n, noise, shift) for noise, shift in found.items() if not np.isnan(shift)}
    assert shown
    assert all(0.79 < power < 0.9 for power in shown.values())
    # Where nothing is found, not even a change of all that noise leaves is shown (by the normal limit's reckoning).
    assert all(_power_of_mcnemar(n, noise, 1 - noise) < 0.81 for noise in found.keys() - shown.keys())


@pytest.mark.parametrize(("n", "noise"), [(8, 0.2), (8, 0.5), (10, 0.9), (100, 0.95), (100, 1.0)])
def test_a_change_and_its_noise_are_of_different_pairs(n, noise):
    assert np.isnan(detectable_flips(n, noise))


def test_the_change_to_be_shown_grows_with_noise_and_shrinks_with_pairs():
    found = detectable_flips(np.array([[20], [50], [100], [300], [1000]]), np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.3]))
    assert found.shape == (5, 6)
    assert (np.diff(found, axis=1) > 0).all()
    assert (np.diff(found, axis=0) < 0).all()


@pytest.mark.parametrize(("n", "noise"), [(10, np.nan), (np.nan, 0.1)])
def test_without_a_number_of_pairs_or_their_noise_no_change_is_detectable(n, noise):
    assert np.isnan(detectable_flips(n, noise))


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_pairs_never_reject(n):
    assert np.isnan(detectable_flips(n))
    # All of them changed, the same way: no p is smaller.
    assert not n or sign_flip_p(np.ones(n)) > 0.05


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_the_fewest_pairs_are_those_from_which_the_test_can_reject(level):
    k = fewest_flips(level)
    assert sign_flip_p(np.ones(k)) <= 1 - level + 1e-12 < sign_flip_p(np.ones(k - 1))


@pytest.mark.parametrize("n", [5, 6, 8, 12, 30])
def test_the_detectable_r_is_shown_four_times_in_five(n):
    rng = np.random.default_rng(2)
    r = float(detectable_r(n))
    x, noise = rng.standard_normal((2, 1000, n))
    y = r * x + np.sqrt(1 - r**2) * noise
    found = [pearson(*pair) for pair in zip(x, y, strict=True)]
    assert 0.72 < np.mean([one.p < 0.05 and one.low > 0 for one in found]) < 0.88


@pytest.mark.parametrize("n", [3, 4, 5])
def test_no_order_has_a_smaller_p_than_one_of_all(n):
    x = 2.0 ** np.arange(n)
    least = min(pearson(x, x[list(order)]).p for order in permutations(range(n)))
    assert least == pytest.approx(least_permutation_p(n))


def test_four_points_reject_so_rarely_that_no_correlation_counts_as_detectable():
    rng = np.random.default_rng(2)
    x, noise = rng.standard_normal((2, 1000, 4))
    found = [pearson(*pair).p < 0.05 for pair in zip(x, 0.99 * x + np.sqrt(1 - 0.99**2) * noise, strict=True)]
    assert np.mean(found) < 0.75
    assert np.isnan(detectable_r(4))


@pytest.mark.parametrize("n", [0, 1, 2, 3, np.nan])
def test_fewer_points_have_no_correlation_to_show(n):
    assert np.isnan(detectable_r(n))


@settings(deadline=None)
@given(SMALL, SMALL)
def test_no_table_has_a_smaller_p_than_all_hits_against_none(first, second):
    tables = [(x, y) for x in range(first + 1) for y in range(second + 1)]
    least = min(fisher_exact([[x, first - x], [y, second - y]]).pvalue for x, y in tables)
    assert least_fisher_p(first, second) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize(("first", "second", "base"), [(10, 10, 0.0), (3, 25, 0.05), (25, 3, 0.1), (20, 20, 0.3)])
def test_at_the_detectable_difference_fishers_test_has_the_power(first, second, base):
    difference = float(detectable_proportions(first, second, base))
    shares = [share for share in (base + difference, base - difference) if 0 <= share <= 1]
    assert min(_power_of_fisher(first, second, share, base) for share in shares) == pytest.approx(0.8, abs=0.002)


@settings(deadline=None, max_examples=20)
@given(SMALL, SMALL, st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]))
def test_where_no_difference_is_detectable_not_even_the_largest_has_the_power(first, second, base):
    if np.isnan(detectable_proportions(first, second, base)):
        assert max(_power_of_fisher(first, second, share, base) for share in (0.0, 1.0)) < 0.8


def test_two_wrong_answers_against_31_show_nothing():
    assert np.isnan(detectable_proportions(2, 31, 0.3))


@pytest.mark.parametrize(("first", "second", "base"), [(60, 60, 0.5), (30, 200, 0.1), (90, 90, 0.3), (12, 400, 0.3)])
def test_large_groups_by_the_normal_limit_have_at_least_the_power(first, second, base):
    rng = np.random.default_rng(3)
    share = base + float(detectable_proportions(first, second, base))
    hits = rng.binomial(first, share, 400), rng.binomial(second, base, 400)
    shown = [fisher_exact([[x, first - x], [y, second - y]]).pvalue <= 0.05 for x, y in zip(*hits, strict=True)]
    assert 0.73 < np.mean(shown) < 0.9


def test_both_ways_of_calculating_agree_where_they_meet():
    # 39 × 64 tables are gone through, 41 × 66 are not.
    exact, limit = detectable_proportions([38, 40], [62, 64], 0.2)
    assert 0 < exact - limit + 0.02 < 0.03


def test_the_effect_stays_on_the_scale():
    bases = np.linspace(0, 1, 21)
    found = detectable_proportions(200, 300, bases)
    assert (found <= np.maximum(bases, 1 - bases)).all()
    # All right and all wrong are one case, mirrored.
    assert found == pytest.approx(found[::-1])


@pytest.mark.parametrize("missing", [(np.nan, 5, 0.5), (5, np.nan, 0.5), (5, 5, np.nan)])
def test_what_is_missing_leaves_nothing_detectable(missing):
    assert np.isnan(detectable_proportions(*missing))


def test_nothing_in_nothing_out():
    for found in (detectable_proportions([], [], []), detectable_r([]), detectable_d([], []), detectable_flips([])):
        assert found.shape == (0,)
    assert detectable_proportions(np.full((2, 3), 9), 9, 0.5).shape == (2, 3)
