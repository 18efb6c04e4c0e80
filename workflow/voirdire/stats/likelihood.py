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


class Logistic(Likelihood):
    """Independent rows: P(accepted) = 1 / (1 + exp(−x·beta)).

    x: (rows, k), with the intercept or whatever stands for it; accepted: booleans (rows,); clusters: (rows,).
    """

    def __init__(self, x: Array, accepted: Mask, clusters: Codes) -> None:
        self.x, self.accepted, self.clusters = x, accepted.astype(np.float64), clusters
        self.n_terms = x.shape[1]

    def evaluate(self, beta: Array) -> Evaluation:
        predictor = self.x @ beta
        share = _expit(predictor)
        loglik = float((self.accepted * predictor - np.logaddexp(0, predictor)).sum())
        information = (self.x * (share * (1 - share))[:, None]).T @ self.x
        return Evaluation(loglik, self.x * (self.accepted - share)[:, None], information)

    def unit_information(self, beta: Array, direction: Array) -> Array:
        share = _expit(self.x @ beta)
        told: Array = share * (1 - share) * (self.x @ direction) ** 2
        return told

    def margins(self) -> Array:
        return self.x * np.where(self.accepted > 0, 1.0, -1.0)[:, None]

    def penalty_gradient(self, beta: Array) -> Array:
        """Heinze & Schemper (2002), eq. 3: Σ hᵢ (½ − πᵢ) xᵢ, h the diagonal of the weighted hat matrix."""
        share = _expit(self.x @ beta)
        weight = share * (1 - share)
        information = (self.x * weight[:, None]).T @ self.x
        hat = weight * np.einsum("ij,ij->i", self.x @ np.linalg.pinv(information), self.x)
        gradient: Array = self.x.T @ (hat * (0.5 - share))
        return gradient


def _expit(predictor: Array) -> Array:
    from scipy.special import expit

    share: Array = expit(predictor)
    return share
