"""What holds of every table of comparisons whatever the verdicts, and what changes none of its numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from random_verdicts import CONDITIONS, MODELS, Shape, shapes, verdicts_of

import voirdire.bias as tables
from voirdire.bias import leniency_summary, rates, rates_by_examinee, self_preference_summary
from voirdire.bias.rates import METRICS

FAMILIES = {"ann": "a", "bob": "a", "cas": "c"}
# The table's estimate; its interval is [low, high] in all of them.
ESTIMATES = {
    "self_preference": "difference",
    "family_preference": "difference",
    "leniency": "estimate",
    "ablation_identity": "difference",
    "ablation_template": "difference",
    "ablation_length": "d",
    "ablation_difficulty": "gap",
    "correlations": "r",
}
KEYS = (
    *("table", "anchor", "label", "template", "version", "rate", "task", "method", "judge", "other", "examinee"),
    *("term", "bin", "self_point", "left_out"),
)
NAMED = ("judge", "other", "examinee", "anchor", "left_out")  # columns that hold models
EMPTY, ONE = Shape(n_items=0), Shape(n_items=1, judges=MODELS[:1], examinees=MODELS[:1], missing=0, failed=0)
ALL_RIGHT, ALL_WRONG, CONSTANT = Shape(right=1.0), Shape(right=0.0), Shape(accepts=1.0, missing=0, failed=0)
REPEATED = replace(ONE, right=0.0, accepts=0.5, trials=3, ungraded=0)
ORDINARY = Shape(seed=2, n_items=12, judges=MODELS, examinees=MODELS, conditions=CONDITIONS, trials=2)


def table_of(name, frame, resamples=12):
    families = {"families": FAMILIES} if name in ("family_preference", "leniency") else {}
    return getattr(tables, name)(frame, resamples=resamples, **families)


@pytest.mark.parametrize("name", ESTIMATES)
@settings(max_examples=6)
@given(shapes())
@example(EMPTY)
@example(ONE)
@example(ALL_RIGHT)
@example(ALL_WRONG)
@example(CONSTANT)
@example(REPEATED)
def test_a_row_has_an_estimate_with_its_interval_or_says_nothing_and_why(name, shape):
    frame = verdicts_of(shape)
    if frame["condition"].nunique() > 1 and "blind" not in set(frame["condition"]):
        return
    table = table_of(name, frame)
    assert {ESTIMATES[name], "low", "high", "reason", "detectable", "says", "seed", "simulated"} <= set(table.columns)
    for row in table.to_dict("records"):
        estimate, low, high = row[ESTIMATES[name]], row["low"], row["high"]
        assert np.isnan(low) == np.isnan(estimate) == np.isnan(high)
        assert np.isnan(row["detectable"]) or row["detectable"] > 0
        if np.isnan(estimate):
            assert row["reason"]
            assert row["says"] == "nothing"
            assert np.isnan(row["detectable"])
        else:
            assert low <= high
            assert row.get("interval") == "percentile" or low - 1e-9 <= estimate <= high + 1e-9
            holds = what_it_says_holds(row, low, high)
            assert holds


def what_it_says_holds(row, low, high):
    says = row["says"]
    p = row.get("p_holm", row.get("p", np.nan))
    if says == "difference":
        return (low > 0 or high < 0) and not p >= 0.05
    if says.startswith("no difference beyond "):
        margin = float(says.rsplit(" ", 1)[1])
        return -margin < low and high < margin
    return says in ("undecided", "nothing")


@settings(max_examples=6)
@given(shapes())
@example(EMPTY)
@example(ALL_RIGHT)
@example(ALL_WRONG)
def test_summaries_say_something_of_anything(shape):
    frame = verdicts_of(replace(shape, conditions=CONDITIONS[:1]))
    for table in (self_preference_summary(frame, resamples=12), leniency_summary(table_of("leniency", frame))):
        assert table["sentence"].str.endswith(".").all()


def compared(first, second):
    """Two tables have the same rows, in whatever order, with the same numbers."""
    keys = [key for key in KEYS if key in first.columns]
    assert len(first) == len(second) > 0
    first, second = (one.sort_values(keys).reset_index(drop=True) for one in (first, second))
    words = [name for name in ("reason", "sentence", "family", "interval", "silent") if name in first.columns]
    if "interval" in first.columns:
        # A profile far out is nearly flat, and its penalty's gradient a numerical one: so its bounds have fewer digits.
        flat, ends = first["interval"] == "profile (penalised)", ["low", "high", "detectable"]
        pd.testing.assert_frame_equal(first.loc[flat, ends], second.loc[flat, ends], rtol=1e-5)
        first, second = (
            one.assign(**{end: one[end].mask(flat) for end in ends}) if flat.any() else one for one in (first, second)
        )
    pd.testing.assert_frame_equal(first.drop(columns=words), second.drop(columns=words), rtol=1e-7, atol=1e-9)


@pytest.fixture(scope="module")
def ordinary():
    return verdicts_of(ORDINARY)


@pytest.fixture(scope="module")
def made(ordinary):
    """Every table of the ordinary verdicts."""
    return {name: table_of(name, ordinary) for name in ESTIMATES} | {"rates": rates_by_examinee(ordinary, 12)}


def every(frame):
    yield from ((name, table_of(name, frame)) for name in ESTIMATES)


def test_the_order_of_rows_changes_nothing(ordinary, made):
    for name, table in every(ordinary.sample(frac=1, random_state=0)):
        compared(made[name], table)


def test_names_of_models_change_nothing(ordinary, made):
    """Even where they turn the models' order round."""
    new = dict(zip(MODELS, ("zoe", "yan", "xia", "wim"), strict=True))
    old = {name: model for model, name in new.items()}
    renamed = ordinary.assign(judge=ordinary["judge"].map(new), examinee=ordinary["examinee"].map(new))
    families = {new[model]: family for model, family in FAMILIES.items()}
    for name in ESTIMATES:
        options = {"families": families} if name in ("family_preference", "leniency") else {}
        table = getattr(tables, name)(renamed, resamples=12, **options)
        table = table.assign(**{column: table[column].replace(old) for column in NAMED if column in table.columns})
        expected = made[name]
        if "judge_family" in table.columns:
            table["judge_family"] = table["judge_family"].replace(old)
        compared(expected, table)


def test_another_task_changes_no_row_of_a_task(ordinary):
    for name in ESTIMATES:
        both = table_of(name, ordinary)
        alone = table_of(name, ordinary[ordinary["task"] == "aime"])
        compared(both[both["task"] == "aime"], alone[alone["task"] == "aime"])


def test_another_condition_changes_no_row_of_the_main_one(ordinary, made):
    blind = ordinary[ordinary["condition"] == "blind"]
    for name in ("self_preference", "family_preference", "leniency", "ablation_length", "correlations"):
        compared(made[name], table_of(name, blind))


def test_the_same_items_again_as_new_ones_halve_the_variance():
    frame = verdicts_of(Shape(seed=1, n_items=600, judges=MODELS[:2], examinees=MODELS[:2], missing=0, tasks=("aime",)))
    twice = pd.concat([frame, frame.assign(item_id="again " + frame["item_id"], cluster="again " + frame["cluster"])])
    once, more = (
        rates_by_examinee(one, 2000).query("pooling == 'none' and reading == 'main'").set_index(["judge", "examinee"])
        for one in (frame, twice.reset_index(drop=True))
    )
    for metric in METRICS:
        assert more[metric].to_numpy() == pytest.approx(once[metric].to_numpy(), abs=1e-12)
        ratio = (more[f"{metric}_high"] - more[f"{metric}_low"]) / (once[f"{metric}_high"] - once[f"{metric}_low"])
        assert ratio.to_numpy() == pytest.approx(np.full(len(ratio), np.sqrt(0.5)), rel=0.12)


@pytest.mark.parametrize("n_items", [6, 150])
def test_false_positives_of_the_opposite_are_false_negatives(n_items):
    frame = verdicts_of(Shape(seed=4, n_items=n_items, failed=0))
    opposite = frame.assign(verdict=~frame["verdict"], truth=~frame["truth"])
    plain, turned = rates(frame, 50), rates(opposite, 50)
    for end in ("", "_low", "_high"):
        assert turned["fpr" + end].to_numpy() == pytest.approx(plain["fnr" + end].to_numpy(), abs=1e-9, nan_ok=True)
        assert turned["fnr" + end].to_numpy() == pytest.approx(plain["fpr" + end].to_numpy(), abs=1e-9, nan_ok=True)
        assert turned["accuracy" + end].to_numpy() == pytest.approx(plain["accuracy" + end].to_numpy(), abs=1e-9)
    assert turned["bias_low"].to_numpy() == pytest.approx(-plain["bias_high"].to_numpy(), abs=1e-9, nan_ok=True)
