"""Estimators of the judges' error rates from a stream of verdicts and, for some, a few labels.

All share one interface: `update(votes, labels, task)` for each batch, and `rates()` at any time. Votes are
(..., responses, judges), labels (..., responses) with 1 right, 0 wrong, NaN unlabelled, task (..., responses) whole
numbers from 0. Leading axes (`batch`) are independent streams. Counts are cumulative unless `forgetting` is given.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from voirdire.errors import UserError
from voirdire.panel.batches import Batch
from voirdire.panel.forgetting import Forgetting, Memory
from voirdire.panel.rates import Prior, Rates, beta_mean, filled, mix_rates, too_few_judges
from voirdire.panel.tabulated import Tabulated, one_hot, tabulate
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio


class Estimator(ABC):
    """What every estimator can do; `learns_from` says what it needs; both are labels and verdicts."""

    learns_from: ClassVar[Literal["truth", "labels", "verdicts", "both"]]

    @abstractmethod
    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        """Take in a batch of votes (..., responses, judges), the labels there are, and each response's task."""

    @abstractmethod
    def rates(self) -> Rates:
        """The estimates after everything seen so far."""


# All but the oracle are made by ESTIMATORS[name](n_judges, n_tasks=…, prior=…, batch=…, forgetting=…).
ESTIMATORS: dict[str, Callable[..., Estimator]] = {}
_Class = TypeVar("_Class", bound=type[Estimator])


def registered(name: str) -> Callable[[_Class], _Class]:
    """Puts an estimator's class into ESTIMATORS."""

    def register(cls: _Class) -> _Class:
        ESTIMATORS[name] = cls
        return cls

    return register


class _Mixed(Estimator):
    """Keeps the current task mix: the shares of the tasks among the responses last seen."""

    def __init__(self, n_tasks: int):
        self.n_tasks = n_tasks
        self.mix = np.full(n_tasks, 1 / n_tasks)

    def _see(self, task: ArrayLike | None) -> None:
        if task is not None and np.size(task):
            self.mix = one_hot(task, self.n_tasks).mean(axis=-2)


@registered("oracle")
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
            fpr=filled(fpr, self.fpr, self.prior.fpr),
            fnr=filled(fnr, self.fnr, self.prior.fnr),
            prevalence=prevalence,
            n_wrong=np.where(np.isfinite(fpr), np.inf, 0.0),
            n_right=np.where(np.isfinite(fnr), np.inf, 0.0),
            fell_back=np.zeros(prevalence.shape, np.bool_),
        )


@registered("stratified")
class Stratified(_Mixed):
    """Beta priors updated by labels within each task, mixed by the current task mix.

    The mix weighs as the oracle's does, with each task's prevalence estimated from the same labels. Needs the task of
    each response; one without a label tells it only the mix. A label counts for a judge if that judge voted on it.
    An update that comes without `labels` tells the mix and is no batch: nothing is forgotten by it.
    """

    learns_from = "labels"

    def __init__(
        self,
        n_judges: int,
        n_tasks: int = 1,
        prior: Prior | None = None,
        batch: tuple[int, ...] = (),
        forgetting: Forgetting | None = None,
    ):
        super().__init__(n_tasks)
        self.n_judges, self.batch = n_judges, batch
        self.prior = prior or Prior()
        self._counts = Memory(Tabulated.zero((*batch, n_tasks, n_judges)), forgetting)
        # Labels, and those that say right.
        self._labels = Memory(np.zeros((2, *batch, n_tasks)), forgetting)

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        if task is None and self.n_tasks > 1:
            raise UserError("stratified estimator: task is missing; give the number of each response's task")
        new = Batch.of(votes, labels, task, self.n_judges, self.batch)
        strata = one_hot(new.task, self.n_tasks)
        self._see(new.task)
        if labels is None:
            return
        right, wrong = (side[..., None] * strata for side in split(new.labels))
        self._counts.add(tabulate(new.votes, wrong, right))
        self._labels.add(np.stack([(right + wrong).sum(axis=-2), right.sum(axis=-2)]))

    @property
    def counts(self) -> Tabulated:
        """What is kept of the labels, by task: (*batch, tasks, judges)."""
        return self._counts.total

    def rates(self) -> Rates:
        counts, prior = self.counts, self.prior
        n_labels, n_labels_right = self._labels.total
        fpr, fnr, prevalence = mix_rates(
            beta_mean(counts.accepted_wrong, counts.n_wrong, prior.fpr, prior.strength),
            beta_mean(counts.rejected_right, counts.n_right, prior.fnr, prior.strength),
            beta_mean(n_labels_right, n_labels, prior.prevalence, prior.prevalence_strength),
            self.mix,
        )
        n_wrong, n_right = counts.n_wrong.sum(axis=-2), counts.n_right.sum(axis=-2)
        return Rates(fpr, fnr, prevalence, n_wrong, n_right, np.zeros(self.batch, np.bool_))


@registered("bayesian")
class Bayesian(Stratified):
    """Beta(strength × p, strength × (1 - p)) priors per judge, updated by labels; takes no notice of tasks.

    >>> judge = Bayesian(n_judges=1)
    >>> judge.update([[1], [1], [0]], labels=[0, 1, 1])
    >>> judge.rates().fpr.round(3), judge.rates().fnr.round(3)
    (array([0.455]), array([0.25]))
    """

    def __init__(
        self,
        n_judges: int,
        n_tasks: int = 1,
        prior: Prior | None = None,
        batch: tuple[int, ...] = (),
        forgetting: Forgetting | None = None,
    ):
        super().__init__(n_judges, 1, prior, batch, forgetting)

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        super().update(votes, labels)


@registered("disagreement")
class Disagreement(Estimator):
    """The strict majority of the other voters stands in for the truth; needs no labels, and ignores them.

    Where the others are tied, or nobody else voted, the response contributes nothing to that judge's rates; `tied` has
    the share of such votes. A rate with nothing behind it is the prior's mean, and with fewer than three judges that
    have given both verdicts all rates are: two judges have no majority between them. The prior has no other influence.
    Prevalence is the share of responses that the whole panel's strict majority accepts, ties left out.

    Its limit is not the truth: the reference errs too.
    """

    learns_from = "verdicts"

    def __init__(
        self,
        n_judges: int,
        n_tasks: int = 1,
        prior: Prior | None = None,
        batch: tuple[int, ...] = (),
        forgetting: Forgetting | None = None,
    ):
        self.n_judges, self.batch = n_judges, batch
        self.prior = prior or Prior()
        self._counts = Memory(Tabulated.zero((*batch, n_judges)), forgetting)
        # "correct" votes, and "incorrect" ones.
        self._votes = Memory(np.zeros((2, *batch, n_judges)), forgetting)
        # Responses that the panel's majority accepts, and those on which it has one.
        self._panel = Memory(np.zeros((2, *batch)), forgetting)

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        correct, incorrect = split(Batch.of(votes, labels, task, self.n_judges, self.batch).votes)
        signed = correct - incorrect
        panel = signed.sum(axis=-1)
        others = panel[..., None] - signed
        wrong, right = others < 0, others > 0
        found = Tabulated(
            n_wrong=((correct + incorrect) * wrong).sum(axis=-2),
            n_right=((correct + incorrect) * right).sum(axis=-2),
            accepted_wrong=(correct * wrong).sum(axis=-2),
            rejected_right=(incorrect * right).sum(axis=-2),
        )
        self._counts.add(found)
        self._votes.add(np.stack([correct.sum(axis=-2), incorrect.sum(axis=-2)]))
        self._panel.add(np.stack([(panel > 0).sum(axis=-1), (panel != 0).sum(axis=-1)]).astype(np.float64))

    @property
    def counts(self) -> Tabulated:
        """What is kept of the votes beside the others': (*batch, judges)."""
        return self._counts.total

    @property
    def tied(self) -> FloatArray:
        """Share of each judge's votes (..., judges) for which the others gave no reference; NaN without a vote."""
        counts, n_votes = self.counts, self._votes.total.sum(axis=0)
        return ratio(n_votes - counts.n_wrong - counts.n_right, n_votes)

    def rates(self) -> Rates:
        counts = self.counts
        fell_back = too_few_judges(*self._votes.total)
        n_wrong, n_right = (np.where(fell_back[..., None], 0.0, n) for n in (counts.n_wrong, counts.n_right))
        n_accepted, n_decided = self._panel.total
        prevalence = ratio(n_accepted, np.where(fell_back, 0.0, n_decided))
        return Rates(
            fpr=np.where(n_wrong > 0, ratio(counts.accepted_wrong, n_wrong), self.prior.fpr),
            fnr=np.where(n_right > 0, ratio(counts.rejected_right, n_right), self.prior.fnr),
            prevalence=np.where(np.isnan(prevalence), self.prior.prevalence, prevalence),
            n_wrong=n_wrong,
            n_right=n_right,
            fell_back=fell_back,
        )
