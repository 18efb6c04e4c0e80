"""Tables of verdicts from arrays of votes, and the real panels of the shared data."""

from pathlib import Path

import numpy as np
import pandas as pd

REAL = {"nus_feedback": "nus_feedback.parquet", "bluebird": "bluebird.csv", "rte": "rte.csv"}


def verdict_table(votes, truth=None, task="t", condition="blind", examinee="x"):
    """Verdicts in rows; votes (responses, judges), NaN for none; truth (responses,), NaN where unknown."""
    n, n_judges = votes.shape
    frame = pd.DataFrame(
        {
            "condition": condition,
            "task": task,
            "item_id": np.repeat([f"{task}-{i:04d}" for i in range(n)], n_judges),
            "examinee": examinee,
            "judge": np.tile([f"j{j}" for j in range(n_judges)], n),
            "verdict": votes.ravel(),
            "truth": np.repeat(np.full(n, np.nan) if truth is None else truth, n_judges),
        }
    )
    # A judge without a verdict on a response was asked, and failed.
    frame["status"] = np.where(frame["verdict"].isna(), "unparsed", "ok")
    return frame


def real_panels(folder: Path) -> dict[str, pd.DataFrame]:
    """The real verdicts of known truth in a folder of shared data."""
    paths = {name: folder / file for name, file in REAL.items()}
    return {
        name: pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path) for name, path in paths.items()
    }
