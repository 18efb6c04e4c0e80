"""What templates may use, and filling them in."""

import pytest

from voirdire.benchmarks import BENCHMARKS, Item, Source, fill, function_name, load, placeholders, prompt_fields
from voirdire.errors import UserError

NAMES = {
    "gsm8k": {"question"},
    "aime": {"question"},
    "mbpp": {"question", "tests", "setup_code", "function_name"},
    "quality": {"question", "article", "options"},
}


@pytest.mark.parametrize("task", BENCHMARKS)
def test_placeholders_of_each_task(task):
    for item in load(task, Source(), seed=0).items:
        assert set(prompt_fields(item)) == NAMES[task]


def test_neither_answer_nor_reference_is_shown():
    item = Item("gsm8k", "x", "How many?", answer="GOLD", reference="REFERENCE", options=("a", "b", "c", "d"))
    assert "GOLD" not in str(prompt_fields(item))
    assert "REFERENCE" not in str(prompt_fields(item))


def test_options_are_lettered():
    item = Item("quality", "x", "Who?", options=("Ann", "Bo", "Cy", "Di"))
    assert prompt_fields(item)["options"] == "A. Ann\nB. Bo\nC. Cy\nD. Di"


@pytest.mark.parametrize(
    ("tests", "name"),
    [
        (["assert add(1, 2) == 3"], "add"),
        (["assert set(common([1], [1])) == {1}"], "common"),
        (["assert (outer(inner(1))) == 2"], "outer"),
        (["not python (", "assert f(x=[1]) == 1"], "f"),
        (["assert True"], ""),
        ([], ""),
    ],
)
def test_function_name_is_the_outermost_call_that_is_not_built_in(tests, name):
    assert function_name(tests) == name


def test_values_are_not_filled_in_again():
    assert fill("$question", {"question": "$answer ${question} $$ \\1"}) == "$answer ${question} $$ \\1"


def test_dollar_signs_of_the_template():
    assert fill("$$5, $5, $ and ${question}s", {"question": "apple"}) == "$5, $5, $ and apples"


def test_unknown_placeholders_are_all_named_with_the_template():
    with pytest.raises(UserError, match=r"^config/prompts/examinee/gsm8k\.md: unknown placeholder \$answer, \$gold;"):
        fill("$question $gold $answer", {"question": "x"}, "config/prompts/examinee/gsm8k.md")


def test_placeholders_of_a_template():
    assert placeholders("$a ${b} $$c $1") == {"a", "b"}
