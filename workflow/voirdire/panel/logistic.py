"""Many small Bayesian logistic regressions at once: what maximises each posterior, and how well each model does.

Every panel (leading axes) has its rows; every model its normal prior of the coefficients. All models of all panels are
climbed together by Newton's method, which for this log-concave posterior ends in the one maximum, wherever it starts.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from voirdire.panel.votes import FloatArray

# No step changes a log-odds by more than this: far from the maximum Newton's step may overshoot.
_LONGEST_STEP = 4.0
_MOST_STEPS = 100
# Half the squared length of the step, in posterior standard deviations, that is not taken any more but for its last
# move; convergence is quadratic, so what is left is far smaller.
_DECREMENT = 1e-7
# With more terms than these their products take more memory than they save time.
_FEW_TERMS = 36


@dataclass(frozen=True)
class Priors:
    """Independent normal priors of coefficients, (models, terms) each; a coefficient of sd 0 stays at its mean."""

    mean: FloatArray
    sd: FloatArray


@dataclass(frozen=True)
class Modes:
    """coefficients (..., models, terms) at the maximum; log_evidence (..., models) by Laplace's approximation."""

    coefficients: FloatArray
    log_evidence: FloatArray


def modes(terms: FloatArray, right: FloatArray, wrong: FloatArray, priors: Priors) -> Modes:
    """The maximum of each posterior, and the log of its marginal likelihood (Laplace).

    terms: (..., rows, terms); right, wrong: (..., rows), how often each row had either outcome, or sums of weights.
    log P(right) = Σ counts log σ(± terms · β), β ~ N(mean, sd²); log evidence = log likelihood + log prior at the
    maximum + ½ log |2π H⁻¹| with H the negative second derivative (MacKay 1992, Neural Computation 4, 415-447).
    """
    batch = terms.shape[:-2]
    rows, models = (prod(batch), terms.shape[-2]), priors.mean.shape
    climb = _Climb(terms.reshape(*rows, models[1]), right.reshape(rows), wrong.reshape(rows), priors)
    steps, evidence = climb.run()
    coefficients = priors.mean + priors.sd * steps
    return Modes(coefficients.reshape(*batch, *models), evidence.reshape(*batch, models[0]))


class _Climb:
    """Coefficients are mean + sd × steps, with steps ~ N(0, 1): a prior of no width needs no special case."""

    def __init__(self, terms: FloatArray, right: FloatArray, wrong: FloatArray, priors: Priors):
        self.terms, self.right, self.wrong = terms, right[:, None, :], wrong[:, None, :]
        self.n = self.right + self.wrong
        self.priors = priors
        self.scales = priors.sd[:, :, None] * priors.sd[:, None, :]
        self.unpacked = np.zeros((terms.shape[-1],) * 2, dtype=np.int64)
        self.products = None
        if terms.shape[-1] <= _FEW_TERMS:
            # Products of terms, once: the information of all models is then one matrix product per panel.
            first, second = np.triu_indices(terms.shape[-1])
            self.products = terms[:, :, first] * terms[:, :, second]
            self.unpacked[first, second] = self.unpacked[second, first] = np.arange(len(first))

    def run(self) -> tuple[FloatArray, FloatArray]:
        steps = np.zeros((len(self.terms), *self.priors.mean.shape))
        log_odds, objective = self.at(steps)
        for _ in range(_MOST_STEPS):
            share = _expit(log_odds)
            information = self.information(share)
            gradient = ((self.right - self.n * share) @ self.terms) * self.priors.sd - steps
            move = np.linalg.solve(information, gradient[..., None])[..., 0]
            decrement = (gradient * move).sum(axis=-1) / 2
            furthest = np.abs((move * self.priors.sd) @ np.swapaxes(self.terms, -1, -2)).max(axis=-1, initial=0.0)
            move = move * np.minimum(1.0, _LONGEST_STEP / np.maximum(furthest, _LONGEST_STEP))[..., None]
            steps, log_odds, objective = self.climbed(steps, move, objective)
            if (decrement < _DECREMENT).all():
                break
        information = self.information(_expit(log_odds))
        return steps, objective - np.linalg.slogdet(information)[1] / 2

    def climbed(self, steps: FloatArray, move: FloatArray, before: FloatArray) -> tuple[FloatArray, ...]:
        """The move, halved where it leads downwards."""
        for _ in range(20):
            log_odds, objective = self.at(steps + move)
            lower = objective < before - 1e-9 * (1 + np.abs(before))
            if not lower.any():
                break
            move = np.where(lower[..., None], move / 2, move)
        return steps + move, log_odds, objective

    def at(self, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-odds (panels, models, rows), and log likelihood plus log prior up to a constant, (panels, models)."""
        log_odds = (self.priors.mean + self.priors.sd * steps) @ np.swapaxes(self.terms, -1, -2)
        # log σ(z) = min(z, 0) - log(1 + exp(-|z|)), and log σ(-z) is that less z.
        log_right = np.minimum(log_odds, 0) - np.log1p(np.exp(-np.abs(log_odds)))
        likelihood = (self.n * log_right - self.wrong * log_odds).sum(axis=-1)
        return log_odds, likelihood - (steps**2).sum(axis=-1) / 2

    def information(self, share: FloatArray) -> FloatArray:
        """(panels, models, terms, terms): that of the steps, the prior's included."""
        told = self.n * share * (1 - share)
        if self.products is not None:
            information: FloatArray = (told @ self.products)[..., self.unpacked]
        else:
            terms = self.terms[:, None]
            information = np.swapaxes(terms, -1, -2) @ (told[..., None] * terms)
        return information * self.scales + np.eye(information.shape[-1])


def _expit(log_odds: FloatArray) -> FloatArray:
    from scipy.special import expit

    share: FloatArray = expit(log_odds)
    return share
