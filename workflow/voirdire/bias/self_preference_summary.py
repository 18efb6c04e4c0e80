"""One answer per judge: how much easier on itself, and whether the word preference is supported."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Mask
from voirdire.bias.dependent import dependent_mean, n_telling
from voirdire.bias.pooling import mean_coefficients, side_by_side
from voirdire.bias.self_preference import RATES, VERSIONS, Comparisons, analyse
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import Interval

SUMMARY_COLUMNS = [
    *("judge", "version", "rate", "n_others", "difference", "low", "high", "interval"),
    *("supports_preference", "sentence", "reason", "seed", "simulated"),
]
# A judge that solved an item rejects wrong answers by ability alone, its own (that it did not solve) excepted.
PREFERENCE_VERSIONS = ("matched", "adjusted")
# Where more than a tenth of a mean is from tasks with fewer than 3 items on a side, resamples miss their spread.
_FEW_ITEMS = 3
_MOST_THIN = 0.1


def self_preference_summary(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Mean self-preference of each judge over the other models, tasks pooled, per version and rate; and judge "all".

    The mean over the others (for judge "all": over all pairs) of the pooled differences of `self_preference`, which
    says what verdicts, versions and shares are. Interval: see `dependent_mean`; percentile bootstrap of the mean where
    10 items or more tell something of it. Where more than a tenth of the mean is from tasks with fewer than 3 items on
    a side (mostly harmful), the pairs' bounds are joined as if fully correlated, and the reason says so.

    supports_preference: true where the interval lies on the side of preference (ΔFPR above 0, ΔFNR below 0) and the
    version can tell preference from ability: matched or adjusted. `sentence` says it for the judge, from ΔFPR.
    Without a model in both roles: no rows, all columns.
    """
    compared = analyse(verdicts, main, resamples, seed, level)
    if not compared.pairs:
        return pd.DataFrame(columns=SUMMARY_COLUMNS)
    cells = pd.DataFrame(compared.cells(), columns=["version", "rate", "judge", "other"])
    pooled = _Pooled.of(compared)
    rows = []
    for judge in [*sorted(cells["judge"].unique()), "all"]:
        own = (cells["judge"] == judge) | (judge == "all")
        for (version, rate), group in cells[own].groupby(["version", "rate"], sort=False):
            row = pooled.row(group.index.to_numpy(), str(version), str(rate), level)
            rows.append({"judge": judge, **row, "seed": seed})
    table = pd.DataFrame(rows)
    sentences = {judge: _sentence(judge, [row for row in rows if row["judge"] == judge]) for judge in table["judge"]}
    return table.assign(sentence=table["judge"].map(sentences))[SUMMARY_COLUMNS]


@dataclass(frozen=True)
class _Pooled:
    """The means over tasks: their intervals (cells,), resamples over the tasks there are, own and other's influence.

    thin: the share of a cell's mean, (cells,), from tasks in which own or other is seen on fewer than 3 items.
    """

    interval: Interval
    samples: Array
    sides: tuple[Array, Array]
    thin: Array
    simulated: Mask

    @classmethod
    def of(cls, compared: Comparisons) -> "_Pooled":
        tasks, interval = compared.tasks[:-1], compared.tasks[-1].interval
        share = mean_coefficients([task.interval.estimate for task in tasks])
        deviations = np.stack([task.samples - task.interval.estimate for task in tasks])
        weight = np.where(np.isnan(deviations), 0.0, share[:, None, :])
        moved = ratio((np.nan_to_num(deviations) * weight).sum(axis=0), weight.sum(axis=0))
        influences = [contrast.influence() for contrast in compared.contrasts]
        own, other = (side_by_side([pair[side] for pair in influences], share) for side in (0, 1))
        counts = [np.minimum(*((n > 0).sum(axis=1) for n in (c.first_n, c.second_n))) for c in compared.contrasts]
        thin = (share * (np.stack(counts) < _FEW_ITEMS)).sum(axis=0)
        simulated = np.tile(compared.simulated, len(VERSIONS) * len(RATES))
        return cls(interval, interval.estimate + moved, (own, other), thin, simulated)

    def row(self, at: npt.NDArray[np.int64], version: str, rate: str, level: float) -> dict[str, Any]:
        """What the table says of the mean over these cells."""
        part = Interval(*(getattr(self.interval, name)[at] for name in Interval.__dataclass_fields__))
        own, other = (side[at] for side in self.sides)
        known = ~np.isnan(part.estimate)
        telling = n_telling([own - other] if version == "matched" else [own, -other], known)
        samples = self.samples[:, at]
        if known.any() and self.thin[at][known].mean() > _MOST_THIN:
            # One or two responses have no spread in a bootstrap, and no correlation; their own bounds know better.
            telling, samples = 0, np.full_like(samples, np.nan)
        mean = dependent_mean(part, samples, own - other, telling, level)
        return {
            "version": version,
            "rate": rate,
            "n_others": int(known.sum()),
            "difference": mean.estimate,
            "low": mean.low,
            "high": mean.high,
            "interval": mean.method,
            "supports_preference": bool(
                version in PREFERENCE_VERSIONS and (mean.low > 0 if rate == "fpr" else mean.high < 0)
            ),
            "reason": mean.reason if known.any() else "no pair has it in any task",
            "simulated": bool(self.simulated[at].any()),
        }


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
