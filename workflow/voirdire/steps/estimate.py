"""Print what a study will still ask of real models, and what that will cost, from a pilot if there is to be one."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from voirdire.models.pricing import dollars
from voirdire.steps._run import arguments, run
from voirdire.study.estimate import COST, RECEIVED, SENT, Estimate, estimate
from voirdire.study.study import Study

_HEADER = ("role", "model", "calls", "to do", "tokens sent", "tokens received", "cost")
_DIGITS = 3


def main() -> None:
    args = arguments(__doc__, study=Study.from_json)
    found = estimate(args.study)
    if found.rows.empty:
        print("Nothing to pay: no examinee and no judge of this study is a real model.")
        return
    for fault in found.faults:
        print(f"The pilot could not ask everything: {fault}")
    rows = found.rows.to_dict("records")
    print(pd.DataFrame([_cells(row) for row in rows], columns=_HEADER).to_string(index=False))
    for line in (*_notes(rows), *_money(found, args.study.config.budget_usd)):
        print(line)


def _cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    tokens = [_range(row[f"{kind}_low"], row[f"{kind}_high"], _whole) for kind in (SENT, RECEIVED)]
    return row["role"], row["model"], f"{row['calls']:,}", f"{row['to_do']:,}", *tokens, _cost(row)


def _cost(row: Mapping[Any, Any]) -> str:
    if not row["to_do"]:
        return "nothing"
    if row["price"] in ("free", "unknown"):
        return "free" if row["price"] == "free" else "price unknown"
    cost = _range(row[f"{COST}_low"], row[f"{COST}_high"], _dollars)
    return f"{cost} + unknown" if row["price"] == "partly" else cost


def _range(low: float, high: float, shown: Any) -> str:
    if math.isnan(high):
        return f"{shown(low, down=True)} or more"
    if low == high:
        return str(shown(low))
    ends = dict.fromkeys((shown(low, down=True), shown(high, down=False)))
    return " - ".join(ends)


def _whole(number: float, down: bool | None = None) -> str:
    return f"{number:,.0f}" if down is None else f"{_rounded(number, down):,.0f}"


def _dollars(number: float, down: bool | None = None) -> str:
    return dollars(number if down is None else _rounded(number, down))


def _rounded(number: float, down: bool) -> float:
    """To three digits, away from the middle of the range.

    >>> _rounded(123456, True), _rounded(123456, False)
    (123000.0, 124000.0)
    """
    if number == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(number)) - _DIGITS + 1)
    return (math.floor(number / unit + 1e-9) if down else math.ceil(number / unit - 1e-9)) * unit


def _notes(rows: list[dict[Any, Any]]) -> list[str]:
    """How the numbers were found, and what is missing."""
    parts = [row for row in rows if row["role"] != "all" and row["to_do"]]
    bounded = [row for row in parts if math.isnan(row[f"{RECEIVED}_expected"])]
    notes = []
    if len(bounded) < len(parts):
        answered = sum(row["answered"] for row in parts)
        notes.append(f"Forecast from {answered:,} answers in the journals: 95 % prediction intervals of what is to do.")
    if bounded:
        who = ", ".join(f"{row['model']} as {row['role']}" for row in bounded)
        notes.append(
            f"Bounds, not a forecast, for {who}: from the prompts alone (lengths in tokens are estimated, within about "
            "a fifth) to every answer as long as max_tokens allows (no upper one without it). "
            "A pilot narrows them: `voirdire estimate --pilot 5` asks and keeps 5 answers per job."
        )
    unpriced = dict.fromkeys(row["model"] for row in parts if row["price"] == "unknown")
    notes += [f"{name}: price unknown: set models.{name}.price" for name in unpriced]
    return notes


def _money(found: Estimate, budget_usd: float | None) -> list[str]:
    """What is spent, and whether the rest fits into the budget."""
    total = found.rows.iloc[-1]
    spent = found.spent_usd
    if budget_usd is None:
        return [f"Spent so far: {_dollars(spent)}."] if spent else []
    left = max(0.0, budget_usd - spent)
    low, high = total[f"{COST}_low"], total[f"{COST}_high"]
    if not total["to_do"]:
        verdict = "nothing is left to pay"
    elif total["price"] == "unknown" or (total["price"] == "partly" and low <= left):
        verdict = "whether the rest fits can't be told, as a price is unknown"
    elif high <= left:
        verdict = "the rest fits"
    elif low > left:
        verdict = "the rest does not fit"
    else:
        verdict = "the rest may not fit"
    return [f"Budget: {_dollars(budget_usd)}, of which {_dollars(spent)} spent and {_dollars(left)} left: {verdict}."]


if __name__ == "__main__":
    run(main)
