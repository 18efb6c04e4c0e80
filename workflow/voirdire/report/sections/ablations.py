"""What else moves a judge: identity labels, length, difficulty, the prompt's wording, chance."""

from collections.abc import Mapping

import pandas as pd

from voirdire.bias.ablation_length import NEGLIGIBLE_D
from voirdire.report import cells
from voirdire.report.cells import Format, html_table
from voirdire.report.rows import table
from voirdire.report.sections.section import Section, Tables, left_out
from voirdire.tables.rows import select

_TASK, _JUDGE = {"task": cells.text("task")}, {"judge": cells.text("judge")}


def _changes(by: str, before: str, after: str) -> dict[str, Format]:
    """Columns of a table of paired changes."""
    columns = {by: cells.text(by)} | _TASK | _JUDGE | {"rate": cells.text("rate"), "n pairs": cells.count("n_pairs")}
    columns |= {before: cells.number(before), after: cells.number(after)}
    return columns | {
        "difference (points)": cells.points("difference", "low", "high"),
        "p (Holm)": cells.p_value("p_holm"),
    }


def _length() -> dict[str, Format]:
    columns = _TASK | _JUDGE | {"n accepted": cells.count("n_accepted"), "n rejected": cells.count("n_rejected")}
    columns["Cohen's d"] = cells.number("d", "low", "high", plus="+")
    columns |= {f"|d| < {NEGLIGIBLE_D}": cells.verdict("equivalent")}
    return columns | {
        "odds ratio per doubling of length": cells.odds_ratio("doubling", "doubling_low", "doubling_high")
    }


def _with_model(lengths: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """The lengths with the main model's coefficient of log length, which it has for all judges together."""
    found = select(models, term="log_length", method="conditional")
    names = {"estimate": "doubling", "low": "doubling_low", "high": "doubling_high", "reason": "why"}
    found = found.rename(columns=names).reindex(columns=["task", "judge", *names.values()])
    both = lengths.merge(found.drop_duplicates(["task", "judge"]), on=["task", "judge"], how="left")
    why = (
        both["why"]
        .astype(object)
        .fillna("")
        .where(both["judge"] == "all", "the model is one for all judges: see “all”")
    )
    return both.assign(reason=both["reason"].where(both["reason"] != "", why))


def _difficulty() -> dict[str, Format]:
    columns = _TASK | _JUDGE | {"difficulty": cells.text("bin"), "n items": cells.count("n_items")}
    columns |= {"n own wrong": cells.count("n_own"), "n others' wrong": cells.count("n_other")}
    return columns | {"gap (points)": cells.points("gap", "low", "high")}


def _curve() -> dict[str, Format]:
    columns = _TASK | _JUDGE | {"share of other models right": cells.number("share_right")}
    columns |= {"n own wrong": cells.count("n_own"), "n others' wrong": cells.count("n_other")}
    return columns | {"gap (points)": cells.points("gap", "low", "high"), "fit": cells.text("fit")}


def _order() -> dict[str, Format]:
    columns = {"template": cells.text("template")} | _TASK | {"by": cells.text("measure")}
    columns |= {"judges": cells.count("n_judges"), "tau": cells.number("tau", "low", "high")}
    columns |= {"by chance alone": cells.number("unmoved"), "its lower end": cells.number("unmoved_low")}
    columns |= {"pairs reversed": cells.count("n_reversed"), "which": cells.text("reversed")}
    return columns | {"errs least, main": cells.text("first_main"), "errs least, other": cells.text("first_other")}


def _trials() -> dict[str, Format]:
    columns = {"condition": cells.text("condition")} | _TASK | _JUDGE | {"responses": cells.text("responses")}
    columns |= {"n": cells.count("n_calls"), "left out": cells.count("n_left_out")}
    columns |= {
        "trials": cells.number("mean_trials", decimals=1),
        "agreement": cells.number("agreement", "low", "high"),
    }
    columns["all agree"] = cells.number("unanimous")
    return columns | {"kappa": cells.number("kappa", "kappa_low", "kappa_high")}


# What a row rests on, for what it says, and the unit.
_COUNTS = {
    "ablation_identity": ({"n_pairs": "pairs"}, "points"),
    "ablation_template": ({"n_pairs": "pairs"}, "points"),
    "ablation_length": ({"n_accepted": "accepted", "n_rejected": "rejected"}, "sd"),
    "ablation_difficulty": ({"n_own": "own wrong", "n_other": "others'"}, "points"),
}
# A judge failed the items of its own errors, but not all those of others'.
_ABILITY = "ability included, not yet preference"
_TABLES = {
    "ablation_identity": ("Identity labels against blind judging", _changes("label", "blind", "labelled")),
    "ablation_length": ("Length of accepted and rejected wrong responses", _length()),
    "ablation_difficulty": (f"Self-preference gap by difficulty, in the paper's bins: {_ABILITY}", _difficulty()),
    "difficulty_curve": (f"Self-preference gap as a smooth function of difficulty: {_ABILITY}", _curve()),
    "ablation_template": ("Judge templates against the main one", _changes("template", "main", "other")),
    "template_ranking": (
        "Order of the judges under another template: Kendall's tau, and what it would be if templates changed nothing",
        _order(),
    ),
    "trial_agreement": ("Agreement of a judge's trials of one call with each other", _trials()),
}
# There is nothing to say of them beyond what is said of another table.
_SAID_ELSEWHERE = ("template_ranking", "difficulty_curve")


def ablations(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ablations",
        "What else moves a judge: labels, length, difficulty, wording, chance",
        "Checks on what the leniency could come from. Differences are percentage points with 95\u00a0% intervals.",
    )
    for name, (caption, columns) in _TABLES.items():
        rows = table(tables, name)
        if len(rows) and name == "ablation_length":
            rows = _with_model(rows, table(tables, "leniency"))
        if len(rows):
            said = cells.says(rows, *_COUNTS[name]) if name in _COUNTS else {}
            section.tables.append(html_table(rows, caption, columns | left_out(rows) | said, folded=True))
        elif name not in _SAID_ELSEWHERE:
            section.absent.append(absent.get(name, f"{caption}: not in this study."))
    return section
