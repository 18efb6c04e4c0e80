"""Draws the simulated streams: real votes and truths, in an order that never was.

Two sets are drawn. The streams of the *observed* pool give the point estimates. The streams of *resampled* pools,
several for each of POOLS bootstrap samples of the items, give the intervals: their means differ from pool to pool by
what another sample of items would have changed, in the votes, in what the estimators learn and in the truth alike.
The design's usual bootstrap, which weighs counts, would hold fixed what the estimators have learnt.
"""

from dataclasses import dataclass

import numpy as np

from voirdire.drift.population import Population
from voirdire.drift.streams import IntArray, Streams
from voirdire.errors import UserError
from voirdire.panel.matrix import NotEnoughVerdicts
from voirdire.panel.tabulated import one_hot, tabulate
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import blocks_of, cluster_weights

POOLS = 40
# With fewer, intervals would be wide and wander; as many as each needs for a t quantile near the normal one.
_FEWEST_POOLS = 20


@dataclass(frozen=True)
class _Pools:
    """Rows of the ballots in each pool and stratum: rows[start : start + size]; copies (pools, responses)."""

    rows: IntArray
    start: IntArray
    size: IntArray
    copies: FloatArray


def observed_streams(source: Population, seeds: int, seed: int) -> Streams:
    """`seeds` streams drawn from the responses as they are."""
    if seeds < 1:
        raise UserError(f"drift: seeds is {seeds}; it must be at least 1")
    return _draw(source, _pools(source, np.ones((1, len(source.task)))), 1, seeds, [seed, 0])


def resampled_streams(source: Population, seeds: int, seed: int) -> Streams:
    """Streams from POOLS pools whose items are drawn with replacement within each task; about `seeds` in all.

    Each pool has two groups of streams, so that what another order would have changed can be told from what other
    items would have. Pools with too few responses for the largest week, possible where items differ in their number of
    responses, are replaced by others.
    """
    block, task = _blocks(source, seed)
    weights = cluster_weights(task, 10 * POOLS, [seed, 1])
    strata = source.mix.shape[1]
    in_block = np.bincount(block * strata + source.stratum, minlength=len(task) * strata).reshape(-1, strata)
    enough = np.flatnonzero((weights @ in_block >= source.needed()).all(axis=1))[:POOLS]
    if len(enough) < _FEWEST_POOLS:
        raise NotEnoughVerdicts("drift: too few items for a week's draws in nearly every resample of them; add items")
    copies = weights[enough][:, block]
    return _draw(source, _pools(source, copies), 2, max(1, seeds // (2 * POOLS)), [seed, 2])


def _blocks(source: Population, seed: int) -> tuple[IntArray, IntArray]:
    """The number under which each response is resampled, its item's or its item's block's; and the task of each."""
    clusters, first, cluster = np.unique(source.box.cluster, return_index=True, return_inverse=True)
    task, block, start = source.task[first], np.zeros(len(clusters), np.int64), 0
    for number, name in enumerate(source.scenario.tasks):
        mine = task == number
        block[mine] = start + blocks_of(int(mine.sum()), len(clusters), seed, name)
        start = int(block[mine].max()) + 1
    tasks = np.zeros(start, np.int64)
    tasks[block] = task
    return block[cluster], tasks


def _pools(source: Population, copies: FloatArray) -> _Pools:
    parts, sizes = [], np.zeros((len(copies), source.mix.shape[1]), dtype=np.int64)
    for pool, drawn in enumerate(copies.astype(np.int64)):
        for stratum in range(sizes.shape[1]):
            mine = np.flatnonzero(source.stratum == stratum)
            parts.append(np.repeat(mine, drawn[mine]))
            sizes[pool, stratum] = len(parts[-1])
    start = (np.cumsum(sizes.ravel()) - sizes.ravel()).reshape(sizes.shape)
    return _Pools(np.concatenate(parts), start, sizes, copies)


def _draw(source: Population, pools: _Pools, groups: int, per_group: int, seed: list[int]) -> Streams:
    """`groups` groups of `per_group` streams from each pool."""
    box, scenario = source.box, source.scenario
    rng = np.random.default_rng(seed)
    pool = np.repeat(np.arange(len(pools.copies)), groups * per_group)
    stratum, place = _slots(source.mix, scenario.per_week, len(pool), rng)
    rows = np.zeros(stratum.shape, dtype=np.int64)
    for number, need in enumerate(source.needed()):
        if not need:
            continue
        size = np.repeat(pools.size[pool, number], scenario.weeks)
        picks = _distinct(size, int(need), rng).reshape(*stratum.shape[:2], -1)
        here = stratum == number
        drawn = np.take_along_axis(picks, np.where(here, place, 0), axis=2)
        rows = np.where(here, pools.rows[pools.start[pool, number][:, None, None] + drawn], rows)
    labelled = rng.random(stratum.shape).argsort(axis=2).argsort(axis=2) < scenario.labels_per_week
    votes, quorum = box.votes[rows], box.quorum(scenario.quorum)[rows]
    if scenario.panel_size is not None:
        votes = _thin(votes, scenario.panel_size, rng)
        quorum = np.minimum(quorum, scenario.panel_size)
    truth = box.truth[rows]
    fpr, fnr, prevalence = _true_rates(source, pools.copies)
    weekly = (len(pool), scenario.weeks, *fpr.shape[1:])
    return Streams(
        votes=votes,
        can_vote=box.can_vote[rows],
        truth=truth,
        labels=np.where(labelled, truth, np.nan),
        quorum=quorum,
        task=source.task[rows],
        fpr=np.broadcast_to(fpr[pool][:, None], weekly),
        fnr=np.broadcast_to(fnr[pool][:, None], weekly),
        prevalence=prevalence[pool],
        groups=groups * len(pools.copies),
    )


def _slots(mix: FloatArray, per_week: int, n_streams: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The stratum of each of a week's responses, and its place among that stratum's; (streams, weeks, responses) both.

    A week's count of a stratum is the expected one rounded up or down at random, right on average (systematic
    sampling). mix: (weeks, strata).
    """
    # Rounded, since a cumulative 39.999999999 would lose a response.
    upto = np.round(per_week * np.cumsum(mix, axis=1), 9)
    upto[:, -1] = per_week
    ends = np.floor(upto + rng.random((n_streams, len(mix), 1))).astype(np.int64)
    ends[..., -1] = per_week
    slot = np.arange(per_week)
    stratum = (slot[:, None] >= ends[..., None, :]).sum(axis=3)
    begins = np.concatenate([np.zeros_like(ends[..., :1]), ends[..., :-1]], axis=2)
    return stratum, slot - np.take_along_axis(begins, stratum, axis=2)


def _distinct(size: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """n different whole numbers below size[i] in row i, every ordered choice equally likely.

    Repeats are drawn again: nothing tells one number from another, so the result is uniform, and a week's 40 of
    thousands cost 40 draws rather than thousands.
    """
    picks = rng.integers(size[:, None], size=(len(size), n))
    open_rows = np.arange(len(size))
    while len(open_rows):
        now = picks[open_rows]
        order = now.argsort(axis=1, kind="stable")
        ordered = np.take_along_axis(now, order, axis=1)
        repeats = np.zeros(now.shape, dtype=bool)
        np.put_along_axis(repeats, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
        row, column = np.nonzero(repeats)
        picks[open_rows[row], column] = rng.integers(size[open_rows[row]])
        open_rows = open_rows[np.unique(row)]
    return picks


def _thin(votes: FloatArray, panel_size: int, rng: np.random.Generator) -> FloatArray:
    """Keep at random `panel_size` of the votes on each response."""
    order = np.where(np.isnan(votes), np.inf, rng.random(votes.shape))
    return np.where(order.argsort(axis=-1).argsort(axis=-1) < panel_size, votes, np.nan)


def _true_rates(source: Population, copies: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each pool's FPR and FNR (pools, tasks, judges) and prevalence (pools, tasks), of the votes as they are cast."""
    strata = copies[..., None] * one_hot(source.task, len(source.scenario.tasks))
    right = source.box.truth[:, None] == 1
    counts = tabulate(source.box.votes, strata * ~right, strata * right)
    prevalence = ratio((strata * right).sum(axis=1), strata.sum(axis=1))
    if source.prevalence is not None:
        prevalence = np.full(prevalence.shape, source.prevalence)
    return ratio(counts.accepted_wrong, counts.n_wrong), ratio(counts.rejected_right, counts.n_right), prevalence
