"""The state that jobs share is never torn, and one that was lost is begun anew."""

import json
import threading

import pytest

from voirdire.errors import UserError
from voirdire.models.shared import Shared, read_shared


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study" / "shared.json"


def test_changes_of_many_at_once_all_count(path):
    def count():
        shared = Shared(path)
        for _ in range(200):
            with shared.change() as state:
                state["n"] = state.get("n", 0) + 1
        shared.close()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_shared(path) == {"n": 800}


@pytest.mark.parametrize(
    "rubbish",
    [
        b"",
        b'{"n": 1',
        b"\x00" * 100,
        b"[1]",
        b"\xff",
        b'{"jobs": []}',
        b'{"jobs": {"vm-1": {"job": "x"}}}',
        b'{"endpoints": {"p": null}}',
        b'{"spent_usd": -1000}',
        b'{"spent_usd": "much"}',
    ],
)
def test_a_torn_state_counts_as_empty(path, rubbish):
    path.parent.mkdir()
    path.write_bytes(rubbish)
    shared = Shared(path)
    with shared.change() as state:
        assert state == {}
        state["n"] = 1
    shared.close()
    assert json.loads(path.read_bytes()) == {"n": 1}


def test_a_shorter_state_leaves_nothing_of_a_longer_one(path):
    shared = Shared(path)
    for value in ("x" * 1000, "y"):
        with shared.change() as state:
            state["value"] = value
    shared.close()
    assert json.loads(path.read_bytes()) == {"value": "y"}


def test_a_change_that_fails_changes_nothing(path):
    shared = Shared(path)
    with pytest.raises(ZeroDivisionError), shared.change() as state:
        state["n"] = 1 / 0
    with shared.change() as state:
        assert state == {}
    shared.close()


def test_without_a_file_the_state_is_ones_own():
    one, other = Shared(None), Shared(None)
    with one.change() as state:
        state["n"] = 1
    with one.change() as state, other.change() as others:
        assert (state, others) == ({"n": 1}, {})


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/shared\.json: what the jobs share can't be kept"):
        Shared(tmp_path / "file" / "shared.json")
