"""Another order of options: every letter is right equally often, the right option's words stay right."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from voirdire.benchmarks import Item, Source, check, load, prompt_fields
from voirdire.benchmarks.shuffling import shuffled
from voirdire.errors import UserError
from voirdire.grading import grade
from voirdire.study.config import parse
from voirdire.study.study import Study

OPTIONS = ("Ann", "Bo", "Cy", "Di")


def item(number, answer="A", options=OPTIONS):
    return Item("quality", f"q{number}", "Who?", answer=answer, options=options, article="Once.")


def right(question):
    return question.options["ABCD".index(question.answer)]


@pytest.mark.parametrize("answer", "ABCD")
def test_the_right_option_stays_right_and_every_letter_is_its_equally_often(answer):
    found = [shuffled(item(number, answer), seed=1) for number in range(4000)]
    assert {right(question) for question in found} == {right(item(0, answer))}
    assert {tuple(sorted(question.options)) for question in found} == {OPTIONS}
    counts = Counter(question.answer for question in found)
    # 1,000 each; a standard deviation is 27.
    assert all(880 < counts[letter] < 1120 for letter in "ABCD")
    assert len({question.options for question in found}) == 24


def test_the_order_depends_on_seed_and_item_alone():
    orders = {seed: [shuffled(item(number), seed).options for number in range(50)] for seed in (1, 2)}
    assert orders[1] == [shuffled(item(number), 1).options for number in range(50)]
    same = sum(first == second for first, second in zip(orders[1], orders[2], strict=True))
    assert same < 10
    # The wording of the question changes nothing: correcting it must not move the options.
    assert shuffled(replace(item(3), question="Whose?"), 1).options == orders[1][3]


@pytest.mark.parametrize("number", range(8))
def test_grading_follows_the_new_order(number):
    question = shuffled(item(number, "C"), seed=5)
    assert grade("quality", question, f"Answer: {question.answer}").truth is True
    assert grade("quality", question, "Answer: Cy").truth is True
    for letter in set("ABCD") - {question.answer}:
        assert grade("quality", question, f"Answer: {letter}").truth is False
    shown = prompt_fields(question)["options"]
    assert f"{question.answer}. Cy" in shown


@pytest.mark.parametrize(
    "option",
    [
        "All of the above",
        "none of the above.",
        "Both A and C",
        "both (A) and (B)",
        "A and B",
        "A, B",
        "Option C is wrong",
        "NONE OF THE ABOVE",
        "None of the other options",
        "None of the others",
        "None of these.",
        "Any of these",
        "all of them",
        "The first two options",
        "the last three answers",
        "Neither of the other two options",
        "Both of the previous choices",
        "All the other answers are right",
        "Either B or D",
        "Neither (a) nor (c)",
        "(a) and (b)",
        "both a) and c)",
        "Only A and D",
        "A/C",
        "B & C",
        "A, B, and C",
        "Choices A and C",
        "options 1 and 3",
    ],
)
def test_options_that_mean_others_by_their_place_keep_it(option):
    found = [shuffled(item(number, "D", ("Ann", "Bo", "Cy", option)), seed=1) for number in range(20)]
    assert {(question.options, question.answer) for question in found} == {(("Ann", "Bo", "Cy", option), "D")}


@pytest.mark.parametrize(
    "option",
    [
        "A car above all others",
        "Plan B",
        "Because a bee and a dog fled",
        "Vitamins A to D",
        "both a scholar and a soldier",
        "Either a lie or a joke",
        "Either a lie",
        "Neither a borrower nor a lender",
        "He had no other options",
        "A, the first letter",
        "Only a fool",
        "All of these people were rich",
    ],
)
def test_other_options_move(option):
    found = {shuffled(item(number, "D", ("Ann", "Bo", "Cy", option)), seed=1).answer for number in range(40)}
    assert found == set("ABCD")


def test_a_study_shuffles_only_where_it_says_so():
    plain = load("quality", Source(), seed=3).items
    assert load("quality", Source(), seed=4).items == plain
    shuffling = load("quality", Source(shuffle_options=True), seed=3)
    assert [right(question) for question in shuffling.items] == [right(question) for question in plain]
    assert [question.item_id for question in shuffling.items] == [question.item_id for question in plain]
    moved = sum(one.options != other.options for one, other in zip(shuffling.items, plain, strict=True))
    assert moved > len(plain) / 2
    assert shuffling.metadata["source"] == {"source": "bundled", "shuffle_options": True}
    assert load("quality", Source(shuffle_options=True), seed=3).items == shuffling.items
    assert load("quality", Source(shuffle_options=True, limit=2), seed=3).items == shuffling.items[:2]


def test_a_source_that_does_not_shuffle_has_the_form_it_always_had():
    assert Source.from_dict({"shuffle_options": False}).to_dict() == {"source": "bundled"}
    assert Source.from_dict({"shuffle_options": True}).to_dict() == {"source": "bundled", "shuffle_options": True}


@pytest.mark.parametrize("task", ["gsm8k", "aime", "mbpp"])
def test_items_without_options_are_not_shuffled(task):
    fault = f"benchmarks: {task}: shuffle_options: its items have no options; remove it"
    assert check(task, Source(shuffle_options=True), seed=0) == [fault]
    assert fault in check(task, Source("hub", shuffle_options=True), seed=0)
    with pytest.raises(UserError, match="have no options"):
        load(task, Source(shuffle_options=True), seed=0)


def test_the_job_gets_the_studys_seed_only_where_it_shuffles():
    raw = yaml.safe_load((Path(__file__).parents[2] / "config" / "config.yaml").read_text("utf-8"))
    raw["benchmarks"] = {"gsm8k": {}, "aime": {}, "quality": {}}
    plain = Study(parse(raw, "mine.yaml"), "prompts").benchmark_spec("quality")
    assert plain == '{"seed":0,"source":{"source":"bundled"}}'
    raw["benchmarks"]["quality"] = {"shuffle_options": True}
    spec = json.loads(Study(parse(raw, "mine.yaml"), "prompts").benchmark_spec("quality"))
    assert spec == {"seed": raw["seed"], "source": {"source": "bundled", "shuffle_options": True}}
    raw["benchmarks"]["quality"] = {"shuffle_options": "yes"}
    with pytest.raises(UserError, match=r"mine\.yaml: benchmarks\.quality\.shuffle_options: "):
        parse(raw, "mine.yaml")
