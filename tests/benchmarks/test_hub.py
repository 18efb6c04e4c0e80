"""Loading from the Hub: real loading code on local files in the Hub's layout; only the download is replaced."""

import json

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voirdire.benchmarks import BENCHMARKS, Source, check, load
from voirdire.errors import UserError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder that stands for the Hub, and the list of what was asked of it."""
    asked = []

    def download(repo_id, filename, repo_type, revision):
        asked.append((repo_id, filename, repo_type, revision))
        path = tmp_path / repo_id / filename
        if not path.exists():
            raise huggingface_hub.errors.EntryNotFoundError("https://signed.example/?token=secret")
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return tmp_path, asked


def put(folder, repo, name, rows):
    path = folder / repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_gsm8k(hub):
    folder, asked = hub
    put(folder, "openai/gsm8k", "main/test-00000-of-00001.parquet", [{"question": "How many?", "answer": "#### 1,000"}])
    loaded = load("gsm8k", Source("hub"), seed=0)
    assert [(item.item_id, item.answer) for item in loaded.items] == [("gsm8k-0001", "1000")]
    revision = BENCHMARKS["gsm8k"].hub.revision
    assert asked == [("openai/gsm8k", "main/test-00000-of-00001.parquet", "dataset", revision)]
    assert loaded.metadata["source"]["revision"] == revision


def test_mbpp(hub):
    folder, _ = hub
    row = {
        "task_id": 11,
        "text": "Write add.",
        "code": "def add(a, b):\r\n    return a + b",
        "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
        "test_setup_code": "",
        "challenge_test_list": [],
    }
    put(folder, "google-research-datasets/mbpp", "full/test-00000-of-00001.parquet", [row, row | {"task_id": 510}])
    loaded = load("mbpp", Source("hub"), seed=0)
    assert [item.item_id for item in loaded.items] == ["mbpp-11", "mbpp-510"]
    assert loaded.items[0].tests == ("assert add(1, 2) == 3", "assert add(0, 0) == 0")


def test_aime_is_two_files_numbered_through(hub):
    folder, _ = hub
    put(folder, "opencompass/AIME2025", "aime2025-I.jsonl", [{"question": "I.1", "answer": "70"}])
    put(folder, "opencompass/AIME2025", "aime2025-II.jsonl", [{"question": "II.1", "answer": "468"}])
    loaded = load("aime", Source("hub"), seed=0)
    assert [(item.item_id, item.question) for item in loaded.items] == [("aime-01", "I.1"), ("aime-02", "II.1")]
    assert len(loaded.metadata["files"]) == 2


def test_quality_flat_rows_with_a_label_from_zero(hub):
    folder, _ = hub
    row = {"article": "Text.", "question": "Who?", "options": ["a", "b", "c", "d"], "answer": 3, "hard": True}
    put(folder, "emozilla/quality", "data/validation.parquet", [row, row | {"answer": None}])
    source = Source("hub", files=("data/validation.parquet",), revision=COMMIT)
    loaded = load("quality", source, seed=0)
    assert [(item.item_id, item.answer) for item in loaded.items] == [("quality-0001", "D")]
    assert loaded.metadata["left_out"] == {"gold_label or answer is missing": 1}


@pytest.mark.parametrize("revision", ["main", "v1.0", "cc7b047", COMMIT.upper(), COMMIT + "\n"])
def test_a_revision_that_can_move_is_refused(hub, revision):
    _, asked = hub
    (fault,) = check("gsm8k", Source("hub", revision=revision), seed=0)
    assert "is not a full commit (40 hex digits)" in fault
    with pytest.raises(UserError):
        load("gsm8k", Source("hub", revision=revision), seed=0)
    assert asked == []


def test_another_repo_needs_its_own_files_and_revision(hub):
    faults = check("gsm8k", Source("hub", repo="me/mine"), seed=0)
    assert [fault.split(":")[2].strip() for fault in faults] == ["files", "revision"]


def test_quality_has_no_known_revision(hub):
    assert len(check("quality", Source("hub"), seed=0)) == 2


def test_known_revisions_are_commits():
    for task in ("gsm8k", "aime", "mbpp"):
        assert check(task, Source("hub"), seed=0) == []


def test_a_failed_download_tells_what_to_do_and_no_address(hub):
    with pytest.raises(UserError) as raised:
        load("aime", Source("hub"), seed=0)
    assert len(raised.value.faults) == 2
    assert "aime2025-I.jsonl: not downloaded (EntryNotFoundError)" in raised.value.faults[0]
    assert "secret" not in str(raised.value)


def test_the_same_file_twice_is_refused():
    source = Source("hub", repo="me/mine", files=("a.jsonl", "a.jsonl"), revision=COMMIT)
    assert check("gsm8k", source, seed=0) == ["benchmarks: gsm8k: files: names a file twice; remove one of them"]
