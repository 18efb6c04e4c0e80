"""A logistic regression of verdicts on own × a polynomial, and what it says of both sides at given places."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array
from voirdire.stats.intervals import square_and_add

_Numbers = npt.NDArray[np.int64]
# Beyond these log-odds a fit has run away: verdicts are separated.
_RUNAWAY = 12.0
_STEPS = 200
_CLOSE = 1e-10


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
            p = _expit(x @ beta)
            rate += importance[stratum] * p
            gradient += (importance[stratum] * p * (1 - p))[:, None] * x
        return rate, gradient


def fitted_sides(
    stratum: _Numbers,
    own: npt.NDArray[np.bool_],
    share: Array,
    accepted: Array,
    weight: Array,
    cluster: _Numbers,
    degree: int,
    importance: Array,
    places: Array,
    level: float = 0.95,
) -> Sides:
    """Fit both sides' rates of accepted verdicts as functions of `share`, and read them at `places`, (m,).

    Rows, (n,) each: stratum and cluster are numbers, strata from 0; own says which side; accepted is 0 or 1; weight is
    how much a row counts. degree: of the polynomials of both sides. importance: (strata,), sums to 1: with which the
    strata enter the rates. Both sides need rows.

    Maximum likelihood; where it runs away, because a side or a stratum has one verdict only (separation), Firth's
    penalised likelihood. Intervals: sandwich of the clusters' scores, but no less than the model's own variance, on
    the logit scale of each side's mean rate; t with one degree of freedom less than clusters on the rarer side.
    Source: Firth (1993), Biometrika 80, 27-38; Liang and Zeger (1986), Biometrika 73, 13-22.
    """
    model = _Model(len(importance), degree, float(np.average(share, weights=weight)))
    # Rows that agree in all that the model sees are one binomial cell: some hundred cells, however many the verdicts.
    keys, cell = np.unique(np.stack([stratum, own, share]), axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    x = model.design(keys[0].astype(np.int64), keys[1].astype(bool), keys[2])
    n, hits = (np.asarray(np.bincount(cell, each), np.float64) for each in (weight, weight * accepted))
    beta = _maximum(x, n, hits)
    penalised = beta is None
    if beta is None:
        beta = _maximum(x, n, hits, firth=True)
    if beta is None:
        raise ArithmeticError("Firth's penalised likelihood has found no maximum")
    fitted = _expit(x @ beta)
    bread = np.asarray(np.linalg.pinv(_information(x, n, fitted)), np.float64)
    robust = _sandwich(bread, x, cell, weight * (accepted - fitted[cell]), cluster)
    rates, gradients = zip(*(model.mean_rate(beta, side, importance, places) for side in (True, False)), strict=True)
    telling = min(len(np.unique(cluster[own])), len(np.unique(cluster[~own])))
    low, high = _difference(np.stack(rates), np.stack(gradients), robust, bread, telling, level)
    return Sides(rates[0], rates[1], low, high, x.shape[1], penalised)


def _maximum(x: Array, n: Array, hits: Array, firth: bool = False) -> Array | None:
    """The coefficients of largest (or with `firth` penalised) likelihood; None where they run away.

    x: (cells, parameters); n, hits: (cells,), trials and accepted ones. Newton's steps, at most 2 long in log-odds.
    """
    beta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = _expit(x @ beta)
        inverse = np.linalg.pinv(_information(x, n, p))
        score = hits - n * p
        if firth:
            leverage = n * p * (1 - p) * np.einsum("ij,jk,ik->i", x, inverse, x)
            score = score + leverage * (0.5 - p)
        step = inverse @ (x.T @ score)
        beta = beta + step * min(1.0, 2 / max(float(np.abs(x @ step).max()), 1e-300))
        if not firth and np.abs(x @ beta).max() > _RUNAWAY:
            return None
        if np.abs(x @ step).max() < _CLOSE:
            return np.asarray(beta)
    return None


def _information(x: Array, n: Array, p: Array) -> Array:
    return np.asarray((x * (n * p * (1 - p))[:, None]).T @ x)


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
    from scipy.special import expit, logit, stdtrit

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


def _expit(log_odds: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))
