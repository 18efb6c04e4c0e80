"""Effect sizes and tests, against scipy, statsmodels, enumeration and planted truth."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import test_proportions_2indep as score_test

from voirdire.stats.effect import (
    cluster_difference_p,
    cohen_d,
    cohen_d_from_moments,
    cohen_d_interval,
    fisher_p,
    holm,
    mcnemar_exact,
    newcombe_paired,
    sign_flip_p,
)


def test_cohen_d_is_the_mean_difference_over_the_pooled_standard_deviation():
    # Means 3 and 1, both variances 1.
    assert cohen_d([2, 3, 4], [0, 1, 2]).d == pytest.approx(2.0)


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=20), st.lists(st.integers(-50, 50), min_size=3, max_size=20))
def test_cohen_d_agrees_with_the_t_statistic(x, y):
    assume(np.ptp(x) and np.ptp(y))
    t = stats.ttest_ind(x, y).statistic
    assert cohen_d(x, y).d == pytest.approx(t * np.sqrt(1 / len(x) + 1 / len(y)), rel=1e-9, abs=1e-9)


def test_cohen_d_interval_bounds_leave_the_stated_tails_under_the_noncentral_t():
    effect = cohen_d([5, 6, 7, 9], [1, 2, 2, 4, 5, 3])
    root = np.sqrt(4 * 6 / 10)
    assert stats.nct.cdf(effect.d * root, 8, effect.low * root) == pytest.approx(0.975, abs=1e-9)
    assert stats.nct.cdf(effect.d * root, 8, effect.high * root) == pytest.approx(0.025, abs=1e-9)


def test_cohen_d_interval_changes_method_without_a_jump():
    exact, large = cohen_d_interval(0.5, 251, 251), cohen_d_interval(0.5, 251, 251.01)
    assert exact == pytest.approx(large, abs=2e-3)


@pytest.mark.parametrize(
    ("x", "y", "reason"), [([1], [2, 3], "1 and 2"), ([], [], "0 and 0"), ([1, 1], [2, 2], "same")]
)
def test_cohen_d_says_why_there_is_none(x, y, reason):
    effect = cohen_d(x, y)
    assert np.isnan([effect.d, effect.low, effect.high]).all()
    assert reason in effect.reason


def test_cohen_d_leaves_missing_values_out():
    assert cohen_d([2, 3, 4, np.nan], [0, 1, 2]) == cohen_d([2, 3, 4], [0, 1, 2])


def test_moments_give_the_same_d_elementwise():
    rng = np.random.default_rng(0)
    x, y = rng.normal(1, 2, 30), rng.normal(0, 1, 20)
    moments = [30, x.sum(), (x**2).sum(), 20, y.sum(), (y**2).sum()]
    both = cohen_d_from_moments(*(np.array([value, 0]) for value in moments))
    assert both[0] == pytest.approx(cohen_d(x, y).d, abs=1e-12)
    assert np.isnan(both[1])


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_statsmodels(b, c):
    reference = mcnemar([[3, b], [c, 4]], exact=True).pvalue
    assert float(mcnemar_exact(b, c)) == pytest.approx(reference, rel=1e-9)


def test_mcnemar_is_vectorised_and_agrees_with_the_binomial_test():
    p = mcnemar_exact([0, 3, 7], [0, 9, 2])
    assert p == pytest.approx([1.0, stats.binomtest(3, 12).pvalue, stats.binomtest(2, 9).pvalue])


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (3, 9), (40, 71), (900, 700)])
def test_sign_flip_of_binary_differences_is_mcnemar(b, c):
    differences = np.r_[np.ones(b), -np.ones(c), np.zeros(5)]
    assert sign_flip_p(differences) == pytest.approx(float(mcnemar_exact(b, c)), rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_sign_flip_agrees_with_enumeration(differences):
    d = np.array(differences) / 3
    sums = np.array([(np.array(signs) * d).sum() for signs in product((1, -1), repeat=len(d))])
    assert sign_flip_p(d) == pytest.approx((np.abs(sums) >= abs(d.sum()) - 1e-9).mean())


def test_sign_flip_agrees_with_scipy_on_real_values():
    d = np.random.default_rng(3).normal(0.4, 1, 12)
    reference = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert sign_flip_p(d) == pytest.approx(reference, abs=1e-9)


def test_sign_flip_without_ties_falls_back_to_its_normal_limit():
    d = np.random.default_rng(4).normal(0.1, 1, 300)
    p = sign_flip_p(d)
    assert p == pytest.approx(2 * stats.norm.sf(abs(d.sum()) / np.sqrt((d**2).sum())))


def test_sign_flip_p_is_small_enough_to_survive_holm_over_a_hundred_pairs():
    assert sign_flip_p(np.ones(40)) * 100 < 1e-9


def test_sign_flip_of_nothing_is_nan_and_of_zeros_one():
    assert np.isnan(sign_flip_p([]))
    assert sign_flip_p([0.0, 0.0]) == 1.0


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


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_holm_agrees_with_statsmodels(size):
    p = np.round(np.random.default_rng(size).beta(0.3, 2, size), 3)  # with ties
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def test_holm_counts_only_the_tests_that_were_done():
    adjusted = holm([0.01, np.nan, 0.04])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


def _clusters(successes, n):
    """One observation per cluster."""
    return np.r_[np.ones(successes), np.zeros(n - successes)], np.ones(n)


def _apart(first, second):
    """Two groups that share no cluster."""
    (s1, n1), (s2, n2) = first, second
    return np.r_[s1, 0 * s2], np.r_[n1, 0 * n2], np.r_[0 * s1, s2], np.r_[0 * n1, n2]


def test_cluster_test_without_clustering_is_the_score_test():
    p = cluster_difference_p(*_apart(_clusters(400, 1000), _clusters(450, 1000)))
    reference = score_test(400, 1000, 450, 1000, method="score", correction=False).pvalue
    assert p == pytest.approx(reference, abs=2e-3)


def test_cluster_test_does_not_take_repeats_for_evidence():
    s1, n1, s2, n2 = _apart(_clusters(40, 100), _clusters(55, 100))
    assert cluster_difference_p(7 * s1, 7 * n1, 7 * s2, 7 * n2) == pytest.approx(cluster_difference_p(s1, n1, s2, n2))


def test_cluster_test_gains_from_what_the_groups_share_within_a_cluster():
    rng = np.random.default_rng(6)
    hard = rng.random(300)
    s1, s2 = (hard < 0.45).astype(float), (hard < 0.40).astype(float)
    ones = np.ones(300)
    assert cluster_difference_p(s1, ones, s2, ones) < 2e-3 < 0.1 < cluster_difference_p(*_apart((s1, ones), (s2, ones)))


def test_cluster_test_holds_its_level_under_clustering():
    rng = np.random.default_rng(7)
    rejected = []
    for _ in range(400):
        p = rng.beta(2, 3, 60)
        n1, n2 = rng.integers(1, 6, (2, 60))
        rejected.append(cluster_difference_p(rng.binomial(n1, p), n1, rng.binomial(n2, rng.permutation(p)), n2) < 0.05)
    # 99.9 % binomial range around .05 at 400 trials, upper side.
    assert np.mean(rejected) <= 0.09


def test_cluster_test_does_not_reject_on_a_handful():
    # A robust variance alone calls 0 of 10 against 10 of 100 certain (p = .001).
    assert cluster_difference_p(*_apart(_clusters(0, 10), _clusters(10, 100))) > 0.2


def test_cluster_test_averages_over_strata_and_leaves_out_those_without_a_group():
    one = _apart(_clusters(30, 100), _clusters(60, 100))
    empty = np.array([1.0]), np.array([1.0]), np.array([0.0]), np.array([0.0])
    strata = np.r_[np.zeros(200, int), 1]
    both = [np.r_[a, b] for a, b in zip(one, empty, strict=True)]
    assert cluster_difference_p(*both, strata) == pytest.approx(cluster_difference_p(*one))
    twice = [np.r_[a, a] for a in one]
    opposite = [np.r_[a, b] for a, b in zip(one, (*one[2:], *one[:2]), strict=True)]
    halves = np.repeat([0, 1], 200)
    assert cluster_difference_p(*twice, halves) < cluster_difference_p(*one)
    assert cluster_difference_p(*opposite, halves) == pytest.approx(1.0)


def test_cluster_test_says_nan_without_a_group_and_one_without_variation():
    ones, none = np.ones(3), np.zeros(3)
    assert np.isnan(cluster_difference_p(ones, ones, none, none))
    assert cluster_difference_p(ones, ones, ones, ones) == 1.0


def test_fisher_agrees_with_scipy_and_works_for_one_response():
    # GPT-5's only wrong answer on MBPP is accepted, 2 of Llama's 98 are.
    assert fisher_p(1, 1, 2, 98) == pytest.approx(stats.fisher_exact([[1, 0], [2, 96]]).pvalue)
    assert fisher_p(1, 1, 2, 98) == pytest.approx(3 / 99)
    assert np.isnan(fisher_p(0, 0, 2, 98))
