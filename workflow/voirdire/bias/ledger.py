"""What became of every call."""

import pandas as pd

from voirdire.bias.rows import prepared, responses_of
from voirdire.tables import STATUSES

LEDGER_COLUMNS = [
    *("stage", "condition", "task", "judge", "examinee", "n", "not_judged"),
    *STATUSES,
    "truth_missing",
    "simulated",
]


def ledger(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many calls ended in which status.

    One row per task and examinee with stage "generation" (each response once; condition and judge empty), and one per
    condition, task, judge and examinee with stage "verdict". n = not_judged + the statuses; not_judged are responses
    that were not ok and so never shown to the judge; truth_missing counts ok calls whose response could not be graded;
    simulated says that the examinee or the judge is.
    """
    frame = prepared(verdicts)
    responses = responses_of(frame).assign(stage="generation", condition="", judge="")
    verdict_calls = frame.assign(stage="verdict")
    tables = [_count_statuses(rows) for rows in (responses, verdict_calls)]
    return pd.concat(tables, ignore_index=True)[LEDGER_COLUMNS]


def _count_statuses(rows: pd.DataFrame) -> pd.DataFrame:
    keys = LEDGER_COLUMNS[:5]
    flags = pd.DataFrame({status: (rows["status"] == status).fillna(False).astype(int) for status in STATUSES})
    flags = flags.assign(
        n=1,
        not_judged=rows["status"].isna().astype(int),
        truth_missing=flags["ok"] * rows["truth"].isna().astype(int),
    )
    groups = rows[keys].join(flags.assign(simulated=rows["simulated"])).groupby(keys, sort=True)
    return groups.sum().assign(simulated=groups["simulated"].any()).reset_index()
