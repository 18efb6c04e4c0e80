"""Judges' error rates from nothing but how they disagree: the model of Dawid and Skene with two classes.

A response is right with probability `prevalence`; given that, judges err independently of each other, judge j with its
own FPR and FNR. Expectation maximisation (Dawid and Skene, Applied Statistics 28, 1979, doi:10.2307/2346806):

    E: P(right | votes) = 1 / (1 + exp(-z)), z = logit(prevalence)
           + sum over "correct" votes of log((1 - FNR) / FPR) - sum over "incorrect" ones of log((1 - FPR) / FNR)
    M: FPR = expected wrong responses accepted / expected wrong ones voted on; FNR and prevalence likewise

Judges that share an error look like judges that agree on the truth, and its posteriors claim far more than they keep:
see `voirdire.panel.trust`.

Sums are taken over whole numbers of tiny units, and so are exact: the results are the same to the last bit in whatever
order judges, rows and panels stand, and whether equal rows are counted or repeated.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError
from voirdire.panel.batches import Batch
from voirdire.panel.estimators import Estimator, registered
from voirdire.panel.expectation import UNITS, Em, Estimate, evidence_of, halves, prior_of, rows_of
from voirdire.panel.forgetting import Forgetting
from voirdire.panel.pattern_counts import PatternCounts
from voirdire.panel.patterns import Patterns
from voirdire.panel.rates import Prior, Rates, too_few_judges
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio


@dataclass(frozen=True)
class Fit:
    """Rates fpr and fnr (..., judges), NaN for a judge without votes, and prevalence (...).

    n_wrong, n_right: (..., judges), expected responses behind each rate; n_correct, n_incorrect: (..., judges), votes
    given; n_iter, converged: (...).
    """

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    n_wrong: FloatArray
    n_right: FloatArray
    n_correct: FloatArray
    n_incorrect: FloatArray
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]


def fit(
    votes: ArrayLike,
    weights: ArrayLike | None = None,
    smoothing: float = 1.0,
    tolerance: float = 1e-6,
    max_iter: int = 1000,
) -> Fit:
    """Estimate every judge's rates from votes alone.

    votes: (responses, judges), or patterns, 1, 0 or NaN; (..., responses, judges) where each panel has its own.
    weights: (..., responses), how often each row occurred, one panel per leading index; default: once.
    smoothing: added to the expected counts on either side of each rate and of prevalence, as by a Beta prior; 0 for
    the plain likelihood. Starts from each response's share of "correct" votes, so that most judges are taken to be
    better than chance; ends when no posterior changes by more than `tolerance`, or after `max_iter` rounds. A row
    without votes counts for nothing.

    >>> fitted = fit([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 0, 1]], weights=[40, 10, 40, 10])
    >>> fitted.fpr.round(2), bool(fitted.converged)
    (array([0.02, 0.02, 0.21]), True)
    """
    rows, given = _checked(votes, weights)
    rows, given = _merged(rows, given)
    correct, incorrect = (side.sum(axis=-1) for side in split(rows))
    n_votes = correct + incorrect
    shape = np.broadcast_shapes(given.shape, n_votes.shape)[:-1]
    flat = (prod(shape), rows.shape[-2])
    counted = np.broadcast_to(np.where(n_votes > 0, given, 0.0), (*shape, flat[1])).reshape(flat)
    start = np.broadcast_to(np.where(n_votes > 0, ratio(correct, n_votes), 0.5), (*shape, flat[1])).reshape(flat)
    if rows.ndim > 2:
        rows = np.broadcast_to(rows, (*shape, *rows.shape[-2:])).reshape(*flat, rows.shape[-1])
    em = Em(rows_of(rows, flat[0]), counted, smoothing)
    return _fit(em, *em.run(start, tolerance, max_iter), shape)


def posterior_logit(votes: ArrayLike, fpr: ArrayLike, fnr: ArrayLike, prevalence: ArrayLike) -> FloatArray:
    """log odds of P(right | votes), (..., responses), where judges err independently with these rates.

    votes: (..., responses, judges); fpr, fnr: (..., judges), a judge with a NaN in either left out; prevalence (...).
    Exactly 0 where they are 0 but for rounding, which is a tie.
    """
    both = np.concatenate(split(votes), axis=-1)
    evidence = evidence_of(np.asarray(fpr, float), np.asarray(fnr, float))
    summed = evidence @ both.T if both.ndim == 2 else (both @ evidence[..., None])[..., 0]
    logit = summed + prior_of(np.asarray(prevalence, float))[..., None]
    return np.where(np.abs(logit) * UNITS <= (both.sum(axis=-1) + 1) / 2, 0.0, logit)


@registered("dawid_skene")
class DawidSkene(Estimator):
    """The rates of Dawid and Skene's model, fitted anew to the counts of all vote patterns kept; ignores labels.

    They depend on the counts alone, not on the batches that these came in. With fewer than three judges that have given
    both verdicts all rates are the prior's, and so are those of a judge without votes; otherwise the prior has no
    influence.

    >>> panel = DawidSkene(n_judges=3)
    >>> panel.update([[1, 1, 1]] * 4 + [[0, 0, 0]] * 4 + [[1, 1, 0]] + [[0, 0, 1]])
    >>> panel.rates().fpr.round(2)
    array([0.16, 0.16, 0.28])
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
        self._seen = PatternCounts(n_judges, batch, forgetting=forgetting)

    def update(self, votes: ArrayLike, labels: ArrayLike | None = None, task: ArrayLike | None = None) -> None:
        self._seen.add(Batch.of(votes, labels, task, self.n_judges, self.batch).votes)

    def rates(self) -> Rates:
        votes, counts = self._seen.table()
        fitted, prior = fit(votes, counts[0]), self.prior
        fell_back = too_few_judges(fitted.n_correct, fitted.n_incorrect)
        unknown = fell_back[..., None] | np.isnan(fitted.fpr)
        return Rates(
            fpr=np.where(unknown, prior.fpr, fitted.fpr),
            fnr=np.where(unknown, prior.fnr, fitted.fnr),
            prevalence=np.where(fell_back, prior.prevalence, fitted.prevalence),
            n_wrong=np.where(unknown, 0.0, fitted.n_wrong),
            n_right=np.where(unknown, 0.0, fitted.n_right),
            fell_back=fell_back,
        )


def _checked(votes: ArrayLike, weights: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """The votes, and the rows' weights, 1 unless given."""
    rows: FloatArray = np.asarray(votes, dtype=np.float64)
    if rows.ndim < 2:
        raise UserError(f"votes: the shape is {rows.shape}; they are responses × judges")
    if weights is None:
        return rows, np.ones(rows.shape[:-1])
    given = np.asarray(weights, dtype=np.float64)
    misfit = f"weights: the shape is {given.shape}; votes of shape {rows.shape} have one of (..., {rows.shape[-2]})"
    if given.shape[-1:] != rows.shape[-2:-1]:
        raise UserError(misfit)
    try:
        np.broadcast_shapes(given.shape, rows.shape[:-1])
    except ValueError:
        raise UserError(misfit) from None
    if strange := given[~(np.isfinite(given) & (given >= 0))].tolist():
        raise UserError(f"weights: found {strange[0]:g}; a weight is a number of occurrences, 0 or above")
    return rows, given


def _merged(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Equal rows as one, where all panels share them."""
    if rows.ndim > 2:
        return rows, weights
    patterns = Patterns.of(rows)
    if len(patterns.votes) == len(rows):
        return rows, weights
    counts = [patterns.count(each) for each in weights.reshape(-1, len(rows))]
    return patterns.votes, np.reshape(counts, (*weights.shape[:-1], len(patterns.votes)))


def _fit(
    em: Em, rates: Estimate, n_iter: NDArray[np.int64], converged: NDArray[np.bool_], shape: tuple[int, ...]
) -> Fit:
    """The rates in the shape that was asked for; none where a judge has no votes."""
    n_correct, n_incorrect = halves(em.total)
    voted = n_correct + n_incorrect > 0
    by_judge = (*shape, voted.shape[-1])
    return Fit(
        fpr=np.where(voted, rates.fpr, np.nan).reshape(by_judge),
        fnr=np.where(voted, rates.fnr, np.nan).reshape(by_judge),
        prevalence=rates.prevalence.reshape(shape),
        n_wrong=rates.n_wrong.reshape(by_judge),
        n_right=rates.n_right.reshape(by_judge),
        n_correct=n_correct.reshape(by_judge),
        n_incorrect=n_incorrect.reshape(by_judge),
        n_iter=n_iter.reshape(shape),
        converged=converged.reshape(shape),
    )
