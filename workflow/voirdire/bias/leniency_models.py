"""Coefficients of the models of leniency, with intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from voirdire.bias.leniency_design import Model
from voirdire.bias.leniency_rows import TERMS, WORDS
from voirdire.stats.likelihood import Likelihood
from voirdire.stats.logit import (
    MAXIMUM,
    PENALISED,
    Maximum,
    Spread,
    finite_maximum,
    penalised_maximum,
    profile_bound,
    score_p,
    separated,
    spread,
)

_FEW_CLUSTERS = 30


@dataclass(frozen=True)
class Coefficient:
    """One term's estimate with interval and p; NaN and a reason where there is none."""

    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan
    fit: str = ""
    interval: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Fitted:
    """A model's coefficients by term, and where its maximum is, by name: where the next fit may start."""

    coefficients: dict[str, Coefficient]
    place: dict[str, float] = field(default_factory=dict)


def fitted(
    model: Model, level: float, noise: Callable[[Spread, Maximum], Spread] = lambda around, at: around
) -> Fitted:
    """The coefficients of a model's own terms, with intervals, and reasons for the rest.

    Maximum likelihood where there is a maximum: the interval is Student's t of the sandwich over item clusters, with as
    many degrees of freedom as clusters are worth, less one. Where they are worth fewer than 30 the variance is the
    model's own if that is larger, as a sandwich of few clusters is too small. Where rows are separated, Firth's
    penalised likelihood: the profile's interval, its drop multiplied by the design effect (sandwich over inverse
    information, 1 at least). noise: what makes of that spread one with the error of what the terms are made of.
    p: `score_p`.
    """
    reasons = {term: Coefficient(reason=reason) for term, reason in model.why.items()}
    if model.likelihood is None:
        return Fitted(reasons)
    at = finite_maximum(model.likelihood)
    reason = ""
    if at is None:
        which = separated(model.likelihood.margins())
        reason = _separated_by([name for name, there in zip(model.names, which, strict=True) if there])
        at = penalised_maximum(model.likelihood)
    if not at.converged:
        return Fitted({**dict.fromkeys(model.own, Coefficient(reason="the fit did not converge")), **reasons})
    numbers = [model.names.index(term) for term in model.own]
    around = noise(spread(model.likelihood, at, numbers), at)
    found = {
        term: coefficient(model.likelihood, at, around, number, level, reason)
        for term, number in zip(model.own, numbers, strict=True)
    }
    return Fitted({**found, **reasons}, dict(zip(model.names, at.beta.tolist(), strict=True)))


def _separated_by(names: Sequence[str]) -> str:
    """Why there is no maximum, in words. names: of the coefficients that run away, judges' and tasks' effects too.

    >>> _separated_by(["examinee_accuracy"])
    'accuracy alone separates accepted from rejected answers: a penalised fit'
    >>> _separated_by(["examinee_accuracy", "log_length", "own_model", "judge ann"])
    'accuracy, length and own authorship separate accepted from rejected answers: a penalised fit'
    """
    terms = [WORDS[name] for name in names if name in TERMS]
    who = " and ".join([", ".join(terms[:-1]), terms[-1]] if len(terms) > 1 else terms) or "effects of judges or tasks"
    alone = " alone" if terms and len(names) == 1 else ""
    verb = "separates" if len(terms) == 1 else "separate"
    return f"{who}{alone} {verb} accepted from rejected answers: a penalised fit"


def coefficient(
    likelihood: Likelihood, at: Maximum, around: Spread, number: int, level: float, reason: str = ""
) -> Coefficient:
    """The coefficient of that number with interval and p, as `fitted` says."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(max(around.effective_clusters[number] - 1, 1.0), (1 + level) / 2))
    robust, plain = (float(covariance[number, number]) for covariance in (around.by_cluster, around.by_model))
    estimate = float(at.beta[number])
    p = score_p(likelihood, at, number)
    if around.effective_clusters[number] < _FEW_CLUSTERS:
        robust = max(robust, plain)
    if not at.penalised:
        half = quantile * np.sqrt(robust)
        return Coefficient(estimate, estimate - half, estimate + half, p, MAXIMUM, "t (clustered)", reason)
    drop = quantile**2 / 2 * max(robust / plain, 1.0)
    low, high = (profile_bound(likelihood, at, number, drop, side) for side in (-1, 1))
    return Coefficient(estimate, low, high, p, PENALISED, "profile (penalised)", reason)


def estimates(model: Model, start: dict[str, float]) -> dict[str, float]:
    """The estimates alone, of the model's own terms: for leaving examinees out."""
    if model.likelihood is None:
        return {}
    begin = np.array([start.get(name, 0.0) for name in model.names])
    at = finite_maximum(model.likelihood, begin)
    if at is None:
        at = penalised_maximum(model.likelihood)
    if not at.converged:
        return {}
    return {term: float(at.beta[model.names.index(term)]) for term in model.own}
