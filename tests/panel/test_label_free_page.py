"""The page on label-free estimates says what the verdicts give."""

import re
from pathlib import Path

import pytest
from label_free_page import page

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "label_free.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d+\.\d+")


@pytest.mark.slow
def test_the_page_is_what_the_verdicts_give(shared_data):
    made = page(shared_data / "verdicts")
    assert NUMBER.sub("N", made).split() == NUMBER.sub("N", PAGE).split()
    # To the last digit shown, which the order of a sum may move.
    pairs = list(zip(NUMBER.findall(made), NUMBER.findall(PAGE), strict=True))
    assert [(a, b) for a, b in pairs if abs(float(a) - float(b)) > 1.01 * 10 ** -len(b.split(".")[1])] == []


def test_the_page_promises_nothing():
    assert "cannot be identified from verdicts alone" in PAGE
    assert "It promises nothing" in PAGE
    assert "| without labels | **unusable** | **no evidence against** | **no evidence against** |" in PAGE
