"""Estimators of the judges' error rates from a stream of verdicts and, for some, a few labels.

All share one interface: `update(votes, labels, task)` for each batch, and `rates()` at any time. Votes are
(..., responses, judges), labels (..., responses) with 1 right, 0 wrong, NaN unlabelled, task (..., responses) whole
numbers from 0. Leading axes (`batch`) are independent streams. Counts are cumulative.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from voirdire.errors import UserError
from voirdire.panel.tabulated import Tabulated, one_hot, tabulate
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio


@dataclass(frozen=True)
class Prior:
    """Beta priors of a judge's FPR and FNR: means, and the number of labels that they weigh as much as.

    Prevalence has a uniform prior unless told otherwise.
    """

    fpr: float = 0.4
    fnr: float = 0.2
    strength: float = 10.0
    prevalence: float = 0.5
    prevalence_strength: float = 2.0

    def __post_init__(self) -> None:
        if not (0 <= self.fpr <= 1 and 0 <= self.fnr <= 1 and 0 <= self.prevalence <= 1):
            raise UserError(f"prior: fpr {self.fpr}, fnr {self.fnr}, prevalence {self.prevalence} must lie in [0, 1]")
        if not (self.strength > 0 and self.prevalence_strength > 0):
            raise UserError(f"prior: strength {self.strength} must be above 0")


@dataclass(frozen=True)
class Rates:
    """Estimated rates: fpr and fnr (..., judges), prevalence = P(right) (...).

    n_wrong, n_right (..., judges): responses behind each rate, taken for wrong (right); 0 means that a stand-in speaks
    alone, the prior's mean if nothing else is said. For the oracle, which needs none, they are infinite or 0.
    """

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    n_wrong: FloatArray
    n_right: FloatArray


def beta_mean(events: ArrayLike, n: ArrayLike, mean: ArrayLike, strength: ArrayLike) -> FloatArray:
    """Posterior mean of a rate with prior Beta(strength × mean, strength × (1 - mean)) after `events` of `n`.

    >>> beta_mean(8, 10, 0.4, 10)
    np.float64(0.6)
    """
    mean, strength = np.asarray(mean, float), np.asarray(strength, float)
    posterior: FloatArray = (strength * mean + np.asarray(events, float)) / (strength + np.asarray(n, float))
    return posterior


def mix_rates(
    fpr: FloatArray, fnr: FloatArray, prevalence: FloatArray, mix: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates under a mix of tasks, from the rates within each.

    fpr, fnr: (..., tasks, judges); prevalence, mix: (..., tasks), mix sums to 1. A task weighs for the FPR by its share
    of the *wrong* responses, and for the FNR by its share of the right ones. A task in which a judge has no rate (NaN)
    is left out for that judge; with none left the rate is NaN. Returns fpr, fnr (..., judges) and prevalence (...).
    """
    # A task without responses has no prevalence and no share.
    right = np.where(mix > 0, mix * prevalence, 0.0)
    wrong = np.where(mix > 0, mix * (1 - prevalence), 0.0)
    return _weighted_mean(fpr, wrong), _weighted_mean(fnr, right), right.sum(axis=-1)


class Estimator(ABC):
    """What every estimator can do; `learns_from` says what it needs: truth, labels or verdicts."""

    learns_from: ClassVar[Literal["truth", "labels", "verdicts"]]

    @abstractmethod
    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        """Take in a batch of votes (..., responses, judges), the labels there are, and each response's task."""

    @abstractmethod
    def rates(self) -> Rates:
        """The estimates after everything seen so far."""


class _Mixed(Estimator):
    """Keeps the current task mix: the shares of the tasks among the responses last seen."""

    def __init__(self, n_tasks: int):
        self.n_tasks = n_tasks
        self.mix = np.full(n_tasks, 1 / n_tasks)

    def _see(self, task: ArrayLike | None) -> None:
        if task is not None and np.size(task):
            self.mix = one_hot(task, self.n_tasks).mean(axis=-2)


class Oracle(_Mixed):
    """The true rates under the current task mix; the yardstick, as it knows every truth.

    fpr, fnr: (..., tasks, judges), NaN where there is none; prevalence: (..., tasks), the tasks' shares of right
    responses. `update` takes from `task` the mix, and nothing else.

    Where no response of the mix bears on a rate (all are right, so there is no FPR), the rate decides nothing and must
    not cost a judge its vote: the unweighted mean of the judge's rates in other tasks stands in, or without any the
    prior's mean. `n_wrong` (`n_right`) is 0 there.

    >>> oracle = Oracle(fpr=[[0.1], [0.5]], fnr=[[0.2], [0.2]], prevalence=[0.75, 0.5])
    >>> oracle.update([[1.0], [0.0]], task=[0, 1])
    >>> oracle.rates().fpr.round(3)  # two thirds of the wrong responses are of the second task
    array([0.367])
    """

    learns_from = "truth"

    def __init__(self, fpr: ArrayLike, fnr: ArrayLike, prevalence: ArrayLike, prior: Prior | None = None):
        self.fpr, self.fnr, self.prevalence = (np.asarray(values, float) for values in (fpr, fnr, prevalence))
        self.prior = prior or Prior()
        super().__init__(self.prevalence.shape[-1])

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        self._see(task)

    def rates(self) -> Rates:
        fpr, fnr, prevalence = mix_rates(self.fpr, self.fnr, self.prevalence, self.mix)
        return Rates(
            fpr=_filled(fpr, self.fpr, self.prior.fpr),
            fnr=_filled(fnr, self.fnr, self.prior.fnr),
            prevalence=prevalence,
            n_wrong=np.where(np.isfinite(fpr), np.inf, 0.0),
            n_right=np.where(np.isfinite(fnr), np.inf, 0.0),
        )


class Stratified(_Mixed):
    """Beta priors updated by labels within each task, mixed by the current task mix.

    The mix weighs as the oracle's does, with each task's prevalence estimated from the same labels. Needs the task of
    each response; one without a label tells it only the mix. A label counts for a judge if that judge voted on it.
    """

    learns_from = "labels"

    def __init__(self, n_judges: int, n_tasks: int = 1, prior: Prior | None = None, batch: tuple[int, ...] = ()):
        super().__init__(n_tasks)
        self.prior = prior or Prior()
        self.counts = Tabulated.zero((*batch, n_tasks, n_judges))
        self.n_labels = np.zeros((*batch, n_tasks))
        self.n_labels_right = np.zeros((*batch, n_tasks))

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        votes = np.asarray(votes, dtype=np.float64)
        if task is None:
            if self.n_tasks > 1:
                raise UserError("stratified estimator: task is missing; give the number of each response's task")
            task = np.zeros(votes.shape[:-1], dtype=np.int64)
        self._see(task)
        if labels is None:
            return
        strata = one_hot(task, self.n_tasks)
        wrong, right = split(np.asarray(labels, dtype=np.float64))[::-1]
        self.counts = self.counts + tabulate(votes, wrong[..., None] * strata, right[..., None] * strata)
        self.n_labels_right = self.n_labels_right + (right[..., None] * strata).sum(axis=-2)
        self.n_labels = self.n_labels + ((right + wrong)[..., None] * strata).sum(axis=-2)

    def rates(self) -> Rates:
        counts, prior = self.counts, self.prior
        fpr, fnr, prevalence = mix_rates(
            beta_mean(counts.accepted_wrong, counts.n_wrong, prior.fpr, prior.strength),
            beta_mean(counts.rejected_right, counts.n_right, prior.fnr, prior.strength),
            beta_mean(self.n_labels_right, self.n_labels, prior.prevalence, prior.prevalence_strength),
            self.mix,
        )
        return Rates(fpr, fnr, prevalence, counts.n_wrong.sum(axis=-2), counts.n_right.sum(axis=-2))


class Bayesian(Stratified):
    """Beta(strength × p, strength × (1 - p)) priors per judge, updated by labels; takes no notice of tasks.

    >>> judge = Bayesian(n_judges=1)
    >>> judge.update([[1], [1], [0]], labels=[0, 1, 1])
    >>> judge.rates().fpr.round(3), judge.rates().fnr.round(3)
    (array([0.455]), array([0.25]))
    """

    def __init__(self, n_judges: int, n_tasks: int = 1, prior: Prior | None = None, batch: tuple[int, ...] = ()):
        super().__init__(n_judges, 1, prior, batch)

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        super().update(votes, labels)


class Disagreement(Estimator):
    """The strict majority of the other voters stands in for the truth; needs no labels, and ignores them.

    Where the others are tied, or nobody else voted, the response contributes nothing to that judge's rates; `tied` has
    the share of such votes. A rate with nothing behind it is the prior's mean, and with fewer than three judges that
    have given both verdicts all rates are: two judges have no majority between them. The prior has no other influence.
    Prevalence is the share of responses that the whole panel's strict majority accepts, ties left out.

    Its limit is not the truth: the reference errs too.
    """

    learns_from = "verdicts"
    enough_judges = 3

    def __init__(self, n_judges: int, n_tasks: int = 1, prior: Prior | None = None, batch: tuple[int, ...] = ()):
        self.prior = prior or Prior()
        self.counts = Tabulated.zero((*batch, n_judges))
        self.n_correct = np.zeros((*batch, n_judges))
        self.n_incorrect = np.zeros((*batch, n_judges))
        self.n_accepted = np.zeros(batch)
        self.n_decided = np.zeros(batch)

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        correct, incorrect = split(votes)
        signed = correct - incorrect
        panel = signed.sum(axis=-1)
        others = panel[..., None] - signed
        wrong, right = others < 0, others > 0
        self.counts = self.counts + Tabulated(
            n_wrong=((correct + incorrect) * wrong).sum(axis=-2),
            n_right=((correct + incorrect) * right).sum(axis=-2),
            accepted_wrong=(correct * wrong).sum(axis=-2),
            rejected_right=(incorrect * right).sum(axis=-2),
        )
        self.n_correct = self.n_correct + correct.sum(axis=-2)
        self.n_incorrect = self.n_incorrect + incorrect.sum(axis=-2)
        self.n_accepted = self.n_accepted + (panel > 0).sum(axis=-1)
        self.n_decided = self.n_decided + (panel != 0).sum(axis=-1)

    @property
    def tied(self) -> FloatArray:
        """Share of each judge's votes (..., judges) for which the others gave no reference; NaN without a vote."""
        n_votes = self.n_correct + self.n_incorrect
        return ratio(n_votes - self.counts.n_wrong - self.counts.n_right, n_votes)

    def rates(self) -> Rates:
        counts = self.counts
        both = ((self.n_correct > 0) & (self.n_incorrect > 0)).sum(axis=-1)
        usable = (both >= self.enough_judges)[..., None]
        n_wrong, n_right = np.where(usable, counts.n_wrong, 0.0), np.where(usable, counts.n_right, 0.0)
        prevalence = ratio(self.n_accepted, np.where(usable[..., 0], self.n_decided, 0.0))
        return Rates(
            fpr=np.where(n_wrong > 0, ratio(counts.accepted_wrong, n_wrong), self.prior.fpr),
            fnr=np.where(n_right > 0, ratio(counts.rejected_right, n_right), self.prior.fnr),
            prevalence=np.where(np.isnan(prevalence), self.prior.prevalence, prevalence),
            n_wrong=n_wrong,
            n_right=n_right,
        )


# All but the oracle are made by ESTIMATORS[name](n_judges, n_tasks=…, prior=…, batch=…).
ESTIMATORS: dict[str, Callable[..., Estimator]] = {
    "oracle": Oracle,
    "bayesian": Bayesian,
    "stratified": Stratified,
    "disagreement": Disagreement,
}


def _weighted_mean(rates: FloatArray, weights: FloatArray) -> FloatArray:
    known = np.isfinite(rates)
    shares = weights[..., None] * known
    return ratio((np.where(known, rates, 0.0) * shares).sum(axis=-2), shares.sum(axis=-2))


def _filled(mixed: FloatArray, by_task: FloatArray, prior: float) -> FloatArray:
    """The mixed rates (..., judges); for missing ones the mean over tasks (..., tasks, judges), else the prior's."""
    mean = _weighted_mean(by_task, np.ones(by_task.shape[:-1]))
    return np.where(np.isfinite(mixed), mixed, np.where(np.isfinite(mean), mean, prior))
