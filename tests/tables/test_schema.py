"""A table that isn't as its schema says is refused by name, row and reason."""

import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.tables import GRADES, Column, Schema

PEOPLE = Schema(
    "people",
    (
        Column("name", "string"),
        Column("size", "string", allowed=("small", "large")),
        Column("age", "int", nullable=True),
        Column("right", "bool", nullable=True),
    ),
    key=("name",),
)


def people(**changes):
    values = {"name": ["a", "b"], "size": ["small", "large"], "age": [1, None], "right": [True, None]} | changes
    return pd.DataFrame(values)


def test_missing_values_keep_their_columns_kind():
    checked = PEOPLE.check(people(), "file")
    assert [str(dtype) for dtype in checked.dtypes] == ["str", "str", "Int64", "boolean"]
    assert checked["age"].tolist() == [1, pd.NA]


def test_columns_come_in_the_schemas_order():
    assert list(PEOPLE.check(people()[["right", "age", "size", "name"]], "file").columns) == PEOPLE.names


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": ["small", "huge"]}, "file (people table): column 'size' has 'huge' in row 2; allowed are small,"),
        ({"name": ["a", None]}, "file (people table): column 'name' has no value in row 2"),
        ({"name": ["a", "a"]}, "file (people table): (name) must be unique; it repeats in row 2"),
        ({"colour": ["red", "red"]}, "file (people table): unknown column 'colour'"),
        ({"age": ["old", "young"]}, "file (people table): column 'age' must be of kind int"),
        ({"age": [1.5, 2]}, "file (people table): column 'age' must be of kind int"),
        ({"right": ["yes", "no"]}, "file (people table): column 'right' must be of kind bool"),
    ],
)
def test_a_fault_is_named(changes, message):
    with pytest.raises(UserError) as raised:
        PEOPLE.check(people(**changes), "file")
    assert str(raised.value).startswith(message)


def test_all_faults_are_named_at_once():
    with pytest.raises(UserError) as raised:
        PEOPLE.check(people(size=["tiny", "huge"], name=[None, "b"]), "file")
    assert len(raised.value.faults) == 2


def test_many_bad_rows_are_counted_not_listed():
    frame = pd.DataFrame({"name": list("abcdefgh"), "size": "huge", "age": None, "right": None})
    with pytest.raises(UserError, match="in rows 1, 2, 3, 4, 5 and 3 more"):
        PEOPLE.check(frame, "file")


def test_a_missing_column_is_named():
    with pytest.raises(UserError, match=r"column 'how' is missing"):
        GRADES.check(pd.DataFrame(columns=[name for name in GRADES.names if name != "how"]), "grades.parquet")


def test_an_empty_table_passes_with_its_types():
    checked = PEOPLE.check(pd.DataFrame(columns=PEOPLE.names, dtype=object), "file")
    assert len(checked) == 0
    assert str(checked["right"].dtype) == "boolean"
