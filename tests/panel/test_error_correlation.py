"""Correlation of judges' errors: against loops, planted values, and where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shared_errors import factor_panel, phi

from voirdire.panel.error_correlation import (
    FEWEST_COMMON,
    Shared,
    effective_votes,
    error_correlation,
    mean_shared,
)
from voirdire.stats.bootstrap import cluster_weights

NAN = np.nan
FPR, FNR = [0.3, 0.2, 0.45, 0.35, 0.25], [0.1, 0.2, 0.15, 0.3, 0.05]


def by_loops(votes):
    found = []
    for i in range(votes.shape[1]):
        for j in range(i):
            common = np.isfinite(votes[:, i]) & np.isfinite(votes[:, j])
            one, other = votes[common, i], votes[common, j]
            if common.sum() >= FEWEST_COMMON and one.std() > 0 and other.std() > 0:
                found.append(np.corrcoef(one, other)[0, 1])
    return np.mean(found), len(found)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.72])
def test_it_is_the_mean_of_numpys_correlations(gaps):
    votes, truth = factor_panel(400, FPR, FNR, 0.4, gaps=gaps, seed=1)
    votes[:, 4] = np.where(np.isnan(votes[:, 4]), NAN, 1.0)
    for chosen in (truth == 0, truth == 1):
        shared = error_correlation(votes, chosen, resamples=5)
        assert (shared.rho, shared.n_pairs) == (pytest.approx(by_loops(votes[chosen])[0]), by_loops(votes[chosen])[1])
        assert shared.n == np.isfinite(votes[chosen]).any(axis=1).sum()


def test_every_resample_is_the_correlation_of_the_items_drawn():
    votes, truth = factor_panel(150, FPR, FNR, 0.4, gaps=0.1, seed=2)
    item = np.arange(150) // 3
    chosen = truth == 0
    shared = error_correlation(votes, chosen, item, resamples=20, seed=7)
    items = np.unique(item[chosen])
    weights = cluster_weights(np.zeros(len(items), int), 20, 7).astype(int)
    for drawn, sample in zip(weights, shared.samples, strict=True):
        rows = np.concatenate([np.flatnonzero(chosen & (item == i)) for i in np.repeat(items, drawn)])
        assert sample == pytest.approx(by_loops(votes[rows])[0])


def test_a_planted_factor_is_recovered_among_wrong_and_among_right():
    votes, truth = factor_panel(60_000, FPR, FNR, 0.5, seed=3)
    for rates, chosen in ((FPR, truth == 0), (FNR, truth == 1)):
        planted = np.mean([phi(rates[i], rates[j], 0.5) for i in range(5) for j in range(i)])
        assert error_correlation(votes, chosen, resamples=1).rho == pytest.approx(planted, abs=0.012)


def test_independent_judges_are_uncorrelated_given_the_truth_and_correlated_over_all():
    votes, truth = factor_panel(40_000, [0.2] * 5, [0.15] * 5, 0.0, prevalence=0.5, seed=4)
    given_truth = [error_correlation(votes, truth == right, resamples=1).rho for right in (0, 1)]
    assert given_truth == pytest.approx([0, 0], abs=0.01)
    # Covariance between the classes, by the variance of a vote.
    share = (0.2 + 0.85) / 2
    pooled = 0.25 * (1 - 0.2 - 0.15) ** 2 / (share * (1 - share))
    assert error_correlation(votes, truth >= 0, resamples=1).rho == pytest.approx(pooled, abs=0.01)
    assert pooled > 0.4


def test_intervals_cover_a_planted_correlation():
    planted = np.mean([phi(FPR[i], FPR[j], 0.4) for i in range(5) for j in range(i)])
    covered = 0
    for seed in range(120):
        votes, truth = factor_panel(150, FPR, FNR, 0.4, prevalence=0.0, seed=seed)
        shared = error_correlation(votes, truth == 0, resamples=200, seed=seed)
        covered += shared.low <= planted <= shared.high
    # 95 % of 120, less three standard errors and the little that a percentile interval lacks at 150 items.
    assert covered >= 104


def test_repeats_of_items_narrow_no_interval():
    votes, truth = factor_panel(120, FPR, FNR, 0.4, seed=5)
    once = error_correlation(votes, truth == 0, np.arange(120), seed=1)
    again = error_correlation(
        np.repeat(votes, 3, axis=0), np.repeat(truth == 0, 3), np.repeat(np.arange(120), 3), seed=1
    )
    assert (again.rho, again.low, again.high) == pytest.approx((once.rho, once.low, once.high))
    apart = error_correlation(np.repeat(votes, 3, axis=0), np.repeat(truth == 0, 3), seed=1)
    assert apart.high - apart.low < 0.75 * (once.high - once.low)


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        (np.zeros((0, 3)), "no such responses"),
        (np.full((20, 3), NAN), "no such responses"),
        ([[1], [0]] * 20, "fewer than two judges"),
        ([[1, 0], [0, 1]] * 4, "8 responses, fewer than 10"),
        ([[1, 1], [1, 0]] * 20, "no two judges have 10 responses in common"),
        ([[1, NAN], [0, NAN], [NAN, 1], [NAN, 0]] * 20, "no two judges have 10 responses in common"),
    ],
)
def test_without_a_pair_there_is_a_reason_in_place_of_a_value(votes, reason):
    shared = error_correlation(votes, np.ones(len(votes)), resamples=10)
    assert shared.reason.startswith(reason)
    assert np.isnan([shared.rho, shared.low, shared.high, *shared.effective]).all()


def test_few_items_have_a_value_and_no_interval():
    votes, _ = factor_panel(90, FPR, FNR, 0.4, prevalence=0.0)
    shared = error_correlation(votes, np.ones(90), np.arange(90) // 10, resamples=10)
    assert shared.rho == pytest.approx(by_loops(votes)[0])
    assert np.isnan([shared.low, shared.high]).all()
    assert shared.reason == "no interval: 9 items, fewer than 10"


def test_many_items_and_pairs_are_resampled_in_blocks(monkeypatch):
    from voirdire.panel import error_correlation as module

    votes, truth = factor_panel(2000, FPR, FNR, 0.4, seed=6)
    exact = error_correlation(votes, truth == 1, resamples=300)
    monkeypatch.setattr(module, "_MANY", 3000)
    coarse = error_correlation(votes, truth == 1, resamples=300)
    assert coarse.rho == exact.rho
    assert coarse.high - coarse.low == pytest.approx(exact.high - exact.low, rel=0.25)
    assert not np.array_equal(coarse.samples, exact.samples)


def test_effective_votes_are_between_one_and_all():
    # Analytic: the variance of a mean of J votes of correlation ρ is (1 + (J - 1) ρ) / J of one vote's.
    assert effective_votes([9, 9, 9, 1], [0, 1, 0.25, 0.7]) == pytest.approx([9, 1, 3, 1])
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(200_000, 1)), rng.normal(size=(200_000, 6))
    values = np.sqrt(0.3) * shared + np.sqrt(0.7) * own
    assert effective_votes(6, 0.3) == pytest.approx(1 / values.mean(axis=1).var(), rel=0.02)
    assert np.isnan(effective_votes(5, [-0.25, -0.5, NAN])).all()


def test_effective_votes_of_few_judges_per_response_count_those():
    votes, _ = factor_panel(3000, [0.3] * 20, [0.2] * 20, 0.3, prevalence=0.0, gaps=0.8)
    shared = error_correlation(votes, np.ones(3000), resamples=100)
    value, low, high = shared.effective
    assert shared.votes == pytest.approx(4, abs=0.2)
    assert low < value < high < 4
    assert value == pytest.approx(shared.votes / (1 + (shared.votes - 1) * shared.rho))


def test_the_mean_over_tasks_leaves_out_those_without_a_value():
    parts = [
        error_correlation(factor_panel(200, FPR, FNR, r, seed=9)[0], np.ones(200), resamples=50) for r in (0.2, 0.6)
    ]
    alone = mean_shared([parts[0], Shared(n=4, reason="few")])
    assert (alone.rho, alone.low, alone.high, alone.n, alone.reason) == (
        parts[0].rho,
        parts[0].low,
        parts[0].high,
        204,
        "few",
    )
    both = mean_shared(parts)
    assert both.rho == pytest.approx(np.mean([part.rho for part in parts]))
    assert both.low < both.rho < both.high
    assert np.isnan(mean_shared([Shared(reason="few")]).rho)


@given(
    arrays(float, (30, 4), elements=st.sampled_from([0.0, 1.0, NAN])),
    st.permutations(range(4)),
    st.permutations(range(30)),
)
def test_no_order_of_judges_or_rows_counts(votes, judges, rows):
    item = np.arange(30) // 2
    first = error_correlation(votes, np.ones(30), item, resamples=20)
    other = error_correlation(votes[rows][:, judges], np.ones(30), item[rows], resamples=20)
    assert other.reason == first.reason
    assert (other.rho, other.low, other.high) == pytest.approx((first.rho, first.low, first.high), nan_ok=True)
