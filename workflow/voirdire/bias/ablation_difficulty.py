"""Does a judge's leniency with its own errors depend on how hard the item is?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.counts import Counts, Totals, count
from voirdire.bias.pooling import aligned, over_tasks
from voirdire.bias.power import MARGIN_SHARE, with_power
from voirdire.bias.rows import clusters_of, of_condition, prepared, responses_of
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import SMALL_COUNT, Interval, effective_n, percentile
from voirdire.stats.intervals import proportions_difference

DIFFICULTY_COLUMNS = [
    *("task", "judge", "bin", "n_items", "n_own", "n_other", "own", "other_value", "gap", "low", "high"),
    *("interval", "reason", "n_dropped", "detectable", "says", "seed", "simulated"),
]
BINS = ("hard", "medium", "easy")
# The paper's, taken literally: [0, .33), [.33, .67), [.67, 1]; 1 of 3 is medium and 2 of 3 is not easy.
CUTS = (0.33, 0.67)


@dataclass(frozen=True)
class _Gaps:
    """One bin of one task: (judges + 1,) each, "all" last; samples (resamples, judges + 1)."""

    n_items: int
    n_own: Array
    n_other: Array
    own: Array
    other: Array
    interval: Interval
    samples: Array


def ablation_difficulty(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """FPR of a judge on its own wrong responses less the mean of its FPRs on the other examinees', by difficulty.

    verdicts: as `voirdire.tables.VERDICTS`; rows of condition `main`. An item's difficulty is the share of examinees
    that got it right (those whose truth is known, the judge among them, as in the paper): hard [0, .33), medium
    [.33, .67), easy [.67, 1]. Shares, not points. `own` − `other_value` = `gap`.

    One row per task (and "all": mean of the tasks that have the gap), judge that judged its own responses (and "all")
    and bin. Judge "all" pools the judges by their own wrong responses: each one is compared with what the same judge
    does with others'; to throw all verdicts together would let lenient, weak judges, who have many, pass for
    self-preference. n_items: the bin's items; n_own, n_other: verdicts on wrong responses. NaN and a reason where a
    side has none. Without a model that judged itself: no rows, all columns.

    The gap is not yet preference. A judge by construction failed the items of its own errors, while it may have solved
    those of others' wrong answers, which it then rejects: ability. Simulated judges without any preference show gaps
    of about .2 (hard), .4 (medium) and .9 (easy). What holds ability equal: `preference_model`, and the version matched
    of `self_preference`.

    Intervals: percentile cluster bootstrap; where fewer than 40 were accepted or rejected on a side, square-and-add
    ("mover") from the effective numbers of independent verdicts, and for means over tasks that contain one.
    detectable, says: see `with_power`.
    """
    frame = prepared(verdicts)
    rows = of_condition(frame, main)
    diagonal = rows.loc[rows["judge"] == rows["examinee"]]
    judges = sorted(diagonal["judge"].unique())
    if not judges:
        return pd.DataFrame(columns=DIFFICULTY_COLUMNS)
    binned, n_items = _binned(rows[rows["judge"].isin(judges)], responses_of(rows))
    if binned.empty:
        return pd.DataFrame(columns=DIFFICULTY_COLUMNS)
    counts = aligned(count(binned, ("judge", "examinee", "bin"), seed=seed, clusters=clusters_of(frame)))
    simulated = rows[rows["judge"].isin(judges)].groupby("judge")["simulated"].any().reindex(judges).to_numpy()
    tables = []
    for name in BINS:
        parts = [_gaps(c, name, judges, n_items.get((c.task, name), 0), resamples, seed, level) for c in counts]
        for task, part in [*zip([c.task for c in counts], parts, strict=True), ("all", _pooled(parts, level))]:
            tables.append(_table(part, judges, simulated).assign(task=task, bin=name, seed=seed))
    groups, base = ("n_own", "n_other"), "other_value"
    table = pd.concat(tables, ignore_index=True)
    table = with_power(table, "gap", "proportions", groups, base=base, margin=MARGIN_SHARE, level=level)
    order = [*[c.task for c in counts], "all"], [*judges, "all"], BINS
    by = [table[key].map(list(known).index) for key, known in zip(("task", "judge", "bin"), order, strict=True)]
    return table.iloc[np.lexsort([key.to_numpy() for key in reversed(by)])].reset_index(drop=True)[DIFFICULTY_COLUMNS]


def _binned(rows: pd.DataFrame, responses: pd.DataFrame) -> tuple[pd.DataFrame, dict[tuple[str, str], int]]:
    """The rows with their item's bin (rows of items without any known truth left out), and items per task and bin."""
    share = responses.groupby(["task", "item_id"])["truth"].mean().dropna()
    bins = pd.Series(np.array(BINS, object)[np.searchsorted(CUTS, share.to_numpy(), side="right")], index=share.index)
    tasks = bins.index.get_level_values("task")
    sizes = {
        (str(task), name): int(((tasks == task) & (bins == name)).sum()) for task in tasks.unique() for name in BINS
    }
    found = bins.reindex(pd.MultiIndex.from_frame(rows[["task", "item_id"]])).to_numpy()
    kept = rows.assign(bin=found)[pd.notna(found)]
    return kept, sizes


def _gaps(
    counts: Counts, name: str, judges: Sequence[str], n_items: int, resamples: int, seed: int, level: float
) -> _Gaps:
    here = counts.where((counts.cells["bin"] == name).to_numpy())
    judge = pd.Index(judges).get_indexer(pd.Index(here.cells["judge"]))
    own = (here.cells["judge"] == here.cells["examinee"]).to_numpy()
    member = (np.arange(len(judges))[:, None] == judge).astype(np.float64)
    mine, others = member * own, member * ~own

    totals = here.totals()
    own_rate, other_rate, weight = _own_and_other(totals, mine, others)
    drawn = here.resampled(resamples, seed)
    own_samples, other_samples, _ = _own_and_other(drawn, mine, others)
    samples = own_samples - other_samples
    n_own, n_other = (
        np.append(side @ totals.wrong, (side @ totals.wrong)[weight > 0].sum()) for side in (mine, others)
    )
    all_judges = weight / max(weight.sum(), 1)
    worth = [_worth(here, side, all_judges, mean, level) for side, mean in ((mine, False), (others, True))]
    return _Gaps(
        n_items,
        n_own,
        n_other,
        own_rate,
        other_rate,
        _interval((own_rate, other_rate), (worth[0], worth[1]), samples, level),
        samples,
    )


def _own_and_other(totals: Totals, mine: Array, others: Array) -> tuple[Array, Array, Array]:
    """Own and others' rate per judge and "all" last, and own wrong responses, (…, judges); totals are (…, cells).

    mine, others: (judges, cells), 1 for a judge's cells on its own and on others' responses.
    """
    n_own = totals.wrong @ mine.T
    own_rate = ratio(totals.accepted_wrong @ mine.T, n_own)
    there = ~np.isnan(totals.fpr)
    other_rate = ratio(np.nan_to_num(totals.fpr) @ others.T, there.astype(np.float64) @ others.T)
    both = ~np.isnan(own_rate - other_rate)
    weight = np.where(both, n_own, 0.0)
    total = weight.sum(axis=-1, keepdims=True)

    def with_all(rate: Array) -> Array:
        mean = ratio((np.where(both, rate, 0.0) * weight).sum(axis=-1, keepdims=True), total)
        return np.concatenate([rate, mean], axis=-1)

    return with_all(own_rate), with_all(other_rate), weight


def _worth(counts: Counts, side: Array, all_judges: Array, mean_of_rates: bool, level: float) -> Array:
    """How many independent verdicts each judge's rate on one side is worth, and the weighted mean of them, last.

    A mean of rates with n₁ … n_k verdicts is worth k² / Σ 1/nᵢ of them, over the design effect of their clustering.
    """
    n_cells = counts.wrong.sum(axis=1)
    n = side @ n_cells
    worth = effective_n(side @ counts.accepted_wrong, side @ counts.wrong, level=level)
    if mean_of_rates:
        filled = side * (n_cells > 0)
        inverse = filled @ (1 / np.maximum(n_cells, 1))
        worth = worth * ratio(filled.sum(axis=1) ** 2, inverse * n)
        worth = np.where(n > 0, worth, 0.0)
    # The same for judges: their verdicts on one item are taken as independent given each judge's own rate.
    used = all_judges > 0
    pooled = 1 / (all_judges[used] ** 2 / worth[used]).sum() if used.any() else 0.0
    return np.append(worth, pooled)


def _interval(rates: tuple[Array, Array], worth: tuple[Array, Array], samples: Array, level: float) -> Interval:
    gap = rates[0] - rates[1]
    known = ~np.isnan(gap)
    rarer = [np.fmin(rate, 1 - rate) * n for rate, n in zip(rates, worth, strict=True)]
    small = np.minimum(*rarer) < SMALL_COUNT - 1e-9
    low, high, dropped = percentile(samples, level)
    low_few, high_few = proportions_difference(rates[0] * worth[0], worth[0], rates[1] * worth[1], worth[1], level)
    return Interval(
        gap,
        np.where(known, np.where(small, low_few, low), np.nan),
        np.where(known, np.where(small, high_few, high), np.nan),
        np.where(known, np.where(small, "mover", "percentile"), "").astype(object),
        np.where(known, dropped, 0),
    )


def _pooled(parts: Sequence[_Gaps], level: float) -> _Gaps:
    pooled = over_tasks([part.interval for part in parts], [part.samples for part in parts], level)
    return _Gaps(
        sum(part.n_items for part in parts),
        pooled.total([part.n_own for part in parts]),
        pooled.total([part.n_other for part in parts]),
        pooled.mean([part.own for part in parts]),
        pooled.mean([part.other for part in parts]),
        pooled.interval,
        pooled.samples,
    )


def _table(part: _Gaps, judges: Sequence[str], simulated: npt.NDArray[np.bool_]) -> pd.DataFrame:
    interval = part.interval
    reasons = np.where(
        ~np.isnan(interval.estimate),
        "",
        np.where(part.n_own == 0, "no own wrong response in the bin", "no other's wrong response in the bin"),
    )
    return pd.DataFrame(
        {
            "judge": [*judges, "all"],
            "n_items": part.n_items,
            "n_own": part.n_own.astype(np.int64),
            "n_other": part.n_other.astype(np.int64),
            "own": part.own,
            "other_value": part.other,
            "gap": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "interval": interval.method.astype(str),
            "reason": reasons,
            "n_dropped": interval.n_dropped,
            "simulated": [*simulated, bool(simulated.any())],
        }
    )
