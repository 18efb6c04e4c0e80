"""The sections of the page: which tables and figures each shows, and what to say where there are none."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from voirdire.report import cells
from voirdire.report.cells import HtmlTable, html_table
from voirdire.report.figures import RULES
from voirdire.report.paper_tables import PAPER_TABLES
from voirdire.report.rows import main_rates, select, table
from voirdire.study.claims import PLANTED

Tables = Mapping[str, pd.DataFrame]
_STATUSES = ("ok", "unparsed", "refused", "truncated", "empty", "error")


@dataclass(frozen=True)
class FigureBlock:
    """An inlined figure: its SVG, a text for those who don't see it, how to read it, and its task if it is a detail."""

    svg: str
    alt: str
    how_to_read: str
    detail: str = ""


@dataclass
class Section:
    """A section of the page; `absent` has a sentence for everything that this study cannot show."""

    id: str
    title: str
    lead: str
    figures: list[FigureBlock] = field(default_factory=list)
    tables: list[HtmlTable] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


def build_sections(tables: Tables, condition: str, absent: Mapping[str, str]) -> list[Section]:
    """The analysis sections in their order, with tables and reasons; the page adds the figures."""
    return [build(tables, condition, absent) for build in _BUILDERS]


def _ledger(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ledger",
        "What became of every call",
        "Only calls with status ok enter a rate. The others are never read as “incorrect”: they are counted here, "
        "and the sensitivity rows further down show what the rates would be if they were.",
    )
    ledger = table(tables, "ledger")
    if ledger.empty:
        section.absent.append(absent.get("ledger", "No call was recorded."))
        return section
    counts = [name for name in ("n", "not_judged", *_STATUSES, "truth_missing") if name in ledger.columns]
    for stage, who, caption in (
        ("generation", "examinee", "Answers, per task and examinee"),
        ("verdict", "judge", "Verdicts, per condition, task and judge"),
    ):
        rows = select(ledger, stage=stage)
        if rows.empty:
            continue
        keys = ["task", who] if stage == "generation" else ["condition", "task", who]
        summed = rows.groupby(keys, sort=False, dropna=False)[counts].sum(min_count=1).reset_index()
        shown = [name for name in counts if name in ("n", "ok") or summed[name].fillna(0).any()]
        columns = {key: cells.text(key) for key in keys}
        columns |= {name.replace("_", " "): cells.count(name) for name in shown}
        clean = " (every call ok)" if summed["n"].sum() == summed["ok"].sum() else ""
        section.tables.append(html_table(summed, caption + clean, columns))
    return section


def _leniency(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "leniency",
        "Who is lenient with whom",
        "Leniency (FPR) is the share of wrong responses that a judge accepts, strictness (FNR) the share of right ones "
        "that it rejects; directional bias is FPR − FNR. Shares, with 95\u00a0% intervals in brackets.",
    )
    rates = main_rates(table(tables, "rates"), condition)
    rates = rates[rates["judge"] != "all"] if len(rates) else rates
    columns = {"n right": cells.count("n_right"), "n wrong": cells.count("n_wrong")}
    columns |= {
        "accuracy": cells.rate("accuracy"),
        "leniency (FPR)": cells.rate("fpr"),
        "strictness (FNR)": cells.rate("fnr"),
        "bias (FPR − FNR)": cells.rate("bias"),
    }
    judge = {"judge": cells.text("judge")}
    pooled = select(rates, task="all")
    if len(pooled):
        caption = "Judges over all tasks, tasks weighing equally; the least lenient first"
        section.tables.append(html_table(pooled.sort_values("bias", kind="stable"), caption, judge | columns))
    if len(rates):
        single = rates[rates["task"] != "all"]
        section.tables.append(html_table(single, "Judges per task", {"task": cells.text("task")} | judge | columns))
        section.tables.append(_sensitivity(tables, condition))
    else:
        section.absent.append(absent.get("rates", "No verdict is ok, so there is no rate."))
    pairs = main_rates(table(tables, "rates_by_examinee"), condition)
    if len(pairs):
        pairs = pairs[(pairs["judge"] != "all") & (pairs["examinee"] != "all")]
        whom = {"task": cells.text("task")} | judge | {"examinee": cells.text("examinee")}
        section.tables.append(html_table(pairs, "Every judge with every examinee", whom | columns, folded=True))
    accuracy = table(tables, "task_accuracy")
    if len(accuracy):
        solved = {"task": cells.text("task"), "examinee": cells.text("examinee"), "n": cells.count("n")}
        solved |= {"accuracy": cells.rate("accuracy"), "not ok": cells.count("n_not_ok")}
        solved["accuracy, not ok as wrong"] = cells.number("accuracy_counting_not_ok_wrong")
        section.tables.append(html_table(accuracy, "Examinees' own accuracy", solved))
    return section


_READINGS = {
    "main": "left out (main)",
    "not_ok_correct": "read as correct",
    "not_ok_incorrect": "read as incorrect",
}


def _sensitivity(tables: Tables, condition: str) -> HtmlTable:
    rows = select(table(tables, "rates"), condition=condition, task="all", pooling=("none", "task_mean"))
    rows = rows[rows["judge"] != "all"].copy()
    rows["reading"] = rows["reading"].map(lambda reading: _READINGS.get(reading, reading))
    columns = {"judge": cells.text("judge"), "verdicts not ok": cells.text("reading")}
    columns |= {"leniency (FPR)": cells.rate("fpr"), "strictness (FNR)": cells.rate("fnr")}
    caption = "Sensitivity: what verdicts that are not ok could change"
    return html_table(rows.sort_values("judge", kind="stable"), caption, columns, folded=True)


_CORRELATIONS = {
    6: "Table 6: per examinee, over judges: task accuracy and judge accuracy",
    7: "Table 7: per examinee, over judges: task accuracy and directional bias",
    8: "Table 8: per examinee, over judges: judge accuracy and directional bias",
    9: "Table 9: per judge, over examinees: examinee accuracy and directional bias received",
}


def _correlations(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "correlations",
        "Does capability go with bias?",
        "Pearson's r over a handful of models: Fisher's interval says how far it would carry over to other models, the "
        "bootstrap interval how much it depends on the items. Table 8 is partly algebraic, as accuracy is made of FPR "
        "and FNR.",
    )
    frame = select(table(tables, "correlations"), task="all", left_out="")
    section.absent += [absent[stem] for stem in _stems(*_CORRELATIONS) if stem in absent]
    for number, caption in _CORRELATIONS.items():
        rows = frame[frame["table"].astype(int) == number] if len(frame) else frame
        if rows.empty:
            continue
        columns = {str(rows["anchor_role"].iloc[0]): cells.text("anchor"), "self point": cells.text("self_point")}
        columns |= {"n": cells.count("n"), "r (Fisher)": cells.number("r", "low", "high")}
        columns |= {"r (items)": cells.number("r", "boot_low", "boot_high"), "p": cells.p_value("p")}
        section.tables.append(html_table(rows, caption, columns, folded=True))
    if frame.empty and not section.absent:
        section.absent.append(absent.get("correlations", "Correlations need models that are examinees and judges."))
    return section


def _stems(*numbers: int) -> list[str]:
    """Files of the paper's tables, by which some absences are named."""
    return [PAPER_TABLES[number].stem for number in numbers]


def _self_preference(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
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
    pairs |= {"n own": cells.count("n_own"), "n other": cells.count("n_other")}
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


def _ablations(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ablations",
        "What else moves a judge: labels, length, difficulty",
        "Three checks on what the leniency could come from. Differences are percentage points "
        "with 95\u00a0% intervals.",
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
    length |= {"Cohen's d": cells.number("d", "low", "high", plus="+"), "|d| < 0.2": cells.verdict("equivalent")}
    difficulty = {"task": cells.text("task")} | judge | {"difficulty": cells.text("bin")}
    difficulty |= {"n items": cells.count("n_items"), "gap (points)": cells.points("gap", "low", "high")}
    for name, caption, columns in (
        ("ablation_identity", "Identity labels against blind judging", identity),
        ("ablation_length", "Length of accepted and rejected wrong responses", length),
        ("ablation_difficulty", "Self-preference gap by difficulty", difficulty),
    ):
        rows = table(tables, name)
        if rows.empty:
            section.absent.append(absent.get(name, f"{caption}: not in this study."))
        else:
            section.tables.append(html_table(rows, caption, columns, folded=True))
    return section


def _ensembles(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "ensembles",
        "Does a panel judge better than the model itself?",
        "The majority of the other judges against the self-judge, on the same responses. Differences are percentage "
        "points; accuracy is better when higher, leniency when lower.",
    )
    rows = select(table(tables, "ensembles"), metric=("accuracy", "fpr"))
    section.absent += [absent[stem] for stem in _stems(2) if stem in absent]
    if rows.empty:
        section.absent.append(absent.get("ensembles", "No response had enough votes for a majority."))
        return section
    rows = rows.assign(metric=rows["metric"].map({"accuracy": "accuracy", "fpr": "leniency (FPR)"}))
    columns = {"task": cells.text("task"), "self-judge": cells.text("examinee"), "metric": cells.text("metric")}
    columns |= {"n": cells.count("n"), "majority": cells.number("majority", "majority_low", "majority_high")}
    columns |= {"itself": cells.number("self_judge", "self_judge_low", "self_judge_high")}
    columns |= {"difference (points)": cells.points("difference", "difference_low", "difference_high")}
    columns |= {"ties": cells.count("n_ties"), "abstained": cells.count("n_abstain")}
    section.tables.append(html_table(select(rows, task="all"), "Over all tasks", columns))
    section.tables.append(html_table(rows[rows["task"] != "all"], "Per task", columns, folded=True))
    return section


def _drift(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
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
        RULES.get(rule) or f"weighted, {estimator}"
        for rule, estimator in zip(weeks["rule"], weeks["estimator"], strict=True)
    ]
    columns = {"panel": cells.text("how"), "weights": cells.text("weights"), "runs": cells.count("n_seeds")}
    columns |= {"accuracy (%)": cells.number("accuracy", "low", "high", 100, 1)}
    columns |= {"to the oracle (points)": cells.points("difference_to_oracle", "difference_low", "difference_high")}
    section.tables.append(html_table(weeks, "Accuracy over all weeks", columns, folded=False))
    errors = select(table(tables, "drift_rates"), week=0, judge="mean")
    if len(errors):
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


def _claims(tables: Tables, condition: str, absent: Mapping[str, str]) -> Section:
    section = Section(
        "claims",
        "Against the paper",
        "Each numeric claim of the paper against this run. Sign: does the effect go the published way? Size: is it as "
        "large as published? Undecided means that the interval lies on both sides of the bound.",
    )
    claims = table(tables, "claims")
    if claims.empty:
        section.absent.append("The claims were not judged.")
        return section
    columns = {name: cells.text(name) for name in ("id", "claim", "published")}
    columns |= {"this run": cells.number("value", "low", "high", decimals=3, plus="+")}
    columns |= {"sign": cells.verdict("sign"), "size": cells.verdict("size"), "note": cells.text("note")}
    # Said once above the table instead of in every row.
    note = claims["note"].str.replace(PLANTED, "", regex=False).str.removesuffix("; ")
    if bool(claims["simulated"].any()):
        section.lead += f" Here {PLANTED}."
    shown = claims.assign(note=note, reason=note)
    section.tables.append(html_table(shown, "Claims; shares, correlations or Cohen's d", columns, folded=False))
    return section


_BUILDERS: Iterable[Callable[[Tables, str, Mapping[str, str]], Section]] = (
    _ledger,
    _leniency,
    _correlations,
    _self_preference,
    _ablations,
    _ensembles,
    _drift,
    _claims,
)
