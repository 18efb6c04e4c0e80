"""Empirical Bayes: examinees' accuracies, shrunk towards their mean by as much as their differences may be chance."""

import numpy as np

from voirdire.panel.corrected_methods import registered
from voirdire.panel.corrected_powered import pooled
from voirdire.panel.corrected_sample import Corrected, Options, Sample, bounded, wilson_at
from voirdire.panel.votes import FloatArray

FEWEST_EXAMINEES = 4
_HALVINGS = 60


@registered("empirical_bayes")
def empirical_bayes(sample: Sample, options: Options) -> list[Corrected | None]:
    """PPI++ of each examinee, shrunk; four examinees with labels or more. Of the whole panel there is none.

    Its intervals are about half as wide, and cover on average over the examinees, not for each: the farther an examinee
    is from the others, the less.
    """
    found = pooled(sample, options)
    there = (found.n_labels > 0) & (found.freedom >= 1)
    if there.sum() < FEWEST_EXAMINEES:
        note = f"fewer than {FEWEST_EXAMINEES} examinees with labels"
        return [*(Corrected(note=note) for _ in there), None]
    estimate, worth = np.clip(found.estimate[there], 0, 1), found.worth[there]
    centre = float(np.average(estimate, weights=np.minimum(worth, 1e9)))
    # Of one share for all: an examinee's own would be smallest where its labels happen to agree.
    variance = np.maximum(centre * (1 - centre), 1e-9) / worth
    shrunk, sd = shrink(estimate, variance)
    notes = "covers on average, not for each examinee"
    cells: list[Corrected | None] = []
    for number in range(sample.n_examinees):
        if not there[number]:
            cells.append(Corrected(note="no labels"))
            continue
        at = int(there[:number].sum())
        inside = float(np.clip(shrunk[at], 0, 1))
        known_as_of = inside * (1 - inside) / sd[at] ** 2 if sd[at] > 0 else np.inf
        # At the very end an interval must not be all of [0, 1].
        known_as_of = max(known_as_of, float(worth[at]))
        low, high = wilson_at(inside, known_as_of, options.level)
        cells.append(bounded(float(shrunk[at]), low, high, "empirical Bayes", notes))
    return [*cells, None]


def shrink(estimate: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Estimates (k,) with known variances, shrunk to their weighted mean, and their standard deviations; k ≥ 4.

    The variance A between the true values is Paule and Mandel's: Σ (y − μ)² / (V + A) = k − 1, or 0. Each estimate
    moves by B = (k − 3) / (k − 1) · V / (V + A); its variance also has what is unknown of the mean and of A.
    Source: Morris (1983), J. Am. Stat. Assoc. 78, 47-55, (3.1) ff.

    >>> shrunk, sd = shrink(np.array([0.8, 0.9, 0.9, 1.0]), np.full(4, 0.01))
    >>> shrunk.round(2), sd.round(2)
    (array([0.83, 0.9 , 0.9 , 0.97]), array([0.1 , 0.09, 0.09, 0.1 ]))
    """
    k = len(estimate)
    variance = np.maximum(variance, 1e-15)

    def at(between: float) -> tuple[FloatArray, float]:
        weights = 1 / (variance + between)
        return weights, float(weights @ estimate / weights.sum())

    def excess(between: float) -> float:
        weights, mean = at(between)
        return float(weights @ (estimate - mean) ** 2) - (k - 1)

    low, high = 0.0, float(np.ptp(estimate) ** 2 + variance.max()) * k
    for _ in range(_HALVINGS if excess(0.0) > 0 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    between = low
    weights, mean = at(between)
    shift = (k - 3) / (k - 1) * variance * weights
    portion = weights / weights.sum()
    total = variance + between
    unknown = 2 / (k - 3) * shift**2 * total.mean() / total * (estimate - mean) ** 2
    spread: FloatArray = np.sqrt(variance * (1 - (1 - portion) * shift) + unknown)
    return mean + (1 - shift) * (estimate - mean), spread
