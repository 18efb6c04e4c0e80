"""Wrong code is plausible and fails; nothing here runs anything but code written in this test."""

import pytest

from voirdire.simulated.code import function_name, wrong_code

FACTORIAL = "def fact(n):\n    return 1 if n == 0 else n * fact(n - 1)"


def passes(code, test):
    names = {}
    exec(code, names)
    try:
        exec(test, names)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("variant", range(4))
@pytest.mark.parametrize(
    "expected",
    [
        *(0, 1, -1, 7, True, False, None, 0.0, 2.5, 1e300, -1e16, 3 + 2j),
        *("", "abc", "aa", b"xy", [], [0], [1, 1], [[1], [2]], (), (0,), (2, 2), set(), {3}, {1, 2}, {}, {"a": 1}),
    ],
)
def test_wrong_code_fails_whatever_the_expected_value(expected, variant):
    reference = f"def f(x):\n    return {expected!r}"
    test = f"assert f(1) == {expected!r}"
    assert passes(reference, test)
    assert not passes(wrong_code((test,), reference, variant), test)


def test_faults_of_a_recursive_function_do_not_cancel_out():
    test = "assert fact(5) == 120"
    assert passes(FACTORIAL, test)
    code = wrong_code((test,), FACTORIAL, 0)
    assert not passes(code, test)
    assert passes(code, "assert fact(5) == 121")


def test_a_large_float_is_missed_by_more_than_a_tolerance():
    code = wrong_code(("assert f() == 2e9",), "def f():\n    return 2e9", 0)
    assert passes(code, "assert abs(f() - 2e9) > 1e8")


def test_a_name_in_use_is_not_taken():
    reference = "def f_core(x):\n    return x\ndef f(x):\n    return f_core(x)"
    assert passes(wrong_code(("assert f(2) == 2",), reference, 0), "assert f(2) == 3")


@pytest.mark.parametrize(
    "test",
    [
        "assert not f(2)",
        "assert f(2) is None",
        "assert f(2) == g(3)",
        "assert set(f(2)) == {1}",
        "assert math.isclose(f(2), 1.0, rel_tol=0.5)",
    ],
)
def test_code_gives_up_where_the_assert_shows_no_expected_value(test):
    code = wrong_code((test,), "def f(x):\n    return 1", 0)
    compile(code, "wrong", "exec")
    with pytest.raises(ValueError, match="no case matches"):
        exec(code + "\nf(2)", {})


@pytest.mark.parametrize(("tests", "reference"), [((), FACTORIAL), (("assert fact(1) == 1",), None), ((), None)])
def test_missing_tests_or_reference_still_give_failing_code(tests, reference):
    assert 'raise ValueError("no case matches the given input")' in wrong_code(tests, reference, 3)


def test_the_function_is_the_one_that_the_reference_defines():
    assert function_name(("assert set(odd([1])) == set([1])",), "def odd(values):\n    return values") == "odd"
    assert function_name(("assert odd([1]) == [1]",)) == "odd"
    assert function_name(()) is None
