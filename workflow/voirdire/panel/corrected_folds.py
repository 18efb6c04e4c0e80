"""The hybrid's probabilities, in which no response's own label has a say."""

import numpy as np

from voirdire.panel.calibration import calibrate_patterns
from voirdire.panel.canonical import judge_order
from voirdire.panel.corrected_sample import Sample
from voirdire.panel.patterns import Patterns
from voirdire.panel.votes import FloatArray

_FOLDS = 10


def fold_probability(sample: Sample, folds: int = _FOLDS) -> FloatArray:
    """P(right) of each response, (responses,), by the hybrid's calibration with the labels of the other folds.

    The labelled are dealt out to `folds` parts, each of which is taken for unlabelled in turn; the probability of the
    unlabelled is that of all labels. Labels weigh by inverse probability. Responses with equal votes and labels have
    equal probabilities, so that no order counts.

    `voirdire.panel.calibration.cross_fitted` leaves out one label at a time: the same idea, but for many judges slower
    by far, and without weights.
    """
    # Judges whose votes can't be told apart may be by the labels.
    kind = np.select([sample.labels == 1, sample.labels == 0], [10_007, 100_003], 1)
    votes = sample.votes[:, judge_order(sample.votes, kind)]
    patterns = Patterns.of(votes)
    n = len(patterns.votes)
    labelled = np.flatnonzero(sample.known)
    weights = sample.weights[labelled]
    cell = patterns.index[labelled] * 2 + (sample.labels[labelled] == 1)
    # Equal labels are dealt out by weight, not by where they stand.
    order = np.lexsort((weights, cell))
    part = np.empty(len(cell), dtype=np.int64)
    part[order] = np.arange(len(cell)) % folds
    held = np.zeros((folds + 1, 2 * n))
    np.add.at(held, (part, cell), weights)
    left = held.sum(axis=0) - held
    unlabelled = np.maximum(patterns.count() - left[:, 1::2] - left[:, 0::2], 0)
    fitted = calibrate_patterns(patterns.votes, unlabelled, left[:, 1::2], left[:, 0::2])
    found = fitted.probability(patterns.votes)
    probability: FloatArray = found[-1, patterns.index]
    weight = held[:-1].sum(axis=0)[cell]
    mean = np.array([held[:-1, c] @ found[:-1, c // 2] for c in cell]) if len(cell) else weight
    probability[labelled] = mean / weight
    return probability
