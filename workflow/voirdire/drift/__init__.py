"""Simulation of a panel at work while the mix of tasks drifts."""

from voirdire.drift.scenario import Scenario
from voirdire.drift.simulate import PAPER_ESTIMATORS, DriftResult, simulate
from voirdire.drift.sweep import prior_sweep

__all__ = ["PAPER_ESTIMATORS", "DriftResult", "Scenario", "prior_sweep", "simulate"]
