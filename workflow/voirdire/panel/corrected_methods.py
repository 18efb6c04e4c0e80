"""Estimators of an examinee's accuracy from a panel's votes and some labels, each by name."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.corrected_sample import (
    MANY,
    Corrected,
    Options,
    Sample,
    bounded,
    cluster_sums,
    design_effect,
    kish,
    labelled_mean,
    labels_worth,
    wilson_at,
)
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import effective_n
from voirdire.stats.intervals import normal_quantile

# A method gives one estimate per examinee, and the whole panel's last; None where it has none to give.
Method = Callable[[Sample, Options], list[Corrected | None]]
METHODS: dict[str, Method] = {}

NO_LABELS = "no labels"
# Shares of "correct" votes at which a new stratum begins.
STRATA = (0.25, 0.75)
_JEFFREYS = 0.5


def registered(name: str) -> Callable[[Method], Method]:
    """Make a method known by its name."""

    def add(method: Method) -> Method:
        METHODS[name] = method
        return method

    return add


def each_alone(
    sample: Sample, options: Options, method: Callable[[Sample, Options], Corrected]
) -> list[Corrected | None]:
    """A method that needs nothing of the other examinees, for each examinee and for all of them."""
    cells = [sample.of_examinee(number) for number in range(sample.n_examinees)]
    return [method(cell, options) for cell in (*cells, sample)]


@registered("raw")
def raw(sample: Sample, options: Options) -> list[Corrected | None]:
    """The share of responses that the panel's verdict accepts, its errors taken for the truth."""
    return each_alone(sample, options, _raw)


@registered("labels")
def labels_alone(sample: Sample, options: Options) -> list[Corrected | None]:
    """The share of right ones among the labels, with Wilson's interval; the votes are ignored."""
    return each_alone(sample, options, labels_of)


@registered("poststratified")
def poststratified(sample: Sample, options: Options) -> list[Corrected | None]:
    """The labels' share within strata of the vote share (below .25, middle, .75 and above), strata by their sizes.

    Within a stratum the accuracy has Jeffreys' posterior Beta(right + ½, wrong + ½). The interval is that of the
    weighted sum, drawn: for the population the strata's sizes are drawn too (Dirichlet), and clusters that move both
    widen it; for the set the right ones among those without a label are drawn (beta-binomial; where labels of a stratum
    weigh differently, what the stratum's accuracy leaves for them). Estimate: without the halves, ½ for a stratum
    without a label.
    Source: Brown, Cai and DasGupta (2001), Statistical Science 16, 101-133, for Jeffreys' interval.
    """
    return each_alone(sample, options, stratified_of)


def _raw(sample: Sample, options: Options) -> Corrected:
    decided = np.isfinite(sample.verdict)
    if not decided.any():
        return Corrected(note="no verdict of the panel")
    cluster, verdict = sample.cluster[decided], sample.verdict[decided]
    share = float(verdict.mean())
    hits, trials = cluster_sums(cluster, verdict), cluster_sums(cluster, np.ones(len(verdict)))
    worth = float(effective_n(hits[None], trials[None], level=options.level)[0])
    low, high = wilson_at(share, worth if options.target == "population" else np.inf, options.level)
    return bounded(share, low, high, "Wilson", "takes the panel's errors for the truth")


def labels_of(sample: Sample, options: Options) -> Corrected:
    if not sample.n_labels:
        return Corrected(note=NO_LABELS)
    mean, worth = labelled_mean(sample), labels_worth(sample, options.level)
    if options.target == "set":
        worth = float(ratio(worth, sample.unknown_share())) if sample.unknown_share() > 0 else np.inf
    return bounded(mean, *wilson_at(mean, worth, options.level), "Wilson")


def stratified_of(sample: Sample, options: Options) -> Corrected:
    if not sample.n_labels:
        return Corrected(note=NO_LABELS)
    stratum = np.digitize(sample.share, STRATA)
    sizes = np.bincount(stratum, minlength=3).astype(np.float64)
    known, weights = sample.known, sample.weights
    weight = np.bincount(stratum[known], weights[known], minlength=3)
    right = np.bincount(stratum[known], (weights * sample.labels)[known], minlength=3)
    share = np.nan_to_num(ratio(right, weight), nan=0.5)
    worth = np.array([kish(weights[known & (stratum == each)]) for each in range(3)])
    worth = worth / design_effect(sample.cluster[known], (weights * (sample.labels - share[stratum]))[known])
    estimate = float((sizes / sizes.sum()) @ share)
    drawn = _drawn_strata(sample, stratum, sizes, share, worth, options)
    tail = (1 - options.level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    if options.target == "population":
        wider = _joint_spread(sample, stratum, sizes, share, options.level)
        low, high = estimate - (estimate - low) * wider, estimate + (high - estimate) * wider
    # Jeffreys' interval reaches the end where all labels lie there; without a label in a stratum, they don't all.
    if sample.n_labels < sample.n:
        low, high = (0.0 if not right.any() else low), (1.0 if np.allclose(right, weight) else high)
    empty = int(((sizes > 0) & (weight == 0)).sum())
    note = f"no label in {empty} of {int((sizes > 0).sum())} strata" if empty else ""
    return bounded(estimate, float(low), float(high), "Jeffreys, drawn", note)


def _joint_spread(
    sample: Sample, stratum: NDArray[np.int64], sizes: FloatArray, share: FloatArray, level: float
) -> float:
    """What an interval's halves are multiplied by, at least 1, as clusters move strata and labels together.

    The strata's sizes and accuracies are drawn apart; a good cluster raises both. And a t quantile for few clusters. 1
    where each response is its own.
    """
    from scipy.special import stdtrit

    known, weights = sample.known, sample.weights
    if len(np.unique(sample.cluster)) == sample.n:
        return 1.0
    weight = np.bincount(stratum[known], weights[known], minlength=3)
    apart = np.where(known, weights * (np.where(known, sample.labels, 0.0) - share[stratum]), 0.0)
    of_labels = cluster_sums(sample.cluster, apart * np.nan_to_num(ratio(sizes, weight))[stratum] / sample.n)
    of_sizes = cluster_sums(sample.cluster, (share[stratum] - (sizes / sizes.sum()) @ share) / sample.n)
    separate = float((of_labels**2).sum() + (of_sizes**2).sum())
    joint = float(((of_labels + of_sizes) ** 2).sum())
    freedom = max(len(np.unique(sample.cluster[known])) - 2, 1)
    wider = np.sqrt(max(joint / separate, 1.0)) if separate > 0 else 1.0
    return float(wider * stdtrit(freedom, (1 + level) / 2) / normal_quantile(level))


def _drawn_strata(
    sample: Sample,
    stratum: NDArray[np.int64],
    sizes: FloatArray,
    share: FloatArray,
    worth: FloatArray,
    options: Options,
) -> FloatArray:
    """(draws,): the accuracy as the strata's posteriors have it."""
    rng = np.random.default_rng(options.seed)
    shape = (options.draws, 3)
    accuracy = rng.beta(share * worth + _JEFFREYS, (1 - share) * worth + _JEFFREYS, shape)
    if options.target == "set":
        known, labels = sample.known, sample.labels
        unknown = np.bincount(stratum[~known], minlength=3)
        right = np.bincount(stratum[known], labels[known], minlength=3)
        others = rng.binomial(unknown, accuracy)
        # Labels that weigh differently speak for the whole stratum, not for its unlabelled part.
        n, total, squares = (np.bincount(stratum[known], sample.weights[known] ** k, minlength=3) for k in range(3))
        uneven = n * squares > total**2 * (1 + 1e-9)
        others = np.where(uneven, np.clip(sizes * accuracy - right, 0, unknown), others)
        found: FloatArray = (right.sum() + others.sum(axis=1)) / sample.n
        return found
    clustered = design_effect(sample.cluster, share[stratum] - (sizes / sizes.sum()) @ share)
    portion = rng.standard_gamma(np.minimum(sizes / clustered, MANY), shape)
    weighted: FloatArray = (portion * accuracy).sum(axis=1) / portion.sum(axis=1)
    return weighted
