"""What may change besides the mix of tasks: where each rule keeps up with the oracle, and where it breaks."""

from collections.abc import Mapping

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import Cell, Format, html_table
from voirdire.report.figures import RULES
from voirdire.report.rows import POINTS, table
from voirdire.report.sections.section import Section, Statements, Tables
from voirdire.report.words import spoken
from voirdire.tables.rows import select

_KINDS = {"keeps within 0.5 points": "good", "breaks": "bad"}
_BASELINES = ("majority", "best_single_labels")
_WEIGHTS = {"log_odds": "Log-odds weights", "linear": "The paper's linear weights"}


def drift_factors(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "drift_factors",
        "Where do calibrated votes break?",
        "The drifting weeks again with one thing changed at a time. Each cell is a rule's accuracy less that of the "
        "same vote with the true rates, in percentage points; hover over it for the interval. Green: the whole "
        "interval is within 0.5 points below, or above. Red: none of it is. Else it is undecided.",
    )
    rows = table(tables, "drift_factors")
    why = table(tables, "drift_factors_absent")
    if len(why):
        lines = [f"{factor}: {reason}" for factor, reason in zip(why["factor"], why["reason"], strict=True)]
        section.statements.append(Statements("Not tried", lines, folded=len(rows) > 0))
    if rows.empty:
        section.absent.append("No other change could be simulated.")
        return section
    for weights, caption in _WEIGHTS.items():
        shown = _side_by_side(rows, weights)
        columns: dict[str, Format] = {"what changes": cells.text("factor"), "to": cells.text("level")}
        columns |= {name: _kept(name) for name in shown.columns[2:]}
        section.tables.append(html_table(shown, caption, columns, folded=weights != "log_odds"))
    changes = table(tables, "drift_changes")
    if len(changes):
        section.tables.append(html_table(changes, "How soon a judge that changed is noticed", _noticed(), folded=False))
    return section


def _noticed() -> dict[str, Format]:
    columns: dict[str, Format] = {"judge": cells.text("judge"), "becomes": cells.text("becomes")}
    columns |= {"in week": cells.count("week"), "runs": cells.count("n_seeds")}
    for name in ("false_alarms", "power"):
        columns[f"{name.replace('_', ' ')} (%)"] = cells.number(name, f"{name}_low", f"{name}_high", POINTS, 1)
    columns["weeks until noticed"] = cells.number("mean_delay", decimals=1)
    columns["another is named (%)"] = cells.number("misnamed", scale=POINTS, decimals=1)
    return columns


def _side_by_side(rows: pd.DataFrame, weights: str) -> pd.DataFrame:
    """A row per factor and level, and a column per rule that holds its row of the table."""
    plain = rows[rows["rule"].isin(_BASELINES)]
    weighted = select(rows, rule="wmv", weights=(weights, "probability") if weights == "log_odds" else weights)
    weighted = weighted[weighted["estimator"] != "oracle"]
    found: dict[tuple[str, str], dict[str, object]] = {}
    for _, row in pd.concat([plain, weighted]).iterrows():
        key = (str(row["factor"]), str(row["level"]))
        found.setdefault(key, {"factor": key[0], "level": key[1]})[_name(row)] = row
    return pd.DataFrame(list(found.values()))


def _name(row: pd.Series) -> str:
    if row["rule"] != "wmv":
        return RULES.get(row["rule"], row["rule"])
    return "hybrid's probability" if row["weights"] == "probability" else spoken(str(row["estimator"]))


def _kept(name: str) -> Format:
    def make(row: pd.Series) -> Cell:
        one = row[name]
        if not isinstance(one, pd.Series) or pd.isna(one["difference_to_oracle"]):
            return Cell(cells.DASH, reason="not tried")
        shown, low, high = (
            cells.signed(f"{one[column] * POINTS:+.1f}")
            for column in ("difference_to_oracle", "difference_low", "difference_high")
        )
        return Cell(shown, _KINDS.get(one["keeps"], "number"), f"{one['keeps']}: {low} to {high}")

    return make
