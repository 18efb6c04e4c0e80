"""What the steps of the analysis share: the verdicts, the settings, and the tables that they write."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from voirdire.tables import VERDICTS, read_table


@dataclass(frozen=True)
class Settings:
    """`Study.analysis_settings`: the main condition, and how intervals are computed."""

    condition: str
    resamples: int
    seed: int

    @property
    def intervals(self) -> dict[str, Any]:
        return {"resamples": self.resamples, "seed": self.seed}


def read_verdicts(path: str, condition: str | None = None) -> pd.DataFrame:
    """All verdicts, or those of one condition."""
    verdicts = read_table(path, VERDICTS)
    return verdicts if condition is None else verdicts[verdicts["condition"] == condition].reset_index(drop=True)
