"""Does it change a verdict to be told who answered?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Contrast, Mask, compare
from voirdire.bias.counts import Counts, count
from voirdire.bias.dependent import dependent_mean, n_telling
from voirdire.bias.pooling import aligned, mean_coefficients, side_by_side, weighted_sum
from voirdire.bias.rows import clusters_of, prepared, usable
from voirdire.stats.arrays import Array
from voirdire.stats.bootstrap import Interval, combined_interval
from voirdire.stats.significance import holm, sign_flip_p

IDENTITY_COLUMNS = [
    *("label", "task", "judge", "examinee", "rate", "n_pairs", "blind", "labelled", "difference", "low", "high"),
    *("p", "p_holm", "family", "interval", "reason", "n_dropped", "seed", "simulated"),
]
RATES = ("fpr", "fnr", "bias")
LABELS = ("elite", "author")
_KEY = ["task", "item_id", "examinee", "judge", "trial"]


@dataclass(frozen=True)
class _Change:
    """Labelled less blind of one rate in one task, over cells: (cells,), samples (resamples, cells).

    units: what each cluster adds to the difference, (cells, clusters), 0 without pairs: the sign-flip test's input.
    influence: the same less what it would add if all clusters differed alike.
    """

    blind: Array
    labelled: Array
    n_pairs: Array
    interval: Interval
    samples: Array
    units: Array
    influence: Array


def ablation_identity(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """FPR, FNR and directional bias under an identity label less those under blind judging (table 3).

    verdicts: as `voirdire.tables.VERDICTS`, of condition `main` and of conditions of the same template with a label
    (by their column label, or by their name elite or author). Only the same responses count: pairs of verdicts that
    agree in task, item, examinee, judge and trial, both ok, their truth known. Shares, not points.

    One row per label, task (and "all": mean of the tasks that have the difference), judge (and "all": mean of the
    judges), examinee and rate; with several labelled examinees also examinee "all", their pairs together. n_pairs: of
    wrong responses for the FPR, right ones for the FNR, both for the bias. NaN and a reason where there are none.
    Without a labelled condition: no rows, all columns.

    Intervals: percentile cluster bootstrap of the difference; Newcombe's paired interval where a count, or the number
    of clusters whose verdicts differ, is below 10; "mover" for what is made of such; for judge "all" see
    `dependent_mean`. p: sign-flip over clusters, for FPR and FNR McNemar's exact test where a cluster is one pair.
    p_holm: Holm over the judges of one `family`: label, task, rate and examinee.
    """
    frame = prepared(verdicts)
    clusters = clusters_of(frame)
    blind = usable(frame[frame["condition"] == main])
    tables = []
    for label, rows in labelled_conditions(frame, main):
        pairs = blind.merge(usable(rows)[[*_KEY, "verdict"]], on=_KEY, suffixes=("", "_labelled"))
        examinees = sorted(pairs["examinee"].unique())
        chosen = [(name, pairs[pairs["examinee"] == name]) for name in examinees]
        for name, part in [("all", pairs), *chosen] if len(examinees) > 1 else chosen:
            table = _compared(part.reset_index(drop=True), clusters, resamples, seed, level)
            tables.append(table.assign(label=label, examinee=name, seed=seed, simulated=bool(part["simulated"].any())))
    if not tables:
        return pd.DataFrame(columns=IDENTITY_COLUMNS)
    table = pd.concat(tables, ignore_index=True)
    scope = np.where(table["judge"] == "all", "all judges", "judges")
    table["family"] = (
        table["label"] + " " + table["task"] + " " + table["rate"] + " " + table["examinee"] + ": " + scope
    )
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.to_numpy()))
    return table[IDENTITY_COLUMNS]


def labelled_conditions(frame: pd.DataFrame, main: str) -> list[tuple[str, pd.DataFrame]]:
    """The labelled conditions that differ from the main one in nothing but the label: each label, and its rows.

    By the column label, where that is missing by the condition's name, elite or author; with a column template only
    those of the main condition's (of any, where there is no main condition).
    """
    rows = frame[frame["condition"] != main]
    named = rows["condition"].where(rows["condition"].isin(LABELS))
    rows = rows.assign(label=rows["label"].fillna(named) if "label" in rows else named)
    if "template" in rows and len(rows) < len(frame):
        rows = rows[rows["template"].isin(frame.loc[frame["condition"] == main, "template"].unique())]
    return [(str(label), part) for label, part in rows.groupby("label", sort=False)]


def _compared(
    pairs: pd.DataFrame, clusters: dict[str, npt.NDArray[np.object_]], resamples: int, seed: int, level: float
) -> pd.DataFrame:
    before = aligned(count(pairs, ("judge",), seed=seed, clusters=clusters))
    after = aligned(count(pairs.assign(verdict=pairs["verdict_labelled"]), ("judge",), seed=seed, clusters=clusters))
    judges = before[0].cells["judge"].tolist()
    tasks = [_task(b, a, resamples, seed, level) for b, a in zip(before, after, strict=True)]
    names = [counts.task for counts in before]
    return pd.concat(
        [
            _table(change, judges, level).assign(task=task, rate=rate)
            for rate in RATES
            for task, change in zip(
                [*names, "all"],
                [*(task[rate] for task in tasks), _pooled([t[rate] for t in tasks], level)],
                strict=True,
            )
        ],
        ignore_index=True,
    )


def _task(before: Counts, after: Counts, resamples: int, seed: int, level: float) -> dict[str, _Change]:
    fpr = _rate(before.task, (before.accepted_wrong, after.accepted_wrong), before.wrong, resamples, seed, level)
    fnr = _rate(before.task, (before.rejected_right, after.rejected_right), before.right, resamples, seed, level)
    samples = fpr.samples - fnr.samples
    bias = _Change(
        fpr.blind - fnr.blind,
        fpr.labelled - fnr.labelled,
        fpr.n_pairs + fnr.n_pairs,
        combined_interval([fpr.interval, fnr.interval], [1.0, -1.0], samples, level),
        samples,
        fpr.units - fnr.units,
        fpr.influence - fnr.influence,
    )
    return {"fpr": fpr, "fnr": fnr, "bias": bias}


def _rate(task: str, hits: tuple[Array, Array], n: Array, resamples: int, seed: int, level: float) -> _Change:
    paired: Mask = np.ones(len(n), bool)
    contrast = Contrast(task, hits[1], n, hits[0], n)
    compared = compare(contrast, paired, resamples, seed, level)
    labelled, blind = contrast.influence()
    units = (hits[1] - hits[0]) / np.maximum(n.sum(axis=1, keepdims=True), 1)
    return _Change(
        compared.second,
        compared.first,
        compared.n_first,
        compared.interval,
        compared.samples,
        units,
        labelled - blind,
    )


def _pooled(tasks: Sequence[_Change], level: float) -> _Change:
    share = mean_coefficients([task.interval.estimate for task in tasks])
    samples = weighted_sum([task.samples for task in tasks], share)
    return _Change(
        weighted_sum([task.blind for task in tasks], share),
        weighted_sum([task.labelled for task in tasks], share),
        np.sum([np.where(part > 0, task.n_pairs, 0) for part, task in zip(share, tasks, strict=True)], axis=0),
        combined_interval([task.interval for task in tasks], share, samples, level),
        samples,
        side_by_side([task.units for task in tasks], share),
        side_by_side([task.influence for task in tasks], share),
    )


def _table(change: _Change, judges: Sequence[str], level: float) -> pd.DataFrame:
    interval = change.interval
    known = ~np.isnan(interval.estimate)
    table = pd.DataFrame(
        {
            "judge": judges,
            "n_pairs": change.n_pairs.astype(np.int64),
            "blind": change.blind,
            "labelled": change.labelled,
            "difference": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "interval": interval.method.astype(str),
            "n_dropped": interval.n_dropped,
            "p": [sign_flip_p(units) if there else np.nan for units, there in zip(change.units, known, strict=True)],
            "reason": np.where(known, "", "no pairs of verdicts on such responses"),
        }
    )
    telling = n_telling([change.units], known)
    mean = dependent_mean(interval, change.samples, change.influence, telling, level)
    some = bool(known.any())
    missing = "" if known.all() else f"mean over {int(known.sum())} of {len(known)} judges"
    last = {
        "judge": "all",
        "n_pairs": int(change.n_pairs[known].sum()),
        "blind": change.blind[known].mean() if some else np.nan,
        "labelled": change.labelled[known].mean() if some else np.nan,
        "difference": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "interval": mean.method,
        "n_dropped": int(interval.n_dropped[known].max(initial=0)),
        "p": sign_flip_p(change.units[known].mean(axis=0)) if some else np.nan,
        "reason": "; ".join(filter(None, [missing, mean.reason])),
    }
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)
