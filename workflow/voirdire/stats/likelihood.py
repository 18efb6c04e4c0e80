"""Likelihoods of a logit: what `voirdire.stats.logit` maximises and takes spreads from, and that of independent rows.

All are log-concave in the coefficients. A unit is what the likelihood is a product over: a row, or a stratum. Units of
one cluster may depend on each other.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
# A row with so small a share of misses has none: it is the rounding of its weights.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Evaluation:
    """At given coefficients: the log-likelihood, its derivative per unit (units, k), the information (k, k)."""

    loglik: float
    scores: Array
    information: Array


class Likelihood(ABC):
    """A logit's likelihood over k coefficients; clusters: the number of each unit's cluster, (units,)."""

    clusters: Codes
    n_terms: int

    @abstractmethod
    def evaluate(self, beta: Array) -> Evaluation:
        """Log-likelihood, scores and information at beta, (k,)."""

    @abstractmethod
    def unit_information(self, beta: Array, direction: Array) -> Array:
        """What each unit tells along a direction (k,): direction' information direction, (units,)."""

    @abstractmethod
    def margins(self) -> Array:
        """Rows z, (…, k): the likelihood rises for ever along d where z·d ≥ 0 for all of them and > 0 for some."""

    def penalty_gradient(self, beta: Array) -> Array:
        """Derivative of ½ log det information at beta, (k,); central differences, good to about 1e-9."""
        gradient = np.zeros(self.n_terms)
        widths = 1e-5 / np.sqrt(np.maximum(np.diag(self.evaluate(beta).information), 1e-12) / len(self.clusters))
        for term in range(self.n_terms):
            move = np.zeros(self.n_terms)
            move[term] = widths[term]
            above, below = (half_log_det(self.evaluate(beta + sign * move).information) for sign in (1, -1))
            gradient[term] = (above - below) / (2 * widths[term])
        return gradient


def half_log_det(information: Array) -> float:
    """½ log det of an information; −∞ where it is singular."""
    if not np.isfinite(information).all():
        return -np.inf
    sign, log = np.linalg.slogdet(information)
    return float(log) / 2 if sign > 0 else -np.inf


class Grouped(Likelihood):
    """Binomial rows: of n trials each, hits were accepted, with P(accepted) = 1 / (1 + exp(−x·beta)).

    x: (rows, k), with the intercept or whatever stands for it; n, hits: (rows,), which need be no whole numbers, as
    trials may be weighted; clusters: (rows,). Trials of a row are independent, and so are rows.
    """

    def __init__(self, x: Array, n: Array, hits: Array, clusters: Codes) -> None:
        self.x, self.n, self.hits, self.clusters = x, n, hits, clusters
        self.n_terms = x.shape[1]

    def evaluate(self, beta: Array) -> Evaluation:
        predictor = self.x @ beta
        share = expit(predictor)
        loglik = float((self.hits * predictor - self.n * np.logaddexp(0, predictor)).sum())
        return Evaluation(loglik, self.x * (self.hits - self.n * share)[:, None], self._information(share))

    def unit_information(self, beta: Array, direction: Array) -> Array:
        return np.asarray(self._weight(expit(self.x @ beta)) * (self.x @ direction) ** 2)

    def margins(self) -> Array:
        """A row with hits, and one reversed with misses, but for those that rounding of the weights leaves."""
        return np.concatenate([self.x[self.hits > 0], -self.x[self.hits < self.n * (1 - _ROUNDING)]])

    def penalty_gradient(self, beta: Array) -> Array:
        """Heinze & Schemper (2002), eq. 3: Σ hᵢ (½ − πᵢ) xᵢ, h the diagonal of the weighted hat matrix."""
        share = expit(self.x @ beta)
        inverse = np.linalg.pinv(self._information(share))
        hat = self._weight(share) * np.einsum("ij,ij->i", self.x @ inverse, self.x)
        return np.asarray(self.x.T @ (hat * (0.5 - share)))

    def _weight(self, share: Array) -> Array:
        return np.asarray(self.n * share * (1 - share))

    def _information(self, share: Array) -> Array:
        return np.asarray((self.x * self._weight(share)[:, None]).T @ self.x)


class Logistic(Grouped):
    """Rows of one trial each. accepted: booleans (rows,); x, clusters: as for `Grouped`."""

    def __init__(self, x: Array, accepted: Mask, clusters: Codes) -> None:
        super().__init__(x, np.ones(len(x)), accepted.astype(np.float64), clusters)


def expit(predictor: Array) -> Array:
    """1 / (1 + exp(−x)) of each log-odds x, of any shape; 0 and 1 far out, without an overflow."""
    from scipy.special import expit as of

    share: Array = of(predictor)
    return share
