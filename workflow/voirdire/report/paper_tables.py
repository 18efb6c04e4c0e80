"""The paper's tables 2-10, wide and rounded for readers; the tidy tables have every digit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

import pandas as pd

from voirdire.bias.ablation_difficulty import BINS
from voirdire.bias.ablation_length import NEGLIGIBLE_D
from voirdire.bias.power import in_words
from voirdire.report.rows import POINTS, column_values, main_rates, ordered, table
from voirdire.tables.rows import is_simulated, select

Tables = Mapping[str, pd.DataFrame]
_DASH = "–"
SAYS, RANGE, WHY_NO_R = "says", "range without any one model", "why r is missing"


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper: its number, the stem of its file, its title, and what builds it from the tidy tables."""

    number: int
    stem: str
    title: str
    build: Callable[[Tables, str], pd.DataFrame]


def build_all(tables: Tables, condition: str = "blind") -> dict[str, pd.DataFrame]:
    """Every table of the paper, by the stem of its file.

    tables: tidy frames by name; a missing or empty one gives tables with their columns and no row. condition: of the
    rates, the study's main one.

    Wide frames. Rates are shares with three decimals, differences percentage points with one, intervals (95 %) text;
    the unit is in the column's name. The last column says whether the panel was simulated.
    """
    return {paper_table.stem: paper_table.build(tables, condition) for paper_table in PAPER_TABLES.values()}


def interval(low: object, high: object, scale: float = 1, decimals: int = 2) -> str:
    """An interval as text; a dash where a limit is missing.

    >>> interval(-0.012, 0.034, scale=100, decimals=1), interval(float("nan"), 1.0)
    ('[-1.2, 3.4]', '–')
    """
    if pd.isna(low) or pd.isna(high):  # type: ignore[call-overload]
        return _DASH
    return f"[{float(low) * scale:.{decimals}f}, {float(high) * scale:.{decimals}f}]"  # type: ignore[arg-type]


def _tasks(tables: Tables, *names: str) -> list[str]:
    """The study's tasks, "all" last; known from any table, so that an empty table still has its columns."""
    found = [task for name in names for task in column_values(table(tables, name), "task")]
    return ordered(found)


def _finish(rows: list[dict[str, object]], columns: Iterable[str], simulated: bool) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=[*columns])
    return frame.assign(simulated=pd.Series([simulated] * len(frame), dtype=bool))


def _says(cell: pd.Series, unit: str = "points") -> str:
    """What a comparison says, and if it is undecided, what would have shown; "" where the table doesn't know."""
    if "says" not in cell.index or pd.isna(cell["says"]):
        return ""
    return in_words(str(cell["says"]), float(cell["detectable"]), unit)


def _points(value: object) -> float:
    return round(float(value) * POINTS, 1)  # type: ignore[arg-type]


def _share(value: object) -> float:
    return round(float(value), 3)  # type: ignore[arg-type]


def _static_majority(tables: Tables, condition: str) -> pd.DataFrame:
    frame = table(tables, "ensembles")
    metrics = {"accuracy": "accuracy", "fpr": "FPR"}
    left_out = _left_out(frame)
    columns = ["task", "self-judge", "n responses", *left_out.values()]
    for metric in metrics.values():
        columns += [f"{metric}, majority (share)", f"{metric}, self-judge (share)"]
        columns += [f"{metric}, difference (points)", f"{metric}, 95 % interval (points)"]
    rows = []
    for task in column_values(frame, "task"):
        for examinee in column_values(select(frame, task=task), "examinee"):
            row: dict[str, object] = {"task": task, "self-judge": examinee}
            for metric, word in metrics.items():
                found = select(frame, task=task, examinee=examinee, metric=metric)
                if found.empty:
                    continue
                cell = found.iloc[0]
                row = {**row, "n responses": int(cell["n"]), **_counts(cell, left_out)}
                row[f"{word}, majority (share)"] = _share(cell["majority"])
                row[f"{word}, self-judge (share)"] = _share(cell["self_judge"])
                row[f"{word}, difference (points)"] = _points(cell["difference"])
                row[f"{word}, 95 % interval (points)"] = interval(
                    cell["difference_low"], cell["difference_high"], POINTS, 1
                )
            rows.append(row)
    return _finish(rows, columns, is_simulated(frame))


def _identity_labels(tables: Tables, condition: str) -> pd.DataFrame:
    frame = select(table(tables, "ablation_identity"), rate="fpr")
    labels = column_values(frame, "label") or ["elite", "author"]
    left_out = _left_out(frame)
    columns = ["task", "judge", "examinee"]
    for label in labels:
        columns += [f"{label}: {word}" for word in ("n pairs", *left_out.values(), "FPR, blind (share)")]
        columns += [f"{label}: {word}" for word in ("FPR, labelled (share)", "difference (points)")]
        columns += [f"{label}: {word}" for word in ("95 % interval (points)", "p (Holm)", SAYS)]
    rows = []
    for task in column_values(frame, "task"):
        of_task = select(frame, task=task)
        for judge, examinee in product(column_values(of_task, "judge"), column_values(of_task, "examinee")):
            row: dict[str, object] = {"task": task, "judge": judge, "examinee": examinee}
            for label in labels:
                found = select(of_task, judge=judge, examinee=examinee, label=label)
                if found.empty:
                    continue
                cell = found.iloc[0]
                row[f"{label}: n pairs"] = int(cell["n_pairs"])
                row |= {f"{label}: {word}": n for word, n in _counts(cell, left_out).items()}
                row[f"{label}: FPR, blind (share)"] = _share(cell["blind"])
                row[f"{label}: FPR, labelled (share)"] = _share(cell["labelled"])
                row[f"{label}: difference (points)"] = _points(cell["difference"])
                row[f"{label}: 95 % interval (points)"] = interval(cell["low"], cell["high"], POINTS, 1)
                row[f"{label}: p (Holm)"] = float(f"{cell['p_holm']:.2g}")
                row[f"{label}: {SAYS}"] = _says(cell)
            rows.append(row)
    return _finish(rows, columns, is_simulated(frame))


# Calls that a row leaves out, by the columns of the tidy tables that count them.
_LEFT_OUT = {
    "n_not_ok": "n not ok",
    "n_not_judged": "n not judged",
    "n_truth_missing": "n truth missing",
    "n_self_missing": "n not judged by itself",
    "n_abstain": "n abstained",
}


def _left_out(frame: pd.DataFrame) -> dict[str, str]:
    return {name: word for name, word in _LEFT_OUT.items() if name in frame.columns}


def _counts(cell: pd.Series, left_out: dict[str, str]) -> dict[str, int]:
    return {word: int(cell[name]) for name, word in left_out.items() if not pd.isna(cell[name])}


def _length(tables: Tables, condition: str) -> pd.DataFrame:
    frame = table(tables, "ablation_length")
    tasks = _tasks(tables, "ablation_length") or _single_tasks(tables)
    columns = ["judge"]
    for task in tasks:
        columns += [f"{task}: Cohen's d", f"{task}: 95 % interval", f"{task}: |d| < {NEGLIGIBLE_D}", f"{task}: {SAYS}"]
    rows = []
    for judge in column_values(frame, "judge"):
        row: dict[str, object] = {"judge": judge}
        for task in tasks:
            found = select(frame, judge=judge, task=task)
            if len(found):
                cell = found.iloc[0]
                row[f"{task}: Cohen's d"] = round(float(cell["d"]), 2)
                row[f"{task}: 95 % interval"] = interval(cell["low"], cell["high"])
                row[f"{task}: |d| < {NEGLIGIBLE_D}"] = cell["equivalent"]
                row[f"{task}: {SAYS}"] = _says(cell, "sd")
        rows.append(row)
    return _finish(rows, columns, is_simulated(frame))


def _single_tasks(tables: Tables) -> list[str]:
    return [task for task in _tasks(tables, "task_accuracy", "rates") if task != "all"]


def _difficulty(tables: Tables, condition: str) -> pd.DataFrame:
    frame = select(table(tables, "ablation_difficulty"), judge="all")
    columns = ["task"]
    for each in BINS:
        columns += [f"{each}: {word}" for word in ("n tasks", "n items", "n own wrong", "n others' wrong")]
        columns += [f"{each}: gap (points)", f"{each}: 95 % interval (points)", f"{each}: {SAYS}"]
    rows = []
    for task in column_values(frame, "task"):
        row: dict[str, object] = {"task": task}
        for each in BINS:
            found = select(frame, task=task, bin=each)
            if len(found):
                cell = found.iloc[0]
                # The pooled row is a mean over the tasks that have a gap.
                pooled = frame[frame["task"] != "all"] if task == "all" else found
                row[f"{each}: n tasks"] = int(select(pooled, bin=each)["gap"].notna().sum())
                row[f"{each}: n items"] = int(cell["n_items"])
                row[f"{each}: n own wrong"] = int(cell["n_own"])
                row[f"{each}: n others' wrong"] = int(cell["n_other"])
                row[f"{each}: gap (points)"] = _points(cell["gap"])
                row[f"{each}: 95 % interval (points)"] = interval(cell["low"], cell["high"], POINTS, 1)
                row[f"{each}: {SAYS}"] = _says(cell)
        rows.append(row)
    return _finish(rows, columns, is_simulated(frame))


def strictest_judge(tables: Tables, condition: str) -> str:
    """The judge with the lowest directional bias over all tasks; "" where no rates say. The paper leaves it out."""
    rates = main_rates(table(tables, "rates"), condition, task="all")
    rates = rates[rates["judge"] != "all"].dropna(subset=["bias"]) if len(rates) else rates
    return "" if rates.empty else str(rates.sort_values("bias", kind="stable")["judge"].iloc[0])


def _correlation(number: int) -> Callable[[Tables, str], pd.DataFrame]:
    def build(tables: Tables, condition: str) -> pd.DataFrame:
        frame = table(tables, "correlations")
        frame = frame[frame["table"].astype(int) == number] if len(frame) else frame
        role = "judge" if number == 9 else "examinee"
        tasks = _tasks(tables, "correlations") or _tasks(tables, "task_accuracy", "rates")
        strictest = strictest_judge(tables, condition)
        without = f"without {strictest}" if strictest else "without the strictest judge"
        columns = [role, "n models"]
        for task in tasks:
            columns += [f"{task}: r", f"{task}: 95 % interval", f"{task}: {RANGE}", f"{task}: r {without}"]
        columns.append(WHY_NO_R)
        rows = []
        for anchor in column_values(frame, "anchor"):
            row: dict[str, object] = {role: anchor}
            for task in tasks:
                with_self = select(frame, anchor=anchor, task=task, self_point="with")
                found, fewer = select(with_self, left_out=""), select(with_self, left_out=strictest)
                if len(found):
                    cell = found.iloc[0]
                    row["n models"] = max(int(cell["n"]), int(row.get("n models", 0)))  # type: ignore[call-overload]
                    row[f"{task}: r"] = round(float(cell["r"]), 2)
                    row[f"{task}: 95 % interval"] = interval(cell["low"], cell["high"])
                    row[f"{task}: {RANGE}"] = interval(cell.get("range_low"), cell.get("range_high"))
                if len(fewer) and strictest:
                    row[f"{task}: r {without}"] = round(float(fewer.iloc[0]["r"]), 2)
            lacking = select(frame, anchor=anchor, self_point="with", left_out="")
            row[WHY_NO_R] = "; ".join(dict.fromkeys(lacking.loc[lacking["r"].isna(), "reason"]))
            rows.append(row)
        return _finish(rows, columns, is_simulated(frame))

    return build


def _self_preference(tables: Tables, condition: str) -> pd.DataFrame:
    frame = select(table(tables, "self_preference"), version="all", rate="fpr")
    tasks = column_values(frame, "task") or _single_tasks(tables)
    left_out = _left_out(frame)
    columns = ["judge", "other"]
    for task in tasks:
        columns += [f"{task}: {word}" for word in ("n own wrong", "n other's wrong", *left_out.values())]
        columns += [f"{task}: {word}" for word in ("ΔFPR (points)", "95 % interval (points)", "p (Holm)", SAYS)]
    rows = []
    for judge in column_values(frame, "judge"):
        for other in column_values(select(frame, judge=judge), "other"):
            row: dict[str, object] = {"judge": judge, "other": other}
            for task in tasks:
                found = select(frame, judge=judge, other=other, task=task)
                if len(found):
                    cell = found.iloc[0]
                    counts = {"n own wrong": int(cell["n_own"]), "n other's wrong": int(cell["n_other"])}
                    row |= {f"{task}: {word}": n for word, n in (counts | _counts(cell, left_out)).items()}
                    row[f"{task}: ΔFPR (points)"] = _points(cell["difference"])
                    row[f"{task}: 95 % interval (points)"] = interval(cell["low"], cell["high"], POINTS, 1)
                    row[f"{task}: p (Holm)"] = float(f"{cell['p_holm']:.2g}")
                    row[f"{task}: {SAYS}"] = _says(cell)
            rows.append(row)
    return _finish(rows, columns, is_simulated(frame))


PAPER_TABLES: dict[int, PaperTable] = {
    each.number: each
    for each in (
        PaperTable(2, "table02_static_majority", "Majority of the others against the self-judge", _static_majority),
        PaperTable(3, "table03_identity_labels", "Leniency under identity labels", _identity_labels),
        PaperTable(4, "table04_length", "Length of accepted and rejected wrong responses", _length),
        PaperTable(5, "table05_difficulty", "Self-preference gap by difficulty", _difficulty),
        PaperTable(
            6,
            "table06_task_accuracy_judge_accuracy",
            "Per examinee: r over judges of task accuracy and judge accuracy",
            _correlation(6),
        ),
        PaperTable(
            7,
            "table07_task_accuracy_bias",
            "Per examinee: r over judges of task accuracy and directional bias",
            _correlation(7),
        ),
        PaperTable(
            8,
            "table08_judge_accuracy_bias",
            "Per examinee: r over judges of judge accuracy and directional bias (partly algebraic)",
            _correlation(8),
        ),
        PaperTable(
            9,
            "table09_examinee_accuracy_bias_received",
            "Per judge: r over examinees of examinee accuracy and directional bias received",
            _correlation(9),
        ),
        PaperTable(10, "table10_self_preference", "Self-preference ΔFPR of each judge", _self_preference),
    )
}
