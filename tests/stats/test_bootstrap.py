"""Resampling by weights, and intervals of rates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.stats.bootstrap import (
    cluster_weights,
    combined_interval,
    difference_interval,
    effective_n,
    percentile,
    rate_interval,
    ratio_correlation,
    ratio_covariance,
    sample_correlation,
    weight_chunks,
)
from voirdire.stats.intervals import mid_p, proportions_difference

quick = settings(deadline=None, max_examples=40)


def rate_of(hits, trials, n_resamples=2000, seed=0):
    hits, trials = np.atleast_2d(np.asarray(hits, float)), np.atleast_2d(np.asarray(trials, float))
    weights = cluster_weights(np.zeros(hits.shape[1], int), n_resamples, seed)
    with np.errstate(invalid="ignore"):
        return rate_interval(hits, trials, (weights @ hits.T) / (weights @ trials.T))


def test_weights_of_a_stratum_add_up_to_its_clusters():
    strata = np.array([0, 1, 0, 1, 1, 7])
    weights = cluster_weights(strata, 50, seed=3)
    for stratum, size in ((0, 2), (1, 3), (7, 1)):
        assert (weights[:, strata == stratum].sum(axis=1) == size).all()


def test_weights_depend_on_the_seed_only():
    assert np.array_equal(cluster_weights([0] * 9, 20, 1), cluster_weights([0] * 9, 20, 1))
    assert not np.array_equal(cluster_weights([0] * 9, 20, 1), cluster_weights([0] * 9, 20, 2))


def test_another_stratum_does_not_change_the_draws_of_this_one():
    alone, beside = cluster_weights([0] * 9, 20, 1), cluster_weights([0] * 9 + [1] * 4, 20, 1)
    assert np.array_equal(alone, beside[:, :9])


def test_weights_have_multinomial_moments():
    weights = cluster_weights(np.zeros(10, int), 20_000, 0)
    covariance = np.cov(weights.T)
    assert weights.mean(axis=0) == pytest.approx(np.ones(10), abs=0.03)
    assert np.diag(covariance) == pytest.approx(np.full(10, 0.9), abs=0.05)
    assert covariance[0, 1] == pytest.approx(-0.1, abs=0.03)


def test_chunks_bound_the_memory():
    sizes = [len(chunk) for chunk in weight_chunks(np.zeros(1_500_000, int), 3, 0)]
    assert sizes == [2, 1]


@quick
@given(st.integers(0, 10_000), st.integers(1, 60), st.floats(0, 0.9))
def test_percentile_drops_nan_as_nanquantile_does(seed, n, missing):
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(n, 4))
    samples[rng.random(samples.shape) < missing] = np.nan
    samples[0] = 0.5
    low, high, dropped = percentile(samples)
    assert low == pytest.approx(np.nanquantile(samples, 0.025, axis=0), abs=1e-12)
    assert high == pytest.approx(np.nanquantile(samples, 0.975, axis=0), abs=1e-12)
    assert np.array_equal(dropped, np.isnan(samples).sum(axis=0))


def test_percentile_of_nothing_is_nan():
    low, high, dropped = percentile(np.full((5, 2), np.nan))
    assert np.isnan(low).all()
    assert np.isnan(high).all()
    assert (dropped == 5).all()
    assert np.isnan(percentile(np.empty((0, 2)))[0]).all()


def test_linearised_variance_equals_the_delta_method_by_hand():
    hits, trials = np.array([[1.0, 2, 0, 3]]), np.array([[2.0, 2, 1, 5]])
    z = (hits - 0.6 * trials) / 10
    assert ratio_covariance((hits, trials), (hits, trials)) == pytest.approx((z**2).sum() * 4 / 3)


def test_linearised_variance_agrees_with_the_bootstrap():
    rng = np.random.default_rng(0)
    trials = rng.integers(1, 6, size=(1, 400)).astype(float)
    hits = rng.binomial(trials.astype(int), rng.beta(1, 2, size=(1, 400))).astype(float)
    weights = cluster_weights(np.zeros(400, int), 5000, 0)
    samples = (weights @ hits.T) / (weights @ trials.T)
    assert ratio_covariance((hits, trials), (hits, trials)) == pytest.approx(samples.var(), rel=0.06)


def test_rates_on_disjoint_clusters_are_uncorrelated():
    first = np.array([[1.0, 0, 1, 0, 0, 0]]), np.array([[1.0, 1, 1, 0, 0, 0]])
    second = np.array([[0.0, 0, 0, 1, 0, 1]]), np.array([[0.0, 0, 0, 1, 1, 1]])
    assert ratio_correlation(first, second) == pytest.approx(0, abs=1e-12)
    assert ratio_correlation(first, first) == pytest.approx(1)


def test_one_trial_per_cluster_is_worth_n():
    assert effective_n(np.array([[1.0, 0, 0, 1, 1]]), np.ones((1, 5))) == pytest.approx(5)


@pytest.mark.parametrize("hits", [[0, 0, 0, 0], [6, 6, 6, 6], [6, 0, 0, 6], [6, 0, 6, 0]])
def test_repeats_that_always_agree_count_once(hits):
    assert effective_n(np.array([hits], float), np.full((1, 4), 6.0)) == pytest.approx(4)


def test_one_cluster_is_worth_one_trial_whatever_its_repeats_say():
    assert effective_n(np.array([[25.0]]), np.array([[50.0]])) == pytest.approx(1)


def test_no_trials_are_worth_nothing():
    assert effective_n(np.zeros((1, 3)), np.zeros((1, 3))) == 0


def test_a_rate_of_few_errors_gets_the_interval_of_binomial_tails():
    result = rate_of([1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], np.ones(12))
    assert result.method[0] == "mid-p"
    assert (result.low[0], result.high[0]) == pytest.approx(tuple(map(float, mid_p(2, 12))))


def test_a_rate_of_many_errors_gets_the_percentile_interval():
    hits = np.repeat([1, 0], [40, 60])
    result = rate_of(hits, np.ones(100))
    assert result.method[0] == "percentile"
    assert (result.low[0], result.high[0]) == pytest.approx((0.4 - 0.096, 0.4 + 0.096), abs=0.015)


def test_fifty_repeats_of_one_item_are_not_fifty_items():
    result = rate_of([25], [50])
    assert result.method[0] == "mid-p"
    assert result.high[0] - result.low[0] > 0.7


def test_no_trials_give_no_rate():
    result = rate_of([0, 0], [0, 0])
    assert np.isnan([result.estimate[0], result.low[0], result.high[0]]).all()
    assert result.method[0] == ""
    assert result.n_dropped[0] == 0


def test_resamples_without_a_denominator_are_counted():
    result = rate_of([1, 0, 0], [1, 0, 0])
    assert result.n_dropped[0] == pytest.approx(2000 * (2 / 3) ** 3, rel=0.1)


def test_a_difference_of_small_rates_adds_the_squares_of_their_intervals():
    first, second = rate_of([1, 0, 0, 0], np.ones(4)), rate_of([1, 1, 1, 0, 0], np.ones(5))
    result = difference_interval(first, second, np.zeros((10, 1)))
    assert result.method[0] == "mover"
    assert result.estimate[0] == pytest.approx(0.25 - 0.6)
    assert (result.low[0], result.high[0]) == pytest.approx(tuple(map(float, proportions_difference(1, 4, 3, 5))))


def test_mean_of_one_part_keeps_its_method_and_a_missing_part_makes_nan():
    small, missing = rate_of([1, 0, 0, 0], np.ones(4)), rate_of([0], [0])
    alone = combined_interval([small, missing], [1.0, 0.0], np.zeros((10, 1)))
    assert alone.method[0] == "mid-p"
    assert (alone.low[0], alone.high[0]) == pytest.approx((small.low[0], small.high[0]))
    both = combined_interval([small, missing], [0.5, 0.5], np.zeros((10, 1)))
    assert np.isnan(both.estimate[0])
    assert both.method[0] == ""


@pytest.mark.parametrize(("n", "rate"), [(8, 0.2), (20, 0.05), (40, 0.5), (100, 0.2)])
def test_intervals_cover_where_every_item_is_judged_thrice(n, rate):
    rng = np.random.default_rng(n)
    solved = rng.binomial(3, rng.beta(2 * rate, 2 * (1 - rate), size=(300, n))).astype(float)
    weights = cluster_weights(np.zeros(n, int), 400, 0)
    result = rate_interval(solved, np.full((300, n), 3.0), (weights @ solved.T) / (3 * n))
    covered = ((result.low <= rate) & (rate <= result.high)).mean()
    assert covered >= 0.91  # 95 % less three binomial standard errors


def test_the_design_effect_of_few_clusters_is_as_cautious_as_the_level_asks():
    rng = np.random.default_rng(0)
    trials = np.full((1, 24), 4.0)
    hits = rng.binomial(4, rng.beta(1, 1, 24)).astype(float)[None]
    worth = {level: float(effective_n(hits, trials, level=level)[0]) for level in (0.5, 0.95, 0.999)}
    assert worth[0.999] < worth[0.95] < worth[0.5] < 96
    assert float(effective_n(hits, trials)[0]) == worth[0.95]


def test_correlation_of_resamples_is_over_those_that_have_both():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 200))
    y += x
    x[:50], y[150:] = np.nan, np.nan
    assert float(sample_correlation(x, y)) == pytest.approx(np.corrcoef(x[50:150], y[50:150])[0, 1])
    assert np.isnan(sample_correlation(x, np.ones(200)))
    assert np.isnan(sample_correlation(x[:60], y[:60]))
