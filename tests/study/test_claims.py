"""Claims of the paper: sign and size judged by intervals, models and tasks that are missing named."""

import pandas as pd
import pytest

from voirdire.study.claims import PLANTED, judge_claims

NAN = float("nan")
IDS = [f"C{number}" for number in range(1, 14)]


def judged(claim: str, part: str = "", simulated: bool = False, **tables: pd.DataFrame) -> pd.Series:
    claims = judge_claims(tables, simulated)
    return claims[(claims["id"] == claim) & (claims["part"] == part)].iloc[0]


def correlations(table: int, values: list[tuple[float, float, float]]) -> pd.DataFrame:
    rows = [
        {"table": table, "anchor_role": "judge" if table == 9 else "examinee", "anchor": f"model_{place}"}
        | {"task": "all", "self_point": "with", "left_out": "", "r": r, "n": 6, "low": low, "high": high, "reason": ""}
        for place, (r, low, high) in enumerate(values)
    ]
    decoys = [rows[0] | {"task": "gsm8k", "r": 0.0}, rows[0] | {"self_point": "without", "r": 0.0}]
    return pd.DataFrame([*rows, *decoys, rows[0] | {"left_out": "model_1", "r": 0.0}])


def ensembles(metric: str, values: list[tuple[float, float, float]], task: str = "all", **names: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"task": task, "examinee": names.get("examinee", f"model_{place}"), "metric": metric}
        | {"difference": value, "difference_low": low, "difference_high": high, "reason": ""}
        for place, (value, low, high) in enumerate(values)
    )


def weeks(**accuracy: tuple[float, float, float]) -> pd.DataFrame:
    rows = []
    for name, (value, low, high) in accuracy.items():
        rule = name if name in ("majority", "mean_single") else "wmv"
        estimator, weights = ("", "") if rule != "wmv" else (name, "linear")
        rows.append({"week": 0, "rule": rule, "estimator": estimator, "weights": weights})
        rows[-1] |= {"difference_to_oracle": value, "difference_low": low, "difference_high": high}
    return pd.DataFrame(rows)


def length(task: str, values: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    return pd.DataFrame(
        {"task": task, "judge": judge, "d": d, "low": low, "high": high} for judge, (d, low, high) in values.items()
    )


def test_every_claim_is_there_in_the_papers_order():
    claims = judge_claims({}, False)
    assert list(dict.fromkeys(claims["id"])) == IDS
    assert not claims.duplicated(["id", "part"]).any()


def test_without_tables_every_claim_is_not_in_this_study_and_says_why():
    claims = judge_claims({}, False)
    assert set(claims["sign"]) == set(claims["size"]) == {"not in this study"}
    assert (claims["note"].str.len() > 0).all()


def test_simulated_panel_says_that_effects_are_planted():
    assert judge_claims({}, True)["note"].str.contains(PLANTED, regex=False).all()
    assert not judge_claims({}, False)["note"].str.contains("planted").any()


@pytest.mark.parametrize(
    ("values", "sign", "size"),
    [
        ([(0.97, 0.92, 0.99)] * 6, "holds", "holds"),
        ([(0.95, 0.60, 0.99)] * 6, "holds", "undecided"),
        ([(0.50, -0.2, 0.85)] * 6, "undecided", "fails"),
        ([(-0.97, -0.99, -0.92)] * 6, "fails", "fails"),
    ],
)
def test_interval_decides_sign_and_size(values: list[tuple[float, float, float]], sign: str, size: str):
    claim = judged("C1", correlations=correlations(6, values))
    assert (claim["sign"], claim["size"]) == (sign, size)


def test_most_is_a_strict_majority():
    good, bad = (0.97, 0.92, 0.99), (0.1, -0.7, 0.8)
    assert judged("C1", correlations=correlations(6, [good] * 4 + [bad] * 2))["size"] == "holds"
    half = judged("C1", correlations=correlations(6, [good] * 3 + [bad] * 3))
    assert (half["value"], half["size"]) == (0.1, "fails")


def test_every_is_the_worst_model():
    good, worst = (-0.97, -0.99, -0.92), (-0.5, -0.8, 0.1)
    claim = judged("C2", correlations=correlations(7, [good] * 5 + [worst]))
    assert (claim["value"], claim["low"], claim["high"]) == worst
    assert (claim["sign"], claim["size"]) == ("undecided", "fails")


def test_c3_is_about_every_judge():
    claim = judged("C3", correlations=correlations(9, [(0.95, 0.85, 0.99)] * 6))
    assert (claim["sign"], claim["size"]) == ("holds", "holds")
    assert "every one of 6 judges" in claim["note"]


def test_model_without_a_correlation_is_left_out_and_counted():
    values = [(-0.97, -0.99, -0.92)] * 5 + [(NAN, NAN, NAN)]
    claim = judged("C2", correlations=correlations(7, values))
    assert claim["sign"] == "holds"
    assert "1 without a value left out" in claim["note"]


def test_value_without_interval_is_undecided():
    claim = judged("C2", correlations=correlations(7, [(-0.99, NAN, NAN)] * 3))
    assert (claim["value"], claim["sign"], claim["size"]) == (-0.99, "undecided", "undecided")


@pytest.mark.parametrize(("judge", "other"), [("gpt_5", "llama_3_3_70b"), ("GPT-5", "Llama-3.3-70B")])
def test_named_models_are_found_however_they_are_spelt(judge: str, other: str):
    row = {
        "task": "mbpp",
        "judge": judge,
        "other": other,
        "version": "harmful",
        "rate": "fpr",
        "n_own": 1,
        "n_other": 50,
    }
    frame = pd.DataFrame([row | {"difference": 0.98, "low": 0.4, "high": 1.0}])
    claim = judged("C4", self_preference=frame)
    assert (claim["value"], claim["sign"], claim["size"]) == (0.98, "holds", "undecided")


def test_other_models_leave_named_claims_out():
    row = {
        "task": "mbpp",
        "judge": "ada",
        "other": "bede",
        "version": "harmful",
        "rate": "fpr",
        "n_own": 9,
        "n_other": 9,
    }
    claim = judged("C4", self_preference=pd.DataFrame([row | {"difference": 0.5, "low": 0.4, "high": 0.6}]))
    assert claim["sign"] == claim["size"] == "not in this study"
    assert "needs GPT-5 and Llama-3.3-70B" in claim["note"]


def test_mini_models_are_not_their_big_siblings():
    row = {"task": "mbpp", "judge": "gpt_5_mini", "other": "llama_3_3_70b", "version": "harmful", "rate": "fpr"}
    frame = pd.DataFrame([row | {"n_own": 9, "n_other": 9, "difference": 0.5, "low": 0.4, "high": 0.6}])
    assert judged("C4", self_preference=frame)["sign"] == "not in this study"


def test_leniency_of_an_ensemble_falls():
    claim = judged("C6", "leniency", ensembles=ensembles("fpr", [(-0.18, -0.2, -0.16)] * 3))
    assert (claim["sign"], claim["size"]) == ("holds", "holds")
    claim = judged("C6", "leniency", ensembles=ensembles("fpr", [(-0.10, -0.14, -0.06)] * 3))
    assert (claim["sign"], claim["size"]) == ("holds", "fails")


def test_panel_without_a_self_judge_has_no_ensemble_claim():
    claim = judged("C6", "accuracy", ensembles=ensembles("accuracy", [(NAN, NAN, NAN)] * 3))
    assert claim["sign"] == "not in this study"


def test_accuracy_of_an_ensemble_that_loses_fails():
    claim = judged("C6", "accuracy", ensembles=ensembles("accuracy", [(-0.02, -0.03, -0.01)] * 3))
    assert (claim["sign"], claim["size"]) == ("fails", "fails")


def test_no_effect_at_all_is_no_sign():
    assert judged("C6", "accuracy", ensembles=ensembles("accuracy", [(0.0, 0.0, 0.0)] * 3))["sign"] == "fails"


def test_o4_mini_is_the_exception():
    frame = ensembles("accuracy", [(-0.03, -0.035, -0.029)], task="gsm8k", examinee="o4_mini")
    claim = judged("C7", ensembles=frame)
    assert (claim["sign"], claim["size"]) == ("holds", "holds")


@pytest.mark.parametrize(
    ("disagreement", "size"),
    [
        ((-0.002, -0.004, 0.001), "holds"),
        ((-0.004, -0.007, -0.001), "undecided"),
        ((-0.02, -0.03, -0.01), "fails"),
        ((0.02, 0.01, 0.03), "fails"),
    ],
)
def test_near_the_oracle_is_equivalence(disagreement: tuple[float, float, float], size: str):
    drift = weeks(disagreement=disagreement, majority=(-0.07, -0.08, -0.06))
    claim = judged("C8", drift=drift)
    assert (claim["sign"], claim["size"]) == ("holds", size)


def test_every_weighted_vote_must_beat_both_baselines():
    better = {"majority": (-0.07, -0.08, -0.06), "mean_single": (-0.1, -0.11, -0.09)}
    every = weeks(oracle=(0.0, 0.0, 0.0), bayesian=(-0.01, -0.02, 0.0), **better)
    assert judged("C9", "every weighted vote", drift=every)["sign"] == "holds"
    one_loses = weeks(oracle=(0.0, 0.0, 0.0), bayesian=(-0.09, -0.1, -0.085), **better)
    assert judged("C9", "every weighted vote", drift=one_loses)["sign"] == "fails"


def test_rate_error_without_interval_is_undecided_and_with_one_judged():
    row = {"week": 0, "estimator": "disagreement", "judge": "mean", "rate": "fpr", "abs_error": 0.03}
    assert judged("C9", "FPR error", drift_rates=pd.DataFrame([row]))["size"] == "undecided"
    row |= {"abs_error_low": 0.02, "abs_error_high": 0.039}
    assert judged("C9", "FPR error", drift_rates=pd.DataFrame([row]))["size"] == "holds"
    row |= {"abs_error_low": 0.041, "abs_error_high": 0.05}
    assert judged("C9", "FPR error", drift_rates=pd.DataFrame([row]))["size"] == "fails"


def test_the_worst_prior_decides():
    sweep = pd.DataFrame(
        {"accuracy": [0.93, 0.86], "majority": 0.87, "difference": [0.06, -0.01]}
        | {"difference_low": [0.05, -0.02], "difference_high": [0.07, -0.005]}
    )
    claim = judged("C10", prior_sweep=sweep)
    assert (claim["value"], claim["sign"]) == (-0.01, "fails")
    assert "86.0% to 93.0% against 87.0%" in claim["note"]


def test_each_label_is_judged_apart():
    rows = [
        {"label": label, "rate": "fpr", "judge": "all", "task": "all", "examinee": "ada", "n_pairs": 60}
        | {"difference": middle, "low": middle - 0.03, "high": middle + 0.03}
        for label, middle in (("elite", -0.05), ("author", 0.0))
    ]
    frame = pd.DataFrame(rows)
    assert judged("C11", "elite", ablation_identity=frame)["sign"] == "holds"
    assert judged("C11", "author", ablation_identity=frame)["sign"] == "undecided"


def test_no_confound_needs_every_interval_inside_the_margin():
    inside, wide, outside = (0.05, -0.1, 0.19), (0.02, -0.3, 0.3), (0.5, 0.3, 0.7)
    every = judged("C12", "gsm8k", ablation_length=length("gsm8k", {"ada": inside, "bede": inside}))
    assert (every["sign"], every["size"]) == ("holds", "holds")
    some = judged("C12", "gsm8k", ablation_length=length("gsm8k", {"ada": inside, "bede": wide}))
    assert (some["size"], some["low"]) == ("undecided", -0.3)
    one = judged("C12", "gsm8k", ablation_length=length("gsm8k", {"ada": inside, "bede": outside, "cuthbert": wide}))
    assert (one["size"], one["value"]) == ("fails", 0.5)
    assert "shown is bede" in one["note"]


def test_length_on_aime_is_about_one_model():
    frame = length("aime", {"gpt_4_1_mini": (1.2, 1.05, 1.4), "other": (0.0, -0.1, 0.1)})
    claim = judged("C12", "aime", ablation_length=frame)
    assert (claim["sign"], claim["size"]) == ("holds", "holds")


def test_difficulty_takes_the_smallest_gap_of_a_task():
    rows = [
        {"task": "gsm8k", "judge": "all", "bin": bin_, "gap": gap, "low": gap - 0.05, "high": gap + 0.05, "reason": ""}
        for bin_, gap in (("hard", 0.25), ("medium", 0.3), ("easy", 0.4))
    ]
    claim = judged("C13", "gsm8k", ablation_difficulty=pd.DataFrame(rows))
    assert (claim["value"], claim["sign"], claim["size"]) == (0.25, "holds", "holds")
    assert judged("C13", "mbpp", ablation_difficulty=pd.DataFrame(rows))["sign"] == "not in this study"


def test_empty_bins_say_why():
    row = {
        "task": "aime",
        "judge": "all",
        "bin": "medium",
        "gap": NAN,
        "low": NAN,
        "high": NAN,
        "reason": "no own error",
    }
    claim = judged("C13", "aime", ablation_difficulty=pd.DataFrame([row]))
    assert claim["sign"] == "undecided"
    assert "no own error" in claim["note"]
