"""Agreement of halves, and what it stands on: an order of judges, sparse sums, and simulated panels."""

import numpy as np
import pytest
from crowd import independent_panel
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shared_errors import phi
from statsmodels.stats.inter_rater import cohens_kappa

from voirdire.panel import split_half
from voirdire.panel.canonical import judge_order
from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.independence import codes_of
from voirdire.panel.latent_factor import Panel
from voirdire.panel.sparse_votes import CORRECT, fit_codes
from voirdire.panel.split_half import kappa, kappas, labels, random_halves

NAN = np.nan
RATES = np.random.default_rng(0).uniform(0.05, 0.45, (2, 9))


def stacked(gaps, n_panels=4, n=200):
    return np.stack([independent_panel(n, *RATES, gaps=gaps, seed=seed)[0] for seed in range(n_panels)])


def test_kappa_is_cohens():
    rng = np.random.default_rng(1)
    first, second, weights = rng.integers(0, 2, (3, 60)), rng.integers(0, 2, (3, 60)), rng.integers(1, 4, (3, 60))
    for found, one, other, n in zip(
        kappa(first.astype(float), second.astype(float), weights.astype(float)), first, second, weights, strict=True
    ):
        table = np.zeros((2, 2))
        np.add.at(table, (one, other), n)
        assert found == pytest.approx(cohens_kappa(table).kappa)


def test_kappa_leaves_out_rows_without_a_label_and_is_nan_where_all_are_alike():
    assert kappa(np.array([[1.0, 0, 1, NAN]]), np.array([[1.0, 0, NAN, 0]]), np.ones((1, 4))) == [1]
    assert np.isnan(kappa(np.ones((1, 4)), np.ones((1, 4)), np.ones((1, 4))))
    assert np.isnan(kappa(np.full((1, 4), NAN), np.ones((1, 4)), np.ones((1, 4))))


@pytest.mark.parametrize("gaps", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("looked_up", [0, 4, 10**9])
def test_labels_are_dawid_skenes_by_whatever_sums(gaps, looked_up, monkeypatch):
    monkeypatch.setattr(split_half, "_LOOKED_UP", looked_up)
    monkeypatch.setattr(split_half, "_TABLE", 3**13 if gaps else 1)
    votes = stacked(gaps)
    found = labels(codes_of(votes), np.ones(votes.shape[:2]))
    for each, panel in zip(found, votes, strict=True):
        fitted = fit(panel, tolerance=1e-2, max_iter=100)
        logit = posterior_logit(panel, fitted.fpr, fitted.fnr, fitted.prevalence)
        voted = np.isfinite(panel).any(axis=1)
        np.testing.assert_array_equal(each, np.where(voted, logit > 0, NAN))


def test_sparse_sums_change_no_bit():
    votes = stacked(0.7, n_panels=6)
    weights = np.random.default_rng(2).integers(0, 3, votes.shape[:2]).astype(float)
    found = fit_codes(codes_of(votes), weights, tolerance=1e-6, max_iter=1000)
    for index, panel in enumerate(votes):
        fitted = fit(panel[None], weights[None, index])
        for name in ("fpr", "fnr", "prevalence", "n_wrong", "n_right"):
            np.testing.assert_array_equal(getattr(found.rates, name)[index], getattr(fitted, name)[0], err_msg=name)
        logit = posterior_logit(panel, fitted.fpr[0], fitted.fnr[0], fitted.prevalence[0])
        np.testing.assert_array_equal(found.logit[index], logit)


def test_halves_are_all_judges_once_and_kappa_is_their_mean():
    votes = stacked(0.1, n_panels=2)
    halves = random_halves(9, 3, np.random.default_rng(0))
    assert [sorted(half) for half in halves] == [list(range(9))] * 3
    codes, ones = codes_of(votes), np.ones(votes.shape[:2])
    each = [kappa(labels(codes[:, :, half[:5]], ones), labels(codes[:, :, half[5:]], ones), ones) for half in halves]
    np.testing.assert_allclose(kappas(codes, halves), np.mean(each, axis=0))


@given(
    arrays(float, (12, 5), elements=st.sampled_from([0.0, 1.0, NAN])),
    st.permutations(range(5)),
    st.permutations(range(12)),
)
def test_judges_are_ordered_by_their_votes_alone(votes, judges, rows):
    def sorted_table(table):
        ordered = np.nan_to_num(table[:, judge_order(table)], nan=2.0)
        return ordered[np.lexsort(ordered.T)]

    np.testing.assert_array_equal(sorted_table(votes[rows][:, judges]), sorted_table(votes))


def test_a_row_that_occurs_twice_orders_like_two_rows():
    votes = stacked(0.1, n_panels=1, n=40)[0]
    np.testing.assert_array_equal(judge_order(votes, np.full(40, 2)), judge_order(np.repeat(votes, 2, axis=0)))


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_simulated_panels_keep_rates_and_gaps_and_have_the_correlation(correlation):
    fpr, fnr = np.array([0.3, 0.45, 0.2]), np.array([0.1, 0.2, 0.3])
    voted = np.ones((50_000, 3), bool)
    voted[:10_000, 0] = False
    (codes,) = Panel(fpr, fnr, 0.0, voted).simulate(correlation, 1, np.random.default_rng(0))
    np.testing.assert_array_equal(codes > 0, voted)
    accepted = np.where(voted, codes == CORRECT, NAN)
    assert np.nanmean(accepted, axis=0) == pytest.approx(fpr, abs=0.01)
    found = np.corrcoef(accepted[10_000:].T)
    assert [found[0, 1], found[1, 2]] == pytest.approx(
        [phi(0.3, 0.45, correlation), phi(0.45, 0.2, correlation)], abs=0.02
    )
    (right,) = Panel(fpr, fnr, 1.0, voted).simulate(correlation, 1, np.random.default_rng(1))
    assert np.nanmean(np.where(voted, right == CORRECT, NAN), axis=0) == pytest.approx(1 - fnr, abs=0.01)


def test_simulated_prevalence_is_as_asked():
    panel = Panel(np.zeros(1), np.zeros(1), 0.3, np.ones((20_000, 1), bool))
    assert (panel.simulate(0.0, 2, np.random.default_rng(0)) == CORRECT).mean() == pytest.approx(0.3, abs=0.01)
