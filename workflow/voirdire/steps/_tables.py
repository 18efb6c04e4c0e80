"""What the steps that read tidy tables share."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from voirdire.tables import read_table
from voirdire.tables.rows import is_simulated

_REASONS = ("absent", "drift_absent", "prior_sweep_absent")


def read_tables(paths: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Tidy tables by name."""
    return {Path(path).stem: read_table(path) for path in paths}


def any_simulated(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Whether any persona stands in for a model."""
    return any(map(is_simulated, tables.values()))


def absent_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Why tables are empty, by their names."""
    reasons = pd.concat([tables[name] for name in _REASONS if name in tables])
    return dict(reasons.itertuples(index=False, name=None))
