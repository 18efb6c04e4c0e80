"""Means over triples of comparisons that share responses: their intervals, and a test of no difference in any."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.bias.contrast import Contrast, Mask
from voirdire.bias.dependent import DependentMean, dependent_mean, n_telling
from voirdire.bias.pooling import mean_coefficients, side_by_side
from voirdire.bias.preference import Comparisons
from voirdire.bias.preference_counts import PAIRED
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import Interval
from voirdire.stats.significance import sign_flip_p

Cells = npt.NDArray[np.int64]

# Where more than a tenth of a mean is from tasks with fewer than 3 items on a side, resamples miss their spread.
_FEW_ITEMS = 3
_MOST_THIN = 0.1
_ENOUGH_FOR_PERCENTILE = 100


@dataclass(frozen=True)
class Means:
    """The means over tasks: their intervals (cells,), resamples over the tasks there are, first and second's influence.

    gained: what each cluster's hits of the first, less those of the second, add to the mean, (cells, clusters); thin:
    the share of a cell's mean, (cells,), from tasks in which first or second is seen on fewer than 3 items.
    """

    interval: Interval
    samples: Array
    sides: tuple[Array, Array]
    gained: Array
    thin: Array

    @classmethod
    def of(cls, compared: Comparisons) -> "Means":
        tasks, interval = compared.tasks[:-1], compared.tasks[-1].interval
        share = mean_coefficients([task.interval.estimate for task in tasks])
        deviations = np.stack([task.samples - task.interval.estimate for task in tasks])
        weight = np.where(np.isnan(deviations), 0.0, share[:, None, :])
        moved = ratio((np.nan_to_num(deviations) * weight).sum(axis=0), weight.sum(axis=0))
        influences = [contrast.influence() for contrast in compared.contrasts]
        first, second = (side_by_side([pair[side] for pair in influences], share) for side in (0, 1))
        gains = [
            np.nan_to_num(ratio(c.first_hits - c.second_hits, c.first_n.sum(axis=1)[:, None]))
            for c in compared.contrasts
        ]
        gained = side_by_side(gains, share)
        counts = [np.minimum(*((n > 0).sum(axis=1) for n in (c.first_n, c.second_n))) for c in compared.contrasts]
        thin = (share * (np.stack(counts) < _FEW_ITEMS)).sum(axis=0)
        return cls(interval, interval.estimate + moved, (first, second), gained, thin)

    def over(self, at: Cells, paired: bool, level: float) -> DependentMean:
        """The mean over those of the cells `at` that have a difference; paired: both sides are of the same items.

        Of the same items only those tell something on which the two differ. Interval: see `dependent_mean`, the
        percentile one from 100 telling clusters on (where models fail on the same items it covers about 90 % from 10
        on, and 92 % from 40 on, Student's t 93 to 94 %). Where more than a tenth of the mean is from tasks with fewer
        than 3 items on a side, the cells' bounds are joined as if fully correlated, and the reason says so.
        """
        part = Interval(*(getattr(self.interval, name)[at] for name in Interval.__dataclass_fields__))
        first, second = (side[at] for side in self.sides)
        known = ~np.isnan(part.estimate)
        telling = n_telling([self.gained[at]] if paired else [first, -second], known)
        samples = self.samples[:, at]
        if known.any() and self.thin[at][known].mean() > _MOST_THIN:
            # One or two responses have no spread in a bootstrap, and no correlation; their own bounds know better.
            telling, samples = 0, np.full_like(samples, np.nan)
        return dependent_mean(part, samples, first - second, telling, level, _ENOUGH_FOR_PERCENTILE)


def no_difference_p(compared: Comparisons, at: Cells, version: str) -> tuple[float, int]:
    """Two-sided p that the two rates are equal in each of the cells `at` (of one version), in every task.

    The statistic adds up the scores of all cells and tasks, hits of the first model less those expected from the rate
    that both share: a cell seen on few items counts for little. What one cluster adds over all cells is one unit, so
    that verdicts on the same responses move together. Where it points the other way than the mean of the cells, p is 1.
    matched, same_answer and adjusted: sign-flip of the units (exchange of both models within items). all and harmful:
    the units' sum over the root of their sum of squares, against Student's t with as many degrees of freedom as there
    are clusters with a hit, with a miss, or of the rarer side, whichever are fewest, less one: a score that rests on
    few hits isn't normal. NaN without a difference or with a single cluster.

    Returns p and the number of units.
    """
    estimates = compared.tasks[-1].interval.estimate[at]
    known = ~np.isnan(estimates)
    scored = [
        _scores(contrast, there[at], at) for contrast, there in zip(compared.contrasts, compared.known, strict=True)
    ]
    first, second = (np.concatenate([sides[side] for sides in scored], axis=1) for side in (0, 1))
    there = np.concatenate([sides[2] for sides in scored])
    units = (first - second).sum(axis=0)[there]
    if not known.any() or len(units) < 2:
        return np.nan, len(units)
    if units.sum() * estimates[known].mean() < 0:
        return 1.0, len(units)
    flipped = version in PAIRED or version == "adjusted"
    if flipped:
        return sign_flip_p(units), len(units)
    hit, missed = sum(part[3] for part in scored), sum(part[4] for part in scored)
    rarer = min(n_telling([first, -second], known), hit, missed)
    return _score_p(units, max(rarer - 1, 1)), len(units)


def _scores(contrast: Contrast, known: Mask, at: Cells) -> tuple[Array, Array, Mask, int, int]:
    """What each cluster adds to the score of each cell, by side (cells, clusters); which clusters have a trial.

    And how many clusters have a hit, and how many a miss.
    """
    hits1, n1, hits2, n2 = (np.where(known[:, None], array[at], 0.0) for array in contrast.arrays())
    size1, size2 = (n.sum(axis=1, keepdims=True) for n in (n1, n2))
    shared = np.nan_to_num(ratio((hits1 + hits2).sum(axis=1, keepdims=True), size1 + size2))
    share1, share2 = (np.nan_to_num(ratio(size, size1 + size2)) for size in (size2, size1))
    hits, n = hits1 + hits2, n1 + n2
    there, hit, missed = (np.asarray(some.any(axis=0)) for some in (n > 0, hits > 0, hits < n))
    first, second = share1 * (hits1 - shared * n1), share2 * (hits2 - shared * n2)
    return first, second, there, int(hit.sum()), int(missed.sum())


def _score_p(units: Array, degrees: int) -> float:
    from scipy.special import stdtr

    spread = float(np.sqrt((units**2).sum() * len(units) / (len(units) - 1)))
    return float(2 * stdtr(degrees, -abs(units.sum()) / spread)) if spread > 1e-12 else 1.0
