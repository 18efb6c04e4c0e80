"""Every prompt template of the workflow: what it shows, what it never shows, and what a label changes."""

import difflib
from pathlib import Path

import pytest

from voirdire.benchmarks import BENCHMARKS, Item, Source, load
from voirdire.judging import examinee_prompt, judge_prompt, parse_verdict

PROMPTS = Path(__file__).parents[2] / "config" / "prompts"
TEMPLATES = sorted(folder.name for folder in (PROMPTS / "judge").iterdir())
JUDGED = [(name, task) for name in TEMPLATES for task in BENCHMARKS]
# The words a template's last line asks for.
ASKS = {"default": "Reply with a single word: correct or incorrect."}
ASKS_BY_CONTRACT = "one line that says VERDICT: correct or VERDICT: incorrect, and write nothing after it."
ITEMS = {
    "gsm8k": Item("gsm8k", "g1", "What is 9 * 2 in dollars ($)?", answer="GOLD-1"),
    "aime": Item("aime", "a1", "Find $n$ with $n^2 = 4$.", answer="GOLD-2"),
    "mbpp": Item("mbpp", "m1", "Write f.", tests=("assert f(1) == 2", "assert f(2) == 3"), reference="GOLD-3"),
    "quality": Item("quality", "q1", "Who?", answer="GOLD-4", options=("Ann", "Bo", "Cy", "Di"), article="Once."),
}  # fmt: skip
RESPONSE = "Each costs $2.\n\n    def f(x): return x + 1\n\nAnswer: B"


def template(name, task):
    return (PROMPTS / "judge" / name / f"{task}.md").read_text("utf-8")


def ask(name, task, label=None):
    return judge_prompt(template(name, task), ITEMS[task], RESPONSE, label, seed=1)


def test_there_are_the_papers_prompt_and_two_that_let_the_judge_think():
    assert {"default", "reason", "rubric"} <= set(TEMPLATES)


@pytest.mark.parametrize(("name", "task"), JUDGED)
def test_a_label_changes_exactly_one_line(name, task):
    blind, elite, author = (ask(name, task, label).split("\n") for label in (None, "GPT-5", "Llama\n3.3 70B"))
    assert _changes(blind, elite) == ["- ", "+ The response was written by GPT-5."]
    assert _changes(blind, author) == ["- ", "+ The response was written by Llama 3.3 70B."]
    assert _changes(elite, author) == [
        "- The response was written by GPT-5.",
        "+ The response was written by Llama 3.3 70B.",
    ]


def _changes(before, after):
    return [line for line in difflib.ndiff(before, after) if line[0] in "+-"]


@pytest.mark.parametrize(("name", "task"), JUDGED)
def test_the_judge_sees_the_material_and_the_whole_response_but_never_the_right_answer(name, task):
    prompt = ask(name, task)
    assert "GOLD" not in prompt
    assert ITEMS[task].question in prompt
    assert RESPONSE in prompt
    assert "$question" not in prompt
    if task == "mbpp":
        assert "assert f(1) == 2\nassert f(2) == 3" in prompt
    if task == "quality":
        assert "Once." in prompt
        assert "A. Ann\nB. Bo\nC. Cy\nD. Di" in prompt


@pytest.mark.parametrize(("name", "task"), JUDGED)
def test_the_last_line_asks_for_the_verdict_and_is_none_itself(name, task):
    text = template(name, task)
    assert text.splitlines()[-1].endswith(ASKS.get(name, ASKS_BY_CONTRACT))
    # A judge that repeats the prompt, whole or in part, has given no verdict.
    assert parse_verdict(text).status == "unparsed"
    assert parse_verdict(text.splitlines()[-1]).status == "unparsed"
    assert parse_verdict(ask(name, task)).status == "unparsed"


@pytest.mark.parametrize("name", TEMPLATES)
def test_all_templates_of_a_task_introduce_the_response_in_the_same_words(name):
    for task in BENCHMARKS:
        default, other = (template(which, task) for which in ("default", name))
        end = default.index("$response") + len("$response")
        assert other.startswith(default[:end])


@pytest.mark.parametrize("task", BENCHMARKS)
def test_the_right_answer_is_in_no_examinees_prompt(task):
    prompt = examinee_prompt((PROMPTS / "examinee" / f"{task}.md").read_text("utf-8"), ITEMS[task])
    assert "GOLD" not in prompt
    assert ITEMS[task].question in prompt


@pytest.mark.parametrize("task", BENCHMARKS)
def test_every_bundled_item_makes_all_prompts(task):
    items = load(task, Source(kind="bundled"), seed=0).items
    assert items
    examinees = (PROMPTS / "examinee" / f"{task}.md").read_text("utf-8")
    templates = [template(name, task) for name in TEMPLATES]
    for item in items:
        assert item.question in examinee_prompt(examinees, item)
        assert all(item.question in judge_prompt(text, item, "It is 19.", None, seed=1) for text in templates)
