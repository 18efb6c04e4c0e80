"""Votes of a panel of judges, what they are worth, and what can be known of the judges. Modules by question:

What do the votes say?        matrix (tables to arrays), votes, singles, ensembles, patterns, canonical (orders)
What are the error rates?     rates, estimators (counting), dawid_skene with expectation, hybrid; tabulated, batches,
                              pattern_counts and forgetting keep what they have seen
Is this response right?       calibration with calibration_models, calibration_terms, logistic and halves; calibrate
Which rule is best?           rule_table with rule_scores
How accurate is an examinee?  corrected: corrected_sample, a module per method, corrected_folds; examinees; few_labels
Do judges share their errors? error_correlation, judge_value, judged, model_draws, in tables by diagnostics
Can one do without labels?    trust: independence with split_half, sparse_votes, latent_factor; labelled_check
"""

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
