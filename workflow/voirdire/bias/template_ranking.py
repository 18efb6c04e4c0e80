"""Does another judge template put the judges in another order?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.ablation_template import template_pairs
from voirdire.bias.counts import Counts, Totals
from voirdire.bias.paired import counts_of
from voirdire.bias.pooling import mean_coefficients, side_by_side, weighted_sum
from voirdire.bias.rows import clusters_of, prepared
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import percentile, task_seed
from voirdire.stats.ranking import kendall_tau
from voirdire.stats.significance import holm, sign_flip_p

RANKING_COLUMNS = [
    *("template", "task", "measure", "n_judges", "n_pairs", "tau", "low", "high", "unmoved", "unmoved_low"),
    *("n_reversed", "reversed", "first_main", "first_other", "interval", "reason", "n_dropped", "seed", "simulated"),
]
MEASURES = ("accuracy", "fpr", "fnr", "bias")
_FEWEST = 3
# Of the swaps' stream of draws, beside those of resamples and blocks.
_SWAPS = 2
# Swaps held in memory at a time.
_CHUNK = 4_000_000


@dataclass(frozen=True)
class _Measured:
    """One task under both templates: the counts, their resamples, and what swapped templates would have given."""

    counts: tuple[Counts, Counts]
    samples: tuple[Totals, Totals]
    swapped: tuple[Totals, Totals]

    @property
    def totals(self) -> tuple[Totals, Totals]:
        return self.counts[0].totals(), self.counts[1].totals()


def template_ranking(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """How far another judge template leaves the order of the judges as it is: Kendall's tau-b between both orders.

    verdicts, and the pairs of verdicts that count: as for `ablation_template`. One row per template, task (and "all",
    the mean of the task rates) and measure (accuracy, fpr, fnr, bias). low, high: percentile bootstrap over clusters.
    Noise alone moves an order, so hold tau against `unmoved`, its median where templates change nothing, and
    `unmoved_low`, its quantile at (1 − level) / 2: from swapping both templates' verdicts, of all judges together, at
    random, cluster by cluster. A tau below says that the templates differ in something that disturbs the order, which
    rates moved closer to each other do too. Evidence of another order are pairs of judges of which one has the
    higher rate under the one template and the other under the other: `n_reversed` of them, named in `reversed`, are
    shown by the data (both differences by sign flips over clusters, the larger p of the two, Holm over all pairs).
    None shown is no evidence that there is none. first_main, first_other: the judge that errs least (highest accuracy,
    lowest rate, bias nearest to 0) under each template; empty where several do. NaN with a reason below three judges
    and where all are tied.
    """
    frame = prepared(verdicts)
    clusters = clusters_of(frame)
    rows = []
    for template, pairs in template_pairs(frame, main):
        named = {"template": template, "seed": seed, "simulated": bool(pairs["simulated"].any())}
        rows += [{**named, **row} for row in _rankings(pairs, clusters, resamples, seed, level)]
    return pd.DataFrame(rows, columns=RANKING_COLUMNS)


def _rankings(
    pairs: pd.DataFrame, clusters: dict[str, npt.NDArray[np.object_]], resamples: int, seed: int, level: float
) -> Iterator[dict[str, object]]:
    before, after = counts_of(pairs, clusters, seed)
    judges = before[0].cells["judge"].tolist()
    tasks = [_measured(first, second, resamples, seed) for first, second in zip(before, after, strict=True)]
    names = [counts.task for counts in before]
    for task, parts in [*((name, [part]) for name, part in zip(names, tasks, strict=True)), ("all", tasks)]:
        n_pairs = int(sum(part.counts[0].n.sum() for part in parts))
        for measure in MEASURES:
            yield {"task": task, "measure": measure, "n_pairs": n_pairs, **_ranking(parts, measure, judges, level)}


def _measured(before: Counts, after: Counts, resamples: int, seed: int) -> _Measured:
    moved = [later - earlier for earlier, later in zip(before.arrays(), after.arrays(), strict=True)]
    change = [np.concatenate(parts) for parts in zip(*_swaps(before, moved, resamples, seed), strict=True)]
    first, second = (
        Totals(*(array.sum(axis=1) + sign * part for array, part in zip(counts.arrays(), change, strict=True)))
        for counts, sign in ((before, 1), (after, -1))
    )
    samples = before.resampled(resamples, seed), after.resampled(resamples, seed)
    return _Measured((before, after), samples, (first, second))


def _swaps(before: Counts, moved: Sequence[Array], n: int, seed: int) -> Iterator[list[Array]]:
    """What swapping half of the clusters, drawn at random, adds to each count of the first template: (swaps, cells)."""
    rng = np.random.default_rng([*task_seed(seed, before.task), _SWAPS])
    size = len(before.clusters)
    step = max(1, _CHUNK // max(size, 1))
    for start in range(0, n, step):
        drawn = rng.integers(0, 2, size=(min(step, n - start), size)).astype(np.float64)
        yield [drawn @ part.T for part in moved]


def _ranking(parts: Sequence[_Measured], measure: str, judges: Sequence[str], level: float) -> dict[str, object]:
    first, second = (_pooled([part.totals[side] for part in parts], measure) for side in (0, 1))
    known = ~np.isnan(first) & ~np.isnan(second)
    row: dict[str, object] = {"n_judges": int(known.sum()), "reason": "", "interval": "", "n_dropped": 0}
    row |= {name: _first(side, judges, measure) for name, side in (("first_main", first), ("first_other", second))}
    if known.sum() < _FEWEST:
        return row | {"reason": f"an order needs {_FEWEST} judges with this rate; there are {known.sum()}"}
    tau = float(kendall_tau(first[known], second[known])[0])
    if np.isnan(tau):
        return row | {"reason": "all judges are tied"}
    low, high, dropped = percentile(_taus([part.samples for part in parts], measure, known), level)
    row |= {"tau": tau, "low": float(low), "high": float(high), "interval": "percentile", "n_dropped": int(dropped)}
    unmoved = _taus([part.swapped for part in parts], measure, known)
    if not np.isnan(unmoved).all():
        row |= {"unmoved": float(np.nanmedian(unmoved)), "unmoved_low": float(percentile(unmoved, level)[0])}
    shown = _reversed(parts, measure, np.flatnonzero(known), 1 - level)
    return row | {"n_reversed": len(shown), "reversed": "; ".join(f"{judges[j]}, {judges[k]}" for j, k in shown)}


def _reversed(
    parts: Sequence[_Measured], measure: str, known: npt.NDArray[np.intp], alpha: float
) -> list[tuple[int, int]]:
    """The pairs of judges whose order the data show to be the reverse under the other template."""
    units = [_units([part.counts[side] for part in parts], measure) for side in (0, 1)]
    pairs = list(combinations(known.tolist(), 2))
    p = np.ones(len(pairs))
    for at, (j, k) in enumerate(pairs):
        apart = [side[j] - side[k] for side in units]
        if apart[0].sum() * apart[1].sum() < 0:
            # A reversal takes both differences, so the weaker evidence of the two counts.
            p[at] = max(sign_flip_p(difference) for difference in apart)
    return [pair for pair, adjusted in zip(pairs, holm(p), strict=True) if adjusted < alpha]


def _units(counts: Sequence[Counts], measure: str) -> Array:
    """What each cluster adds to each judge's rate, or mean of task rates: (judges, clusters of all tasks)."""
    shares = mean_coefficients([np.asarray(getattr(task.totals(), measure)) for task in counts])
    return side_by_side([_unit(task, measure) for task in counts], shares)


def _unit(counts: Counts, measure: str) -> Array:
    if measure == "bias":
        return _unit(counts, "fpr") - _unit(counts, "fnr")
    hits, trials = {
        "accuracy": (counts.agreed, counts.n),
        "fpr": (counts.accepted_wrong, counts.wrong),
        "fnr": (counts.rejected_right, counts.right),
    }[measure]
    return np.nan_to_num(ratio(hits, trials.sum(axis=1, keepdims=True)))


def _taus(sides: Sequence[tuple[Totals, Totals]], measure: str, known: npt.NDArray[np.bool_]) -> Array:
    first, second = (_pooled([side[which] for side in sides], measure) for which in (0, 1))
    return kendall_tau(first[:, known], second[:, known])


def _pooled(totals: Sequence[Totals], measure: str) -> Array:
    """The mean over tasks that have the measure, elementwise."""
    values = [np.asarray(getattr(total, measure)) for total in totals]
    return weighted_sum(values, mean_coefficients(values))


def _first(values: Array, judges: Sequence[str], measure: str) -> str:
    """The judge that errs least, by this measure; empty where several do or nobody has a value."""
    errors = 1 - values if measure == "accuracy" else np.abs(values)
    least = np.flatnonzero(errors <= np.nanmin(errors, initial=np.inf) + 1e-12)
    return judges[least[0]] if len(least) == 1 else ""
