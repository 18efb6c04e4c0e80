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


def gains(**votes: tuple[tuple[float, float, float], tuple[float, float, float]]) -> pd.DataFrame:
    """Weighted votes' paired gains over the unweighted majority and over the mean single judge."""
    rows = []
    for estimator, over in votes.items():
        rows.append({"week": 0, "rule": "wmv", "estimator": estimator, "weights": "linear"})
        for baseline, ends in zip(("majority", "mean_single"), over, strict=True):
            stem = f"difference_to_{baseline}"
            rows[-1] |= dict(zip((stem, f"{stem}_low", f"{stem}_high"), ends, strict=True))
        rows[-1] |= {"difference_to_oracle": 0.0, "difference_low": 0.0, "difference_high": 0.0}
    return pd.DataFrame(rows)


def bins(task: str, **gaps: tuple[float, float, float]) -> pd.DataFrame:
    return pd.DataFrame(
        {"task": task, "judge": "all", "bin": name, "gap": gap, "low": low, "high": high, "reason": ""}
        for name, (gap, low, high) in gaps.items()
    )


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


GOOD, BAD, WIDE = (-0.97, -0.99, -0.92), (0.1, 0.05, 0.8), (-0.5, -0.9, 0.1)


def test_most_is_a_strict_majority():
    good, bad = (0.97, 0.92, 0.99), (0.1, -0.7, 0.8)
    assert judged("C1", correlations=correlations(6, [good] * 4 + [bad] * 2))["size"] == "holds"
    half = judged("C1", correlations=correlations(6, [good] * 3 + [bad] * 3))
    assert (half["value"], half["size"]) == (0.1, "fails")


def test_most_shows_the_one_that_completes_the_majority():
    values = [(0.99, 0.95, 0.995), (0.96, 0.91, 0.98), (0.98, 0.94, 0.99), (0.2, -0.7, 0.99)]
    claim = judged("C1", correlations=correlations(6, values))
    assert (claim["value"], claim["low"], claim["high"]) == values[1]
    assert "decides: model_1" in claim["note"]


def test_most_with_a_model_missing_still_needs_the_majority_of_all():
    good, missing = (0.97, 0.92, 0.99), (NAN, NAN, NAN)
    assert judged("C1", correlations=correlations(6, [good] * 4 + [missing] * 2))["size"] == "holds"
    assert judged("C1", correlations=correlations(6, [good] * 3 + [missing] * 3))["size"] == "undecided"


def test_every_shows_the_worst_models_own_interval():
    claim = judged("C2", correlations=correlations(7, [GOOD] * 5 + [WIDE]))
    assert (claim["value"], claim["low"], claim["high"]) == WIDE
    assert (claim["sign"], claim["size"]) == ("undecided", "undecided")
    assert "decides: model_5" in claim["note"]
    assert "sign: 5 hold, 1 undecided; size: 5 hold, 1 undecided" in claim["note"]


def test_every_fails_by_one_that_decidedly_fails():
    claim = judged("C2", correlations=correlations(7, [GOOD] * 5 + [BAD]))
    assert (claim["value"], claim["sign"], claim["size"]) == (0.1, "fails", "fails")
    assert "size: 5 hold, 1 fails: model_5" in claim["note"]


def test_every_does_not_fail_by_one_that_chance_would_bring():
    # Of six, one interval in seven lies beyond the bound by chance.
    narrowly = (-0.70, -0.82, -0.50)
    alone = judged("C2", correlations=correlations(7, [narrowly]))
    assert alone["size"] == "fails"
    claim = judged("C2", correlations=correlations(7, [GOOD] * 5 + [narrowly]))
    assert claim["size"] == "undecided"
    assert "1 fails: model_5 (none fails at the level corrected for 6)" in claim["note"]


def test_limits_of_different_models_are_never_joined():
    claim = judged("C2", correlations=correlations(7, [(-0.9, -0.99, -0.7), (-0.85, -0.86, -0.4)] * 3))
    assert (claim["low"], claim["high"]) == (-0.86, -0.4)


def test_sign_may_be_decided_by_another_than_size():
    claim = judged("C13", "gsm8k", ablation_difficulty=bins("gsm8k", hard=(0.1, 0.06, 0.12), easy=(0.3, -0.1, 0.4)))
    assert (claim["sign"], claim["size"], claim["value"]) == ("undecided", "fails", 0.1)
    assert "the sign is decided by easy, +0.300 (-0.100 to +0.400)" in claim["note"]


def test_c3_is_about_every_judge():
    claim = judged("C3", correlations=correlations(9, [(0.95, 0.85, 0.99)] * 6))
    assert (claim["sign"], claim["size"]) == ("holds", "holds")
    assert "every one of 6 judges" in claim["note"]


def test_every_is_undecided_at_best_where_one_has_no_value():
    missing = (NAN, NAN, NAN)
    claim = judged("C2", correlations=correlations(7, [GOOD] * 5 + [missing]))
    assert (claim["sign"], claim["size"], claim["value"]) == ("undecided", "undecided", -0.97)
    assert "no value for model_5" in claim["note"]
    assert judged("C2", correlations=correlations(7, [GOOD] * 4 + [missing, BAD]))["size"] == "fails"


@pytest.mark.parametrize(("n", "said"), [(6, "r ≤ −0.83 hold only from about −0.98 on"), (3, "more than the 3 models")])
def test_note_says_what_fishers_interval_can_show(n: int, said: str):
    assert said in judged("C2", correlations=correlations(7, [GOOD] * 6).assign(n=n))["note"]


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


def test_models_that_contradict_a_majority_are_named():
    values = [(0.1, 0.05, 0.15)] * 4 + [(-0.1, -0.15, -0.05)] * 2
    frame = pd.concat([ensembles("accuracy", values), ensembles("accuracy", values, task="gsm8k")])
    claim = judged("C6", "accuracy", ensembles=frame)
    assert claim["sign"] == "holds"
    assert "sign: 4 hold, 2 fail: model_4, model_5" in claim["note"]
    assert "mean over gsm8k; the paper's table covers three tasks" in claim["note"]


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
    drift = gains(disagreement=((0.04, 0.01, 0.07), (0.1, 0.05, 0.15)))
    columns = ["difference_to_oracle", "difference_low", "difference_high"]
    claim = judged("C8", drift=drift.assign(**dict(zip(columns, disagreement, strict=True))))
    assert (claim["sign"], claim["size"]) == ("holds", size)


def test_every_weighted_vote_must_beat_both_baselines():
    better, worse = (0.05, 0.03, 0.07), (-0.02, -0.03, -0.01)
    every = judged("C9", "every weighted vote", drift=gains(oracle=(better, better), bayesian=(better, better)))
    assert (every["sign"], every["size"]) == ("holds", "holds")
    one = judged("C9", "every weighted vote", drift=gains(oracle=(better, better), bayesian=(better, worse)))
    assert (one["sign"], one["value"]) == ("fails", -0.02)
    assert "3 hold, 1 fails: bayesian over the mean single" in one["note"]


def test_rate_error_without_interval_is_undecided_and_with_one_judged():
    row = {"week": 0, "estimator": "disagreement", "judge": "mean", "rate": "fpr", "abs_error": 0.03}
    row |= {"abs_error_low": NAN, "abs_error_high": NAN}
    assert judged("C9", "FPR error", drift_rates=pd.DataFrame([row]))["size"] == "undecided"
    row |= {"abs_error_low": 0.02, "abs_error_high": 0.039}
    assert judged("C9", "FPR error", drift_rates=pd.DataFrame([row]))["size"] == "holds"
    row |= {"abs_error_low": 0.041, "abs_error_high": 0.05}
    assert judged("C9", "FPR error", drift_rates=pd.DataFrame([row]))["size"] == "fails"


def test_the_worst_prior_decides():
    sweep = pd.DataFrame(
        {"prior_fpr": [0.4, 0.1], "prior_fnr": 0.2, "strength": 10, "accuracy": [0.93, 0.86], "majority": 0.87}
        | {"difference": [0.06, -0.01], "difference_low": [0.05, -0.02], "difference_high": [0.07, -0.002]}
    )
    claim = judged("C10", prior_sweep=sweep)
    assert (claim["value"], claim["sign"]) == (-0.01, "fails")
    assert "decides: FPR 0.1 FNR 0.2 strength 10" in claim["note"]
    assert "86.0 to 93.0 % against 87.0 %" in claim["note"]


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
    assert "decides: bede" in one["note"]
    assert "1 holds, 1 undecided, 1 fails: bede" in one["note"]


def test_no_confound_is_undecided_where_a_judge_has_no_value():
    frame = length("gsm8k", {"ada": (0.05, -0.1, 0.19), "bede": (NAN, NAN, NAN)})
    assert judged("C12", "gsm8k", ablation_length=frame)["size"] == "undecided"


def test_length_on_aime_is_about_one_model():
    frame = length("aime", {"gpt_4_1_mini": (1.2, 1.05, 1.4), "other": (0.0, -0.1, 0.1)})
    claim = judged("C12", "aime", ablation_length=frame)
    assert (claim["sign"], claim["size"]) == ("holds", "holds")


def test_difficulty_takes_the_smallest_gap_of_a_task():
    gaps = {"hard": (0.25, 0.2, 0.3), "medium": (0.3, 0.25, 0.35), "easy": (0.4, 0.35, 0.45)}
    claim = judged("C13", "gsm8k", ablation_difficulty=bins("gsm8k", **gaps))
    assert (claim["value"], claim["sign"], claim["size"]) == (0.25, "holds", "holds")
    assert judged("C13", "mbpp", ablation_difficulty=bins("gsm8k", **gaps))["sign"] == "not in this study"


@pytest.mark.parametrize("empty", [{}, {"hard": (NAN, NAN, NAN)}], ids=["without a row", "without a value"])
def test_items_of_every_difficulty_need_every_bin(empty: dict[str, tuple[float, float, float]]):
    frame = bins("mbpp", medium=(0.3, 0.25, 0.35), easy=(0.4, 0.35, 0.45), **empty)
    claim = judged("C13", "mbpp", ablation_difficulty=frame)
    assert (claim["value"], claim["sign"], claim["size"]) == (0.3, "undecided", "undecided")
    assert "no value for hard" in claim["note"]


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


SILENT = {"says": "nothing", "detectable": NAN}


def harmful(difference: float, low: float, high: float, n_own: int, **power: object) -> pd.DataFrame:
    row = {"task": "mbpp", "judge": "gpt_5", "other": "llama_3_3_70b", "version": "harmful", "rate": "fpr"}
    row |= {"difference": difference, "low": low, "high": high, "n_own": n_own, "n_other": 50}
    return pd.DataFrame([row | power])


@pytest.mark.parametrize("interval", [(0.98, 0.4, 1.0), (-0.9, -1.0, -0.4)], ids=["for it", "against it"])
def test_a_cell_that_says_nothing_leaves_its_claim_undecided_and_says_of_how_many(interval: tuple[float, float, float]):
    claim = judged("C4", self_preference=harmful(*interval, n_own=1, **SILENT))
    assert (claim["value"], claim["sign"], claim["size"]) == (interval[0], "undecided", "undecided")
    assert "1 own and 50 other wrong responses: too few to have shown any difference" in claim["note"]


def test_without_an_own_error_the_reason_is_that_and_not_a_missing_interval():
    frame = harmful(NAN, NAN, NAN, n_own=0, reason="no judged wrong response of gpt_5", **SILENT)
    claim = judged("C4", self_preference=frame)
    assert (claim["sign"], claim["size"]) == ("undecided", "undecided")
    assert "no judged wrong response of gpt_5" in claim["note"]
    assert "no interval" not in claim["note"]


def test_an_undecided_claim_says_what_would_have_shown():
    frame = harmful(0.2, -0.1, 0.5, n_own=20, says="undecided", detectable=0.41)
    assert "a difference of 41 points or more would have shown" in judged("C4", self_preference=frame)["note"]
    decided = harmful(0.99, 0.985, 1.0, n_own=200, says="difference", detectable=0.1)
    assert "would have shown" not in judged("C4", self_preference=decided)["note"]


def test_of_many_those_that_say_nothing_neither_hold_nor_fail_and_are_named():
    frame = bins("mbpp", hard=(0.3, 0.25, 0.35), medium=(0.3, 0.25, 0.35), easy=(-0.9, -0.99, -0.5))
    assert judged("C13", "mbpp", ablation_difficulty=frame)["sign"] == "fails"
    silent = frame.assign(n_own=2, n_other=9, detectable=NAN)
    silent["says"] = ["difference", "difference", "nothing"]
    claim = judged("C13", "mbpp", ablation_difficulty=silent)
    assert (claim["sign"], claim["size"], claim["value"]) == ("undecided", "undecided", -0.9)
    assert "too few to have shown anything: easy" in claim["note"]


def test_length_that_is_undecided_says_how_large_an_effect_would_have_shown():
    frame = length("gsm8k", {"ada": (0.05, -0.1, 0.19), "bede": (0.02, -0.3, 0.3)})
    frame = frame.assign(says=["no difference beyond 0.2", "undecided"], detectable=[0.21, 0.43])
    claim = judged("C12", "gsm8k", ablation_length=frame)
    assert claim["size"] == "undecided"
    assert "a difference of 0.43 sd or more would have shown" in claim["note"]


def test_three_models_say_nothing_of_a_correlation():
    frame = correlations(9, [(0.99, -1.0, 1.0)] * 3).assign(n=3, **SILENT)
    claim = judged("C3", correlations=frame)
    assert (claim["sign"], claim["size"]) == ("undecided", "undecided")
    assert "too few to have shown anything: model_0, model_1, model_2" in claim["note"]


def test_correlations_say_how_far_one_model_moves_them():
    frame = correlations(7, [GOOD] * 3).assign(range_low=-0.995, range_high=-0.41)
    assert "with any one model left out r is -0.99 to -0.41" in judged("C2", correlations=frame)["note"]
    assert "left out" not in judged("C2", correlations=correlations(7, [GOOD] * 3))["note"]


def test_leniency_with_stronger_examinees_says_whether_it_survives_equal_difficulty():
    sentences = pd.DataFrame({"task": ["gsm8k", "all"], "survives": "no", "sentence": ["Not this.", "It does not."]})
    frame = correlations(9, [(0.95, 0.85, 0.99)] * 6)
    claim = judged("C3", correlations=frame, leniency_summary=sentences)
    assert claim["sign"] == "holds"
    assert "; It does not;" in claim["note"]
    assert "Not this" not in claim["note"]
    assert (
        "It does not" not in judged("C2", correlations=correlations(7, [GOOD] * 6), leniency_summary=sentences)["note"]
    )


def test_no_cell_starts_as_a_formula_does():
    claims = judge_claims({}, False)
    for column in ("part", "claim", "published", "note"):
        assert not claims[column].str.match(r"[-+−=@]").any(), column
