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
from voirdire.panel.forgetting import Forgetting
from voirdire.panel.pattern_counts import PatternCounts
from voirdire.panel.rates import Prior, Rates, too_few_judges
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio

# Expected counts and probabilities are kept above it, so that a logarithm exists.
_TINY = 1e-10
# Log odds are whole numbers of 1 / _UNITS (1.5e-11): sums of thousands of judges' stay below 2^53 of them.
_UNITS = 2.0**36


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
    correct, incorrect = split(votes)
    n_votes = (correct + incorrect).sum(axis=-1)
    given = _checked(weights, n_votes)
    shape = np.broadcast_shapes(given.shape, n_votes.shape)[:-1]
    counted = np.broadcast_to(np.where(n_votes > 0, given, 0.0), (*shape, n_votes.shape[-1]))
    both = np.concatenate([correct, incorrect], axis=-1)
    both = both.reshape(-1, *both.shape[-2:]) if both.ndim > 2 else both
    start = np.broadcast_to(np.where(n_votes > 0, ratio(correct.sum(axis=-1), n_votes), 0.5), counted.shape)
    flat = (prod(shape), counted.shape[-1])
    em = _Em(both, counted.reshape(flat), smoothing)
    rates, n_iter, converged = em.run(start.reshape(flat), tolerance, max_iter)
    return _fit(em, rates, n_iter, converged, shape)


def posterior_logit(votes: ArrayLike, fpr: ArrayLike, fnr: ArrayLike, prevalence: ArrayLike) -> FloatArray:
    """log odds of P(right | votes), (..., responses), where judges err independently with these rates.

    votes: (..., responses, judges); fpr, fnr: (..., judges), a judge with a NaN in either left out; prevalence (...).
    Exactly 0 where they are 0 but for rounding, which is a tie.
    """
    both = np.concatenate(split(votes), axis=-1)
    logit = _logit(both, _evidence(np.asarray(fpr, float), np.asarray(fnr, float)), np.asarray(prevalence, float))
    return np.where(np.abs(logit) * _UNITS <= (both.sum(axis=-1) + 1) / 2, 0.0, logit)


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


@dataclass(frozen=True)
class _Rates:
    """Of panels (panels, …): judges' events and their expected counts, and prevalence."""

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    n_wrong: FloatArray
    n_right: FloatArray


class _Em:
    """Expectation maximisation over panels at once.

    both: "correct" and "incorrect" votes side by side, (responses, 2 judges) or (panels, responses, 2 judges);
    weights: (panels, responses).
    """

    def __init__(self, both: FloatArray, weights: FloatArray, smoothing: float):
        self.both, self.smoothing = both, smoothing
        # A count's unit is small enough for its rounding not to matter, and no sum of them needs more than 52 bits.
        self.units = np.ldexp(1.0, 52 - np.frexp(weights.sum(axis=-1, keepdims=True))[1])
        self.weights = self._whole(weights)
        self.total = _sums(both, self.weights)
        self.n = self.weights.sum(axis=-1)

    def run(
        self, start: FloatArray, tolerance: float, max_iter: int
    ) -> tuple[_Rates, NDArray[np.int64], NDArray[np.bool_]]:
        """The rates that the last posteriors make, the rounds taken, and whether the posteriors stood still."""
        n_panels = len(self.weights)
        right = start.copy()
        n_iter, converged = np.zeros(n_panels, np.int64), np.zeros(n_panels, np.bool_)
        em, rows = self, np.arange(n_panels)
        for _ in range(max_iter):
            now = right[rows]
            found = em.expected(em.maximised(now))
            change = np.where(em.weights > 0, np.abs(found - now), 0.0).max(axis=-1, initial=0.0)
            right[rows] = found
            n_iter[rows] += 1
            still = change > tolerance
            converged[rows] = ~still
            if not still.any():
                break
            if still.mean() < 0.75:
                rows = rows[still]
                em = self.of(rows)
        return self.maximised(right), n_iter, converged

    def of(self, panels: NDArray[np.int64]) -> "_Em":
        """Some of the panels."""
        both = self.both if self.both.ndim == 2 else self.both[panels]
        return _Em(both, self.weights[panels], self.smoothing)

    def maximised(self, right: FloatArray) -> _Rates:
        """M-step: rates from P(right), (panels, responses)."""
        shares = self._whole(self.weights * right)
        among_right = _sums(self.both, shares)
        among_wrong = np.maximum(self.total - among_right, 0.0)
        n_right = shares.sum(axis=-1)
        (accepted_right, rejected_right), (accepted_wrong, rejected_wrong) = _halves(among_right), _halves(among_wrong)
        return _Rates(
            fpr=self._rate(accepted_wrong, rejected_wrong),
            fnr=self._rate(rejected_right, accepted_right),
            prevalence=self._rate(n_right, np.maximum(self.n - n_right, 0.0)),
            n_wrong=accepted_wrong + rejected_wrong,
            n_right=accepted_right + rejected_right,
        )

    def expected(self, rates: _Rates) -> FloatArray:
        """E-step: P(right) of each response, (panels, responses)."""
        from scipy.special import expit

        right: FloatArray = expit(_logit(self.both, _evidence(rates.fpr, rates.fnr), rates.prevalence))
        return right

    def _whole(self, counts: FloatArray) -> FloatArray:
        whole: FloatArray = np.rint(counts * self.units) / self.units
        return whole

    def _rate(self, events: FloatArray, others: FloatArray) -> FloatArray:
        events, others = (np.maximum(counts + self.smoothing, _TINY) for counts in (events, others))
        return events / (events + others)


def _checked(weights: ArrayLike | None, n_votes: FloatArray) -> FloatArray:
    """The rows' weights, 1 unless given."""
    if weights is None:
        return np.ones(n_votes.shape)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape[-1:] != n_votes.shape[-1:]:
        raise UserError(f"weights: the shape is {given.shape}; there are {n_votes.shape[-1]} rows of votes")
    if strange := given[~(np.isfinite(given) & (given >= 0))].tolist():
        raise UserError(f"weights: found {strange[0]:g}; a weight is a number of occurrences, 0 or above")
    return given


def _fit(
    em: _Em, rates: _Rates, n_iter: NDArray[np.int64], converged: NDArray[np.bool_], shape: tuple[int, ...]
) -> Fit:
    """The rates in the shape that was asked for; none where a judge has no votes."""
    n_correct, n_incorrect = _halves(em.total)
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


def _evidence(fpr: FloatArray, fnr: FloatArray) -> FloatArray:
    """(..., 2 judges): what a "correct" vote adds to the log odds, and then what an "incorrect" one does."""
    known = np.isfinite(fpr) & np.isfinite(fnr)
    fpr, fnr = (np.clip(rate, _TINY, 1 - _TINY) for rate in (fpr, fnr))
    sides = np.log1p(-fnr) - np.log(fpr), np.log(fnr) - np.log1p(-fpr)
    return _whole_units(np.concatenate([np.where(known, side, 0.0) for side in sides], axis=-1))


def _logit(both: FloatArray, evidence: FloatArray, prevalence: FloatArray) -> FloatArray:
    share = np.clip(prevalence, _TINY, 1 - _TINY)
    prior = _whole_units(np.log(share) - np.log1p(-share))[..., None]
    logit: FloatArray = prior + (evidence @ both.T if both.ndim == 2 else (both @ evidence[..., None])[..., 0])
    return logit


def _whole_units(log_odds: FloatArray) -> FloatArray:
    return np.rint(log_odds * _UNITS) / _UNITS


def _sums(both: FloatArray, weights: FloatArray) -> FloatArray:
    """(panels, 2 judges): weighted "correct" votes, and then "incorrect" ones."""
    sums: FloatArray = weights @ both if both.ndim == 2 else (weights[:, None, :] @ both)[:, 0]
    return sums


def _halves(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    first, second = np.split(sums, 2, axis=-1)
    return first, second
