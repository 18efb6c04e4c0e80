"""Judges' error rates as estimators state them, and the priors that they start from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# Verdicts alone say nothing of judges unless at least so many have given both verdicts.
ENOUGH_JUDGES = 3


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
    fell_back (...): where an estimator that learns from verdicts had too few judges to learn from, and all rates are
    the prior's; `why` says it in words.
    """

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    n_wrong: FloatArray
    n_right: FloatArray
    fell_back: NDArray[np.bool_] | np.bool_ = np.False_

    @property
    def why(self) -> str | None:
        """The reason for the prior's speaking in place of the verdicts, None where they speak themselves."""
        n_streams, n_back = np.size(self.fell_back), int(np.sum(self.fell_back))
        if not n_back:
            return None
        where = f"in {n_back} of {n_streams} streams " if n_streams > 1 else ""
        return f"{where}fewer than {ENOUGH_JUDGES} judges have given both verdicts; the rates are the prior's"


def too_few_judges(n_correct: FloatArray, n_incorrect: FloatArray) -> NDArray[np.bool_]:
    """(...): where fewer than three judges have given both verdicts; from their verdicts' counts, (..., judges).

    Two judges that disagree don't tell which of them errs, and one that always says the same tells nothing.
    """
    few: NDArray[np.bool_] = ((n_correct > 0) & (n_incorrect > 0)).sum(axis=-1) < ENOUGH_JUDGES
    return few


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


def filled(mixed: FloatArray, by_task: FloatArray, prior: float) -> FloatArray:
    """The mixed rates (..., judges); for missing ones the mean over tasks (..., tasks, judges), else the prior's."""
    mean = _weighted_mean(by_task, np.ones(by_task.shape[:-1]))
    return np.where(np.isfinite(mixed), mixed, np.where(np.isfinite(mean), mean, prior))


def _weighted_mean(rates: FloatArray, weights: FloatArray) -> FloatArray:
    known = np.isfinite(rates)
    shares = weights[..., None] * known
    return ratio((np.where(known, rates, 0.0) * shares).sum(axis=-2), shares.sum(axis=-2))
