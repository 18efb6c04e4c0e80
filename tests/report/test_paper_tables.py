"""The paper's tables: its rows and columns, readable units, nothing lost where there is nothing."""

import pandas as pd
import pytest

from voirdire.report.paper_tables import PAPER_TABLES, build_all, strictest_judge

Tables = dict[str, pd.DataFrame]
MODELS, TASKS = 6, 4


@pytest.fixture(scope="module")
def wide(tables: Tables) -> Tables:
    return build_all(tables)


def test_tables_carry_the_papers_numbers():
    assert list(PAPER_TABLES) == list(range(2, 11))
    assert all(table.stem.startswith(f"table{number:02d}_") for number, table in PAPER_TABLES.items())


@pytest.mark.parametrize(
    ("stem", "rows"),
    [
        ("table02_static_majority", MODELS * (TASKS + 1)),
        ("table03_identity_labels", (MODELS + 1) * (TASKS + 1)),
        ("table04_length", MODELS),
        ("table05_difficulty", TASKS),
        ("table06_task_accuracy_judge_accuracy", MODELS),
        ("table07_task_accuracy_bias", MODELS),
        ("table08_judge_accuracy_bias", MODELS),
        ("table09_examinee_accuracy_bias_received", MODELS),
        ("table10_self_preference", MODELS * (MODELS - 1)),
    ],
)
def test_rows_are_the_papers(wide: Tables, stem: str, rows: int):
    assert len(wide[stem]) == rows
    assert wide[stem]["simulated"].all()


def test_static_majority_in_shares_and_points(wide: Tables):
    row = wide["table02_static_majority"].iloc[0]
    assert row["self-judge"] == "gpt_5"
    assert row["accuracy, majority (share)"] == 0.93
    assert row["accuracy, difference (points)"] == 8.0
    assert row["FPR, difference (points)"] == -18.0
    assert row["FPR, 95 % interval (points)"] == "[-20.0, -16.0]"


def test_identity_labels_stand_side_by_side(wide: Tables):
    row = wide["table03_identity_labels"].iloc[-1]
    assert (row["task"], row["judge"]) == ("all", "all")
    assert (row["elite: difference (points)"], row["author: difference (points)"]) == (-5.0, -7.0)


def test_each_label_has_its_own_pairs_and_its_own_blind_rate(tables: Tables):
    identity = tables["ablation_identity"].copy()
    author = identity["label"] == "author"
    identity.loc[author, ["n_pairs", "blind"]] = 17, 0.25
    row = build_all(tables | {"ablation_identity": identity})["table03_identity_labels"].iloc[0]
    assert (row["elite: n pairs"], row["author: n pairs"]) == (60, 17)
    assert (row["elite: FPR, blind (share)"], row["author: FPR, blind (share)"]) == (0.4, 0.25)


def test_gaps_say_how_many_wrong_responses_and_tasks_they_rest_on(tables: Tables):
    frame = tables["ablation_difficulty"]
    pooled = frame[frame["task"] == "gsm8k"].assign(task="all", n_own=90, n_other=500)
    frame = pd.concat([frame, pooled], ignore_index=True)
    frame.loc[(frame["task"] == "mbpp") & (frame["bin"] == "easy"), ["gap", "low", "high"]] = float("nan")
    table = build_all(tables | {"ablation_difficulty": frame})["table05_difficulty"].set_index("task")
    assert table.loc["gsm8k", ["easy: n own wrong", "easy: n others' wrong"]].tolist() == [30, 120]
    assert table.loc["all", ["easy: n own wrong", "easy: n tasks", "hard: n tasks"]].tolist() == [90, 3, 4]
    assert table.loc["mbpp", "easy: n tasks"] == 0


@pytest.mark.parametrize(
    ("name", "stem", "prefix"),
    [
        ("ensembles", "table02_static_majority", ""),
        ("ablation_identity", "table03_identity_labels", "elite: "),
        ("self_preference", "table10_self_preference", "gsm8k: "),
    ],
)
def test_calls_that_are_not_ok_are_counted(tables: Tables, name: str, stem: str, prefix: str):
    counted = tables[name].assign(n_not_ok=3, n_not_judged=2, n_truth_missing=1)
    row = build_all(tables | {name: counted})[stem].iloc[0]
    shown = [row[f"{prefix}{column}"] for column in ("n not ok", "n not judged", "n truth missing")]
    assert shown == [3, 2, 1]


def test_correlations_leave_the_strictest_judge_out(wide: Tables, tables: Tables):
    assert strictest_judge(tables, "blind") == "gpt_5"
    row = wide["table07_task_accuracy_bias"].iloc[0]
    assert row["all: r"] == -0.93
    assert row["all: r without gpt_5"] == -0.93
    assert row["n models"] == MODELS


def test_table_nine_is_by_judge(wide: Tables):
    assert wide["table09_examinee_accuracy_bias_received"].columns[0] == "judge"
    assert wide["table06_task_accuracy_judge_accuracy"].columns[0] == "examinee"


def test_self_preference_counts_all_wrong_responses(wide: Tables):
    row = wide["table10_self_preference"].iloc[0]
    assert row["gsm8k: ΔFPR (points)"] == 12.0
    assert (row["gsm8k: n own wrong"], row["gsm8k: n other's wrong"]) == (60, 60)


def test_comparisons_say_what_they_could_have_shown(tables: Tables, wide: Tables):
    assert wide["table03_identity_labels"]["elite: says"].eq("difference").all()
    assert wide["table04_length"]["gsm8k: says"].eq("no difference beyond 0.2 sd").all()
    assert wide["table05_difficulty"]["easy: says"].eq("difference").all()
    few = tables["self_preference"].assign(says="nothing", detectable=float("nan"))
    row = build_all(tables | {"self_preference": few})["table10_self_preference"].iloc[0]
    assert row["gsm8k: says"] == "too few to have shown any difference"


@pytest.mark.parametrize("number", [6, 7, 8, 9])
def test_correlations_have_their_range_and_why_there_is_none(tables: Tables, wide: Tables, number: int):
    stem = PAPER_TABLES[number].stem
    assert wide[stem].iloc[0]["aime: range without any one model"].startswith("[")
    assert wide[stem]["why r is missing"].eq("").all()
    none = tables["correlations"].assign(r=float("nan"), reason="2 points: r needs 3")
    assert build_all(tables | {"correlations": none})[stem]["why r is missing"].eq("2 points: r needs 3").all()


def test_missing_value_stays_missing(tables: Tables):
    ensembles = tables["ensembles"].assign(self_judge=float("nan"), difference=float("nan"))
    ensembles = ensembles.assign(difference_low=float("nan"), difference_high=float("nan"))
    row = build_all(tables | {"ensembles": ensembles})["table02_static_majority"].iloc[0]
    assert pd.isna(row["accuracy, self-judge (share)"])
    assert row["accuracy, 95 % interval (points)"] == "–"


def test_empty_input_keeps_its_columns(empty_tables: Tables, tables: Tables, wide: Tables):
    # Tables that know the study's tasks from elsewhere have the same columns without a row.
    known = empty_tables | {name: tables[name] for name in ("rates", "task_accuracy")}
    for stem, frame in build_all(known).items():
        assert len(frame) == 0
        assert frame.columns[-1] == "simulated"
        if stem != "table05_difficulty":
            assert list(frame.columns) == list(wide[stem].columns), stem


def test_no_input_at_all_gives_every_table():
    assert {stem: len(frame) for stem, frame in build_all({}).items()} == {
        table.stem: 0 for table in PAPER_TABLES.values()
    }
