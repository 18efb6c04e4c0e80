"""Kinds of competition problems: counting, probability, geometry. A kind draws, asks and solves."""

from fractions import Fraction
from math import comb, gcd, isqrt, lcm

from voirdire.benchmarks.bundled.drawing import Draw
from voirdire.benchmarks.bundled.kinds import Kind


def _draw_paths(draw: Draw) -> dict[str, int]:
    right, up = draw.whole(6, 9), draw.whole(5, 8)
    return {"right": right, "up": up, "x": draw.whole(2, right - 2), "y": draw.whole(1, up - 2)}


def _ask_paths(right: int, up: int, x: int, y: int) -> str:
    return (
        f"A bug walks from $(0, 0)$ to $({right}, {up})$. Each step takes it one unit to the right or one unit up, "
        f"and it never visits $({x}, {y})$. Let $P$ be the number of paths it can take. Find the remainder when $P$ "
        "is divided by $1000$."
    )


def _solve_paths(right: int, up: int, x: int, y: int) -> int:
    through = comb(x + y, x) * comb(right - x + up - y, right - x)
    return (comb(right + up, up) - through) % 1000


def _draw_multiples(draw: Draw) -> dict[str, int]:
    first, second, third = sorted(draw.several((4, 5, 6, 7, 9, 10, 11), 3))
    return {"n": draw.whole(500, 2000), "first": first, "second": second, "third": third}


def _ask_multiples(n: int, first: int, second: int, third: int) -> str:
    return (
        f"Find the number of integers from $1$ to ${n}$, inclusive, that are divisible by exactly one of ${first}$, "
        f"${second}$ and ${third}$."
    )


def _solve_multiples(n: int, first: int, second: int, third: int) -> int:
    singles = n // first + n // second + n // third
    pairs = n // lcm(first, second) + n // lcm(second, third) + n // lcm(first, third)
    return singles - 2 * pairs + 3 * (n // lcm(first, second, third))


def _draw_triples(draw: Draw) -> dict[str, int]:
    largest = draw.whole(12, 30)
    return {"total": draw.whole(largest + 3, 2 * largest), "largest": largest}


def _ask_triples(total: int, largest: int) -> str:
    return (
        f"Find the number of ordered triples $(x, y, z)$ of integers with $0 \\le x, y, z \\le {largest}$ and $x + y "
        f"+ z = {total}$."
    )


def _solve_triples(total: int, largest: int) -> int:
    """Stars and bars, less the triples in which one, two or three numbers are too large."""
    return sum((-1) ** k * comb(3, k) * comb(rest + 2, 2) for k in range(4) if (rest := total - k * (largest + 1)) >= 0)


_HALVES = (
    (5, 12, 9),
    (9, 12, 16),
    (6, 8, 15),
    (5, 12, 35),
    (7, 24, 10),
    (7, 24, 18),
    (7, 24, 32),
    (20, 15, 8),
    (16, 12, 5),
)


def _draw_circumradius(draw: Draw) -> dict[str, int]:
    left, height, right = draw.one(_HALVES)
    return {"a": isqrt(left**2 + height**2), "b": isqrt(right**2 + height**2), "c": left + right}


def _ask_circumradius(a: int, b: int, c: int) -> str:
    return (
        f"Triangle $ABC$ has side lengths ${a}$, ${b}$ and ${c}$. The product of its area and the radius of its "
        "circumscribed circle is divided by its perimeter; the result is $\\frac{m}{n}$, where $m$ and $n$ are "
        "relatively prime positive integers. Find $m + n$."
    )


def _solve_circumradius(a: int, b: int, c: int) -> int:
    """Area times circumradius is abc / 4."""
    ratio = Fraction(a * b * c, 4 * (a + b + c))
    return ratio.numerator + ratio.denominator


def _draw_lattice(draw: Draw) -> dict[str, int]:
    return {"a": draw.whole(18, 48), "b": draw.whole(18, 44)}


def _ask_lattice(a: int, b: int) -> str:
    return (
        "A lattice point is a point whose coordinates are both integers. Find the number of lattice points strictly "
        f"inside the triangle with vertices $(0, 0)$, $({a}, 0)$ and $(0, {b})$."
    )


def _solve_lattice(a: int, b: int) -> int:
    """Pick's theorem: twice the area is twice the inner points plus the points on the sides, less 2."""
    return (a * b - (a + b + gcd(a, b)) + 2) // 2


def _draw_apart(draw: Draw) -> dict[str, int]:
    return {"n": draw.whole(10, 17), "gap": draw.whole(2, 4)}


def _ask_apart(n: int, gap: int) -> str:
    return (
        f"Find the number of nonempty subsets of $\\{{1, 2, \\ldots, {n}\\}}$ in which any two different elements "
        f"differ by at least ${gap}$."
    )


def _solve_apart(n: int, gap: int) -> int:
    return sum(comb(n - (size - 1) * (gap - 1), size) for size in range(1, n + 1) if n > (size - 1) * (gap - 1))


def _draw_dice(draw: Draw) -> dict[str, int]:
    return {"dice": draw.whole(3, 4), "total": draw.whole(7, 18)}


def _ask_dice(dice: int, total: int) -> str:
    word = {3: "Three", 4: "Four"}[dice]
    return (
        f"{word} fair six-sided dice are rolled. The probability that the numbers shown add up to ${total}$ is "
        "$\\frac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find $m + n$."
    )


def _solve_dice(dice: int, total: int) -> int:
    """Stars and bars over the numbers less one, each at most 5."""
    ways = sum(
        (-1) ** k * comb(dice, k) * comb(rest + dice - 1, dice - 1)
        for k in range(dice + 1)
        if (rest := total - dice - 6 * k) >= 0
    )
    probability = Fraction(ways, 6**dice)
    return probability.numerator + probability.denominator


COUNTING = (
    Kind("paths", _draw_paths, _ask_paths, _solve_paths),
    Kind("multiples", _draw_multiples, _ask_multiples, _solve_multiples),
    Kind("triples", _draw_triples, _ask_triples, _solve_triples),
    Kind("circumradius", _draw_circumradius, _ask_circumradius, _solve_circumradius),
    Kind("lattice", _draw_lattice, _ask_lattice, _solve_lattice),
    Kind("apart", _draw_apart, _ask_apart, _solve_apart),
    Kind("dice", _draw_dice, _ask_dice, _solve_dice),
)
