"""What the page says of calibrated votes, corrected accuracies, label-free rates, and of what breaks them."""

import pandas as pd
import pytest

from voirdire.report.sections.calibration import accuracy, label_free, panel_rules
from voirdire.report.sections.drift_factors import drift_factors
from voirdire.report.summary import answer_first


def rows_of(section, caption):
    (table,) = (table for table in section.tables if table.caption == caption)
    heads = [head.text for head in table.headers]
    return [dict(zip(heads, row, strict=True)) for row in table.rows]


def test_rules_are_listed_from_the_best_with_their_gain_over_the_majority(tables):
    section = panel_rules(tables, "blind", {})
    rows = rows_of(section, "With 100 labels")
    assert [row["rule"].text for row in rows] == [
        "log-odds, true rates",
        "hybrid: all verdicts and the labels",
        "log-odds, rates by Dawid-Skene",
        "unweighted majority",
    ]
    assert rows[1]["to the majority (points)"].text == "+6.0 ± 0.1"
    assert rows[0]["ECE (points)"].text == "–"


def test_what_knows_the_truth_is_not_the_best_to_be_behind(tables):
    assert panel_rules(tables, "blind", {}).answers == [
        "Without any label the hybrid is +4.0 points from the unweighted majority, 1.0 behind the best (log-odds, "
        "rates by Dawid-Skene).",
        "With 30 labels the hybrid is +4.6 points from the unweighted majority, 0.4 behind the best (log-odds, "
        "rates by Dawid-Skene).",
        "With 100 labels the hybrid is +6.0 points from the unweighted majority, no rule does better.",
    ]


def test_the_method_to_go_by_stands_beside_the_raw_share_and_the_truth(tables):
    rows = rows_of(accuracy(tables, "blind", {}), "Over all tasks: raw, and by the method to go by")
    raw, best = rows[:2]
    assert (raw["method"].text, raw["accuracy (%)"].text) == ("share that the panel accepts", "97.0 (92.0 to 102.0)")
    assert (best["method"].kind, best["accuracy (%)"].text) == ("strong", "84.0 (79.0 to 89.0)")
    assert {raw["truth (%)"].text, best["truth (%)"].text} == {"85.0"}


def test_a_factors_cell_is_coloured_by_what_its_interval_says(tables):
    rows = rows_of(drift_factors(tables, "blind", {}), "Log-odds weights")
    assert [(row["what changes"].text, row["to"].text) for row in rows] == [
        ("base", "as it is"),
        ("prevalence", "0.1"),
        ("prevalence", "0.9"),
    ]
    majority, hybrid = rows[1]["unweighted majority"], rows[1]["hybrid"]
    assert (majority.text, majority.kind, majority.reason) == ("−5.0", "bad", "breaks: −5.2 to −4.8")
    assert (hybrid.text, hybrid.kind) == ("−0.2", "good")
    assert "oracle" not in rows[0]


def test_factors_that_were_not_tried_are_told_with_their_reason(tables):
    (told,) = drift_factors(tables, "blind", {}).statements
    assert told.lines == ["one family: every model is its own family"]


@pytest.mark.parametrize(
    ("section", "table", "reason"),
    [
        (panel_rules, "panel_rules", "No judged response has a known truth to try the rules on."),
        (accuracy, "corrected_accuracy", "No judged response has a known truth to draw from."),
        (label_free, "label_free_trust", "There are too few judges or responses to look."),
        (drift_factors, "drift_factors", "No other change could be simulated."),
    ],
)
def test_a_section_without_its_table_says_why(tables, section, table, reason):
    less = {**tables, table: tables[table].iloc[:0]}
    assert section(less, "blind", {}).absent == [reason]
    assert section({}, "blind", {}).absent == [reason]


def test_the_short_answer_on_label_free_rates_goes_by_task_and_promises_nothing():
    trust = pd.DataFrame(
        {
            "task": ["gsm8k", "aime", "mbpp"],
            "verdict": ["usable", "unusable", "usable"],
            "basis": ["labels", "labels", "verdicts"],
        }
    )
    (answer,) = (each.text for each in answer_first({"label_free_trust": trust}) if each.section == "label_free")
    assert answer == (
        "Judges' error rates estimated without any label are usable on GSM8K and MBPP; unusable on AIME; that is known "
        "only because the truth is known here: verdicts alone cannot show whether judges share a blind spot."
    )
