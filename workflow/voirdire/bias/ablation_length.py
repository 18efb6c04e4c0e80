"""Are wrong responses accepted because they are long (or short)?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Mask, cluster_codes, weighted_sums
from voirdire.bias.dependent import DependentMean, dependent_mean, n_telling
from voirdire.bias.pooling import over_tasks
from voirdire.bias.power import MARGIN_D, with_power
from voirdire.bias.rows import clusters_of, of_condition, prepared, usable
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import BELIEVED_FROM, Interval, percentile
from voirdire.stats.effect import cohen_d_from_moments, cohen_d_interval
from voirdire.stats.intervals import normal_quantile

LENGTH_COLUMNS = [
    *("task", "judge", "n_accepted", "n_rejected", "mean_chars_accepted", "mean_chars_rejected"),
    *("d", "low", "high", "equivalent", "interval", "reason", "n_dropped", "detectable", "says", "seed", "simulated"),
]
# Within it on both sides, length is no confound.
NEGLIGIBLE_D = MARGIN_D
# With 50 clusters of several responses on a side the percentile bootstrap of d covers 92 %.
_ENOUGH_CLUSTERS = 200


@dataclass(frozen=True)
class _Lengths:
    """One task, all judges: (judges,) each; samples (resamples, judges).

    influence: what each cluster's accepted and rejected responses add to the linearised d, (judges, clusters) each.
    """

    task: str
    n: list[npt.NDArray[np.int64]]
    means: list[Array]
    interval: Interval
    samples: Array
    influence: list[Array]


def ablation_length(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Cohen's d between the lengths of the wrong responses that a judge accepted and those that it rejected (table 4).

    verdicts: as `voirdire.tables.VERDICTS`; rows of condition `main` with a known response_chars count. Positive d:
    the accepted ones are longer. One row per task and judge. Judge "all" is the mean of the judges' d (they judge the
    same responses, so their verdicts must not be thrown together as if independent), task "all" the mean of the
    tasks'; both over those that have a d. NaN and a reason where fewer than two responses were accepted or rejected, or
    all lengths in both groups are constant. Source of d: Cohen (1988), Statistical Power Analysis, eq. 2.5.1.

    Intervals: percentile cluster bootstrap; where fewer than 200 clusters were accepted or rejected, the noncentral t
    with effective numbers of responses; pooled over such tasks, square-and-add ("mover"); for judge "all" see
    `dependent_mean`. equivalent: "yes" if the interval lies within ±0.2, "no" if it lies wholly beyond on one side,
    else "undecided". Too few responses are "undecided", never "no difference". detectable, says: see `with_power`.
    Without wrong responses of known length: no rows, all columns.
    """
    frame = prepared(verdicts)
    if "response_chars" not in frame:
        return pd.DataFrame(columns=LENGTH_COLUMNS)
    rows = of_condition(frame, main)
    judges = sorted(rows["judge"].unique())
    used = usable(rows)
    used = used[(used["truth"] == 0) & used["response_chars"].notna()]
    if used.empty:
        return pd.DataFrame(columns=LENGTH_COLUMNS)
    clusters = clusters_of(frame)
    names = sorted(str(task) for task in rows["task"].unique())
    tasks = [_task(used[used["task"] == task], task, judges, clusters, resamples, seed, level) for task in names]
    simulated = rows.groupby("judge")["simulated"].any().reindex(judges).to_numpy()
    parts = [*tasks, _pooled(tasks, level)]
    table = pd.concat([_table(part, judges, simulated, level, seed) for part in parts], ignore_index=True)
    groups = ("n_accepted", "n_rejected")
    return with_power(table, "d", "means", groups, margin=NEGLIGIBLE_D, level=level)[LENGTH_COLUMNS]


def _task(
    rows: pd.DataFrame,
    task: str,
    judges: Sequence[str],
    clusters: dict[str, npt.NDArray[np.object_]],
    resamples: int,
    seed: int,
    level: float,
) -> _Lengths:
    codes, n_clusters = cluster_codes(rows, task, clusters, seed)
    chars = rows["response_chars"].to_numpy(np.float64)
    centre = float(chars.mean()) if len(chars) else 0.0
    accepted = rows["verdict"].to_numpy() == 1
    flat = pd.Index(judges).get_indexer(pd.Index(rows["judge"])) * n_clusters + codes

    def sums(chosen: npt.NDArray[np.bool_], power: int) -> Array:
        weight = (chars[chosen] - centre) ** power
        size = len(judges) * n_clusters
        return np.bincount(flat[chosen], weight, minlength=size).reshape(len(judges), n_clusters).astype(np.float64)

    moments = [sums(chosen, power) for chosen in (accepted, ~accepted) for power in (0, 1, 2)]
    return _lengths(task, moments, centre, resamples, seed, level)


def _lengths(task: str, moments: list[Array], centre: float, resamples: int, seed: int, level: float) -> _Lengths:
    """moments: number, sum and sum of squares of lengths less `centre`, accepted then rejected: (judges, clusters)."""
    totals = [moment.sum(axis=1) for moment in moments]
    d = cohen_d_from_moments(*totals)
    samples = cohen_d_from_moments(*weighted_sums(moments, task, resamples, seed))
    low, high, dropped = percentile(samples, level)
    influence = _influence(moments, d)
    sizes = _effective_sizes(moments, d, influence[0] + influence[1], level)
    units = np.minimum(*((moments[side] > 0).sum(axis=1) for side in (0, 3)))
    method = np.where(np.isnan(d), "", "percentile").astype(object)
    for judge in np.flatnonzero((units < _ENOUGH_CLUSTERS) & ~np.isnan(d)):
        n_accepted, n_rejected = (float(size[judge]) for size in sizes)
        low[judge], high[judge] = cohen_d_interval(float(d[judge]), n_accepted, n_rejected, level)
        method[judge] = "noncentral t"
    low, high = (np.where(np.isnan(d), np.nan, bound) for bound in (low, high))
    return _Lengths(
        task,
        [totals[0].astype(np.int64), totals[3].astype(np.int64)],
        [ratio(totals[1], totals[0]) + centre, ratio(totals[4], totals[3]) + centre],
        Interval(d, low, high, method, np.where(np.isnan(d), 0, dropped)),
        samples,
        influence,
    )


def _effective_sizes(moments: list[Array], d: Array, influence: Array, level: float) -> tuple[Array, Array]:
    """How many independent responses the accepted and the rejected ones are worth, (judges,) each, for the spread of d.

    Both over one design effect: the linearised variance of d over clusters, with a t quantile for their number in place
    of the normal one, by its variance for independent responses; between 1 and its value for clusters that count once
    each, towards which it moves where fewer than 15 clusters were accepted (or rejected), as in `effective_n`.
    Source: Hedges & Olkin (1985), Statistical Methods for Meta-Analysis, p. 86, for the variance.
    """
    from scipy.special import stdtrit

    sizes = [np.maximum(moments[side].sum(axis=1), 1.0) for side in (0, 3)]
    clusters = [np.maximum((moments[side] > 0).sum(axis=1), 1.0) for side in (0, 3)]
    there = np.maximum(((moments[0] > 0) | (moments[3] > 0)).sum(axis=1), 2.0)
    rarer = np.minimum(*clusters)

    def independent(first: Array, second: Array) -> Array:
        return (first + second) / (first * second) + d**2 / (2 * (first + second))

    caution = (stdtrit(np.maximum(rarer - 1, 1), (1 + level) / 2) / normal_quantile(level)) ** 2
    seen = (influence**2).sum(axis=1) * there / (there - 1) * caution / independent(*sizes)
    largest = np.maximum(independent(*clusters) / independent(*sizes), 1)
    trust = np.minimum(rarer / BELIEVED_FROM, 1)
    effect = trust * np.clip(seen, 1, largest) + (1 - trust) * largest
    return sizes[0] / effect, sizes[1] / effect


def _influence(moments: list[Array], d: Array) -> list[Array]:
    """Derivative of d = (mean₁ − mean₂) / s along each cluster's moments, per group; 0 for a judge without d."""
    groups = (moments[:3], moments[3:])
    means = [np.nan_to_num(ratio(total.sum(axis=1), count.sum(axis=1)))[:, None] for count, total, _ in groups]
    squares = [
        square - 2 * mean * total + mean**2 * count for (count, total, square), mean in zip(groups, means, strict=True)
    ]
    n = sum(count.sum(axis=1, keepdims=True) for count, _, _ in groups)
    within = sum(square.sum(axis=1, keepdims=True) for square in squares)
    known = ~np.isnan(d)[:, None]
    sides = []
    for sign, (count, total, _), mean, square in zip((1, -1), groups, means, squares, strict=True):
        with np.errstate(invalid="ignore", divide="ignore"):
            shift = sign * (total - mean * count) / count.sum(axis=1, keepdims=True) / np.sqrt(within / (n - 2))
            spread = d[:, None] / 2 * (square / within - count / n)
        sides.append(np.where(known, shift - spread, 0.0))
    return sides


def _pooled(tasks: Sequence[_Lengths], level: float) -> _Lengths:
    pooled = over_tasks([task.interval for task in tasks], [task.samples for task in tasks], level)
    return _Lengths(
        "all",
        [pooled.total([task.n[side] for task in tasks]) for side in (0, 1)],
        [pooled.mean([task.means[side] for task in tasks]) for side in (0, 1)],
        pooled.interval,
        pooled.samples,
        [pooled.clusters([task.influence[side] for task in tasks]) for side in (0, 1)],
    )


def _table(
    part: _Lengths, judges: Sequence[str], simulated: npt.NDArray[np.bool_], level: float, seed: int
) -> pd.DataFrame:
    interval = part.interval
    known = ~np.isnan(interval.estimate)
    telling = n_telling(part.influence, known)
    mean = dependent_mean(interval, part.samples, part.influence[0] + part.influence[1], telling, level)

    def with_all(values: npt.NDArray[Any], last: object) -> list[object]:
        return [*values.tolist(), last]

    def over_known(values: Array) -> float:
        return float(values[known].mean()) if known.any() else np.nan

    table = pd.DataFrame(
        {
            "task": part.task,
            "judge": [*judges, "all"],
            "n_accepted": with_all(part.n[0], int(part.n[0][known].sum())),
            "n_rejected": with_all(part.n[1], int(part.n[1][known].sum())),
            "mean_chars_accepted": with_all(part.means[0], over_known(part.means[0])),
            "mean_chars_rejected": with_all(part.means[1], over_known(part.means[1])),
            "d": with_all(interval.estimate, mean.estimate),
            "low": with_all(interval.low, mean.low),
            "high": with_all(interval.high, mean.high),
            "interval": with_all(interval.method, mean.method),
            "n_dropped": with_all(interval.n_dropped, int(interval.n_dropped[known].max(initial=0))),
            "simulated": with_all(simulated, bool(simulated.any())),
            "seed": seed,
        }
    )
    table["equivalent"] = _equivalent(table["low"].to_numpy(), table["high"].to_numpy())
    table["reason"] = [_reason(row, part.task, known, mean) for row in table.to_dict("records")]
    return table


def _equivalent(low: Array, high: Array) -> npt.NDArray[np.object_]:
    within = (low > -NEGLIGIBLE_D) & (high < NEGLIGIBLE_D)
    beyond = (low >= NEGLIGIBLE_D) | (high <= -NEGLIGIBLE_D)
    return np.where(within, "yes", np.where(beyond, "no", "undecided")).astype(object)


def _reason(row: dict[Any, Any], task: str, known: Mask, mean: DependentMean) -> str:
    missing = bool(np.isnan(row["d"]))
    if row["judge"] == "all":
        if missing:
            return "no judge has a d"
        some = "" if known.all() else f"mean over {int(known.sum())} of {len(known)} judges"
        return "; ".join(filter(None, [some, mean.reason]))
    if not missing:
        return ""
    if task == "all":
        return "no task has a d"
    few = [
        f"{row[name]} {word}"
        for name, word in (("n_accepted", "accepted"), ("n_rejected", "rejected"))
        if row[name] < 2
    ]
    return f"too few wrong responses: {' and '.join(few)}" if few else "all lengths within a group are the same"
