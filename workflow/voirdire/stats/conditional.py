"""The conditional likelihood of a logit: strata, given how many of their rows are accepted."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array
from voirdire.stats.likelihood import Codes, Evaluation, Likelihood, Mask

# Strata with more subsets than this to choose the accepted rows from aren't enumerated.
_MOST_SUBSETS = 70


class Conditional(Likelihood):
    """Strata, given how many of their rows are accepted: no intercept, nor anything else that a stratum shares.

    P(the accepted rows are A | |A| = m) = exp(Σ_A x·beta) / Σ over subsets S of m rows of exp(Σ_S x·beta). Short strata
    are written out, subset by subset; for long ones the denominator is an elementary symmetric polynomial, built up row
    by row for all strata of one shape at once, with its two derivatives (Gail, Lubin & Rubinstein 1981, Biometrika 68,
    703-707).

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
        self.kept: Mask = telling[stratum]
        # Choosing the rejected rows with −x is the same likelihood, and shorter where they are fewer.
        flipped = hits > size - hits
        fewer = np.where(flipped, size - hits, hits)
        order = np.lexsort((accepted == flipped[stratum], stratum))
        first = np.cumsum(size) - size
        shapes = np.unique(np.stack([size[telling], fewer[telling]], axis=1), axis=0)
        self._groups: list[_Group] = []
        members = [np.zeros(0, np.int64)]
        for rows, chosen in sorted(shapes.tolist(), key=lambda shape: comb(*shape) > _MOST_SUBSETS):
            here = np.flatnonzero(telling & (size == rows) & (fewer == chosen))
            place = order[first[here][:, None] + np.arange(rows)]
            values = x[place] * np.where(flipped[here], -1.0, 1.0)[:, None, None]
            self._groups.append(_Group(values - values.mean(axis=1, keepdims=True), chosen))
            members.append(place[:, 0])
        example = np.concatenate(members)
        self.clusters = np.asarray(clusters, np.int64)[example]
        self.strata = np.asarray(strata)[example]
        self._short = _Subsets([group for group in self._groups if group.n_subsets <= _MOST_SUBSETS], self.n_terms)
        self._long = [group for group in self._groups if group.n_subsets > _MOST_SUBSETS]

    def evaluate(self, beta: Array) -> Evaluation:
        found = [self._short.evaluate(beta), *(group.evaluate(beta) for group in self._long)]
        return Evaluation(
            sum(part.loglik for part in found),
            np.concatenate([part.scores for part in found]),
            np.sum([part.information for part in found], axis=0),
        )

    def unit_information(self, beta: Array, direction: Array) -> Array:
        told = [self._short.unit_information(beta, direction)]
        return np.concatenate([*told, *(group.unit_information(beta, direction) for group in self._long)])

    def margins(self) -> Array:
        apart = [group.x[:, : group.chosen, None] - group.x[:, None, group.chosen :] for group in self._groups]
        return np.concatenate([np.zeros((0, self.n_terms)), *(part.reshape(-1, self.n_terms) for part in apart)])

    def penalty_gradient(self, beta: Array) -> Array:
        if self._long:
            return super().penalty_gradient(beta)
        return self._short.penalty_gradient(beta)


@dataclass(frozen=True)
class _Group:
    """Strata of one size with equally many chosen rows, which come first: x is (strata, size, k)."""

    x: Array
    chosen: int

    @property
    def n_subsets(self) -> int:
        return comb(self.x.shape[1], self.chosen)

    def subsets(self) -> Array:
        """Σ x of each subset of rows that might have been chosen, (strata, subsets, k); the one that was is first."""
        rows = np.array(list(combinations(range(self.x.shape[1]), self.chosen)))
        return np.asarray(self.x[:, rows].sum(axis=2))

    def evaluate(self, beta: Array) -> Evaluation:
        log, mean, covariance = _subset_moments(self.x @ beta, self.x, self.chosen)
        scores = self.x[:, : self.chosen].sum(axis=1) - mean
        return Evaluation(float(log.sum()), scores, covariance.sum(axis=0))

    def unit_information(self, beta: Array, direction: Array) -> Array:
        return _subset_moments(self.x @ beta, (self.x @ direction)[:, :, None], self.chosen)[2][:, 0, 0]


class _Subsets:
    """Strata of any shape, their subsets below each other: total (subsets, k), Σ x less that of the one chosen."""

    def __init__(self, groups: Sequence[_Group], k: int) -> None:
        every = [subsets - subsets[:, :1] for subsets in (group.subsets() for group in groups)]
        # Not of −1 rows: without a column there is nothing to tell their number from.
        rows = [subsets.reshape(subsets.shape[0] * subsets.shape[1], k) for subsets in every]
        self.total: Array = np.concatenate([np.zeros((0, k)), *rows])
        sizes = [np.full(len(subsets), subsets.shape[1]) for subsets in every]
        self.size: npt.NDArray[np.int64] = np.concatenate([np.zeros(0, np.int64), *sizes])
        self.first = np.cumsum(self.size) - self.size

    def _distribution(self, beta: Array) -> tuple[float, Array, Array, Array]:
        """Log-likelihood; each subset's probability; the strata's means (units, k); each subset's total less those."""
        predictor = self.total @ beta
        highest = np.maximum.reduceat(predictor, self.first) if len(self.first) else np.zeros(0)
        weight = np.exp(predictor - np.repeat(highest, self.size))
        sums = self._sums(weight)
        probability = weight / np.repeat(sums, self.size)
        mean = self._sums(probability[:, None] * self.total)
        return (
            -float((highest + np.log(sums)).sum()),
            probability,
            mean,
            self.total - np.repeat(mean, self.size, axis=0),
        )

    def _sums(self, values: Array) -> Array:
        sums = np.add.reduceat(values, self.first, axis=0) if len(self.first) else values[:0]
        return np.asarray(sums, np.float64)

    def evaluate(self, beta: Array) -> Evaluation:
        loglik, probability, mean, centred = self._distribution(beta)
        return Evaluation(loglik, -mean, (centred * probability[:, None]).T @ centred)

    def unit_information(self, beta: Array, direction: Array) -> Array:
        _, probability, _, centred = self._distribution(beta)
        return self._sums(probability * (centred @ direction) ** 2)

    def penalty_gradient(self, beta: Array) -> Array:
        """½ Σ p (z' I⁻¹ z) z over subsets, z centred: the information's derivative is the third central moment."""
        _, probability, _, centred = self._distribution(beta)
        inverse = np.linalg.pinv((centred * probability[:, None]).T @ centred)
        size = np.einsum("ij,ij->i", centred @ inverse, centred)
        return np.asarray(centred.T @ (probability * size) / 2)


def _subset_moments(predictor: Array, x: Array, chosen: int) -> tuple[Array, Array, Array]:
    """Log-probability that the first `chosen` rows are the chosen ones; mean and covariance of a chosen subset's Σ x.

    predictor: (strata, size); x: (strata, size, k). Returns (strata,), (strata, k), (strata, k, k).
    """
    strata, _, k = x.shape
    upper, lower = np.triu_indices(k)
    with np.errstate(over="ignore", invalid="ignore"):
        # Less the mean of the chosen rows', so that the subset that was seen adds exactly 1.
        weight = np.exp(predictor - predictor[:, :chosen].mean(axis=1, keepdims=True)).T
        columns = np.ascontiguousarray(x.transpose(1, 2, 0))
        total = np.zeros((chosen + 1, strata))
        total[0] = 1
        first = np.zeros((chosen + 1, k, strata))
        second = np.zeros((chosen + 1, len(upper), strata))
        for w, here in zip(weight, columns, strict=True):
            # Subsets of j rows with this row are those of j − 1 of the rows before it, and this row's x with them.
            grown = here[upper] * first[:-1, lower] + here[lower] * first[:-1, upper]
            grown += second[:-1] + (here[upper] * here[lower]) * total[:-1, None]
            second[1:] += w * grown
            first[1:] += w * (first[:-1] + here * total[:-1, None])
            total[1:] += w * total[:-1]
        mean = first[-1] / total[-1]
        flat = second[-1] / total[-1] - mean[upper] * mean[lower]
        covariance = np.zeros((strata, k, k))
        covariance[:, upper, lower] = covariance[:, lower, upper] = flat.T
        return -np.log(total[-1]), mean.T, covariance
