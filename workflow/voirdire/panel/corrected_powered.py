"""Prediction-powered inference: the labels' mean, made more precise by predictions that all responses have.

The accuracy is the mean prediction of all responses plus the labels' mean residual, each prediction times a slope. The
slope that makes the variance least is that of the regression of labels on predictions: then the estimate is that of
PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453) with power tuning, and survey statistics' regression
estimator. Whatever the predictions are, no bias is left; good ones shorten the interval.

A plain normal interval covers too little with few labels and accuracies near 0 or 1. In its place: Wilson's at the
number of responses n = θ (1 − θ) / variance that the estimate is worth, with a t quantile.
"""

from dataclasses import dataclass

import numpy as np

from voirdire.panel.corrected_methods import NO_LABELS, each_alone, registered
from voirdire.panel.corrected_sample import (
    Corrected,
    Options,
    Sample,
    bounded,
    cluster_sums,
    design_effect,
    fewest_worth,
    kish,
    labelled_mean,
    wilson_at,
)
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# With fewer, the slope is chance.
FEWEST_LABELS = 10
# How many labels the residuals of all examinees count for, beside an examinee's own.
_OTHERS = 5.0
# Predictions that differ by no more are one: what is left of their spread is rounding.
_SAME = 1e-9
_INTERVAL = "Wilson at effective n, t"


@dataclass(frozen=True)
class Pooled:
    """Each examinee's estimate by one slope, within examinees, and its own residuals: arrays (examinees,).

    estimate: not clipped, NaN without labels; worth: how many independent responses it is worth (infinite if there is
    nothing unknown), by a design effect that is estimated from all examinees; n_labels: own; freedom: of that effect.
    slope: of the labels on the vote share.
    """

    estimate: FloatArray
    worth: FloatArray
    n_labels: FloatArray
    freedom: float
    slope: float


@registered("ppi")
def powered(sample: Sample, options: Options) -> list[Corrected | None]:
    """PPI++ on the vote share: the whole panel by itself, examinees with a pooled design effect."""
    found = pooled(sample, options)
    cells = [_by_pooled(found, number, options) for number in range(sample.n_examinees)]
    return [*cells, powered_of(sample, sample.share, options)]


@registered("ppi_hybrid")
def powered_by_probability(sample: Sample, options: Options) -> list[Corrected | None]:
    """PPI++ on the hybrid's cross-fitted probability, each examinee by itself."""
    if sample.probability is None:
        return [None] * (sample.n_examinees + 1)
    return each_alone(sample, options, lambda cell, given: powered_of(cell, _probability(cell), given, most=1.0))


@registered("hybrid")
def mean_probability(sample: Sample, options: Options) -> list[Corrected | None]:
    """The mean of the hybrid's probabilities, labels in place of those of the labelled; no residual corrects it.

    The interval has the labels' residuals in it, and the spread of the probabilities.
    """
    if sample.probability is None:
        return [None] * (sample.n_examinees + 1)
    return each_alone(sample, options, _mean_of_probability)


def powered_of(sample: Sample, prediction: FloatArray, options: Options, most: float = np.inf) -> Corrected:
    """PPI++ of one group of responses by a prediction of each, (responses,), in which its label has no say.

    most: the slope is kept from −`most` to `most`; a probability needs no more than 1.
    """
    known, n_labels = sample.known, sample.n_labels
    if n_labels < FEWEST_LABELS:
        return Corrected(note=f"fewer than {FEWEST_LABELS} labels" if n_labels else NO_LABELS)
    weights, labels = sample.weights, np.where(known, sample.labels, 0.0)
    mean = labelled_mean(sample)
    apart = prediction - labelled_mean(sample, prediction)
    slope = float(np.clip(_slope(weights, apart, labels), -most, most))
    estimate = mean + slope * float(apart.mean())
    residual = np.where(known, labels - mean - slope * apart, 0.0)
    variance = _variance(sample, residual, slope * prediction, options)
    inside = float(np.clip(estimate, 0, 1))
    worth = np.inf
    if variance > 0:
        least = fewest_worth(sample) / (sample.unknown_share() if options.target == "set" else 1.0)
        worth = max(inside * (1 - inside) / variance, least)
    freedom = len(np.unique(sample.cluster[known])) - 2
    return bounded(estimate, *wilson_at(inside, worth, options.level, freedom), _INTERVAL)


def _slope(weights: FloatArray, apart: FloatArray, labels: FloatArray) -> float:
    """Of the regression of labels on predictions, centred; 0 where these don't differ among the labelled."""
    spread = float((weights * apart**2).sum())
    return float((weights * apart * labels).sum() / spread) if spread > _SAME * weights.sum() else 0.0


def _variance(sample: Sample, residual: FloatArray, predicted: FloatArray, options: Options) -> float:
    """Of the regression estimator, by clusters; 0 only where nothing is unknown.

    residual: (responses,), 0 without a label; predicted: (responses,), slope × prediction.
    """
    known, weights, n = sample.known, sample.weights, sample.n_labels
    scale = np.sqrt(n / (n - 2))
    # That no label has shown an error doesn't mean that there are none: half an error on either side.
    least = 1 / (n + 2) / kish(weights[known])
    if options.target == "set":
        influence = np.sqrt(sample.open_share) * weights * residual / weights.sum() * scale
        return max(float((cluster_sums(sample.cluster, influence) ** 2).sum()), least * sample.unknown_share())
    influence = weights * residual / weights.sum() * scale + (predicted - predicted.mean()) / sample.n
    sums = cluster_sums(sample.cluster, influence)
    return max(float((sums**2).sum() * ratio(len(sums), len(sums) - 1)) if len(sums) > 1 else np.inf, least)


def pooled(sample: Sample, options: Options) -> Pooled:
    """Each examinee's accuracy by its own labels, with slope and design effect estimated from all examinees'.

    The variance of an examinee's own ten residuals would be too uncertain, and that of all examinees' wrong for one of
    whom the votes say less: of the variance θ (1 − θ) of a label the share ρ, pooled over examinees, is taken for as
    many as `_OTHERS` residuals beside its own.
    """
    groups, known, weights = sample.n_examinees, sample.known, sample.weights
    labels = np.where(known, sample.labels, 0.0)
    counts = np.bincount(sample.examinee[known], minlength=groups).astype(np.float64)
    sizes = np.bincount(sample.examinee, minlength=groups).astype(np.float64)

    def mean_of(values: FloatArray, by: FloatArray) -> FloatArray:
        return ratio(
            np.bincount(sample.examinee, by * values, minlength=groups), np.bincount(sample.examinee, by, groups)
        )

    mean, mean_share = mean_of(labels, weights), mean_of(sample.share, weights)
    all_share = mean_of(sample.share, np.ones(sample.n))
    apart = np.where(known, sample.share - mean_share[sample.examinee], 0.0)
    around = np.where(known, labels - mean[sample.examinee], 0.0)
    slope = _slope(weights, apart, around)
    residual = around - slope * apart
    # Half an error more, as no error among few labels doesn't mean none.
    left_share = min(float(((weights * residual**2).sum() + 0.5) / ((weights * around**2).sum() + 0.5)), 1.0)
    n_equal = np.array([kish(weights[known & (sample.examinee == each)]) for each in range(groups)])
    likely = (mean * n_equal + 1) / (n_equal + 2)
    left = mean_of(residual**2, weights) * n_equal + _OTHERS * left_share * likely * (1 - likely)
    left = left / np.maximum(n_equal - 1 + _OTHERS, _OTHERS)
    own = sample.cluster * groups + sample.examinee
    around_share = sample.share - all_share[sample.examinee]
    variance = ratio(left * design_effect(own[known], (weights * residual)[known]), n_equal)
    if options.target == "set":
        variance = variance * np.array([sample.of_examinee(each).unknown_share() for each in range(groups)])
    else:
        of_share = mean_of(around_share**2, np.ones(sample.n)) * design_effect(own, around_share)
        variance = variance + slope**2 * ratio(of_share, sizes)
    estimate = mean + slope * (all_share - mean_share)
    inside = np.clip(estimate, 0, 1)
    spread = inside * (1 - inside)
    # Near 0 and 1 an estimate is worth its labels, whatever its few residuals say.
    worth = np.where(spread > 0, np.maximum(ratio(spread, variance), n_equal / 3), n_equal)
    worth = np.where(counts > 0, np.where(variance > 0, worth, np.inf), np.nan)
    freedom = float(len(np.unique(sample.cluster[known])) - 2)
    return Pooled(estimate, worth, counts, freedom, slope)


def _by_pooled(found: Pooled, number: int, options: Options) -> Corrected:
    if not found.n_labels[number]:
        return Corrected(note=NO_LABELS)
    if found.freedom < 1:
        return Corrected(note="too few labels for a slope")
    estimate, worth = float(found.estimate[number]), float(found.worth[number])
    inside = float(np.clip(estimate, 0, 1))
    freedom = min(found.freedom, float(found.n_labels[number]) - 1 + _OTHERS)
    return bounded(estimate, *wilson_at(inside, worth, options.level, freedom), _INTERVAL)


def _probability(sample: Sample) -> FloatArray:
    assert sample.probability is not None
    return sample.probability


def _mean_of_probability(sample: Sample, options: Options) -> Corrected:
    known, probability = sample.known, _probability(sample)
    if not sample.n:
        return Corrected(note="no responses")
    estimate = float(np.where(known, sample.labels, probability).mean())
    note = "the mean of probabilities, which no label corrects"
    if sample.n_labels < FEWEST_LABELS:
        return Corrected(estimate, note=f"{note}; no interval with fewer than {FEWEST_LABELS} labels")
    residual = np.where(known, np.where(known, sample.labels, 0.0) - probability, 0.0)
    variance = _variance(sample, residual, probability, options)
    worth = max(estimate * (1 - estimate) / variance, fewest_worth(sample)) if variance > 0 else np.inf
    freedom = len(np.unique(sample.cluster[known])) - 1
    return bounded(estimate, *wilson_at(estimate, worth, options.level, freedom), _INTERVAL, note)
