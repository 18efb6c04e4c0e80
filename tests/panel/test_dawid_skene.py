"""Dawid and Skene's model: against crowd-kit, against itself in other orders and forms, and on nasty votes."""

import numpy as np
import pandas as pd
import pytest
from crowd import crowd_kit, independent_panel, read_crowd, written_out
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from voirdire.errors import UserError
from voirdire.panel import DawidSkene, Prior, expectation, pattern_counts
from voirdire.panel.dawid_skene import fit, posterior_logit

NAN = np.nan
FPR, FNR = np.array([0.1, 0.2, 0.3, 0.4, 0.25]), np.array([0.05, 0.3, 0.1, 0.2, 0.15])
FIELDS = ("fpr", "fnr", "prevalence", "n_wrong", "n_right", "n_correct", "n_incorrect", "n_iter")
any_votes = arrays(float, (14, 5), elements=st.sampled_from([0.0, 1.0, NAN]))


def with_gaps(seed, n, n_judges, gaps):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.05, 0.45, (2, n_judges))
    return independent_panel(n, *rates, prevalence=rng.uniform(0.2, 0.8), gaps=gaps, seed=seed)[0]


@pytest.fixture(params=["rte", "bluebird", "random", "half missing", "many responses"])
def votes(request):
    made = {"random": (1, 300, 6, 0.1), "half missing": (2, 200, 12, 0.5), "many responses": (3, 5000, 8, 0.2)}
    if request.param in made:
        return with_gaps(*made[request.param])
    return read_crowd(request.getfixturevalue("shared_data") / "verdicts" / f"{request.param}.csv")


@pytest.mark.parametrize("n_iter", [1, 10, 40])
def test_posteriors_and_rates_are_crowd_kits(votes, n_iter):
    right, fpr, fnr = crowd_kit(votes, n_iter)
    before, after = (fit(votes, smoothing=0, tolerance=-1, max_iter=rounds) for rounds in (n_iter - 1, n_iter))
    ours = expit(posterior_logit(votes, before.fpr, before.fnr, before.prevalence))
    voted = np.isfinite(votes).any(axis=1)
    np.testing.assert_array_equal(np.isnan(right), ~voted)
    np.testing.assert_allclose(ours[voted], right[voted], atol=1e-6, rtol=0)
    np.testing.assert_allclose(after.fpr, fpr, atol=1e-6, rtol=0)
    np.testing.assert_allclose(after.fnr, fnr, atol=1e-6, rtol=0)
    assert (after.n_iter, after.converged) == (n_iter, False)


@pytest.mark.parametrize(("smoothing", "n_iter"), [(0, 1), (0, 25), (1, 1), (1, 25), (7.5, 25)])
def test_rates_are_those_of_the_formulas_written_out(smoothing, n_iter):
    votes = with_gaps(11, 60, 4, 0.2)
    counts = np.random.default_rng(0).integers(0, 5, 60) / 2
    found = fit(votes, counts, smoothing, tolerance=-1, max_iter=n_iter)
    fpr, fnr, prevalence = written_out(votes, counts, smoothing, n_iter)
    np.testing.assert_allclose(found.fpr, fpr, atol=1e-8)
    np.testing.assert_allclose(found.fnr, fnr, atol=1e-8)
    assert found.prevalence == pytest.approx(prevalence, abs=1e-8)


def test_real_crowds_are_decided_as_published(shared_data):

    for name, accuracy in (("bluebird", 0.898), ("rte", 0.927)):
        path = shared_data / "verdicts" / f"{name}.csv"
        votes, truth = read_crowd(path), pd.read_csv(path).groupby("item_id")["truth"].first().to_numpy()
        found = fit(votes, smoothing=0)
        right = posterior_logit(votes, found.fpr, found.fnr, found.prevalence) > 0
        assert (right == truth).mean() == pytest.approx(accuracy, abs=0.0015)


def same(one, other, judges=slice(None)):
    for name in FIELDS:
        by_judge = name not in ("prevalence", "n_iter")
        expected = getattr(other, name)[..., judges] if by_judge else getattr(other, name)
        np.testing.assert_array_equal(getattr(one, name), expected, err_msg=name)


@given(any_votes, st.permutations(range(5)), st.permutations(range(14)))
def test_order_of_judges_and_rows_changes_no_bit(votes, judges, rows):
    same(fit(votes[rows][:, judges]), fit(votes), judges)


@given(any_votes, st.permutations(range(5)), st.permutations(range(14)))
def test_order_changes_no_posterior_and_no_verdict(votes, judges, rows):
    found = fit(votes)
    logit = posterior_logit(votes, found.fpr, found.fnr, found.prevalence)
    shuffled = posterior_logit(votes[rows][:, judges], found.fpr[judges], found.fnr[judges], found.prevalence)
    np.testing.assert_array_equal(shuffled, logit[rows])


def test_evidence_that_cancels_but_for_rounding_is_a_tie():
    # Binary fractions of these rates are not exact, and neither are their logarithms.
    fpr = fnr = np.array([0.1, 0.3, 0.1, 0.3])
    assert posterior_logit([[1, 1, 0, 0]], fpr, fnr, 0.5) == 0
    # A prior of 0.9 is undone by a judge of which one vote in ten errs.
    assert posterior_logit([[0]], [0.1], [0.1], 0.9) == 0
    assert posterior_logit([[0]], [0.1], [0.1], 0.9 + 1e-8) > 0


@given(any_votes, st.integers(1, 4))
def test_a_row_that_occurs_often_is_so_many_rows(votes, times):
    same(fit(np.repeat(votes, times, axis=0)), fit(votes, np.full(14, times)))


def test_panels_side_by_side_are_independent_and_share_rows_or_not():
    votes, _ = independent_panel(60, FPR, FNR, batch=(2, 3), gaps=0.2)
    counts = np.random.default_rng(0).integers(0, 4, (2, 3, 60))
    together = fit(votes, counts)
    shared = fit(votes[0, 0], counts)
    for at in np.ndindex(2, 3):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(together, name)[at], getattr(fit(votes[at], counts[at]), name))
            np.testing.assert_array_equal(getattr(shared, name)[at], getattr(fit(votes[0, 0], counts[at]), name))


def test_sums_by_code_change_no_bit(monkeypatch):
    votes = with_gaps(4, 500, 17, 0.3)
    plain = fit(votes)
    monkeypatch.setattr(expectation, "_MANY_ROWS", 0)
    same(fit(votes), plain)


def test_more_smoothing_draws_rates_to_a_half():
    votes, _ = independent_panel(200, FPR, FNR, seed=3)
    distance = [np.abs(fit(votes, smoothing=smoothing).fpr - 0.5).sum() for smoothing in (0, 1, 10, 100)]
    assert distance == sorted(distance, reverse=True)


def test_rows_and_judges_without_votes_change_nothing():
    votes, _ = independent_panel(80, FPR, FNR, seed=5)
    joined = np.column_stack([np.vstack([votes, np.full((7, 5), NAN)]), np.full(87, NAN)])
    found, expected = fit(joined), fit(votes)
    np.testing.assert_array_equal(found.fpr, [*expected.fpr, NAN])
    np.testing.assert_array_equal(found.fnr, [*expected.fnr, NAN])
    assert found.prevalence == expected.prevalence
    logit = posterior_logit(joined, found.fpr, found.fnr, found.prevalence)
    np.testing.assert_array_equal(logit[:80], posterior_logit(votes, expected.fpr, expected.fnr, expected.prevalence))


@pytest.mark.parametrize(
    "votes",
    [np.zeros((0, 3)), np.full((4, 3), NAN), np.ones((4, 3)), np.zeros((4, 3)), np.ones((1, 1)), np.zeros((5, 0))],
    ids=["no responses", "no votes", "all correct", "all incorrect", "one vote", "no judges"],
)
@pytest.mark.parametrize("smoothing", [0, 1])
def test_nothing_to_learn_gives_no_number_that_is_none(votes, smoothing):
    found = fit(votes, smoothing=smoothing)
    voted = np.isfinite(votes).any(axis=0)
    for rate in (found.fpr, found.fnr):
        assert rate.shape == (votes.shape[1],)
        np.testing.assert_array_equal(np.isfinite(rate), voted)
        assert ((rate[voted] >= 0) & (rate[voted] <= 1)).all()
    assert 0 <= found.prevalence <= 1
    assert found.converged


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fit([[2, 1]]), "found 2; a vote is 1"),
        (lambda: fit([1, 0]), r"votes: the shape is \(2,\); they are responses × judges"),
        (
            lambda: fit([[1, 0]], [1, 2]),
            r"weights: the shape is \(2,\); votes of shape \(1, 2\) have one of \(..., 1\)",
        ),
        (
            lambda: fit(np.ones((3, 4, 2)), np.ones((2, 4))),
            r"weights: the shape is \(2, 4\); votes of shape \(3, 4, 2\)",
        ),
        (lambda: fit([[1, 0], [0, 0]], [1, -2]), "weights: found -2"),
        (lambda: fit([[1, 0], [0, 0]], [NAN, 2]), "weights: found nan"),
    ],
)
def test_bad_arguments_are_named(call, said):
    with pytest.raises(UserError, match=said):
        call()


def test_the_estimator_is_the_fit_to_all_batches():
    votes, _ = independent_panel(300, FPR, FNR, gaps=0.2, seed=6)
    panel = DawidSkene(5)
    for part in np.array_split(votes, 7):
        panel.update(part)
        panel.rates()
    found, expected = panel.rates(), fit(votes)
    for name in ("fpr", "fnr", "prevalence", "n_wrong", "n_right"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.why is None


@pytest.mark.parametrize("at_most", [0, 10**9])
def test_many_streams_are_fitted_alike_whether_they_share_patterns_or_not(at_most, monkeypatch):
    monkeypatch.setattr(pattern_counts, "_SHARED_AT_MOST", at_most)
    votes, _ = independent_panel(40, [0.2] * 9, [0.1] * 9, gaps=0.3, batch=(3, 2), seed=7)
    together = DawidSkene(9, batch=(3, 2))
    for part in (votes[..., :30, :], votes[..., 30:, :]):
        together.update(part)
    assert together._seen.table()[0].ndim == (4 if at_most == 0 else 2)
    for at in np.ndindex(3, 2):
        np.testing.assert_array_equal(together.rates().fpr[at], fit(votes[at]).fpr)
        np.testing.assert_array_equal(together.rates().prevalence[at], fit(votes[at]).prevalence)


def test_too_few_judges_leave_the_prior_and_a_reason():
    prior = Prior(0.35, 0.15, prevalence=0.7)
    # The third judge has always said the same.
    votes = np.array([[1, 0, 1, NAN], [0, 1, 1, NAN], [1, 1, 1, NAN]])
    few, streams = DawidSkene(4, prior=prior), DawidSkene(4, prior=prior, batch=(2,))
    few.update(votes)
    streams.update([votes, [[1, 0, 1, NAN], [0, 1, 0, NAN], [1, 1, 1, NAN]]])
    rates = few.rates()
    np.testing.assert_array_equal(rates.fpr, [0.35] * 4)
    np.testing.assert_array_equal(rates.fnr, [0.15] * 4)
    np.testing.assert_array_equal(rates.n_wrong + rates.n_right, np.zeros(4))
    assert rates.prevalence == 0.7
    assert rates.why == "fewer than 3 judges have given both verdicts; the rates are the prior's"
    both = streams.rates()
    np.testing.assert_array_equal(both.fell_back, [True, False])
    assert both.why.startswith("in 1 of 2 streams fewer than 3 judges")
    # A judge without votes has the prior's rates in the other stream too.
    assert (both.fpr[1, 3], both.n_wrong[1, 3]) == (0.35, 0)
    assert (both.fpr[1, :3] != 0.35).all()


def test_labels_are_ignored():
    votes, truth = independent_panel(50, FPR, FNR)
    with_labels, without = DawidSkene(5), DawidSkene(5)
    with_labels.update(votes, 1 - truth)
    without.update(votes)
    np.testing.assert_array_equal(with_labels.rates().fpr, without.rates().fpr)
