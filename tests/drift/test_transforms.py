"""What happens to judges in streams, and that what the oracle knows goes with it."""

import numpy as np
import pytest

from voirdire.drift import Scenario
from voirdire.drift.beliefs import believe
from voirdire.drift.drawing import observed_streams
from voirdire.drift.population import population
from voirdire.drift.transforms import inverted, redrawn, replaced, without_judge


@pytest.fixture(scope="module")
def streams(verdicts):
    return observed_streams(population(verdicts, Scenario(), "blind"), seeds=40, seed=0)


def by_judge(streams, judge, weeks=slice(None)):
    """FPR and FNR within each task, from the votes of some weeks."""
    found = []
    for number in (0, 1):
        mine = streams.task[:, weeks] == number
        said, truth = streams.votes[:, weeks][mine][:, judge], streams.truth[:, weeks][mine]
        found.append([np.nanmean(said[truth == 0]), np.nanmean(1 - said[truth == 1])])
    return np.array(found)


def test_a_judge_that_drops_out_is_not_waited_for(streams):
    changed = without_judge(streams, 2, week=6)
    assert np.isnan(changed.votes[:, 6:, :, 2]).all()
    np.testing.assert_array_equal(changed.votes[:, :6], streams.votes[:, :6])
    np.testing.assert_array_equal(np.delete(changed.votes, 2, axis=3), np.delete(streams.votes, 2, axis=3))
    n_votes = np.isfinite(changed.votes).sum(axis=3)
    np.testing.assert_array_equal(changed.quorum, n_votes)
    assert set(np.unique(n_votes[:, 6:])) == {4, 5}
    assert np.isfinite(streams.votes[:, 6:, :, 2]).any()


def test_a_replaced_judge_votes_as_the_other_on_the_same_responses(streams):
    changed = replaced(streams, 5, by=0, week=6)
    assert changed.votes.shape[3] == 5
    # Judge 0 has left; the last column was judge 5.
    np.testing.assert_array_equal(changed.votes[:, :6, :, 4], streams.votes[:, :6, :, 5])
    np.testing.assert_array_equal(changed.votes[:, 6:, :, 4], streams.votes[:, 6:, :, 0])
    np.testing.assert_array_equal(changed.votes[..., :4], streams.votes[..., 1:5])
    np.testing.assert_array_equal(changed.fpr[:, 6:, :, 4], streams.fpr[:, 6:, :, 0])
    np.testing.assert_array_equal(changed.fpr[:, :6, :, 4], streams.fpr[:, :6, :, 5])
    assert (changed.quorum == np.minimum(5, changed.can_vote.sum(axis=3))).all()


def test_the_oracle_knows_of_the_change_in_the_week_it_happens(streams):
    rates = believe("oracle", replaced(streams, 5, by=0, week=6), Scenario()).rates
    plain = believe("oracle", streams, Scenario()).rates
    np.testing.assert_array_equal(rates[:, :6, 4], plain[:, :6, 5])
    np.testing.assert_array_equal(rates[:, 6:, 4], plain[:, 6:, 0])


def test_an_inverted_judge_errs_where_it_was_right(streams):
    changed = inverted(streams, [1, 3])
    np.testing.assert_allclose(by_judge(changed, 3), 1 - by_judge(streams, 3))
    np.testing.assert_allclose(changed.fpr[..., 1], 1 - streams.fpr[..., 1])
    np.testing.assert_array_equal(changed.votes[..., [0, 2, 4, 5]], streams.votes[..., [0, 2, 4, 5]])


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_redrawn_votes_keep_every_judges_rates_whatever_the_correlation(streams, correlation):
    changed = redrawn(streams, correlation, [0])
    np.testing.assert_array_equal(np.isnan(changed.votes), np.isnan(streams.votes))
    for judge in range(6):
        # 40 streams of 480 responses; about 2,500 and more of each kind, and shared causes make them fewer.
        np.testing.assert_allclose(by_judge(changed, judge)[:, 0], streams.fpr[0, 0, :, judge], atol=0.06)
        np.testing.assert_allclose(by_judge(changed, judge)[:, 1], streams.fnr[0, 0, :, judge], atol=0.06)


def test_errors_of_redrawn_votes_agree_as_a_gaussian_copula_says(streams):
    from scipy.stats import multivariate_normal, norm

    for correlation in (0.0, 0.6):
        changed = redrawn(streams, correlation, [1])
        aime_wrong = (changed.task == 0) & (changed.truth == 0)
        first, second = changed.votes[aime_wrong][:, 0], changed.votes[aime_wrong][:, 1]
        both = np.nanmean(np.where(np.isnan(first + second), np.nan, first * second))
        rates = streams.fpr[0, 0, 0, :2]
        covariance = [[1, correlation], [correlation, 1]]
        assert both == pytest.approx(multivariate_normal([0, 0], covariance).cdf(norm.ppf(rates)), abs=0.03)


def test_the_same_seed_gives_the_same_latent_causes_at_every_correlation(streams):
    none, some, same = (redrawn(streams, correlation, [2]).votes for correlation in (0.0, 0.01, 0.0))
    np.testing.assert_array_equal(none, same)
    # Nearly the same errors: differences between levels are the correlation's, not the draw's.
    other = redrawn(streams, 0.0, [3]).votes
    assert np.nanmean(np.abs(none - some)) < np.nanmean(np.abs(none - other)) / 3
