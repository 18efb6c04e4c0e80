"""One answer per judge: how much easier on itself, and whether the word preference is supported."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.preference import Comparisons, compared, own_triples
from voirdire.bias.preference_counts import PAIRED, Panel
from voirdire.bias.preference_means import Means
from voirdire.bias.preference_words import PREFERENCE_VERSIONS, missing_everywhere, sentence

SUMMARY_COLUMNS = [
    *("judge", "version", "rate", "n_others", "difference", "low", "high", "interval"),
    *("supports_preference", "sentence", "reason", "seed", "simulated"),
]
_NOWHERE = "no pair has it in any task"


def self_preference_summary(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Mean self-preference of each judge over the other models, tasks pooled, per version and rate; and judge "all".

    The mean over the others (for judge "all": over all pairs) of the pooled differences of `self_preference`, which
    says what verdicts, versions and shares are. Interval: see `voirdire.bias.preference_means.Means.over`; percentile
    bootstrap of the mean where 100 items or more tell something of it, Student's t where fewer do. Where more than a
    tenth of the mean is from tasks with fewer than 3 items on a side (mostly harmful), the pairs' bounds are joined as
    if fully correlated, and the reason says so.

    supports_preference: true where the interval lies on the side of preference (ΔFPR above 0, ΔFNR below 0) and the
    version can tell preference from ability: matched, same_answer or adjusted. `sentence` says it for the judge, from
    ΔFPR. Without a model in both roles: no rows, all columns.
    """
    panel = Panel.of(verdicts, main, seed)
    return own_summary(compared(panel, *own_triples(panel), resamples, seed, level), seed, level)


def own_summary(own: Comparisons, seed: int, level: float) -> pd.DataFrame:
    """The table of `self_preference_summary` from its comparisons; seed and level: those they were made with."""
    if not own.triples:
        return pd.DataFrame(columns=SUMMARY_COLUMNS)
    cells, means = own.cells(), Means.of(own)
    rows = []
    for judge in [*sorted(cells["judge"].unique()), "all"]:
        chosen = (cells["judge"] == judge) | (judge == "all")
        found = [
            _row(own, means, group.index.to_numpy(), str(version), str(rate), level)
            for (version, rate), group in cells[chosen].groupby(["version", "rate"], sort=False)
        ]
        fpr = [row for row in found if row["rate"] == "fpr" and row["n_others"]]
        said = sentence("Over all judges" if judge == "all" else str(judge), "the word preference", fpr)
        rows += [{"judge": judge, **row, "seed": seed, "sentence": said} for row in found]
    return pd.DataFrame(rows)[SUMMARY_COLUMNS]


def _row(
    own: Comparisons, means: Means, at: npt.NDArray[np.int64], version: str, rate: str, level: float
) -> dict[str, Any]:
    """What the table says of the mean over these cells."""
    mean = means.over(at, version in PAIRED, level)
    known = own.known[:, at]
    supports = version in PREFERENCE_VERSIONS and (mean.low > 0 if rate == "fpr" else mean.high < 0)
    return {
        "version": version,
        "rate": rate,
        "n_others": int(known.any(axis=0).sum()),
        "difference": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "interval": mean.method,
        "supports_preference": bool(supports),
        "reason": mean.reason if known.any() else missing_everywhere(version, rate, own.answered, _NOWHERE),
        "simulated": bool(own.of_cells(own.simulated)[at].any()),
    }
