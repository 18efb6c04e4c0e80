"""P(right) of a response from its votes: an average over simple calibrations, each weighed by how well it does.

Two things are known of a response: D, the log-odds of Dawid and Skene's model, which is best where judges err
independently and far too sure where they share errors; and S, the share of "correct" votes. A handful of labels can't
tell which to trust by fitting everything, but they can tell between a few models, all logistic regressions:

    log odds of P(right) = intercept + d · D + s · S + sum over judges of a deviation × (vote as ±1, centred)

Two of them learn nothing but a temperature: D alone and S alone, no intercept, no deviations. The looser ones have an
intercept and D and S in several mixes, with and without deviations of the judges, all with normal priors. Each is
fitted by its maximum a posteriori, weighed by its prior odds times its evidence (Laplace's approximation), and the
probabilities are averaged (Hoeting et al. 1999, Statistical Science 14, 382-417, doi:10.1214/ss/1009212519). Without
labels the priors speak: the mean of the defaults. With many, what the labels say.

Everything is a function of the counts of vote patterns: unlabelled, labelled right and labelled wrong.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.logistic import Priors, modes
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio

# Dawid-Skene's posteriors claim more than any panel has kept; beyond these log-odds (1e-4) they say nothing.
_SUREST = float(np.log(0.9999 / 0.0001))
# S spans ±3, about as many log-odds as a near-unanimous panel deserves.
_SHARE_SPAN = 6.0

# Prior means of the coefficients of D and S. Alone they are those of the defaults: D has a standard deviation of at
# most 1, so that 2 D lies between the errors of some percent that panels make and those of a few per mille.
_DAWID_SKENE, _SHARE = (2.0, 0.0), (0.0, 1.5)
_MIXES = (_DAWID_SKENE, _SHARE, (1.6, 0.3), (0.4, 1.2))
# (sd of the intercept, prior odds): a shift as among panels of moderate leniency, or of any.
_INTERCEPTS = ((0.5, 2.0), (1.5, 1.0))
# Variances of the judges' deviations, for up to so many votes on a response; then less, lest their sum grow.
_DEVIATIONS = (0.0, 0.3)
_FULL_DEVIATION_VOTES = 10.0
# What all looser models share, and each default has, unless there is evidence for or against Dawid-Skene.
_LOOSER, _DEFAULT = 3.5, 4.0

# Streams calibrated at once: so many that numpy's overhead is small, so few that they stay in the cache.
_CHUNK = 64


@dataclass(frozen=True)
class Calibration:
    """A fitted average of calibrations, of one panel or of one per leading index.

    fpr, fnr (..., judges) and prevalence (...) are Dawid-Skene's, scale (...) the standard deviation of its log-odds,
    at least 1; centre (..., judges), each judge's mean vote as ±1; weights (..., models), which sum to 1;
    coefficients (..., models, 3 + judges): intercept, D, S and the judges' deviations.
    """

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    scale: FloatArray
    centre: FloatArray
    weights: FloatArray
    coefficients: FloatArray

    def probability(self, votes: ArrayLike) -> FloatArray:
        """P(right), (..., responses), of responses with these votes, 1, 0 or NaN.

        votes: (responses, judges) for all panels, or (..., responses, judges), each panel's own. A response without
        votes has the average's value where votes say nothing.
        """
        cast: FloatArray = np.asarray(votes, dtype=np.float64)
        batch, shared = self.prevalence.shape, cast.ndim == 2
        found = np.empty((prod(batch), cast.shape[-2]))
        each = [_flat(values, batch) for values in vars(self).values()]
        rows = cast if shared else _flat(cast, batch)

        def one(part: slice) -> None:
            found[part] = Calibration(*(values[part] for values in each))._mean(rows if shared else rows[part])

        _in_parts(len(found), one)
        return found.reshape((*batch, cast.shape[-2]))

    def _mean(self, votes: FloatArray) -> FloatArray:
        """(streams, responses) for votes (responses, judges) or (streams, responses, judges)."""
        from scipy.special import expit

        told = _told(votes, self)
        terms = np.concatenate([told.terms, told.signed], axis=-1)
        each = expit(self.coefficients @ np.swapaxes(terms, -1, -2))
        mean: FloatArray = (self.weights[:, None, :] @ each)[:, 0]
        return mean


def calibrate_patterns(
    votes: ArrayLike,
    unlabelled: ArrayLike,
    right: ArrayLike,
    wrong: ArrayLike,
    agreement: float = np.nan,
) -> Calibration:
    """Fit the average of calibrations to counted vote patterns.

    votes: (patterns, judges), or (..., patterns, judges) where each panel has its own, 1, 0 or NaN;
    unlabelled, right, wrong: (..., patterns), how many responses of each pattern have no label, or that label; labels
    may carry weights, which should add up to about the number of labels that they are worth.
    agreement: the ratio of `voirdire.panel.halves`, evidence for or against Dawid-Skene before any label; NaN for none.

    >>> fitted = calibrate_patterns([[1, 1, 1], [1, 1, 0], [0, 0, 0]], [30, 10, 20], [2, 0, 0], [0, 1, 2])
    >>> fitted.probability([[1, 1, 1], [1, 0, 1], [0, 0, 0]]).round(2)
    array([0.94, 0.7 , 0.06])
    """
    cast: FloatArray = np.asarray(votes, dtype=np.float64)
    counts = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (unlabelled, right, wrong)))
    batch = np.broadcast_shapes(counts[0].shape[:-1], cast.shape[:-2])
    flat = [_flat(np.broadcast_to(each, (*batch, cast.shape[-2])), batch) for each in counts]
    shared = cast.ndim == 2
    rows = cast if shared else _flat(cast, batch)
    fitted = fit(rows, flat[0] + flat[1] + flat[2])
    n_judges, models = cast.shape[-1], _models(agreement, cast.shape[-1])
    n = prod(batch)
    made = Calibration(
        *(fitted.fpr, fitted.fnr, fitted.prevalence, np.ones(n), np.zeros((n, n_judges))),
        np.empty((n, len(models.odds))),
        np.empty((n, len(models.odds), 3 + n_judges)),
    )

    def one(part: slice) -> None:
        _calibrated(rows if shared else rows[part], [each[part] for each in flat], made, part, models)

    _in_parts(n, one)
    return Calibration(*(values.reshape((*batch, *values.shape[1:])) for values in vars(made).values()))


@dataclass(frozen=True)
class _Models:
    """Prior odds (models,); means and sds of intercept, D and S (models, 3); variance of deviations (models,)."""

    odds: FloatArray
    mean: FloatArray
    sd: FloatArray
    deviation: FloatArray


@dataclass(frozen=True)
class _Told:
    """What votes tell of responses: terms (..., responses, 3), which are 1, D and S; signed, centred ±1 or 0 for no
    vote, (..., responses, judges)."""

    terms: FloatArray
    signed: FloatArray


def _models(agreement: float, n_judges: int) -> _Models:
    rows = [
        (odds, (0.0, *mix), (0.0, *(float(mean > 0) for mean in mix)), 0.0)
        for odds, mix in zip(_default_odds(agreement, n_judges), (_DAWID_SKENE, _SHARE), strict=True)
    ]
    total = len(_MIXES) * len(_DEVIATIONS) * sum(odds for _, odds in _INTERCEPTS)
    for mix in _MIXES:
        sds = tuple(float(mean > 0) for mean in mix)
        for sd, odds in _INTERCEPTS:
            rows += [(_LOOSER * odds / total, (0.0, *mix), (sd, *sds), variance) for variance in _DEVIATIONS]
    return _Models(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def _default_odds(agreement: float, n_judges: int) -> tuple[float, float]:
    """Prior odds of D alone and of S alone.

    Where halves of the panel don't find the same truth (a ratio below .8) Dawid-Skene's rates were wrong, and where
    25 judges or more did, they were right. The ratio is only known to some .02, so that nothing jumps at .8.
    """
    if not np.isfinite(agreement):
        return _DEFAULT, _DEFAULT
    trusted = np.array([56.0, 1.0] if n_judges >= 25 else [_DEFAULT, _DEFAULT])
    sure = np.clip((agreement - 0.75) / 0.1, 0, 1)
    one, other = np.exp(sure * np.log(trusted) + (1 - sure) * np.log([0.5, 8.0]))
    return float(one), float(other)


def _calibrated(votes: FloatArray, counts: list[FloatArray], made: Calibration, part: slice, models: _Models) -> None:
    """Fill in a part of `made` from the votes and counts (streams, patterns) of its streams."""
    total = counts[0] + counts[1] + counts[2]
    made.scale[part], made.centre[part] = _spread_of(votes, total, made, part)
    here = Calibration(*(values[part] for values in vars(made).values()))
    told, counted, right, wrong = _labelled(votes, counts[1], counts[2], here)
    n_votes = ratio((total * np.isfinite(votes).sum(axis=-1)).sum(axis=-1), total.sum(axis=-1))
    shrunk = np.minimum(1.0, _FULL_DEVIATION_VOTES / np.maximum(np.nan_to_num(n_votes), 1.0))
    # Deviations of a per-stream size: the votes are scaled rather than the prior.
    signed = told.signed * (counted * np.sqrt(shrunk)[:, None])[..., None]
    basis = None
    if signed.shape[-1] > signed.shape[-2]:
        # More judges than labelled patterns: no more directions than those are seen by any label.
        basis = np.swapaxes(np.linalg.svd(signed, full_matrices=False)[2], -1, -2)
        signed = signed @ basis
    made.coefficients[part] = 0.0
    log_evidence = np.empty(made.weights[part].shape)
    for free in (False, True):
        chosen = (models.deviation > 0) == free
        n_more = signed.shape[-1] if free else 0
        sd = np.repeat(np.sqrt(models.deviation[chosen])[:, None], n_more, axis=1)
        priors = Priors(
            np.concatenate([models.mean[chosen], np.zeros(sd.shape)], axis=1),
            np.concatenate([models.sd[chosen], sd], axis=1),
        )
        terms = np.concatenate([told.terms, signed], axis=-1) if free else told.terms
        found = modes(terms, right, wrong, priors)
        log_evidence[:, chosen] = found.log_evidence
        made.coefficients[part, chosen, :3] = found.coefficients[..., :3]
        if free:
            more = found.coefficients[..., 3:] * np.sqrt(shrunk)[:, None, None]
            made.coefficients[part, chosen, 3:] = more if basis is None else more @ np.swapaxes(basis, -1, -2)
    made.weights[part] = _softmax(np.log(models.odds) + log_evidence)


def _spread_of(votes: FloatArray, total: FloatArray, made: Calibration, part: slice) -> tuple[FloatArray, FloatArray]:
    """The scale of Dawid-Skene's log-odds (streams,), and each judge's mean vote as ±1 (streams, judges)."""
    logit = _logit(votes, made.fpr[part], made.fnr[part], made.prevalence[part])
    share = ratio(total, total.sum(axis=-1, keepdims=True))
    share = np.where(np.isnan(share), 0.0, share)
    deviation = logit - (share * logit).sum(axis=-1, keepdims=True)
    correct, incorrect = split(votes)
    signed, cast = (total[:, None, :] @ (correct + sign * incorrect) for sign in (-1, 1))
    centre = ratio(signed, cast)[:, 0]
    return np.maximum(np.sqrt((share * deviation**2).sum(axis=-1)), 1.0), np.where(np.isnan(centre), 0.0, centre)


def _labelled(
    votes: FloatArray, right: FloatArray, wrong: FloatArray, here: Calibration
) -> tuple[_Told, FloatArray, FloatArray, FloatArray]:
    """What is told of the labelled patterns, (streams, rows, …), whether a row is one (or fills up), and its labels."""
    n_labels = right + wrong
    rows = np.argsort(n_labels <= 0, axis=-1, kind="stable")[:, : max(int((n_labels > 0).sum(axis=-1).max()), 1)]
    there = votes[rows] if votes.ndim == 2 else np.take_along_axis(votes, rows[..., None], axis=1)
    right, wrong = (np.take_along_axis(each, rows, axis=-1) for each in (right, wrong))
    return _told(there, here), (right + wrong > 0).astype(np.float64), right, wrong


def _told(votes: FloatArray, by: Calibration) -> _Told:
    correct, incorrect = split(votes)
    cast = correct + incorrect
    logit = _logit(votes, by.fpr, by.fnr, by.prevalence) / by.scale[:, None]
    share = ratio(correct.sum(axis=-1), cast.sum(axis=-1)) - 0.5
    share = np.broadcast_to(np.where(np.isnan(share), 0.0, _SHARE_SPAN * share), logit.shape)
    signed = correct - incorrect - cast * by.centre[:, None, :]
    return _Told(np.stack([np.ones(logit.shape), logit, share], axis=-1), signed)


def _logit(votes: FloatArray, fpr: FloatArray, fnr: FloatArray, prevalence: FloatArray) -> FloatArray:
    logit: FloatArray = np.clip(posterior_logit(votes, fpr, fnr, prevalence), -_SUREST, _SUREST)
    return logit


def _softmax(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    normed: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
    return normed


def _flat(values: FloatArray, batch: tuple[int, ...]) -> FloatArray:
    """Values (*batch, …) with one axis of streams in front."""
    return values.reshape(prod(batch), *values.shape[len(batch) :])


def _in_parts(n: int, work: Callable[[slice], None]) -> None:
    """Do the work on slices of n streams, several at once; numpy's arithmetic doesn't hold the interpreter."""
    parts = [slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]
    if len(parts) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        list(pool.map(work, parts))
