"""The table of corrected accuracy: rows, labels that are hidden, what is recommended, tasks, degenerate input."""

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.panel.corrected import COLUMNS, corrected_accuracy
from voirdire.panel.corrected_methods import METHODS

JUDGES = [f"j{n}" for n in range(5)]


def verdicts(n=60, examinees=("ann", "bob"), task="maths", seed=0, **columns):
    """Judges that err, on every examinee's answers to n items."""
    rng = np.random.default_rng(seed)
    rows = [(f"q{item}", examinee) for item in range(n) for examinee in examinees]
    truth = rng.random(len(rows)) < 0.7
    parts = []
    for judge in JUDGES:
        said = rng.random(len(rows)) < np.where(truth, 0.9, 0.3)
        part = pd.DataFrame(rows, columns=["item_id", "examinee"])
        parts.append(part.assign(judge=judge, verdict=said, truth=truth))
    return pd.concat(parts, ignore_index=True).assign(task=task, condition="blind", simulated=True, **columns)


def cell(table, method, examinee="all", task="maths"):
    (row,) = table[(table["method"] == method) & (table["examinee"] == examinee) & (table["task"] == task)].iloc
    return row


@pytest.fixture(scope="module")
def table():
    return corrected_accuracy(verdicts(), n_labels=40, seed=3)


def test_a_row_per_task_examinee_and_method(table):
    assert tuple(table.columns) == COLUMNS
    whole_only = {"rogan_gladen_pooled", "empirical_bayes"}
    for task in ("maths", "all"):
        part = table[table["task"] == task]
        assert list(part["examinee"].unique()) == ["ann", "bob", "all"]
        for examinee in ("ann", "bob"):
            assert set(part[part["examinee"] == examinee]["method"]) == set(METHODS)
        assert set(part[part["examinee"] == "all"]["method"]) == set(METHODS) - whole_only
    assert table["simulated"].all()
    assert (table["seed"] == 3).all()


def test_labels_are_hidden_but_the_true_share_is_shown(table):
    frame = verdicts()
    truths = frame.drop_duplicates(["item_id", "examinee"]).groupby("examinee")["truth"].mean()
    assert cell(table, "raw")["n_labels"] == 40
    assert cell(table, "labels")["truth"] == pytest.approx(truths.mean())
    assert cell(table, "labels", "ann")["truth"] == pytest.approx(truths["ann"])
    assert cell(table, "labels", "ann")["n_labels"] + cell(table, "labels", "bob")["n_labels"] == 40
    again = corrected_accuracy(frame.sample(frac=1, random_state=1), n_labels=40, seed=3)
    pd.testing.assert_frame_equal(table, again)
    other = corrected_accuracy(frame, n_labels=40, seed=4)
    assert cell(other, "labels")["estimate"] != cell(table, "labels")["estimate"]


def test_what_is_hidden_is_not_used():
    """All truths but those drawn may be turned round."""
    frame = verdicts()
    by_seed = corrected_accuracy(frame, n_labels=40, seed=3, methods=["labels"])
    partly = frame.copy()
    partly["truth"] = partly["truth"].astype(object)
    partly.loc[partly["item_id"].isin([f"q{n}" for n in range(40)]), "truth"] = None
    known = corrected_accuracy(partly)
    turned = partly.dropna(subset=["truth"])
    assert cell(known, "labels")["n_labels"] == 40
    assert cell(known, "labels")["estimate"] == pytest.approx(
        turned.drop_duplicates(["item_id", "examinee"])["truth"].astype(float).mean()
    )
    assert np.isnan(known["truth"]).all()
    assert by_seed["truth"].notna().all()


def test_one_method_is_recommended_for_each_row():
    frame = verdicts(examinees=("ann", "bob", "cat"))
    many = corrected_accuracy(frame, n_labels=60)
    few = corrected_accuracy(frame, n_labels=15)
    assert (many.groupby(["task", "examinee"])["recommended"].sum() == 1).all()
    assert (few.groupby(["task", "examinee"])["recommended"].sum() == 1).all()
    best = many[many["recommended"]].set_index(["task", "examinee"])["method"]
    assert best["maths"].to_dict() == {"ann": "ppi", "bob": "ppi", "cat": "ppi", "all": "poststratified"}
    best = few[few["recommended"]].set_index(["task", "examinee"])["method"]
    assert best["maths", "all"] == "poststratified"
    assert set(best["maths"].drop("all")) == {"labels"}
    none = corrected_accuracy(frame, n_labels=0)
    assert not none["recommended"].any()
    assert not corrected_accuracy(frame, n_labels=60).query("method == 'rogan_gladen_pooled'")["recommended"].any()


def test_all_tasks_are_their_mean_and_the_interval_that_of_a_mean():
    frame = pd.concat([verdicts(), verdicts(task="code", seed=1)])
    table = corrected_accuracy(frame, n_labels=50)
    parts = [cell(table, "ppi", task=task) for task in ("code", "maths")]
    both = cell(table, "ppi", task="all")
    assert both["estimate"] == pytest.approx(np.mean([part["estimate"] for part in parts]))
    below = np.sqrt(sum((part["estimate"] - part["low"]) ** 2 for part in parts)) / 2
    assert both["low"] == pytest.approx(both["estimate"] - below)
    assert (both["n_labels"], both["n_responses"], both["interval"]) == (100, 240, "square-and-add")


def test_a_task_without_the_estimate_is_named_in_the_note():
    code = verdicts(task="code", seed=1)
    table = corrected_accuracy(pd.concat([verdicts(), code.assign(truth=None)]), methods=["labels", "ppi"])
    both = cell(table, "labels", task="all")
    assert both["note"] == "mean of 1 of 2 tasks"
    assert both["estimate"] == cell(table, "labels")["estimate"]
    assert cell(table, "ppi", task="code")["note"] == "no labels"


def test_label_probabilities_weigh():
    frame = verdicts(n=200)
    accepted = frame.groupby(["item_id", "examinee"])["verdict"].mean().rename("share").reset_index()
    frame = frame.merge(accepted)
    frame["label_probability"] = np.where(frame["share"] < 0.5, 0.8, 0.2)
    known = frame.drop_duplicates(["item_id", "examinee"]).sample(frac=1, random_state=0)
    known = known[np.random.default_rng(0).random(len(known)) < known["label_probability"]]
    keys = set(zip(known["item_id"], known["examinee"], strict=True))
    hidden = [key not in keys for key in zip(frame["item_id"], frame["examinee"], strict=True)]
    frame["truth"] = frame["truth"].astype(object).mask(hidden)
    table = corrected_accuracy(frame, methods=["labels"])
    expected = np.average(known["truth"].astype(float), weights=1 / known["label_probability"])
    assert cell(table, "labels")["estimate"] == pytest.approx(expected)
    broken = frame.assign(label_probability=2.0)
    with pytest.raises(UserError, match="label_probability"):
        corrected_accuracy(broken)


def test_trials_are_labelled_together_and_count_as_clusters():
    once = verdicts(n=40)
    thrice = pd.concat([once.assign(trial=trial) for trial in range(3)])
    first, second = (corrected_accuracy(f, n_labels=30, methods=["labels", "ppi"]) for f in (once, thrice))
    assert cell(second, "labels")["n_labels"] == 90
    assert cell(second, "labels")["estimate"] == pytest.approx(cell(first, "labels")["estimate"])
    # Three trials of a response are worth one.
    widths = [cell(each, "labels")["high"] - cell(each, "labels")["low"] for each in (first, second)]
    assert widths[1] >= 0.95 * widths[0]


def test_the_panel_verdict_follows_quorum_tie_and_self():
    frame = verdicts(examinees=("j0", "j1"))
    base = corrected_accuracy(frame, methods=["raw"])
    own = corrected_accuracy(frame, methods=["raw"], include_self=True)
    tied = corrected_accuracy(frame, methods=["raw"], tie="correct")
    assert cell(tied, "raw")["estimate"] > cell(base, "raw")["estimate"]
    assert cell(own, "raw")["estimate"] != cell(base, "raw")["estimate"]


def test_small_studies_and_single_examinees_pass():
    tiny = pd.concat([verdicts(n=5, examinees=("ann",), task=task, seed=n) for n, task in enumerate("ab")])
    tiny = tiny[tiny["judge"].isin(JUDGES[:2])]
    for n_labels in (None, 0, 1, 3, 100):
        table = corrected_accuracy(tiny, n_labels=n_labels)
        assert (table["estimate"].notna() | (table["note"] != "")).all()
    one = corrected_accuracy(tiny.iloc[:1])
    assert set(one["examinee"]) == {"ann", "all"}


def test_where_nothing_was_judged_there_are_columns_but_no_row():
    frame = verdicts(n=3)
    for empty in (frame.iloc[:0], frame.assign(generation_status="refused")):
        table = corrected_accuracy(empty)
        assert table.empty
        assert tuple(table.columns) == COLUMNS
    unknown = corrected_accuracy(frame.assign(truth=None), n_labels=5)
    assert unknown.empty
    assert tuple(unknown.columns) == COLUMNS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"methods": ["magic"]}, "'magic' is unknown"),
        ({"n_labels": -1}, "below 0"),
        ({"target": "x"}, "target"),
        ({"condition": "x"}, "condition 'x'"),
    ],
)
def test_arguments_that_cannot_be(arguments, words):
    with pytest.raises(UserError, match=words):
        corrected_accuracy(verdicts(n=2), **arguments)


def test_real_verdicts_hold_the_truth(shared_data):
    frame = pd.read_parquet(shared_data / "verdicts" / "nus_feedback.parquet")
    table = corrected_accuracy(frame, n_labels=200, methods=["raw", "labels", "ppi", "poststratified"])
    raw = cell(table, "raw", task="program_feedback")
    assert raw["low"] > raw["truth"] + 0.03
    best = table[table["recommended"] & (table["examinee"] == "all")]
    assert ((best["low"] <= best["truth"]) & (best["truth"] <= best["high"])).all()
    assert (best["high"] - best["low"] < 0.1).all()
