"""Letters read from responses as models write them; each line has its right letter."""

import pytest

from voirdire.benchmarks import Item
from voirdire.grading import grade
from voirdire.grading.choice import find_letter

OPTIONS = ("A car", "The old ship in the harbour", "No", "He was afraid of the Tr'en")
READ = [
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("B.", "B"),
    ("**B**", "B"),
    ("**B.** The old ship in the harbour", "B"),
    ("B) The old ship in the harbour", "B"),
    ("B because a car cannot swim.", "B"),
    ("B, since a car cannot swim. C is tempting.", "B"),
    ("B: the text says so.", "B"),
    ("Answer: B", "B"),
    ("**Answer:** B", "B"),
    ("**Answer: B**", "B"),
    ("ANSWER: (B)", "B"),
    ("Answer: b", "B"),
    ("The ship is named in the first line.\n\nAnswer: B", "B"),
    ("Answer: B\n\nThe text says that a car cannot swim.", "B"),
    ("The answer is B.", "B"),
    ("The answer is (B).", "B"),
    ("The correct answer is B) The old ship in the harbour.", "B"),
    ("The correct option is **B**.", "B"),
    ("The best answer is option B.", "B"),
    ("The answer is: B", "B"),
    ("The answer must be D.", "D"),
    ("The answer is A because he drove.", "A"),
    ("The answer is A.", "A"),
    ("Option C is correct.", "C"),
    ("C is the correct answer.", "C"),
    ("D is the best answer since he ran away.", "D"),
    ("I choose D.", "D"),
    ("I would go with D.", "D"),
    ("It is not B, so D.", "D"),
    ("It can't be B, so the answer is D.", "D"),
    ("The answer is not B. Therefore D.", "D"),
    ("The answer is B. Wait, on reading again, the answer is D.", "D"),
    ("I first chose A, but the answer is D.", "D"),
    ("\\boxed{B}", "B"),
    ("$\\boxed{\\text{B}}$", "B"),
    ("A. A car: no.\nB. The old ship: no.\nD. He was afraid: yes.\n\nAnswer: D", "D"),
    ("He says so in the last paragraph.\n\nD", "D"),
    ("He says so in the last paragraph.\n\n(D) He was afraid of the Tr'en", "D"),
    ("<think>Answer: A</think>Answer: B", "B"),
    ("The old ship in the harbour", "B"),
    ("the old ship in the harbour.", "B"),
    ("The answer is: The old ship in the harbour.", "B"),
    ("No", "C"),
    ("The answer is definitely D.", "D"),
    ("The correct answer isn't B but D.", "D"),
    ("I think B and D both fit, but D.", "D"),
    ("I'd say D.", "D"),
    ("Option D: he ran.", "D"),
    ("<answer>D</answer>", "D"),
    ("The answer is D, so B is wrong.", "D"),
    ("The answer is D. I considered B, but B is wrong.", "D"),
    ("The text says that he was afraid of the Tr'en.", "D"),
]
UNREAD = [
    "",
    "I don't know.",
    "None of the above.",
    "None of the above is right.",
    "B or D",
    "The answer is B or D.",
    "It could be A or C.",
    "Both A and B fit.",
    "The answer is not B.",
    "A car is mentioned in the text.",
    "The answer is a matter of taste.",
    "As the text says, he left.",
    "A. A car: no.\nB. The old ship: no.\nC. No: perhaps.",
    "E",
]


@pytest.mark.parametrize(("response", "letter"), READ)
def test_reads_the_letter_decided_for(response, letter):
    assert find_letter(response, OPTIONS)[0] == letter


@pytest.mark.parametrize("response", UNREAD)
def test_no_decision_is_no_answer(response):
    letter, how = find_letter(response, OPTIONS)
    assert letter is None, how
    assert how.startswith(("no answer", "undecided"))


def test_grade_compares_letters():
    item = Item("quality", "q1", "Where?", answer="B", options=OPTIONS, article="Once.")
    assert grade("quality", item, "Answer: B").truth is True
    assert grade("quality", item, "Answer: D").truth is False
    undecided = grade("quality", item, "B or D")
    assert (undecided.truth, undecided.answer) == (False, None)


@pytest.mark.parametrize("hostile", ["answer is " * 100_000, "x A, " * 100_000, "(" * 100_000, "\x00\ud83d\u202e"])
def test_hostile_text_is_no_answer_and_takes_no_time(hostile):
    assert find_letter(hostile, OPTIONS)[0] is None
    assert find_letter(hostile + "\nAnswer: D", OPTIONS)[0] == "D"
