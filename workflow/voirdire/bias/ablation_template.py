"""Does it change a verdict to be asked in other words?"""

from collections.abc import Iterator

import pandas as pd

from voirdire.bias.paired import judged, paired_changes, pairs_of
from voirdire.bias.rows import clusters_of, prepared

TEMPLATE_COLUMNS = [
    *("template", "task", "judge", "rate", "n_pairs", "main", "other", "difference", "low", "high"),
    *("p", "p_holm", "family", "interval", "reason", "n_dropped", "detectable", "says", "seed", "simulated"),
]


def ablation_template(
    verdicts: pd.DataFrame, main: str = "blind", resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """FPR, FNR and directional bias under another judge template less those under the main one.

    verdicts: as `voirdire.tables.VERDICTS`. Only the same responses count: pairs of verdicts that agree in task, item,
    examinee, judge and trial, both ok, their truth known, of condition `main` and of an unlabelled condition of another
    template. Shares, not points.

    One row per template, task, judge and rate (columns main, other, and difference: other less main), with intervals
    and p as `paired_changes` gives them. p_holm: Holm over the judges of one `family`: template, task and rate.
    detectable, says: see `with_power`. Without a second template: no rows, all columns.
    """
    frame = prepared(verdicts)
    clusters = clusters_of(frame)
    tables = []
    for template, pairs in template_pairs(frame, main):
        table = paired_changes(pairs, clusters, resamples, seed, level)
        tables.append(table.assign(template=template, seed=seed, simulated=bool(pairs["simulated"].any())))
    if not tables:
        return pd.DataFrame(columns=TEMPLATE_COLUMNS)
    table = judged(pd.concat(tables, ignore_index=True), ["template", "task", "rate"], level)
    return table.rename(columns={"before": "main", "after": "other"})[TEMPLATE_COLUMNS]


def other_templates(frame: pd.DataFrame, main: str) -> list[tuple[str, pd.DataFrame]]:
    """The conditions that differ from the main one in nothing but the template: each template, and its rows."""
    if "template" not in frame:
        return []
    own = frame.loc[frame["condition"] == main, "template"].unique()
    rows = frame[~frame["template"].isin(own)]
    if "label" in rows:
        rows = rows[rows["label"].isna()]
    return [(str(template), part) for template, part in rows.groupby("template", sort=False)]


def template_pairs(frame: pd.DataFrame, main: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each other template, and the main condition's verdicts paired with its own; only those that have pairs."""
    before = frame[frame["condition"] == main]
    for template, rows in other_templates(frame, main):
        pairs = pairs_of(before, rows)
        if len(pairs):
            yield template, pairs
