"""Math-Verify as the second opinion on formulas, in a process that hostile ones can't hang."""

import json
import multiprocessing
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from voirdire.benchmarks import Item
from voirdire.errors import UserError
from voirdire.grading import grade
from voirdire.grading.numeric import opinion
from voirdire.grading.numeric.answer import find_number
from voirdire.grading.numeric.opinion import exact_value

pytest.importorskip("math_verify")
sympy = pytest.importorskip("sympy")

# Passes every guard, and has 1.6 million digits to the power of 9999.
HOSTILE = r"\boxed{(9999^{9999}+1+1+1+1+1)^{9999}}"
EVALUATED = [
    ("\\boxed{2^{10}}", 1024),
    ("\\boxed{\\binom{10}{3}}", 120),
    ("\\boxed{3\\sqrt{4}}", 6),
    ("\\boxed{5!}", 120),
    ("\\boxed{9 \\cdot 2}", 18),
    ("\\boxed{\\sqrt{144}}", 12),
    ("\\boxed{2^5}", 32),
    ("\\boxed{2⁵}", 32),
    ("The answer is $2^{10}$.", 1024),
    ("The answer is 9 * 2.", 18),
    ("#### 9 * 2", 18),
    ("\\boxed{x = 2^3 + 1}", 9),
    ("\\boxed{2^3 \\text{ ways}}", 8),
    ("\\boxed{\\frac{\\sqrt{16}}{2}}", 2),
    ("\\boxed{10^3 - 1}", 999),
    ("<answer>2^5</answer>", 32),
    ("\\boxed{10^6}", 1000000),
    ("\\boxed{10^{6} \\text{ ways}}", 1000000),
    ("\\boxed{2^4 \\cdot 3}", 48),
    ("\\boxed{\\frac{8!}{6!}}", 56),
    ("\\boxed{|{-7}|}", 7),
    ("\\boxed{-2^2}", -4),
    ("\\boxed{(-2)^2}", 4),
    ("\\boxed{\\lfloor 7.9 \\rfloor}", 7),
    ("\\boxed{\\sqrt[3]{27}}", 3),
    ("\\boxed{\\log_2 8}", 3),
    ("\\boxed{\\gcd(12, 18)}", 6),
    ("\\boxed{\\sqrt{3^2 + 4^2}}", 5),
    ("\\boxed{1 - \\frac{1}{4}}", Fraction(3, 4)),
    ("\\boxed{\\frac{1}{2}+\\frac{1}{3}}", Fraction(5, 6)),
    ("\\boxed{3 \\times 10^2 + 5}", 305),
    ("The answer is $2^5$.", 32),
    ("The answer is $5!$.", 120),
    ("The answer is \\(\\sqrt{144}\\).", 12),
    ("The answer is $9 \\cdot 2$", 18),
    ("Answer: 3 + 4", 7),
    ("Answer: $\\sqrt{16}$", 4),
    ("#### \\sqrt{16}", 4),
    ("#### 2^5", 32),
    ("#### 3+4", 7),
    ("A: 9*2", 18),
]
NOT_ITS_BUSINESS = [
    r"18",
    r"x",
    r"18\text{ apples}",
    r"\text{none}",
    r"(3, 5)",
    r"3, 5",
    r"\left(3, 5\right)",
    r"2 3",
    r"18 (9 \times 2)",
    r"2(3)",
    r"3\frac{4}{2}",
    r"5-10",
    r"100_2",
    r"9^{9^{9}}",
    r"9^9^9",
    r"(9^9)!",
    r"5!!",
    r"9999!",
    r"2^{99999}",
    r"9" * 40 + r" \cdot 2",
    r"1+" * 200 + "1",
    r"__import__('os').system('true') + 1",
    r"\input{/etc/passwd} + 1",
    r"f(3) + 1",
]
NO_RATIONAL = [r"3\sqrt{2}", r"18\pi", r"\sqrt{-4}", r"\frac{1}{0} + 1", r"\sin 30", r"3 +", r"100!", r"2^{0.5}"]


@pytest.fixture
def fresh(monkeypatch):
    """A process of the test's own, and no answers from before."""
    process = opinion._Process()
    monkeypatch.setattr(opinion, "_PROCESS", process)
    opinion._asked.cache_clear()
    yield process
    process.close()
    opinion._asked.cache_clear()


@pytest.mark.parametrize(("response", "right"), EVALUATED)
def test_formula_that_comes_to_a_number_is_that_number(response, right):
    value, how = find_number(response)
    assert value == right
    assert how.endswith(", by Math-Verify")


@pytest.mark.parametrize("expression", NOT_ITS_BUSINESS)
def test_is_asked_about_no_pair_no_unknown_and_no_tower(expression):
    assert exact_value(expression) == (None, "")


@pytest.mark.parametrize("expression", NO_RATIONAL)
def test_only_exactly_rational_counts(expression):
    assert exact_value(expression) == (None, "by Math-Verify")


def test_decimals_stay_exact():
    assert exact_value("0.1 + 0.2")[0] == Fraction(3, 10)
    assert exact_value("1.1^2")[0] == Fraction(121, 100)


def test_formula_that_kills_the_process_is_no_number_and_the_next_one_is_read(fresh):
    assert exact_value("2^{10}")[0] == 1024
    first = fresh._process
    assert find_number(HOSTILE) == (None, "boxed: no number")
    assert first.poll() is not None
    assert exact_value("2^{11}")[0] == 2048
    assert fresh._process is not first


def test_one_process_serves_many_formulas(fresh):
    assert [exact_value(f"2^{{{n}}}")[0] for n in range(2, 12)] == [2**n for n in range(2, 12)]
    process = fresh._process
    assert exact_value(r"\binom{7}{2}")[0] == 21
    assert fresh._process is process


def test_plain_answers_start_no_process(fresh, shared_data):
    with open(shared_data / "generations" / "gsm8k_openai.jsonl", encoding="utf-8") as file:
        responses = [json.loads(next(file))["response"] for _ in range(1000)]
    for response in responses:
        find_number(response)
        find_number(response.replace("A: ", "#### $"))
    assert fresh._process is None


def test_threads_get_their_own_answers(fresh):
    answers = {}

    def ask(n):
        answers[n] = exact_value(f"{n} \\cdot 3")[0]

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(2, 22)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: 3 * n for n in range(2, 22)}


def _ask_forked(queue):
    queue.put(exact_value("3^{4}")[0])


def test_forked_process_asks_one_of_its_own(fresh):
    assert exact_value("2^{10}")[0] == 1024
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_ask_forked, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == 81
    child.join()
    assert exact_value("2^{12}")[0] == 4096


def test_without_math_verify_the_rules_decide_and_say_so(monkeypatch):
    monkeypatch.setattr(opinion, "_installed", lambda: False)
    graded = grade("aime", Item("aime", "a1", "?", answer="32"), r"\boxed{2^5}")
    assert graded.truth is False
    assert graded.how == "boxed: no number by the rules, and Math-Verify isn't installed"
    assert grade("aime", Item("aime", "a1", "?", answer="32"), r"\boxed{32}").how == "boxed"


def test_math_verify_that_does_not_start_is_reported(fresh, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(UserError, match="doesn't start; reinstall it"):
        exact_value("2^{10}")


def test_process_gets_no_key_of_the_environment(fresh, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not for the process")
    given = {}
    start = subprocess.Popen

    def spy(*args, **kwargs):
        given.update(kwargs["env"])
        return start(*args, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", spy)
    assert exact_value("2^{10}")[0] == 1024
    assert set(given) == {"PATH", "PYTHONPATH"}


@pytest.mark.slow
def test_differences_from_math_verify_alone_are_few_and_known(shared_data):
    """What Math-Verify by itself makes of the real responses' last lines, against the rules: counts, for the record."""
    from math_verify import parse, verify

    with open(shared_data / "generations" / "gsm8k_openai.jsonl", encoding="utf-8") as file:
        responses = [json.loads(line)["response"] for line in file]
    same, different, unread = 0, [], 0
    for response in responses:
        value, _ = find_number(response)
        found = parse(response.rsplit("\n", 1)[-1], parsing_timeout=None)
        if value is None or not found:
            unread += 1
        elif verify([sympy.Rational(value.numerator, value.denominator)], found, timeout_seconds=None):
            same += 1
        else:
            different.append((response.rsplit("\n", 1)[-1], value))
    print(f"Math-Verify and the rules: {same} same, {len(different)} different, {unread} unread by one")
    for line, value in different:
        print(f"  {line!r}: rules {value}")
    assert same > 5200
    assert len(different) <= 20
