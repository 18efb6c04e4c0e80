"""Rows of verdicts made ready for counting, and verdicts that are refused before any is counted."""

import inspect

import numpy as np
import pandas as pd
import pytest

from voirdire import bias
from voirdire.bias.families import known_families
from voirdire.bias.rows import of_condition, prepared
from voirdire.errors import UserError

READERS = [name for name in bias.__all__ if "verdicts" in inspect.signature(getattr(bias, name)).parameters]
N = 8


def with_value(table, column, value, at=(5,)):
    """Eight good rows, but for the one value at these positions."""
    plain = {"verdict": [True, False] * 4, "truth": [True, True, False, False] * 2, "simulated": [False] * N}
    frame = table(**plain, cluster=[f"c{i}" for i in range(N)]).astype({"response_chars": object})
    for name in ("verdict", "truth", "simulated"):
        frame[name] = frame[name].astype(object)
    if column == "trial":
        frame["trial"] = frame["trial"].astype(object)
    values = list(frame[column])
    for position in at:
        values[position] = value
    return frame.assign(**{column: pd.Series(values, dtype=object)})


# column, value, what the error says
FAULTS = [
    *[("verdict", value, "verdicts must be true or false") for value in (2, 0.5, -1, 1e9, "2", "correct", "True")],
    *[("truth", value, "truths must be true or false") for value in (2, np.inf, "yes", [1], pd.Timestamp(2026, 1, 1))],
    *[("simulated", value, "simulated must be true or false") for value in ("no", "False", 3)],
    *[(name, None, "is missing") for name in ("condition", "trial", "task", "item_id", "judge", "examinee", "verdict")],
    *[(name, "", "is missing") for name in ("task", "item_id", "judge", "examinee")],
    *[(name, "all", "none may be called 'all'") for name in ("task", "judge", "examinee")],
    *[("item_id", value, "must be text or whole numbers") for value in (1.5, True, ("a", 1), [1])],
    ("status", "OK", "unknown status; found 'OK'"),
    ("generation_status", "done", "unknown status; found 'done'"),
    ("response_chars", "long", "must be numbers"),
]


@pytest.mark.parametrize(("column", "value", "said"), FAULTS)
def test_what_would_be_counted_wrong_is_refused_with_its_place(table, column, value, said):
    with pytest.raises(UserError) as refused:
        prepared(with_value(table, column, value))
    assert len(refused.value.faults) == 1
    fault = refused.value.faults[0]
    assert fault.startswith(f"verdicts: {column}: {said}")
    assert "in 1 row (counted from 0: 5). " in fault
    assert not fault.endswith("). ")


def conflicting(frame):
    return pd.concat([frame, frame.iloc[[3]].assign(verdict=True)], ignore_index=True)


def both_truths(frame):
    return pd.concat([frame, frame.iloc[[3]].assign(judge="cas", truth=True)], ignore_index=True)


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_of_verdicts_raises_the_same(table, reader):
    read = getattr(bias, reader)
    faulty = [with_value(table, column, value) for column, value, _ in FAULTS[::3]]
    good = with_value(table, "trial", 0)
    for frame in [*faulty, conflicting(good), both_truths(good)]:
        with pytest.raises(UserError) as by_prepared:
            prepared(frame)
        with pytest.raises(UserError) as by_reader:
            read(frame)
        assert by_reader.value.faults == by_prepared.value.faults


def test_faults_are_told_together_with_their_first_five_rows(table):
    frame = with_value(table, "verdict", 2, at=range(1, 8)).assign(judge=None)
    with pytest.raises(UserError) as refused:
        prepared(frame)
    assert len(refused.value.faults) == 2
    assert "found 2 in 7 rows (counted from 0: 1, 2, 3, 4, 5, …)" in str(refused.value)


@pytest.mark.parametrize(
    "kind", [bool, "boolean", int, "Int8", float, "Float64", object, "bool[pyarrow]", "int8[pyarrow]"]
)
def test_verdicts_of_any_type_are_ones_and_zeros(table, kind):
    frame = table(verdict=[True, False], truth=[False, True])
    frame = frame.astype({"verdict": kind, "truth": kind})
    assert prepared(frame)["verdict"].tolist() == [1.0, 0.0]
    assert prepared(frame)["truth"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_truth_is_missing_and_one_simulated_is_false(table, missing):
    frame = prepared(with_value(table, "truth", missing))
    assert np.isnan(frame["truth"]).tolist() == [False] * 5 + [True] + [False] * 2
    assert not prepared(with_value(table, "simulated", missing))["simulated"].any()


@pytest.mark.parametrize("names", [[7, 8], [7.0, 8.0], np.array([7, 8], np.int8), pd.Categorical([7, 8]), ["7", 8]])
def test_whole_numbers_are_names_that_match_text(table, names):
    frame = prepared(table(verdict=[True, False], truth=[True, True], judge=names, examinee=["7", "8"]))
    assert (frame["judge"] == frame["examinee"]).all()
    assert bias.self_preference(frame, resamples=10)["judge"].isin(["7", "8", "all"]).all()


def test_names_that_become_the_same_are_the_same_call(table):
    frame = table(verdict=[True, False], truth=[True, True], item_id=[1, "1"])
    with pytest.raises(UserError, match="have different verdicts"):
        prepared(frame)


def test_rows_that_say_the_same_again_count_once(table):
    frame = table(verdict=[True, False, None], truth=[True, None, False], status=["ok", "ok", None])
    twice = pd.concat([frame, frame], ignore_index=True)
    pd.testing.assert_frame_equal(prepared(twice), prepared(frame))


@pytest.mark.parametrize(("column", "value"), [("verdict", False), ("truth", None), ("status", "refused")])
def test_rows_of_one_call_that_say_different_things_are_refused(table, column, value):
    frame = table(verdict=[True] * 3, truth=[True] * 3)
    other = frame.iloc[[1]].assign(**{column: value})
    both = pd.concat([frame, other], ignore_index=True)
    with pytest.raises(
        UserError, match=r"different verdicts, truths or statuses; found .* in 2 rows \(counted from 0: 1, 3\)"
    ):
        prepared(both)
    other_trial = pd.concat([frame, other.assign(trial=1)], ignore_index=True)
    assert len(prepared(other_trial)) == 4


def test_a_response_is_right_or_wrong_not_both(table):
    frame = table(verdict=[True] * 4, truth=[True, False, None, True], item_id=["a", "a", "a", "b"], judge=list("abcd"))
    with pytest.raises(UserError, match=r"right and wrong in 2 rows \(counted from 0: 0, 1\)"):
        prepared(frame)
    assert len(prepared(frame.iloc[1:])) == 3


def test_without_statuses_a_missing_verdict_is_unparsed(table):
    frame = table(verdict=[True, None, None], truth=[True] * 3, generation_status=["ok", "ok", "refused"])
    statuses = prepared(frame.drop(columns="status"))["status"]
    assert statuses.iloc[:2].tolist() == ["ok", "unparsed"]
    assert pd.isna(statuses.iloc[2])


def test_an_item_with_rows_in_several_clusters_is_refused_by_name(table):
    items = [f"i{number}" for number in range(7) for _ in range(2)]
    frame = table(verdict=[True] * 14, truth=[True] * 14, item_id=items, judge=["a", "b"] * 7)
    one = frame.assign(cluster=[f"c{number // 2}" for number in range(7) for _ in range(2)])
    assert prepared(one)["cluster"].nunique() == 4
    apart = one.assign(cluster=[*one["cluster"][:-1], "other"])
    with pytest.raises(UserError, match=r"'i6' of task '\w+' has 'c3', 'other'\. Give each item one cluster"):
        prepared(apart)
    with pytest.raises(UserError, match=r"'i0' .*'i4' of task '\w+' has 'x', 'y'; …\. Give") as refused:
        prepared(frame.assign(cluster=["x", "y"] * 7))
    assert "'i5'" not in str(refused.value)
    # The same name in another task is another item.
    tasks = pd.concat([one, one.assign(task="other", cluster="d")], ignore_index=True)
    assert prepared(tasks)["cluster"].nunique() == 5


def test_answers_are_compared_without_blanks_and_case_and_empty_ones_are_missing(table):
    answers = ["B", " b\n", "", "  ", None, 12, "12", 12.0]
    found = prepared(table(verdict=[True] * 8, truth=[True] * 8, answer=pd.Series(answers, dtype=object)))["answer"]
    assert found[[0, 1]].tolist() == ["b", "b"]
    assert found[2:5].isna().all()
    assert found[5:].tolist() == ["12"] * 3


@pytest.mark.parametrize("kind", [object, "str", "string"])
def test_without_statuses_a_missing_generation_status_is_told(table, kind):
    frame = table(verdict=[True, None], truth=[True] * 2, generation_status=["ok", None]).drop(columns="status")
    with pytest.raises(UserError, match=r"generation_status: unknown status; found .* in 1 row \(counted from 0: 1\)"):
        prepared(frame.astype({"generation_status": kind}))


def test_an_item_without_a_cluster_is_one_of_its_own(table):
    frame = table(verdict=[True] * 4, truth=[True] * 4)
    clusters = prepared(frame.assign(cluster=[3.0, np.nan, np.nan, 3.0]))["cluster"]
    assert clusters.tolist() == ["3", "item-1", "item-2", "3"]


@pytest.mark.parametrize("length", [-1, np.inf, -np.inf, 1e300, np.nan, None])
@pytest.mark.filterwarnings("error")
def test_lengths_that_no_response_has_are_unknown(table, length):
    frame = with_value(table, "response_chars", length, at=(3, 5))
    assert prepared(frame)["response_chars"].isna().tolist() == [i in (3, 5) for i in range(N)]
    bias.ablation_length(frame, resamples=10)
    bias.leniency(frame, resamples=10)


def test_what_is_prepared_stays_as_it_is(random_table):
    once = prepared(random_table(0))
    pd.testing.assert_frame_equal(prepared(once), once)


def test_models_without_a_family_are_left_out():
    families = {"ann": "a", "bob": None, "cas": np.nan, "dee": "", 7: 8, "eve": pd.NA}
    assert known_families(families) == {"ann": "a", "7": "8"}
    assert known_families(pd.Series({"ann": "a", "bob": None})) == {"ann": "a"}
    assert known_families(None) == {}
    with pytest.raises(UserError, match=r"families: 'ann' → \['a'\]: names must be text"):
        known_families({"ann": ["a"]})


@pytest.mark.parametrize("reader", ["family_preference", "leniency", "explain_absent"])
def test_models_whose_family_is_missing_are_no_relatives(random_table, reader):
    frame, read = random_table(1), getattr(bias, reader)
    options = {} if reader == "explain_absent" else {"resamples": 10}
    given = read(frame, families={"ann": "a", "bob": "a", "cas": None, "dee": np.nan}, **options)
    plain = read(frame, families={"ann": "a", "bob": "a"}, **options)
    if reader == "explain_absent":
        assert given == plain
    else:
        pd.testing.assert_frame_equal(given, plain)


def test_verdicts_of_the_main_condition_are_chosen(table):
    frame = prepared(table(verdict=[True, False], truth=[True, True], condition=["blind", "elite"]))
    assert len(of_condition(frame, "blind")) == 1
    assert len(of_condition(frame[frame["condition"] == "elite"], "blind")) == 1
    with pytest.raises(UserError, match="no condition 'reason'; choose the main condition among blind, elite"):
        of_condition(frame, "reason")


def test_a_missing_column_is_named():
    with pytest.raises(UserError, match=r"missing columns: judge, truth\. A table of verdicts needs task, item_id"):
        prepared(pd.DataFrame(columns=["task", "item_id", "examinee", "verdict"]))
    with pytest.raises(UserError, match="missing column: truth"):
        prepared(pd.DataFrame(columns=["task", "item_id", "judge", "examinee", "verdict"]))
