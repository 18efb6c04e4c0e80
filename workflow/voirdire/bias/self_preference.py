"""Do judges go easier on their own responses than on other models', and is it preference?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Compared, Contrast, cluster_codes, compare, difference_p, pool_tasks, summed
from voirdire.bias.rows import clusters_of, of_condition, prepared, usable
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import Interval, combined_interval, sample_correlation
from voirdire.stats.significance import holm

VERSIONS = ("all", "harmful", "matched", "adjusted")
RATES = ("fpr", "fnr")
COLUMNS = [
    *("task", "judge", "other", "version", "rate", "n_own", "n_other", "own", "other_value"),
    *("difference", "low", "high", "p", "p_holm", "family", "interval", "reason", "n_dropped", "seed", "simulated"),
]
# Counted per pair and rate; the adjusted version is made of the last two.
_PARTS = ("all", "harmful", "matched", "raw", "baseline")


@dataclass(frozen=True)
class Comparisons:
    """All comparisons of a frame: cells by version, then rate, then pair; `tasks` and `p` end with the pooled one."""

    pairs: list[tuple[str, str]]
    contrasts: list[Contrast]
    tasks: list[Compared]
    p: list[Array]
    simulated: npt.NDArray[np.bool_]

    def cells(self) -> list[tuple[str, str, str, str]]:
        return [(version, rate, *pair) for version in VERSIONS for rate in RATES for pair in self.pairs]


def self_preference(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Rate of each judge on its own responses minus its rate on another model's: ΔFPR and ΔFNR (table 10).

    verdicts: as `voirdire.tables.VERDICTS`; rows of condition `main` count. One row per task (and "all", the mean of
    the tasks that have the difference), judge that is an examinee too, other examinee, version and rate. Shares, not
    points; `own` − `other_value` = `difference`. NaN and a reason where a rate has no denominator. Without a model in
    both roles: no rows, all columns.

    Versions:
      all       every usable verdict.
      harmful   only items on which exactly one of the two models is wrong. FPR: the judge's own wrong responses where
                only it is wrong, against the other's where only that one is. FNR: on the same items the right ones, so
                own responses where only the other is wrong, against the other's where only the judge is.
      matched   FPR: only items that both got wrong; FNR: that both got right. Items are the unit, trials averaged;
                n_own = n_other = items.
      adjusted  the difference less the mean difference of the other judges (neither of the two) on the same responses;
                own and other_value are rates less the other judges' rate there.

    Intervals: percentile cluster bootstrap; where a count is below 10 Newcombe's ("newcombe", "newcombe_paired" for
    matched items, "mover" for adjusted and pooled ones). p: sign-flip over clusters for matched (McNemar's exact p
    where a cluster is one item); for all and harmful the conditional test of equal proportions (Fisher's exact where no
    item is shared, else with counts corrected for what the two share); for adjusted, swapping own and other within
    items. Task "all" adds the tasks' scores up: a test of no difference in any task (see `difference_p`). p_holm: Holm
    over the pairs of `family`, one task, rate and version.
    """
    compared = analyse(verdicts, main, resamples, seed, level)
    if not compared.pairs:
        return pd.DataFrame(columns=COLUMNS)
    frames = [_rows(compared, number, seed) for number in range(len(compared.tasks))]
    table = pd.concat(frames, ignore_index=True)
    table["family"] = table["task"] + " " + table["rate"] + " " + table["version"]
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.to_numpy()))
    return table[COLUMNS]


def analyse(verdicts: pd.DataFrame, main: str, resamples: int, seed: int, level: float) -> Comparisons:
    """Everything that `self_preference` and its summary show."""
    frame = prepared(verdicts)
    rows = of_condition(frame, main)
    judged = rows.groupby(["judge", "examinee"])["simulated"].any()
    both = set(rows["judge"]) & set(rows["examinee"])
    pairs = sorted((j, m) for j, m in judged.index if j in both and m != j and (j, j) in judged.index)
    simulated = np.array([judged[j, j] or judged[j, m] for j, m in pairs], bool)
    if not pairs:
        return Comparisons([], [], [], [], simulated)
    clusters = clusters_of(frame)
    size = len(RATES) * len(pairs)
    version = np.repeat(VERSIONS, size)
    paired, proportions = version == "matched", version != "adjusted"
    contrasts, tasks = [], []
    for name, part in rows.groupby("task", sort=True):
        counted = _contrast(part, str(name), pairs, clusters, seed)
        compared = compare(counted, np.repeat(np.array(_PARTS) == "matched", size), resamples, seed, level)
        contrasts.append(_adjusted_contrast(counted, size))
        tasks.append(_adjusted(compared, size, level))
    known = [~np.isnan(task.interval.estimate) for task in tasks]
    tasks.append(pool_tasks(tasks, level))
    p = [
        difference_p(some, task.interval.estimate, there, paired, proportions)
        for some, there, task in zip(
            [*([contrast] for contrast in contrasts), contrasts], [*([k] for k in known), known], tasks, strict=True
        )
    ]
    return Comparisons(pairs, contrasts, tasks, p, simulated)


def _contrast(
    rows: pd.DataFrame,
    task: str,
    pairs: Sequence[tuple[str, str]],
    clusters: dict[str, npt.NDArray[np.object_]],
    seed: int,
) -> Contrast:
    """Sums per (part, rate, pair) and cluster of one task."""
    judges, examinees = (pd.Index(sorted(rows[role].unique())) for role in ("judge", "examinee"))
    items = rows.drop_duplicates("item_id")
    codes, n_clusters = cluster_codes(items, task, clusters, seed)
    truth, n, accepted = _dense(rows, judges, pd.Index(items["item_id"]), examinees)
    sums = np.zeros((4, len(_PARTS), len(RATES), len(pairs), n_clusters))
    for rate, (hits, wanted) in enumerate(((accepted, 0), (n - accepted, 1))):
        total, total_n = hits.sum(axis=0), n.sum(axis=0)
        for number, (judge, other) in enumerate(pairs):
            j = int(judges.get_indexer([judge])[0])
            k = int(judges.get_indexer([other])[0])
            own, theirs = (int(place) for place in examinees.get_indexer([judge, other]))
            sides = []
            for column in (own, theirs):
                here = truth[:, column] == wanted
                rest = total[:, column] - hits[j, :, column] - hits[k, :, column]
                rest_n = total_n[:, column] - n[j, :, column] - n[k, :, column]
                sides.append((hits[j, :, column] * here, n[j, :, column] * here, ratio(rest, rest_n)))
            exactly_one = truth[:, own] + truth[:, theirs] == 1
            parts = _parts(sides, exactly_one)
            sums[:, :, rate, number] = summed(parts.reshape(-1, len(codes)), codes, n_clusters).reshape(
                4, -1, n_clusters
            )
    return Contrast(task, *(array.reshape(-1, n_clusters) for array in sums))


def _dense(rows: pd.DataFrame, judges: pd.Index, item: pd.Index, examinees: pd.Index) -> tuple[Array, Array, Array]:
    """Truth (items, examinees), NaN unknown; verdicts and accepting ones (judges, items, examinees).

    The last judge and the last examinee are nobody: index −1, of a pair's model that is missing in this task.
    """
    shape = (len(judges) + 1, len(item), len(examinees) + 1)
    truth = np.full(shape[1:], np.nan)
    known = rows[rows["truth"].notna()]
    places = item.get_indexer(pd.Index(known["item_id"])), examinees.get_indexer(pd.Index(known["examinee"]))
    truth[places] = known["truth"]
    used = usable(rows)
    names = ((judges, used["judge"]), (item, used["item_id"]), (examinees, used["examinee"]))
    place = np.ravel_multi_index([index.get_indexer(pd.Index(values)) for index, values in names], shape)
    n = np.bincount(place, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    accepted = np.bincount(place, used["verdict"], minlength=n.size).reshape(shape).astype(np.float64)
    return truth, n, accepted


def _parts(sides: list[tuple[Array, Array, Array]], exactly_one: npt.NDArray[np.bool_]) -> Array:
    """What each item adds: (own hits, own n, other hits, other n) × parts × items."""
    both = (sides[0][1] > 0) & (sides[1][1] > 0)
    result = []
    for hits, n, baseline in sides:
        there = ~np.isnan(baseline)
        expected = np.where(there, baseline, 0.0) * n
        matched = np.where(both, ratio(hits, n), 0.0)
        result.append([hits, hits * exactly_one, matched, hits * there, expected])
        result.append([n, n * exactly_one, both.astype(np.float64), n * there, n * there])
    return np.array(result)


def _adjusted_contrast(counted: Contrast, size: int) -> Contrast:
    """The last two parts, raw and baseline, become one: what exceeds the baseline."""

    def excess(hits: Array) -> Array:
        return np.concatenate([hits[: 3 * size], hits[3 * size : 4 * size] - hits[4 * size :]])

    n1, n2 = (n[: 4 * size] for n in (counted.first_n, counted.second_n))
    return Contrast(counted.task, excess(counted.first_hits), n1, excess(counted.second_hits), n2)


def _adjusted(compared: Compared, size: int, level: float) -> Compared:
    raw, baseline = slice(3 * size, 4 * size), slice(4 * size, 5 * size)

    def part(cells: slice) -> Interval:
        return Interval(*(getattr(compared.interval, field)[cells] for field in Interval.__dataclass_fields__))

    raw_samples, baseline_samples = compared.samples[:, raw], compared.samples[:, baseline]
    samples = raw_samples - baseline_samples
    # Both are measured on the same responses, and move together.
    together = np.nan_to_num(sample_correlation(raw_samples, baseline_samples))
    adjusted = combined_interval([part(raw), part(baseline)], [1.0, -1.0], samples, level, together)
    rest = part(slice(0, 3 * size))
    fields = Interval.__dataclass_fields__
    interval = Interval(*(np.concatenate([getattr(rest, name), getattr(adjusted, name)]) for name in fields))

    def excess(values: Array) -> Array:
        return np.concatenate([values[: 3 * size], values[raw] - values[baseline]])

    return replace(
        compared,
        first=excess(compared.first),
        second=excess(compared.second),
        n_first=compared.n_first[: 4 * size],
        n_second=compared.n_second[: 4 * size],
        interval=interval,
        samples=np.concatenate([compared.samples[:, : 3 * size], samples], axis=1),
    )


def _rows(compared: Comparisons, number: int, seed: int) -> pd.DataFrame:
    task, p = compared.tasks[number], compared.p[number]
    cells = pd.DataFrame(compared.cells(), columns=["version", "rate", "judge", "other"])
    interval = task.interval
    table = cells.assign(
        task=task.task,
        n_own=task.n_first.astype(int),
        n_other=task.n_second.astype(int),
        own=task.first,
        other_value=task.second,
        difference=interval.estimate,
        low=interval.low,
        high=interval.high,
        p=p,
        interval=interval.method.astype(str),
        n_dropped=interval.n_dropped,
        seed=seed,
        simulated=np.tile(compared.simulated, len(VERSIONS) * len(RATES)),
    )
    if task.task != "all":
        return table.assign(reason=[_reason(row) for row in table.itertuples(index=False)])
    known = np.stack([~np.isnan(part.interval.estimate) for part in compared.tasks[:-1]])
    names = np.array([part.task for part in compared.tasks[:-1]], object)
    return table.assign(reason=[_pooled_reason(names, column) for column in known.T])


def _reason(row: object) -> str:
    judge, other, rate = (str(getattr(row, name)) for name in ("judge", "other", "rate"))
    version, n_own, n_other = (getattr(row, name) for name in ("version", "n_own", "n_other"))
    if n_own and n_other:
        return "a single cluster: no test" if np.isnan(float(row.p)) else ""  # type: ignore[attr-defined]
    word = "wrong" if rate == "fpr" else "right"
    if version == "matched":
        return f"no judged item that both {judge} and {other} got {word}"
    whose = [f"of {name}" for name, count in ((judge, n_own), (other, n_other)) if not count]
    where = {
        "all": "",
        "harmful": " where exactly one of the two is wrong",
        "adjusted": " that a third judge judged too",
    }[version]
    return f"no judged {word} response " + " and none ".join(whose) + where


def _pooled_reason(names: npt.NDArray[np.object_], known: npt.NDArray[np.bool_]) -> str:
    if known.all():
        return ""
    if not known.any():
        return "no task has it"
    return f"mean of {known.sum()} of {len(known)} tasks, without {', '.join(names[~known])}"
