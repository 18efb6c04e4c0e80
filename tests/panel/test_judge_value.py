"""What a judge adds: against leaving it out by hand, and where it is known."""

import numpy as np
import pytest
from crowd import independent_panel
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from voirdire.panel.dawid_skene import posterior_logit
from voirdire.panel.judge_value import gains, gains_by_model, mean_gain
from voirdire.panel.votes import weighted
from voirdire.stats.bootstrap import cluster_weights

NAN = np.nan
FPR, FNR = [0.1, 0.25, 0.3, 0.5], [0.15, 0.1, 0.35, 0.5]


def by_hand(votes, truth, item):
    """The panel of log-odds votes, without and with each judge, item by item, with rates from all other items."""
    right, change = np.zeros(len(votes)), np.zeros(votes.shape)
    for each in np.unique(item):
        here, others = item == each, item != each
        fpr = [(np.nansum(votes[others & (truth == 0), j]) + 1) for j in range(votes.shape[1])]
        fnr = [(np.nansum(1 - votes[others & (truth == 1), j]) + 1) for j in range(votes.shape[1])]
        n = [np.isfinite(votes[others & (truth == side)]).sum(axis=0) + 2 for side in (0, 1)]
        share = (truth[others].sum() + 1) / (others.sum() + 2)

        def verdicts(judges, fpr=fpr / n[0], fnr=fnr / n[1], share=share, here=here):
            decided = weighted(votes[here][:, judges], fpr[judges], fnr[judges], "log_odds", share)
            # Without any vote the prior decides.
            return np.where(np.isnan(decided), float(share > 0.5), decided)

        everybody = list(range(votes.shape[1]))
        right[here] = verdicts(everybody) == truth[here]
        for judge in everybody:
            without = verdicts([other for other in everybody if other != judge])
            change[here, judge] = right[here] - (without == truth[here])
    return right, change


@pytest.mark.parametrize("gaps", [0.0, 0.5])
def test_gains_are_those_of_leaving_each_judge_out_by_hand(gaps):
    votes, truth = independent_panel(120, FPR, FNR, gaps=gaps, seed=1)
    item = np.random.default_rng(1).integers(0, 40, 120)
    for found, expected in zip(gains(votes, truth, item), by_hand(votes, truth, item), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_no_response_votes_with_its_own_truth():
    # One judge that guesses: rates that knew the response's own truth would make it look useful.
    rng = np.random.default_rng(2)
    votes, truth = rng.integers(0, 2, (30, 1)).astype(float), rng.integers(0, 2, 30).astype(float)
    right, _ = gains(votes, truth, np.arange(30))
    changed = truth.copy()
    for row in range(30):
        changed[row] = 1 - truth[row]
        other, _ = gains(votes, changed, np.arange(30))
        # The same verdict, and so the other outcome.
        assert other[row] == 1 - right[row]
        changed[row] = truth[row]


def test_a_good_judge_adds_and_one_that_guesses_does_not():
    votes, truth = independent_panel(4000, FPR, FNR, seed=3)
    item = np.arange(4000)
    _, change = gains(votes, truth, item)
    mean = change.mean(axis=0)
    assert mean[0] > 0.05
    assert abs(mean[3]) < 0.004
    assert mean[0] > min(mean[1], mean[2]) > 0.02


def test_a_judge_that_says_the_opposite_adds_as_much():
    votes, truth = independent_panel(2000, FPR, FNR, seed=4)
    turned = votes.copy()
    turned[:, 0] = 1 - turned[:, 0]
    np.testing.assert_array_equal(gains(turned, truth, np.arange(2000))[1], gains(votes, truth, np.arange(2000))[1])


def test_a_judge_that_has_not_voted_changes_nothing():
    votes, truth = independent_panel(200, FPR, FNR, gaps=0.4, seed=5)
    _, change = gains(votes, truth, np.arange(200))
    assert (change[np.isnan(votes)] == 0).all()


def test_the_model_expects_of_a_judge_what_its_posteriors_say():
    fpr, fnr = np.array(FPR[:3]), np.array(FNR[:3])
    votes, _ = independent_panel(50, fpr, fnr, gaps=0.2, seed=6)
    logit = posterior_logit(votes, fpr, fnr, 0.6)
    found = gains_by_model(votes, logit, fpr, fnr)
    right = expit(logit)
    for judge in range(3):
        without = votes.copy()
        without[:, judge] = NAN
        less = posterior_logit(without, fpr, fnr, 0.6) > 0
        expected = np.where(logit > 0, right, 1 - right) - np.where(less, right, 1 - right)
        np.testing.assert_allclose(found[:, judge], expected, atol=1e-9)
    assert (found >= 0).all()


def interval(change, right, item, resamples=1000):
    n_items = item.max() + 1
    sums = np.zeros((4, n_items))
    for row, values in enumerate((change > 0, change < 0, right, np.ones(len(change)))):
        sums[row] = np.bincount(item, values, minlength=n_items)
    weights = cluster_weights(np.zeros(n_items, int), resamples, 0)
    samples = (weights @ (sums[0] - sums[1]) / (weights @ sums[3]))[:, None]
    found = mean_gain(sums[:2, None], sums[2], sums[3], samples)
    return found.estimate[0], found.low[0], found.high[0], found.method[0]


def test_where_nothing_changed_the_interval_has_a_width():
    estimate, low, high, method = interval(np.zeros(100), np.ones(100), np.arange(100))
    assert (estimate, method) == (0, "paired")
    assert -0.06 < low < 0 < high < 0.06


def test_repeats_of_items_narrow_no_interval():
    rng = np.random.default_rng(7)
    change, right = rng.choice([-1, 0, 0, 0, 1], 60), np.ones(60)
    once = interval(change, right, np.arange(60))
    again = interval(np.repeat(change, 4), np.repeat(right, 4), np.repeat(np.arange(60), 4))
    assert again[0] == once[0]
    assert again[2] - again[1] > 0.9 * (once[2] - once[1])


@pytest.mark.parametrize("rate", [0.02, 0.2])
def test_intervals_cover_the_true_gain(rate):
    covered = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        change = rng.choice([1, -1, 0], 300, p=[rate, rate / 2, 1 - 1.5 * rate])
        right = np.where(change == 0, rng.random(300) < 0.8, change > 0)
        _, low, high, method = interval(change, right, np.arange(300), 300)
        covered += low <= rate / 2 <= high
        assert method == ("paired" if rate < 0.1 else "percentile")
    assert covered >= 134


@given(
    arrays(float, (16, 4), elements=st.sampled_from([0.0, 1.0, NAN])),
    arrays(float, 16, elements=st.sampled_from([0.0, 1.0])),
    st.permutations(range(4)),
    st.permutations(range(16)),
)
def test_no_order_of_judges_or_rows_counts(votes, truth, judges, rows):
    item = np.arange(16) // 2
    right, change = gains(votes, truth, item)
    other_right, other_change = gains(votes[rows][:, judges], truth[rows], item[rows])
    np.testing.assert_array_equal(other_right, right[rows])
    np.testing.assert_array_equal(other_change, change[rows][:, judges])
