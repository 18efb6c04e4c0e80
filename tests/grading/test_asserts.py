"""Tests taken apart: what goes into the sandbox never holds the expected value where that can be helped."""

import decimal
import fractions
import json

import pytest

from voirdire.grading.asserts import checks
from voirdire.grading.runner import encode
from voirdire.grading.wire import decode


@pytest.mark.parametrize(
    ("test", "inside"),
    [
        ("assert f(1, [2]) == 4", ["f(1, [2])"]),
        ("assert f(g(1)) == 4", ["f(g(1))"]),
        ("assert 4 == f(1)", ["f(1)"]),
        ("assert f(1) == -4.5", ["f(1)"]),
        ("assert sorted(f(1)) == [1, 2]", ["f(1)"]),
        ("assert set(f(1)) == set([1, 2])", ["f(1)"]),
        ("assert abs(f(1) - 2.5) < 1e-6", ["f(1)"]),
        ("assert math.isclose(f(1), 2.5, rel_tol=0.001)", ["f(1)"]),
        ("assert not f(1)", ["f(1)"]),
        ("assert f(1) is None", ["f(1)"]),
        ("assert f(1) == 4, 'f is wrong'", ["f(1)"]),
        ("assert f(1) == f(2)", ["f(1)", "f(2)"]),
        ("assert Box(3).get() == 4", ["Box(3).get()"]),
    ],
)
def test_only_the_calls_go_in(test, inside):
    (check,) = checks([test])
    assert [step["call"] for step in check.inside("nonce")] == inside


def test_two_asserts_in_one_test_are_two_checks():
    assert len(checks(["assert f(1) == 2; assert f(2) == 3"])) == 2


@pytest.mark.parametrize("test", ["assert [f(x) for x in (1, 2)] == [2, 4]", "for x in (1, 2):\n    assert f(x)"])
def test_other_forms_run_whole_and_answer_with_a_random_word(test):
    (check,) = checks([test])
    assert [set(step) for step in check.inside("nonce")] == [{"run", "nonce"}]
    assert check.passes([(["s", "nonce"], 12)], "nonce")
    assert not check.passes([(["s", "guess"], 12)], "nonce")
    assert not check.passes([], "nonce")


def outside(test, *values):
    """Whether a test passes when its calls return these values."""
    messages = [json.dumps(encode(value)) for value in values]
    (check,) = checks([test])
    return check.passes([(json.loads(message), len(message)) for message in messages], "nonce")


@pytest.mark.parametrize(
    ("test", "value", "passes"),
    [
        ("assert f() == 4", 4, True),
        ("assert f() == 4", 4.0, True),
        ("assert f() == 4", 5, False),
        ("assert f() == 4", "4", False),
        ("assert f() == 1", True, True),
        ("assert f() == [1, 2]", [1, 2], True),
        ("assert f() == [1, 2]", (1, 2), False),
        ("assert f() == {1, 2}", {2, 1}, True),
        ("assert f() == {'a': [1]}", {"a": [1]}, True),
        ("assert f() == 0.1", 0.1, True),
        ("assert f() == 0.1", 0.1000001, False),
        ("assert f() == 0.5", fractions.Fraction(1, 2), True),
        ("assert f() == 0.5", decimal.Decimal("0.5"), True),
        ("assert f() == None", None, True),
        ("assert f() == [1]", iter([1]), False),
        ("assert f() == 2 ** 70", 2**70, True),
        ("assert f() == 'ü\\n'", "ü\n", True),
        ("assert f() == b'x'", b"x", True),
        ("assert f() == 1j", 1j, True),
        ("assert not f()", [], True),
        ("assert f() != 4", object(), True),
        ("assert len(f()) == 2", "ab", True),
        ("assert sum(f()) == 3", 5, False),
    ],
)
def test_values_compare_as_in_python(test, value, passes):
    if "**" in test:
        test = f"assert f() == {2**70}"
    assert outside(test, value) is passes


def test_a_value_far_longer_than_the_test_is_not_even_read():
    assert not outside("assert f() == 4", "9" * 100_000)


def test_a_subclass_counts_by_what_its_base_type_holds():
    class Liar(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

    assert not outside("assert f() == 4", Liar(5))
    assert outside("assert f() == 5", Liar(5))


@pytest.mark.parametrize(
    "message",
    [None, [], {}, ["i"], ["i", "z"], ["i", []], ["l", 5], ["e", [["l", [["n"]]]]], ["q", "0x1", "0x0"], ["c", "0x1"]],
)
def test_forged_messages_are_refused(message):
    with pytest.raises(ValueError, match="not a typed value"):
        decode(message)


def test_a_deep_value_is_refused():
    message: list[object] = ["n"]
    for _ in range(2000):
        message = ["l", [message]]
    with pytest.raises(ValueError, match="not a typed value"):
        decode(message)
