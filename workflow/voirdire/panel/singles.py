"""Verdicts of one judge instead of a panel: of the one that does best on a golden set, or of the examinee itself.

Votes are (..., responses, judges), 1, 0 or NaN; results (..., responses), NaN where there is no verdict.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError
from voirdire.panel.votes import FloatArray, Tie, split, tally


def best_judges(votes: ArrayLike, labels: ArrayLike) -> NDArray[np.bool_]:
    """(..., judges): the judge that is best on a golden set, or those that are equally good.

    votes: (..., responses, judges); labels: (..., responses), 1 right, 0 wrong, NaN where not in the golden set. A
    judge's score is (hits + 1) / (labels voted on + 2), its accuracy's mean under a uniform prior, so that one label
    does not beat thirty. A judge that voted on none has no score, and where no judge has one there is no best.
    """
    correct, incorrect = split(votes)
    right, wrong = (side[..., None] for side in split(_fitting(labels, correct.shape[:-1])))
    hits = (correct * right + incorrect * wrong).sum(axis=-2)
    n_voted = ((correct + incorrect) * (right + wrong)).sum(axis=-2)
    # Equal fractions are equal as floats, so that ties are exact.
    score = np.where(n_voted > 0, (hits + 1) / (n_voted + 2), -1.0)
    best: NDArray[np.bool_] = (n_voted > 0) & (score == score.max(axis=-1, keepdims=True, initial=-1.0))
    return best


def best_single(
    votes: ArrayLike, labels: ArrayLike, among: ArrayLike | None = None, tie: Tie = "incorrect"
) -> FloatArray:
    """What the best judge by a golden set says.

    votes: (..., responses, judges); labels: (..., responses), 1 right, 0 wrong, NaN where not in the golden set;
    among: other votes to decide on, of the same judges, in place of `votes`. Equally good judges decide by their strict
    majority, and `tie` says what equally many votes on both sides mean. Returns (..., responses), NaN where none of the
    best has voted, and everywhere if there is no label on which anybody voted.

    >>> best_single([[1, 0], [1, 1], [0, 1]], labels=[1, 1, float("nan")])
    array([1., 1., 0.])
    """
    best = best_judges(votes, labels)
    cast: FloatArray = np.asarray(votes if among is None else among, dtype=np.float64)
    if cast.shape[-1] != best.shape[-1]:
        raise UserError(f"best single judge: {best.shape[-1]} judges have golden votes, {cast.shape[-1]} are to decide")
    return tally(np.where(best[..., None, :], cast, np.nan)).decide(tie=tie)


def self_judge(votes: ArrayLike, own: ArrayLike) -> FloatArray:
    """What each response's own examinee says of it.

    votes: (..., responses, judges); own: the same shape, True where the judge is the response's examinee (see
    `Ballots.own`). Returns (..., responses), NaN where the examinee is no judge or has not voted.

    Raises UserError where a response has several.

    >>> self_judge([[1, 0], [1, 0], [1, 0]], own=[[True, False], [False, True], [False, False]])
    array([ 1.,  0., nan])
    """
    mine: NDArray[np.bool_] = np.asarray(own, dtype=np.bool_)
    if (mine.sum(axis=-1) > 1).any():
        raise UserError("self-judge: a response has more than one judge that is its examinee")
    if mine.shape != np.shape(votes):
        raise UserError(f"self-judge: own has shape {mine.shape}, votes {np.shape(votes)}")
    return tally(np.where(mine, np.asarray(votes, dtype=np.float64), np.nan)).decide()


def _fitting(labels: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    known: FloatArray = np.asarray(labels, dtype=np.float64)
    if known.shape != shape:
        raise UserError(f"labels: the shape is {known.shape}; the votes' responses have {shape}")
    return known
