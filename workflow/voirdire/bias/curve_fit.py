"""A logistic regression of verdicts on own × a polynomial, and what it says of both sides at given places."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array
from voirdire.stats.intervals import square_and_add
from voirdire.stats.likelihood import Grouped, expit
from voirdire.stats.logit import finite_maximum, penalised_maximum

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sides:
    """Fitted rates of own and others', (places,) each, and the interval of own − other."""

    own: Array
    other: Array
    low: Array
    high: Array
    n_parameters: int
    penalised: bool


@dataclass(frozen=True)
class Columns:
    """What a curve is fitted to, (n,) each: stratum and cluster are numbers, strata from 0; own says which side;
    accepted is 0 or 1; weight is how much a row counts."""

    stratum: _Numbers
    own: npt.NDArray[np.bool_]
    share: Array
    accepted: Array
    weight: Array
    cluster: _Numbers


@dataclass(frozen=True)
class _Model:
    """Log-odds of accepting: intercept of the stratum + polynomial(share) + own × (constant + polynomial(share))."""

    n_strata: int
    degree: int
    centre: float

    def design(self, stratum: _Numbers, own: npt.NDArray[np.bool_], share: Array) -> Array:
        curve = (share[:, None] - self.centre) ** np.arange(1, self.degree + 1)
        sided = np.column_stack([np.ones(len(share)), curve]) * own[:, None]
        return np.column_stack([np.eye(self.n_strata)[stratum], curve, sided])

    def mean_rate(self, beta: Array, own: bool, importance: Array, places: Array) -> tuple[Array, Array]:
        """The strata's weighted mean rate on one side, (places,), and its gradient, (places, parameters)."""
        rate, gradient = np.zeros(len(places)), np.zeros((len(places), len(beta)))
        for stratum in np.flatnonzero(importance):
            x = self.design(np.full(len(places), stratum), np.full(len(places), own), places)
            p = expit(x @ beta)
            rate += importance[stratum] * p
            gradient += (importance[stratum] * p * (1 - p))[:, None] * x
        return rate, gradient


def fitted_sides(rows: Columns, *, degree: int, importance: Array, places: Array, level: float = 0.95) -> Sides:
    """Fit both sides' rates of accepted verdicts as functions of the rows' share, and read them at `places`, (m,).

    degree: of the polynomials of both sides. importance: (strata,), sums to 1: with which the strata enter the rates.
    Every stratum needs both sides, and each side more shares than the degree.

    Maximum likelihood; where it has none, because a side or a stratum has one verdict only (separation), Firth's
    penalised likelihood. Intervals: sandwich of the clusters' scores, but no less than the model's own variance, on
    the logit scale of each side's mean rate; t with one degree of freedom less than clusters on the rarer side.
    Source: Firth (1993), Biometrika 80, 27-38; Liang and Zeger (1986), Biometrika 73, 13-22.
    """
    model = _Model(len(importance), degree, float(np.average(rows.share, weights=rows.weight)))
    # Rows that agree in all that the model sees are one binomial cell: some hundred cells, however many the verdicts.
    keys, cell = np.unique(np.stack([rows.stratum, rows.own, rows.share]), axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    x = model.design(keys[0].astype(np.int64), keys[1].astype(bool), keys[2])
    accepted = rows.weight * rows.accepted
    n, hits = (np.asarray(np.bincount(cell, each), np.float64) for each in (rows.weight, accepted))
    likelihood = Grouped(x, n, hits, np.arange(len(x)))
    found = finite_maximum(likelihood) or penalised_maximum(likelihood)
    bread = np.asarray(np.linalg.pinv(found.evaluation.information), np.float64)
    residual = rows.weight * (rows.accepted - expit(x @ found.beta)[cell])
    robust = _sandwich(bread, x, cell, residual, rows.cluster)
    rates, gradients = zip(
        *(model.mean_rate(found.beta, side, importance, places) for side in (True, False)), strict=True
    )
    telling = min(len(np.unique(rows.cluster[side])) for side in (rows.own, ~rows.own))
    low, high = _difference(np.stack(rates), np.stack(gradients), robust, bread, telling, level)
    return Sides(rates[0], rates[1], low, high, x.shape[1], found.penalised)


def _sandwich(bread: Array, x: Array, cell: _Numbers, residual: Array, cluster: _Numbers) -> Array:
    """Covariance of the coefficients from the clusters' scores, with the factor G / (G − 1) for G clusters."""
    labels, code = np.unique(cluster, return_inverse=True)
    code = code.reshape(-1)
    by_cell = np.bincount(code * len(x) + cell, residual, minlength=len(labels) * len(x)).reshape(len(labels), len(x))
    scores = by_cell @ x
    factor = len(labels) / max(len(labels) - 1, 1)
    return np.asarray(factor * bread @ (scores.T @ scores) @ bread)


def _difference(
    rates: Array, gradients: Array, robust: Array, model: Array, telling: int, level: float
) -> tuple[Array, Array]:
    """The interval of own − other: rates (2, places), gradients (2, places, parameters)."""
    from scipy.special import logit, stdtrit

    first, second = gradients
    variance = np.einsum("smi,ij,smj->sm", gradients, robust, gradients)
    covariance = np.einsum("mi,ij,mj->m", first, robust, second)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / np.sqrt(variance[0] * variance[1])
    correlation = np.clip(np.nan_to_num(correlation), -1, 1)
    least = np.einsum("smi,ij,smj->sm", gradients, model, gradients)
    spread = np.sqrt(np.maximum(variance, least)) / np.maximum(rates * (1 - rates), 1e-12)
    reach = stdtrit(max(telling - 1, 1), (1 + level) / 2) * spread
    middle = logit(np.clip(rates, 1e-12, 1 - 1e-12))
    return square_and_add(rates, expit(middle - reach), expit(middle + reach), np.array([1.0, -1.0]), correlation)
