"""The sections of the page: which tables and figures each shows, and what to say where there are none."""

from collections.abc import Callable, Mapping

from voirdire.report.sections.ablations import ablations
from voirdire.report.sections.calibration import accuracy, label_free, panel_rules
from voirdire.report.sections.claims import claims
from voirdire.report.sections.drift_factors import drift_factors
from voirdire.report.sections.judges import correlations, ledger, leniency
from voirdire.report.sections.leniency_or_difficulty import leniency_or_difficulty
from voirdire.report.sections.panels import drift, ensembles
from voirdire.report.sections.power import power
from voirdire.report.sections.preference import self_preference
from voirdire.report.sections.section import FigureBlock, Section, Tables

__all__ = ["FigureBlock", "Section", "build_sections"]

_BUILDERS: tuple[Callable[[Tables, str, Mapping[str, str]], Section], ...] = (
    ledger,
    leniency,
    correlations,
    leniency_or_difficulty,
    self_preference,
    ablations,
    power,
    ensembles,
    panel_rules,
    accuracy,
    label_free,
    drift,
    drift_factors,
    claims,
)


def build_sections(tables: Tables, condition: str, absent: Mapping[str, str]) -> list[Section]:
    """The analysis sections in their order, with tables and reasons; the page adds the figures."""
    return [build(tables, condition, absent) for build in _BUILDERS]
