"""The paper's thirteen claims, each held against this run.

`sign`: whether the effect goes the published way, its interval against 0. `size`: whether it is at least (or at most)
as large as published, the interval against the published number. `voirdire.study.judging_claims` says how. Where the
paper gives no number, `size` repeats `sign`; where a claim has no direction (C9's error, C12's equivalence), `sign`
repeats `size`. Tasks are pooled ("all" rows) unless the claim names one.

Claims that name models (C4, C5, C7, a part of C12) are judged only where models of those names took part; the tables of
self-preference, ensembles and length have the same quantities for a study's own models.

A claim with several quantities has several rows with the same id, told apart by `part`.
"""

from collections.abc import Callable, Iterator, Mapping
from math import atanh, nan, sqrt, tanh

import pandas as pd

from voirdire.bias.ablation_difficulty import BINS
from voirdire.bias.ablation_length import NEGLIGIBLE_D
from voirdire.bias.power import NOTHING, UNDECIDED, in_words
from voirdire.study.judging_claims import PLANTED, Beyond, Claim, Measured, Within, judge_many, judge_one, quantile
from voirdire.tables.rows import select

__all__ = ["COLUMNS", "PLANTED", "judge_claims"]

COLUMNS = ("id", "part", "claim", "published", "value", "low", "high", "bound", "sign", "size", "note", "simulated")
ORACLE_MARGIN = 0.005
FPR_ERROR = 0.04

Tables = Mapping[str, pd.DataFrame]


def judge_claims(tables: Tables, simulated: bool) -> pd.DataFrame:
    """Judge every claim of the paper against the tidy tables of a run.

    tables: frames by name: correlations, leniency_summary, self_preference, ensembles, drift, drift_rates, prior_sweep,
    ablation_identity, ablation_length, ablation_difficulty. A missing or empty one makes its claims `not in this
    study` (C3's note quotes leniency_summary, where there is one). simulated: whether personas stand in for models;
    every note then says that effects are planted.

    One row per claim and part, in the paper's order: id (C1..C13), part, claim, published, value, low, high, bound,
    sign, size, note, simulated. Values, limits and bounds are shares (0.05 is 5 points), correlations, or Cohen's d.
    No text starts with a sign that a spreadsheet takes for a formula's.
    """
    judged = [claim for judge in _CLAIMS for claim in judge(tables)]
    return pd.DataFrame([claim.row(simulated) for claim in judged], columns=list(COLUMNS))


_DIFFERENCE = ("difference", "difference_low", "difference_high")
_DIAGONAL = "needs models that are examinees and judges"
_NO_DRIFT = "needs the drift simulation: GSM8K and AIME with a panel of judges"


def _rows(tables: Tables, name: str, **wanted: object) -> pd.DataFrame:
    return select(tables.get(name), **wanted)


# What a table's effects are counted in, by the column of their value, and of what there may be too few.
_UNITS = {"r": "r", "d": "sd"}
_COUNTED = (
    ("{n_own:.0f} own and {n_other:.0f} other wrong responses", ("n_own", "n_other")),
    ("{n_accepted:.0f} accepted and {n_rejected:.0f} rejected wrong responses", ("n_accepted", "n_rejected")),
    ("{n_pairs:.0f} pairs of verdicts", ("n_pairs",)),
    ("{n:.0f} models", ("n",)),
)


def _measured(row: pd.Series, columns: tuple[str, str, str], name: str = "") -> Measured:
    value, low, high = (float(row[column]) for column in columns)
    says = str(row.get("says", ""))
    reach = ""
    if says in (NOTHING, UNDECIDED):
        counted = next((text.format(**row) for text, needed in _COUNTED if row.index.isin(needed).any()), "")
        reach = in_words(says, float(row["detectable"]), _UNITS.get(columns[0], "points"), counted)
    return Measured(name, value, low, high, says == NOTHING, reach.removeprefix(f"{UNDECIDED}: "))


def _each(rows: pd.DataFrame, columns: tuple[str, str, str], name: str) -> list[Measured]:
    """One per row, called by the column `name`."""
    return [_measured(row, columns, str(row[name])) for _, row in rows.iterrows()]


def _reason(claim: Claim, rows: pd.DataFrame, value: str) -> Claim:
    """Say why there is no value where a table gives the reason."""
    missing = rows[rows[value].isna()]
    reasons = missing["reason"].dropna().unique().tolist() if "reason" in missing.columns else []
    claim.notes += [reason for reason in reasons[:1] if reason]
    return claim


def _correlation_claims(tables: Tables) -> Iterator[Claim]:
    wordings = (
        ("C1", 6, "judges' accuracy rises with their own task accuracy", "r ≥ 0.90 on most examinees", 0.90, 1, True),
        ("C2", 7, "directional bias falls with the judge's task accuracy", "r ≤ −0.83", -0.83, -1, False),
        ("C3", 9, "stronger examinees receive more bias", "r ≥ 0.83 for every judge", 0.83, 1, False),
    )
    for id_, table, text, published, bound, direction, most in wordings:
        claim = Claim(id_, "", text, published, bound)
        rows = _rows(tables, "correlations", task="all", self_point="with", left_out="")
        rows = rows[rows["table"].astype(int) == table] if len(rows) else rows
        if rows.empty:
            yield claim.absent(_DIAGONAL)
            continue
        if rows["n"].max() < 3:
            yield claim.absent("needs 4 models")
            continue
        claim.notes.append(_reach_of_fisher(int(rows["n"].min()), bound))
        claim.notes += _without_one_model(rows)
        if id_ == "C3":
            summary = _rows(tables, "leniency_summary", task="all")
            claim.notes += [str(sentence).removesuffix(".") for sentence in summary.get("sentence", [])]
        who = str(rows["anchor_role"].iloc[0])
        yield _reason(
            judge_many(claim, _each(rows, ("r", "low", "high"), "anchor"), claim.tests(direction), who, most), rows, "r"
        )


def _reach_of_fisher(n: int, bound: float) -> str:
    """How strong r must be for its interval to lie beyond the bound."""
    if n <= 3:
        return f"Fisher's interval needs more than the {n} model{'s' * (n != 1)} of this run"
    least = tanh(atanh(abs(bound)) + quantile(1) / sqrt(n - 3))
    sign, relation = ("−", "≤") if bound < 0 else ("", "≥")
    return (
        f"Fisher's interval, which with {n} models lets r {relation} {sign}{abs(bound):.2f} hold only from about "
        f"{sign}{least:.2f} on"
    )


def _without_one_model(rows: pd.DataFrame) -> list[str]:
    if "range_low" not in rows or rows["range_low"].isna().all():
        return []
    return [f"with any one model left out r is {rows['range_low'].min():+.2f} to {rows['range_high'].max():+.2f}"]


def _called(column: pd.Series, *names: str) -> pd.Series:
    """Rows of a model, however its name is spelt: gpt_5, GPT-5 and gpt5 are one."""
    return column.astype(str).str.lower().str.replace(r"[^a-z0-9]", "", regex=True).isin(names)


_GPT5 = ("gpt5",)
_LLAMA = ("llama3370b", "llama3370binstruct")
_MAVERICK = ("llama4maverick", "maverick", "llama4maverick17b128e", "llama4maverick17b128einstruct")
_O4 = ("o4mini",)
_GPT41 = ("gpt41mini",)
_PAPER_ESTIMATORS = ("oracle", "bayesian", "stratified", "disagreement")


def _harmful_claims(tables: Tables) -> Iterator[Claim]:
    wordings = (
        ("C4", "mbpp", "MBPP", "Llama-3.3-70B", _LLAMA, "accepts 100 % of its own, 2.0 % of Llama's", 0.98),
        ("C5", "quality", "QuALITY", "Llama-4-Maverick", _MAVERICK, "accepts 85.0 % of its own, 3.1 %", 0.819),
    )
    for id_, task, title, other, others, published, bound in wordings:
        text = f"GPT-5 accepts its own errors more than {other}'s on {title}, where exactly one is wrong"
        claim = Claim(id_, "", text, published, bound)
        rows = _rows(tables, "self_preference", task=task, version="harmful", rate="fpr")
        if len(rows):
            rows = rows[_called(rows["judge"], *_GPT5) & _called(rows["other"], *others)]
        if rows.empty:
            yield claim.absent(f"needs GPT-5 and {other} as examinees and judges on {title}")
            continue
        row = rows.iloc[0]
        claim.notes.append(f"difference of FPRs, {int(row['n_own'])} own and {int(row['n_other'])} other errors")
        yield _reason(
            judge_one(claim, _measured(row, ("difference", "low", "high")), claim.tests(1)), rows, "difference"
        )


def _ensemble_claims(tables: Tables) -> Iterator[Claim]:
    for part, metric, comparison, published, bound, direction in (
        ("accuracy", "accuracy", "more accurate", "5 to 14 points more", 0.05, 1),
        ("leniency", "fpr", "less lenient", "15 to 22 points less", -0.15, -1),
    ):
        claim = Claim("C6", part, f"the others' majority is {comparison} than the self-judge", published, bound)
        of_metric = _rows(tables, "ensembles", metric=metric)
        rows = select(of_metric, task="all")
        rows = rows[rows["examinee"] != "all"].dropna(subset=["difference"]) if len(rows) else rows
        if rows.empty:
            yield claim.absent(_DIAGONAL)
            continue
        tasks = [task for task in of_metric["task"].unique() if task != "all"]
        if tasks:
            claim.notes.append(f"mean over {', '.join(tasks)}; the paper's table covers three tasks")
        yield judge_many(claim, _each(rows, _DIFFERENCE, "examinee"), claim.tests(direction), "self-judge", most=True)
    text = "o4-mini on GSM8K judges itself better than the others' majority"
    claim = Claim("C7", "", text, "94.4 % against 97.2 %", -0.028)
    rows = _rows(tables, "ensembles", task="gsm8k", metric="accuracy")
    rows = rows[_called(rows["examinee"], *_O4)] if len(rows) else rows
    if rows.empty:
        yield claim.absent("needs o4-mini as examinee and judge on GSM8K")
    else:
        yield judge_one(claim, _measured(rows.iloc[0], _DIFFERENCE), claim.tests(-1))


def _drift_claims(tables: Tables) -> Iterator[Claim]:
    # The paper's own estimators: its claims say nothing of those that came after it.
    weighted = _rows(tables, "drift", week=0, rule="wmv", weights="linear", estimator=_PAPER_ESTIMATORS)
    yield _near_oracle(weighted)
    yield _rate_error(tables)
    yield _beats_baselines(weighted)
    yield _any_prior(tables)


def _near_oracle(weighted: pd.DataFrame) -> Claim:
    text = "votes weighted by disagreement stay near the oracle's accuracy, above the unweighted majority's"
    claim = Claim("C8", "", text, "within 0.5 points on average", ORACLE_MARGIN)
    near = select(weighted, estimator="disagreement")
    if near.empty:
        return claim.absent(_NO_DRIFT)
    to_oracle = ("difference_to_oracle", "difference_low", "difference_high")
    judge_one(claim, _measured(near.iloc[0], to_oracle), {"size": Within(ORACLE_MARGIN)})
    gain = _measured(near.iloc[0], _gain_over("majority"))
    claim.sign = Beyond(0, 1, strict=True).verdict(gain)
    claim.notes.append(f"value: difference to the oracle; sign: gain over the unweighted majority, {gain}")
    return claim


def _gain_over(baseline: str) -> tuple[str, str, str]:
    """Columns of the paired difference in accuracy to a baseline, on the same responses and votes."""
    stem = f"difference_to_{baseline}"
    return stem, f"{stem}_low", f"{stem}_high"


def _rate_error(tables: Tables) -> Claim:
    text = "disagreement's estimates of the judges' FPR are close: mean absolute error over judges and weeks"
    claim = Claim("C9", "FPR error", text, "below 0.04", FPR_ERROR)
    rows = _rows(tables, "drift_rates", week=0, estimator="disagreement", judge="mean", rate="fpr")
    if rows.empty:
        return claim.absent(_NO_DRIFT)
    claim.notes.append("no direction: sign repeats size")
    error = _measured(rows.iloc[0], ("abs_error", "abs_error_low", "abs_error_high"))
    return judge_one(claim, error, {"size": Beyond(FPR_ERROR, -1, strict=True)})


def _beats_baselines(weighted: pd.DataFrame) -> Claim:
    text = "every weighted vote beats the mean single judge and the unweighted majority"
    claim = Claim("C9", "every weighted vote", text, "all of them")
    if weighted.empty:
        return claim.absent(_NO_DRIFT)
    gains = [
        _measured(row, _gain_over(baseline), f"{row['estimator']} over the {baseline.replace('_', ' ')}")
        for _, row in weighted.iterrows()
        for baseline in ("majority", "mean_single")
    ]
    claim.notes.append("gains in accuracy; no size published")
    return judge_many(claim, gains, claim.tests(1), "gain")


def _any_prior(tables: Tables) -> Claim:
    text = "votes weighted by Bayesian estimates beat the unweighted majority whatever the prior"
    claim = Claim("C10", "", text, "90.8-95.0 % over 80 priors against 87.0 %", 0.038)
    sweep = _rows(tables, "prior_sweep")
    if sweep.empty:
        return claim.absent("needs the prior sweep over the drift simulation")
    claim.notes.append(
        f"accuracy {100 * sweep['accuracy'].min():.1f} to {100 * sweep['accuracy'].max():.1f} % against "
        f"{100 * sweep['majority'].mean():.1f} %"
    )
    gains = [
        _measured(row, _DIFFERENCE, f"FPR {row['prior_fpr']:g} FNR {row['prior_fnr']:g} strength {row['strength']:g}")
        for _, row in sweep.iterrows()
    ]
    return judge_many(claim, gains, claim.tests(1), "prior")


def _identity_claims(tables: Tables) -> Iterator[Claim]:
    for label, text in (("elite", "labelled as an elite model's"), ("author", "labelled with their true author")):
        claim = Claim("C11", label, f"responses {text} are judged less leniently than blind", "lower FPR")
        rows = _rows(tables, "ablation_identity", label=label, rate="fpr", judge="all", task="all")
        if rows.empty:
            yield claim.absent(f"needs the {label} condition beside the blind one")
            continue
        # Several labelled examinees have a row over all of them besides their own.
        row = rows.sort_values("examinee", key=lambda examinee: examinee != "all", kind="stable").iloc[0]
        claim.notes.append(f"over all judges, {int(row['n_pairs'])} pairs of verdicts; no size published")
        yield judge_one(claim, _measured(row, ("difference", "low", "high")), claim.tests(-1))


def _length_claims(tables: Tables) -> Iterator[Claim]:
    columns = ("d", "low", "high")
    for task, title in (("gsm8k", "GSM8K"), ("mbpp", "MBPP"), ("quality", "QuALITY")):
        text = f"length does not decide on {title}: accepted and rejected wrong responses are equally long"
        claim = Claim("C12", task, text, "no confound", NEGLIGIBLE_D)
        rows = _rows(tables, "ablation_length", task=task)
        rows = rows[rows["judge"] != "all"] if len(rows) else rows
        if rows.empty:
            yield claim.absent(f"needs {title}")
            continue
        if rows["d"].isna().all():
            yield claim.absent(f"no judge both accepted and rejected wrong responses on {title}")
            continue
        claim.notes.append(f"|d| < {NEGLIGIBLE_D} for every judge; sign repeats size")
        equivalent = {"size": Within(NEGLIGIBLE_D)}
        yield _reason(judge_many(claim, _each(rows, columns, "judge"), equivalent, "judge"), rows, "d")
    text = "GPT-4.1-mini accepts longer wrong responses on AIME"
    claim = Claim("C12", "aime", text, "d = +1.01", 1.01)
    rows = _rows(tables, "ablation_length", task="aime")
    rows = rows[_called(rows["judge"], *_GPT41)] if len(rows) else rows
    if rows.empty:
        yield claim.absent("needs GPT-4.1-mini as judge on AIME")
    else:
        yield judge_one(claim, _measured(rows.iloc[0], columns), claim.tests(1))


def _difficulty_claims(tables: Tables) -> Iterator[Claim]:
    for task, title, published, bound, bins in (
        ("gsm8k", "GSM8K", "16.9 (hard) to 31.3 (easy) points more", 0.169, BINS),
        ("quality", "QuALITY", "10.5 to 19.4 points more", 0.105, BINS),
        ("aime", "AIME", "36.2 points more (medium)", 0.362, ("medium",)),
        ("mbpp", "MBPP", "12 to 19 points more", 0.12, BINS),
    ):
        where = "items of every difficulty" if bins == BINS else f"{' and '.join(bins)} items"
        claim = Claim("C13", task, f"judges favour their own errors on {title}, on {where}", published, bound)
        rows = _rows(tables, "ablation_difficulty", task=task, judge="all")
        if rows.empty:
            yield claim.absent(f"needs models that are examinees and judges on {title}")
            continue
        claim.notes.append("the gap includes that a judge failed on its own errors: ability, not yet preference")
        found = {gap.name: gap for gap in _each(rows, ("gap", "low", "high"), "bin")}
        # A bin without a row is missing as much as one without a value.
        gaps = [found.get(name, Measured(name, nan, nan, nan)) for name in bins]
        of_bins = select(rows, bin=bins)
        yield _reason(judge_many(claim, gaps, claim.tests(1), "bin"), of_bins, "gap")


_CLAIMS: tuple[Callable[[Tables], Iterator[Claim]], ...] = (
    _correlation_claims,
    _harmful_claims,
    _ensemble_claims,
    _drift_claims,
    _identity_claims,
    _length_claims,
    _difficulty_claims,
)
