"""Accuracy from the panel's error rates: Rogan and Gladen's correction of the accepted share, and Dawid-Skene's."""

from dataclasses import dataclass

import numpy as np

from voirdire.panel.corrected_methods import NO_LABELS, registered
from voirdire.panel.corrected_sample import (
    MANY,
    Corrected,
    Options,
    Sample,
    bounded,
    cluster_sums,
    kish,
    labels_worth,
)
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import effective_n

# Labels of one kind that the pooled rate weighs as much as, for an examinee's own.
STRENGTH = 10.0
POOLED_NOTE = "one FPR and FNR for all examinees: biased, as leniency depends on the examinee"
_HALF = 0.5
_INTERVAL = "drawn rates"


@dataclass(frozen=True)
class _Panel:
    """Counts behind the panel's rates, (groups,): errors and labels of wrong (right) responses, and accepted shares.

    Counts are of independent, equally likely labels: non-integer where labels weigh differently or come in clusters.
    """

    accepted_wrong: FloatArray
    wrong: FloatArray
    rejected_right: FloatArray
    right: FloatArray
    accepted: FloatArray
    worth: FloatArray


@registered("rogan_gladen")
def rogan_gladen(sample: Sample, options: Options) -> list[Corrected | None]:
    """(accepted − FPR) / (1 − FPR − FNR) with the rates of each examinee shrunk to those of all.

    accepted: the share that the panel's verdict accepts; its FPR and FNR are known from the labels. An examinee's rate
    has the prior Beta(10 × pooled, 10 × (1 − pooled)). The interval has the uncertainty of both rates, the pooled and
    the examinee's own, and of the accepted share. Of the whole panel, whose rates are those of its mix of examinees,
    there is nothing to shrink.
    Source: Rogan and Gladen (1978), American Journal of Epidemiology 107, 71-76.
    """
    groups = _groups(sample, options)
    whole = _groups_of_all(sample, options)
    rng = np.random.default_rng(options.seed)
    shape = (options.draws, sample.n_examinees)
    pooled_fpr, pooled_fnr = _pooled_rates(whole)
    drawn_fpr = _drawn(rng, whole.accepted_wrong, whole.wrong, (options.draws, 1))
    drawn_fnr = _drawn(rng, whole.rejected_right, whole.right, (options.draws, 1))
    fpr, drawn_fpr = _shrunk(rng, groups.accepted_wrong, groups.wrong, pooled_fpr, drawn_fpr, shape)
    fnr, drawn_fnr = _shrunk(rng, groups.rejected_right, groups.right, pooled_fnr, drawn_fnr, shape)
    accepted = _drawn_accepted(rng, groups, options, shape)
    estimate = ratio(groups.accepted - fpr, np.where(1 - fpr - fnr > 0, 1 - fpr - fnr, 0.0))
    drawn = _corrected(accepted, drawn_fpr, drawn_fnr, rng)
    cells = [_cell(estimate[e], drawn[:, e], _why(whole, fpr[e], fnr[e]), options) for e in range(len(estimate))]
    return [*cells, _one_for_all(whole, whole, options)[0]]


@registered("rogan_gladen_pooled")
def rogan_gladen_pooled(sample: Sample, options: Options) -> list[Corrected | None]:
    """The same with one FPR and one FNR for all examinees: shown to warn of it."""
    return [*_one_for_all(_groups(sample, options), _groups_of_all(sample, options), options, POOLED_NOTE), None]


def _one_for_all(panel: _Panel, whole: _Panel, options: Options, note: str = "") -> list[Corrected | None]:
    """The correction of each group's accepted share by the rates of the whole."""
    rng = np.random.default_rng(options.seed)
    fpr, fnr = _pooled_rates(whole)
    drawn_fpr = _drawn(rng, whole.accepted_wrong, whole.wrong, (options.draws, 1))
    drawn_fnr = _drawn(rng, whole.rejected_right, whole.right, (options.draws, 1))
    accepted = _drawn_accepted(rng, panel, options, (options.draws, len(panel.accepted)))
    drawn = _corrected(accepted, drawn_fpr, drawn_fnr, rng)
    estimate = ratio(panel.accepted - fpr, max(1 - fpr - fnr, 0.0))
    why = _why(whole, fpr, fnr)
    return [_cell(estimate[e], drawn[:, e], why, options, note) for e in range(len(estimate))]


def _groups(sample: Sample, options: Options) -> _Panel:
    cells = [_counted(sample.of_examinee(number), options) for number in range(sample.n_examinees)]
    return _Panel(*np.array(cells).T)


def _groups_of_all(sample: Sample, options: Options) -> _Panel:
    return _Panel(*np.array([_counted(sample, options)]).T)


def _counted(sample: Sample, options: Options) -> tuple[float, ...]:
    """The fields of `_Panel` for one group."""
    decided = np.isfinite(sample.verdict)
    known = decided & sample.known
    # Clusters count as in the labels' mean.
    certain = ratio(labels_worth(sample, options.level), kish(sample.weights)) if sample.n_labels else 1.0
    if options.target == "set":
        unknown = sample.unknown_share()
        certain = certain / unknown if unknown > 0 else MANY
    counts: list[float] = []
    for label in (0.0, 1.0):
        rows = known & (sample.labels == label)
        weights = sample.weights[rows]
        n = min(kish(weights) * float(certain), MANY)
        errors = float(np.nan_to_num(ratio((weights * (sample.verdict[rows] != label)).sum(), weights.sum())))
        counts += [errors * n, n]
    cluster, verdict = sample.cluster[decided], sample.verdict[decided]
    if not len(verdict):
        return (*counts, np.nan, 0.0)
    hits, trials = cluster_sums(cluster, verdict), cluster_sums(cluster, np.ones(len(verdict)))
    worth = effective_n(hits[None], trials[None], level=options.level)[0]
    return (*counts, float(verdict.mean()), float(worth))


def _pooled_rates(whole: _Panel) -> tuple[float, float]:
    """The FPR and FNR seen, NaN without a label of that kind."""
    return (
        float(ratio(whole.accepted_wrong, whole.wrong)[0]),
        float(ratio(whole.rejected_right, whole.right)[0]),
    )


def _drawn(rng: np.random.Generator, events: FloatArray, n: FloatArray, shape: tuple[int, int]) -> FloatArray:
    return rng.beta(events + _HALF, np.maximum(n - events, 0) + _HALF, shape)


def _drawn_accepted(rng: np.random.Generator, panel: _Panel, options: Options, shape: tuple[int, int]) -> FloatArray:
    """The share that the panel accepts, (draws, groups): of this set it is known."""
    if options.target == "set":
        return np.broadcast_to(panel.accepted, shape)
    accepted = np.nan_to_num(panel.accepted)
    return _drawn(rng, accepted * panel.worth, panel.worth, shape)


def _shrunk(
    rng: np.random.Generator,
    events: FloatArray,
    n: FloatArray,
    mean: float,
    drawn_mean: FloatArray,
    shape: tuple[int, int],
) -> tuple[FloatArray, FloatArray]:
    """Each examinee's rate, (examinees,), and drawn from its posterior, (draws, examinees)."""
    prior = np.clip(drawn_mean, 1e-6, 1 - 1e-6) * STRENGTH
    # Rounding of many labels may leave less than none.
    drawn = rng.beta(prior + events, STRENGTH - prior + np.maximum(n - events, 0), shape)
    return (mean * STRENGTH + events) / (STRENGTH + n), drawn


def _corrected(accepted: FloatArray, fpr: FloatArray, fnr: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The corrected share of each draw; where FPR + FNR ≥ 1 nothing is known, and it may be anything from 0 to 1."""
    told = 1 - fpr - fnr
    share = ratio(accepted - fpr, np.where(told > 0, told, 0.0))
    anything = np.where(rng.random(share.shape) < 0.5, -np.inf, np.inf)
    return np.where(np.isnan(share), anything, share)


def _why(whole: _Panel, fpr: float, fnr: float) -> str:
    """Why there is no estimate; empty where there is one."""
    n_wrong, n_right = float(whole.wrong[0]), float(whole.right[0])
    if not n_wrong + n_right:
        return NO_LABELS
    if not n_wrong or not n_right:
        kind, rate = ("wrong", "FPR") if not n_wrong else ("right", "FNR")
        return f"no {kind} response among the labels: the panel's {rate} is unknown"
    return "FPR + FNR are 1 or more: the votes tell nothing" if fpr + fnr >= 1 else ""


def _cell(estimate: float, drawn: FloatArray, why: str, options: Options, note: str = "") -> Corrected:
    if why or not np.isfinite(estimate):
        return Corrected(note=why or "no verdict of the panel")
    tail = (1 - options.level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return bounded(float(estimate), float(low), float(high), _INTERVAL, note)
