"""The rules that turn votes into verdicts, and how much more often one is right than another."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from voirdire.drift.beliefs import Beliefs, known_so_far
from voirdire.drift.outcomes import mean_where_known, metrics, outcomes, with_all_weeks
from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import Streams
from voirdire.panel.votes import FloatArray, Rule, Tally, weigh
from voirdire.stats.arrays import ratio

# Not a rule of weights: an estimator's own probability decides.
PROBABILITY = "probability"


@dataclass(frozen=True)
class Said:
    """The verdicts of one rule: of a panel, or of several judges.

    counts: (streams, weeks, voters, 6), see `outcomes`; right, decided: (streams, weeks, voters, responses), whether
    there is a verdict and it is true. share: (streams, 1 or weeks, voters), each judge's part in the rule, where the
    rule is to choose one; without, the rule is the mean of its judges.
    """

    counts: FloatArray
    right: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    share: FloatArray | None = None

    def performance(self, streams: Streams) -> FloatArray:
        """(groups, weeks + 1, METRICS), all weeks first."""
        counts = self.counts
        if self.share is not None:
            counts = (counts * self.share[..., None]).sum(axis=2, keepdims=True)
        return mean_where_known(metrics(streams.grouped(with_all_weeks(counts)).sum(axis=1)), axis=2)

    def gain(self, over: "Said", streams: Streams) -> FloatArray:
        """(groups, weeks + 1): accuracy less that of another rule, on the responses that both have decided.

        Judge by judge: a chosen judge is compared within its own stream and on what it voted on, since a judge never
        votes on its own responses, which are not as easy as the others.
        """
        if over is self:
            return np.zeros((streams.groups, self.right.shape[1] + 1))
        # Whole numbers, exact in float32.
        right, decided = self.right.astype(np.float32), self.decided.astype(np.float32)
        their_right, their_decided = (np.swapaxes(each, 2, 3).astype(np.float32) for each in (over.right, over.decided))
        lead, both = right @ their_decided - decided @ their_right, decided @ their_decided
        sums = np.stack([lead, both], axis=-1).astype(np.float64)  # streams, weeks, own voters, others, 2
        if self.share is not None:
            sums = (sums * self.share[:, :, :, None, None]).sum(axis=2, keepdims=True)
        if over.share is not None:
            sums = (sums * over.share[:, :, None, :, None]).sum(axis=3, keepdims=True)
        totals = streams.grouped(with_all_weeks(sums)).sum(axis=1)
        gains = ratio(totals[..., 0], totals[..., 1])
        return mean_where_known(gains.reshape(*gains.shape[:2], -1), axis=2)


def voted(tally: Tally, streams: Streams, scenario: Scenario) -> Said:
    """What a panel says."""
    verdict = tally.decide(streams.quorum, scenario.tie)
    counts = outcomes(verdict, streams.truth, tally.tied(streams.quorum).astype(np.float64))
    decided = np.isfinite(verdict) & np.isfinite(streams.truth)
    return Said(counts[:, :, None], (verdict == streams.truth)[:, :, None], decided[:, :, None])


def weighed(votes: FloatArray, belief: Beliefs, weights: str, floor: float) -> Tally:
    """The tally of weighted votes; with weights "probability", of the estimator's own word on each response."""
    if weights == PROBABILITY:
        assert belief.probability is not None
        return Tally(belief.probability - 0.5, np.isfinite(votes).sum(axis=-1))
    fpr, fnr = np.moveaxis(belief.rates, -1, 0)
    return weigh(votes, fpr, fnr, cast(Rule, weights), belief.prevalence, floor)


def single_judges(streams: Streams, scenario: Scenario) -> dict[str, Said]:
    """What the judges say alone: their mean, and the best of them, in hindsight and by the labels so far."""
    judges = range(streams.votes.shape[-1])
    counts = np.stack([outcomes(streams.votes[..., judge], streams.truth) for judge in judges], axis=2)
    right = np.swapaxes(streams.votes == streams.truth[..., None], 2, 3)
    decided = np.swapaxes(np.isfinite(streams.votes) & np.isfinite(streams.truth)[..., None], 2, 3)
    hindsight = _best(metrics(counts.sum(axis=1))[..., 0])[:, None]
    by_labels = _best(label_accuracy(streams, scenario))
    shares = {"mean_single": None, "best_single_hindsight": hindsight, "best_single_labels": by_labels}
    return {rule: Said(counts, right, decided, share) for rule, share in shares.items()}


def label_accuracy(streams: Streams, scenario: Scenario) -> FloatArray:
    """(streams, weeks, judges): the accuracy on the labels known when the week's votes are cast."""
    labels = streams.labels[..., None]
    right = (streams.votes == labels).sum(axis=2)
    there = (np.isfinite(streams.votes) & np.isfinite(labels)).sum(axis=2)
    right, there = (known_so_far(counts.astype(np.float64), scenario) for counts in (right, there))
    return ratio(right, there)


def _best(accuracy: FloatArray) -> FloatArray:
    """(…, judges): the share of the best judge's role that each has; all share it where nothing is known."""
    known = np.where(np.isnan(accuracy), -1.0, accuracy)
    best = known == known.max(axis=-1, keepdims=True)
    shares: FloatArray = best / best.sum(axis=-1, keepdims=True)
    return shares
