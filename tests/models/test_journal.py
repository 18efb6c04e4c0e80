"""The journal loses nothing that it took in, whatever happens to the process, the disk or the last line."""

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from voirdire.errors import UserError
from voirdire.models import Answer, Journal, lock, read_journal

NASTY = [
    "next line \u0085 and line separator \u2028 and paragraph \u2029",
    "NUL \x00, form feed \x0c, carriage return \r, newline \n, file separator \x1c",
    'quotes " and \\ and lone surrogate \ud800 and 数 and 😀',
    "x" * 2**20,
]


def answer(key: str, status: str = "ok", text: str = "yes") -> Answer:
    return Answer(key, status, text=text, raw_text=text, sent={"model": "m", "temperature": 0}, cost_usd=0.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "mini.jsonl"


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_comes_back_whole_from_one_line(path, text):
    with Journal(path) as journal:
        journal.append(answer("a", text=text))
        journal.append(answer("b"))
    assert path.read_bytes().count(b"\n") == 2
    assert read_journal(path) == {"a": answer("a", text=text), "b": answer("b")}


def test_a_lone_surrogate_of_an_older_journal_is_mended(path):
    path.parent.mkdir()
    texts = dict.fromkeys(("text", "raw_text", "finish_reason", "resolved_model", "error"), "a\ud800b")
    path.write_text(json.dumps({"key": "a", "status": "ok", "prompt_tokens": 2**70, **texts}) + "\n")
    whole = path.read_bytes()
    assert b"\\ud800" in whole
    mended = Answer("a", "ok", **dict.fromkeys(texts, "a?b"))
    assert read_journal(path) == {"a": mended}
    with Journal(path) as journal:
        assert journal.get("a") == mended
    assert path.read_bytes() == whole, "a journal is only ever appended to"


def test_a_line_is_read_by_newline_alone(path):
    path.parent.mkdir()
    record = {"key": "a", "status": "ok", "text": "one\u2028two\u0085three"}
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_journal(path)["a"].text == "one\u2028two\u0085three"


@pytest.mark.parametrize("status", ["ok", "refused", "truncated", "empty"])
def test_answers_are_replayed(path, status):
    with Journal(path) as journal:
        journal.append(answer("a", status))
        assert journal.get("a") == answer("a", status)
    with Journal(path) as journal:
        assert journal.get("a") == answer("a", status)


def test_errors_are_recorded_but_never_replayed(path):
    with Journal(path) as journal:
        journal.append(answer("a", "error"), "item-1")
        assert journal.get("a") is None
    assert read_journal(path) == {}
    assert json.loads(path.read_bytes())["id"] == "item-1"


@pytest.mark.parametrize("lost", [1, 2, 10, 100])
def test_a_torn_last_line_is_dropped_and_the_next_starts_afresh(path, lost):
    with Journal(path) as journal:
        journal.append(answer("a"))
        journal.append(answer("b", text="torn"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])
    # Without its newline alone the last line is still complete.
    kept = {"a", "b"} if lost == 1 else {"a"}
    with Journal(path) as journal:
        assert {key for key in "ab" if journal.get(key)} == kept
        journal.append(answer("c"))
    assert read_journal(path).keys() == kept | {"c"}
    assert path.read_bytes().startswith(whole[:-lost])


@pytest.mark.parametrize("rubbish", [b"\x00" * 4096, b"\xff\xfe", b"{}", b"[1]", b'{"key": 1}', b"null"])
def test_rubbish_between_lines_is_ignored(path, rubbish):
    with Journal(path) as journal:
        journal.append(answer("a"))
    with path.open("ab") as file:
        file.write(rubbish)
    with Journal(path) as journal:
        journal.append(answer("b"))
    assert read_journal(path).keys() == {"a", "b"}


def test_a_field_of_a_later_version_is_ignored(path):
    path.parent.mkdir()
    path.write_text('{"key": "a", "status": "ok", "text": "yes", "reasoning_tokens": 7}\n')
    assert read_journal(path) == {"a": Answer("a", "ok", text="yes")}


def test_no_journal_is_an_empty_one(path):
    assert read_journal(path) == {}


def test_two_writers_are_refused(path):
    with Journal(path), pytest.raises(UserError, match=r"mini\.jsonl: another running process"):
        Journal(path)
    with Journal(path) as journal:
        journal.append(answer("a"))


def test_reading_needs_no_lock(path):
    with Journal(path) as journal:
        journal.append(answer("a"))
        assert read_journal(path).keys() == {"a"}


def test_a_full_disk_is_a_clear_error_and_loses_nothing_earlier(path, monkeypatch):
    with Journal(path) as journal:
        journal.append(answer("a"))

        class Full:
            """A file that takes ten bytes and then no more."""

            def __init__(self, file):
                self.file, self.room = file, 10

            def write(self, data):
                if not self.room:
                    raise OSError(errno.ENOSPC, "No space left on device")
                written, self.room = self.file.write(data[: self.room]), 0
                return written

            def __getattr__(self, name):
                return getattr(self.file, name)

        file = journal._file
        journal._file = Full(file)
        with pytest.raises(UserError, match=r"mini\.jsonl: .*disk is full"):
            journal.append(answer("b"))
        assert journal.get("b") is None
        journal._file = file
        journal.append(answer("c"))
    assert read_journal(path).keys() == {"a", "c"}


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="journal can't be written"):
        Journal(tmp_path / "file" / "mini.jsonl")


@pytest.fixture
def no_flock(monkeypatch):
    """A filesystem without locks."""

    def flock(handle, flags):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", flock)


def test_without_locks_a_lock_file_refuses_the_second_writer(path, no_flock):
    beside = path.with_name("mini.jsonl.lock")
    with Journal(path):
        with pytest.raises(UserError, match=f"process {os.getpid()} on .*delete .*mini.jsonl.lock"):
            Journal(path)
        assert beside.exists()
    assert not beside.exists()


def test_without_locks_a_dead_writer_is_no_hindrance(path, no_flock):
    child = multiprocessing.get_context("spawn").Process(target=int)
    child.start()
    child.join()
    path.parent.mkdir()
    beside = path.with_name("mini.jsonl.lock")
    beside.write_text(json.dumps({"host": lock.socket.gethostname(), "pid": child.pid}))
    with Journal(path) as journal:
        journal.append(answer("a"))
    assert not beside.exists()
    assert os.listdir(path.parent) == ["mini.jsonl"]


@pytest.mark.parametrize("holder", ['{"host": "elsewhere", "pid": 1}', "", "rubbish"])
def test_without_locks_an_unknown_writer_is_respected(path, no_flock, holder):
    path.parent.mkdir()
    path.with_name("mini.jsonl.lock").write_text(holder)
    with pytest.raises(UserError, match=r"delete .*mini\.jsonl\.lock"):
        Journal(path)
