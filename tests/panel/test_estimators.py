"""Estimators: known posteriors, planted rates found again, the disagreement estimator's own limit."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voirdire.errors import UserError
from voirdire.panel import ESTIMATORS, Bayesian, Disagreement, Oracle, Prior, Stratified, mix_rates, weighted

NAN = np.nan
FPR = np.array([0.45, 0.30, 0.20, 0.10, 0.05])
FNR = np.array([0.02, 0.10, 0.05, 0.25, 0.15])
PREVALENCE = 0.7
LEARNING = ["bayesian", "stratified", "disagreement"]


def independent_votes(n, fpr=FPR, fnr=FNR, prevalence=PREVALENCE, seed=0):
    """Verdicts whose errors are independent given the truth, and the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prevalence).astype(float)
    accept = np.where(truth[:, None] == 1, 1 - fnr, fpr)
    return (rng.random((n, len(fpr))) < accept).astype(float), truth


def disagreement_limit(fpr, fnr, prevalence):
    """What the disagreement estimator converges to: every pattern of votes, weighed by its probability."""
    votes = np.array(list(product([0.0, 1.0], repeat=len(fpr))))
    if_right = prevalence * np.where(votes == 1, 1 - fnr, fnr).prod(axis=1)
    if_wrong = (1 - prevalence) * np.where(votes == 1, fpr, 1 - fpr).prod(axis=1)
    p, half = if_right + if_wrong, (len(fpr) - 1) / 2
    limit_fpr, limit_fnr = np.zeros(len(fpr)), np.zeros(len(fpr))
    for judge in range(len(fpr)):
        accepting = np.delete(votes, judge, axis=1).sum(axis=1)
        wrong, right = accepting < half, accepting > half
        limit_fpr[judge] = p[wrong & (votes[:, judge] == 1)].sum() / p[wrong].sum()
        limit_fnr[judge] = p[right & (votes[:, judge] == 0)].sum() / p[right].sum()
    return limit_fpr, limit_fnr


def test_bayesian_is_the_beta_posterior_mean():
    judge = Bayesian(n_judges=2, prior=Prior(fpr=0.4, fnr=0.2, strength=10))
    judge.update([[1, 0], [1, 1], [0, NAN], [0, 1]], labels=[0, 0, 1, NAN])
    rates = judge.rates()
    # Two wrong responses, accepted by both and by one; a right one, rejected by the first, not seen by the second.
    np.testing.assert_allclose(rates.fpr, [(4 + 2) / 12, (4 + 1) / 12])
    np.testing.assert_allclose(rates.fnr, [(2 + 1) / 11, 2 / 10])
    np.testing.assert_allclose(rates.prevalence, (1 + 1) / (2 + 3))
    np.testing.assert_array_equal(rates.n_wrong, [2, 2])
    np.testing.assert_array_equal(rates.n_right, [1, 0])


def test_before_any_label_the_prior_speaks():
    for estimator in (Bayesian(3), Stratified(3, n_tasks=2), Disagreement(3)):
        rates = estimator.rates()
        np.testing.assert_allclose(rates.fpr, 0.4)
        np.testing.assert_allclose(rates.fnr, 0.2)
        np.testing.assert_allclose(rates.prevalence, 0.5)
        np.testing.assert_array_equal(rates.n_wrong, 0)


@pytest.mark.parametrize("name", ["bayesian", "stratified"])
def test_labels_lead_to_the_planted_rates(name):
    votes, truth = independent_votes(100_000)
    estimator = ESTIMATORS[name](len(FPR))
    estimator.update(votes, truth, np.zeros(len(truth), int))
    rates = estimator.rates()
    np.testing.assert_allclose(rates.fpr, FPR, atol=0.01)
    np.testing.assert_allclose(rates.fnr, FNR, atol=0.01)
    np.testing.assert_allclose(rates.prevalence, PREVALENCE, atol=0.01)


@pytest.mark.parametrize("n_judges", [3, 4, 5])
def test_disagreement_leads_to_its_analytic_limit_and_not_to_the_truth(n_judges):
    fpr, fnr = np.array([0.6, 0.5, 0.4, 0.3, 0.25])[:n_judges], np.array([0.1, 0.2, 0.15, 0.3, 0.25])[:n_judges]
    votes, _ = independent_votes(100_000, fpr, fnr)
    estimator = Disagreement(n_judges)
    estimator.update(votes)
    limit_fpr, limit_fnr = disagreement_limit(fpr, fnr, PREVALENCE)
    np.testing.assert_allclose(estimator.rates().fpr, limit_fpr, atol=0.01)
    np.testing.assert_allclose(estimator.rates().fnr, limit_fnr, atol=0.01)
    assert np.abs(limit_fpr - fpr).max() > 0.05


def test_a_tied_reference_contributes_nothing():
    estimator = Disagreement(3)
    # The others are tied for the first judge on responses 1 and 5, for the second on 5, for the third on 1; one other
    # vote, as on response 2, is a majority.
    estimator.update([[1, 0, 1], [NAN, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(estimator.counts.n_right, [1, 2, 3])
    np.testing.assert_array_equal(estimator.counts.n_wrong, [1, 2, 1])
    np.testing.assert_allclose(estimator.tied, [2 / 4, 1 / 5, 1 / 5])


@pytest.mark.parametrize(
    "votes", [[[1, 0], [0, 1], [1, 1]], [[1, 0, 1], [0, 1, 1], [0, 0, 1]]], ids=["two judges", "two with both verdicts"]
)
def test_disagreement_needs_three_judges_with_both_verdicts(votes):
    estimator = Disagreement(len(votes[0]))
    estimator.update(votes)
    rates = estimator.rates()
    np.testing.assert_allclose(rates.fpr, 0.4)
    np.testing.assert_array_equal(rates.n_right, 0)
    np.testing.assert_allclose(rates.prevalence, 0.5)


def test_disagreement_ignores_labels():
    votes, truth = independent_votes(50)
    with_labels, without = Disagreement(5), Disagreement(5)
    with_labels.update(votes, 1 - truth)
    without.update(votes)
    np.testing.assert_array_equal(with_labels.rates().fpr, without.rates().fpr)


def test_oracle_mixes_fpr_by_wrong_and_fnr_by_right_responses():
    # Easy: 90 % right; hard: 20 % right; half of the responses each.
    oracle = Oracle(fpr=[[0.8], [0.2]], fnr=[[0.1], [0.3]], prevalence=[0.9, 0.2])
    oracle.update(np.zeros((4, 1)), task=[0, 1, 0, 1])
    rates = oracle.rates()
    np.testing.assert_allclose(rates.fpr, (0.8 * 0.1 + 0.2 * 0.8) / 0.9)
    np.testing.assert_allclose(rates.fnr, (0.1 * 0.9 + 0.3 * 0.2) / 1.1)
    np.testing.assert_allclose(rates.prevalence, 0.55)


def test_a_rate_without_responses_in_the_mix_is_the_mean_of_other_tasks():
    # No wrong response in the first task, in which the first judge has no FPR, nor the second in the third.
    oracle = Oracle(
        fpr=[[NAN, NAN], [0.2, 0.4], [0.6, NAN]], fnr=[[0.1, 0.3], [0.5, 0.5], [0.5, 0.5]], prevalence=[1, 0.5, 0.5]
    )
    oracle.update(np.zeros((3, 2)), task=[0, 0, 0])
    rates = oracle.rates()
    np.testing.assert_allclose(rates.fpr, [0.4, 0.4])
    np.testing.assert_allclose(rates.fnr, [0.1, 0.3])
    np.testing.assert_array_equal(rates.n_wrong, 0)
    np.testing.assert_array_equal(rates.n_right, np.inf)


def test_where_all_is_right_the_oracle_votes_all_the_same():
    oracle = Oracle(fpr=[[NAN] * 3], fnr=[[0.1, 0.2, 0.3]], prevalence=[1.0])
    rates = oracle.rates()
    np.testing.assert_allclose(rates.fpr, 0.4)
    for rule in ("linear", "log_odds"):
        decided = weighted([[1, 1, 0], [0, 0, 1]], rates.fpr, rates.fnr, rule)
        np.testing.assert_array_equal(decided, [1, 0])


def test_a_judge_with_one_missing_rate_keeps_its_vote():
    # The second judge has seen right responses only.
    oracle = Oracle(fpr=[[0.2, NAN]], fnr=[[0.1, 0.3]], prevalence=[0.5], prior=Prior(fpr=0.35))
    rates = oracle.rates()
    np.testing.assert_allclose(rates.fpr, [0.2, 0.35])
    np.testing.assert_array_equal(rates.n_wrong, [np.inf, 0])
    np.testing.assert_array_equal(weighted([[NAN, 1]], rates.fpr, rates.fnr), [1])


def test_rates_mixed_over_tasks_are_the_pooled_rates():
    votes, truth = independent_votes(400)
    task = np.arange(400) % 3
    votes[task == 1] = 1
    fpr, fnr = (
        np.array([(votes[(task == t) & (truth == value)] == said).mean(axis=0) for t in range(3)])
        for value, said in ((0, 1), (1, 0))
    )
    prevalence = np.array([truth[task == t].mean() for t in range(3)])
    mixed = mix_rates(fpr, fnr, prevalence, np.bincount(task) / 400)
    np.testing.assert_allclose(mixed[0], (votes[truth == 0] == 1).mean(axis=0))
    np.testing.assert_allclose(mixed[1], (votes[truth == 1] == 0).mean(axis=0))
    np.testing.assert_allclose(mixed[2], truth.mean())


def test_a_task_without_wrong_responses_has_no_part_in_the_fpr():
    fpr, fnr, _ = mix_rates(
        np.array([[NAN], [0.5]]), np.array([[0.1], [0.2]]), np.array([1.0, 0.5]), np.array([0.5, 0.5])
    )
    np.testing.assert_allclose(fpr, 0.5)
    np.testing.assert_allclose(fnr, (0.1 * 0.5 + 0.2 * 0.25) / 0.75)


def test_stratified_follows_the_current_mix_and_finds_rates_that_bayesian_cannot():
    easy, easy_truth = independent_votes(20_000, prevalence=0.9, seed=1)
    hard, hard_truth = independent_votes(20_000, fpr=FPR[::-1], prevalence=0.3, seed=2)
    votes, truth = np.concatenate([easy, hard]), np.concatenate([easy_truth, hard_truth])
    task = np.repeat([0, 1], 20_000)
    stratified, bayesian = Stratified(5, n_tasks=2), Bayesian(5)
    for estimator in (stratified, bayesian):
        estimator.update(votes, truth, task)
        estimator.update(hard[:100], None, np.ones(100, int))
    np.testing.assert_allclose(stratified.rates().fpr, FPR[::-1], atol=0.02)
    assert np.abs(bayesian.rates().fpr - FPR[::-1]).max() > 0.03


@given(
    arrays(float, (12, 4), elements=st.sampled_from([0.0, 1.0, NAN])),
    arrays(float, 12, elements=st.sampled_from([0.0, 1.0, NAN])),
    st.permutations(range(4)),
    st.permutations(range(12)),
    st.sampled_from(LEARNING),
)
def test_order_and_batches_do_not_matter(votes, labels, judges, rows, name):
    task = np.arange(12) % 2
    whole, parts = ESTIMATORS[name](4, n_tasks=2), ESTIMATORS[name](4, n_tasks=2)
    whole.update(votes, labels, task)
    for part in (rows[:6], rows[6:]):
        parts.update(votes[part][:, judges], labels[part], task[part])
    parts.update(np.full((2, 4), NAN), None, [0, 1])  # the same task mix for both
    np.testing.assert_allclose(parts.rates().fpr, whole.rates().fpr[judges], rtol=1e-12)
    np.testing.assert_allclose(parts.rates().fnr, whole.rates().fnr[judges], rtol=1e-12)
    np.testing.assert_allclose(parts.rates().prevalence, whole.rates().prevalence, rtol=1e-12)


@pytest.mark.parametrize("name", LEARNING)
def test_streams_side_by_side_are_independent(name):
    votes, truth = independent_votes(120)
    votes, truth = votes.reshape(3, 40, 5), truth.reshape(3, 40)
    task = np.arange(120).reshape(3, 40) % 2
    together = ESTIMATORS[name](5, n_tasks=2, batch=(3,))
    together.update(votes, truth, task)
    for stream in range(3):
        alone = ESTIMATORS[name](5, n_tasks=2)
        alone.update(votes[stream], truth[stream], task[stream])
        np.testing.assert_allclose(together.rates().fpr[stream], alone.rates().fpr)
        np.testing.assert_allclose(together.rates().prevalence[stream], alone.rates().prevalence)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Stratified(1, n_tasks=2).update([[1]], [1]), "task is missing"),
        (lambda: Stratified(1, n_tasks=2).update([[1]], [1], [2]), "numbers go from 0 to 1"),
        (lambda: Bayesian(1).update([[1]], [0.3]), "found 0.3"),
        (lambda: Prior(fpr=1.4), "fpr 1.4"),
        (lambda: Prior(strength=0), "strength 0 must be above 0"),
    ],
)
def test_bad_arguments_are_named(call, said):
    with pytest.raises(UserError, match=said):
        call()
