"""The questions written for this project: as many as said, right, varied, and the same everywhere."""

import ast
import hashlib
import itertools
import json
import re
import time
from collections import Counter
from fractions import Fraction
from math import prod

import pytest

from voirdire.benchmarks import Source, load
from voirdire.benchmarks.bundled import competition, word_problems
from voirdire.benchmarks.bundled.drawing import Draw, Solution

SIZES = {"gsm8k": 150, "aime": 30, "mbpp": 60, "quality": 60}


@pytest.fixture(scope="module")
def bundled():
    return {task: load(task, Source(), seed=0) for task in SIZES}


@pytest.mark.parametrize("task", SIZES)
def test_sizes(bundled, task):
    loaded = bundled[task]
    assert len(loaded.items) == SIZES[task]
    assert loaded.left_out == []
    assert len({item.question for item in loaded.items}) == SIZES[task]
    assert loaded.metadata["licence"].startswith("MIT")


def test_generation_is_the_same_everywhere():
    content = json.dumps([word_problems.generate(), competition.generate()])
    assert (
        hashlib.sha256(content.encode()).hexdigest()
        == "9f2e5868309882867860023a7952e14b2b04a9f0a3fc67c08db1921c60853d17"
    )


def test_generation_is_fast():
    start = time.perf_counter()
    word_problems.generate()
    competition.generate()
    assert time.perf_counter() - start < 0.3


def test_every_step_of_a_word_problem_is_right_and_the_last_one_is_the_answer(bundled):
    for item in bundled["gsm8k"].items:
        steps = re.findall(r"<<([0-9+*/()-]+)=(\d+)>>", item.reference)
        # Python's own arithmetic, as a second opinion on the generator's.
        assert all(eval(expression) == int(value) for expression, value in steps)
        assert steps[-1][1] == item.answer
        assert int(item.answer) > 0


def test_word_problems_vary(bundled):
    assert len(word_problems.TEMPLATES) >= 15
    steps = Counter(item.reference.count("<<") for item in bundled["gsm8k"].items)
    assert set(steps) == {1, 2, 3, 4, 5}
    assert len({item.answer for item in bundled["gsm8k"].items}) > 75


def test_numbers_of_a_word_problem_come_from_its_text_or_an_earlier_step(bundled):
    said_in_words = {"2", "3", "4", "5", "100"}
    for item in bundled["gsm8k"].items:
        known = set(re.findall(r"\d+", item.question)) | said_in_words
        for expression, value in re.findall(r"<<([0-9+*/()-]+)=(\d+)>>", item.reference):
            assert set(re.findall(r"\d+", expression)) <= known, item.reference
            known.add(value)


@pytest.mark.parametrize("expression", ["7/2", "3-3", "2-5"])
def test_a_step_must_give_a_whole_number_above_zero(expression):
    with pytest.raises(ValueError, match="not a whole number above 0"):
        Solution().step("{}", expression)


def test_draws_stay_within_their_bounds():
    draw = Draw("x")
    assert {draw.whole(3, 9, 3) for _ in range(200)} == {3, 6, 9}
    assert sorted(draw.several("abc", 3)) == ["a", "b", "c"]


def count_paths(right, up, x, y):
    ways = {(0, 0): 1}
    for i, j in itertools.product(range(right + 1), range(up + 1)):
        if (i, j) != (0, 0):
            ways[i, j] = 0 if (i, j) == (x, y) else ways.get((i - 1, j), 0) + ways.get((i, j - 1), 0)
    return ways[right, up] % 1000


def multiply_out(base, exponent):
    value = 1
    for _ in range(exponent):
        value = value * base % 1000
    return value


def divide_factorial(n, prime):
    value, exponent = prod(range(1, n + 1)), 0
    while value % prime == 0:
        value //= prime
        exponent += 1
    return exponent


def search_remainders(first, second, third, one, two, three):
    return next(n for n in itertools.count(1) if (n % first, n % second, n % third) == (one, two, three))


def enumerate_divisors(twos, threes, fives, sevens):
    powers = itertools.product(range(twos + 1), range(threes + 1), range(fives + 1), range(sevens + 1))
    divisors = [2**a * 3**b * 5**c * 7**d for a, b, c, d in powers]
    squares = {divisor * divisor for divisor in divisors}
    return sum(divisor % 12 == 0 and divisor not in squares for divisor in divisors)


def follow_recurrence(start, then, p, q, n):
    for _ in range(n - 1):
        start, then = then, (p * then + q * start) % 1000
    return start % 1000


def add_floors(n):
    return sum(max(m for m in range(k + 1) if m * m <= k) for k in range(1, n + 1))


def search_roots(a, b, c):
    (roots,) = (
        (r, s, t)
        for r, s, t in itertools.combinations(range(1, 20), 3)
        if (r + s + t, r * s + s * t + t * r, r * s * t) == (a, b, c)
    )
    r, s, t = roots
    return r * r * s * s + s * s * t * t + t * t * r * r - (r * r + s * s + t * t)


def count_multiples(n, first, second, third):
    return sum((k % first == 0) + (k % second == 0) + (k % third == 0) == 1 for k in range(1, n + 1))


def count_triples(total, largest):
    numbers = range(largest + 1)
    return sum(x + y + z == total for x, y, z in itertools.product(numbers, repeat=3))


def place_triangle(a, b, c):
    """Coordinates for the triangle, its area and its circumcentre from them, in floating point."""
    x = (b * b + c * c - a * a) / (2 * c)
    y = (b * b - x * x) ** 0.5
    centre_y = (x * x + y * y - c * x) / (2 * y)
    radius = (c * c / 4 + centre_y * centre_y) ** 0.5
    ratio = Fraction(c * y / 2 * radius / (a + b + c)).limit_denominator(2000)
    return ratio.numerator + ratio.denominator


def count_lattice_points(a, b):
    return sum(x * b + y * a < a * b for x in range(1, a) for y in range(1, b))


def count_apart(n, gap):
    count = 0
    for members in range(1, 2**n):
        count += not any(members & members >> distance for distance in range(1, gap))
    return count


def roll_dice(dice, total):
    rolls = [sum(roll) == total for roll in itertools.product(range(1, 7), repeat=dice)]
    probability = Fraction(sum(rolls), len(rolls))
    return probability.numerator + probability.denominator


BRUTE_FORCE = {
    "power": multiply_out,
    "factorial": divide_factorial,
    "remainders": search_remainders,
    "divisors": enumerate_divisors,
    "recurrence": follow_recurrence,
    "floors": add_floors,
    "roots": search_roots,
    "paths": count_paths,
    "multiples": count_multiples,
    "triples": count_triples,
    "circumradius": place_triangle,
    "lattice": count_lattice_points,
    "apart": count_apart,
    "dice": roll_dice,
}


@pytest.mark.parametrize("problem", competition.problems(), ids=lambda problem: problem.kind)
def test_competition_answer_agrees_with_brute_force(problem):
    assert BRUTE_FORCE[problem.kind](**problem.parameters) == problem.answer
    assert 0 <= problem.answer <= 999
    # Every parameter is told in the question, but 1 as a coefficient.
    told = {int(number) for number in re.findall(r"\d+", problem.question)} | {1}
    assert set(problem.parameters.values()) <= told or problem.kind == "dice"


def test_competition_problems_are_of_many_kinds():
    assert len({problem.kind for problem in competition.problems()}) >= 10


def test_reference_solutions_pass_their_own_asserts(bundled):
    for item in bundled["mbpp"].items:
        scope: dict = {}
        exec(item.setup_code + "\n" + item.reference, scope)
        for test in item.tests:
            exec(test, scope)


def test_function_tasks_have_three_asserts_of_a_call_against_a_literal(bundled):
    for item in bundled["mbpp"].items:
        assert len(set(item.tests)) == 3
        for test in item.tests:
            compared = ast.parse(test).body[0].test
            assert isinstance(compared.left, ast.Call)
            assert [type(operator) for operator in compared.ops] == [ast.Eq]
            ast.literal_eval(compared.comparators[0])


def test_no_function_task_is_solved_by_a_constant(bundled):
    for item in bundled["mbpp"].items:
        assert len({test.rsplit(" == ", 1)[1] for test in item.tests}) > 1, item.item_id


def test_passages_have_five_questions_and_fair_options(bundled):
    items = bundled["quality"].items
    assert set(Counter(item.article for item in items).values()) == {5}
    assert all(300 <= len(article.split()) <= 500 for article in {item.article for item in items})
    assert Counter(item.answer for item in items) == {"A": 15, "B": 15, "C": 15, "D": 15}
    for item in items:
        assert len(set(item.options)) == 4


def test_the_right_option_is_not_given_away_by_its_length(bundled):
    right = [len(item.options["ABCD".index(item.answer)]) for item in bundled["quality"].items]
    lengths = [[len(option) for option in item.options] for item in bundled["quality"].items]
    longest = sum(own == max(all_four) for own, all_four in zip(right, lengths, strict=True))
    shortest = sum(own == min(all_four) for own, all_four in zip(right, lengths, strict=True))
    # A quarter is chance; ties count for both.
    assert longest <= 24
    assert shortest <= 24
