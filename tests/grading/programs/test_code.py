"""Programs taken from responses, and run against their tests."""

import json
import re
import time
from dataclasses import replace

import pytest

from voirdire.benchmarks import Item, Source, load
from voirdire.errors import UserError
from voirdire.grading import grade, grade_many
from voirdire.grading.inside.runner import choose
from voirdire.grading.programs.code import code_blocks, grade_programs
from voirdire.grading.programs.plans import plan
from voirdire.grading.programs.readout import Ran, verdict
from voirdire.grading.sandbox import backends
from voirdire.grading.sandbox.sandbox import Outcome

ITEM = Item("mbpp", "m1", "Double it.", tests=("assert double(2) == 4", "assert double(0) == 0"))
DOUBLE = "def double(x):\n    return 2 * x"
HELPED = "def double(x):\n    return twice_of(x)"
RIGHT = [
    DOUBLE,
    f"```python\n{DOUBLE}\n```",
    f"```\n{DOUBLE}\n```",
    f"```py\n{DOUBLE}",
    f"```Python\n{DOUBLE}\n```",
    f"```python3\n{DOUBLE}\n```",
    f"``` python\n{DOUBLE}\n```",
    f"```{{.python .numberLines}}\n{DOUBLE}\n```",
    f"```python title=double.py\n{DOUBLE}\n```",
    f"```solution\n{DOUBLE}\n```",
    f"~~~python\n{DOUBLE}\n~~~",
    f"````python\n{DOUBLE}\n````",
    f"> ```python\n{DOUBLE}\n> ```",
    f"Sure! Here it is:\n\n{DOUBLE}\n\nIt multiplies by 2. It's simple.",
    f"Sure!\n```python\n{DOUBLE}\n```\nExample:\n```python\nprint(double(3))\n```\nOutput:\n```\n6\n```",
    f"```python\n{DOUBLE}\n```\nIn use:\n```python\nresult = double(3)\n```",
    f"```python\n{DOUBLE}\n```\nTests:\n```python\nfrom double import double\nassert double(2) == 4\n```",
    "```python\nfrom operator import neg as double\ndef double(x, by=2):\n    return by * x\n```",
    "```python\nfrom functools import partial\nfrom operator import mul\ndouble = partial(mul, 2)\n```",
    f"```python\nassert double(2) == 4\n```\nSo:\n```python\n{DOUBLE}\n```",
    f"```python\ndef double(x):\n    return x\n```\nThat is wrong. Better:\n```python\n{DOUBLE}\n```",
    f"```python\ndef double(x:\n    return x\n```\nThat doesn't parse. Better:\n```python\n{DOUBLE}\n```",
    f"```python\n{DOUBLE}\n```\nNever write:\n```python\ndef double(x:\n    retrun x\n```",
    "```python\nFACTOR = 2\n```\nand\n```python\ndef double(x):\n    return FACTOR * x\n```",
    f"```python\n{HELPED}\n```\nwhere\n```python\ndef twice_of(x):\n    return x + x\n```",
    "```python\nimport operator\n```\nThen:\n```python\ndef double(x):\n    return operator.mul(2, x)\n```",
    "import operator\n\nWith it:\n\ndef double(x):\n    return operator.mul(2, x)\n\nThat is all.",
    f"```python\n{DOUBLE}\n\nassert double(1) == 3\n```",
    f"```python\n{DOUBLE}\n\nif __name__ == '__main__':\n    print(double(int(input())))\n```",
    f"```python\n{DOUBLE}\n\nprint(double(int(input())))\n```",
    f"```python\n{DOUBLE}\n\ndef main():\n    print(double(int(input())))\n\nmain()\n```",
    f"```python\n{DOUBLE}\n\n>>> double(2)\n4\n```",
    "```python\n>>> def double(x):\n...     return 2 * x\n...\n>>> double(2)\n4\n```",
    "```pycon\n>>> FACTOR = 2\n>>> def double(x):\n...     return FACTOR * x\n...\n```",
    f"```python\n{DOUBLE}\n\nprint double(2)\n```",
    f"```python\n{DOUBLE}\n\nNote that x may be any number.\n```",
    "1. Use this:\n\n    ```python\n    def double(x):\n        return 2 * x\n    ```\n2. Done.",
    "- So:\n\t```python\n\tdef double(x):\n\t\treturn 2 * x\n\t```",
    "```python\ndef double(x):\n\treturn 2 * x\n```",
    "```python\ndouble = lambda x: 2 * x\n```",
    "```python def double(x): return 2 * x```",
    "```def double(x): return 2 * x```",
    "It is `def double(x): return 2 * x`, of course.",
    "It is `double = lambda x: 2 * x`.",
    "```python\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    v: int\n"
    "def double(x):\n    return P(2 * x).v\n```",
    "```python\nimport functools\n@functools.lru_cache(maxsize=None)\ndef double(x: int) -> int:\n"
    "    return y if (y := 2 * x) else 0\n```",
    "```python\nfrom typing import Union\ndef double(x: Union[int, float]) -> 'Number':\n"
    '    """Doubles.\n\n    >>> double(2)\n    4\n    """\n    return 2 * x\n```',
    "```python\nclass Doubler:\n    def double(self, x):\n        return 2 * x\ndouble = Doubler().double\n```",
    "```python\ntry:\n    import numpy\nexcept ImportError:\n    def double(x):\n        return 2 * x\n```",
    "```python\nasync def later(x):\n    return 2 * x\ndef double(x):\n    import asyncio\n"
    "    return asyncio.run(later(x))\n```",
    f"[PYTHON]\n{DOUBLE}\n[/PYTHON]",
    f"[BEGIN]\n{DOUBLE}\n[DONE]",
    f"```python\r\n{DOUBLE}\r\n```".replace("\n    ", "\r\n    "),
    f"<think>\n```python\ndef double(x):\n    return 1\n```\n</think>\n```python\n{DOUBLE}\n```",
    "```python\ndef double(x):\n    return 2.0 * x\n```",
    "```python\ndef double(x):\n    return 2 * x if x &gt; 0 and x &lt; 99 else &quot;&quot; or 2 * x\n```",
    "```python\ndef double(x):\n    return {\u201ca\u201d: 2 * x}[\u2018a\u2019]\n```",
    "```python\ndef double(x):\n\u00a0\u00a0\u00a0\u00a0return 2 * x\n```",
    "```python\ndef double\uff08x\uff09\uff1a\n    return 2 * x\n```",
    "```python\n\ufeffdef double(x):\n    return 2\u200b * x\n```",
    f"```bash\npip install double\n```\n```java\nint double(int x) {{}}\n```\n```python\n{DOUBLE}\n```",
    f"```python\n# -*- coding: latin-1 -*-\n{DOUBLE}\n```",
    "```python\nfrom __future__ import annotations\ndef double(x: Any) -> Any:\n    return 2 * x\n```",
]
WRONG = [
    ("```python\ndef double(x):\n    return 3 * x\n```", "fenced code: test 1 of 2: wrong value"),
    ("```python\ndef double(x):\n    return 4\n```", "fenced code: test 2 of 2: wrong value"),
    ("```python\ndef double(x):\n    return x[0]\n```", "fenced code: test 1 of 2: raised TypeError"),
    (
        "```python\ndef twice(x):\n    return 2 * x\n```",
        "fenced code: wrong function name: defines twice, the tests call double",
    ),
    (
        "```python\ndef a(x): pass\ndef b(x): pass\nclass C: pass\ndef d(x): pass\n```",
        "fenced code: wrong function name: defines a, b, d and 1 more, the tests call double",
    ),
    (
        "```python\ndef probe(x): pass\nv = 1\nv = 2\nv: int = 3\n```",
        "fenced code: wrong function name: defines probe, v, the tests call double",
    ),
    (
        "```python\nclass Solution:\n    def double(self, x):\n        return 2 * x\n```",
        "fenced code: wrong function name: double is a method of Solution, the tests call a function",
    ),
    (
        "class Solution:\n    def double(self, x):\n        return 2 * x",
        "unfenced code: wrong function name: double is a method of Solution, the tests call a function",
    ),
    (
        "```python\ndef Double(x):\n    return 2 * x\n```",
        "fenced code: wrong function name: defines Double, the tests call double",
    ),
    (
        "```python\nprint(2 * int(input()))\n```",
        "fenced code: wrong function name: defines nothing and raised EOFError, the tests call double",
    ),
    ("```python\ndef double(x:\n    return 2 * x\n```", "fenced code: not Python"),
    ("```python\ndef double(x):\n    print 2 * x\n```", "fenced code: not Python"),
    ("```python\nfunction double(x) { return 2 * x; }\n```", "fenced code: not Python"),
    ("```javascript\nfunction double(x) { return 2 * x; }\n```", "no code"),
    ("I can't do that.", "no code"),
    ("From what I see, import duties double. Class dismissed.", "no code"),
    ("", "no code"),
    (" \n\t\r\n", "no code"),
    ("```python\n```", "no code"),
    ("```python", "no code"),
    ("<think>\ndef double(x):\n    return 2 * x\n</think>", "no code"),
    ("```python\ndef double(x):\n    yield 2 * x\n```", "fenced code: test 1 of 2: wrong value"),
    ("```python\nasync def double(x):\n    return 2 * x\n```", "fenced code: test 1 of 2: wrong value"),
    ("```python\ndef double(x):\n    return str(2 * x)\n```", "fenced code: test 1 of 2: wrong value"),
    ("```python\ndef double(x):\n    print(2 * x)\n```", "fenced code: test 1 of 2: wrong value"),
    (
        "```python\nimport nowhere\ndef double(x):\n    return 2 * x\n```",
        "fenced code: raised ModuleNotFoundError before it defined double",
    ),
    (f"```python\n{HELPED}\n```", "fenced code: test 1 of 2: raised NameError"),
    (
        f"```python\n{DOUBLE}\n```\nBetter:\n```python\ndef double(x):\n    return x ** 3\n```\n",
        "fenced code: test 1 of 2: wrong value",
    ),
]


@pytest.fixture(scope="module")
def grades(sandbox):
    """Grades of all responses above, in one job."""
    responses = [*RIGHT, *(response for response, _ in WRONG)]
    return dict(zip(responses, grade_programs([ITEM] * len(responses), responses, sandbox, 2), strict=True))


@pytest.mark.parametrize("response", RIGHT)
def test_a_right_program_is_found_and_passes(grades, response):
    assert grades[response].truth is True, grades[response].how
    assert grades[response].sandbox == "bubblewrap"


@pytest.mark.parametrize(("response", "how"), WRONG)
def test_a_wrong_program_is_wrong_and_says_why(grades, response, how):
    assert grades[response].truth is False
    if how:
        assert grades[response].how == how


def test_the_answer_is_the_program(grades):
    assert grades[RIGHT[7]].answer == DOUBLE


def test_blocks_of_other_languages_are_no_code():
    assert code_blocks("```bash\npip install x\n```\n```python\nx = 1\n```\n```output\n1\n```")[0] == ["x = 1"]


def test_the_last_block_that_defines_the_function_wins():
    assert choose(["def f(): return 1", "def f(): return 2", "f()"], "", "f") == ("def f(): return 2", "fenced code")


@pytest.mark.parametrize(
    ("item", "how"),
    [
        (Item("mbpp", "m1", "?"), "not graded: the item has no tests"),
        (Item("mbpp", "m1", "?", tests=("assert f(",)), "not graded: the item's tests or setup code are not Python"),
        (
            Item("mbpp", "m1", "?", tests=("assert f('\0')",)),
            "not graded: the item's tests or setup code are not Python",
        ),
        (
            Item("mbpp", "m1", "?", tests=("assert f() == 1",), setup_code="class"),
            "not graded: the item's tests or setup code are not Python",
        ),
        (Item("mbpp", "m1", "?", tests=("assert 1 == 1",)), "not graded: the item's tests ask nothing of the program"),
    ],
)
def test_a_broken_item_has_no_truth(sandbox, item, how):
    graded = grade_programs([item], [DOUBLE], sandbox, 1)[0]
    assert (graded.truth, graded.how) == (None, how)


@pytest.mark.parametrize(
    ("tests", "reference", "why"),
    [
        (("assert double(1) == 2", "assert double(2) == 5"), DOUBLE, "test 2 of 2: wrong value"),
        (("assert double(0) == 1",), "def double(x):\n    return 1 / x", "test 1 of 1: raised ZeroDivisionError"),
        (("assert double(1) == 3",), "def double(x):\n    while True: pass", "test 1 of 1: out of CPU time"),
        (("assert double(1) == 3",), DOUBLE.replace("double", "twice"),
         "wrong function name: defines twice, the tests call double"),
        (("assert double(1) == 3",), "def double(x", "not Python"),
        (("for x in (1, 2):\n    assert double(x) == 3 * x",), DOUBLE, "test 1 of 1: wrong value"),
        (("import nowhere\nassert nowhere.isclose(double(1), 2)",), DOUBLE, "test 1 of 1: raised ModuleNotFoundError"),
    ],
)  # fmt: skip
def test_an_item_whose_reference_fails_is_reported_and_fails_nobody(sandbox, tests, reference, why):
    item = Item("mbpp", "b1", "?", tests=tests, reference=reference)
    wrong, unread, right = "def double(x):\n    return 9", "I can't.", "def double(x):\n    return 3 * x"
    graded = grade_programs([item] * 3, [wrong, unread, right], sandbox, 2)
    how = f"not graded: the item's reference solution fails its own tests ({why})"
    assert [(one.truth, one.how) for one in graded[:2]] == [(None, how)] * 2
    assert graded[0].answer == wrong
    assert graded[2].truth in (True, None)
    assert (graded[2].truth is True) == ("3" in tests[0])


def test_a_reference_is_run_once_and_only_where_a_response_failed(sandbox, monkeypatch):
    ran = []
    run = type(sandbox).run
    monkeypatch.setattr(type(sandbox), "run", lambda self, job: ran.append(list(job["blocks"])) or run(self, job))
    good = Item("mbpp", "g1", "?", tests=("assert double(2) == 4",), reference=f"{DOUBLE}  # of g1")
    other = Item("mbpp", "g2", "?", tests=("assert double(2) == 4",), reference=f"{DOUBLE}  # of g2")
    without = Item("mbpp", "g3", "?", tests=("assert double(2) == 5",))
    wrong = "def double(x):\n    return 9"
    for _ in range(2):
        graded = grade_programs([good, good, other, without], [wrong, wrong, DOUBLE, wrong], sandbox, 2)
        assert [one.truth for one in graded] == [False, False, True, False]
    assert [blocks for blocks in ran if blocks] == [[good.reference]]


BAD_INPUT = {
    "empty": ("", False, "no code"),
    "1 MB of a letter": ("x" * 10**6, False, "no code"),
    "1 MB of prose, then code": ("I think so. " * 90_000 + f"\n```python\n{DOUBLE}\n```", True, None),
    "code, then 1 MB of prose": (f"```python\n{DOUBLE}\n```\n" + "I think so. " * 90_000, True, None),
    "code without a fence, then 1 MB of lines": (f"{DOUBLE}\n\n" + "from here to there\n" * 60_000, True, None),
    "1 MB of beginnings": ("def \nclass \n" * 80_000, False, "no code"),
    "1 MB of fences": ("```\n" * 250_000, False, "no code"),
    "1 MB of brackets": ("```python\n" + "(" * 10**6 + "\n```", False, "fenced code: not Python"),
    "NUL bytes": (f"```python\n{DOUBLE}\0\n```\0", True, None),
    "a right-to-left override": (DOUBLE.replace("(x)", "(\u202ex\u202c)"), True, None),
    "a lone surrogate": (json.loads('"# \\ud83d is half\\ndef double(x):\\n    return 2 * x"'), True, None),
    "a lone surrogate's escape": ("def double(x):\n    return '\\ud800'", False, "test 1 of 2: wrong value"),
    "line ends of other kinds": (DOUBLE.replace("\n", "\r") + "\x0c\x85", True, None),
    "nested minus signs": ("```python\ndef double(x):\n    return " + "-" * 99_000 + "x\n```", False, "not Python"),
    "nested brackets": ("```python\ndef double(x):\n    return " + "[" * 150 + "x" + "]" * 150, False, "wrong value"),
    "nested blocks": ("\n".join(" " * n + "if 1:" for n in range(150)), False, "no code"),
    "a deep tree": ("```python\ndef double(x):\n    return x" + "+x" * 20_000 + "\n```", False, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_has_its_right_value(sandbox, name):
    response, truth, how = BAD_INPUT[name]
    graded = grade_programs([ITEM], [response], sandbox, 1)[0]
    assert (graded.truth, how is None or how in graded.how) == (truth, True), graded.how
    # A table takes it.
    assert json.loads(json.dumps(graded.answer)) == graded.answer
    assert not re.search("[\ud800-\udfff\\0]", graded.answer or "")


@pytest.mark.parametrize(
    "text",
    [
        "\n",
        "`",
        "```\n",
        "``` ",
        "~~~a\n",
        "<think>",
        "[PYTHON]\n",
        "\t[",
        "> ",
        "`def x",
        "`x = lambda",
        "\r",
        "```python x\n",
    ],
)
def test_blocks_are_found_in_linear_time(text):
    start = time.process_time()
    code_blocks(text * (1_000_000 // len(text)))
    code_blocks(f"```{text * (100_000 // len(text))}`")
    assert time.process_time() - start < 20


def test_setup_code_runs_before_the_program_or_after_it(sandbox):
    before = Item("mbpp", "m1", "?", tests=("assert f() == 3",), setup_code="THREE = 3")
    after = Item("mbpp", "m2", "?", tests=("assert value(node) == 3",), setup_code="node = Node(3)")
    node = "class Node:\n    def __init__(self, v):\n        self.v = v\ndef value(n):\n    return n.v"
    graded = grade_programs([before, after], ["def f():\n    return THREE", node], sandbox, 1)
    assert [one.truth for one in graded] == [True, True]


def test_a_sandbox_that_does_not_start_leaves_the_truth_open(sandbox):
    broken = backends.replace(sandbox, command=("/bin/false",))
    graded = grade_programs([ITEM], [DOUBLE], broken, 1)[0]
    assert graded.truth is None
    assert graded.how == "not graded: the sandbox did not start (exit)"


def test_unsafe_is_chosen_by_hand_and_named():
    graded = grade("mbpp", ITEM, DOUBLE, sandbox="unsafe")
    assert (graded.truth, graded.sandbox) == (True, "unsafe")


def test_unknown_sandbox_and_task_are_refused():
    with pytest.raises(UserError, match="unknown choice 'docker'"):
        grade("mbpp", ITEM, DOUBLE, sandbox="docker")
    with pytest.raises(UserError, match="unknown task 'chess'"):
        grade("chess", ITEM, DOUBLE)
    with pytest.raises(UserError, match="2 items but 1 responses"):
        grade_many("mbpp", [ITEM, ITEM], [DOUBLE])


def references(shared_data):
    return load("mbpp", Source(kind="path", path=str(shared_data / "benchmarks" / "mbpp.jsonl")), 0).items


def passes_plainly(code, tests):
    """An independent reference: the asserts run here, in this process. For trusted programs only."""
    namespace = {}
    exec(code, namespace)
    for test in tests:
        exec(test, namespace)
    return True


def solutions(shared_data):
    """Items and programs of GPT-4 with the publisher's grades."""
    with open(shared_data / "generations" / "mbpp_gpt4.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    found = []
    for record in records:
        tests = tuple(
            line.strip().replace("candidate(", f"{record['entry_point']}(")
            for line in record["test"].split("\n")
            if line.strip().startswith("assert")
        )
        found.append((Item("mbpp", record["name"], "?", tests=tests), record["solution"], record["is_solved"]))
    return found


# Solved by their own asserts, run in plain Python as well, though the publisher's file says otherwise.
PUBLISHER_ERRORS = {
    "mbpp_67_bell_number",
    "mbpp_170_sum_range_list",
    "mbpp_419_round_and_sum",
    "mbpp_598_armstrong_number",
    "mbpp_724_power_base_sum",
    "mbpp_798__sum",
}


def disagreements(found, graded):
    return [
        (item, program, is_solved, one.truth)
        for (item, program, is_solved), one in zip(found, graded, strict=True)
        if one.truth != is_solved
    ]


def test_a_slice_of_reference_solutions_passes(shared_data, sandbox):
    items = references(shared_data)[::20]
    graded = grade_programs(items, [f"```python\n{item.reference}\n```" for item in items], sandbox, 2)
    assert [(item.item_id, one.how) for item, one in zip(items, graded, strict=True) if not one.truth] == []


def test_a_slice_of_real_solutions_agrees_with_the_publisher(shared_data, sandbox):
    found = solutions(shared_data)[::25]
    graded = grade_programs([item for item, *_ in found], [program for _, program, _ in found], sandbox, 2)
    assert {item.item_id for item, *_ in disagreements(found, graded)} <= PUBLISHER_ERRORS


@pytest.mark.slow
def test_all_reference_solutions_pass(shared_data):
    items = references(shared_data)
    graded = grade_many("mbpp", items, [f"```python\n{item.reference}\n```" for item in items])
    assert len(graded) == 500
    assert [(item.item_id, one.how) for item, one in zip(items, graded, strict=True) if not one.truth] == []


@pytest.mark.slow
def test_all_real_solutions_agree_with_the_publisher_but_for_its_errors(shared_data):
    found = solutions(shared_data)
    assert len(found) == 794
    graded = grade_many("mbpp", [item for item, *_ in found], [program for _, program, _ in found])
    different = disagreements(found, graded)
    assert {item.item_id for item, *_ in different} == PUBLISHER_ERRORS
    for item, program, is_solved, truth in different:
        assert (is_solved, truth) == (False, True)
        assert passes_plainly(program, item.tests)


def test_a_reference_that_got_no_time_is_run_again(sandbox, monkeypatch):
    item = Item("mbpp", "n1", "?", tests=("assert double(2) == 5",), reference=f"{DOUBLE}  # of n1")
    wrong, run, busy = "def double(x):\n    return 9", type(sandbox).run, [True]

    def sometimes(self, job):
        if item.reference in job["blocks"] and busy:
            busy.clear()
            return Outcome((), "busy", False, "")
        return run(self, job)

    monkeypatch.setattr(type(sandbox), "run", sometimes)
    assert grade_programs([item], [wrong], sandbox, 1)[0].truth is False
    assert not busy
    assert grade_programs([item], [wrong], sandbox, 1)[0].truth is None


@pytest.mark.parametrize(
    ("messages", "ended", "truth", "how"),
    [
        ((), "exit", None, "not graded: the sandbox ended before the code was read"),
        ((({"setup_failed": "X"}, 9),), "exit", None, "not graded: the sandbox ended before the code was read"),
        ((({"code": None, "how": "no code"}, 9),), "exit", False, "no code"),
        ((), "killed", False, "the code was not read: killed at a limit or by itself"),
        ((), "cpu", False, "the code was not read: out of CPU time"),
    ],
)
def test_where_no_code_was_read_it_is_wrong_only_if_that_explains_it(messages, ended, truth, how):
    found = verdict(plan(ITEM.tests), 2, Ran(Outcome(messages, ended, True, "")), "none")
    assert (found.truth, found.answer, found.how) == (truth, None, how)


def test_setup_code_that_ends_the_runner_is_nobodys_fault(sandbox):
    item = replace(ITEM, setup_code="import os\nos._exit(0)")
    assert grade_programs([item], [DOUBLE], sandbox, 1)[0].truth is None
