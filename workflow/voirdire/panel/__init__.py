"""Votes of a panel of judges, their weights, and estimators of the judges' error rates."""

from voirdire.panel.ensembles import static_majority
from voirdire.panel.estimators import (
    ESTIMATORS,
    Bayesian,
    Disagreement,
    Estimator,
    Oracle,
    Prior,
    Rates,
    Stratified,
    mix_rates,
)
from voirdire.panel.matrix import Ballots, ballots
from voirdire.panel.votes import WEIGHTS, Tally, count, majority, minority_veto, weigh, weighted

__all__ = [
    "ESTIMATORS",
    "WEIGHTS",
    "Ballots",
    "Bayesian",
    "Disagreement",
    "Estimator",
    "Oracle",
    "Prior",
    "Rates",
    "Stratified",
    "Tally",
    "ballots",
    "count",
    "majority",
    "minority_veto",
    "mix_rates",
    "static_majority",
    "weigh",
    "weighted",
]
