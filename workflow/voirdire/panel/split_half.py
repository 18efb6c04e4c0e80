"""Do two halves of a panel find the same truth? Kappa between what Dawid-Skene makes of either, for many panels.

Judges that err independently agree on the truth whichever half is asked. Where groups of judges share errors, halves
agree less than Dawid-Skene's rates say; where all judges share one blind spot, they agree on that too.
"""

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.sparse_votes import CORRECT, MISSING, fit_codes
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# Hard labels hardly change any more, and a ratio of kappas that are all found so does not.
_TOLERANCE, _MOST_ROUNDS = 1e-2, 100
# Patterns are looked up in a table up to this size.
_TABLE = 3**13
# Adding up a vote that is looked up costs so many times what it costs in a matrix product.
_LOOKED_UP = 4


def random_halves(n_judges: int, splits: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """The judges in random orders: the first half of each, the middle one included, against the rest."""
    return [rng.permutation(n_judges) for _ in range(splits)]


def kappas(codes: NDArray[np.int8], halves: list[NDArray[np.int64]], weights: FloatArray | None = None) -> FloatArray:
    """(panels,): kappa between halves' hard labels, its mean over the ways to halve; NaN where none gives one.

    codes: (panels, rows, judges), votes as in `voirdire.panel.sparse_votes`; weights: (panels, rows), default 1. Rows
    on which a half has no vote don't count.
    """
    counted = np.ones(codes.shape[:2]) if weights is None else weights
    found = []
    for order in halves:
        middle = (len(order) + 1) // 2
        first, second = (labels(codes[:, :, half], counted) for half in (order[:middle], order[middle:]))
        found.append(kappa(first, second, counted))
    known = np.isfinite(found)
    mean: FloatArray = ratio(np.where(known, found, 0.0).sum(axis=0), known.sum(axis=0))
    return mean


def labels(codes: NDArray[np.int8], weights: FloatArray) -> FloatArray:
    """(panels, rows): Dawid-Skene's label, 1 or 0, of each row, NaN where nobody has voted."""
    voted = (codes != MISSING).any(axis=2)
    n_votes = np.count_nonzero(codes)
    patterns = _patterns(codes) if codes.shape[2] <= 39 else None
    if patterns is None or len(patterns[0]) * codes.shape[2] * len(codes) > _LOOKED_UP * n_votes:
        logit = fit_codes(codes, weights, _TOLERANCE, _MOST_ROUNDS).logit
        return np.where(voted, (logit > 0).astype(np.float64), np.nan)
    votes, index = patterns
    at = (np.arange(len(codes))[:, None] * len(votes) + index).ravel()
    counts = np.bincount(at, weights.ravel(), minlength=len(codes) * len(votes)).reshape(len(codes), -1)
    fitted = fit(votes, counts, tolerance=_TOLERANCE, max_iter=_MOST_ROUNDS)
    right = posterior_logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence) > 0
    return np.where(voted, right.ravel()[at].reshape(index.shape).astype(np.float64), np.nan)


def kappa(first: FloatArray, second: FloatArray, weights: FloatArray) -> FloatArray:
    """(panels,): Cohen's kappa of two labels of rows (panels, rows), 1 and 0, over the rows that have both.

    NaN where chance alone would agree everywhere: both say the same of all rows.

    >>> labels = np.array([[1.0, 1, 0, 0]])
    >>> kappa(labels, labels[:, ::-1], np.ones((1, 4))), kappa(labels, labels, np.ones((1, 4)))
    (array([-1.]), array([1.]))
    """
    known = np.isfinite(first) & np.isfinite(second)
    first, second, counted = (np.where(known, values, 0.0) for values in (first, second, weights))
    n = counted.sum(axis=1)
    one, other = (ratio((counted * label).sum(axis=1), n) for label in (first, second))
    agreed = ratio((counted * (first == second)).sum(axis=1), n)
    by_chance = one * other + (1 - one) * (1 - other)
    # Sums of weights that are no whole numbers may leave a rest.
    possible = np.where(by_chance < 1 - 1e-12, 1 - by_chance, 0.0)
    result: FloatArray = ratio(agreed - by_chance, possible)
    return result


def _patterns(codes: NDArray[np.int8]) -> tuple[FloatArray, NDArray[np.int64]]:
    """All patterns of votes that occur, (patterns, judges), and which one each row has, (panels, rows)."""
    n_judges = codes.shape[2]
    places = 3 ** np.arange(n_judges, dtype=np.int64)
    number = sum((codes[:, :, j] * place for j, place in enumerate(places)), np.zeros(codes.shape[:2], np.int64))
    if 3**n_judges <= _TABLE:
        present = np.bincount(number.ravel(), minlength=3**n_judges) > 0
        known, index = np.flatnonzero(present), (np.cumsum(present) - 1)[number]
    else:
        known, index = np.unique(number, return_inverse=True)
    digits = known[:, None] // places % 3
    votes = np.where(digits == MISSING, np.nan, (digits == CORRECT).astype(np.float64))
    return votes, index.reshape(number.shape)
