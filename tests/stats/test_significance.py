"""Tests of differences, against scipy, statsmodels, enumeration, and their size and power where truth is planted."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable, mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import test_proportions_2indep as score_test

from voirdire.stats.significance import equal_proportions_p, holm, sign_flip_p, swap_p


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (3, 9), (40, 71), (900, 700)])
def test_sign_flip_of_binary_differences_is_mcnemar(b, c):
    differences = np.r_[np.ones(b), -np.ones(c), np.zeros(5)]
    assert sign_flip_p(differences) == pytest.approx(mcnemar([[3, b], [c, 4]], exact=True).pvalue, rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_sign_flip_agrees_with_enumeration(differences):
    d = np.array(differences) / 3
    sums = np.array([(np.array(signs) * d).sum() for signs in product((1, -1), repeat=len(d))])
    assert sign_flip_p(d) == pytest.approx((np.abs(sums) >= abs(d.sum()) - 1e-9).mean())


def test_sign_flip_agrees_with_scipy_on_real_values():
    d = np.random.default_rng(3).normal(0.4, 1, 12)
    reference = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert sign_flip_p(d) == pytest.approx(reference, abs=1e-9)


def test_sign_flip_of_many_units_of_two_sizes_is_exact():
    """Twelve thousand units of 1 and of 1/3, whose rounding adds up to more than any fixed tolerance."""
    thirds = np.repeat([3, -3, 1, -1], [3_050, 2_950, 3_100, 2_900])
    sums = np.convolve(stats.binom.pmf(np.arange(6_001), 6_000, 0.5), [1.0])
    spread = np.zeros(3 * 12_000 + 1)
    spread[::6] = sums
    exact = np.convolve(spread, np.kron(sums, [1.0, 0.0])[:-1])
    totals = np.arange(len(exact)) - len(exact) // 2
    expected = exact[np.abs(totals) >= thirds.sum()].sum()
    assert sign_flip_p(thirds / 3) == pytest.approx(expected, rel=1e-9)


def test_sign_flip_without_ties_falls_back_to_its_normal_limit():
    d = np.random.default_rng(4).normal(0.1, 1, 300)
    p = sign_flip_p(d)
    assert p == pytest.approx(2 * stats.norm.sf(abs(d.sum()) / np.sqrt((d**2).sum())))


def test_sign_flip_without_ties_is_exact_on_a_lattice_for_middling_numbers():
    d = np.random.default_rng(4).exponential(1, 18) - 0.6
    signs = np.array(list(product((1, -1), repeat=18)))
    exact = (np.abs(signs @ d) >= abs(d.sum()) - 1e-9).mean()
    assert sign_flip_p(d) == pytest.approx(exact, rel=0.02)


def test_sign_flip_p_is_small_enough_to_survive_holm_over_a_hundred_pairs():
    assert sign_flip_p(np.ones(40)) * 100 < 1e-9


def test_sign_flip_of_nothing_is_nan_and_of_zeros_one():
    assert np.isnan(sign_flip_p([]))
    assert sign_flip_p([0.0, 0.0]) == 1.0


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_holm_agrees_with_statsmodels(size):
    p = np.round(np.random.default_rng(size).beta(0.3, 2, size), 3)  # with ties
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def test_holm_counts_only_the_tests_that_were_done():
    adjusted = holm([0.01, np.nan, 0.04])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


def units(successes, n):
    """One trial per cluster."""
    return np.r_[np.ones(successes), np.zeros(n - successes)], np.ones(n)


def apart(first, second):
    """Two groups that share no cluster."""
    (s1, n1), (s2, n2) = first, second
    return np.r_[s1, 0 * s2], np.r_[n1, 0 * n2], np.r_[0 * s1, s2], np.r_[0 * n1, n2]


def judged(rng, n_items, wrong=(0.25, 0.25), rates=(0.3, 0.3), alike=0.6):
    """Two models' wrong answers on the same items, and which of them a judge accepts.

    wrong: share of items each model gets wrong; rates: acceptance of each; alike: of errors, and of their acceptance.
    """
    difficulty, plausibility = rng.normal(size=(2, n_items))

    def draw(shared, share):
        return np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.normal(size=n_items) < stats.norm.ppf(share)

    n1, n2 = (draw(difficulty, share).astype(float) for share in wrong)
    return n1 * draw(plausibility, rates[0]), n1, n2 * draw(plausibility, rates[1]), n2


@given(st.integers(0, 8), st.integers(1, 12), st.integers(0, 30), st.integers(1, 40))
def test_without_shared_items_it_is_fishers_exact_test(s1, n1, s2, n2):
    s1, s2 = min(s1, n1), min(s2, n2)
    p = equal_proportions_p([apart(units(s1, n1), units(s2, n2))])
    assert p == pytest.approx(stats.fisher_exact([[s1, n1 - s1], [s2, n2 - s2]]).pvalue, rel=1e-6)


def test_one_accepted_response_against_two_of_98():
    assert equal_proportions_p([apart(units(1, 1), units(2, 98))]) == pytest.approx(3 / 99)


def test_strata_of_separate_items_give_the_cochran_mantel_haenszel_test():
    tables = [(20, 60, 12, 60), (40, 90, 30, 95), (9, 30, 5, 28)]
    p = equal_proportions_p([apart(units(s1, n1), units(s2, n2)) for s1, n1, s2, n2 in tables])
    reference = StratifiedTable([np.array([[s1, n1 - s1], [s2, n2 - s2]]) for s1, n1, s2, n2 in tables])
    plain, corrected = (reference.test_null_odds(correction=correction).pvalue for correction in (False, True))
    assert plain < p < corrected


def test_strata_of_separate_items_are_tested_exactly():
    # Totals 0 to 4 of two strata with margins (2 of 4, 2 hits): hypergeometric 1/6, 4/6, 1/6 each.
    one = apart(units(2, 2), units(0, 2))
    assert equal_proportions_p([one]) == pytest.approx(2 / 6)
    assert equal_proportions_p([one, one]) == pytest.approx(2 / 36)


def test_large_samples_agree_with_the_score_test():
    for scale in (1, 100):
        p = equal_proportions_p([apart(units(400 * scale, 1000 * scale), units(440 * scale, 1000 * scale))])
        reference = score_test(400 * scale, 1000 * scale, 440 * scale, 1000 * scale, method="score", correction=False)
        assert p == pytest.approx(reference.pvalue, rel=0.12, abs=1e-12)


def test_repeats_are_no_evidence():
    s1, n1, s2, n2 = apart(units(40, 100), units(55, 100))
    repeated = equal_proportions_p([(7 * s1, 7 * n1, 7 * s2, 7 * n2)])
    assert repeated == pytest.approx(equal_proportions_p([(s1, n1, s2, n2)]))


def test_what_the_groups_share_within_items_makes_a_difference_plain():
    hard, ones = np.random.default_rng(6).random(300), np.ones(300)
    s1, s2 = (hard < 0.45).astype(float), (hard < 0.40).astype(float)
    assert (
        equal_proportions_p([(s1, ones, s2, ones)]) < 2e-3 < 0.1 < equal_proportions_p([apart((s1, ones), (s2, ones))])
    )


def test_a_handful_is_no_certainty():
    # A robust variance alone calls 0 of 10 against 10 of 100 certain (p = .001).
    assert equal_proportions_p([apart(units(0, 10), units(10, 100))]) > 0.2


@pytest.mark.parametrize("test", [equal_proportions_p, swap_p])
def test_strata_without_a_group_are_left_out(test):
    one = apart(units(30, 100), units(60, 100))
    none = np.array([1.0]), np.array([1.0]), np.array([0.0]), np.array([0.0])
    assert test([one, none]) == pytest.approx(test([one]))
    assert test([one, one]) < test([one])
    assert test([one, (*one[2:], *one[:2])]) == pytest.approx(1.0)
    assert np.isnan(test([none]))


@pytest.mark.parametrize("test", [equal_proportions_p, swap_p])
def test_no_variation_is_no_difference_and_a_single_cluster_no_test(test):
    ones = np.ones(3)
    assert test([(ones, ones, ones, ones)]) == 1.0
    # One hit in the two trials of every cluster.
    assert test([apart((ones, 2 * ones), (ones, 2 * ones))]) == 1.0
    assert np.isnan(test([(ones[:1], ones[:1], 0 * ones[:1], ones[:1])]))


@pytest.mark.parametrize(
    ("n_items", "wrong", "rate"),
    [(60, (0.25, 0.25), 0.3), (60, (0.12, 0.4), 0.3), (60, (0.4, 0.12), 0.1), (30, (0.7, 0.7), 0.5)],
    ids=["as many errors", "few own errors", "few errors of the other", "few items, many errors"],
)
def test_size_is_near_the_nominal_where_models_fail_on_the_same_items(n_items, wrong, rate):
    rng = np.random.default_rng(0)
    p = [equal_proportions_p([judged(rng, n_items, wrong, (rate, rate))]) for _ in range(800)]
    # 99.9 % binomial bounds of .05 at 800; a Fisher test has .00 to .02 here.
    assert 0.025 <= np.mean(np.array(p) < 0.05) <= 0.079
    assert np.mean(np.array(p) < 0.005) <= 0.017


def test_power_is_well_above_fishers_on_shared_items():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(400):
        h1, n1, h2, n2 = judged(rng, 60, rates=(0.55, 0.3))
        table = [[h1.sum(), n1.sum() - h1.sum()], [h2.sum(), n2.sum() - h2.sum()]]
        found.append((equal_proportions_p([(h1, n1, h2, n2)]), stats.fisher_exact(np.array(table, int)).pvalue))
    power, fisher = np.mean(np.array(found) < 0.05, axis=0)
    assert power >= 0.25
    assert power >= 1.4 * fisher


def test_pooled_size_is_near_the_nominal():
    rng = np.random.default_rng(2)
    sizes = (30, 80, 60)
    p = [equal_proportions_p([judged(rng, n, (0.3, 0.2), (0.4, 0.4)) for n in sizes]) for _ in range(800)]
    assert 0.025 <= np.mean(np.array(p) < 0.05) <= 0.079


@pytest.mark.parametrize("test", [equal_proportions_p, swap_p])
def test_pooled_p_is_no_weaker_than_its_best_consistent_stratum(test):
    rng = np.random.default_rng(3)
    for _ in range(40):
        strata = [judged(rng, n, (0.4, 0.4), (0.7, 0.3)) for n in (30, 150, 60, 60)]
        if all(h1.sum() / n1.sum() - h2.sum() / n2.sum() > 0.3 for h1, n1, h2, n2 in strata):
            assert test(strata) <= min(test([stratum]) for stratum in strata)


def test_swap_is_a_sign_flip_of_differences_where_every_cluster_has_both_groups():
    x, y = np.random.default_rng(5).normal(size=(2, 12))
    assert swap_p([(x, np.ones(12), y, np.ones(12))]) == pytest.approx(sign_flip_p(x - y))


def test_swap_has_its_size_for_means_of_shared_and_separate_items():
    rng = np.random.default_rng(4)
    p = []
    for _ in range(800):
        h1, n1, h2, n2 = judged(rng, 60, (0.2, 0.4))
        noise = rng.normal(0, 0.3, (2, 60))
        p.append(swap_p([(h1 + noise[0] * n1, n1, h2 + noise[1] * n2, n2)]))
    assert np.mean(np.array(p) < 0.05) <= 0.079
