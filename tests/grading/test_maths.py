"""Numbers read from responses as models write them; each line has its right answer."""

import json
from fractions import Fraction

import pytest

from voirdire.benchmarks import Item
from voirdire.grading import Grade, grade
from voirdire.grading.maths import find_number

READ = [
    ("#### 18", 18),
    ("So 9 * 2 = 18.\n#### 18", 18),
    ("#### $18", 18),
    ("#### \\$18", 18),
    ("####18", 18),
    ("#### **18**", 18),
    ("**#### 18**", 18),
    ("#### 18.", 18),
    ("#### 18 dollars", 18),
    ("#### 18.00", 18),
    ("#### 1,234", 1234),
    ("#### $1,234,567.00", 1234567),
    ("#### 70 000", 70000),
    ("#### 70\u2009000", 70000),
    ("#### x = 10", 10),
    ("#### -5", -5),
    ("#### −5", -5),
    ("#### 9 * 2 = 18", 18),
    ("A: 18", 18),
    ("She makes <<9*2=18>>18.\nA: 18", 18),
    ("A: $18 per day", 18),
    ("**A:** 18", 18),
    ("Answer: 18", 18),
    ("**Answer:** 18", 18),
    ("**Answer**: $18", 18),
    ("Final Answer:\n\n18", 18),
    ("**Final Answer**\n\n\\[ \\boxed{18} \\]", 18),
    ("### Answer\n\\boxed{18}", 18),
    ("The answer is 18.", 18),
    ("The answer is 18", 18),
    ("The answer is: 18", 18),
    ("The answer is **18**.", 18),
    ("The final answer is $18$.", 18),
    ("The answer is \\$18.", 18),
    ("The answer is \\(18\\).", 18),
    ("The answer is x = 10.", 10),
    ("The answer is 16 - 3 - 4 = 9 eggs.", 9),
    ("The answer is 18, which is 2 more than 16.", 18),
    ("The answer is 18 (since 9 * 2 = 18).", 18),
    ("The answer is 50%.", 50),
    ("The answer is 50\\%.", 50),
    ("The answer is 45 degrees.", 45),
    ("The answer is 5 million.", 5_000_000),
    ("The answer is $1.5 million.", 1_500_000),
    ("The answer is 18!", 18),
    ("The answer to the question is therefore 18.", 18),
    ("The answer is not 25. The answer is 5.", 5),
    ("The answer is 25. Wait, I forgot to divide. The answer is 5.", 5),
    ("The answer is 5. Check: 5 * 5 = 25.", 5),
    ("The answer is 18% of 50 = 9.", 9),
    ("\\boxed{18}", 18),
    ("$\\boxed{18}$.", 18),
    ("\\boxed 7", 7),
    ("\\fbox{18}", 18),
    ("\\boxed{\\$18}", 18),
    ("\\boxed{18\\%}", 18),
    ("\\boxed{5{,}000}", 5000),
    ("\\boxed{5\\,000}", 5000),
    ("\\boxed{5\\!000}", 5000),
    ("\\boxed{18\\text{ dollars}}", 18),
    ("\\boxed{18 \\text{ apples per day}}", 18),
    ("\\boxed{\\text{18}}", 18),
    ("\\boxed{\\mathbf{18}}", 18),
    ("\\boxed{45^\\circ}", 45),
    ("\\boxed{45^{\\circ}}", 45),
    ("\\boxed{033}", 33),
    ("\\boxed{\\frac{36}{2}}", 18),
    ("\\boxed{\\dfrac{36}{2}}", 18),
    ("\\boxed{36/2}", 18),
    ("\\boxed{18.0}", 18),
    ("\\boxed{-7}", -7),
    ("\\boxed{−7}", -7),
    ("\\boxed{x = 10}", 10),
    ("\\boxed{m+n = 33}", 33),
    ("\\boxed{9 \\times 2 = 18}", 18),
    ("\\boxed{2 \\frac{1}{2}}", Fraction(5, 2)),
    ("\\boxed{1.8 \\times 10^{3}}", 1800),
    ("\\boxed{18} since 9 * 2 = 18 and 18 + 2 = 20", 18),
    ("\\boxed{18}\n\nCheck: 20 - 2 = 18.\n25", 18),
    ("First I thought \\boxed{25}, then \\boxed{5}.", 5),
    ("\\boxed{25}. No: the answer is 5.", 5),
    ("<think>The answer is 25.</think>The answer is 5.", 5),
    ("The answer is 1\u200b8.", 18),
    ("#### Step 1: add 2 and 3\nThe sum is 5.\n#### 5", 5),
    ("x = 10", 10),
    ("Subtract 2 from both sides.\n$x = 10$", 10),
    ("18", 18),
    ("**18**", 18),
    ("$18", 18),
    ("Therefore, Janet makes $18 every day.", 18),
    ("She sells 9 eggs. So she makes 9 * 2 = $18 every day.", 18),
    ("The answer is 2 1/2.", Fraction(5, 2)),
    ("The answer is .5", Fraction(1, 2)),
    ("The answer is negative 3.", -3),
    ("The answer is 6.02e3", 6020),
    ("The answer is $5\\text{ million}$.", 5_000_000),
    ("Answer: 12 more apples", 12),
    ("#### 18 km/h", 18),
    ("\\boxed{18 \\text{ cm}^2}", 18),
    ("\\boxed{18\\,\\text{cm}^{3}}", 18),
    ("\\boxed{18 km/h}", 18),
]
UNREAD = [
    "",
    "   ",
    "I don't know.",
    "She has 16 - 3 = 13 eggs, and then 13",
    "She has 16 - 3 = 13 eggs left and sells them for 2",
    "First, 16 - 3 = 13.\nThen she bakes 4, so she has 13 - 4 =",
    "The answer is",
    "The answer is \\boxed{",
    "The answer is \\boxed{18",
    "The answer is 2:30.",
    "The answer is between 5 and 10.",
    "The answer is 5 or 10.",
    "The answer is 5, 10.",
    "The answer is 3:2.",
    "\\boxed{2^5}",
    "\\boxed{3\\sqrt{2}}",
    "\\boxed{18\\pi}",
    "\\boxed{(3, 5)}",
    "\\boxed{\\text{no solution}}",
    "\\boxed{}",
    "\\boxed{5!}",
    "\\boxed{18k}",
    "The answer is 5 more than 13.",
    "The answer is 5 out of 13.",
    "The answer is 9 * 2",
    "The answer is 18% of 50, which is 9.",
    "The answer is not 5.",
    "1. Add the numbers.\n2.",
    "This answer is reasonable.",
]


@pytest.mark.parametrize(("response", "right"), READ)
def test_reads_the_committed_number(response, right):
    value, how = find_number(response)
    assert value == right, how


@pytest.mark.parametrize("response", UNREAD)
def test_nothing_committed_is_no_answer(response):
    value, how = find_number(response)
    assert value is None
    assert "no" in how


@pytest.mark.parametrize(
    ("answer", "response", "truth"),
    [
        ("5", "The answer is 25.", False),
        ("30", "The answer is 2:30.", False),
        ("33", "\\boxed{033}", True),
        ("033", "\\boxed{33}", True),
        ("18", "The answer is 18.0", True),
        ("18", "The answer is 18.01", False),
        ("1000000", "#### 1,000,000", True),
        ("18", "no idea", False),
        ("2.5", "#### 5/2", True),
        ("18", "#### " + "9" * 5000, False),
    ],
)
def test_numbers_are_compared_exactly(answer, response, truth):
    assert grade("aime", Item("aime", "a1", "?", answer=answer), response).truth is truth


def test_answer_is_in_its_shortest_form():
    item = Item("gsm8k", "g1", "?", answer="2.5")
    assert grade("gsm8k", item, "#### $02.50").answer == "2.5"
    assert grade("gsm8k", item, "#### 1/3").answer == "1/3"
    assert grade("gsm8k", item, "#### 1,000").answer == "1000"
    assert grade("gsm8k", item, "no idea") == Grade(False, None, "no answer: nothing committed")


def test_item_without_a_number_for_answer_has_no_truth():
    graded = grade("gsm8k", Item("gsm8k", "g1", "?", answer="eighteen"), "#### 18")
    assert graded.truth is None
    assert graded.how == "not graded: the item's answer is not a number"
    assert grade("gsm8k", Item("gsm8k", "g1", "?"), "#### 18").truth is None


@pytest.mark.parametrize(
    "hostile",
    [
        "\x00#### 18\x00",
        "\u202e#### 18",
        "\ud83d #### 18",
        "x" * 1_000_000 + "\n#### 18",
        "answer " * 100_000 + "\n#### 18",
        "\\boxed{" * 50_000 + "\n#### 18",
        "1,2 " * 100_000 + "\n#### 18",
        "(" * 100_000 + "\n#### 18",
        "<<" * 100_000 + "\n#### 18",
    ],
    ids=["nul", "direction", "surrogate", "megabyte", "words", "boxes", "numbers", "brackets", "notes"],
)
def test_hostile_text_around_an_answer_does_no_harm(hostile):
    assert grade("gsm8k", Item("gsm8k", "g1", "?", answer="18"), hostile).truth is True


def test_agrees_with_the_publisher_on_all_real_responses(shared_data):
    with open(shared_data / "benchmarks" / "gsm8k_test.jsonl", encoding="utf-8") as file:
        answers = [json.loads(line)["answer"].rsplit("####", 1)[1] for line in file]
    with open(shared_data / "generations" / "gsm8k_openai.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert len(records) == 5276
    items = [Item("gsm8k", "g", "?", answer=answer.strip()) for answer in answers]
    different = [
        (record["item"], record["examinee"])
        for record in records
        if grade("gsm8k", items[record["item"]], record["response"]).truth != record["is_correct"]
    ]
    assert different == []
