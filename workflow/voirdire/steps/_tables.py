"""What the steps that read tidy tables share."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from voirdire.tables import read_table


def read_tables(paths: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Tidy tables by name."""
    return {Path(path).stem: read_table(path) for path in paths}


def is_simulated(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Whether any persona stands in for a model."""
    return any("simulated" in table and table["simulated"].any() for table in tables.values())


def absent_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Why tables are empty, by their names."""
    reasons = pd.concat([tables[name] for name in ("absent", "drift_absent") if name in tables])
    return dict(reasons.itertuples(index=False, name=None))
