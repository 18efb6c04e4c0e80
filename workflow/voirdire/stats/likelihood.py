"""Likelihoods of a logit: of independent rows, and of strata given how many of their rows are accepted.

Both are log-concave in the coefficients and offer what `voirdire.stats.logit` maximises and takes spreads from. A unit
is what the likelihood is a product over: a row, or a stratum. Units of one cluster may depend on each other.
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


@dataclass(frozen=True)
class _Group:
    """Strata of one size with equally many chosen rows, which come first: x is (size, k, strata)."""

    x: Array
    chosen: int


class Conditional(Likelihood):
    """Strata, given how many of their rows are accepted: no intercept, nor anything else that a stratum shares.

    P(the accepted rows are A | |A| = m) = exp(Σ_A x·beta) / Σ over subsets S of m rows of exp(Σ_S x·beta); the
    denominator is an elementary symmetric polynomial, built up row by row for all strata of one shape at once, its two
    derivatives alike (Gail, Lubin & Rubinstein 1981, Biometrika 68, 703-707).

    x: (rows, k); accepted: booleans (rows,); strata, clusters: (rows,), a stratum lies in one cluster. Strata whose
    rows are all accepted or all rejected tell nothing, and are no units.

    kept: the rows of informative strata, (rows,), booleans. strata: the informative strata's numbers, (units,).
    """

    def __init__(self, x: Array, accepted: Mask, strata: Codes, clusters: Codes) -> None:
        self.n_terms = x.shape[1]
        _, stratum = np.unique(strata, return_inverse=True)
        size = np.bincount(stratum)
        hits = np.bincount(stratum, accepted, minlength=len(size)).astype(np.int64)
        telling = (hits > 0) & (hits < size)
        self.kept: Mask = telling[stratum] if len(stratum) else np.zeros(0, bool)
        self._groups: list[_Group] = []
        members = [np.zeros(0, np.int64)]
        # Choosing the rejected rows with −x is the same likelihood, and shorter where they are fewer.
        flipped = hits > size - hits
        fewer = np.where(flipped, size - hits, hits)
        order = np.lexsort((accepted == flipped[stratum], stratum))
        first = np.concatenate([[0], np.cumsum(size)])[:-1] if len(size) else np.zeros(0, np.int64)
        shapes = np.unique(np.stack([size[telling], fewer[telling]], axis=1), axis=0)
        for rows, chosen in shapes:
            here = np.flatnonzero(telling & (size == rows) & (fewer == chosen))
            place = order[first[here][:, None] + np.arange(rows)]
            values = x[place] * np.where(flipped[here], -1.0, 1.0)[:, None, None]
            centred = values - values.mean(axis=1, keepdims=True)
            self._groups.append(_Group(np.ascontiguousarray(centred.transpose(1, 2, 0)), int(chosen)))
            members.append(place[:, 0])
        example = np.concatenate(members)
        self.clusters = np.asarray(clusters, np.int64)[example]
        self.strata = np.asarray(strata)[example]

    def evaluate(self, beta: Array) -> Evaluation:
        loglik, information = 0.0, np.zeros((self.n_terms, self.n_terms))
        scores = [np.zeros((0, self.n_terms))]
        for group in self._groups:
            log, mean, covariance = _moments(group.x, beta, group.chosen)
            loglik += float(log.sum())
            scores.append((group.x[: group.chosen].sum(axis=0) - mean).T)
            information += covariance.sum(axis=-1)
        return Evaluation(loglik, np.concatenate(scores), information)

    def unit_information(self, beta: Array, direction: Array) -> Array:
        told = [np.zeros(0)]
        for group in self._groups:
            predictor = np.einsum("iks,k->is", group.x, beta)
            along = np.einsum("iks,k->is", group.x, direction)
            told.append(_subset_moments(predictor, along[:, None, :], group.chosen)[2][0, 0])
        return np.concatenate(told)

    def margins(self) -> Array:
        apart = [
            (group.x[: group.chosen, None] - group.x[None, group.chosen :]).transpose(0, 1, 3, 2)
            for group in self._groups
        ]
        return np.concatenate([np.zeros((0, self.n_terms)), *(part.reshape(-1, self.n_terms) for part in apart)])


def _moments(x: Array, beta: Array, chosen: int) -> tuple[Array, Array, Array]:
    return _subset_moments(np.einsum("iks,k->is", x, beta), x, chosen)


def _subset_moments(predictor: Array, x: Array, chosen: int) -> tuple[Array, Array, Array]:
    """Log-probability that the first `chosen` rows are the chosen ones; mean and covariance of a chosen subset's Σ x.

    predictor: (size, strata); x: (size, k, strata). Returns (strata,), (k, strata), (k, k, strata).
    """
    size, k, strata = x.shape
    upper, lower = np.triu_indices(k)
    with np.errstate(over="ignore", invalid="ignore"):
        # Less the mean of the chosen rows', so that the subset that was seen adds exactly 1.
        weight = np.exp(predictor - predictor[:chosen].mean(axis=0))
        total = np.zeros((chosen + 1, strata))
        total[0] = 1
        first = np.zeros((chosen + 1, k, strata))
        second = np.zeros((chosen + 1, len(upper), strata))
        for row in range(size):
            w, here = weight[row], x[row]
            # Subsets of j rows with this row are those of j − 1 of the rows before it, and this row's x with them.
            grown = here[upper] * first[:-1, lower] + here[lower] * first[:-1, upper]
            grown += second[:-1] + (here[upper] * here[lower]) * total[:-1, None]
            second[1:] += w * grown
            first[1:] += w * (first[:-1] + here * total[:-1, None])
            total[1:] += w * total[:-1]
        mean = first[-1] / total[-1]
        flat = second[-1] / total[-1] - mean[upper] * mean[lower]
        covariance = np.zeros((k, k, strata))
        covariance[upper, lower] = covariance[lower, upper] = flat
        return -np.log(total[-1]), mean, covariance
