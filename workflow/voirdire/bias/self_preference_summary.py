"""One answer per judge: how much easier on itself, and whether the word preference is supported."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.power import MARGIN_SHARE, with_power
from voirdire.bias.preference import Comparisons, compared, own_triples
from voirdire.bias.preference_counts import PAIRED, Panel
from voirdire.bias.preference_means import Means, no_difference_p
from voirdire.bias.preference_model import OWN_MODEL, model_row, preference_model
from voirdire.bias.preference_words import missing_everywhere, sentence, supports
from voirdire.stats.significance import holm

SUMMARY_COLUMNS = [
    *("judge", "version", "rate", "n_others", "difference", "low", "high", "p", "p_holm", "interval"),
    *("supports_preference", "sentence", "reason", "detectable", "says", "seed", "simulated"),
]
_NOWHERE = "no pair has it in any task"


def self_preference_summary(
    verdicts: pd.DataFrame,
    main: str = "blind",
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Mean self-preference of each judge over the other models, tasks pooled, per version and rate; and judge "all".

    The mean over the others (for judge "all": over all pairs) of the pooled differences of `self_preference`, which
    says what verdicts, versions and shares are. Interval: see `voirdire.bias.preference_means.Means.over`; percentile
    bootstrap of the mean where 100 items or more tell something of it, Student's t where fewer do. Where more than a
    tenth of the mean is from tasks with fewer than 3 items on a side (mostly harmful), the pairs' bounds are joined as
    if fully correlated, and the reason says so.

    p: `no_difference_p`, that of no difference in any pair and task; p_holm: Holm over the judges, of one version and
    rate; judge "all" is a family of one. detectable, says: `with_power`.

    supports_preference: whether `preference_model` (for which families are: model → family) does for the judge, as no
    version can; `sentence` says why. Without a model in both roles: no rows, all columns.
    """
    panel = Panel.of(verdicts, main, seed)
    model = preference_model(verdicts, main, families, level)
    return own_summary(compared(panel, *own_triples(panel), resamples, seed, level), model, seed, level)


def own_summary(own: Comparisons, model: pd.DataFrame, seed: int, level: float) -> pd.DataFrame:
    """The table of `self_preference_summary` from its comparisons, made with this seed and level, and the model's."""
    if not own.triples:
        return pd.DataFrame(columns=SUMMARY_COLUMNS)
    cells, means = own.cells(), Means.of(own)
    rows = []
    for judge in [*sorted(cells["judge"].unique()), "all"]:
        chosen = (cells["judge"] == judge) | (judge == "all")
        for (version, rate), group in cells[chosen].groupby(["version", "rate"], sort=False):
            rows.append({"judge": judge, **_row(own, means, group.index.to_numpy(), str(version), str(rate), level)})
    table = pd.DataFrame(rows).assign(seed=seed)
    families = [table["version"], table["rate"], table["judge"] == "all"]
    table["p_holm"] = table.groupby(families)["p"].transform(lambda p: holm(p.to_numpy()))
    table = with_power(table, "difference", "interval", "units", room=1.0, p="p_holm", margin=MARGIN_SHARE, level=level)
    said = table[(table["rate"] == "fpr") & table["difference"].notna()]
    sentences, supported = {}, {}
    for judge in table["judge"].unique():
        who = "Over all judges" if judge == "all" else str(judge)
        found, records = model_row(model, OWN_MODEL, str(judge)), said[said["judge"] == judge].to_dict("records")
        sentences[judge], supported[judge] = sentence(who, "the word preference", records, found), supports(found)
    table["sentence"], table["supports_preference"] = table["judge"].map(sentences), table["judge"].map(supported)
    return table[SUMMARY_COLUMNS]


def _row(
    own: Comparisons, means: Means, at: npt.NDArray[np.int64], version: str, rate: str, level: float
) -> dict[str, Any]:
    """What the table says of the mean over these cells."""
    mean, (p, units) = means.over(at, version in PAIRED, level), no_difference_p(own, at, version)
    known = own.known[:, at]
    return {
        "version": version,
        "rate": rate,
        "n_others": int(known.any(axis=0).sum()),
        "difference": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "p": p,
        "units": units,
        "interval": mean.method,
        "reason": mean.reason if known.any() else missing_everywhere(version, rate, own.answered, _NOWHERE),
        "simulated": bool(own.of_cells(own.simulated)[at].any()),
    }
