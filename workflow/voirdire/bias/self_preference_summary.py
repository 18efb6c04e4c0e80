"""One answer per judge: how much easier on itself, and whether the word preference is supported."""

from typing import Any

import numpy as np
import pandas as pd

from voirdire.bias.contrast import dependent_mean
from voirdire.bias.self_preference import RATES, VERSIONS, analyse
from voirdire.stats.bootstrap import Interval

SUMMARY_COLUMNS = [
    *("judge", "version", "rate", "n_others", "difference", "low", "high", "interval"),
    *("supports_preference", "sentence", "reason", "seed", "simulated"),
]
# A judge that solved an item rejects wrong answers by ability alone, its own (that it did not solve) excepted.
PREFERENCE_VERSIONS = ("matched", "adjusted")


def self_preference_summary(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Mean self-preference of each judge over the other models, tasks pooled, per version and rate; and judge "all".

    The mean over the others (for judge "all": over all pairs) of the pooled differences of `self_preference`, which
    says what verdicts, versions and shares are. Interval: percentile bootstrap of the mean, or, where
    a pair has no percentile interval, the pairs' bounds joined with their bootstrap correlations ("mover").

    supports_preference: true where the interval lies on the side of preference (ΔFPR above 0, ΔFNR below 0) and the
    version can tell preference from ability: matched or adjusted. `sentence` says it for the judge, from ΔFPR.
    Without a model in both roles: no rows, all columns.
    """
    study = analyse(verdicts, main, resamples, seed, level)
    if not study.pairs:
        return pd.DataFrame(columns=SUMMARY_COLUMNS)
    pooled = study.tasks[-1]
    cells = pd.DataFrame(study.cells(), columns=["version", "rate", "judge", "other"])
    simulated = np.tile(study.simulated, len(VERSIONS) * len(RATES))
    rows = []
    for judge in [*sorted(cells["judge"].unique()), "all"]:
        own = (cells["judge"] == judge) | (judge == "all")
        for (version, rate), group in cells[own].groupby(["version", "rate"], sort=False):
            at = group.index.to_numpy()
            part = Interval(*(getattr(pooled.interval, name)[at] for name in Interval.__dataclass_fields__))
            estimate, low, high, method = dependent_mean(part, pooled.samples[:, at], level)
            preferred = low > 0 if rate == "fpr" else high < 0
            n_others = int((~np.isnan(part.estimate)).sum())
            rows.append(
                {
                    "judge": judge,
                    "version": version,
                    "rate": rate,
                    "n_others": n_others,
                    "difference": estimate,
                    "low": low,
                    "high": high,
                    "interval": method,
                    "supports_preference": bool(version in PREFERENCE_VERSIONS and preferred),
                    "reason": "" if n_others else "no pair has it in any task",
                    "seed": seed,
                    "simulated": bool(simulated[at].any()),
                }
            )
    table = pd.DataFrame(rows)
    sentences = {judge: _sentence(judge, [row for row in rows if row["judge"] == judge]) for judge in table["judge"]}
    return table.assign(sentence=table["judge"].map(sentences))[SUMMARY_COLUMNS]


def _sentence(judge: str, rows: list[dict[str, Any]]) -> str:
    who = "Over all judges" if judge == "all" else judge
    fpr = {row["version"]: row for row in rows if row["rate"] == "fpr" and row["n_others"]}
    telling = [fpr[version] for version in PREFERENCE_VERSIONS if version in fpr]
    support = [row for row in telling if row["supports_preference"]]
    against = [row for row in telling if not row["supports_preference"]]
    if not telling:
        return f"{who}: nothing can be said of preference; no pair of models has matched or adjusted wrong responses."
    if support:
        text = f"{who}: the word preference is supported by {_listed(support)}"
        return text + (f", not by {_listed(against)}." if against else ".")
    text = f"{who}: no version supports the word preference: {_listed(telling)}"
    if "all" in fpr and fpr["all"]["low"] > 0:
        return text + f"; the plain difference, {_points(fpr['all'])}, may be ability alone."
    return text + "."


def _points(row: dict[str, Any]) -> str:
    return f"{100 * row['difference']:+.1f} points, {100 * row['low']:+.1f} to {100 * row['high']:+.1f}"


def _listed(rows: list[dict[str, Any]]) -> str:
    names = {"matched": "matched items", "adjusted": "the baseline-adjusted difference"}
    return " and ".join(f"{names[row['version']]} ({_points(row)})" for row in rows)
