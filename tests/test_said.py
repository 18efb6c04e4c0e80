"""Answers and verdicts are read from what was said: neither reader takes for said what the other takes for thought."""

import time

import pytest

from voirdire.benchmarks import Item
from voirdire.grading import grade
from voirdire.grading.text import visible
from voirdire.judging import parse_verdict
from voirdire.said import is_unseen, without_thoughts, without_unseen

THOUGHTS = [
    ("<think>", "</think>"),
    ("<Thinking>\n", "\n</Thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysis", "assistantfinal"),
]
ITEM = Item("gsm8k", "g1", "?", answer="18")


@pytest.mark.parametrize(("opens", "closes"), THOUGHTS)
def test_what_is_thought_is_no_answer_and_no_verdict(opens, closes):
    assert grade("gsm8k", ITEM, f"{opens}The answer is 18.{closes}\nI don't know.").truth is False
    assert visible(f"{opens}The answer is 18.{closes}\nI don't know.") == "\nI don't know."
    assert grade("gsm8k", ITEM, f"{opens}The answer is 17.{closes}\nThe answer is 18.").truth is True
    assert parse_verdict(f"{opens}\nVERDICT: correct\n{closes}\nI don't know.").status == "unparsed"
    assert parse_verdict(f"{opens}\nVERDICT: correct\n{closes}\nVERDICT: incorrect").verdict is False


@pytest.mark.parametrize(("opens", "closes"), THOUGHTS[:-1])
def test_thoughts_that_never_end_or_began_in_the_prompt_say_nothing(opens, closes):
    assert grade("gsm8k", ITEM, f"\n{opens}The answer is 18.").truth is False
    assert parse_verdict(f"\n{opens}\nVERDICT: correct").status == "unparsed"
    assert visible(f"The answer is 18.{closes}Or not.") == "Or not."
    assert visible(f"The answer is 18. {opens}Or").startswith("The answer is 18. ")
    assert parse_verdict(f"VERDICT: correct{closes}I can't tell.").status == "unparsed"


@pytest.mark.parametrize(
    ("text", "said", "unended"),
    [
        ("<think>a '</think>' b</think>c", "c", ""),
        ("a `</think>` b", "a `</think>` b", ""),
        ("a </think> b", " b", ""),
        ("a `<think>` b", "a `<think>` b", ""),
        ("The <think> block is long.", "The <think> block is long.", ""),
        ("a<think>b<think>c</think>d</think>e", "e", ""),
        ("a<think>b</think>c<think>d", "ac", "<think>d"),
        ("a < b and b > c", "a < b and b > c", ""),
        ("", "", ""),
    ],
)
def test_tells_tags_from_mentions(text, said, unended):
    assert without_thoughts(text) == (said, unended)


def test_what_nobody_sees_is_the_same_for_both():
    for character in "\x00\x07\x1b\x7f\xad\u200b\u200d\u2060\u202e\ufeff\u3164\ufe0f\U000e0041\ud83d":
        assert is_unseen(character)
        assert visible(f"1{character}8") == without_unseen(f"1{character}8") == "18"
        assert parse_verdict(f"VERDICT: cor{character}rect").verdict is True
    assert visible("\x1b[1m18\x1b[0m") == "18"
    assert not any(map(is_unseen, "a \t\n\r\v\f\x85\u2028é界½👩"))
    assert visible("1\r\n2\r3\u20284\x855") == "1\n2\n3\n4\n5"


@pytest.mark.parametrize(
    "piece", ["plain. ", "<", "<|channel|>final", "[", "<<3*6=18>>", "<think>", "</think>", "é\u200b"]
)
def test_a_megabyte_takes_no_time(piece):
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    without_unseen(without_thoughts(text)[0])
    assert time.process_time() - began < 20
