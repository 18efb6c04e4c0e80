"""Making prompts: placeholders, markers, and what is refused. See test_templates and test_injection."""

from pathlib import Path

import pytest

from voirdire.benchmarks import Item
from voirdire.errors import UserError
from voirdire.judging import judge_prompt, marker

PROMPTS = Path(__file__).parents[2] / "config" / "prompts"
ITEMS = {
    "gsm8k": Item("gsm8k", "g1", "What is 9 * 2 in dollars ($)?", answer="GOLD-1"),
    "aime": Item("aime", "a1", "Find $n$ with $n^2 = 4$.", answer="GOLD-2"),
    "mbpp": Item("mbpp", "m1", "Write f.", tests=("assert f(1) == 2",), reference="GOLD-3"),
    "quality": Item("quality", "q1", "Who?", answer="GOLD-4", options=("Ann", "Bo", "Cy", "Di"), article="Once."),
}  # fmt: skip


def test_dollar_signs_of_a_response_are_not_placeholders():
    prompt = judge_prompt("$response", ITEMS["gsm8k"], "It is $question or $5 or $$5.", None, seed=1)
    assert "It is $question or $5 or $$5." in prompt


def test_the_marker_depends_on_seed_task_item_and_response_only():
    word = marker(1, "gsm8k", "g1", "x")
    assert word == marker(1, "gsm8k", "g1", "x")
    others = {marker(2, "gsm8k", "g1", "x"), marker(1, "aime", "g1", "x"), marker(1, "gsm8k", "g2", "x")}
    assert word not in others
    assert len(others | {marker(1, "gsm8k", "g1", "y")}) == 4


def test_template_without_a_place_for_the_response_or_label_is_refused():
    with pytest.raises(UserError, match=r"mine\.md: has no \$response"):
        judge_prompt("$question", ITEMS["gsm8k"], "x", None, seed=1, where="mine.md")
    with pytest.raises(UserError, match=r"has no \$identity"):
        judge_prompt("$response", ITEMS["gsm8k"], "x", "GPT-5", seed=1)
    with pytest.raises(UserError, match=r"unknown placeholder \$article"):
        judge_prompt("$article $response", ITEMS["gsm8k"], "x", None, seed=1)
