"""Files as they come, faults named together, and subsets."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voirdire.benchmarks import Source, check, frame_from_items, load
from voirdire.errors import UserError
from voirdire.tables import ITEMS, write_table


def gsm8k(number):
    return {"question": f"How many are {number}?", "answer": f"#### {number}"}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def source(tmp_path):
    def write(content, **subset):
        path = tmp_path / "questions.jsonl"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Source("path", str(path), **subset)

    return write


def test_byte_order_mark_carriage_returns_and_blank_lines_do_no_harm(source):
    content = b"\xef\xbb\xbf" + lines(gsm8k(1), gsm8k(2)).replace("\n", "\r\n\r\n  \r\n").encode()
    assert [item.answer for item in load("gsm8k", source(content), seed=0).items] == ["1", "2"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1e"])
def test_only_a_newline_ends_a_line(source, separator):
    record = {"question": f"One{separator}two", "answer": "#### 2"}
    content = json.dumps(record, ensure_ascii=False) if separator > "\x20" else json.dumps(record)
    (item,) = load("gsm8k", source(content), seed=0).items
    assert item.question == f"One{separator}two"


def test_a_huge_line_loads(source):
    (item,) = load("gsm8k", source(lines({"question": "x" * 5_000_000, "answer": "#### 1"})), seed=0).items
    assert len(item.question) == 5_000_000


def test_what_was_loaded_can_be_written(source, tmp_path):
    strange = (
        '{"question": "\\ud800 lone", "answer": "#### 1"}\n{"question": "\\ud83d\\ude00 \\u0000", "answer": "#### 2"}\n'
    )
    loaded = load("gsm8k", source(strange), seed=0)
    write_table(frame_from_items(loaded.items), tmp_path / "items.parquet", ITEMS, loaded.metadata)
    assert [item.question for item in loaded.items] == ["\U0001f600 \x00"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"question": "cut', "not valid JSON"),
        (b'{"question": "x", "answer": "#### 1"} {}', "not valid JSON"),
        (b'["How many?", "#### 1"]', "a JSON list, not an object"),
        (b'"text"', "a JSON text, not an object"),
        (b"null", "a JSON null, not an object"),
        (b"NaN", "a JSON number, not an object"),
        (b'{"question": "caf\xe9"}', "not UTF-8"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b'{"answer": ' + b"9" * 5000 + b"}", "cannot be read as JSON"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_line(source, line, fault):
    content = lines(gsm8k(1)).encode() + b"\n" + line + b"\n" + lines(gsm8k(2)).encode()
    (found,) = check("gsm8k", source(content), seed=0)
    assert "questions.jsonl:3: " in found
    assert fault in found


def test_all_faults_are_raised_together(source):
    content = lines(gsm8k(1) | {"item_id": "a"}, {"question": 1, "answer": "#### 1"}) + "{\n"
    content += lines(gsm8k(2) | {"item_id": "a"}, {"question": "x", "answer": "many"})
    with pytest.raises(UserError) as raised:
        load("gsm8k", source(content), seed=0)
    text = str(raised.value)
    assert len(raised.value.faults) == 4
    for part in (":2: question must be text", ":3: not valid JSON", ":4: item id 'a' is already that of", ":5: answer"):
        assert part in text


def test_a_file_in_another_format_gives_a_bounded_list(source):
    faults = check("gsm8k", source("question,answer\n" * 500), seed=0)
    assert len(faults) == 21
    assert "480 more malformed lines" in faults[-1]


def test_duplicate_item_id_names_both_places(source):
    (fault,) = check("gsm8k", source(lines(gsm8k(1) | {"item_id": "a"}, gsm8k(2) | {"item_id": "a"})), seed=0)
    assert "questions.jsonl:2" in fault
    assert "questions.jsonl:1;" in fault


def test_missing_file(tmp_path):
    assert check("aime", Source("path", str(tmp_path / "none.jsonl")), seed=0) == [
        f"{tmp_path}/none.jsonl: no such file; check the path"
    ]


def test_folder_instead_of_a_file(tmp_path):
    (fault,) = check("aime", Source("path", str(tmp_path)), seed=0)
    assert "is a folder" in fault


@pytest.mark.parametrize("content", ["", "\n\r\n  \n"])
def test_empty_benchmark(source, content):
    (fault,) = check("aime", source(content), seed=0)
    assert "no items for aime (no records)" in fault


def test_empty_benchmark_says_what_was_left_out(source):
    (fault,) = check("gsm8k", source(lines({"question": "x"}, {"question": "y"})), seed=0)
    assert "no items for gsm8k (2 left out: answer is missing)" in fault


def test_unknown_task():
    assert "known are gsm8k, aime, mbpp, quality" in check("mmlu", Source(), seed=0)[0]


def test_parquet_file(tmp_path):
    path = tmp_path / "test.parquet"
    pq.write_table(pa.Table.from_pylist([gsm8k(5), gsm8k(6) | {"answer": None}]), path)
    loaded = load("gsm8k", Source("path", str(path)), seed=0)
    assert [item.answer for item in loaded.items] == ["5"]
    assert loaded.left_out[0].where == f"{path}, row 2"


def test_broken_parquet_file(tmp_path):
    path = tmp_path / "test.parquet"
    path.write_bytes(b"PAR1 but no more")
    (fault,) = check("gsm8k", Source("path", str(path)), seed=0)
    assert "not a readable Parquet file" in fault


def test_limit_takes_the_first(source):
    items = load("gsm8k", source(lines(*map(gsm8k, range(9))), limit=3), seed=0).items
    assert [item.answer for item in items] == ["0", "1", "2"]


def test_sample_is_decided_by_the_seed_and_keeps_the_order(source):
    content = lines(*map(gsm8k, range(100)))
    first, again, other = (load("gsm8k", source(content, sample=10), seed=seed).items for seed in (1, 1, 2))
    assert first == again
    assert first != other
    numbers = [int(item.answer) for item in first]
    assert len(set(numbers)) == 10
    assert numbers == sorted(numbers)


def test_sample_differs_between_tasks_of_one_study(source):
    content = lines(*({"question": f"Find {n}.", "answer": f"{n}"} for n in range(100)))
    one, other = (
        {item.answer for item in load(t, source(content, sample=10), seed=1).items} for t in ("aime", "gsm8k")
    )
    assert one != other


def test_more_than_there_are_takes_all(source):
    content = lines(*map(gsm8k, range(4)))
    assert len(load("gsm8k", source(content, sample=50), seed=0).items) == 4
    assert len(load("gsm8k", source(content, limit=50), seed=0).items) == 4


def test_metadata_tells_where_the_items_come_from(source):
    where = source(lines(gsm8k(1)), limit=5)
    metadata = load("gsm8k", where, seed=0).metadata
    assert metadata["source"] == {"source": "path", "path": where.path, "limit": 5}
    assert len(metadata["files"][where.path]) == 64
    assert metadata["licence"] == "as the file's publisher says (GSM8K itself: MIT)"


def test_source_from_configuration_and_back():
    values = {"source": "hub", "repo": "me/mine", "files": ["a.jsonl"], "revision": "0" * 40, "sample": 5}
    assert Source.from_dict(values).to_dict() == values
    assert Source.from_dict({}) == Source("bundled")
    assert Source.from_dict(values | {"files": "a.jsonl"}) == Source.from_dict(values)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"source": "path"}, "path: is missing"),
        ({"source": "web"}, "must be one of bundled, path, hub"),
        ({"source": "bundled", "path": "x"}, "path: is only used with"),
        ({"source": "bundled", "revision": "x"}, "are only used with `source: hub`"),
        ({"limit": 0}, "limit: must be a whole number from 1"),
        ({"sample": "all"}, "sample: must be a whole number from 1"),
        ({"limit": True}, "limit: must be a whole number from 1"),
        ({"limit": 1, "sample": 1}, "give one of them"),
        ({"source": "hub", "revision": 12}, "revision: must be text"),
        ({"limits": 3}, "unknown key 'limits'"),
        ({"shuffle_options": "yes"}, "shuffle_options: must be true or false"),
    ],
)
def test_wrong_source_is_named(values, fault):
    with pytest.raises(UserError, match=r"^benchmarks\.gsm8k: ") as raised:
        Source.from_dict(values, "benchmarks.gsm8k")
    assert fault in str(raised.value)


def test_all_faults_of_a_source_together():
    with pytest.raises(UserError) as raised:
        Source.from_dict({"source": "path", "limit": -1, "sample": 1})
    assert len(raised.value.faults) == 3


def test_a_parquet_file_without_its_ending_is_read_as_one(tmp_path):
    path = tmp_path / "questions.jsonl"
    pq.write_table(pa.table({"question": ["What is 2 + 2?"], "answer": ["#### 4"]}), path)
    assert [item.answer for item in load("gsm8k", Source("path", str(path)), seed=0).items] == ["4"]


def test_a_compressed_file_is_named_as_such(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_bytes(gzip.compress(b"{}"))
    (fault,) = check("gsm8k", Source("path", str(path)), seed=0)
    assert fault == f"{path}: is compressed; decompress it first"
