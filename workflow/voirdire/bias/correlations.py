"""Does a judge's skill go with its bias? Correlations over judges, and over examinees (the paper's tables 6-9)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.bias.counts import Counts, Totals, count
from voirdire.bias.pooling import aligned, joined, mean_coefficients, weighted_sum
from voirdire.bias.power import with_power
from voirdire.bias.rows import clusters_of, of_condition, prepared, responses_of
from voirdire.stats.arrays import Array
from voirdire.stats.bootstrap import percentile
from voirdire.stats.correlation import leave_one_out, pearson

# Table: what is correlated (x, y), over whom; the anchor is the model on the other side.
TABLES = {
    6: ("task_accuracy", "judge_accuracy", "judges"),
    7: ("task_accuracy", "bias", "judges"),
    8: ("judge_accuracy", "bias", "judges"),
    9: ("task_accuracy", "bias", "examinees"),
}
NOTES = {8: "partly algebraic: judge accuracy is itself made of FPR and FNR"}
CORRELATION_COLUMNS = [
    *("table", "x", "y", "over", "anchor_role", "anchor", "task", "self_point", "left_out", "n", "r", "low", "high"),
    *("boot_low", "boot_high", "p", "range_low", "range_high", "reason", "note", "n_dropped", "detectable", "says"),
    *("verdicts_r", "verdicts_low", "verdicts_high", "verdicts_p", "seed", "simulated"),
]
_SAME_ROW = ["table", "anchor", "self_point", "left_out"]
POINT_COLUMNS = ["table", "anchor", "task", "model", "is_self", "x", "y", "simulated"]


@dataclass(frozen=True)
class _Measured:
    """One task's quantities by name, each with its resamples, and which models they belong to.

    values: (cells,) and samples: (resamples, cells). task_accuracy has one cell per examinee, the others one per pair.
    """

    task: str
    values: dict[str, Array]
    samples: dict[str, Array]


@dataclass(frozen=True)
class _Panel:
    """The models of both roles and what was measured of them in every task and as means over tasks; and over verdicts.

    over_verdicts: one, with the verdicts of all tasks together, without resamples; none without verdicts.
    """

    judges: list[str]
    examinees: list[str]
    pairs: pd.DataFrame  # judge, examinee, simulated: the cells of judge_accuracy and bias
    measured: list[_Measured]
    over_verdicts: list[_Measured]


@dataclass(frozen=True)
class _Points:
    """The points of one correlation: models, x and y (n,), and their resamples (resamples, n)."""

    table: int
    anchor: str
    task: str
    models: list[str]
    x: Array
    y: Array
    x_samples: Array
    y_samples: Array
    simulated: bool

    def subset(self, keep: list[bool]) -> "_Points":
        k = np.asarray(keep, bool)
        models = [model for model, kept in zip(self.models, keep, strict=True) if kept]
        arrays = (self.x[k], self.y[k], self.x_samples[:, k], self.y_samples[:, k])
        return _Points(self.table, self.anchor, self.task, models, *arrays, self.simulated)


def correlations(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Pearson's r of the paper's tables 6-9, per task and for the means over tasks (task "all").

    Table 6, 7, 8: for each examinee (the anchor), over judges; 6: the judge's own task accuracy and its accuracy on the
    examinee, 7: its task accuracy and its directional bias, 8: its accuracy and its bias. Table 9: for each judge,
    over examinees, the examinee's accuracy and the bias it receives. With and without the self point (judge =
    examinee), and with each model left out in turn (left_out; "" none): as judge in 6-8, as examinee in 9.

    verdicts: as `voirdire.tables.VERDICTS`; of several conditions only `main` is read. [low, high] is Fisher-z,
    [boot_low, boot_high] the percentile interval when items are resampled (n_dropped resamples had a rate without a
    denominator or no spread), p exact up to 8 points. [range_low, range_high], on rows with left_out "": the smallest
    and largest r with one model left out; NaN where leaving one of them out leaves no r. detectable, says: see
    `with_power`. verdicts_…, on rows of task "all": r, Fisher's interval and p of rates over the verdicts of all tasks
    together, where a large task counts for more, in place of means over tasks.

    r is NaN with a reason below 3 points or without spread; the reason also names models that have no point, for want
    of a task accuracy (a judge that is no examinee) or a rate. Without verdicts: no rows, all columns.
    """
    panel = _measure(verdicts, main, resamples, seed)
    rows = _rows(panel, panel.measured, level)
    if not rows:
        return pd.DataFrame(columns=CORRELATION_COLUMNS)
    over_verdicts = pd.DataFrame(_rows(panel, panel.over_verdicts, level))[
        [*_SAME_ROW, "task", "r", "low", "high", "p"]
    ]
    renamed = {name: f"verdicts_{name}" for name in ("r", "low", "high", "p")}
    table = pd.DataFrame(rows).merge(over_verdicts.rename(columns=renamed), "left", [*_SAME_ROW, "task"])
    table = table.assign(seed=seed)
    for position, name in enumerate(("x", "y", "over")):
        table[name] = table["table"].map({number: names[position] for number, names in TABLES.items()})
    table["anchor_role"] = table["over"].map({"judges": "examinee", "examinees": "judge"})
    table["note"] = table["table"].map(lambda number: NOTES.get(number, ""))
    return with_power(table, "r", "points", ("n",), p="p", level=level)[CORRELATION_COLUMNS]


def correlation_points(verdicts: pd.DataFrame, main: str = "blind") -> pd.DataFrame:
    """The points behind `correlations`: one row per table, anchor, task and model, x and y NaN where unknown.

    is_self marks the anchor's own point. Table 7 or 9 is what figure 3 draws. Without verdicts: no rows, all columns.
    """
    panel = _measure(verdicts, main, resamples=0, seed=0)
    blocks = [
        pd.DataFrame({"model": points.models, "x": points.x, "y": points.y}).assign(
            table=points.table, anchor=points.anchor, task=points.task, simulated=points.simulated
        )
        for points in _all_points(panel, panel.measured)
        if points.models
    ]
    if not blocks:
        return pd.DataFrame(columns=POINT_COLUMNS)
    table = pd.concat(blocks, ignore_index=True)
    return table.assign(is_self=table["model"] == table["anchor"])[POINT_COLUMNS]


def _rows(panel: _Panel, measured: Sequence[_Measured], level: float) -> list[dict[str, object]]:
    rows = []
    for points in _all_points(panel, measured):
        for self_point in ("with", "without"):
            kept = points.subset([self_point == "with" or model != points.anchor for model in points.models])
            rows += [{**row, "self_point": self_point} for row in _correlate(kept, level)]
    return rows


def _correlate(points: _Points, level: float) -> Iterator[dict[str, object]]:
    """The correlation over all points, then without each one; points without x or y are named and dropped."""
    known = ~np.isnan(points.x) & ~np.isnan(points.y)
    dropped = _why_dropped(points)
    points = points.subset(known.tolist())
    samples = leave_one_out(points.x_samples, points.y_samples)
    boot_low, boot_high, n_dropped = percentile(samples, level)
    left = np.concatenate([np.ones((1, len(points.models)), bool), ~np.eye(len(points.models), dtype=bool)])
    names = TABLES[points.table][:2]
    results = [pearson(points.x[keep], points.y[keep], level, names) for keep in left]
    without = [result.r for result in results[1:]]
    for position, (left_out, result) in enumerate(zip(["", *points.models], results, strict=True)):
        ranged = bool(without) and not np.isnan(without).any() and not left_out
        unknown = np.isnan(result.r)
        yield {
            "table": points.table,
            "anchor": points.anchor,
            "task": points.task,
            "left_out": left_out,
            "n": result.n,
            "r": result.r,
            "low": result.low,
            "high": result.high,
            "boot_low": np.nan if unknown else boot_low[position],
            "boot_high": np.nan if unknown else boot_high[position],
            "p": result.p,
            "range_low": min(without) if ranged else np.nan,
            "range_high": max(without) if ranged else np.nan,
            "reason": "; ".join(filter(None, [result.reason, dropped])),
            "n_dropped": 0 if unknown else int(n_dropped[position]),
            "simulated": points.simulated,
        }


def _why_dropped(points: _Points) -> str:
    x_name, y_name, _ = TABLES[points.table]
    reasons = []
    for name, values in ((x_name, points.x), (y_name, points.y)):
        models = [model for model, value in zip(points.models, values, strict=True) if np.isnan(value)]
        if models:
            reasons.append(f"no {name.replace('_', ' ')}: {', '.join(models)}")
    return "; ".join(reasons)


def _measure(verdicts: pd.DataFrame, main: str, resamples: int, seed: int) -> _Panel:
    rows = of_condition(prepared(verdicts), main)
    if rows.empty:
        return _Panel([], [], pd.DataFrame(columns=["judge", "examinee", "simulated"]), [], [])
    # The same clusters in both, so that an item drawn twice counts twice for solving it and for judging on it.
    clusters = clusters_of(rows)
    pair_counts = aligned(count(rows, ("judge", "examinee"), seed=seed, clusters=clusters))
    own_counts = aligned(count(responses_of(rows), ("examinee",), seed=seed, clusters=clusters))
    measured = [_of_task(p, o, resamples, seed) for p, o in zip(pair_counts, own_counts, strict=True)]
    everything = _values(joined(pair_counts).totals(), joined(own_counts).totals())
    nothing = {name: np.empty((0, len(values))) for name, values in everything.items()}
    pairs = (
        pair_counts[0]
        .cells[["judge", "examinee"]]
        .assign(simulated=np.any([c.cells["simulated"].to_numpy() for c in pair_counts], axis=0))
    )
    examinees = own_counts[0].cells["examinee"].tolist()
    return _Panel(
        sorted(pairs["judge"].unique()),
        examinees,
        pairs,
        [*measured, _over_tasks(measured)],
        [_Measured("all", everything, nothing)],
    )


def _of_task(pairs: Counts, own: Counts, resamples: int, seed: int) -> _Measured:
    samples = _values(pairs.resampled(resamples, seed), own.resampled(resamples, seed))
    return _Measured(pairs.task, _values(pairs.totals(), own.totals()), samples)


def _values(pairs: Totals, own: Totals) -> dict[str, Array]:
    return {"task_accuracy": own.share_right, "judge_accuracy": pairs.accuracy, "bias": pairs.bias}


def _over_tasks(measured: list[_Measured]) -> _Measured:
    values, samples = {}, {}
    for name in ("task_accuracy", "judge_accuracy", "bias"):
        coefficients = mean_coefficients([m.values[name] for m in measured])
        values[name] = weighted_sum([m.values[name] for m in measured], coefficients)
        samples[name] = weighted_sum([m.samples[name] for m in measured], coefficients)
    return _Measured("all", values, samples)


def _all_points(panel: _Panel, every: Sequence[_Measured]) -> Iterator[_Points]:
    """The points of every table, anchor and task measured; a table whose x no model has is left out altogether."""
    own_cell = {examinee: position for position, examinee in enumerate(panel.examinees)}
    for table, (x_name, y_name, over) in TABLES.items():
        role, anchor_role = ("judge", "examinee") if over == "judges" else ("examinee", "judge")
        if x_name == "task_accuracy" and role == "judge" and not own_cell.keys() & set(panel.judges):
            continue
        for anchor, cells in panel.pairs.groupby(anchor_role, sort=True):
            models = cells[role].tolist()
            pair = cells.index.to_numpy()
            for measured in every:
                x, x_samples = (
                    _of_models(quantity[x_name], models, own_cell)
                    if x_name == "task_accuracy"
                    else quantity[x_name][..., pair]
                    for quantity in (measured.values, measured.samples)
                )
                y, y_samples = (quantity[y_name][..., pair] for quantity in (measured.values, measured.samples))
                simulated = bool(cells["simulated"].any())
                yield _Points(table, str(anchor), measured.task, models, x, y, x_samples, y_samples, simulated)


def _of_models(values: Array, models: list[str], own_cell: dict[str, int]) -> Array:
    """The values (…, examinees) of these models (…, models); NaN for a model that is no examinee."""
    padded = np.concatenate([values, np.full((*values.shape[:-1], 1), np.nan)], axis=-1)
    chosen: Array = padded[..., [own_cell.get(model, -1) for model in models]]
    return chosen
