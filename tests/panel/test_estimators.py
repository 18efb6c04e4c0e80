"""Estimators: known posteriors, what they take in and what not, and that no order matters."""

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
LEARNING = ["bayesian", "stratified", "disagreement", "dawid_skene"]


def independent_votes(n, fpr=FPR, fnr=FNR, prevalence=PREVALENCE, seed=0):
    """Verdicts whose errors are independent given the truth, and the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prevalence).astype(float)
    accept = np.where(truth[:, None] == 1, 1 - fnr, fpr)
    return (rng.random((n, len(fpr))) < accept).astype(float), truth


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
    found, expected = parts.rates(), whole.rates()
    for rate in ("fpr", "fnr", "n_wrong", "n_right"):
        np.testing.assert_array_equal(getattr(found, rate), getattr(expected, rate)[judges])
    np.testing.assert_array_equal(found.prevalence, expected.prevalence)
    np.testing.assert_array_equal(found.fell_back, expected.fell_back)


@given(
    arrays(float, (12, 4), elements=st.sampled_from([0.0, 1.0, NAN])),
    st.sampled_from(LEARNING),
    st.integers(0, 3),
)
def test_equal_judges_are_given_equal_rates(votes, name, judge):
    labels, estimator = np.arange(12) % 2, ESTIMATORS[name](5)
    estimator.update(np.column_stack([votes, votes[:, judge]]), labels)
    rates = estimator.rates()
    assert (rates.fpr[4], rates.fnr[4]) == (rates.fpr[judge], rates.fnr[judge])


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
        for rate in ("fpr", "fnr", "prevalence", "n_wrong", "n_right", "fell_back"):
            np.testing.assert_array_equal(getattr(together.rates(), rate)[stream], getattr(alone.rates(), rate))


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize(
    "votes",
    [np.zeros((0, 3)), np.full((4, 3), NAN), np.ones((4, 3)), np.zeros((4, 3)), np.ones((1, 1)), [[1, NAN, NAN]]],
    ids=["no responses", "no votes", "all correct", "all incorrect", "one judge", "one vote"],
)
def test_nothing_to_learn_from_leaves_rates_that_can_be_used(name, votes):
    votes = np.asarray(votes, float)
    estimator = ESTIMATORS[name](votes.shape[1])
    estimator.update(votes, np.full(len(votes), NAN))
    estimator.update(votes)
    rates = estimator.rates()
    np.testing.assert_array_equal(rates.fpr, np.full(votes.shape[1], 0.4))
    np.testing.assert_array_equal(rates.fnr, np.full(votes.shape[1], 0.2))
    assert rates.prevalence == 0.5
    assert rates.fell_back == (estimator.learns_from == "verdicts")
    decided = weighted(votes, rates.fpr, rates.fnr, "log_odds", rates.prevalence)
    np.testing.assert_array_equal(np.isfinite(decided), np.isfinite(votes).any(axis=1))


def test_a_label_counts_for_those_alone_that_voted():
    estimator = Bayesian(2)
    estimator.update([[1, NAN], [NAN, NAN]], [0, 0])
    np.testing.assert_array_equal(estimator.rates().n_wrong, [1, 0])
    # Prevalence is the responses', whoever voted on them.
    assert estimator.rates().prevalence == 1 / 4


def test_why_says_that_the_prior_speaks():
    estimator = Disagreement(3, batch=(2,))
    estimator.update([[[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [1, 1, 0]]])
    assert estimator.rates().why == (
        "in 1 of 2 streams fewer than 3 judges have given both verdicts; the rates are the prior's"
    )
    assert Bayesian(3).rates().why is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Stratified(1, n_tasks=2).update([[1]], [1]), "task is missing"),
        (lambda: Stratified(1, n_tasks=2).update([[1]], [1], [2]), "numbers go from 0 to 1"),
        (lambda: Bayesian(1).update([[1]], [0.3]), "found 0.3"),
        (lambda: Disagreement(1).update([[2]]), "found 2; a vote is 1"),
        (lambda: Bayesian(2).update([[1]]), r"votes: the shape is \(1, 1\); the estimator takes \(responses, 2\)"),
        (lambda: Disagreement(1, batch=(3,)).update([[1]]), r"the shape is \(1, 1\); .* takes \(3, responses, 1\)"),
        (lambda: Bayesian(1).update([[1], [0]], [1]), r"labels: the shape is \(1,\); votes .* have labels of \(2,\)"),
        (lambda: Stratified(1, 2).update([[1], [0]], None, [1, 0, 1]), r"task: the shape is \(3,\)"),
        (lambda: Prior(fpr=1.4), "fpr 1.4"),
        (lambda: Prior(strength=0), "strength 0 must be above 0"),
    ],
)
def test_bad_arguments_are_named(call, said):
    with pytest.raises(UserError, match=said):
        call()
