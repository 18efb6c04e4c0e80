"""The published files load as they are."""

import re

import pytest

from voirdire.benchmarks import Source, frame_from_items, items_from_frame, load, prompt_fields
from voirdire.tables import ITEMS, read_metadata, read_table, write_table

FILES = {
    "gsm8k": ("gsm8k_test.jsonl", 1319),
    "mbpp": ("mbpp.jsonl", 500),
    "aime": ("aime2025.jsonl", 30),
    "quality": ("quality_subset.jsonl", 202),
}


@pytest.fixture(scope="module")
def real(shared_data):
    return {
        task: load(task, Source("path", str(shared_data / "benchmarks" / name)), seed=1)
        for task, (name, _) in FILES.items()
    }


@pytest.mark.parametrize("task", FILES)
def test_every_question_of_the_evaluated_split_is_there(real, task):
    loaded = real[task]
    assert len(loaded.items) == FILES[task][1]
    assert loaded.left_out == []
    assert len({item.item_id for item in loaded.items}) == len(loaded.items)


@pytest.mark.parametrize("task", FILES)
def test_items_survive_parquet(real, task, tmp_path):
    loaded = real[task]
    write_table(frame_from_items(loaded.items), tmp_path / "items.parquet", ITEMS, loaded.metadata)
    assert items_from_frame(read_table(tmp_path / "items.parquet", ITEMS)) == loaded.items
    assert read_metadata(tmp_path / "items.parquet")["n_items"] == FILES[task][1]


def test_gsm8k_answers_are_numbers_without_commas(real):
    answers = [item.answer for item in real["gsm8k"].items]
    assert answers[:3] == ["18", "3", "70000"]
    assert "2125" in answers
    assert "-10" in answers
    assert all(re.fullmatch(r"-?\d+", answer) for answer in answers)


def test_mbpp_is_the_split_11_to_510(real):
    items, metadata = real["mbpp"].items, real["mbpp"].metadata
    assert (items[0].item_id, items[-1].item_id) == ("mbpp-11", "mbpp-510")
    assert (metadata["n_read"], metadata["n_outside_split"], metadata["n_left_out"]) == (974, 474, 0)
    assert prompt_fields(items[0])["function_name"] == "remove_Occ"
    assert "\r" not in items[0].reference


def test_mbpp_function_names_are_those_the_reference_defines(real):
    for item in real["mbpp"].items:
        assert re.search(rf"\b{prompt_fields(item)['function_name']}\b", item.reference)


def test_aime_ids_go_by_position(real):
    items = real["aime"].items
    assert (items[0].item_id, items[0].answer) == ("aime-01", "70")
    assert (items[29].item_id, items[29].answer) == ("aime-30", "240")


def test_quality_labels_become_letters(real):
    first = real["quality"].items[0]
    assert first.item_id == "leval_00_00"
    assert first.answer in "ABCD"
    assert len(first.options) == 4
    assert first.article.startswith("LOST")
