"""Files appear whole or not at all, and come back as they went."""

import errno
import os

import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.tables import ITEMS, atomic_path, read_metadata, read_table, write_csv, write_parquet, write_table

HOSTILE = "a\u2028b\u0085c\x00d\u202ee\r\n\"f'"


def items(**changes):
    values = dict.fromkeys(ITEMS.names) | {"task": "t", "item_id": "1", "question": HOSTILE} | changes
    return pd.DataFrame([values])


def test_a_table_comes_back_as_it_went(tmp_path):
    path = tmp_path / "new" / "items.parquet"
    write_table(items(options=["x", HOSTILE], answer="3"), path, ITEMS, {"left_out": {"no answer": 2}})
    row = read_table(path, ITEMS).iloc[0]
    assert (row["question"], row["options"], row["answer"]) == (HOSTILE, ["x", HOSTILE], "3")
    assert row["tests"] is None
    assert pd.isna(row["article"])
    assert read_metadata(path) == {"left_out": {"no answer": 2}}


def test_equal_tables_are_equal_bytes(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        write_table(items(), tmp_path / name, ITEMS, {"b": 1, "a": 2})
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def fail_while_writing(path):
    with atomic_path(path) as beside:
        beside.write_text("half")
        raise RuntimeError("killed")


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_while_writing(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_full_disk_is_said_clearly(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UserError, match=r"table\.csv: cannot be written \(No space left on device\)"):
        write_csv(pd.DataFrame({"a": [1]}), tmp_path / "table.csv")
    assert os.listdir(tmp_path) == []


def test_others_may_read_what_is_written(tmp_path):
    previous = os.umask(0o022)
    try:
        write_csv(pd.DataFrame({"a": [1]}), tmp_path / "a.csv")
    finally:
        os.umask(previous)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o644


def test_a_bad_table_is_not_written(tmp_path):
    with pytest.raises(UserError, match="column 'question' has no value in row 1"):
        write_table(items(question=None), tmp_path / "items.parquet", ITEMS)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 50, b"not parquet at all"])
def test_a_torn_file_is_named(tmp_path, content):
    path = tmp_path / "torn.parquet"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"torn\.parquet: not a readable Parquet file"):
        read_table(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"gone\.parquet: no such file"):
        read_table(tmp_path / "gone.parquet", ITEMS)


def test_no_cell_of_a_csv_is_a_formula(tmp_path):
    frame = pd.DataFrame({"=cmd()": ["=1+1", "@x", "+1", "-1", "\tx", None, "plain"], "number": range(-3, 4)})
    write_csv(frame, tmp_path / "a.csv")
    back = pd.read_csv(tmp_path / "a.csv")
    assert back.columns.tolist() == ["'=cmd()", "number"]
    assert back["'=cmd()"].tolist()[:5] == ["'=1+1", "'@x", "'+1", "'-1", "'\tx"]
    assert back["number"].tolist() == list(range(-3, 4))


def test_an_empty_result_keeps_its_columns(tmp_path):
    empty = pd.DataFrame({"a": [1.0], "b": ["x"]}).iloc[:0]
    write_parquet(empty, tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").columns.tolist() == ["a", "b"]
    write_csv(empty, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "a,b\n"


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UserError, match=r"file/table\.parquet: cannot be written"),
        atomic_path(tmp_path / "file" / "table.parquet"),
    ):
        pass
