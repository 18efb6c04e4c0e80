"""How good verdicts and probabilities are, from how many right and wrong responses each pattern of votes stands for.

verdict, probability: (patterns,) or (draws, patterns); right, wrong: (draws, patterns), responses.
"""

import numpy as np

from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

BINS = 10


def accuracies(verdict: FloatArray, right: FloatArray, wrong: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Accuracy and balanced accuracy (draws,) over decided patterns."""
    accepted_right, accepted_wrong = ((side * (verdict == 1)).sum(axis=1) for side in (right, wrong))
    rejected_right, rejected_wrong = ((side * (verdict == 0)).sum(axis=1) for side in (right, wrong))
    n_right, n_wrong = accepted_right + rejected_right, accepted_wrong + rejected_wrong
    balanced: FloatArray = (ratio(accepted_right, n_right) + ratio(rejected_wrong, n_wrong)) / 2
    return ratio(accepted_right + rejected_wrong, n_right + n_wrong), balanced


def expected_calibration_error(probability: FloatArray, right: FloatArray, wrong: FloatArray) -> FloatArray:
    """(draws,): the mean over responses of |mean probability - share right| of their bin."""
    cell = np.broadcast_to(np.minimum((probability * BINS).astype(np.int64), BINS - 1), right.shape)
    excess = probability * (right + wrong) - right
    off = [np.abs((excess * (cell == number)).sum(axis=1)) for number in range(BINS)]
    return ratio(np.sum(off, axis=0), (right + wrong).sum(axis=1))


def mean_of_draws(values: FloatArray) -> tuple[float, float]:
    """Mean over the draws that have a value, and its standard error, 0 where there is but one draw."""
    known = values[np.isfinite(values)]
    if not len(known):
        return np.nan, np.nan
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0
