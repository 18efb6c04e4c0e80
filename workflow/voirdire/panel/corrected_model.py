"""Prevalence by Dawid and Skene's model, with an interval of its own: what verdicts alone say of accuracy.

The interval holds if judges err independently given the truth. Where they share errors it is short and wrong.
"""

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.corrected_methods import each_alone, registered
from voirdire.panel.corrected_sample import Corrected, Options, Sample, bounded, wilson_at
from voirdire.panel.dawid_skene import Fit, fit, posterior_logit
from voirdire.panel.rates import ENOUGH_JUDGES, too_few_judges
from voirdire.panel.votes import FloatArray, split

NOTE = "by the votes alone: wrong, and too sure, where judges share errors"
# As `fit` adds on either side of a count.
_SMOOTHING = 1.0


@registered("dawid_skene")
def dawid_skene(sample: Sample, options: Options) -> list[Corrected | None]:
    """Dawid-Skene's prevalence, each examinee with rates of its own; labels are ignored."""
    return each_alone(sample, options, _prevalence)


def _prevalence(sample: Sample, options: Options) -> Corrected:
    voted = np.isfinite(sample.votes).any(axis=1)
    votes = sample.votes[voted]
    if not len(votes):
        return Corrected(note="no votes")
    fitted = fit(votes)
    if too_few_judges(fitted.n_correct, fitted.n_incorrect):
        return Corrected(note=f"fewer than {ENOUGH_JUDGES} judges have given both verdicts")
    estimate = float(fitted.prevalence)
    variance = prevalence_variance(votes, fitted, sample.cluster[voted], options.target == "set")
    worth = estimate * (1 - estimate) / variance if variance > 0 else np.inf
    return bounded(estimate, *wilson_at(estimate, worth, options.level), "Wilson, sandwich variance", NOTE)


def prevalence_variance(votes: FloatArray, fitted: Fit, cluster: NDArray[np.int64], of_set: bool = False) -> float:
    """Variance of the fitted prevalence, with that of the judges' rates in it, by the sandwich over clusters.

    votes: (responses, judges); fitted: their `fit`; cluster: (responses,). of_set: without the spread of the truth over
    other responses that might have been asked: what the votes of these leave unknown of their truth.
    Source: Louis (1982), J. R. Stat. Soc. B 44, 226-233, for the information that EM has lost.
    """
    from scipy.special import expit

    posterior = expit(posterior_logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence))
    right, wrong = (scores[:, _used(fitted)] for scores in _complete_scores(votes, fitted))
    scores = posterior[:, None] * right + (1 - posterior)[:, None] * wrong
    apart = right - wrong
    lost = (posterior * (1 - posterior))[:, None] * apart
    complete = _complete_information(votes, fitted, posterior)[_used(fitted)]
    information = np.diag(complete) - lost.T @ apart
    inverse = np.linalg.pinv(information)[0]
    share = float(fitted.prevalence)
    # From log-odds to the share.
    scale = (share * (1 - share)) ** 2
    if of_set:
        return max(float(inverse[0] - 1 / complete[0]) * scale, 0.0)
    codes = np.unique(cluster, return_inverse=True)[1]
    sums = np.stack([np.bincount(codes, column) for column in scores.T], axis=1)
    return float(((sums @ inverse) ** 2).sum() * scale)


def _used(fitted: Fit) -> NDArray[np.bool_]:
    """Which of the parameters (prevalence, FNRs, FPRs) votes speak of."""
    judged = fitted.n_correct + fitted.n_incorrect > 0
    return np.concatenate([[True], judged, judged])


def _complete_scores(votes: FloatArray, fitted: Fit) -> tuple[FloatArray, FloatArray]:
    """Derivatives by the parameters' log-odds of a response's log likelihood, were it right, and were it wrong."""
    correct, incorrect = split(votes)
    there = correct + incorrect
    accepts_right, accepts_wrong = np.nan_to_num(1 - fitted.fnr), np.nan_to_num(fitted.fpr)
    if_right, if_wrong = correct - there * accepts_right, correct - there * accepts_wrong
    ones, share = np.ones((len(votes), 1)), float(fitted.prevalence)
    nothing = np.zeros_like(correct)
    return (
        np.concatenate([(1 - share) * ones, if_right, nothing], axis=1),
        np.concatenate([-share * ones, nothing, if_wrong], axis=1),
    )


def _complete_information(votes: FloatArray, fitted: Fit, posterior: FloatArray) -> FloatArray:
    """The diagonal of the information there would be, were the truth known, the smoothing's part with it."""
    there = np.isfinite(votes).astype(np.float64)
    n_right = posterior @ there + 2 * _SMOOTHING
    n_wrong = (1 - posterior) @ there + 2 * _SMOOTHING
    fnr, fpr = np.nan_to_num(fitted.fnr), np.nan_to_num(fitted.fpr)
    share = float(fitted.prevalence)
    of_share = (len(votes) + 2 * _SMOOTHING) * share * (1 - share)
    return np.concatenate([[of_share], n_right * fnr * (1 - fnr), n_wrong * fpr * (1 - fpr)])
