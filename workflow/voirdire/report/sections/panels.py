"""Whether a panel judges better than its members, at rest and while tasks drift."""

from collections.abc import Mapping

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import DASH, Cell, Format, html_table
from voirdire.report.figures import RULES
from voirdire.report.rows import table
from voirdire.report.sections.section import Section, Tables, left_out, stems
from voirdire.report.words import spoken
from voirdire.tables.rows import select


def ensembles(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ensembles",
        "Does a panel judge better than the model itself?",
        "The majority of the other judges against the self-judge, on the same responses. Differences are percentage "
        "points; accuracy is better when higher, leniency when lower.",
    )
    rows = select(table(tables, "ensembles"), metric=("accuracy", "fpr"))
    section.absent += [absent[stem] for stem in stems(2) if stem in absent]
    if rows.empty:
        section.absent.append(absent.get("ensembles", "No response had enough votes for a majority."))
        return section
    rows = rows.assign(metric=rows["metric"].map({"accuracy": "accuracy", "fpr": "leniency (FPR)"}))
    columns = {"task": cells.text("task"), "self-judge": cells.text("examinee"), "metric": cells.text("metric")}
    columns |= {"n": _rests_on, "majority": cells.number("majority", "majority_low", "majority_high")}
    columns |= {"itself": cells.number("self_judge", "self_judge_low", "self_judge_high")}
    columns |= {"difference (points)": cells.points("difference", "difference_low", "difference_high")}
    columns |= {"ties": cells.count("n_ties"), "abstained": cells.count("n_abstain")} | left_out(rows)
    section.tables.append(html_table(select(rows, task="all"), "Over all tasks", columns))
    section.tables.append(html_table(rows[rows["task"] != "all"], "Per task", columns, folded=True))
    return section


def _rests_on(row: pd.Series) -> Cell:
    """Leniency rests on the wrong responses alone."""
    return cells.count("n_wrong" if row["metric"] != "accuracy" else "n")(row)


def _unless_itself(show: Format, rule: str, estimator: str = "") -> Format:
    """A comparison with a rule; a dash in the rows of that rule, which differs from itself by nothing."""

    def make(row: pd.Series) -> Cell:
        own = "" if pd.isna(row["estimator"]) else row["estimator"]
        return Cell(DASH, reason="this row itself") if (row["rule"], own) == (rule, estimator) else show(row)

    return make


def drift(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "drift",
        "Do calibrated votes survive a drifting task mix?",
        "Verdicts are this study's, their order is simulated: the share of one task falls week by week as another's "
        "rises. Each judge's vote weighs by its estimated error rates; the oracle knows the true ones.",
    )
    weeks = select(table(tables, "drift"), week=0)
    if weeks.empty:
        section.absent.append(absent.get("drift", "The drift simulation did not run."))
        return section
    weeks = weeks.copy()
    weeks["how"] = [
        RULES.get(rule) or f"weighted, {spoken(estimator)}"
        for rule, estimator in zip(weeks["rule"], weeks["estimator"], strict=True)
    ]
    weeks["weighs"] = weeks["weights"].fillna("").map(spoken)
    columns = {"panel": cells.text("how"), "weights": cells.text("weighs"), "runs": cells.count("n_seeds")}
    columns |= {"accuracy (%)": cells.number("accuracy", "low", "high", 100, 1)}
    to_oracle = cells.points("difference_to_oracle", "difference_low", "difference_high")
    columns |= {"to the oracle (points)": _unless_itself(to_oracle, "wmv", "oracle")}
    for baseline in ("majority", "mean_single"):
        stem = f"difference_to_{baseline}"
        gain = cells.points(stem, f"{stem}_low", f"{stem}_high")
        columns[f"to the {RULES[baseline]} (points)"] = _unless_itself(gain, baseline)
    section.tables.append(html_table(weeks, "Accuracy over all weeks", columns, folded=False))
    errors = select(table(tables, "drift_rates"), week=0, judge="mean")
    if len(errors):
        errors = errors.assign(estimator=errors["estimator"].map(spoken))
        columns = {"estimator": cells.text("estimator"), "rate": cells.text("rate")}
        columns |= {"mean absolute error": cells.number("abs_error", "abs_error_low", "abs_error_high", decimals=3)}
        section.tables.append(html_table(errors, "Error of the estimated rates, over judges and weeks", columns))
    sweep = table(tables, "prior_sweep")
    if len(sweep):
        columns = {name.replace("_", " "): cells.number(name) for name in ("prior_fpr", "prior_fnr")}
        columns |= {
            "strength": cells.count("strength"),
            "accuracy (%)": cells.number("accuracy", "low", "high", 100, 1),
        }
        columns["to the majority (points)"] = cells.points("difference", "difference_low", "difference_high")
        section.tables.append(html_table(sweep, f"Sensitivity to the prior: {len(sweep)} priors", columns))
    else:
        section.absent.append(absent.get("prior_sweep", "The prior sweep did not run."))
    return section
