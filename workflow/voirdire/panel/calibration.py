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

from voirdire.panel.calibration_models import FULL_DEVIATION_VOTES, Models, models
from voirdire.panel.calibration_terms import Seen
from voirdire.panel.logistic import Priors, modes
from voirdire.panel.patterns import Patterns
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# Labels are left out one by one where so many differ, otherwise in so many parts.
_LEFT_OUT_ONE_BY_ONE, _FOLDS = 200, 20

# Hundreds of judges have no more to say by themselves, in time that grows with the cube of it.
_MOST_DIRECTIONS = 32

# Streams calibrated at once: so many that numpy's overhead is small, so few that they stay in the cache.
_CHUNK, _MANY_JUDGES = 64, 24


@dataclass(frozen=True)
class Calibration:
    """A fitted average of calibrations, of one panel or of one per leading index (`batch`).

    seen: what verdicts alone have shown, its first axis all streams; weights (..., models), which sum to 1;
    coefficients (..., models, 3 + judges): intercept, D, S and the judges' deviations.
    """

    seen: Seen
    weights: FloatArray
    coefficients: FloatArray

    def probability(self, votes: ArrayLike) -> FloatArray:
        """P(right), (..., responses), of responses with these votes, 1, 0 or NaN.

        votes: (responses, judges) for all panels, or (..., responses, judges), each panel's own. A response without
        votes has the average's value where votes say nothing.
        """
        from scipy.special import expit

        cast: FloatArray = np.asarray(votes, dtype=np.float64)
        batch, own = self.weights.shape[:-1], cast.ndim > 2
        rows = _flat(cast, batch) if own else cast
        weights, coefficients = _flat(self.weights, batch), _flat(self.coefficients, batch)
        found = np.empty((prod(batch), cast.shape[-2]))

        def one(part: slice) -> None:
            told = self.seen[part].terms(rows[part] if own else rows)
            terms = np.concatenate([told.common, told.signed], axis=-1)
            each = expit(coefficients[part] @ np.swapaxes(terms, -1, -2))
            found[part] = (weights[part, None, :] @ each)[:, 0]

        _in_parts(len(found), cast.shape[-1], one)
        return found.reshape((*batch, cast.shape[-2]))


def calibrate_patterns(
    votes: ArrayLike, unlabelled: ArrayLike, right: ArrayLike, wrong: ArrayLike, agreement: float = np.nan
) -> Calibration:
    """Fit the average of calibrations to counted vote patterns.

    votes: (patterns, judges), or (..., patterns, judges) where each panel has its own, 1, 0 or NaN;
    unlabelled, right, wrong: (..., patterns), how many responses of each pattern have no label, or that label; labels
    may carry weights, which should add up to about the number of labels that they are worth.
    agreement: the ratio of `voirdire.panel.halves`, evidence for or against Dawid-Skene before any label; NaN for none.

    >>> fitted = calibrate_patterns([[1, 1, 1], [1, 1, 0], [0, 0, 0]], [30, 10, 20], [2, 0, 0], [0, 1, 2])
    >>> fitted.probability([[1, 1, 1], [1, 0, 1], [0, 0, 0]]).round(2)
    array([0.94, 0.71, 0.07])
    """
    cast: FloatArray = np.asarray(votes, dtype=np.float64)
    counts = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (unlabelled, right, wrong)))
    batch, own = np.broadcast_shapes(counts[0].shape[:-1], cast.shape[:-2]), cast.ndim > 2
    free, right, wrong = (_flat(np.broadcast_to(each, (*batch, cast.shape[-2])), batch) for each in counts)
    rows = _flat(cast, batch) if own else cast
    total = free + right + wrong
    seen, among = Seen.of(rows, total), models(agreement, cast.shape[-1])
    weights = np.empty((len(total), len(among.odds)))
    coefficients = np.empty((len(total), len(among.odds), 3 + cast.shape[-1]))

    def one(part: slice) -> None:
        labelled = _Labelled.of(rows[part] if own else rows, total[part], right[part], wrong[part], seen[part])
        weights[part], coefficients[part] = labelled.averaged(among)

    _in_parts(len(total), cast.shape[-1], one)
    return Calibration(
        seen, weights.reshape((*batch, *weights.shape[1:])), coefficients.reshape((*batch, *coefficients.shape[1:]))
    )


def cross_fitted(votes: ArrayLike, labels: ArrayLike, agreement: float = np.nan, weight: ArrayLike = 1.0) -> FloatArray:
    """P(right) of each response, (responses,), in which its own label has no say.

    votes: (responses, judges); labels: (responses,), 1 right, 0 wrong, NaN unlabelled. A labelled response is taken for
    an unlabelled one in turn, or with more than 200 different ones by twenties; the others' probability is that of all
    labels. What prediction-powered inference needs. weight: of each label, (responses,) or one for all; agreement: as
    in `calibrate_patterns`.
    """
    patterns, known = Patterns.of(votes), np.asarray(labels, dtype=np.float64)
    n, each = len(patterns.votes), np.broadcast_to(np.asarray(weight, dtype=np.float64), known.shape)
    labelled = np.flatnonzero(np.isfinite(known))
    cell = patterns.index[labelled] * 2 + (known[labelled] == 1)
    kinds, group = np.unique(cell, return_inverse=True)
    # Whose labels, (streams, patterns × 2), are left out: one's of each kind, of the kind's mean weight, or a part's.
    counts, weights = (np.bincount(cell, given, minlength=2 * n) for given in (None, each[labelled]))
    if len(kinds) > _LEFT_OUT_ONE_BY_ONE:
        group = np.empty_like(group)
        group[np.argsort(cell, kind="stable")] = np.arange(len(cell)) % _FOLDS
        held, without = np.zeros((2, _FOLDS + 1, 2 * n))
        np.add.at(held, (group, cell), 1.0)
        np.add.at(without, (group, cell), each[labelled])
    else:
        held = np.concatenate([kinds[:, None] == np.arange(2 * n), np.zeros((1, 2 * n))]).astype(np.float64)
        without = held * np.nan_to_num(ratio(weights, counts))
    # The last stream has all labels.
    unlabelled = patterns.count(np.isnan(known)) + held[:, ::2] + held[:, 1::2]
    left = np.maximum(weights - without, 0.0)
    left = np.where(counts - held > 0, left, 0.0)
    fitted = calibrate_patterns(patterns.votes, unlabelled, left[:, 1::2], left[:, ::2], agreement)
    found = fitted.probability(patterns.votes)
    probability: FloatArray = found[-1, patterns.index]
    probability[labelled] = found[group, patterns.index[labelled]]
    return probability


@dataclass(frozen=True)
class _Labelled:
    """The labelled patterns of some streams: (streams, rows, …), filled up with rows that count for nothing.

    common: 1, D and S; signed: the judges' votes times `size` (streams,), the standard deviation of a deviation of
    variance 1; right, wrong: labels.
    """

    common: FloatArray
    signed: FloatArray
    size: FloatArray
    right: FloatArray
    wrong: FloatArray

    @classmethod
    def of(cls, votes: FloatArray, total: FloatArray, right: FloatArray, wrong: FloatArray, seen: Seen) -> "_Labelled":
        labelled = right + wrong > 0
        rows = np.argsort(~labelled, axis=-1, kind="stable")[:, : max(int(labelled.sum(axis=-1).max(initial=0)), 1)]
        there = votes[rows] if votes.ndim == 2 else np.take_along_axis(votes, rows[..., None], axis=1)
        right, wrong = (np.take_along_axis(each, rows, axis=-1) for each in (right, wrong))
        n_votes = ratio((total * np.isfinite(votes).sum(axis=-1)).sum(axis=-1), total.sum(axis=-1))
        size = np.sqrt(np.minimum(1.0, FULL_DEVIATION_VOTES / np.maximum(np.nan_to_num(n_votes), 1.0)))
        told = seen.terms(there)
        counts = (right + wrong > 0) * size[:, None]
        return cls(told.common, told.signed * counts[..., None], size, right, wrong)

    def averaged(self, among: Models) -> tuple[FloatArray, FloatArray]:
        """Weights (streams, models) and coefficients (streams, models, 3 + judges)."""
        n_judges = self.signed.shape[-1]
        log_evidence = np.empty((len(self.common), len(among.odds)))
        coefficients = np.zeros((*log_evidence.shape, 3 + n_judges))
        signed, basis = self._directions()
        for deviating in (False, True):
            chosen = (among.deviation > 0) == deviating
            terms = np.concatenate([self.common, signed], axis=-1) if deviating else self.common
            sd = np.repeat(np.sqrt(among.deviation[chosen])[:, None], terms.shape[-1] - 3, axis=1)
            mean = np.concatenate([among.mean[chosen], np.zeros(sd.shape)], axis=1)
            priors = Priors(mean, np.concatenate([among.sd[chosen], sd], axis=1))
            found = modes(terms, self.right, self.wrong, priors)
            log_evidence[:, chosen] = found.log_evidence
            coefficients[:, chosen, :3] = found.coefficients[..., :3]
            if deviating:
                deviations = found.coefficients[..., 3:] * self.size[:, None, None]
                coefficients[:, chosen, 3:] = deviations if basis is None else deviations @ basis
        return _softmax(np.log(among.odds) + log_evidence), coefficients

    def _directions(self) -> tuple[FloatArray, FloatArray | None]:
        """The votes, and None; or of many judges their components and directions (streams, directions, judges).

        All judges' deviations have one variance, so that turning them changes nothing, and in no other direction than
        the votes' own do labels tell of them. Of many directions those in which the votes differ most are kept.
        """
        n_rows, n_judges = self.signed.shape[-2:]
        if n_judges <= min(n_rows, _MOST_DIRECTIONS):
            return self.signed, None
        basis = np.linalg.svd(self.signed, full_matrices=False)[2][:, :_MOST_DIRECTIONS]
        return self.signed @ np.swapaxes(basis, -1, -2), basis


def _softmax(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    normed: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
    return normed


def _flat(values: FloatArray, batch: tuple[int, ...]) -> FloatArray:
    """Values (*batch, …) with one axis of streams in front."""
    return values.reshape(prod(batch), *values.shape[len(batch) :])


def _in_parts(n: int, n_judges: int, work: Callable[[slice], None]) -> None:
    """Do the work on slices of n streams, several at once; numpy's arithmetic doesn't hold the interpreter.

    One after the other with many judges, whose matrices are large enough for the linear algebra's own threads.
    """
    parts = [slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]
    if len(parts) < 2 or n_judges > _MANY_JUDGES:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        list(pool.map(work, parts))
