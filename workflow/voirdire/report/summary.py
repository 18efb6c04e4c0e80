"""The answer first: a few sentences made from the tables, as uncertain as their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from voirdire.report.rows import POINTS, main_rates, number, table
from voirdire.tables.rows import select

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Sentence:
    """One answer, and the section of the page that has its evidence."""

    text: str
    section: str


def answer_first(tables: Tables, condition: str = "blind") -> list[Sentence]:
    """Who judges best, who is lenient, whether that survives equal difficulty, whether a panel helps, and whether
    estimates without labels can be trusted. A question that the tables cannot answer is left out.
    """
    answers = (_best(tables, condition), _lenient(tables, condition), _preference(tables), _panel(tables))
    return [answer for answer in (*answers, _label_free(tables)) if answer]


def _percent(value: float) -> str:
    # A no-break space: the sign never stands alone on the next line.
    return f"{value:.1%}".replace("%", "\u00a0%")


def _of(share: float, low: float, high: float) -> str:
    return f"{_percent(share)} ({_percent(low)} to {_percent(high)})"


def _listed(names: list[str], most: int = 3) -> str:
    shown = names[:most] + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _judges(tables: Tables, condition: str, metric: str) -> pd.DataFrame:
    rates = main_rates(table(tables, "rates"), condition, task="all")
    rates = rates[rates["judge"] != "all"] if len(rates) else rates
    return rates.dropna(subset=[metric]).sort_values(metric, ascending=False, kind="stable") if len(rates) else rates


def _best(tables: Tables, condition: str) -> Sentence | None:
    judges = _judges(tables, condition, "accuracy")
    if judges.empty:
        return None
    best = judges.iloc[0]
    text = (
        f"{best['judge']} is the most accurate judge, right in "
        f"{_of(best['accuracy'], best['accuracy_low'], best['accuracy_high'])} of its verdicts, tasks weighing equally"
    )
    # Overlapping intervals are no test; they do say that the order isn't settled.
    close = judges[1:][judges["accuracy_high"][1:] >= best["accuracy_low"]]["judge"].tolist()
    if close:
        text += f"; its interval overlaps with {_listed(close)}, so the order between them is undecided"
    elif len(judges) > 1:
        text += f", clear of {judges.iloc[1]['judge']} ({_percent(judges.iloc[1]['accuracy'])})"
    return Sentence(text + ".", "leniency")


def _lenient(tables: Tables, condition: str) -> Sentence | None:
    judges = _judges(tables, condition, "bias")
    if judges.empty:
        return None
    lenient, strict = int((judges["bias_low"] > 0).sum()), int((judges["bias_high"] < 0).sum())
    undecided = len(judges) - lenient - strict
    text = f"{lenient} of {len(judges)} judges accept wrong responses more often than they reject right ones"
    text += f", {strict} the reverse" if strict else ""
    text += f" ({undecided} undecided)" if undecided else ""
    top = judges.iloc[0]
    text += f"; the most lenient is {top['judge']}, which accepts {_of(top['fpr'], top['fpr_low'], top['fpr_high'])}"
    text += " of wrong responses"
    pairs = main_rates(table(tables, "rates_by_examinee"), condition, task="all")
    pairs = (
        pairs[(pairs["judge"] != "all") & (pairs["examinee"] != "all")].dropna(subset=["bias"]) if len(pairs) else pairs
    )
    if len(pairs):
        pair = pairs.sort_values("bias", kind="stable").iloc[-1]
        whom = "itself" if pair["judge"] == pair["examinee"] else pair["examinee"]
        text += f", and the largest bias is that of {pair['judge']} towards {whom}"
    return Sentence(text + ".", "leniency")


def _preference(tables: Tables) -> Sentence | None:
    """From the mean over the other models, tasks pooled, of each judge: its interval against 0."""
    rows = select(table(tables, "self_preference_summary"), rate="fpr")
    rows = rows[rows["judge"] != "all"].dropna(subset=["difference"]) if len(rows) else rows
    every, matched, adjusted = (select(rows, version=version) for version in ("all", "matched", "adjusted"))
    if every.empty:
        return None
    text = f"{_favouring(every)} accept their own wrong responses more often than other models'"
    if len(matched):
        text += f"; on items that both get wrong, where difficulty is equal, {_favouring(matched)} do"
    if len(adjusted):
        text += f", and {_favouring(adjusted)} beyond what other judges show on the same responses"
    if not (matched["low"] > 0).any() and not (adjusted["low"] > 0).any():
        text += ": nothing here supports the word preference, which is not to say that there is none"
    return Sentence(text + " (95\u00a0% intervals above 0; the rest is undecided or the reverse).", "self_preference")


def _favouring(judges: pd.DataFrame) -> str:
    return f"{int((judges['low'] > 0).sum())} of {len(judges)} judges"


def _panel(tables: Tables) -> Sentence | None:
    gains = select(table(tables, "ensembles"), task="all", metric="accuracy").dropna(
        subset=["difference"] if len(table(tables, "ensembles")) else []
    )
    weeks = select(table(tables, "drift"), week=0)
    parts = []
    if len(gains):
        better, worse = int((gains["difference_low"] > 0).sum()), int((gains["difference_high"] < 0).sum())
        undecided = len(gains) - better - worse
        part = (
            f"The majority of the other judges beats the model that judges itself for {better} of {len(gains)} models"
        )
        also = ([f"loses for {worse}"] if worse else []) + ([f"{undecided} undecided"] if undecided else [])
        parts.append(part + (f" ({', '.join(also)})" if also else ""))
    weighted = select(weeks, rule="wmv", weights="linear")
    weighted = weighted[weighted["estimator"] != "oracle"] if len(weighted) else weighted
    if len(weighted):
        best = weighted.sort_values("accuracy", kind="stable").iloc[-1]
        gain, low, high = (best[f"difference_to_majority{end}"] * POINTS for end in ("", "_low", "_high"))
        start = "under drift" if parts else "Under drift"
        parts.append(
            f"{start}, the best weighted vote ({best['estimator']}) is {_percent(best['accuracy'])} accurate, "
            f"{abs(gain):.1f} points {'above' if gain >= 0 else 'below'} the unweighted majority "
            + f"({low:+.1f} to {high:+.1f})".replace("-", "−")
        )
    return Sentence("; ".join(parts) + ".", "ensembles" if len(gains) else "drift") if parts else None


def _label_free(tables: Tables) -> Sentence | None:
    rates = select(table(tables, "drift_rates"), week=0, estimator="disagreement", judge="mean", rate="fpr")
    loss = select(table(tables, "drift"), week=0, rule="wmv", estimator="disagreement", weights="linear")
    if rates.empty or loss.empty:
        return None
    error = number(rates, "abs_error") * POINTS
    row = loss.iloc[0]
    away = row["difference_to_oracle"] * POINTS
    side = "below" if away < 0 else "above"
    text = (
        f"Without any label, the judges' FPR was estimated to within {error:.1f} points on average, and the votes so "
        f"weighted are {abs(away):.1f} points {side} those with the true rates "
        f"({row['difference_low'] * POINTS:+.1f} to {row['difference_high'] * POINTS:+.1f}); that is known only "
        "because the truth is known here: verdicts alone cannot show whether judges share a blind spot"
    ).replace("-", "−")
    return Sentence(text + ".", "drift")
