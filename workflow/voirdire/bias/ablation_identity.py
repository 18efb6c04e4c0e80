"""Does it change a verdict to be told who answered?"""

import pandas as pd

from voirdire.bias.paired import judged, paired_changes, pairs_of
from voirdire.bias.rows import clusters_of, prepared

IDENTITY_COLUMNS = [
    *("label", "task", "judge", "examinee", "rate", "n_pairs", "blind", "labelled", "difference", "low", "high"),
    *("p", "p_holm", "family", "interval", "reason", "n_dropped", "detectable", "says", "seed", "simulated"),
]
LABELS = ("elite", "author")


def ablation_identity(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """FPR, FNR and directional bias under an identity label less those under blind judging (table 3).

    verdicts: as `voirdire.tables.VERDICTS`, of condition `main` and of conditions of the same template with a label
    (by their column label, or by their name elite or author). Only the same responses count: pairs of verdicts that
    agree in task, item, examinee, judge and trial, both ok, their truth known. Shares, not points.

    One row per label, task, judge, examinee and rate, with intervals and p as `paired_changes` gives them; with several
    labelled examinees also examinee "all", their pairs together. p_holm: Holm over the judges of one `family`: label,
    task, rate and examinee; detectable, says: see `with_power`. Without a labelled condition: no rows, all columns.
    """
    frame = prepared(verdicts)
    clusters = clusters_of(frame)
    blind = frame[frame["condition"] == main]
    tables = []
    for label, rows in labelled_conditions(frame, main):
        pairs = pairs_of(blind, rows)
        examinees = sorted(pairs["examinee"].unique())
        chosen = [(name, pairs[pairs["examinee"] == name]) for name in examinees]
        for name, part in [("all", pairs), *chosen] if len(examinees) > 1 else chosen:
            table = paired_changes(part.reset_index(drop=True), clusters, resamples, seed, level)
            tables.append(table.assign(label=label, examinee=name, seed=seed, simulated=bool(part["simulated"].any())))
    if not tables:
        return pd.DataFrame(columns=IDENTITY_COLUMNS)
    table = judged(pd.concat(tables, ignore_index=True), ["label", "task", "rate", "examinee"], level)
    return table.rename(columns={"before": "blind", "after": "labelled"})[IDENTITY_COLUMNS]


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
