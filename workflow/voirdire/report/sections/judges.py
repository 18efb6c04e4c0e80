"""What became of every call, who is lenient with whom, and whether capability goes with it."""

from collections.abc import Mapping

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import Format, HtmlTable, html_table
from voirdire.report.rows import main_rates, table, why_no_bias
from voirdire.report.sections.section import Section, Tables, left_out, stems
from voirdire.tables import STATUSES
from voirdire.tables.rows import select


def ledger(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ledger",
        "What became of every call",
        "Only calls with status ok enter a rate. The others are never read as “incorrect”: they are counted here, "
        "and the sensitivity rows further down show what the rates would be if they were.",
    )
    calls = table(tables, "ledger")
    if calls.empty:
        section.absent.append(absent.get("ledger", "No call was recorded."))
        return section
    counts = [name for name in ("n", "not_judged", *STATUSES, "truth_missing") if name in calls.columns]
    for stage, who, caption in (
        ("generation", "examinee", "Answers, per task and examinee"),
        ("verdict", "judge", "Verdicts, per condition, task and judge"),
    ):
        rows = select(calls, stage=stage)
        if rows.empty:
            continue
        keys = ["task", who] if stage == "generation" else ["condition", "task", who]
        summed = rows.groupby(keys, sort=False, dropna=False)[counts].sum(min_count=1).reset_index()
        shown = [name for name in counts if name in ("n", "ok") or summed[name].fillna(0).any()]
        columns = {key: cells.text(key) for key in keys}
        columns |= {name.replace("_", " "): cells.count(name) for name in shown}
        clean = " (every call ok)" if summed["n"].sum() == summed["ok"].sum() else ""
        section.tables.append(html_table(summed, caption + clean, columns))
    ungraded = table(tables, "ungraded")
    if len(ungraded):
        columns = {"task": cells.text("task"), "question": cells.text("item_id"), "why": cells.sentence("reason")}
        counted = ungraded.groupby(["task", "item_id", "reason"], sort=False).size().reset_index(name="n")
        caption = "Questions with responses that could not be graded; their truth is unknown, and they enter no rate"
        section.tables.append(html_table(counted, caption, columns | {"responses": cells.count("n")}))
    return section


def leniency(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "leniency",
        "Who is lenient with whom",
        "Leniency (FPR) is the share of wrong responses that a judge accepts, strictness (FNR) the share of right ones "
        "that it rejects; directional bias is FPR − FNR. Shares, with 95\u00a0% intervals in brackets.",
    )
    rates = _read_both_ways(table(tables, "rates"), condition)
    rates = rates[rates["judge"] != "all"] if len(rates) else rates
    task, judge = {"task": cells.text("task")}, {"judge": cells.text("judge")}
    pooled = select(rates, task="all")
    if len(pooled):
        caption = "Judges over all tasks, tasks weighing equally; the least lenient first"
        section.tables.append(html_table(pooled.sort_values("bias", kind="stable"), caption, judge | _rates(pooled)))
    if len(rates):
        single = rates[rates["task"] != "all"]
        section.tables.append(html_table(single, "Judges per task", task | judge | _rates(single)))
        section.tables.append(_sensitivity(tables, condition))
        if why := why_no_bias(rates):
            unknown = [metric.upper() for metric in ("fpr", "fnr") if rates[metric].isna().all()]
            what = f"{unknown[0]} and bias have" if unknown else "Bias has"
            section.absent.append(f"{what} no value: {why}.")
    else:
        section.absent.append(absent.get("rates", "No verdict is ok, so there is no rate."))
    pairs = _read_both_ways(table(tables, "rates_by_examinee"), condition)
    if len(pairs):
        pairs = pairs[(pairs["judge"] != "all") & (pairs["examinee"] != "all")]
        whom = task | judge | {"examinee": cells.text("examinee")} | _rates(pairs)
        section.tables.append(html_table(pairs, "Every judge with every examinee", whom, folded=True))
    accuracy = table(tables, "task_accuracy")
    if len(accuracy):
        solved = task | {"examinee": cells.text("examinee"), "n": cells.count("n")}
        solved |= {"accuracy": cells.rate("accuracy"), "not ok": cells.count("n_not_ok")}
        solved["accuracy, not ok as wrong"] = cells.number("accuracy_counting_not_ok_wrong")
        section.tables.append(html_table(accuracy, "Examinees' own accuracy", solved))
    return section


def _rates(rows: pd.DataFrame) -> dict[str, Format]:
    """Columns of a table of rates: what they rest on, what they leave out, and the rates."""
    return {
        "n right": cells.count("n_right"),
        "n wrong": cells.count("n_wrong"),
        **left_out(rows),
        "accuracy": cells.rate("accuracy"),
        "leniency (FPR)": cells.rate("fpr"),
        "strictness (FNR)": cells.rate("fnr"),
        "bias (FPR − FNR)": cells.rate("bias"),
        **_if_read(rows),
    }


def _if_read(rows: pd.DataFrame) -> dict[str, Format]:
    """What both rates would be with all that is not ok read as correct, or as incorrect; only where there is such."""
    if "n_not_ok" not in rows or not rows["n_not_ok"].fillna(0).any():
        return {}
    ends = [[f"{rate}_{reading}" for reading in _OTHER_READINGS] for rate in ("fpr", "fnr")]
    names = ("FPR, not ok read either way", "FNR, not ok read either way")
    return {name: cells.between(*columns) for name, columns in zip(names, ends, strict=True)}


_OTHER_READINGS = ("not_ok_incorrect", "not_ok_correct")


def _read_both_ways(rates: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The main rates, each with its FPR and FNR in the other readings: columns fpr_READING and fnr_READING."""
    rows = main_rates(rates, condition)
    keys = ["task", "pooling", "judge", "examinee"]
    for reading in _OTHER_READINGS if len(rows) else ():
        others = select(rates, condition=condition, reading=reading)
        named = others[[*keys, "fpr", "fnr"]].rename(columns={rate: f"{rate}_{reading}" for rate in ("fpr", "fnr")})
        rows = rows.merge(named, on=keys, how="left")
    return rows


_READINGS = {
    "main": "left out (main)",
    "not_ok_correct": "read as correct",
    "not_ok_incorrect": "read as incorrect",
}


def _sensitivity(tables: Tables, condition: str) -> HtmlTable:
    rows = select(table(tables, "rates"), condition=condition, task="all", pooling=("none", "task_mean"))
    rows = rows[rows["judge"] != "all"].copy()
    rows["reading"] = rows["reading"].map(lambda reading: _READINGS.get(reading, reading))
    columns = {"judge": cells.text("judge"), "verdicts not ok": cells.text("reading"), **left_out(rows)}
    columns |= {"leniency (FPR)": cells.rate("fpr"), "strictness (FNR)": cells.rate("fnr")}
    caption = "Sensitivity: what verdicts that are not ok could change"
    return html_table(rows.sort_values("judge", kind="stable"), caption, columns, folded=True)


_CORRELATIONS = {
    6: "Table 6: per examinee, over judges: task accuracy and judge accuracy",
    7: "Table 7: per examinee, over judges: task accuracy and directional bias",
    8: "Table 8: per examinee, over judges: judge accuracy and directional bias (partly algebraic, as accuracy is made "
    "of FPR and FNR)",
    9: "Table 9: per judge, over examinees: examinee accuracy and directional bias received",
}


def correlations(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "correlations",
        "Does capability go with bias?",
        "Pearson's r over a handful of models: Fisher's interval says how far it would carry over to other models, the "
        "bootstrap interval how much it depends on the items.",
    )
    frame = select(table(tables, "correlations"), task="all", left_out="")
    # Several tables are often missing for the same reason.
    section.absent += dict.fromkeys(absent[stem] for stem in stems(*_CORRELATIONS) if stem in absent)
    for number, caption in _CORRELATIONS.items():
        rows = frame[frame["table"].astype(int) == number] if len(frame) else frame
        if rows.empty:
            continue
        if rows["r"].isna().all() and rows["reason"].astype(bool).all():
            # A table of dashes says less than why they are there.
            if not any(stem in absent for stem in stems(number)):
                section.absent.append(f"{caption.split(':')[0]}: {'; '.join(dict.fromkeys(rows['reason']))}.")
            continue
        columns = {str(rows["anchor_role"].iloc[0]): cells.text("anchor"), "self point": cells.text("self_point")}
        columns |= {"n": cells.count("n"), "r (Fisher)": cells.number("r", "low", "high")}
        columns |= {"r (items)": cells.number("r", "boot_low", "boot_high")}
        if "range_low" in rows.columns:
            columns |= {"without any one model": cells.between("range_low", "range_high")}
        columns |= {"p": cells.p_value("p")} | cells.says(rows, {"n": "models"}, "r")
        section.tables.append(html_table(rows, caption, columns, folded=True))
    if frame.empty and not section.absent:
        section.absent.append(absent.get("correlations", "Correlations need models that are examinees and judges."))
    return section
