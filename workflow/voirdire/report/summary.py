"""The answer first: a few sentences made from the tables, as uncertain as their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.report.cells import typographic
from voirdire.report.figures import task_title
from voirdire.report.rows import POINTS, column_values, main_rates, table
from voirdire.report.sections.power import all_in_all, comparisons
from voirdire.report.words import spoken
from voirdire.tables.rows import select

Tables = Mapping[str, pd.DataFrame]
# With fewer verdicts than this, no judge is named the best or the most lenient.
_HANDFUL = 10


@dataclass(frozen=True)
class Sentence:
    """One answer, and the section of the page that has its evidence."""

    text: str
    section: str


def answer_first(tables: Tables, condition: str = "blind") -> list[Sentence]:
    """Who judges best, who is lenient, whether that survives equal difficulty, whether judges prefer themselves,
    whether a panel helps, whether estimates without labels can be trusted, and how much the study could not have
    seen. A question that the tables cannot answer is left out.
    """
    answers = (_best(tables, condition), _lenient(tables, condition), _survives(tables), _preference(tables))
    return [answer for answer in (*answers, _panel(tables), _label_free(tables), _unseen(tables)) if answer]


def _percent(value: float) -> str:
    # A no-break space: the sign never stands alone on the next line.
    return f"{value:.1%}".replace("%", "\u00a0%")


def _of(share: float, low: float, high: float) -> str:
    return (
        _percent(share) if pd.isna(low) or pd.isna(high) else f"{_percent(share)} ({_percent(low)} to {_percent(high)})"
    )


def _apart(row: pd.Series, column: str, interval: str, what: str) -> str:
    """A difference of accuracies and its interval, columns `interval`_low and _high, in percentage points.

    >>> _apart(pd.Series({"d": -0.02, "d_low": -0.031, "d_high": 0.001}), "d", "d", "the majority")
    '2.0 points below the majority (−3.1 to +0.1)'
    >>> _apart(pd.Series({"d": 0.0, "d_low": -0.031, "d_high": 0.031}), "d", "d", "the majority")
    'level with the majority (−3.1 to +3.1 points)'
    """
    away, low, high = (row[name] * POINTS for name in (column, f"{interval}_low", f"{interval}_high"))
    shown, span = f"{abs(away):.1f}", f"{low:+.1f} to {high:+.1f}".replace("-", "−")
    if shown == "0.0":
        return f"level with {what} ({span} points)"
    return f"{shown} points {'above' if away > 0 else 'below'} {what} ({span})"


def _part(n: int, total: int, what: str) -> str:
    """
    >>> _part(1, 1, "judge"), _part(0, 3, "judge")
    ('1 of 1 judge', '0 of 3 judges')
    """
    return f"{n} of {total} {what}" + ("s" if total != 1 else "")


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
    best, n = judges.iloc[0], _n_verdicts(judges)
    right = _of(best["accuracy"], best["accuracy_low"], best["accuracy_high"])
    tasks = column_values(main_rates(table(tables, "rates"), condition), "task")
    weighing = ", tasks weighing equally" if len(tasks) > 2 else ""
    if len(judges) == 1:
        if n.iloc[0] == 1:
            text = f"{best['judge']}, the only judge, is {'right' if best['accuracy'] else 'wrong'} in its only verdict"
        else:
            text = f"{best['judge']}, the only judge, is right in {right} of its {n.iloc[0]:,} verdicts{weighing}"
        return Sentence(text + ".", "leniency")
    if best["accuracy"] == 0:
        text = f"None of the {len(judges)} judges is right in any of its {_span(n)}"
        return Sentence(f"{text}, so none can be called the most accurate.", "leniency")
    if n.min() < _HANDFUL:
        counted = _span(n)
        text = f"With only {counted} a judge, none can be called the most accurate; the highest accuracy is {right}"
        return Sentence(f"{text}{weighing}.", "leniency")
    tied = judges[np.isclose(judges["accuracy"], best["accuracy"])]
    if len(tied) > 1:
        # The widest of their intervals, which differ where judges have judged more or less.
        right = _of(best["accuracy"], tied["accuracy_low"].min(), tied["accuracy_high"].max())
        text = f"{_listed(tied['judge'].tolist())} share the highest accuracy, {right} of their verdicts{weighing}"
        return Sentence(f"{text}, so none can be called the most accurate.", "leniency")
    text = f"{best['judge']} is the most accurate judge, right in {right} of its verdicts{weighing}"
    # Overlapping intervals are no test; they do say that the order isn't settled, as a missing one does.
    clear = judges["accuracy_high"][1:] < best["accuracy_low"]
    close = judges[1:][~clear]["judge"].tolist()
    if close:
        overlap = f"its interval overlaps with {'that' if len(close) == 1 else 'those'} of {_listed(close)}"
        text += f"; {overlap}, so the order between them is undecided"
    else:
        text += f", clear of {judges.iloc[1]['judge']} ({_percent(judges.iloc[1]['accuracy'])})"
    return Sentence(text + ".", "leniency")


def _n_verdicts(judges: pd.DataFrame) -> pd.Series:
    return (judges["n_right"] + judges["n_wrong"]).astype(int)


def _span(n: pd.Series) -> str:
    low, high = n.min(), n.max()
    return (f"{low}" if low == high else f"{low} to {high:,}") + (" verdict" if high == 1 else " verdicts")


def _lenient(tables: Tables, condition: str) -> Sentence | None:
    judges = _judges(tables, condition, "bias")
    if judges.empty:
        return None
    top = judges.iloc[0]
    accepts = f"accepts {_of(top['fpr'], top['fpr_low'], top['fpr_high'])} of wrong responses"
    if len(judges) == 1:
        who = f"{top['judge']}, the only judge with both right and wrong responses to judge,"
        if top["bias_low"] > 0:
            text = f"{who} accepts wrong responses more often than it rejects right ones: it {accepts}"
        elif top["bias_high"] < 0:
            text = f"{who} rejects right responses more often than it accepts wrong ones: it {accepts}"
        else:
            text = f"{who} {accepts}; whether it does so more often than it rejects right ones is undecided"
        return Sentence(text + _towards(tables, condition) + ".", "leniency")
    lenient, strict = int((judges["bias_low"] > 0).sum()), int((judges["bias_high"] < 0).sum())
    undecided = len(judges) - lenient - strict
    text = f"{_part(lenient, len(judges), 'judge')} accept wrong responses more often than they reject right ones"
    text += f", {strict} the reverse" if strict else ""
    text += f" ({undecided} undecided)" if undecided else ""
    if _leads(judges) and top["fpr"] > 0 and _n_verdicts(judges).min() >= _HANDFUL:
        text += f"; the {'most lenient' if top['bias'] > 0 else 'least strict'} is {top['judge']}, which {accepts}"
    return Sentence(text + _towards(tables, condition) + ".", "leniency")


def _leads(rows: pd.DataFrame) -> bool:
    """Whether the first row's bias, of rows sorted from the largest, is larger than every other row's."""
    return len(rows) > 1 and bool(rows["bias"].iloc[0] > rows["bias"].iloc[1])


def _towards(tables: Tables, condition: str) -> str:
    """Whom the largest bias favours; "" where no single pair of a judge and an examinee stands out."""
    pairs = main_rates(table(tables, "rates_by_examinee"), condition, task="all")
    if pairs.empty:
        return ""
    pairs = pairs[(pairs["judge"] != "all") & (pairs["examinee"] != "all")].dropna(subset=["bias"])
    pairs = pairs.sort_values("bias", ascending=False, kind="stable")
    if not _leads(pairs) or pairs["bias"].iloc[0] <= 0 or _n_verdicts(pairs).iloc[0] < _HANDFUL:
        return ""
    pair = pairs.iloc[0]
    whom = "itself" if pair["judge"] == pair["examinee"] else pair["examinee"]
    return f", and the largest bias is that of {pair['judge']} towards {whom}"


def _survives(tables: Tables) -> Sentence | None:
    said = select(table(tables, "leniency_summary"), task="all")
    said = said[said["sentence"].fillna("").astype(bool)] if len(said) else said
    if said.empty:
        return None
    return Sentence(typographic(str(said["sentence"].iloc[0])), "leniency_or_difficulty")


def _unseen(tables: Tables) -> Sentence | None:
    compared = comparisons(tables)
    text = all_in_all(compared) if len(compared) else ""
    return Sentence(text, "power") if text else None


def _preference(tables: Tables) -> Sentence | None:
    """From the mean over the other models, tasks pooled, of each judge: its interval against 0; and from the model."""
    rows = select(table(tables, "self_preference_summary"), rate="fpr")
    rows = rows[rows["judge"] != "all"].dropna(subset=["difference"]) if len(rows) else rows
    every, matched = (select(rows, version=version) for version in ("all", "matched"))
    if every.empty:
        return None
    if len(every) == 1:
        shown = "accepts" if (every["low"] > 0).any() else "is not shown to accept"
        who = f"{every.iloc[0]['judge']}, the only judge with wrong responses of its own,"
        text = f"{who} {shown} them more often than other models'"
    else:
        text = f"{_favouring(every)} accept their own wrong responses more often than other models'"
    if len(matched):
        text += f"; on items that both get wrong, where difficulty is equal, {_do(matched, len(every))}"
    supported = int(every["supports_preference"].astype(bool).sum())
    if not supported:
        text += ": nothing here supports the word preference, which is not to say that there is none"
    elif len(every) == 1:
        text += "; a model of judge, question and author supports the word preference"
    else:
        text += f"; a model of judge, question and author supports the word preference for {supported} of them"
    level = (
        "a 95\u00a0% interval above 0 shows it"
        if len(every) == 1
        else ("95\u00a0% intervals above 0; the rest is undecided or the reverse")
    )
    return Sentence(f"{text} ({level}).", "self_preference")


def _do(judges: pd.DataFrame, n_judges: int, verb: str = " do") -> str:
    if n_judges > 1:
        return _favouring(judges) + verb
    return "it does" if (judges["low"] > 0).any() else "it is not shown to do so"


def _favouring(judges: pd.DataFrame) -> str:
    return _part(int((judges["low"] > 0).sum()), len(judges), "judge")


def _panel(tables: Tables) -> Sentence | None:
    gains = select(table(tables, "ensembles"), task="all", metric="accuracy").dropna(
        subset=["difference"] if len(table(tables, "ensembles")) else []
    )
    weeks = select(table(tables, "drift"), week=0)
    parts = []
    if len(gains):
        better, worse = int((gains["difference_low"] > 0).sum()), int((gains["difference_high"] < 0).sum())
        undecided = len(gains) - better - worse
        whom = _part(better, len(gains), "model")
        part = f"The majority of the other judges beats the model that judges itself for {whom}"
        also = ([f"loses for {worse}"] if worse else []) + ([f"{undecided} undecided"] if undecided else [])
        parts.append(part + (f" ({', '.join(also)})" if also else ""))
    weighted = select(weeks, rule="wmv", weights="linear")
    weighted = weighted[weighted["estimator"] != "oracle"] if len(weighted) else weighted
    if len(weighted):
        best = weighted.sort_values("accuracy", kind="stable").iloc[-1]
        tied = [*map(spoken, weighted[np.isclose(weighted["accuracy"], best["accuracy"])]["estimator"])]
        votes = f"best weighted vote ({spoken(best['estimator'])}) is"
        if len(tied) > 1:
            votes = f"{'best ' if len(tied) < len(weighted) else ''}weighted votes ({_listed(tied)}) are"
        start = "under drift" if parts else "Under drift"
        gain = _apart(best, "difference_to_majority", "difference_to_majority", "the unweighted majority")
        parts.append(f"{start}, the {votes} {_percent(best['accuracy'])} accurate, {gain}")
    return Sentence("; ".join(parts) + ".", "ensembles" if len(gains) else "drift") if parts else None


def _label_free(tables: Tables) -> Sentence | None:
    trust = table(tables, "label_free_trust")
    if trust.empty:
        return None
    parts = []
    for verdict, tasks in trust.groupby("verdict", sort=False)["task"]:
        where = "" if len(trust) == 1 else f" on {_listed([task_title(task) for task in tasks], len(trust))}"
        parts.append(f"{_VERDICTS.get(str(verdict), verdict)}{where}")
    text = f"Judges' error rates estimated without any label are {'; '.join(parts)}"
    if (trust["basis"] == "labels").any():
        text += "; that is known only because the truth is known here"
    text += ": verdicts alone cannot show whether judges share a blind spot"
    return Sentence(text + ".", "label_free")


# What the table of trust says, as the end of a sentence.
_VERDICTS = {
    "no evidence against": "not shown to be wrong",
    "too few wrong answers labelled": "undecided (too few wrong answers)",
    "too few right answers labelled": "undecided (too few right answers)",
}
