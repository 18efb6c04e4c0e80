"""The average over calibrations: beside a slow one by scipy, on planted truth, in a zoo of panels, on nasty input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from panel_zoo import ZOO, Kind, blind_spot, independent
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from voirdire.panel import Disagreement, majority, weighted
from voirdire.panel.calibration import calibrate_patterns, cross_fitted
from voirdire.panel.calibration_models import models
from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.patterns import Patterns

NAN = np.nan


def counted(votes, truth, labelled):
    """Patterns and their counts unlabelled, right and wrong; labelled: True where the truth is known."""
    patterns = Patterns.of(votes)
    sides = (~labelled, labelled & (truth == 1), labelled & (truth == 0))
    return patterns.votes, *(patterns.count(side) for side in sides)


def drawn(n, n_labels, seed=0):
    return np.random.default_rng(seed).permutation(n) < n_labels


def ece(probability, truth, bins=10):
    cell = np.minimum((probability * bins).astype(int), bins - 1)
    return sum(abs((probability - truth)[cell == b].sum()) for b in range(bins)) / len(truth)


def averaged_by_scipy(votes, unlabelled, right, wrong):
    """The recipe, one model at a time, in the judges' own coordinates."""
    total = unlabelled + right + wrong
    fitted = fit(votes, total)
    strength = np.clip(posterior_logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence), logit(1e-4), logit(1 - 1e-4))
    mean = np.average(strength, weights=total)
    d = strength / max(1.0, np.sqrt(np.average((strength - mean) ** 2, weights=total)))
    s = 6 * (np.nanmean(votes, axis=1) - 0.5)
    signed = 2 * votes - 1
    centre = [np.average(column[np.isfinite(column)], weights=total[np.isfinite(column)]) for column in signed.T]
    x = np.column_stack([np.ones(len(votes)), d, s, np.nan_to_num(signed - centre)])
    among, n_judges = models(NAN, votes.shape[1]), votes.shape[1]
    logs, each = [], []
    for odds, mean, sd, variance in zip(among.odds, among.mean, among.sd, among.deviation, strict=True):
        mean = np.concatenate([mean, np.zeros(n_judges)])
        sd = np.concatenate([sd, np.full(n_judges, np.sqrt(variance))])
        free = sd > 0

        def minus(beta, mean=mean, sd=sd, free=free):
            full = mean.copy()
            full[free] = beta
            likelihood = right @ log_expit(x @ full) + wrong @ log_expit(-(x @ full))
            return -likelihood + (((beta - mean[free]) / sd[free]) ** 2).sum() / 2

        found = minimize(minus, mean[free], method="BFGS", options={"gtol": 1e-8})
        beta = mean.copy()
        beta[free] = found.x
        share = expit(x @ beta)
        hessian = x[:, free].T @ (((right + wrong) * share * (1 - share))[:, None] * x[:, free])
        hessian += np.diag(sd[free] ** -2)
        logs.append(np.log(odds) - found.fun - np.log(sd[free]).sum() - np.linalg.slogdet(hessian)[1] / 2)
        each.append(share)
    weights = np.exp(np.array(logs) - max(logs))
    return weights @ np.array(each) / weights.sum()


@pytest.mark.parametrize("n_labels", [0, 2, 30, 200], ids=lambda n: f"{n} labels")
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_average_is_that_of_scipys_maxima(n_labels, missing):
    """With 2 labels there are more judges than labelled patterns, whose deviations are turned: no matter."""
    votes, truth = independent(Kind(5, 400, missing=missing), seed=3)
    votes, truth = votes[np.isfinite(votes).any(axis=1)], truth[np.isfinite(votes).any(axis=1)]
    counts = counted(votes, truth, drawn(len(truth), n_labels))
    probability = calibrate_patterns(*counts).probability(counts[0])
    np.testing.assert_allclose(probability, averaged_by_scipy(*counts), atol=1e-5)


def test_without_labels_it_is_the_mean_of_the_defaults_and_no_threshold_moves():
    votes, truth = independent(Kind(7, 1000), seed=1)
    patterns, *counts = counted(votes, truth, drawn(1000, 0))
    probability = calibrate_patterns(patterns, *counts).probability(votes)
    assert ((probability > 0.5) == truth).mean() > (majority(votes) == truth).mean() - 0.005
    # All judges' votes turned round, and so is the probability.
    turned = calibrate_patterns(1 - patterns, *counts).probability(1 - votes)
    np.testing.assert_allclose(turned, 1 - probability, atol=1e-3)


@pytest.mark.parametrize("kind", [Kind(5, 6000), Kind(9, 6000, 0.9, 0.6, 0.05), Kind(5, 6000, missing=0.3)])
def test_probabilities_are_calibrated_where_judges_are_independent(kind):
    found = {}
    for n_labels in (100, 2000):
        errors = []
        for seed in range(5):
            votes, truth = independent(kind, seed)
            labelled = drawn(len(truth), n_labels, seed)
            patterns, *counts = counted(votes, truth, labelled)
            probability = calibrate_patterns(patterns, *counts).probability(votes[~labelled])
            errors.append(ece(probability, truth[~labelled]))
        found[n_labels] = np.mean(errors)
    assert found[100] < 0.045
    assert found[2000] < 0.015


def test_labels_show_a_blind_spot_that_verdicts_cannot():
    """Half of the wrong responses are accepted by all as right ones are: of what all accept two thirds are right."""
    votes, truth = blind_spot(Kind(7, 4000, 0.5, 0.1, 0.1, spread=0.0), seed=0)
    unanimous = np.ones((1, 7))
    shown = (truth[(votes == 1).all(axis=1)]).mean()
    assert shown == pytest.approx(2 / 3, abs=0.04)
    none, some = (
        calibrate_patterns(*counted(votes, truth, drawn(4000, n_labels))).probability(unanimous)[0]
        for n_labels in (0, 200)
    )
    assert none > 0.9
    assert some == pytest.approx(shown, abs=0.08)


def regret(votes, truth, n_labels, draws=6):
    """Points lost, mean over draws, to the best of majority, Dawid-Skene and the vote weighted by disagreement."""
    patterns = Patterns.of(votes)
    n_right, total = patterns.count(truth), patterns.count()
    labelled = np.stack([drawn(len(truth), n_labels, seed) for seed in range(draws)])
    right, wrong = (np.stack([patterns.count(row & (truth == side)) for row in labelled]) for side in (1, 0))
    found = calibrate_patterns(patterns.votes, total - right - wrong, right, wrong).probability(patterns.votes)
    fitted, peers = fit(patterns.votes, total), Disagreement(votes.shape[1])
    peers.update(votes)
    rates = peers.rates()
    rules = {
        "majority": majority(patterns.votes),
        "dawid_skene": posterior_logit(patterns.votes, fitted.fpr, fitted.fnr, fitted.prevalence) > 0,
        "disagreement": weighted(patterns.votes, rates.fpr, rates.fnr),
        "hybrid": found > 0.5,
    }
    left = n_right - right, total - n_right - wrong
    scores = {name: (left[0] * (said == 1) + left[1] * (said == 0)).sum(axis=1) for name, said in rules.items()}
    accuracy = {name: float(np.mean(hits / sum(left).sum(axis=1))) for name, hits in scores.items()}
    return 100 * (accuracy.pop("hybrid") - max(accuracy.values()))


def test_in_a_zoo_of_panels_a_few_labels_cost_little_and_gain_much():
    gains = {name: np.mean([regret(*make(seed), 30) for seed in (10, 11)]) for name, make in ZOO.items()}
    found = np.array(list(gains.values()))
    assert found.mean() > 0.8, gains
    assert np.minimum(found, 0).mean() > -0.35, gains
    assert found.min() > -2.5, gains


def test_each_stream_is_calibrated_as_if_alone():
    votes, truth = independent(Kind(4, 300, missing=0.2), seed=2)
    labelled = [drawn(300, n, seed) for seed, n in enumerate((0, 5, 60, 300))]
    patterns = Patterns.of(votes)
    sides = [[~row, row & (truth == 1), row & (truth == 0)] for row in labelled]
    counts = [np.array([patterns.count(side[k]) for side in sides]).reshape(2, 2, -1) for k in range(3)]
    counts[0][0, 0] += np.arange(len(patterns.votes))
    together = calibrate_patterns(patterns.votes, *counts)
    own = calibrate_patterns(np.broadcast_to(patterns.votes, (2, 2, *patterns.votes.shape)), *counts)
    for index in np.ndindex(2, 2):
        alone = calibrate_patterns(patterns.votes, *(each[index] for each in counts)).probability(votes)
        np.testing.assert_allclose(together.probability(votes)[index], alone, atol=1e-9)
        np.testing.assert_allclose(own.probability(np.broadcast_to(votes, (2, 2, 300, 4)))[index], alone, atol=1e-9)


@settings(max_examples=30)
@given(
    votes=arrays(float, (12, 4), elements=st.sampled_from([0.0, 1.0, NAN])),
    labels=arrays(float, 12, elements=st.sampled_from([0.0, 1.0, NAN])),
    data=st.data(),
)
def test_neither_order_nor_grouping_of_responses_or_judges_counts(votes, labels, data):
    def probability(votes, labels):
        sides = np.isnan(labels), labels == 1, labels == 0
        return calibrate_patterns(votes, *(side.astype(float) for side in sides)).probability(votes)

    found = probability(votes, labels)
    assert ((found > 0) & (found < 1)).all()
    rows, judges = data.draw(st.permutations(range(12))), data.draw(st.permutations(range(4)))
    np.testing.assert_allclose(probability(votes[rows][:, judges], labels[rows]), found[rows], atol=1e-8)
    patterns = counted(votes, labels, np.isfinite(labels))
    np.testing.assert_allclose(calibrate_patterns(*patterns).probability(votes), found, atol=1e-8)


@pytest.mark.parametrize(
    ("votes", "right", "wrong"),
    [
        (np.ones((1, 3)), [0], [0]),
        (np.ones((1, 3)), [5], [40]),
        (np.full((2, 3), NAN), [1, 1], [0, 0]),
        (np.array([[1.0], [0.0]]), [3, 0], [0, 4]),
        (np.array([[1.0], [0.0]]), [0, 0], [0, 0]),
        (np.eye(4), [0, 0, 0, 9], [0, 0, 0, 0]),
        (np.array([[1.0, 1, 1], [0, 0, 0]]), [1e5, 0], [0, 1e5]),
        (np.array([[1.0, 1, 1], [0, 0, 0]]), [0, 1e5], [1e5, 0]),
        (np.random.default_rng(0).integers(0, 2, (80, 400)).astype(float), [1, 0] * 40, [0, 1] * 40),
        (np.zeros((0, 3)), [], []),
    ],
    ids=[
        *("one pattern", "one pattern, labelled", "no votes", "one judge", "one judge without labels", "one class"),
        *("many labels", "many labels that say the opposite", "400 judges", "no responses"),
    ],
)
def test_nasty_panels_have_probabilities(votes, right, wrong):
    n = len(votes)
    probability = calibrate_patterns(votes, np.full(n, 10.0), right, wrong).probability(votes)
    assert probability.shape == (n,)
    assert ((probability > 0) & (probability < 1)).all()
    decided = np.array(right) + np.array(wrong) >= 1e5
    np.testing.assert_array_equal(probability[decided] > 0.5, np.array(right)[decided] > 0)


def test_a_label_of_more_weight_moves_more():
    votes = np.array([[1.0, 1, 0], [0, 1, 0], [1, 1, 1]])
    found = [
        calibrate_patterns(votes, [5, 5, 5], [0, 2, 0], [weight, 0, 0]).probability(votes)[0] for weight in (1, 1.5, 2)
    ]
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("n_labels", [25, 700], ids=["one by one", "by parts"])
def test_no_label_has_a_say_in_its_own_probability(n_labels):
    votes, truth = independent(Kind(6, 900, missing=0.3, fpr=0.45, fnr=0.4), seed=4)
    labels = np.where(drawn(900, n_labels, 1), truth, NAN)
    found = cross_fitted(votes, labels)
    patterns, *counts = counted(votes, truth, np.isfinite(labels))
    unlabelled = np.isnan(labels)
    np.testing.assert_allclose(
        found[unlabelled], calibrate_patterns(patterns, *counts).probability(votes)[unlabelled], atol=1e-9
    )
    one = int(np.flatnonzero(~unlabelled)[3])
    if n_labels == 25:
        left = labels.copy()
        left[one] = NAN
        alone = calibrate_patterns(*counted(votes, truth, np.isfinite(left))).probability(votes[[one]])
        np.testing.assert_allclose(found[one], alone[0], atol=1e-9)
    else:
        assert ece(found[~unlabelled], truth[~unlabelled]) < 0.06
