"""The paper's thirteen claims, each held against this run.

How a claim is judged
---------------------
`sign`
    Whether the effect goes the published way: its interval against 0.
`size`
    Whether it is at least (or at most) as large as published: the interval against the published number.

Both are `holds` or `fails` where the interval lies on one side of the bound, `undecided` where it straddles it or has
no limits, and `not in this study` where models, tasks or tables are missing (`note` says which). Where the paper gives
no number, `size` repeats `sign`; where a claim has no direction (C9's error, C12's equivalence), `sign` repeats `size`.

Claims about several models
---------------------------
"Every" is judged by the value that every one of them reaches: the worst value, the worst lower and upper limit.
"Most" by the value that a strict majority of them reaches, and the limits that a strict majority reaches. Such limits
contain the value and are conservative. Tasks are pooled ("all" rows) unless the claim names one.

Claims that name models (C4, C5, C7, a part of C12) are judged only where models of those names took part; the tables of
self-preference, ensembles and length have the same quantities for a study's own models.

A claim with several quantities has several rows with the same id, told apart by `part`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import isnan, nan

import numpy as np
import pandas as pd

HOLDS, FAILS, UNDECIDED, ABSENT = "holds", "fails", "undecided", "not in this study"
COLUMNS = ("id", "part", "claim", "published", "value", "low", "high", "bound", "sign", "size", "note", "simulated")
PLANTED = "the panel is simulated: its effects are planted, so this tests the workflow and not the paper"
EQUIVALENT_D = 0.2
ORACLE_MARGIN = 0.005

Tables = Mapping[str, pd.DataFrame]


@dataclass
class _Judged:
    """A claim's row; `bound` is the published number in the value's own unit."""

    id: str
    part: str
    claim: str
    published: str
    bound: float = nan
    value: float = nan
    low: float = nan
    high: float = nan
    sign: str = ABSENT
    size: str = ABSENT
    notes: list[str] = field(default_factory=list)

    def row(self, simulated: bool) -> dict[str, object]:
        fields = asdict(self)
        notes = [*fields.pop("notes"), *([PLANTED] if simulated else [])]
        return {**fields, "note": "; ".join(notes), "simulated": simulated}


def judge_claims(tables: Tables, simulated: bool) -> pd.DataFrame:
    """Judge every claim of the paper against the tidy tables of a run.

    Args:
        tables: frames by name: correlations, self_preference, ensembles, drift, drift_rates, prior_sweep,
            ablation_identity, ablation_length, ablation_difficulty. A missing or empty one makes its claims
            `not in this study`.
        simulated: whether simulated personas stand in for models; every note then says that effects are planted.

    Returns:
        One row per claim and part, in the paper's order: id (C1..C13), part, claim, published, value, low, high, bound,
        sign, size, note, simulated. Values, limits and bounds are shares (0.05 is 5 points), correlations, or
        Cohen's d.
    """
    judged = [claim for judge in _CLAIMS for claim in judge(tables)]
    return pd.DataFrame([claim.row(simulated) for claim in judged], columns=list(COLUMNS))


def _rows(tables: Tables, name: str, **wanted: object) -> pd.DataFrame:
    frame = tables.get(name)
    if frame is None or frame.empty:
        return pd.DataFrame()
    keep = pd.Series(True, index=frame.index)
    for column, value in wanted.items():
        keep &= frame[column] == value
    return frame[keep]


def _against(low: float, high: float, bound: float, direction: int, strict: bool = False) -> str:
    """Whether the effect is beyond the bound, upwards (direction 1) or downwards (-1)."""
    if isnan(low) or isnan(high) or isnan(bound):
        return UNDECIDED
    if direction < 0:
        low, high, bound = -high, -low, -bound
    if low > bound or (low == bound and not strict):
        return HOLDS
    return FAILS if high < bound or (high == bound and strict) else UNDECIDED


def _within(low: float, high: float, margin: float) -> str:
    """Equivalence: whether the interval lies within ± margin, or wholly outside."""
    if isnan(low) or isnan(high):
        return UNDECIDED
    if -margin < low and high < margin:
        return HOLDS
    return FAILS if low >= margin or high <= -margin else UNDECIDED


def _limits(row: pd.Series, columns: tuple[str, str, str]) -> tuple[float, float, float]:
    """A row's value and the limits of its interval."""
    value, low, high = (float(row[column]) for column in columns)
    return value, low, high


def _measure(claim: _Judged, value: float, low: float, high: float, direction: int) -> _Judged:
    """Fill in what was measured, and judge sign and size of an effect with a direction."""
    claim.value, claim.low, claim.high = float(value), float(low), float(high)
    claim.sign = _against(claim.low, claim.high, 0, direction, strict=True)
    claim.size = claim.sign if isnan(claim.bound) else _against(claim.low, claim.high, claim.bound, direction)
    if isnan(claim.low) or isnan(claim.high):
        claim.notes.append("this run gives no interval for it, so it stays undecided")
    return claim


def _reached_by(values: Iterable[float], direction: int, most: bool) -> float:
    """What every one of the values reaches, or with `most` what a strict majority of them reaches."""
    ranked = np.sort(direction * np.asarray(list(values), float))[::-1]
    place = len(ranked) // 2 if most else len(ranked) - 1
    return float(direction * ranked[place])


def _over_models(
    claim: _Judged, rows: pd.DataFrame, columns: tuple[str, str, str], direction: int, most: bool, who: str
) -> _Judged:
    """Judge a claim about most or every of the rows' models; rows without a value are left out and counted."""
    measured = rows.dropna(subset=[columns[0]])
    if measured.empty:
        claim.sign = claim.size = UNDECIDED
        reasons = rows["reason"].dropna().unique().tolist() if "reason" in rows.columns else []
        claim.notes.append(f"no value for any {who}: {reasons[0] if reasons else 'too few responses'}")
        return claim
    value = _reached_by(measured[columns[0]], direction, most)
    # A limit that is missing for one model could be any number, so the limit of all is missing too.
    low, high = (
        nan if measured[column].isna().any() else _reached_by(measured[column], direction, most)
        for column in columns[1:]
    )
    of = f"{'most' if most else 'every one'} of {len(measured)} {who}s"
    left_out = f", {len(rows) - len(measured)} without a value left out" if len(measured) < len(rows) else ""
    if len(rows) > 1:
        claim.notes.append(f"the value is what {of} reach{'' if most else 'es'}{left_out}")
    return _measure(claim, value, low, high, direction)


def _absent(claim: _Judged, reason: str) -> _Judged:
    claim.notes.append(reason)
    return claim


_DIAGONAL = "needs models that are examinees and judges"


def _correlation_claims(tables: Tables) -> Iterator[_Judged]:
    wordings = (
        ("C1", 6, "judges' accuracy rises with their own task accuracy", "r ≥ 0.90 on most examinees", 0.90, 1, True),
        ("C2", 7, "directional bias falls with the judge's task accuracy", "r ≤ −0.83", -0.83, -1, False),
        ("C3", 9, "stronger examinees receive more bias", "r ≥ 0.83 for every judge", 0.83, 1, False),
    )
    for id_, table, text, published, bound, direction, most in wordings:
        claim = _Judged(id_, "", text, published, bound)
        rows = _rows(tables, "correlations", task="all", self_point="with", left_out="")
        rows = rows[rows["table"].astype(int) == table] if len(rows) else rows
        if rows.empty:
            yield _absent(claim, _DIAGONAL)
            continue
        claim.notes.append(f"Fisher's interval, r over {int(rows['n'].min())} models")
        yield _over_models(claim, rows, ("r", "low", "high"), direction, most, str(rows["anchor_role"].iloc[0]))


def _called(column: pd.Series, *names: str) -> pd.Series:
    """Rows of a model, however its name is spelt: gpt_5, GPT-5 and gpt5 are one."""
    return column.astype(str).str.lower().str.replace(r"[^a-z0-9]", "", regex=True).isin(names)


_GPT5 = ("gpt5",)
_LLAMA = ("llama3370b", "llama3370binstruct")
_MAVERICK = ("llama4maverick", "maverick", "llama4maverick17b128e", "llama4maverick17b128einstruct")
_O4 = ("o4mini",)
_GPT41 = ("gpt41mini",)


def _harmful_claims(tables: Tables) -> Iterator[_Judged]:
    wordings = (
        ("C4", "mbpp", "MBPP", "Llama-3.3-70B", _LLAMA, "accepts 100 % of its own, 2.0 % of Llama's", 0.98),
        ("C5", "quality", "QuALITY", "Llama-4-Maverick", _MAVERICK, "accepts 85.0 % of its own, 3.1 %", 0.819),
    )
    for id_, task, title, other, others, published, bound in wordings:
        text = f"GPT-5 accepts its own errors more than {other}'s on {title}, where exactly one is wrong"
        claim = _Judged(id_, "", text, published, bound)
        rows = _rows(tables, "self_preference", task=task, version="harmful", rate="fpr")
        if len(rows):
            rows = rows[_called(rows["judge"], *_GPT5) & _called(rows["other"], *others)]
        if rows.empty:
            yield _absent(claim, f"needs GPT-5 and {other} as examinees and judges on {title}")
            continue
        row = rows.iloc[0]
        claim.notes.append(f"difference of FPRs, {int(row['n_own'])} own and {int(row['n_other'])} other errors")
        yield _measure(claim, row["difference"], row["low"], row["high"], 1)


def _ensemble_claims(tables: Tables) -> Iterator[_Judged]:
    columns = ("difference", "difference_low", "difference_high")
    for part, metric, text, published, bound, direction in (
        (
            "accuracy",
            "accuracy",
            "the others' majority is more accurate than the self-judge",
            "+5 to +14 points",
            0.05,
            1,
        ),
        ("leniency", "fpr", "the others' majority is less lenient than the self-judge", "−15 to −22 points", -0.15, -1),
    ):
        claim = _Judged("C6", part, text, published, bound)
        rows = _rows(tables, "ensembles", task="all", metric=metric)
        rows = rows[rows["examinee"] != "all"].dropna(subset=["difference"]) if len(rows) else rows
        yield (
            _over_models(claim, rows, columns, direction, True, "self-judge")
            if len(rows)
            else _absent(claim, _DIAGONAL)
        )
    text = "o4-mini on GSM8K judges itself better than the others' majority"
    claim = _Judged("C7", "", text, "94.4 % against 97.2 %", -0.028)
    rows = _rows(tables, "ensembles", task="gsm8k", metric="accuracy")
    rows = rows[_called(rows["examinee"], *_O4)] if len(rows) else rows
    if rows.empty:
        yield _absent(claim, "needs o4-mini as examinee and judge on GSM8K")
    else:
        yield _measure(claim, *_limits(rows.iloc[0], columns), -1)


def _drift_claims(tables: Tables) -> Iterator[_Judged]:
    weeks = _rows(tables, "drift", week=0)
    yield _near_oracle(weeks)
    yield _rate_error(tables)
    yield _beats_baselines(weeks)
    yield _any_prior(tables)


_NO_DRIFT = "needs the drift simulation: GSM8K and AIME with a panel of judges"


def _near_oracle(weeks: pd.DataFrame) -> _Judged:
    text = "votes weighted by disagreement stay near the oracle's accuracy, above the unweighted majority's"
    claim = _Judged("C8", "", text, "within 0.5 points on average", ORACLE_MARGIN)
    near = _weighted(weeks, "disagreement")
    if near.empty:
        return _absent(claim, _NO_DRIFT)
    claim.value, claim.low, claim.high = _limits(near.iloc[0], _TO_ORACLE)
    claim.size = _within(claim.low, claim.high, ORACLE_MARGIN)
    gain = _gain(near.iloc[0], weeks, "majority")
    claim.sign = _against(gain[1], gain[2], 0, 1, strict=True)
    claim.notes.append(
        f"value: difference to the oracle; sign: gain over the unweighted majority, {gain[0]:+.3f} "
        f"({gain[1]:+.3f} to {gain[2]:+.3f})"
    )
    return claim


_TO_ORACLE = ("difference_to_oracle", "difference_low", "difference_high")


def _weighted(weeks: pd.DataFrame, estimator: str) -> pd.DataFrame:
    if weeks.empty:
        return weeks
    return weeks[(weeks["rule"] == "wmv") & (weeks["estimator"] == estimator) & (weeks["weights"] == "linear")]


def _gain(row: pd.Series, weeks: pd.DataFrame, baseline: str) -> tuple[float, float, float]:
    """Gain in accuracy over a baseline. Both are measured against the oracle on the same responses, and the farthest
    ends of the two intervals bound their difference: conservative, for the two are not independent."""
    against = weeks[weeks["rule"] == baseline]
    if against.empty:
        return nan, nan, nan
    value, low, high = _limits(row, _TO_ORACLE)
    other, other_low, other_high = _limits(against.iloc[0], _TO_ORACLE)
    return value - other, low - other_high, high - other_low


def _rate_error(tables: Tables) -> _Judged:
    text = "disagreement's estimates of the judges' FPR are close: mean absolute error over judges and weeks"
    claim = _Judged("C9", "FPR error", text, "below 0.04", 0.04)
    rows = _rows(tables, "drift_rates", week=0, estimator="disagreement", judge="mean", rate="fpr")
    if rows.empty:
        return _absent(claim, _NO_DRIFT)
    row = rows.iloc[0]
    claim.value = float(row["abs_error"])
    claim.low, claim.high = float(row.get("abs_error_low", nan)), float(row.get("abs_error_high", nan))
    claim.size = claim.sign = _against(claim.low, claim.high, 0.04, -1, strict=True)
    claim.notes.append("no direction: sign repeats size")
    if isnan(claim.low):
        claim.notes.append("this run gives no interval for it, so it stays undecided")
    return claim


def _beats_baselines(weeks: pd.DataFrame) -> _Judged:
    text = "every weighted vote beats the mean single judge and the unweighted majority"
    claim = _Judged("C9", "every weighted vote", text, "all of them")
    weighted = weeks[(weeks["rule"] == "wmv") & (weeks["weights"] == "linear")] if len(weeks) else weeks
    if weighted.empty:
        return _absent(claim, _NO_DRIFT)
    gains = [_gain(row, weeks, rule) for _, row in weighted.iterrows() for rule in ("majority", "mean_single")]
    claim.notes.append(f"the smallest of {len(gains)} gains in accuracy; no size published")
    value, low, high = (min(ends) for ends in zip(*gains, strict=True))
    return _measure(claim, value, low, high, 1)


def _any_prior(tables: Tables) -> _Judged:
    text = "votes weighted by Bayesian estimates beat the unweighted majority whatever the prior"
    claim = _Judged("C10", "", text, "90.8-95.0 % over 80 priors against 87.0 %", 0.038)
    sweep = _rows(tables, "prior_sweep")
    if sweep.empty:
        return _absent(claim, "needs the prior sweep over the drift simulation")
    claim.notes.append(
        f"the smallest gain of {len(sweep)} priors; accuracy {sweep['accuracy'].min():.1%} to "
        f"{sweep['accuracy'].max():.1%} against {sweep['majority'].mean():.1%}"
    )
    columns = ("difference", "difference_low", "difference_high")
    value, low, high = (float(sweep[column].min(skipna=False)) for column in columns)
    return _measure(claim, value, low, high, 1)


def _identity_claims(tables: Tables) -> Iterator[_Judged]:
    for label, text in (("elite", "labelled as an elite model's"), ("author", "labelled with their true author")):
        claim = _Judged("C11", label, f"responses {text} are judged less leniently than blind", "lower FPR")
        rows = _rows(tables, "ablation_identity", label=label, rate="fpr", judge="all", task="all")
        if rows.empty:
            yield _absent(claim, f"needs the {label} condition beside the blind one")
            continue
        # Several labelled examinees have a row over all of them besides their own.
        row = rows.sort_values("examinee", key=lambda examinee: examinee != "all", kind="stable").iloc[0]
        claim.notes.append(f"over all judges, {int(row['n_pairs'])} pairs of verdicts; no size published")
        yield _measure(claim, row["difference"], row["low"], row["high"], -1)


def _length_claims(tables: Tables) -> Iterator[_Judged]:
    for task, title in (("gsm8k", "GSM8K"), ("mbpp", "MBPP"), ("quality", "QuALITY")):
        text = f"length does not decide on {title}: accepted and rejected wrong responses are equally long"
        claim = _Judged("C12", task, text, "no confound", EQUIVALENT_D)
        rows = _rows(tables, "ablation_length", task=task)
        rows = rows[rows["judge"] != "all"].dropna(subset=["d"]) if len(rows) else rows
        yield (
            _equivalent(claim, rows)
            if len(rows)
            else _absent(claim, f"no judge both accepted and rejected wrong responses on {title}")
        )
    text = "GPT-4.1-mini accepts longer wrong responses on AIME"
    claim = _Judged("C12", "aime", text, "d = +1.01", 1.01)
    rows = _rows(tables, "ablation_length", task="aime")
    rows = rows[_called(rows["judge"], *_GPT41)] if len(rows) else rows
    if rows.empty:
        yield _absent(claim, "needs GPT-4.1-mini as judge on AIME")
    else:
        yield _measure(claim, *_limits(rows.iloc[0], ("d", "low", "high")), 1)


def _equivalent(claim: _Judged, rows: pd.DataFrame) -> _Judged:
    """|d| < 0.2 for every judge; shown is the judge that decides it, the farthest from 0 of those with its verdict."""
    verdicts = [_within(low, high, EQUIVALENT_D) for low, high in zip(rows["low"], rows["high"], strict=True)]
    claim.size = claim.sign = next(
        verdict for verdict in (FAILS, UNDECIDED, HOLDS) if verdict in verdicts
    )  # one judge that fails is enough
    deciding = rows[[verdict == claim.size for verdict in verdicts]]
    row = deciding.sort_values("d", key=abs, kind="stable").iloc[-1]
    claim.value, claim.low, claim.high = _limits(row, ("d", "low", "high"))
    counted = ", ".join(f"{verdicts.count(each)} {each}" for each in (HOLDS, FAILS, UNDECIDED) if each in verdicts)
    claim.notes.append(f"|d| < 0.2 for every judge ({counted}); shown is {row['judge']}; sign repeats size")
    return claim


def _difficulty_claims(tables: Tables) -> Iterator[_Judged]:
    for task, title, published, bound, bins in (
        ("gsm8k", "GSM8K", "+16.9 (hard) to +31.3 (easy) points", 0.169, ("hard", "medium", "easy")),
        ("quality", "QuALITY", "+10.5 to +19.4 points", 0.105, ("hard", "medium", "easy")),
        ("aime", "AIME", "+36.2 points (medium)", 0.362, ("medium",)),
        ("mbpp", "MBPP", "+12 to +19 points", 0.12, ("hard", "medium", "easy")),
    ):
        where = "medium items" if bins == ("medium",) else "items of every difficulty"
        claim = _Judged("C13", task, f"judges favour their own errors on {title}, on {where}", published, bound)
        rows = _rows(tables, "ablation_difficulty", task=task, judge="all")
        rows = rows[rows["bin"].isin(bins)] if len(rows) else rows
        yield (
            _over_models(claim, rows, ("gap", "low", "high"), 1, False, "bin")
            if len(rows)
            else _absent(claim, f"needs models that are examinees and judges on {title}")
        )


_CLAIMS: tuple[Callable[[Tables], Iterator[_Judged]], ...] = (
    _correlation_claims,
    _harmful_claims,
    _ensemble_claims,
    _drift_claims,
    _identity_claims,
    _length_claims,
    _difficulty_claims,
)
