"""Votes of a panel of judges, their weights, and estimators of the judges' error rates."""

from voirdire.panel.calibrate import calibrate
from voirdire.panel.corrected import corrected_accuracy
from voirdire.panel.dawid_skene import DawidSkene
from voirdire.panel.diagnostics import judge_diagnostics, panel_diagnostics
from voirdire.panel.ensembles import static_majority
from voirdire.panel.estimators import (
    ESTIMATORS,
    Bayesian,
    Disagreement,
    Estimator,
    Oracle,
    Stratified,
)
from voirdire.panel.examinees import compare_examinees
from voirdire.panel.forgetting import Forgetting
from voirdire.panel.hybrid import Hybrid
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.rates import Prior, Rates, mix_rates
from voirdire.panel.rule_table import compare_rules
from voirdire.panel.singles import best_judges, best_single, self_judge
from voirdire.panel.trust import Trust, label_free_trust, trust_table
from voirdire.panel.votes import WEIGHTS, Tally, majority, minority_veto, tally, weigh, weighted

__all__ = [
    "ESTIMATORS",
    "WEIGHTS",
    "Ballots",
    "Bayesian",
    "DawidSkene",
    "Disagreement",
    "Estimator",
    "Forgetting",
    "Hybrid",
    "NotEnoughVerdicts",
    "Oracle",
    "Prior",
    "Rates",
    "Stratified",
    "Tally",
    "Trust",
    "ballots",
    "best_judges",
    "best_single",
    "calibrate",
    "compare_examinees",
    "compare_rules",
    "corrected_accuracy",
    "judge_diagnostics",
    "label_free_trust",
    "majority",
    "minority_veto",
    "mix_rates",
    "panel_diagnostics",
    "self_judge",
    "static_majority",
    "tally",
    "trust_table",
    "weigh",
    "weighted",
]
