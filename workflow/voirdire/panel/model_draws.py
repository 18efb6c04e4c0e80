"""What Dawid-Skene's model says of judges whose truth nobody knows, with the model fitted anew to resampled items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.dawid_skene import Fit, fit, posterior_logit
from voirdire.panel.error_correlation import correlations, eligible_pairs
from voirdire.panel.judge_value import gains_by_model
from voirdire.panel.patterns import Patterns
from voirdire.panel.rates import too_few_judges
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import Seed, weight_chunks

NO_MODEL = "fewer than three judges have given both verdicts: no model without labels"
# Of fits to resamples, which need to be no closer than their spread.
_TOLERANCE, _MOST_ROUNDS = 1e-3, 200
# Counts held at a time (resamples × patterns): 16 MB.
_CHUNK = 2_000_000


@dataclass(frozen=True)
class ModelValues:
    """Values of one or of many fits, (fits, …): rates and gains (fits, judges), mean error correlations (fits,).

    n_wrong, n_right: (fits,), expected responses; pairs_wrong, pairs_right: of judges, behind the correlations.
    """

    fpr: FloatArray
    fnr: FloatArray
    gain: FloatArray
    rho_wrong: FloatArray
    rho_right: FloatArray
    n_wrong: FloatArray
    n_right: FloatArray
    pairs_wrong: int
    pairs_right: int


def model_values(
    votes: FloatArray, cluster: NDArray[np.int64], resamples: int, seed: Seed
) -> tuple[ModelValues, ModelValues] | None:
    """The model's values on all responses, and in each resample of items; None with too few judges for a model.

    votes: (responses, judges), each with a vote; cluster: (responses,), items. Error correlations are of votes weighted
    by the model's P(wrong) and P(right): 0 where the model holds, and what it leaves unexplained where not.
    """
    from scipy.sparse import csr_array

    patterns = Patterns.of(votes)
    whole = fit(patterns.votes, patterns.count())
    if too_few_judges(whole.n_correct, whole.n_incorrect):
        return None
    item = np.unique(cluster, return_inverse=True)[1]
    n_items = int(item.max()) + 1
    table = csr_array((np.ones(len(item)), (item, patterns.index)), shape=(n_items, len(patterns.votes)))
    right = _right(patterns.votes, whole)
    count = patterns.count()
    pairs = [eligible_pairs(patterns.votes, count * share) for share in (1 - right, right)]
    found = _values(patterns.votes, count[None], _first(whole), pairs)
    parts = []
    for chunk in weight_chunks(np.zeros(n_items, np.int64), resamples, seed):
        step = max(1, _CHUNK // len(patterns.votes))
        for start in range(0, len(chunk), step):
            counts = np.asarray((table.T @ chunk[start : start + step].T).T)
            parts.append(
                _values(
                    patterns.votes,
                    counts,
                    fit(patterns.votes, counts, tolerance=_TOLERANCE, max_iter=_MOST_ROUNDS),
                    pairs,
                )
            )
    return found, _joined(parts)


def _right(votes: FloatArray, fitted: Fit) -> FloatArray:
    from scipy.special import expit

    right: FloatArray = expit(posterior_logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence))
    return right


def _values(votes: FloatArray, counts: FloatArray, fitted: Fit, pairs: list[NDArray[np.int64]]) -> ModelValues:
    logit = posterior_logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence)
    right = _right(votes, fitted)
    alone = np.arange(len(votes))
    rho = [
        correlations(votes, alone, counts * share, each) for share, each in zip((1 - right, right), pairs, strict=True)
    ]
    n = counts.sum(axis=1)
    gain = [
        ratio(each @ gains_by_model(votes, *values), total)
        for each, total, *values in zip(counts, n, logit, fitted.fpr, fitted.fnr, strict=True)
    ]
    return ModelValues(
        fpr=fitted.fpr,
        fnr=fitted.fnr,
        gain=np.array(gain),
        rho_wrong=rho[0],
        rho_right=rho[1],
        n_wrong=(counts * (1 - right)).sum(axis=1),
        n_right=(counts * right).sum(axis=1),
        pairs_wrong=len(pairs[0]),
        pairs_right=len(pairs[1]),
    )


def _first(fitted: Fit) -> Fit:
    """One fit as the first of many."""
    return Fit(**{name: np.asarray(value)[None] for name, value in vars(fitted).items()})


def _joined(parts: list[ModelValues]) -> ModelValues:
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("fpr", "fnr", "gain", "rho_wrong", "rho_right", "n_wrong", "n_right")
    }
    return ModelValues(**arrays, pairs_wrong=parts[0].pairs_wrong, pairs_right=parts[0].pairs_right)
