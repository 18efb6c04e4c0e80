"""Do two halves of a panel find the same truth? What Dawid-Skene's model cannot explain shows here.

The judges are split at random into two halves, and Dawid-Skene is fitted to each: Cohen's kappa between the two sets of
hard labels, over its mean where the model holds. Evidence against the model where it is low; a panel that shares one
blind spot agrees between its halves as well as with itself, so a high value is no evidence for it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from voirdire.panel.dawid_skene import Fit, fit, posterior_logit
from voirdire.panel.patterns import Patterns
from voirdire.panel.split_half import kappa
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio

# Halves of fewer judges, or on fewer responses, tell too little.
ENOUGH_JUDGES, ENOUGH_RESPONSES = 7, 50
# Hard labels need no more.
_TOLERANCE, _MOST_ROUNDS = 1e-3, 200


@dataclass(frozen=True)
class HalfAgreement:
    """kappa: mean over splits; expected: the same in data that the fitted model makes; ratio: one over the other.

    NaN where halves give all responses one label.
    """

    kappa: float
    expected: float

    @property
    def ratio(self) -> float:
        return float(ratio(self.kappa, self.expected)) if self.expected > 0 else np.nan


def agreement(votes: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The ratio of `half_agreement`; NaN, as for no evidence, with fewer than 7 judges or 50 responses."""
    cast: FloatArray = np.asarray(votes, dtype=np.float64)
    voted = np.isfinite(cast)
    n_responses = voted.any(axis=1) @ (np.ones(len(cast)) if weights is None else np.asarray(weights, np.float64))
    enough = voted.any(axis=0).sum() >= ENOUGH_JUDGES and n_responses >= ENOUGH_RESPONSES
    return half_agreement(cast, weights).ratio if enough else np.nan


def half_agreement(
    votes: ArrayLike, weights: ArrayLike | None = None, splits: int = 20, seed: int = 0, fitted: Fit | None = None
) -> HalfAgreement:
    """Agreement of Dawid-Skene's labels between halves of the judges, and what its own model would give.

    votes: (responses, judges) or patterns, 1, 0 or NaN; weights: (responses,), whole numbers, how often each occurred.
    fitted: Dawid-Skene on all judges, if it is known already. Judges are put in an order of their own, by their rates,
    so that another order of columns or rows splits and simulates alike.

    >>> right = half_agreement([[1] * 8, [0] * 8], [50, 50])
    >>> round(right.kappa, 2), round(right.expected, 2)
    (1.0, 1.0)
    """
    votes = np.asarray(votes, dtype=np.float64)
    counts = np.ones(len(votes)) if weights is None else np.asarray(weights, dtype=np.float64)
    fitted = fitted or fit(votes, counts)
    correct, incorrect = split(votes)
    order = np.lexsort([np.round(key, 9) for key in (counts @ incorrect, counts @ correct, fitted.fnr, fitted.fpr)])
    order = order[np.isfinite(fitted.fpr[order])]
    votes = votes[:, order]
    rows = np.lexsort(np.nan_to_num(votes, nan=2.0).T)
    votes, counts = votes[rows], np.rint(counts[rows]).astype(np.int64)
    rng = np.random.default_rng([seed, len(order)])
    halves = [rng.permutation(len(order)) for _ in range(splits)]
    simulated = _simulated(votes, counts, fitted, order, rng)
    return HalfAgreement(_mean_kappa(votes, counts, halves), _mean_kappa(simulated, np.ones(len(simulated)), halves))


def _simulated(
    votes: FloatArray, counts: np.ndarray, fitted: Fit, order: np.ndarray, rng: np.random.Generator
) -> FloatArray:
    """As many responses, voted on by the same judges, in which the model holds."""
    voted = np.isfinite(np.repeat(votes, counts, axis=0))
    right = rng.random(len(voted)) < fitted.prevalence
    accepts = np.where(right[:, None], 1 - fitted.fnr[order], fitted.fpr[order])
    return np.where(voted, (rng.random(voted.shape) < accepts).astype(np.float64), np.nan)


def _mean_kappa(votes: FloatArray, counts: ArrayLike, halves: list[np.ndarray]) -> float:
    whole = Patterns.of(votes)
    votes, weights = whole.votes, whole.count(counts)
    found = []
    for order in halves:
        middle = (len(order) + 1) // 2
        first, second = (_hard(votes[:, half], weights) for half in (order[:middle], order[middle:]))
        found.append(kappa(first[None], second[None], weights[None])[0])
    known = np.isfinite(found)
    return float(np.mean(found, where=known)) if known.any() else np.nan


def _hard(votes: FloatArray, weights: FloatArray) -> FloatArray:
    """Dawid-Skene's label of each response by some judges, 1 or 0, NaN where none of them voted."""
    patterns = Patterns.of(votes)
    counts = patterns.count(weights)
    fitted = fit(patterns.votes, counts, tolerance=_TOLERANCE, max_iter=_MOST_ROUNDS)
    logit = posterior_logit(patterns.votes, fitted.fpr, fitted.fnr, fitted.prevalence)
    label = np.where(np.isfinite(patterns.votes).any(axis=1), (logit > 0).astype(np.float64), np.nan)
    return label[patterns.index]
