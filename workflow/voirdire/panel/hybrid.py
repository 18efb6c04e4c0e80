"""The estimator that learns from all verdicts and from the labels that there are."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.batches import Batch
from voirdire.panel.calibration import Calibration, calibrate_patterns
from voirdire.panel.estimators import Estimator, registered
from voirdire.panel.forgetting import Forgetting
from voirdire.panel.halves import agreement
from voirdire.panel.pattern_counts import PatternCounts
from voirdire.panel.rates import Prior, Rates, too_few_judges
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio

# Each response is of one of the first three kinds; what its label counts for is kept apart, at its kind and _WORTH.
_UNLABELLED, _RIGHT, _WRONG = 0, 1, 2
_WORTH = 2
# Added on either side of an expected count, as in Dawid-Skene.
_SMOOTHING = 1.0


@registered("hybrid")
class Hybrid(Estimator):
    """Verdicts of all responses and the labels of some: calibrated probabilities, and the rates that they make.

    Its state is how often each pattern of votes has been seen unlabelled, labelled right and labelled wrong, and what
    these labels count for; rates and probabilities depend on these counts alone, not on the batches or the order in
    which they came in. See `voirdire.panel.calibration` for the model.

    check_halves: whether to ask, before the labels speak, if halves of the panel find the same truth (see
    `voirdire.panel.halves`). Worth its tenths of a second with 7 judges or more and few labels; of one stream only.

    >>> panel = Hybrid(n_judges=3)
    >>> votes = [[1, 1, 1]] * 30 + [[1, 1, 0]] * 10 + [[0, 0, 0]] * 20
    >>> panel.update(votes)
    >>> panel.label([[1, 1, 0], [0, 0, 0]], labels=[0, 0])
    >>> panel.probability([[1, 1, 1], [0, 0, 0]]).round(2)
    array([0.9, 0.1])
    """

    learns_from: ClassVar[Literal["both"]] = "both"

    def __init__(
        self,
        n_judges: int,
        n_tasks: int = 1,
        prior: Prior | None = None,
        batch: tuple[int, ...] = (),
        forgetting: Forgetting | None = None,
        check_halves: bool = False,
    ):
        self.n_judges, self.batch = n_judges, batch
        self.prior = prior or Prior()
        self.check_halves = check_halves and batch == ()
        self._seen = PatternCounts(n_judges, batch, n_kinds=3 + _WORTH, forgetting=forgetting)
        self._fitted: Calibration | None = None

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        """Take in a batch of responses not seen before, labelled or not; `task` is ignored."""
        given = Batch.of(votes, labels, task, self.n_judges, self.batch)
        self._seen.add(given.votes, _kind(given.labels, _UNLABELLED))
        self._seen.amend(given.votes, _worth(given.labels))
        self._fitted = None

    def label(
        self,
        votes: ArrayLike,
        labels: ArrayLike,
        task: ArrayLike | None = None,
        weight: ArrayLike = 1.0,
        age: int = 0,
    ) -> None:
        """Take in labels of responses whose votes have been seen without.

        votes: (..., responses, judges), as they were seen; labels: (..., responses), NaN for those still without;
        weight: of each label, which should add up to what the labels are worth (for labels that weren't drawn at random
        the inverse of their probability, normed); it tells the calibration only, as a labelled response is but one
        response; age: how many batches ago the responses came in.
        """
        given = Batch.of(votes, labels, task, self.n_judges, self.batch)
        self._seen.move(given.votes, _UNLABELLED, _kind(given.labels, -1), age)
        self._seen.amend(given.votes, _worth(given.labels), age, weight)
        self._fitted = None

    def probability(self, votes: ArrayLike) -> FloatArray:
        """P(right), (..., responses), of responses with these votes (..., responses, judges), calibrated.

        votes may be (responses, judges) for all streams. Of a response seen or not, without its own label.
        """
        return self.calibration().probability(votes)

    def calibration(self) -> Calibration:
        """The fitted model of everything seen."""
        if self._fitted is None:
            votes, counts = self._seen.table()
            responses, (right, wrong) = counts[: _WORTH + 1].sum(axis=0), counts[_WORTH + 1 :]
            found = agreement(votes, responses) if self.check_halves else np.nan
            # Dawid-Skene is fitted to the sum of all three, which must be the responses, whatever labels count for.
            self._fitted = calibrate_patterns(votes, responses - right - wrong, right, wrong, found)
        return self._fitted

    def rates(self) -> Rates:
        """Expected counts: what is labelled counts by its label, what isn't by its probability of being right.

        Each response counts once, whatever the weight of its label: one that stood for others would be counted for
        responses whose own probability is counted already.

        That is cross-fitted already: a response without a label has none that could sway its own probability. The
        prior's rates where a judge has no votes, and everywhere while there is no label and fewer than three judges
        have given both verdicts.
        """
        votes, counts = self._seen.table()
        unlabelled, known_right, known_wrong = counts[: _WORTH + 1]
        probability = self.calibration().probability(votes)
        right = known_right + unlabelled * probability
        wrong = known_wrong + unlabelled * (1 - probability)
        correct, incorrect = split(votes)
        accepted_right, rejected_right = _sums(right, correct), _sums(right, incorrect)
        accepted_wrong, rejected_wrong = _sums(wrong, correct), _sums(wrong, incorrect)
        too_few = too_few_judges(accepted_right + accepted_wrong, rejected_right + rejected_wrong)
        fell_back = too_few & (known_right + known_wrong <= 0).all(axis=-1)
        n_right, n_wrong = accepted_right + rejected_right, accepted_wrong + rejected_wrong
        unknown = fell_back[..., None] | (n_right + n_wrong <= 0)
        prevalence = _smoothed(right.sum(axis=-1), wrong.sum(axis=-1))
        return Rates(
            fpr=np.where(unknown, self.prior.fpr, _smoothed(accepted_wrong, rejected_wrong)),
            fnr=np.where(unknown, self.prior.fnr, _smoothed(rejected_right, accepted_right)),
            prevalence=np.where(fell_back, self.prior.prevalence, prevalence),
            n_wrong=np.where(unknown, 0.0, n_wrong),
            n_right=np.where(unknown, 0.0, n_right),
            fell_back=fell_back,
        )


def _kind(labels: FloatArray, without: int) -> NDArray[np.int64]:
    right, wrong = split(labels)
    return np.where(right > 0, _RIGHT, np.where(wrong > 0, _WRONG, without))


def _worth(labels: FloatArray) -> NDArray[np.int64]:
    """The kind at which a label's weight is counted, below 0 without label."""
    kind = _kind(labels, -1)
    return np.where(kind >= 0, kind + _WORTH, -1)


def _sums(weights: FloatArray, votes: FloatArray) -> FloatArray:
    """(..., judges): weights (..., patterns) of the votes (patterns, judges) or (..., patterns, judges)."""
    sums: FloatArray = weights @ votes if votes.ndim == 2 else (weights[..., None, :] @ votes)[..., 0, :]
    return sums


def _smoothed(events: FloatArray, others: FloatArray) -> FloatArray:
    return ratio(events + _SMOOTHING, events + others + 2 * _SMOOTHING)
