"""What the steps about panels leave, from enough verdicts and from too few."""

import json

import pandas as pd
import pytest

from voirdire.drift.columns import COLUMNS
from voirdire.panel import corrected, diagnostics, examinees, rule_table, trust
from voirdire.steps import calibrated, corrected_accuracy, drift_factors, panel_rules
from voirdire.steps import diagnostics as diagnostics_step
from voirdire.tables import read_table

WITH = {
    "panel_rules": (panel_rules, {"panel_rules": rule_table.COLUMNS}),
    "corrected_accuracy": (
        corrected_accuracy,
        {"corrected_accuracy": corrected.COLUMNS, "examinee_differences": examinees.COLUMNS},
    ),
    "diagnostics": (
        diagnostics_step,
        {
            "judge_diagnostics": diagnostics.JUDGE_COLUMNS,
            "panel_diagnostics": diagnostics.PANEL_COLUMNS,
            "label_free_trust": trust.COLUMNS,
        },
    ),
}
KEYS = ("task", "item_id", "examinee", "condition", "trial", "n_votes")
RULES = ("majority", "disagreement", "dawid_skene", "hybrid", "probability", "label", "status")
LABELS = {"labels": [0, 3], "draws": 4}


@pytest.fixture
def made(called, tmp_path):
    """Runs a step and returns the tables that it leaves, by name."""

    def make(step, names, **options):
        paths = {name: tmp_path / f"{name}.parquet" for name in names}
        called(step.main, **options, output=[*paths.values()])
        return {name: read_table(path) for name, path in paths.items()}

    return make


def options(study, path):
    return {"verdicts": path, "settings": study.analysis_settings(), "panel": study.panel_settings()}


@pytest.mark.parametrize("name", WITH)
def test_tables_have_their_columns_and_say_simulated(made, study, verdicts, name):
    step, columns = WITH[name]
    tables = made(step, columns, **options(study(panel=LABELS), verdicts(gsm8k=6, aime=6)))
    for table, expected in columns.items():
        assert tuple(tables[table].columns) == expected
        assert len(tables[table]) > 0
        assert tables[table]["simulated"].all()


@pytest.mark.parametrize("name", WITH)
def test_tables_without_any_verdict_have_their_columns_and_no_row(made, study, verdicts, name):
    step, columns = WITH[name]
    tables = made(step, columns, **options(study(panel=LABELS), verdicts()))
    assert {table: tuple(frame.columns) for table, frame in tables.items()} == columns
    assert all(frame.empty for frame in tables.values())


def test_labels_and_draws_are_those_of_the_configuration(made, study, verdicts):
    shared = options(study(panel=LABELS), verdicts(gsm8k=6))
    rules = made(panel_rules, ["panel_rules"], **shared)["panel_rules"]
    assert set(rules["n_labels"]) == {0, 3}
    assert rules.loc[rules["n_labels"] == 3, "draws"].unique().tolist() == [4]
    found = made(corrected_accuracy, ["corrected_accuracy"], **shared)["corrected_accuracy"]
    whole = found[(found["task"] == "gsm8k") & (found["examinee"] == "all")]
    assert whole["n_labels"].unique().tolist() == [3]
    assert whole["truth"].unique().tolist() == [0.5]


def test_every_response_is_calibrated_from_few_labels(made, study, verdicts):
    (table,) = made(calibrated, ["calibrated"], **options(study(panel=LABELS), verdicts(gsm8k=6))).values()
    assert tuple(table.columns) == (*KEYS, *RULES, "simulated")
    assert len(table) == 6 * 3
    assert table["label"].notna().sum() == 3
    assert table["simulated"].all()


def test_what_cannot_be_varied_is_told(made, study, verdicts):
    chosen = study(
        drift={"weeks": 3, "per_week": 4, "labels_per_week": 2, "factors": ["abrupt drift"], "factor_seeds": 2}
    )
    names = ["drift_factors", "drift_changes", "drift_factors_absent"]
    shared = {"settings": chosen.analysis_settings(), "families": json.dumps({}), "scenario": chosen.factor_settings()}
    enough = made(drift_factors, names, verdicts=verdicts(gsm8k=8, aime=8), **shared)
    few = made(drift_factors, names, verdicts=verdicts(gsm8k=8), **shared)
    for tables in (enough, few):
        assert all(tuple(tables[name].columns) == COLUMNS[name] for name in names[:2])
    assert enough["drift_factors"]["factor"].unique().tolist() == ["abrupt drift"]
    assert enough["drift_factors"]["n_seeds"].unique().tolist() == [2]
    assert few["drift_factors"].empty
    assert few["drift_factors_absent"]["factor"].tolist() == ["abrupt drift"]
    assert "no judged response of known truth has task 'aime'" in few["drift_factors_absent"]["reason"].iloc[0]


def test_a_study_without_two_tasks_to_drift_between_says_so(made, study, verdicts):
    chosen = study(("gsm8k",))
    shared = {"settings": chosen.analysis_settings(), "families": "{}", "scenario": chosen.factor_settings()}
    tables = made(drift_factors, ["drift_factors", "drift_factors_absent"], verdicts=verdicts(gsm8k=4), **shared)
    assert tables["drift_factors"].empty
    assert isinstance(tables["drift_factors_absent"], pd.DataFrame)
    assert "doesn't have both" in tables["drift_factors_absent"]["reason"].iloc[0]
