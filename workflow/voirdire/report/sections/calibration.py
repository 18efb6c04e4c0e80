"""What calibrated votes add, how accurate each examinee is by few labels, and whether no labels would do."""

from collections.abc import Mapping

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import Cell, Format, html_table, typographic
from voirdire.report.rows import POINTS, table
from voirdire.report.sections.section import Section, Tables
from voirdire.report.words import spoken
from voirdire.tables.rows import select

_NAMES = {
    "majority": "unweighted majority",
    "minority_veto": "one objection rejects",
    "best_single": "best single judge by the labels",
    "hybrid": "hybrid: all verdicts and the labels",
    "dawid_skene": "Dawid-Skene's posterior",
    "labels_alone": "the commoner label for all",
    "linear_oracle": "linear, true rates",
    "log_odds_oracle": "log-odds, true rates",
    "raw": "share that the panel accepts",
    "labels": "the labels alone",
    "poststratified": "labels within strata of the vote share",
    "ppi": "prediction-powered, by the vote share",
    "ppi_hybrid": "prediction-powered, by the hybrid",
    "rogan_gladen": "Rogan-Gladen, rates per examinee",
    "rogan_gladen_pooled": "Rogan-Gladen, one rate for all",
    "empirical_bayes": "empirical Bayes over examinees",
}


def _named(code: str) -> str:
    """A rule or a method in words.

    >>> _named("log_odds_dawid_skene"), _named("raw")
    ('log-odds, rates by Dawid-Skene', 'share that the panel accepts')
    """
    for weights in ("linear", "log_odds"):
        if code not in _NAMES and code.startswith(weights):
            return f"{spoken(weights)}, rates by {spoken(code.removeprefix(weights)[1:])}"
    return _NAMES.get(code, spoken(code))


def panel_rules(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "panel_rules",
        "What do calibrated votes add?",
        "Labels are truths drawn at random, all others hidden; every rule then votes on the responses without a label. "
        "Means over the draws, with their standard errors.",
    )
    rows = table(tables, "panel_rules")
    if rows.empty:
        section.absent.append(absent.get("panel_rules", "No judged response has a known truth to try the rules on."))
        return section
    columns = {"rule": lambda row: Cell(_named(row["rule"]), "text")}
    columns |= {
        "accuracy (%)": _with_error("accuracy"),
        "to the majority (points)": _with_error("difference_to_majority", plus="+"),
        "balanced accuracy (%)": _with_error("balanced_accuracy"),
        "share right, off by (points)": _with_error("prevalence_error"),
        "ECE (points)": _with_error("ece"),
    }
    shown = select(rows, task=_widest(rows))
    section.answers += _gains(shown)
    for n, of_labels in shown.groupby("n_labels", sort=True):
        ordered = of_labels.sort_values("accuracy", ascending=False, kind="stable")
        caption = "Without any label" if n == 0 else f"With {n:,} labels"
        section.tables.append(html_table(ordered, caption, columns, folded=n != shown["n_labels"].max()))
    return section


def _widest(rows: pd.DataFrame) -> str:
    """All tasks as one panel where there are several, else the only one."""
    tasks = list(rows["task"].unique())
    return "all" if "all" in tasks else str(tasks[0])


def _gains(rows: pd.DataFrame) -> list[str]:
    """What the hybrid gains over the majority, and what is best, for each number of labels."""
    said = []
    for n, some in rows.groupby("n_labels", sort=True):
        hybrid = select(some, rule="hybrid").dropna(subset=["difference_to_majority"])
        fair = some[~some["rule"].str.contains("oracle")].dropna(subset=["accuracy"])
        if hybrid.empty or fair.empty:
            continue
        gain = hybrid.iloc[0]["difference_to_majority"] * POINTS
        best = fair.sort_values("accuracy", kind="stable").iloc[-1]
        labels = "Without any label" if n == 0 else f"With {n:,} labels"
        behind = (best["accuracy"] - hybrid.iloc[0]["accuracy"]) * POINTS
        rest = "no rule does better" if behind < 0.05 else f"{behind:.1f} behind the best ({_named(best['rule'])})"
        said.append(typographic(f"{labels} the hybrid is {gain:+.1f} points from the unweighted majority, {rest}."))
    return said


def _with_error(column: str, plus: str = "") -> Format:
    """A mean in percentage points, ± its standard error."""

    def make(row: pd.Series) -> Cell:
        value, error = row[column], row[f"{column}_se"]
        if pd.isna(value):
            return Cell(cells.DASH, reason="this rule gives none")
        shown = f"{value * POINTS:{plus}.1f}" + ("" if pd.isna(error) else f" ± {error * POINTS:.1f}")
        return Cell(cells.signed(shown))

    return make


def accuracy(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "corrected_accuracy",
        "How accurate is each examinee, by few labels?",
        "The share that the panel accepts is too high where judges are lenient. Each method corrects it from the same "
        "few labels, drawn at random; the truth, known here, stands beside it.",
    )
    rows = table(tables, "corrected_accuracy")
    if rows.empty:
        section.absent.append(absent.get("corrected_accuracy", "No judged response has a known truth to draw from."))
        return section
    columns: dict[str, Format] = {"task": cells.text("task"), "examinee": cells.text("examinee")}
    columns |= {"method": _method, "responses": cells.count("n_responses"), "labels": cells.count("n_labels")}
    columns |= {"accuracy (%)": cells.number("estimate", "low", "high", 100, 1)}
    columns |= {"truth (%)": cells.number("truth", scale=100, decimals=1), "note": cells.sentence("note")}
    for task, caption in (("all", "Over all tasks"), (None, "Per task")):
        some = select(rows, task=task) if task else rows[rows["task"] != "all"]
        shown = some[some["recommended"].astype(bool) | (some["method"] == "raw")]
        section.tables.append(html_table(shown, f"{caption}: raw, and by the method to go by", columns, not task))
    section.tables.append(html_table(rows, "Every method, those that fail included", columns, folded=True))
    differences = table(tables, "examinee_differences")
    if len(differences):
        columns = {"task": cells.text("task"), "examinee": cells.text("examinee"), "other": cells.text("other")}
        columns |= {"difference (points)": cells.points("difference", "low", "high")}
        columns |= {"p (Holm)": cells.p_value("p_holm")}
        section.tables.append(html_table(differences, "Which examinees differ", columns, folded=True))
    return section


def _method(row: pd.Series) -> Cell:
    return Cell(_named(row["method"]), "strong" if row["recommended"] else "text")


def label_free(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "label_free",
        "Can estimates without labels be trusted?",
        "Judges that share a blind spot look like judges that agree on the truth: from verdicts alone a bad sign is "
        "evidence, and the lack of one is none.",
    )
    trust = table(tables, "label_free_trust")
    if trust.empty:
        section.absent.append(absent.get("label_free_trust", "There are too few judges or responses to look."))
        return section
    columns: dict[str, Format] = {"task": cells.text("task"), "with the labels": cells.text("verdict")}
    columns |= {"without any": cells.text("without_labels"), "why": cells.sentence("reason")}
    section.tables.append(html_table(trust, "Dawid-Skene's rates, which need no labels", columns, folded=False))
    shared = table(tables, "panel_diagnostics")
    if len(shared):
        section.tables.append(html_table(shared, "How far judges err together", _together(), folded=False))
    judges = table(tables, "judge_diagnostics")
    if len(judges):
        columns = {"task": cells.text("task"), "judge": cells.text("judge"), "by": cells.text("basis")}
        columns |= {"1 − FPR − FNR": cells.number("youden", "youden_low", "youden_high")}
        columns |= {"worse than chance": cells.text("worse_than_chance")}
        columns |= {"adds to the panel (points)": cells.points("adds", "adds_low", "adds_high")}
        columns |= {"adds nothing": cells.text("adds_nothing")}
        over_all = select(judges, task="all")
        caption = "What each judge adds to the panel"
        if len(over_all):
            section.tables.append(html_table(over_all, f"{caption}, over all tasks", columns, folded=False))
        per_task = judges[judges["task"] != "all"]
        section.tables.append(html_table(per_task, f"{caption}, per task", columns, folded=len(over_all) > 0))
    return section


def _together() -> dict[str, Format]:
    columns: dict[str, Format] = {
        "task": cells.text("task"),
        "by": cells.text("basis"),
        "judges": cells.count("n_judges"),
    }
    for side in ("wrong", "right"):
        columns[f"{side} responses"] = cells.count(f"n_{side}")
        rho = f"rho_{side}"
        columns[f"correlation among {side}"] = cells.number(rho, f"{rho}_low", f"{rho}_high")
        votes = f"effective_votes_{side}"
        columns[f"effective votes among {side}"] = cells.number(votes, f"{votes}_low", f"{votes}_high", decimals=1)
    return columns
