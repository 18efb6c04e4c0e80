"""The estimator that learns from both: streams and batches agree, it finds planted rates, and says when it can't."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from panel_zoo import Kind, blind_spot, independent

from voirdire.errors import UserError
from voirdire.panel import ESTIMATORS, Forgetting, Hybrid, Prior

NAN = np.nan
RATES = ("fpr", "fnr", "prevalence", "n_wrong", "n_right")
any_votes = arrays(float, (3, 8, 4), elements=st.sampled_from([0.0, 1.0, NAN]))
any_labels = arrays(float, (3, 8), elements=st.sampled_from([0.0, 1.0, NAN]))


def same(one, other, at=(), tolerance=1e-6):
    for name in RATES:
        np.testing.assert_allclose(getattr(one.rates(), name)[at], getattr(other.rates(), name), atol=tolerance)


@settings(max_examples=25)
@given(votes=any_votes, labels=any_labels)
def test_a_stream_ends_where_the_batch_does(votes, labels):
    stream, batch = Hybrid(4), Hybrid(4)
    for week, known in zip(votes, labels, strict=True):
        stream.update(week)
        stream.rates()
        stream.label(week, known)
    batch.update(votes.reshape(-1, 4)[::-1], labels.reshape(-1)[::-1])
    same(stream, batch)
    np.testing.assert_allclose(stream.probability(votes[0]), batch.probability(votes[0]), atol=1e-6)


@settings(max_examples=25)
@given(votes=any_votes, labels=any_labels)
def test_streams_do_not_know_of_each_other(votes, labels):
    together = Hybrid(4, batch=(3,))
    together.update(votes, labels)
    for index in range(3):
        alone = Hybrid(4)
        alone.update(votes[index], labels[index])
        same(together, alone, index)
        found = together.probability(votes)[index]
        np.testing.assert_allclose(found, alone.probability(votes[index]), atol=1e-6)


@pytest.mark.parametrize("n_judges", [3, 5])
def test_independent_judges_lead_to_the_truth(n_judges):
    errors = []
    for n in (200, 2_000, 20_000):
        votes, truth = independent(Kind(n_judges, n, 0.65, 0.25, 0.2), seed=6)
        estimator = ESTIMATORS["hybrid"](n_judges)
        # One label in ten: what verdicts say of the rest must not lead away.
        estimator.update(votes, np.where(np.arange(n) % 10 == 0, truth, NAN))
        rates = estimator.rates()
        found = np.array([*rates.fpr, *rates.fnr, rates.prevalence])
        wrong, right = votes[truth == 0], votes[truth == 1]
        errors.append(np.abs(found - [*wrong.mean(axis=0), *(1 - right.mean(axis=0)), truth.mean()]).mean())
    assert errors[2] < 0.02
    assert errors[2] < errors[0] / 3


def test_with_all_labelled_the_rates_are_what_was_counted():
    votes, truth = independent(Kind(4, 500, missing=0.3), seed=8)
    estimator = Hybrid(4)
    estimator.update(votes, truth)
    accepted = (votes[truth == 0] == 1).sum(axis=0)
    n_wrong = np.isfinite(votes[truth == 0]).sum(axis=0)
    np.testing.assert_allclose(estimator.rates().fpr, (accepted + 1) / (n_wrong + 2))
    np.testing.assert_allclose(estimator.rates().n_wrong, n_wrong)


def test_labels_correct_rates_that_a_blind_spot_hides():
    votes, truth = blind_spot(Kind(7, 3000, 0.5, 0.1, 0.1, spread=0.2), seed=0)
    fpr = votes[truth == 0].mean(axis=0)
    peers = ESTIMATORS["dawid_skene"](7)
    peers.update(votes)
    estimator = Hybrid(7)
    estimator.update(votes)
    before = np.abs(estimator.rates().fpr - fpr).mean()
    estimator.label(votes[:150], truth[:150])
    after = np.abs(estimator.rates().fpr - fpr).mean()
    assert np.abs(peers.rates().fpr - fpr).mean() > 0.3
    assert before > 0.2
    assert after < 0.08


def test_without_labels_two_judges_tell_nothing_and_the_prior_speaks():
    estimator = Hybrid(3, prior=Prior(fpr=0.3, fnr=0.1))
    estimator.update([[1, 0, NAN], [0, 1, NAN], [1, 1, 1]])
    rates = estimator.rates()
    assert rates.fell_back
    assert "fewer than 3 judges" in rates.why
    np.testing.assert_allclose(rates.fpr, 0.3)
    np.testing.assert_array_equal(rates.n_wrong, 0)
    # With labels there is something to say.
    estimator.label([[1, 0, NAN]], [1])
    assert estimator.rates().why is None


def test_a_judge_without_votes_has_the_priors_rates():
    estimator = Hybrid(4)
    estimator.update([[1, 0, 1, NAN], [0, 1, 1, NAN], [1, 1, 0, NAN]], [1, 0, NAN])
    rates = estimator.rates()
    assert (rates.fpr[3], rates.fnr[3], rates.n_wrong[3]) == (0.4, 0.2, 0)


def test_before_anything_the_prior_speaks():
    for batch in ((), (2,)):
        rates = Hybrid(3, batch=batch).rates()
        assert rates.fpr.shape == (*batch, 3)
        np.testing.assert_allclose(rates.fpr, 0.4)
        np.testing.assert_allclose(rates.prevalence, 0.5)


@pytest.mark.parametrize("forgetting", [Forgetting(window=1), Forgetting(half_life=0.01)])
def test_what_is_forgotten_has_no_say(forgetting):
    votes, truth = independent(Kind(5, 120), seed=9)
    estimator, last = Hybrid(5, forgetting=forgetting), Hybrid(5)
    estimator.update(1 - votes[:60], truth[:60])
    estimator.update(votes[60:])
    estimator.label(votes[60:80], truth[60:80])
    estimator.label(1 - votes[:5], truth[:5], age=1)
    last.update(votes[60:], np.where(np.arange(60) < 20, truth[60:], NAN))
    same(estimator, last)


def test_a_label_of_weight_two_calibrates_like_two_labels():
    votes = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
    weighted, twice, once = Hybrid(3), Hybrid(3), Hybrid(3)
    for estimator in (weighted, twice, once):
        estimator.update(np.concatenate([votes, votes]))
    weighted.label(votes[:1], [0], weight=2.0)
    twice.label(votes[[0, 0]], [0, 0])
    once.label(votes[:1], [0])
    np.testing.assert_allclose(weighted.probability(votes), twice.probability(votes), atol=1e-9)
    assert weighted.probability(votes)[0] < once.probability(votes)[0] - 0.01


def test_rates_count_a_response_once_whatever_its_label_weighs():
    """Split votes are labelled nine times as often as unanimous ones, and weigh a ninth: no rate may be led astray."""
    found, planted = [], np.array([0.1, 0.2, 0.3, 0.4, 0.3, 0.2, 0.1, 0.15, 0.3, 0.25, 0.6])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = (rng.random(4000) < 0.6).astype(float)
        votes = (rng.random((4000, 5)) < np.where(truth[:, None] == 1, 1 - planted[5:10], planted[:5])).astype(float)
        chance = np.where(votes.std(axis=1) > 0, 0.9, 0.1)
        known = rng.random(4000) < chance
        weight = 1 / chance[known]
        estimator = Hybrid(5)
        estimator.update(votes)
        estimator.label(votes[known], truth[known], weight=weight * weight.sum() / (weight**2).sum())
        rates = estimator.rates()
        assert (rates.n_wrong + rates.n_right).tolist() == pytest.approx([4000] * 5)
        found.append([*rates.fpr, *rates.fnr, rates.prevalence])
    assert np.abs(np.mean(found, axis=0) - planted).max() < 0.02


def test_halves_that_find_different_truths_speak_for_the_share():
    """Two families that share errors: the check moves the probability from Dawid-Skene's towards the share's."""
    rng = np.random.default_rng(0)
    truth = rng.random(1500) < 0.5
    looks = [np.where(rng.random(1500) < 0.35, 1 - truth, truth) for _ in range(2)]
    votes = np.stack([np.where(rng.random(1500) < 0.05, 1 - looks[j % 2], looks[j % 2]) for j in range(8)], axis=1)
    plain, checked = Hybrid(8), Hybrid(8, check_halves=True)
    for estimator in (plain, checked):
        estimator.update(votes)
    assert checked.calibration().weights[0] < plain.calibration().weights[0] / 2
    assert checked.calibration().weights[1] > plain.calibration().weights[1] * 1.3


def test_votes_of_another_shape_are_refused():
    with pytest.raises(UserError, match="shape"):
        Hybrid(3).update([[1, 0]])
    with pytest.raises(UserError, match="labels"):
        Hybrid(2).label([[1, 0]], [1, 0])
