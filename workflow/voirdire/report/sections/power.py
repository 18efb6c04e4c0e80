"""What comparisons without a difference could have shown, and which rates say nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from voirdire.bias.leniency import MATCHED
from voirdire.bias.leniency_rows import ACCURACY
from voirdire.bias.power import DIFFERENCE, NOTHING, UNDECIDED
from voirdire.report import cells
from voirdire.report.cells import html_table
from voirdire.report.figures import task_title
from voirdire.report.rows import column_values, main_rates, table
from voirdire.report.sections.section import Section, Statements, Tables
from voirdire.tables.rows import select


@dataclass(frozen=True)
class _Compared:
    """A table of comparisons: what it is called, which rows count, and the unit of its effects."""

    words: str
    rows: Mapping[str, object]
    unit: str = "points"


_TABLES = {
    "self_preference": _Compared("a judge's own wrong responses against another model's", {"rate": "fpr"}),
    "family_preference": _Compared("its own family's wrong responses against other families'", {"rate": "fpr"}),
    "leniency": _Compared("stronger against weaker examinees' wrong responses", {"term": ACCURACY}, ""),
    "correlations": _Compared("capability and bias", {"left_out": "", "self_point": "with"}, "r"),
    "ablation_identity": _Compared("with and without an identity label", {"rate": "fpr"}),
    "ablation_template": _Compared("another judge template and the main one", {"rate": "fpr"}),
    "ablation_length": _Compared("length of accepted and rejected wrong responses", {}, "sd"),
    "ablation_difficulty": _Compared("own and others' errors on hard, medium and easy questions", {}),
}


def power(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "power",
        "What this study could not have seen",
        "No difference is only news where there could have been one. Of each table, how many comparisons show a "
        "difference, how many rule out one that matters (10 points; d = 0.2), how many are undecided, and how many "
        "say nothing, mostly as wrong responses are too few to have shown a difference of any size. What would have "
        "shown is the smallest true effect that so many questions show four times in five.",
    )
    compared = comparisons(tables)
    if compared.empty:
        section.absent.append("No table has comparisons.")
        return section
    section.answers += [each for each in (all_in_all(compared),) if each]
    silent = [line for task in column_values(compared, "task") if (line := silent_cells(tables, condition, task))]
    if silent:
        section.statements.append(Statements("Rates that say nothing", silent))
    columns = {"comparison": cells.text("words"), "in all": cells.count("n"), "difference": cells.count("difference")}
    columns |= {"no difference that matters": cells.count("none"), "undecided": cells.count("undecided")}
    columns |= {"says nothing": cells.count("nothing"), "undecided ones could have shown": cells.text("shown")}
    overall = _counted(compared, ["words"])
    section.tables.append(html_table(overall, "Comparisons of all tables, per task and pooled", columns, folded=False))
    by_task = _counted(compared, ["task", "words"])
    section.tables.append(html_table(by_task, "The same per task", {"task": cells.text("task")} | columns, folded=True))
    return section


def comparisons(tables: Tables) -> pd.DataFrame:
    """All rows of comparisons of a study: words, task, says, detectable, unit."""
    parts = []
    for name, compared in _TABLES.items():
        rows = select(table(tables, name), **compared.rows)
        if "says" not in rows.columns or rows.empty:
            continue
        part = rows[["task", "says", "detectable"]].assign(words=compared.words, unit=compared.unit)
        part["why"] = [_why(row, compared.unit) for _, row in rows.iterrows()]
        if not compared.unit:
            part["unit"] = rows["method"].map(lambda method: "points" if method == MATCHED else "log-odds")
        parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


_FEW = "wrong responses are too few to have shown a difference of any size"


def _why(row: pd.Series, unit: str) -> str:
    """Why a comparison that says nothing does so."""
    return cells.without_value(row) or ("too few models" if unit == "r" else _FEW)


def all_in_all(compared: pd.DataFrame) -> str:
    """One sentence on the comparisons of single tasks; "" where there are none."""
    single = compared[compared["task"] != "all"]
    if single.empty:
        return ""
    found, mute = (single["says"] == DIFFERENCE).sum(), single["says"] == NOTHING
    text = f"Of {len(single):,} comparisons on single tasks, {found:,} show a difference"
    if mute.any():
        worst = single.loc[mute, "task"].value_counts()
        where = f", {worst.iloc[0]:,} of them on {task_title(worst.index[0])}" if 2 * worst.iloc[0] > mute.sum() else ""
        where = f", all on {task_title(worst.index[0])}" if len(worst) == 1 else where
        text += f"; {mute.sum():,}{where}, say nothing: " if where else f"; {mute.sum():,} say nothing: "
        other = single.loc[mute & (single["why"] != _FEW), "why"].value_counts()
        few = int(mute.sum() - other.sum())
        parts = [f"of {few:,}, {_FEW}" if len(other) else _FEW] if few else []
        if len(other):
            parts.append(f"{other.sum():,} have another reason{', most often' * (len(other) > 1)} ({other.index[0]})")
        text += "; ".join(parts)
    return text + "."


def silent_cells(tables: Tables, condition: str, task: str) -> str:
    """How many pairs of a judge and an examinee have an FPR that says nothing on a task; "" where none has."""
    rows = main_rates(table(tables, "rates_by_examinee"), condition, task=task)
    if task == "all" or rows.empty or "silent" not in rows.columns:
        return ""
    rows = rows[(rows["judge"] != "all") & (rows["examinee"] != "all")]
    mute = rows[rows["silent"].str.split().map(lambda metrics: "fpr" in metrics)]
    if mute.empty:
        return ""
    low, high = int(mute["n_wrong"].min()), int(mute["n_wrong"].max())
    n = f"{low}" if low == high else f"{low} to {high}"
    who = f"{len(mute)} of {len(rows)} pairs of a judge and an examinee"
    n += " verdicts" if high != 1 else " verdict"
    return f"{task_title(task)}: the leniency (FPR) of {who} says nothing: it rests on {n} on wrong responses."


def _counted(compared: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    rows = []
    for key, part in compared.groupby(keys, sort=False):
        says, undecided = part["says"], part[part["says"] == UNDECIDED]
        rows.append(
            dict(zip(keys, key, strict=True))
            | {"n": len(part), "difference": (says == DIFFERENCE).sum(), "nothing": (says == NOTHING).sum()}
            | {"none": says.str.startswith("no difference").sum(), "undecided": len(undecided)}
            | {"shown": "; ".join(filter(None, (_shown(each) for _, each in undecided.groupby("unit", sort=False))))}
        )
    return pd.DataFrame(rows)


def _shown(undecided: pd.DataFrame) -> str:
    effects, unit = undecided["detectable"].dropna(), undecided["unit"].iloc[0]
    if effects.empty:
        return ""
    low, middle, high = (cells.amount(float(effects.quantile(q)), unit) for q in (0, 0.5, 1))
    return low if low == high else f"{low} to {high}, half of them up to {middle}"
