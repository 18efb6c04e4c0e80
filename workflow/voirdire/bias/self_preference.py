"""Do judges go easier on their own responses than on other models', and is it preference?"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import Mask, difference_p
from voirdire.bias.power import MARGIN_SHARE, with_power
from voirdire.bias.preference import Comparisons, compared, own_triples
from voirdire.bias.preference_counts import PAIRED, Panel
from voirdire.bias.preference_words import NOT_FOR_FNR, missing_everywhere, no_answers
from voirdire.stats.significance import holm

COLUMNS = [
    *("task", "judge", "other", "version", "rate", "n_own", "n_other", "own", "other_value"),
    *("difference", "low", "high", "p", "p_holm", "family", "interval", "reason", "n_dropped"),
    *("detectable", "says", "seed", "simulated"),
]


def self_preference(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Rate of each judge on its own responses minus its rate on another model's: ΔFPR and ΔFNR (table 10).

    verdicts: as `voirdire.tables.VERDICTS`; rows of condition `main` count. One row per task (and "all", the mean of
    the tasks that have the difference), judge that is an examinee too, other examinee, version and rate. Shares, not
    points; `own` − `other_value` = `difference`. NaN and a reason where a rate has no denominator. Without a model in
    both roles: no rows, all columns.

    Versions:
      all          every usable verdict.
      harmful      only items on which exactly one of the two models is wrong. FPR: the judge's own wrong responses
                   where only it is wrong, against the other's where only that one is. FNR: on the same items the right
                   ones, so own responses where only the other is wrong, against the other's where only the judge is.
      matched      FPR: only items that both got wrong; FNR: that both got right. Items are the unit, trials averaged;
                   n_own = n_other = items.
      same_answer  matched items to which both gave the same wrong answer, so that nothing but the author and the way
                   of writing differs: the strongest test of preference. FPR only: right answers are the same anyway,
                   and FNR has NaN and a reason, as have tasks without answers to compare (code).
      adjusted     the difference less the mean difference of the other judges (neither of the two) on the same
                   responses; own and other_value are rates less the other judges' rate there.

    Intervals: percentile cluster bootstrap; where a count is small square-and-add ("mover", "mover_paired" for matched
    and same_answer; see `compare`). p: sign-flip over clusters for matched and same_answer (McNemar's exact p where a
    cluster is one item); for all and harmful the conditional test of equal proportions (Fisher's exact where no item is
    shared, else with counts corrected for what the two share); for adjusted, swapping own and other within items. Task
    "all" adds the tasks' scores up: a test of no difference in any task (see `difference_p`). p_holm: Holm over the
    pairs of `family`, one task, rate and version. detectable, says: `voirdire.bias.power.with_power`, with p_holm and
    within 10 points.
    """
    panel = Panel.of(verdicts, main, seed)
    return own_table(compared(panel, *own_triples(panel), resamples, seed, level), seed, level)


def own_table(own: Comparisons, seed: int, level: float) -> pd.DataFrame:
    """The table of `self_preference` from its comparisons; seed and level: those they were made with."""
    if not own.triples:
        return pd.DataFrame(columns=COLUMNS)
    table = pd.concat([_rows(own, number, seed) for number in range(len(own.tasks))], ignore_index=True)
    table["family"] = table["task"] + " " + table["rate"] + " " + table["version"]
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.to_numpy()))
    return _with_power(table, level)[COLUMNS]


def _with_power(table: pd.DataFrame, level: float) -> pd.DataFrame:
    paired, pooled = table["version"].isin(PAIRED), table["task"] == "all"
    alone = table["version"].isin(("all", "harmful")) & ~pooled
    design = np.where(paired & ~pooled, "pairs", np.where(alone, "proportions", "interval"))
    # Pairs are no more units for having two sides.
    sizes = table["own_clusters"], table["other_clusters"].where(~paired, 0)
    base = table["other_value"].where(table["version"] != "adjusted", 0.0)
    return with_power(
        table, "difference", design, sizes, base=base, room=np.fmax(base, 1 - base), p="p_holm",
        margin=MARGIN_SHARE, level=level,
    )  # fmt: skip


def _rows(own: Comparisons, number: int, seed: int) -> pd.DataFrame:
    part = own.in_task(number)
    task, interval = part.tasks[-1], part.tasks[-1].interval
    cells = own.cells().rename(columns={"second": "other"})
    version = cells["version"].to_numpy()
    p = difference_p(
        part.contrasts, interval.estimate, list(part.known), np.isin(version, PAIRED), version != "adjusted"
    )
    # Repeats on one item are no more to go by than one: what a test can show is up to the clusters.
    seen = [(c.first_n > 0, c.second_n > 0) for c in part.contrasts]
    own_clusters, other_clusters = (np.sum([side[at].sum(axis=1) for side in seen], axis=0) for at in (0, 1))
    table = cells.assign(
        own_clusters=own_clusters,
        other_clusters=other_clusters,
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
        simulated=own.of_cells(own.simulated),
    )
    if task.task != "all":
        reasons = [_reason(row, bool(part.answered[0])) for row in table.itertuples(index=False)]
    else:
        names = np.array([each.task for each in part.tasks[:-1]], object)
        reasons = [
            _pooled_reason(names, known, str(key.version), str(key.rate), own.answered)
            for known, key in zip(own.known.T, cells.itertuples(index=False), strict=True)
        ]
    return table.assign(reason=reasons)


def _reason(row: object, answered: bool) -> str:
    judge, other, rate = (str(getattr(row, name)) for name in ("judge", "other", "rate"))
    version, n_own, n_other = (getattr(row, name) for name in ("version", "n_own", "n_other"))
    if n_own and n_other:
        return "a single cluster: no test" if np.isnan(float(row.p)) else ""  # type: ignore[attr-defined]
    word = "wrong" if rate == "fpr" else "right"
    if version in PAIRED:
        if version == "same_answer" and (rate == "fnr" or not answered):
            return NOT_FOR_FNR if rate == "fnr" else no_answers(str(row.task))  # type: ignore[attr-defined]
        how = " with the same answer" if version == "same_answer" else ""
        return f"no judged item that both {judge} and {other} got {word}{how}"
    whose = [f"of {name}" for name, count in ((judge, n_own), (other, n_other)) if not count]
    where = {
        "all": "",
        "harmful": " where exactly one of the two is wrong",
        "adjusted": " that a third judge judged too",
    }[version]
    return f"no judged {word} response " + " and none ".join(whose) + where


def _pooled_reason(names: npt.NDArray[np.object_], known: Mask, version: str, rate: str, answered: Mask) -> str:
    if known.all():
        return ""
    if not known.any():
        return missing_everywhere(version, rate, answered)
    return f"mean of {known.sum()} of {len(known)} tasks, without {', '.join(names[~known])}"
