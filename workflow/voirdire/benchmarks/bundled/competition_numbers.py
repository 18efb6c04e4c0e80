"""Kinds of competition problems: number theory, sequences, algebra. A kind draws, asks and solves."""

from math import isqrt

from voirdire.benchmarks.bundled.drawing import Draw
from voirdire.benchmarks.bundled.kinds import Kind

# Row by row.
Matrix = tuple[int, int, int, int]


def _draw_power(draw: Draw) -> dict[str, int]:
    return {"base": draw.whole(3, 29, 2), "exponent": draw.whole(150, 2030)}


def _ask_power(base: int, exponent: int) -> str:
    return f"Find the remainder when ${base}^{{{exponent}}}$ is divided by $1000$."


def _solve_power(base: int, exponent: int) -> int:
    return pow(base, exponent, 1000)


def _draw_factorial(draw: Draw) -> dict[str, int]:
    return {"n": draw.whole(400, 2100), "prime": draw.one((3, 5, 7, 11))}


def _ask_factorial(n: int, prime: int) -> str:
    return f"Find the largest integer $k$ such that ${prime}^k$ divides ${n}!$."


def _solve_factorial(n: int, prime: int) -> int:
    exponent = 0
    while n := n // prime:
        exponent += n
    return exponent


def _draw_remainders(draw: Draw) -> dict[str, int]:
    first, second, third = draw.one(
        ((5, 7, 9), (7, 8, 11), (7, 9, 11), (8, 9, 13), (5, 9, 16), (9, 10, 11), (5, 11, 13))
    )
    return {
        "first": first,
        "second": second,
        "third": third,
        "one": draw.whole(1, first - 1),
        "two": draw.whole(1, second - 1),
        "three": draw.whole(1, third - 1),
    }


def _ask_remainders(first: int, second: int, third: int, one: int, two: int, three: int) -> str:
    return (
        f"Find the least positive integer that leaves remainder ${one}$ when divided by ${first}$, remainder ${two}$ "
        f"when divided by ${second}$, and remainder ${three}$ when divided by ${third}$."
    )


def _solve_remainders(first: int, second: int, third: int, one: int, two: int, three: int) -> int:
    product = first * second * third
    total = 0
    for modulus, remainder in ((first, one), (second, two), (third, three)):
        others = product // modulus
        total += remainder * others * pow(others, -1, modulus)
    return total % product


def _draw_divisors(draw: Draw) -> dict[str, int]:
    return {
        "twos": draw.whole(6, 14),
        "threes": draw.whole(4, 10),
        "fives": draw.whole(3, 8),
        "sevens": draw.whole(2, 4),
    }


def _ask_divisors(twos: int, threes: int, fives: int, sevens: int) -> str:
    return (
        f"Let $N = 2^{{{twos}}} \\cdot 3^{{{threes}}} \\cdot 5^{{{fives}}} \\cdot 7^{{{sevens}}}$. Find the number "
        "of positive divisors of $N$ that are multiples of $12$ but not perfect squares."
    )


def _solve_divisors(twos: int, threes: int, fives: int, sevens: int) -> int:
    multiples = (twos - 1) * threes * (fives + 1) * (sevens + 1)
    squares = (twos // 2) * (threes // 2) * (fives // 2 + 1) * (sevens // 2 + 1)
    return multiples - squares


def _draw_recurrence(draw: Draw) -> dict[str, int]:
    return {
        "start": draw.whole(1, 4),
        "then": draw.whole(5, 9),
        "p": draw.whole(2, 5),
        "q": draw.whole(1, 4),
        "n": draw.whole(60, 2025),
    }


def _ask_recurrence(start: int, then: int, p: int, q: int, n: int) -> str:
    last = "" if q == 1 else str(q)
    return (
        f"A sequence is defined by $a_1 = {start}$, $a_2 = {then}$ and $a_{{k+2}} = {p}a_{{k+1}} + {last}a_k$ for "
        f"all $k \\ge 1$. Find the remainder when $a_{{{n}}}$ is divided by $1000$."
    )


def _solve_recurrence(start: int, then: int, p: int, q: int, n: int) -> int:
    """By powers of the matrix that takes (a_2, a_1) to (a_3, a_2)."""
    result: Matrix = (1, 0, 0, 1)
    power: Matrix = (p, q, 1, 0)
    steps = n - 1
    while steps:
        if steps % 2:
            result = _times(result, power)
        power = _times(power, power)
        steps //= 2
    return (result[2] * then + result[3] * start) % 1000


def _times(x: Matrix, y: Matrix) -> Matrix:
    return (
        (x[0] * y[0] + x[1] * y[2]) % 1000,
        (x[0] * y[1] + x[1] * y[3]) % 1000,
        (x[2] * y[0] + x[3] * y[2]) % 1000,
        (x[2] * y[1] + x[3] * y[3]) % 1000,
    )


def _draw_floors(draw: Draw) -> dict[str, int]:
    return {"n": draw.whole(50, 128)}


def _ask_floors(n: int) -> str:
    return (
        "For a real number $x$, let $\\lfloor x \\rfloor$ be the greatest integer not exceeding $x$. Find $\\lfloor "
        f"\\sqrt{{1}} \\rfloor + \\lfloor \\sqrt{{2}} \\rfloor + \\cdots + \\lfloor \\sqrt{{{n}}} \\rfloor$."
    )


def _solve_floors(n: int) -> int:
    """The value m stands 2m + 1 times, except the last one."""
    root = isqrt(n)
    return sum(m * (2 * m + 1) for m in range(1, root)) + root * (n - root * root + 1)


def _draw_roots(draw: Draw) -> dict[str, int]:
    first, second, third = draw.several(range(1, 9), 3)
    return {
        "a": first + second + third,
        "b": first * second + second * third + third * first,
        "c": first * second * third,
    }


def _ask_roots(a: int, b: int, c: int) -> str:
    return (
        f"The roots of $x^3 - {a}x^2 + {b}x - {c}$ are $r$, $s$ and $t$. Find $r^2s^2 + s^2t^2 + t^2r^2 - (r^2 + s^2 "
        "+ t^2)$."
    )


def _solve_roots(a: int, b: int, c: int) -> int:
    return (b * b - 2 * a * c) - (a * a - 2 * b)


NUMBERS = (
    Kind("power", _draw_power, _ask_power, _solve_power),
    Kind("factorial", _draw_factorial, _ask_factorial, _solve_factorial),
    Kind("remainders", _draw_remainders, _ask_remainders, _solve_remainders),
    Kind("divisors", _draw_divisors, _ask_divisors, _solve_divisors),
    Kind("recurrence", _draw_recurrence, _ask_recurrence, _solve_recurrence),
    Kind("floors", _draw_floors, _ask_floors, _solve_floors),
    Kind("roots", _draw_roots, _ask_roots, _solve_roots),
)
