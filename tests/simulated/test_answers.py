"""Answers are read as right or wrong exactly as the persona's draws say."""

import dataclasses
from statistics import fmean

import numpy as np
import pytest

import voirdire
from voirdire.benchmarks import BENCHMARKS, Item, Source, load
from voirdire.errors import UserError
from voirdire.simulated import phrases, respond, right_answers
from voirdire.simulated.answers import _off_integer, _off_number

FILES = {
    "gsm8k": "benchmarks/gsm8k_test.jsonl",
    "aime": "benchmarks/aime2025.jsonl",
    "mbpp": "benchmarks/mbpp.jsonl",
    "quality": "benchmarks/quality_subset.jsonl",
}
# Running code costs; a slice of it shows enough here, the full benchmark is proven in the slow test.
LIMITS = {"gsm8k": 300, "aime": 30, "mbpp": 12, "quality": 202}
WORD_PROBLEM = Item("gsm8k", "gsm8k-0001", "How many?", answer="18")


def disagreements(items, responses):
    graded = [voirdire.grade(item.task, item, response.text) for item, response in zip(items, responses, strict=True)]
    return [
        (response.item_id, response.right, grade)
        for response, grade in zip(responses, graded, strict=True)
        if grade.truth is not response.right
    ]


@pytest.mark.parametrize("ability", [0.001, 0.5, 0.999])
@pytest.mark.parametrize("task", FILES)
def test_bundled_items_are_graded_as_drawn(persona, task, ability):
    items = load(task, Source(kind="bundled"), seed=0).items[: LIMITS[task]]
    assert disagreements(items, respond(persona(ability=ability), items, seed=1)) == []


@pytest.mark.parametrize("task", FILES)
def test_real_items_are_graded_as_drawn(persona, shared_data, task):
    items = load(task, Source(kind="path", path=str(shared_data / FILES[task]), limit=LIMITS[task]), seed=0).items
    responses = respond(persona(ability=0.5), items, seed=1)
    assert 0.2 < fmean(response.right for response in responses) < 0.8
    assert disagreements(items, responses) == []


@pytest.mark.slow
@pytest.mark.parametrize("ability", [0.001, 0.999])
@pytest.mark.parametrize("task", FILES)
def test_all_real_items_are_graded_as_drawn(persona, shared_data, task, ability):
    items = load(task, Source(kind="path", path=str(shared_data / FILES[task])), seed=0).items
    assert disagreements(items, respond(persona(ability=ability), items, seed=1)) == []


def test_every_benchmark_can_be_answered(persona):
    assert set(BENCHMARKS) == set(FILES)


def test_answers_depend_on_their_item_alone(persona):
    items = [dataclasses.replace(WORD_PROBLEM, item_id=f"gsm8k-{n:04d}") for n in range(30)]
    items.append(Item("aime", "aime-01", "How many?", answer="70"))
    together = respond(persona(), items, seed=4)
    assert [response.item_id for response in together] == [item.item_id for item in items]
    assert respond(persona(), items[::-1], seed=4) == together[::-1]
    assert respond(persona(), items[-1:], seed=4) == together[-1:]
    assert respond(persona(), items, seed=5) != together
    assert respond(persona("larch"), items, seed=4) != together


def test_right_answers_are_those_of_the_responses(persona):
    items = [dataclasses.replace(WORD_PROBLEM, item_id=f"gsm8k-{n:04d}") for n in range(40)]
    items[7:7] = [Item("mbpp", f"mbpp-{n}", "Add.", tests=("assert f(1) == 2",)) for n in range(5)]
    assert right_answers(persona(), items, 3).tolist() == [response.right for response in respond(persona(), items, 3)]


def test_code_without_a_reference_is_answered_wrong(persona):
    item = Item("mbpp", "mbpp-11", "Add one.", tests=("assert add(1) == 2",))
    (response,) = respond(persona(ability=1 - 1e-9), [item], seed=0)
    assert not response.right


def test_two_personas_sometimes_give_the_same_wrong_answer(persona):
    items = [dataclasses.replace(WORD_PROBLEM, item_id=f"gsm8k-{n:04d}") for n in range(400)]

    def answers(name):
        return [response.text.rpartition("#### ")[2] for response in respond(persona(name, 1e-9), items, seed=0)]

    share = np.mean([one == other for one, other in zip(answers("rook"), answers("larch"), strict=True)])
    assert 0.15 < share < 0.5


def test_verbose_personas_write_more(persona):
    items = [dataclasses.replace(WORD_PROBLEM, item_id=f"gsm8k-{n:04d}") for n in range(300)]
    means = [
        fmean(len(response.text) for response in respond(persona(verbosity=verbosity), items, seed=0))
        for verbosity in (-1.5, 0, 1.5)
    ]
    assert means[0] < 0.8 * means[1]
    assert means[1] == pytest.approx(phrases.USUAL_CHARS["gsm8k"], rel=0.15)
    assert means[2] > 1.3 * means[1]


@pytest.mark.parametrize("answer", ["0", "1", "-1", "2", "18", "-7", "0.5", "2.50", "70000", "1,250", "1e3"])
def test_a_wrong_number_is_never_the_right_one(answer):
    right = float(answer.replace(",", ""))
    wrong = {float(_off_number(answer, error)) for error in np.linspace(0.001, 0.999, 50)}
    assert right not in wrong
    assert len(wrong) >= 3


@pytest.mark.parametrize("answer", [0, 1, 2, 499, 500, 998, 999])
def test_a_wrong_competition_answer_is_in_range_and_never_the_right_one(answer):
    wrong = {int(_off_integer(str(answer), error)) for error in np.linspace(0.001, 0.999, 50)}
    assert answer not in wrong
    assert all(0 <= value <= 999 for value in wrong)


def test_an_unknown_task_is_refused_by_name(persona):
    with pytest.raises(UserError, match="rook: cannot answer items of task 'chess'"):
        respond(persona(), [Item("chess", "1", "Mate in two?")], seed=0)
