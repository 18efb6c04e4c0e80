"""Do judges err together? The correlation of their votes among wrong and among right responses, and what it costs.

Over all responses together even independent judges' votes are correlated, by the truth. Within wrong (or right) ones
only errors that are shared correlate them: J judges are then worth J / (1 + (J - 1) ρ) independent ones (Kish's design
effect; Kish 1965, Survey Sampling, 5.4).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import BLOCKS, Seed, percentile, weight_chunks
from voirdire.stats.intervals import normal_quantile

# A pair's correlation from fewer common responses is no estimate.
FEWEST_COMMON = 10
# Of items of a class, from fewer there is no interval.
FEWEST_ITEMS = 10
_NO_PAIR = f"no two judges have {FEWEST_COMMON} responses in common and give both verdicts on them"
# Sums held at a time, items × pairs × 4: 32 MB.
_CHUNK = 1_000_000
# Beyond so many items × pairs, items are resampled in blocks.
_MANY = 2_000_000


@dataclass(frozen=True)
class Shared:
    """Mean correlation rho of judges' votes among responses of a class, with its interval; NaN with a reason.

    n: responses of the class with a vote; n_pairs: pairs of judges that it is the mean of; votes: mean number of votes
    on a response; samples: (resamples,), rho in each.
    """

    rho: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n: float = 0
    n_pairs: int = 0
    votes: float = np.nan
    samples: FloatArray = field(default_factory=lambda: np.zeros(0))
    reason: str = ""

    @classmethod
    def of(cls, rho: float, n: float, n_pairs: int, votes: float, samples: FloatArray, reason: str = "") -> "Shared":
        """With the percentile interval of samples, unless there is a reason for none."""
        low, high, _ = percentile(samples if np.isfinite(rho) and not reason else np.zeros(0))
        return cls(rho, float(low), float(high), n, n_pairs, votes, samples, reason)

    @classmethod
    def by_model(cls, rho: float, n: float, n_pairs: int, votes: float, samples: FloatArray) -> "Shared":
        """With an interval of 1.96 standard errors, from samples in each of which a model was fitted.

        Their percentiles would lie too high: an item that is drawn twice looks like one that two items agree on.
        """
        if np.isnan(rho):
            return cls(n=n, n_pairs=n_pairs, votes=votes, samples=samples, reason=_NO_PAIR)
        half = normal_quantile(0.95) * float(np.std(samples, where=np.isfinite(samples)))
        return cls(rho, rho - half, rho + half, n, n_pairs, votes, samples - np.nanmean(samples) + rho)

    @property
    def effective(self) -> tuple[float, float, float]:
        """Independent votes that those on a response are worth: estimate, low, high."""
        value, high, low = effective_votes(self.votes, [self.rho, self.low, self.high])
        return float(value), float(low), float(high)


def effective_votes(n_votes: ArrayLike, rho: ArrayLike) -> FloatArray:
    """J / (1 + (J - 1) ρ), elementwise; NaN where ρ is, or so negative that J votes leave no error.

    >>> effective_votes(9, [0, 0.4, 1])
    array([9.        , 2.14285714, 1.        ])
    """
    n_votes, rho = np.asarray(n_votes, dtype=np.float64), np.asarray(rho, dtype=np.float64)
    spread = 1 + (n_votes - 1) * rho
    return ratio(n_votes, np.where(spread > 1e-12, spread, np.nan))


def error_correlation(
    votes: ArrayLike, chosen: ArrayLike, cluster: ArrayLike | None = None, resamples: int = 1000, seed: Seed = 0
) -> Shared:
    """The mean over pairs of judges of the correlation (phi) of their votes, among the chosen responses.

    votes: (responses, judges), 1, 0 or NaN; chosen: (responses,), True for the wrong (or the right) ones; cluster:
    (responses,), items that are resampled with all their responses, default each response. Pairs count that have voted
    both on at least 10 of them, and neither always the same. Percentile interval, from 10 items on.

    >>> wrong = np.array([[1, 1], [0, 0]] * 20 + [[1, 0], [0, 1]] * 5)
    >>> shared = error_correlation(wrong, np.ones(50))
    >>> round(shared.rho, 2), round(shared.effective[0], 2)
    (0.6, 1.25)
    """
    cast: FloatArray = np.asarray(votes, dtype=np.float64)
    kept = np.asarray(chosen, dtype=bool) & np.isfinite(cast).any(axis=1)
    cast = cast[kept]
    items = np.arange(len(kept)) if cluster is None else np.asarray(cluster)
    item = np.unique(items[kept], return_inverse=True)[1]
    n_items = int(item.max(initial=-1)) + 1
    pairs = eligible_pairs(cast, np.ones(len(cast)))
    n_votes = float(np.isfinite(cast).sum() / len(cast)) if len(cast) else np.nan
    nothing = np.full(resamples, np.nan)
    if not len(pairs):
        return Shared.of(np.nan, len(cast), 0, n_votes, nothing, _why_none(cast))
    rho = float(correlations(cast, np.arange(len(cast)), np.ones((1, len(cast))), pairs)[0])
    if n_items < FEWEST_ITEMS:
        reason = f"no interval: {n_items} items, fewer than {FEWEST_ITEMS}"
        return Shared.of(rho, len(cast), len(pairs), n_votes, nothing, reason)
    if n_items * len(pairs) > _MANY:
        n_blocks = min(n_items, max(BLOCKS // 10, _MANY // len(pairs)))
        seeds = [seed] if isinstance(seed, int | np.integer) else list(seed)
        item = (np.random.default_rng([*seeds, 1]).permutation(n_items) % n_blocks)[item]
        n_items = n_blocks
    weights = np.concatenate(list(weight_chunks(np.zeros(n_items, np.int64), resamples, seed)))
    return Shared.of(rho, len(cast), len(pairs), n_votes, correlations(cast, item, weights, pairs))


def mean_shared(parts: list[Shared]) -> Shared:
    """The mean of several tasks' correlations, with its interval; of those that have one, votes likewise."""
    known = [part for part in parts if np.isfinite(part.rho)]
    n, n_pairs = sum(part.n for part in parts), sum(part.n_pairs for part in parts)
    reasons = " ".join(sorted({part.reason for part in parts if part.reason}))
    if not known:
        return Shared(n=n, n_pairs=n_pairs, reason=reasons)
    rho, votes = (float(np.mean([getattr(part, name) for part in known])) for name in ("rho", "votes"))
    samples = np.mean([part.samples for part in known], axis=0)
    low, high, _ = percentile(samples)
    return Shared(rho, float(low), float(high), n, n_pairs, votes, samples, reasons)


def eligible_pairs(votes: FloatArray, weights: FloatArray) -> NDArray[np.int64]:
    """(pairs, 2): judges that have at least 10 responses in common, counted by weights, and both verdicts there."""
    correct, incorrect = split(votes)
    voted = correct + incorrect
    weighed = weights[:, None]
    common = voted.T @ (voted * weighed)
    accepted, rejected = ((side * weighed).T @ voted for side in (correct, incorrect))
    enough = (common >= FEWEST_COMMON - 1e-9) & (accepted > 0) & (rejected > 0) & (accepted.T > 0) & (rejected.T > 0)
    return np.argwhere(np.triu(enough, 1))


def correlations(
    votes: FloatArray, group: NDArray[np.int64], weights: FloatArray, pairs: NDArray[np.int64]
) -> FloatArray:
    """(samples,): the mean over pairs of the correlation of two judges' votes, on responses weighted by their groups.

    votes: (responses, judges); group: (responses,), numbers from 0; weights: (samples, groups); pairs: (pairs, 2). NaN
    in samples in which no pair has a correlation.
    """
    correct, incorrect = split(votes)
    voted = correct + incorrect
    n_groups = weights.shape[1]
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    filled = np.bincount(group, minlength=n_groups) > 0
    step = max(1, _CHUNK // (4 * max(len(votes), n_groups)))
    total, n_known = np.zeros(len(weights)), np.zeros(len(weights))
    for start in range(0, len(pairs), step):
        first, second = pairs[start : start + step].T
        products = [one[:, first] * other[:, second] for one in (voted, correct) for other in (voted, correct)]
        sums = []
        for product in products:
            by_group = np.zeros((n_groups, len(first)))
            by_group[filled] = np.add.reduceat(product[order], starts[filled], axis=0)
            sums.append(weights @ by_group)
        found = _phi(*sums)
        known = np.isfinite(found)
        total += np.where(known, found, 0.0).sum(axis=1)
        n_known += known.sum(axis=1)
    return ratio(total, n_known)


def _phi(n: FloatArray, second: FloatArray, first: FloatArray, both: FloatArray) -> FloatArray:
    """Pearson's correlation of two votes from weighted counts: of responses, and "correct" by either and by both."""
    spread = first * (n - first) * second * (n - second)
    # What rounding leaves of votes that are all alike is no spread.
    return ratio(n * both - first * second, np.sqrt(np.where(spread > 1e-12 * n**4, spread, 0.0)))


def _why_none(votes: FloatArray) -> str:
    if not len(votes):
        return "no such responses"
    if np.isfinite(votes).any(axis=0).sum() < 2:
        return "fewer than two judges"
    if len(votes) < FEWEST_COMMON:
        return f"{len(votes)} responses, fewer than {FEWEST_COMMON}"
    return _NO_PAIR
