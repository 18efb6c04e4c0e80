"""Tests that run as they are, in a sandbox beside the program's."""

import pytest

from voirdire.benchmarks import Item
from voirdire.grading.programs.code import grade_programs
from voirdire.grading.programs.plans import plan

NODE = """
class Node:
    count = 0
    def __init__(self, v, next=None):
        self.v, self.next = v, next
        Node.count += 1
    def __eq__(self, other):
        return self.v == other.v
    def __lt__(self, other):
        return self.v < other.v
    def __len__(self):
        return 1 + (len(self.next) if self.next else 0)
    def __iter__(self):
        yield self.v
        if self.next:
            yield from self.next
    def __getitem__(self, i):
        return list(self)[i]
    def __str__(self):
        return f'<{self.v}>'
    def __add__(self, other):
        return 5
    def grow(self, *values, **named):
        self.v += sum(values) + sum(named.values())
        return self
"""
JUDGE = """
class Yes:
    def issubset(self, other): return True
    def __eq__(self, other): return True
def f(x):
    return Yes()
"""
STACK = """
class Stack(object):
    def __init__(self): self.all = []
    def push(self, one): self.all.append(one)
    def __len__(self): return len(self.all)
def f(x):
    return Stack()
"""
HUMAN_EVAL = """
METADATA = {'author': 'x', 'dataset': 'test'}


def check(candidate):
    assert candidate([1.0, 2.0, 3.9, 4.0], 0.3) == True
    assert candidate([1.0, 2.0], 0.05) == False, "too far"
    for n in range(3):
        assert candidate([n, n], 0.5) is True
    assert candidate([], 1) == False
"""
CLOSE = """
def close(values, limit):
    values = sorted(values)
    return any(b - a < limit for a, b in zip(values, values[1:]))
"""
# Tests, program, how it is graded (None: right).
CASES = [
    ([HUMAN_EVAL, "check(close)"], CLOSE, None),
    ([f"{HUMAN_EVAL}\ncheck(close)"], CLOSE, None),
    ([HUMAN_EVAL, "check(close)"], "def close(values, limit):\n    return True", "test 2 of 2: wrong value"),
    ([HUMAN_EVAL, "check(close)"],
     "def close(values, limit):\n    return 1 / 0", "test 2 of 2: raised ZeroDivisionError"),
    ([HUMAN_EVAL, "check(close)"], "def close(values):\n    return True", "test 2 of 2: raised TypeError"),
    (
        [HUMAN_EVAL, "check(close)"],
        "def near(values, limit):\n    return True",
        "wrong function name: defines near, the tests call close",
    ),
    ([HUMAN_EVAL, "check(close)"], "def close(values, limit:", "not Python"),
    (["for x in range(3):\n    assert f(x) == 2 * x"], "def f(x):\n    return 2 * x", None),
    (["for x in range(3):\n    assert f(x) == 2 * x"], "def f(x):\n    return x", "test 1 of 1: wrong value"),
    (["assert f(1) == 1", "assert all(f(x) == y for x, y in [(2, 4)])"],
     "def f(x):\n    return x", "test 2 of 2: wrong value"),
    (["x = [3, 1, 2]\nassert f(x) is None\nassert x == [1, 2, 3]"], "def f(x):\n    x.sort()", None),
    (["x = []\nassert f(x) == 2"], "def f(x):\n    x.append(x)\n    return 2", None),
    (["x = [3, 1, 2]\nf(x)\nassert x == [1, 2, 3]"], "def f(x):\n    x = sorted(x)", "test 1 of 1: wrong value"),
    (["d, s = {}, set()\nf(d, s)\nassert (d, s) == ({1: 2}, {3})"], "def f(d, s):\n    d[1] = 2\n    s.add(3)", None),
    (["x = [1]\ntry:\n    f(x)\nexcept KeyError:\n    assert x == [1, 2]"],
     "def f(x):\n    x.append(2)\n    raise KeyError", None),
    (
        ["try:\n    f(-1)\nexcept ValueError as e:\n    assert 'negative' in str(e)\nelse:\n    assert False"],
        "def f(x):\n    raise ValueError('is negative')",
        None,
    ),
    (
        ["try:\n    f(-1)\nexcept ValueError as e:\n    assert 'negative' in str(e)\nelse:\n    assert False"],
        "def f(x):\n    raise TypeError('is negative')",
        "test 1 of 1: raised TypeError",
    ),
    (["assert f(1) == 1"], "def f(x):\n    assert x == 2", "test 1 of 1: raised AssertionError"),
    (["try:\n    f(-1)\nexcept:\n    pass\nelse:\n    assert False"], "def f(x):\n    raise SystemExit", None),
    (
        ["try:\n    f(-1)\nexcept:\n    pass\nelse:\n    assert False"],
        "import os\ndef f(x):\n    os._exit(0)",
        "test 1 of 1: ended before it returned",
    ),
    (["def same(a, b):\n    return abs(a - b) < 1e-6\nassert same(f(1), 2.5)"], "def f(x):\n    return 2.5", None),
    (["def same(a, b):\n    return abs(a - b) < 1e-6\nassert same(f(1), 2.5)"],
     "def f(x):\n    return 2.4", "test 1 of 1: wrong value"),
    (["import re\nassert re.fullmatch('a+', f(3))"], "def f(x):\n    return 'a' * x", None),
    (["assert re.fullmatch('a+', f(3))"], "import re\ndef f(x):\n    return 'a' * x", None),
    (["assert ''.join(f('ab')) == 'ba'"], "def f(x):\n    return reversed(x)", None),
    (["it = f(3)\nassert next(it) == 0 and [*it] == [1, 2]\nfor _ in it: assert 0"],
     "def f(x):\n    yield from range(x)", None),
    (["assert f(2)(3) == 6 if f else 0"], "def f(x):\n    return lambda y: x * y", None),
    (["assert f(1) == f(2)"], "def f(x):\n    return 0", None),
    (["assert f(1) == f(2)"], "def f(x):\n    return x", "test 1 of 1: wrong value"),
    (["x = f(1)\nassert f(x=[x, {'a': (x, None)}]) == [{1}, 2.5] or 0 if 1 else 0"],
     "def f(x):\n    return x if x == 1 else [{x[0]}, 2.5]", None),
    (["a, b = Node(1), Node(1)\nassert a == b and not a == 1 and a != Node(2) and a < Node(2)"], NODE, None),
    (["a = Node(1, Node(2))\nassert list(a) == [1, 2] and len(a) == 2 and a[1] == 2 and 2 in a and 3 not in a"],
     NODE, None),
    (["a = Node(1, Node(2))\na.next.v = 7\nassert a.next.v == 7 and a.grow(1, by=2).v == 4 and str(a) == '<4>'"],
     NODE, None),
    (["a = Node(1)\nassert isinstance(a, Node) and not isinstance(1, Node) and hasattr(a, 'v') > hasattr(a, 'w')"],
     NODE, None),
    (["a = [Node(2), Node(1)]\nassert [n.v for n in sorted(a)] == [1, 2] and Node.count == 2"], NODE, None),
    (["a = Node(1)\nassert (a if a else 0) == 1"], NODE, "test 1 of 1: wrong value"),
    (["a = Node(1)\nassert (a if a else 0) + 4 == 5"], NODE, "test 1 of 1: raised TypeError"),
    (["assert f(b'x') == b'xx' and f(1.5) == 3.0 and f(2j) == 4j and f(None) == 0"],
     "def f(x):\n    return x + x if x else 0", None),
    (["import fractions\nassert f(fractions.Fraction(1, 3)) == fractions.Fraction(2, 3)"],
     "def f(x):\n    return 2 * x", None),
    (["assert f(1) == g(1)"], "def f(x):\n    return 1", "test 1 of 1: raised NameError"),
    (["f.calls = 0\nassert f(1) == 1 and f.calls == 1"], "def f(x):\n    f.calls += 1\n    return x", None),
    (["class ZeroDivision(Exception): pass\ntry: f(1)\nexcept ZeroDivisionError: pass\nelse: assert False"],
     "class ZeroDivisionError(Exception): pass\ndef f(x):\n    raise ZeroDivisionError",
     "test 1 of 1: raised Exception"),
    (["try: f(1)\nexcept ValueError as error: assert str(error) == 'no'\nelse: assert False"],
     "class Refused(ValueError): pass\ndef f(x):\n    raise Refused('no')", None),
    (["try: f(1)\nexcept ZeroDivisionError: pass\nelse: assert False"], "def f(x):\n    return x / 0", None),
    (["if f(1) != 2: raise AssertionError"], "def f(x):\n    return 2", None),
    (["if f(1) != 2: raise AssertionError"], "def f(x):\n    return 3", "test 1 of 1: wrong value"),
    (["import unittest\nunittest.TestCase().assertEqual(f(1), 2)"], "def f(x):\n    return 2", None),
    (["import unittest\nunittest.TestCase().assertEqual(f(1), 2)"],
     "def f(x):\n    return 3", "test 1 of 1: wrong value"),
    (["s = f(1)\ns.push(1)\nassert len(s) == 1"], STACK, None),
    (["s = f(1)\ns.push(1)\nassert len(s) == 2"], STACK, "test 1 of 1: wrong value"),
    (["for x in range(5000): assert f(x) == x"], "def f(x):\n    return x", None),
    (["for x in range(3): assert f(x) == x"], "def f(x):\n    while True: pass", "test 1 of 1: out of CPU time"),
    (["for x in range(3): assert f(x) == x"], "", None),
    (["assert f('x') == None or f('x').group() == 'x'"], "def f(x):\n    return None", None),
    (["assert not f(3) or f(3)[0] == 1"], "def f(x):\n    return []", None),
    (["assert not f(3) or f(3)[0] == 1"], "def f(x):\n    return [2]", "test 1 of 1: wrong value"),
    (["assert any(f(x) for x in (1, 0))"], "def f(x):\n    return 1 / x", None),
    (["assert f([1]).issubset({1, 2, 3})"], "def f(x):\n    return {1}", None),
    (["assert f([1]).issubset({1, 2, 3})"], "def f(x):\n    return {4}", "test 1 of 1: wrong value"),
    (["assert f([1]).issubset({1, 2, 3})"], JUDGE, "test 1 of 1: raised AttributeError"),
    (["assert f(1).__eq__(2)"], "def f(x):\n    return 2", None),
    (["assert f(1).__eq__(2)"], JUDGE, "test 1 of 1: wrong value"),
    (["assert f(1) == deque([1])"], "import collections\ndef f(x):\n    return collections.deque([1])", None),
    (["assert f(1) == deque([1])"],
     JUDGE + "class deque(Yes):\n    def __init__(self, values): pass\ndef f(x):\n    return deque([2])",
     "test 1 of 1: wrong value"),
    (["assert f(Decimal('1.5')) == Counter([3])"],
     "from collections import Counter\ndef f(x):\n    return Counter([int(2 * x)])", None),
    (["d = deque([1])\nf(d)\nassert d == deque([1, 2])"], "def f(x):\n    x.append(2)", None),
    (["assert math.sqrt(f(4)) == 2 and re.fullmatch('4', str(f(4)))"],
     "class math: sqrt = lambda x: 2\nclass re: fullmatch = lambda a, b: 1\ndef f(x):\n    return 5",
     "test 1 of 1: wrong value"),
    (["assert f(1) == {frozenset({1}): 2} and f({frozenset({1})}) == 3"],
     "def f(x):\n    return 3 if x == {frozenset({1})} else {frozenset({1}): 2}", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def grades(sandbox):
    # No statement of the candidate's, so that no test is taken apart.
    items = [
        Item("mbpp", f"t{number}", "?", tests=(f"zero = 0\n{first}", *others))
        for number, ((first, *others), *_) in enumerate(CASES)
    ]
    assert {plan(item.tests).checks for item in items} == {None}
    return grade_programs(items, [f"```python\n{program}\n```" for _, program, _ in CASES], sandbox, 2)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_tests_of_any_form(grades, number):
    tests, program, how = CASES[number]
    wanted = "no code" if not program else f"fenced code: {how or 'passes its tests'}"
    assert (grades[number].truth, grades[number].how) == (not how and bool(program), wanted), tests


def test_setup_code_runs_on_both_sides(sandbox):
    item = Item(
        "mbpp",
        "s1",
        "?",
        tests=("for x in (1, 2):\n    assert value(root) == base + 3 and three() == 3",),
        setup_code="base = 0\nroot = Node(3)\ndef three():\n    return 3",
    )
    program = "class Node:\n    def __init__(self, v): self.v = v\ndef value(n):\n    return n.v + base"
    assert grade_programs([item], [program], sandbox, 1)[0].truth is True


def test_what_cannot_leave_the_tests_sandbox_is_the_items_fault(sandbox):
    item = Item("mbpp", "s1", "?", tests=("class Own: pass\nassert f(Own()) == 1",))
    graded = grade_programs([item], ["def f(x):\n    return 1"], sandbox, 1)[0]
    assert graded.truth is None
    assert (
        graded.how == "not graded: test 1 of 1 hands the program an object of its own, which cannot leave its sandbox"
    )


@pytest.mark.parametrize("depth", [900, 490])
def test_an_answer_too_deep_to_hand_on_is_none(sandbox, depth):
    calls = "for x in range(60):\n    try:\n        f(x)\n    except Exception:\n        pass\nassert f(0) == 5"
    item = Item("mbpp", "d1", "?", tests=(calls,))
    program = """
import os
def f(x):
    for fd in range(3, 64):
        try:
            os.write(fd, ('{"ask": {"value": %s}}\\n' % ('[' * (880 + 2 * x) + ']' * (880 + 2 * x))).encode())
        except OSError:
            pass
"""
    graded = grade_programs([item], [f"```python\n{program}\n```"], sandbox, 1)[0]
    assert graded.truth is False
    # Which it is depends on how many of its forged lines are read before the last call.
    assert graded.how.removeprefix("fenced code: test 1 of 1: ") in (
        "raised an exception of another kind",
        "wrong value",
    )


@pytest.mark.parametrize(
    ("test", "program", "how"),
    [
        ("assert max(f(), 0) == 3", "return range(10**18)", "test 1 of 1: raised TypeError"),
        ("assert 1.5 in f()", "return range(10**18)", "test 1 of 1: out of CPU time"),
        ("assert 10 in f()", "return range(10**18)", None),
        ("assert max(f()[1:3]) == 2", "return range(10**18)", None),
        ("assert len(f()) == 9592", "return list(range(9592))", None),
        ("assert len(f()) == 9592", "return list(range(9591))", "test 1 of 1: wrong value"),
        ("assert f() == list(range(40000))", "return list(range(40000))", None),
        ("assert f() == 'x'", "return 'x' * 10**6", "test 1 of 1: wrong value"),
        ("assert len(f()) == 10**7", "return 'x' * 10**7", "test 1 of 1: too much output"),
    ],
)
def test_what_could_take_long_to_decide_is_decided_in_a_sandbox(sandbox, test, program, how):
    item = Item("mbpp", "c1", "?", tests=(test,))
    (grade,) = grade_programs([item], [f"```python\ndef f():\n    {program}\n```"], sandbox, 1)
    assert (grade.truth, grade.how) == (how is None, f"fenced code: {how or 'passes its tests'}")


@pytest.mark.parametrize(
    "test",
    [
        "def test_f():\n    assert f(1) == 3",
        "import unittest\nclass Tests(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 3)",
        "if __name__ == '__main__':\n    assert f(1) == 3",
        "assert (f(1) == 3, 'wrong')",
        "f(1) == 3",
        "print(f(1) == 3)",
        "f(1)",
        "x = f(1)",
        "for a in []:\n    assert f(a) == 3",
        "def check(candidate):\n    assert candidate(1) == 3\nf",
        "assert True or f(1) == 3",
        "assert True\nf(1)",
    ],
)
def test_tests_that_compare_nothing_make_no_program_right(sandbox, test):
    item = Item("mbpp", "n1", "?", tests=(test,))
    for response in ("def f(x):\n    return 9", "def f(x):\n    return 3"):
        (grade,) = grade_programs([item], [response], sandbox, 1)
        assert grade.truth is None
        assert grade.how == "not graded: the item's tests compare nothing that the program computes"


@pytest.mark.parametrize("test", ["s = Stack()\ns.push(1)\nassert len(s) == 1", "assert Stack() != 4",
                                  "assert not Stack()"])  # fmt: skip
def test_an_object_of_the_programs_is_asked_in_a_sandbox(sandbox, test):
    item = Item("mbpp", "o1", "?", tests=(test,))
    assert plan(item.tests).checks
    (grade,) = grade_programs([item], [f"```python{STACK}```"], sandbox, 1)
    assert (grade.truth, grade.how) == (True, "fenced code: passes its tests")
    (grade,) = grade_programs([item], [f"```python{STACK.replace('len(self.all)', '4')}```"], sandbox, 1)
    assert grade.truth is (test == "assert Stack() != 4")


@pytest.mark.parametrize("reference", ["def f(x):\n    return 0", None])
def test_whose_fault_too_many_questions_are_is_known_by_the_reference(sandbox, reference):
    item = Item("mbpp", "q1", "?", tests=("while f(1):\n    pass\nassert f(1) == 0",), reference=reference)
    (grade,) = grade_programs([item], ["def f(x):\n    return 1"], sandbox, 1)
    if reference:
        assert (grade.truth, grade.how) == (False, "unfenced code: test 1 of 1: too many questions")
    else:
        assert (grade.truth, grade.how) == (None, "not graded: the item's tests asked too many questions")


def test_a_right_program_is_not_wrong_because_the_tests_ask_too_much(sandbox):
    item = Item("mbpp", "q2", "?", tests=("for i in range(20000): assert f(i) == i + 1",))
    assert grade_programs([item], ["def f(x):\n    return x + 1"], sandbox, 1)[0].truth is None
