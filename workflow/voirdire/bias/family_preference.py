"""Do judges go easier on their relatives' responses than on other families'?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.families import known_families, same_family
from voirdire.bias.power import MARGIN_SHARE, with_power
from voirdire.bias.preference import Comparisons, compared
from voirdire.bias.preference_counts import PAIRED, RATES, VERSIONS, Panel, TaskVerdicts, Triple, item_parts
from voirdire.bias.preference_means import Means, no_difference_p
from voirdire.bias.preference_model import OWN_FAMILY, model_row, preference_model
from voirdire.bias.preference_words import missing_everywhere, sentence
from voirdire.stats.significance import holm

COLUMNS = [
    *("task", "judge", "judge_family", "version", "rate", "n_own", "n_other", "own", "other_value"),
    *("difference", "low", "high", "p", "p_holm", "family", "interval", "reason", "n_dropped"),
    *("detectable", "says", "sentence", "seed", "simulated"),
]
_NOWHERE = "no pair of a relative and another family's model has it"


def family_preference(
    verdicts: pd.DataFrame,
    main: str = "blind",
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Rate of each judge on its relatives' responses minus its rate on other families': ΔFPR and ΔFNR.

    verdicts: as `voirdire.tables.VERDICTS`; rows of condition `main` count. families: model → family; a model that it
    lacks is a family of its own. Relatives are the other members of the judge's family, never itself. One row per task
    (and "all"), judge that judged a relative and an outsider (and "all"), version and rate; without such a judge no
    rows, all columns. `own` − `other_value` = `difference`, shares.

    The difference is the mean over all pairs (m, o) of a relative m and an outsider o that have it, for judge "all"
    over all judges' pairs. Each pair's is the difference of `self_preference` in the same version, m in the place of
    the judge's own responses: harmful, exactly one of m and o is wrong; matched, both are; same_answer, with the same
    answer (FPR only); adjusted, less the mean difference of those judges that belong neither to the judge's family nor
    to o's, on the same responses. Over all tasks a pair counts with its mean over the tasks that have it.
    n_own, n_other: verdicts (paired versions: items, per model) that enter, each once however many pairs it enters.

    Interval: see `dependent_mean` and `Means.over`; p: `no_difference_p`, that of no difference in any pair and task;
    p_holm: Holm over the judges of `family`, one task, rate and version; judge "all" is a family of one. detectable,
    says: `with_power`. sentence: what supports the word preference, over all tasks: ΔFPR, and `preference_model`.
    """
    families = known_families(families)
    panel = Panel.of(verdicts, main, seed)
    triples, others = family_triples(panel, families)
    related = compared(panel, triples, others, resamples, seed, level)
    model = preference_model(verdicts, main, families, level)
    return family_table(related, panel, families, model, seed, level)


def family_triples(panel: Panel, families: Mapping[str, str]) -> tuple[list[Triple], list[list[str]]]:
    """Each judge with each relative and each outsider that it judged; baseline: the judges of neither one's family."""

    def akin(first: str, second: str) -> bool:
        return same_family(first, second, families)

    judges = sorted({judge for judge, _ in panel.simulated})
    triples, others = [], []
    for judge in judges:
        judged = sorted(examinee for each, examinee in panel.simulated if each == judge and examinee != judge)
        for relative in (model for model in judged if akin(model, judge)):
            for outsider in (model for model in judged if not akin(model, judge)):
                triples.append((judge, relative, outsider))
                others.append([each for each in judges if not (akin(each, judge) or akin(each, outsider))])
    return triples, others


def family_table(
    related: Comparisons, panel: Panel, families: Mapping[str, str], model: pd.DataFrame, seed: int, level: float
) -> pd.DataFrame:
    """The table of `family_preference` from its comparisons, made of this panel with this seed and level.

    model: `preference_model` of the same verdicts.
    """
    if not related.triples:
        return pd.DataFrame(columns=COLUMNS)
    cells, seen = related.cells(), _seen(related, panel)
    rows = []
    for number, task in enumerate(related.tasks):
        part = related.in_task(number)
        means = Means.of(part)
        for judge in [*sorted(cells["judge"].unique()), "all"]:
            chosen = cells[(cells["judge"] == judge) | (judge == "all")]
            for (version, rate), group in chosen.groupby(["version", "rate"], sort=False):
                key = {"task": task.task, "judge": judge, "version": version, "rate": rate}
                rows.append(key | _row(part, means, group.index.to_numpy(), str(version), str(rate), level))
    table = pd.DataFrame(rows).merge(seen, on=["task", "judge", "version", "rate"], how="left", validate="one_to_one")
    table["judge_family"] = ["all" if judge == "all" else families.get(judge, judge) for judge in table["judge"]]
    table["family"] = table["task"] + " " + table["rate"] + " " + table["version"]
    table["family"] += np.where(table["judge"] == "all", " over all judges", "")
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.to_numpy()))
    table = with_power(table, "difference", "interval", "units", room=1.0, p="p_holm", margin=MARGIN_SHARE, level=level)
    table["sentence"] = table["judge"].map(_sentences(table, model))
    return table.assign(seed=seed)[COLUMNS]


def _row(
    part: Comparisons, means: Means, at: npt.NDArray[np.int64], version: str, rate: str, level: float
) -> dict[str, Any]:
    mean, (p, units) = means.over(at, version in PAIRED, level), no_difference_p(part, at, version)
    task, known = part.tasks[-1], part.known[:, at]
    there = at[known.any(axis=0)]
    return {
        "own": task.first[there].mean() if len(there) else np.nan,
        "other_value": task.second[there].mean() if len(there) else np.nan,
        "difference": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "p": p,
        "units": units,
        "interval": mean.method,
        "reason": _reason(part, known, version, rate, mean.reason, p),
        "n_dropped": int(np.isnan(means.samples[:, there]).all(axis=1).sum()) if len(there) else 0,
        "simulated": bool(part.of_cells(part.simulated)[at].any()),
    }


def _reason(part: Comparisons, known: npt.NDArray[np.bool_], version: str, rate: str, cautious: str, p: float) -> str:
    if not known.any():
        return missing_everywhere(version, rate, part.answered, _NOWHERE)
    partly = "" if known.all() else f"{known.sum()} of {known.size} comparisons (pair and task) have it"
    return "; ".join(filter(None, (partly, cautious, "a single cluster: no test" if np.isnan(p) else "")))


def _seen(related: Comparisons, panel: Panel) -> pd.DataFrame:
    """n_own and n_other by task, judge, version and rate, and their sums over tasks and judges."""
    parts = [
        pd.DataFrame({"task": verdicts.task, "judge": judge, "rate": rate, "version": VERSIONS} | sides)
        for verdicts in panel.tasks
        for judge in sorted({judge for judge, _, _ in related.triples})
        for rate in RATES
        if (sides := _entering(related, verdicts, judge, rate))
    ]
    counts = pd.concat(parts)
    counts = pd.concat([counts, counts.assign(judge="all")])
    counts = pd.concat([counts, counts.assign(task="all")])
    return counts.groupby(["task", "judge", "version", "rate"], as_index=False).sum()


def _entering(related: Comparisons, verdicts: TaskVerdicts, judge: str, rate: str) -> dict[str, npt.NDArray[np.int64]]:
    """How many verdicts on either side enter a comparison of this judge, (versions,) each."""
    entering: dict[tuple[int, str], npt.NDArray[np.float64]] = {}
    for triple, others in zip(related.triples, related.others, strict=True):
        if triple[0] == judge:
            n = item_parts(verdicts, triple, others, rate)[[1, 3], : len(VERSIONS)]
            n *= (n.sum(axis=-1) > 0).all(axis=0)[:, None]
            for side, model in enumerate(triple[1:]):
                entering[side, model] = np.maximum(n[side], entering.get((side, model), 0.0))
    own, other = (sum(n.sum(axis=-1) for (at, _), n in entering.items() if at == side) for side in (0, 1))
    return {"n_own": np.asarray(own).astype(int), "n_other": np.asarray(other).astype(int)}


def _sentences(table: pd.DataFrame, model: pd.DataFrame) -> dict[str, str]:
    """What each judge's rows over all tasks say, from ΔFPR, and the model."""
    fpr = table[(table["task"] == "all") & (table["rate"] == "fpr") & table["difference"].notna()]
    said = {}
    for judge, family in dict(zip(table["judge"], table["judge_family"], strict=True)).items():
        everybody = judge == "all"
        who = "Over all judges" if everybody else str(judge)
        word = "preference for one's own family" if everybody else f"preference for its own family ({family})"
        rows = fpr[fpr["judge"] == judge].to_dict("records")
        said[str(judge)] = sentence(who, word, rows, model_row(model, OWN_FAMILY, str(judge)))
    return said
