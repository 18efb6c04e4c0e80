"""Whether judges prefer themselves, and what else moves them."""

from collections.abc import Mapping

import pandas as pd

from voirdire.bias.ablation_length import NEGLIGIBLE_D
from voirdire.report import cells
from voirdire.report.cells import HtmlTable, html_table
from voirdire.report.rows import table
from voirdire.report.sections.section import Section, Tables, left_out
from voirdire.tables.rows import select


def self_preference(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "self_preference",
        "Do judges prefer themselves?",
        "A judge that solved an item rejects wrong answers by ability alone, so a difference over all items is not yet "
        "preference. Only the matched version (items that both get wrong) and the adjusted one (minus what other "
        "judges show on the same responses) support that word. “Harmful” is the paper's: items that exactly "
        "one of the two gets wrong.",
    )
    rows = select(table(tables, "self_preference"), rate="fpr")
    if rows.empty:
        section.absent.append(
            absent.get("self_preference", "Self-preference needs a model that is examinee and judge.")
        )
        return section
    section.tables += _preference_by_judge(table(tables, "self_preference_summary"))
    pairs = {name: cells.text(name) for name in ("task", "judge", "other", "version")}
    pairs |= {"n own": cells.count("n_own"), "n other": cells.count("n_other")} | left_out(rows)
    pairs |= {
        "difference in FPR (points)": cells.points("difference", "low", "high"),
        "p (Holm)": cells.p_value("p_holm"),
    }
    section.tables.append(html_table(rows, "Every comparison", pairs, folded=True))
    return section


def _preference_by_judge(summary: pd.DataFrame) -> list[HtmlTable]:
    rows = select(summary, rate="fpr")
    if rows.empty:
        return []
    columns = {"judge": cells.text("judge"), "version": cells.text("version"), "others": cells.count("n_others")}
    columns |= {"difference in FPR (points)": cells.points("difference", "low", "high")}
    said = rows.drop_duplicates("judge")
    return [
        html_table(
            said, "Is it preference? Per judge, over tasks and other models", {"answer": cells.sentence("sentence")}
        ),
        html_table(rows, "Per judge and version, mean over the other models", columns, folded=True),
    ]


def ablations(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ablations",
        "What else moves a judge: labels, length, difficulty, wording, chance",
        "Checks on what the leniency could come from. Differences are percentage points with 95\u00a0% intervals.",
    )
    judge = {"judge": cells.text("judge")}
    identity = {"label": cells.text("label"), "task": cells.text("task")} | judge | {"rate": cells.text("rate")}
    identity |= {
        "n pairs": cells.count("n_pairs"),
        "blind": cells.number("blind"),
        "labelled": cells.number("labelled"),
    }
    identity |= {"difference (points)": cells.points("difference", "low", "high"), "p (Holm)": cells.p_value("p_holm")}
    length = {"task": cells.text("task")} | judge
    length |= {"n accepted": cells.count("n_accepted"), "n rejected": cells.count("n_rejected")}
    length |= {
        "Cohen's d": cells.number("d", "low", "high", plus="+"),
        f"|d| < {NEGLIGIBLE_D}": cells.verdict("equivalent"),
    }
    difficulty = {"task": cells.text("task")} | judge | {"difficulty": cells.text("bin")}
    difficulty |= {"n items": cells.count("n_items"), "n own wrong": cells.count("n_own")}
    difficulty |= {"n others' wrong": cells.count("n_other"), "gap (points)": cells.points("gap", "low", "high")}
    changed = {"template": cells.text("template"), "task": cells.text("task")} | judge | {"rate": cells.text("rate")}
    changed |= {"n pairs": cells.count("n_pairs"), "main": cells.number("main"), "other": cells.number("other")}
    changed |= {"difference (points)": cells.points("difference", "low", "high"), "p (Holm)": cells.p_value("p_holm")}
    order = {name: cells.text(name) for name in ("template", "task", "measure")} | {"judges": cells.count("n_judges")}
    order |= {"tau": cells.number("tau", "low", "high"), "tau by chance alone": cells.number("unmoved")}
    order |= {"its lower end": cells.number("unmoved_low"), "order moved": cells.verdict("moved")}
    order |= {"best under main": cells.text("first_main"), "best under other": cells.text("first_other")}
    again = {name: cells.text(name) for name in ("condition", "task", "judge", "responses")}
    again |= {"n": cells.count("n_calls"), "left out": cells.count("n_left_out"), "trials": cells.number("mean_trials")}
    again |= {"agreement": cells.number("agreement", "low", "high"), "all agree": cells.number("unanimous")}
    again |= {"kappa": cells.number("kappa", "kappa_low", "kappa_high")}
    for name, caption, columns in (
        ("ablation_identity", "Identity labels against blind judging", identity),
        ("ablation_length", "Length of accepted and rejected wrong responses", length),
        ("ablation_difficulty", "Self-preference gap by difficulty", difficulty),
        ("ablation_template", "Judge templates against the main one", changed),
        ("template_ranking", "Order of the judges under another template, Kendall's tau", order),
        ("trial_agreement", "Agreement of a judge's trials with each other", again),
    ):
        rows = table(tables, name)
        if rows.empty:
            section.absent += [absent.get(name, f"{caption}: not in this study.")] * (name != "template_ranking")
        else:
            section.tables.append(html_table(rows, caption, columns | left_out(rows), folded=True))
    return section
