"""Letters read from responses as models write them; each line has its right letter."""

import time

import pytest
from choice_texts import ABOUT_REASONS, OPTIONS, READ, REASONS, UNREAD

from voirdire.benchmarks import Item
from voirdire.grading import grade
from voirdire.grading.options.choice import find_letter


@pytest.mark.parametrize(("response", "letter"), READ)
def test_reads_the_letter_decided_for(response, letter):
    assert find_letter(response, OPTIONS)[0] == letter


@pytest.mark.parametrize("response", UNREAD)
def test_no_decision_is_no_answer(response):
    letter, how = find_letter(response, OPTIONS)
    assert letter is None, how
    assert how.startswith(("no answer", "undecided"))


@pytest.mark.parametrize(("response", "letter"), ABOUT_REASONS)
def test_reads_longer_answers_to_longer_options(response, letter):
    assert find_letter(response, REASONS)[0] == letter


def test_options_are_read_in_the_items_order():
    item = Item("quality", "q1", "Where?", answer="C", options=tuple(reversed(OPTIONS)), article="Once.")
    assert grade("quality", item, "The old ship in the harbour").answer == "C"
    assert grade("quality", item, "Answer: The old ship in the harbour").truth is True


def test_grade_compares_letters():
    item = Item("quality", "q1", "Where?", answer="B", options=OPTIONS, article="Once.")
    assert grade("quality", item, "Answer: B").truth is True
    assert grade("quality", item, "Answer: D").truth is False
    undecided = grade("quality", item, "B or D")
    assert (undecided.truth, undecided.answer) == (False, None)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "answer is ",
            "answer: b c ",
            "the answer is A or ",
            "answer to the ",
            "option ",
            "x A, ",
            "A. ",
            "A\n",
            "B or ",
        ),
        *(
            "not ",
            "only ",
            "so ",
            "I think ",
            "A: correct; ",
            "a car ",
            "(",
            "*",
            "?",
            "\\text{",
            "答案：",
            " \n",
            "\x00",
        ),
        *("\ud83d", "\u202e", "<think>", "most x "),
    ],
    ids=ascii,
)
def test_a_megabyte_of_anything_takes_no_time_and_hides_no_answer(piece):
    hostile = piece * (1_000_000 // len(piece.encode("utf-8", "surrogatepass")))
    began = time.process_time()
    letter, how = find_letter(hostile, OPTIONS)
    last, _ = find_letter(f"{hostile}.\n\nAnswer: D", OPTIONS)
    assert time.process_time() - began < 30
    assert letter is None or piece in ("A: correct; ", "A. ", "A\n"), how
    assert last == "D" or piece == "<think>"
