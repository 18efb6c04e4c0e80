"""What can happen to the judges of simulated streams: each takes streams and gives changed ones.

Weeks are counted from 0 here. What is true of a judge, and so what the oracle knows, changes with its votes.
"""

from dataclasses import replace

import numpy as np

from voirdire.drift.streams import Streams
from voirdire.panel.votes import FloatArray


def without_judge(streams: Streams, judge: int, week: int = 0) -> Streams:
    """A judge votes no more from a week on, and is not waited for."""
    votes, can_vote = streams.votes.copy(), streams.can_vote.copy()
    votes[:, week:, :, judge], can_vote[:, week:, :, judge] = np.nan, False
    return replace(streams, votes=votes, can_vote=can_vote, quorum=np.minimum(streams.quorum, can_vote.sum(axis=-1)))


def replaced(streams: Streams, judge: int, by: int, week: int) -> Streams:
    """From a week on a judge votes as another one does, on the same responses; that one is no judge of its own."""
    fpr, fnr = streams.fpr.copy(), streams.fnr.copy()
    votes, can_vote = streams.votes.copy(), streams.can_vote.copy()
    for array in (votes, can_vote):
        array[:, week:, :, judge] = array[:, week:, :, by]
    for array in (fpr, fnr):
        array[:, week:, :, judge] = array[:, week:, :, by]
    return _without_column(replace(streams, votes=votes, can_vote=can_vote, fpr=fpr, fnr=fnr), by)


def inverted(streams: Streams, judges: list[int]) -> Streams:
    """Judges that say the opposite of what they think."""
    votes, fpr, fnr = streams.votes.copy(), streams.fpr.copy(), streams.fnr.copy()
    for array in (votes, fpr, fnr):
        array[..., judges] = 1 - array[..., judges]
    return replace(streams, votes=votes, fpr=fpr, fnr=fnr)


def redrawn(streams: Streams, correlation: float, seed: list[int]) -> Streams:
    """Votes drawn anew: each judge errs at its own rate in the task, and with the other judges.

    Gaussian copula: judge j errs on a response where √correlation · f + √(1 - correlation) · e_j is below the quantile
    of its rate given the truth, f shared by the response's judges, all standard normal. `correlation` is that of the
    latent normals; that of the errors themselves is lower, the more so the rarer they are. Missing votes stay missing.
    The same seed gives the same normals whatever the correlation.
    """
    from scipy.special import ndtri

    rng = np.random.default_rng(seed)
    shared = rng.standard_normal(streams.truth.shape)[..., None]
    own = rng.standard_normal(streams.votes.shape)
    latent = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    right = streams.truth[..., None] == 1
    rate = np.where(right, _by_response(streams, streams.fnr), _by_response(streams, streams.fpr))
    votes = np.where(latent < ndtri(rate), ~right, right).astype(np.float64)
    return replace(streams, votes=np.where(np.isnan(streams.votes) | np.isnan(rate), np.nan, votes))


def _by_response(streams: Streams, rates: FloatArray) -> FloatArray:
    """(streams, weeks, tasks, judges) as (streams, weeks, responses, judges)."""
    return np.take_along_axis(rates, streams.task[..., None], axis=2)


def _without_column(streams: Streams, judge: int) -> Streams:
    names = ("votes", "can_vote", "fpr", "fnr")
    fewer = replace(streams, **{name: np.delete(getattr(streams, name), judge, axis=-1) for name in names})
    return replace(fewer, quorum=np.minimum(streams.quorum, fewer.can_vote.sum(axis=-1)))
