"""Simulation of a panel at work while the mix of tasks drifts."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.drift.changes import change_points
    from voirdire.drift.factors import FactorResult, drift_factors
    from voirdire.drift.replaying import replay
    from voirdire.drift.scenario import Scenario
    from voirdire.drift.simulation import PAPER_ESTIMATORS, DriftResult, simulate
    from voirdire.drift.sweep import prior_sweep
    from voirdire.panel.matrix import NotEnoughVerdicts

__all__ = [
    "PAPER_ESTIMATORS",
    "DriftResult",
    "FactorResult",
    "NotEnoughVerdicts",
    "Scenario",
    "change_points",
    "drift_factors",
    "prior_sweep",
    "replay",
    "simulate",
]

# Imported when first used: the configuration reads `voirdire.drift.grid` at every start of Snakemake.
_LAZY = {
    "PAPER_ESTIMATORS": "voirdire.drift.simulation",
    "DriftResult": "voirdire.drift.simulation",
    "FactorResult": "voirdire.drift.factors",
    "NotEnoughVerdicts": "voirdire.panel.matrix",
    "Scenario": "voirdire.drift.scenario",
    "change_points": "voirdire.drift.changes",
    "drift_factors": "voirdire.drift.factors",
    "prior_sweep": "voirdire.drift.sweep",
    "replay": "voirdire.drift.replaying",
    "simulate": "voirdire.drift.simulation",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'voirdire.drift' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
