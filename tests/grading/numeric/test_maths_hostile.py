"""Bad input to the reading of numbers: hostile texts of a megabyte, odd characters, gold answers of many forms."""

import time

import pytest

from voirdire.benchmarks import Item
from voirdire.grading import Grade, grade
from voirdire.grading.numeric.answer import find_number

MEGABYTE = 1_000_000
REPEATED = [
    "1",
    " ",
    "\\frac{",
    "answer is ",
    "\\boxed{",
    "\\boxed{1}",
    "$",
    "A: \n",
    "(",
    "{",
    "*",
    "<<",
    "1,2 ",
    "1 ",
    "answer ",
    "#### ",
    "Q:\n",
    "so ",
    "½",
    "答案是",
    "x<think>",
    "\u0000",
    "\u202e",
    "\\boxed{2^{10}}",
]
MORE_REPEATED = [
    "\n",
    "A: 1\n",
    ")",
    "}",
    "**",
    "*a",
    "* 1",
    "`",
    "~",
    "~~",
    "<<1",
    "<",
    "<a",
    "_",
    "_a",
    "=",
    "= 1 ",
    "1=",
    "-",
    "- ",
    "1-",
    "1,",
    "1.",
    "1.1",
    "1 000 ",
    "'",
    "1'",
    '"',
    "|",
    "| answer ",
    "answer",
    "answer:",
    "answer: ",
    "answer:\n",
    "answer\n",
    "the answer 1",
    "is the answer ",
    "1 is the answer ",
    "#### a\n",
    "####\n",
    "Q: 1\n",
    "wait ",
    "wait, ",
    "wait no ",
    "actually ",
    "no, ",
    "so, ",
    "therefore 1 ",
    "\\text{",
    "\\text{1}",
    "^",
    "^{",
    "1^",
    "\\",
    "\\ ",
    "\\,",
    "¹",
    "一",
    "答案",
    "respuesta ",
    "respuesta 1",
    "one ",
    "one hundred ",
    "hundred ",
    "and ",
    "one-",
    "a hundred ",
    "not 1 but ",
    "in 1, ",
    "<answer>",
    "<answer>1",
    "</think>",
    "x<think></think>",
    "I made a ",
    "if ",
    "\ud83d",
    "\u200b",
    "e",
    "1e9",
    "9^",
    "k",
    "1k ",
    "1 million ",
    "half ",
    "Mr. ",
    ". ",
    "! ",
    "?",
    "1/",
    "/",
    "1:",
    "\t",
    "\r",
    "oxed{1}",
    "boxed ",
    "boxed",
    "should be ",
    "wait should be ",
    "final ",
    "final answer ",
    "ans",
    "ans: ",
    "ANS. x\n",
    "correction: ",
    "\\[",
    "\\(",
    "is ",
    "-\\boxed{1}",
    " - answer",
    "答 ",
    "antwort a",
    "it is wrong. ",
    "**1** ",
    "\\left",
    "\\$",
    "$1 M",
    "1 dollars and ",
    "x 1",
    "1 x 1 x ",
    "\\color{",
    "1 percent",
    "cm^",
    "ab/",
    "1\n",
    "x = ",
    "x=1\n",
    "1 apples and 2 ",
    "1 a or 2 a ",
    "the total ",
    "his a total",
    "from 1 to ",
    "between ",
    "the all ",
]


def graded(answer, response):
    return grade("gsm8k", Item("gsm8k", "g1", "?", answer=answer), response)


@pytest.mark.parametrize(
    "piece", [*REPEATED, *(pytest.param(piece, marks=pytest.mark.slow) for piece in MORE_REPEATED)]
)
def test_megabyte_of_anything_is_read_in_linear_time(piece):
    text = piece * (MEGABYTE // len(piece) + 1)
    start = time.process_time()
    alone, _ = find_number(text[:MEGABYTE])
    before_answer, _ = find_number(text[:MEGABYTE] + "\n#### 18")
    # About a second at most; quadratic time takes minutes.
    assert time.process_time() - start < 20
    assert alone is None or "1" in piece
    assert before_answer == 18


@pytest.mark.parametrize(
    "response",
    [
        "\x00#### 18\x00",
        "#### 1\x008",
        "\u202e#### 18",
        "#### \u202e18\u202c",
        "\ud83d #### 18",
        "#### 18\udc00",
        "\ufeff#### 18",
        "#### 18\r\n",
        "#### 18\r",
        "####\u00a018",
        "#### 1\u200b8",
        "#### 1\u00ad8",
        "x" * MEGABYTE + "\n#### 18",
    ],
)
def test_odd_characters_around_an_answer_do_no_harm(response):
    assert graded("18", response) == Grade(True, "18", "####")


def test_empty_response_is_wrong():
    for response in ("", " \n\t", "\x00", "\u200b", "\ud800"):
        assert graded("18", response) == Grade(False, None, "no answer: empty")


@pytest.mark.parametrize(
    ("gold", "response"),
    [
        ("1,000", "#### 1000"),
        ("1000", "#### 1,000"),
        ("18.0", "#### 18"),
        (" 18 ", "#### 18"),
        ("$18", "#### 18"),
        ("-3", "#### \u22123"),
        ("\\frac{1}{2}", "#### 0.5"),
        ("1/2", "\\boxed{\\frac{1}{2}}"),
        ("033", "\\boxed{33}"),
        ("0", "#### 0.00"),
    ],
)
def test_gold_answer_of_any_form_is_its_number(gold, response):
    assert graded(gold, response).truth is True
    assert graded(gold, "#### 77").truth is False


@pytest.mark.parametrize("gold", ["eighteen", "", "none", "x", "2:30", "5 or 10", "(3, 5)", "n/a", "1/0", "\x00"])
def test_gold_answer_that_is_no_number_gives_no_truth(gold):
    assert graded(gold, "#### 18") == Grade(None, None, "not graded: the item's answer is not a number")


def test_huge_numbers_are_compared_exactly_and_no_longer_ones_read():
    number = "1" + "0" * 98
    assert graded(number, f"#### {number}") == Grade(True, number, "####")
    assert graded(number, f"#### {number[:-1]}1").truth is False
    assert graded("18", "#### " + "9" * 5000).answer is None
    assert graded("18", "\\boxed{1e999}").answer is None
    assert graded("18", "\\boxed{1e50}").answer == "1" + "0" * 50
    assert graded("18", "\\boxed{10^{90}}").answer in ("1" + "0" * 90, None)
    assert len(graded("18", "#### 1/" + "7" * 90).answer) < 200
    assert graded("18", "#### 0." + "3" * 80).answer is not None
