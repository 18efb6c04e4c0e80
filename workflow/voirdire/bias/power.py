"""What a comparison says, and what it could have shown: "no difference" is not "too few wrong answers".

Every table of comparisons ends with two columns, by `with_power`. `detectable` is the smallest true effect, in the
table's own unit, that so many items would have shown with 80 % probability in a two-sided test at 5 %, for this
comparison alone (Holm's correction over a family asks for more); NaN where no effect, however large, would have been
shown so. `says` is what to read off the row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.stats.arrays import Array
from voirdire.stats.intervals import normal_quantile, proportions_difference
from voirdire.stats.power import (
    detectable_d,
    detectable_flips,
    detectable_normal,
    detectable_proportions,
    detectable_r,
    fewest_flips,
    least_fisher_p,
    least_permutation_p,
)

DIFFERENCE, NOTHING, UNDECIDED = "difference", "nothing", "undecided"
# Within these on both sides an effect is too small to matter: 10 points, and Cohen's "small" effect.
MARGIN_SHARE, MARGIN_D = 0.1, 0.2
Column = str | npt.ArrayLike
Mask = npt.NDArray[np.bool_]
# Sharing items is never credited with more than this share of the variance, nor with any where counts are small.
_LEAST_VARIANCE = 0.1
_SMALL = 10
# A p of 6 in 120 orders is not below .05.
_ROUNDING = 1e-9


def with_power(
    table: pd.DataFrame,
    estimate: str,
    design: str | npt.ArrayLike,
    n: str | Sequence[Column] = (),
    *,
    base: Column | None = None,
    room: Column = np.inf,
    p: Column | None = None,
    margin: float | None = None,
    low: str = "low",
    high: str = "high",
    level: float = 0.95,
) -> pd.DataFrame:
    """The table with `detectable` and `says` at its end; rows and other columns as they are, an empty table too.

    estimate, low, high: columns of an effect whose null value is 0, and of its interval at `level`. A Column is a
    column's name or an array with one entry per row. design: how the effect is tested, one for all rows or one per row:

    proportions  the rates of two groups. n: the groups' sizes (first, second); base: the second group's rate, of which
                 the first can differ by 1 − base at most. Fisher's exact test with the sizes that the interval is
                 worth: n × (width of the mover interval for independent verdicts / width of this interval)². The base
                 is drawn to a half by half a trial on each side, as 0 of 2 is not known to be 0.
    pairs        a rate's change on the same units. n: the units (items, clusters); more columns are not read.
                 What McNemar's test would have shown beside the changes either way that the interval tells of, at
                 least one of n + 1. For shares of equal units only: means over tasks, and clusters of unequal size, are
                 of design interval.
    points       a correlation. n: points; detectable |r| by Fisher's z, none up to 4 points (permutations).
    means        Cohen's d of two groups. n: their sizes; t's reach, widened as the interval is for clustering.
    interval     anything else, log-odds and means of several effects included: (z₀.₉₇₅ + z₀.₈) × SE, where SE is the
                 interval's half width / z₀.₉₇₅. n: units of a sign-flip test (columns are added), nothing below 6;
                 () where there is none.

    room: the largest effect there can be (for pairs max(base, 1 − base), say): a detectable one beyond is none.
    p: of the test, Holm's where the table has it. margin: what is too small to matter, None for none: MARGIN_SHARE for
    shares, MARGIN_D for d, none for correlations and log-odds.

    says, the first that fits: "nothing", no estimate, or too few for the test to reject at all; "difference", the
    interval excludes 0 and p is below 1 − level (without p: and detectable is a number); "no difference beyond M", the
    interval lies within ± margin; "nothing", no effect would have been shown with 80 % probability (detectable is NaN);
    "undecided".

    with_power(rows, "difference", "proportions", ("n_own", "n_other"), base="other_value", p="p_holm",
               margin=MARGIN_SHARE)
    with_power(rows, "difference", np.where(rows["version"] == "matched", "pairs", "proportions"), …)
    with_power(rows, "estimate", "interval", ("n_clusters",), p="p")  # log-odds
    """
    value, below, above = (_values(table, name) for name in (estimate, low, high))
    sizes = [_values(table, column) for column in ((n,) if isinstance(n, str) else n)]
    second = np.full(len(table), np.nan) if base is None else _values(table, base)
    designs = np.broadcast_to(np.asarray(design, dtype=object), len(table))
    detectable, possible = np.full(len(table), np.nan), np.ones(len(table), bool)
    for name in dict.fromkeys(designs):
        here = designs == name
        cells = _Cells(value[here], below[here], above[here], [size[here] for size in sizes], second[here], level)
        detectable[here], possible[here] = cells.by(str(name))
    known = ~np.isnan(value)
    reachable = detectable <= _values(table, room) + _ROUNDING
    detectable = np.where(known & possible & reachable, detectable, np.nan)
    # Without a test of its own an interval has the word, but not where no effect could have been relied on to show.
    tested = ~np.isnan(detectable) if p is None else _values(table, p) < 1 - level - _ROUNDING
    apart = ((below > 0) | (above < 0)) & tested
    within = (below > -(margin or 0)) & (above < (margin or 0)) & (above > below)
    says = np.select(
        [~known | ~possible, apart, within, np.isnan(detectable)],
        [NOTHING, DIFFERENCE, f"no difference beyond {margin or 0:g}", NOTHING],
        UNDECIDED,
    )
    return table.assign(detectable=detectable, says=says.astype(object))


def _values(table: pd.DataFrame, column: Column) -> Array:
    """A column by name, or an array or a number as one value per row."""
    values = table[column] if isinstance(column, str) else column
    numbers: Array = pd.Series(values, dtype="Float64").to_numpy(np.float64, na_value=np.nan)
    return np.broadcast_to(numbers, len(table)) if len(numbers) == 1 else numbers


@dataclass(frozen=True)
class _Cells:
    """Rows of one design: estimate and interval, sizes as the design reads them, base; (rows,) each."""

    value: Array
    low: Array
    high: Array
    sizes: list[Array]
    base: Array
    level: float

    def by(self, design: str) -> tuple[Array, Mask]:
        """The detectable effect, and whether the test can reject at all."""
        found: tuple[Array, Mask] = {
            "proportions": self.proportions,
            "pairs": self.pairs,
            "points": self.points,
            "means": self.means,
            "interval": self.interval,
        }[design]()
        return found

    @property
    def se(self) -> Array:
        return (self.high - self.low) / 2 / normal_quantile(self.level)

    def proportions(self) -> tuple[Array, Mask]:
        first, second = self.sizes
        share = np.clip(self.base + self.value, 0, 1)
        low, high = proportions_difference(share * first, first, np.clip(self.base, 0, 1) * second, second, self.level)
        least = np.where(np.fmin(first, second) < _SMALL, 1.0, np.sqrt(_LEAST_VARIANCE))
        with np.errstate(divide="ignore", invalid="ignore"):
            wider = np.maximum((self.high - self.low) / (high - low), least)
            base = (self.base * second + 0.5) / (second + 1)
            found = detectable_proportions(first / wider**2, second / wider**2, base, self.level)
        # Half of the least p is the least mid-p, by which groups that share items are compared.
        return np.where(self.high > self.low, found, np.nan), least_fisher_p(
            first, second
        ) / 2 < 1 - self.level - _ROUNDING

    def pairs(self) -> tuple[Array, Mask]:
        units = self.sizes[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            changed = self.se**2 * units + self.value**2
        # Of the share that changed, what is left when the change seen is taken out: the noise that stays. Half a unit
        # each way is the least, as 0 of n is not known to be 0.
        noise = np.where(self.se > 0, np.maximum(changed - np.abs(self.value), 1 / (units + 1)), np.nan)
        return detectable_flips(units, noise, self.level), units >= fewest_flips(self.level)

    def points(self) -> tuple[Array, Mask]:
        points = self.sizes[0]
        return detectable_r(points, self.level), least_permutation_p(points) <= 1 - self.level

    def means(self) -> tuple[Array, Mask]:
        first, second = self.sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            null = 1 / first + 1 / second
            wider = self.se / np.sqrt(null + self.value**2 / 2 / (first + second))
        found = np.where(wider > 0, detectable_d(first, second, self.level) * wider, np.nan)
        return found, np.minimum(first, second) >= 2

    def interval(self) -> tuple[Array, Mask]:
        possible = np.ones(len(self.value), bool)
        if self.sizes:
            possible = np.sum(self.sizes, axis=0) >= fewest_flips(self.level)
        return detectable_normal(self.se, self.level), possible


def in_words(says: str, detectable: float, unit: str = "points", counted: str = "") -> str:
    """A row's two columns as half a sentence, without a full stop.

    unit: "points" (shares, shown times 100), "sd", "r" or "log-odds". counted: what the row is made of, such as
    "2 and 31 wrong responses"; named where it says nothing.

    >>> in_words("nothing", float("nan"), counted="2 and 31 wrong responses")
    '2 and 31 wrong responses: too few to have shown any difference'
    >>> in_words("undecided", 0.18)
    'undecided: a difference of 18 points or more would have shown'
    """
    if says == NOTHING:
        few = "too few to have shown any difference"
        return f"{counted}: {few}" if counted else few
    if says.startswith("no difference beyond "):
        return f"no difference beyond {_amount(float(says.rsplit(' ', 1)[1]), unit)}"
    if says == DIFFERENCE or np.isnan(detectable):
        return says
    return f"undecided: {_effect(_amount(detectable, unit), unit)} or more would have shown"


def as_ratio(log_odds: float) -> str:
    """A log odds ratio, infinite perhaps, as a factor: the one way in which tables and sentences write it.

    >>> as_ratio(0.0), as_ratio(0.25), as_ratio(-0.25), as_ratio(4.0)
    ('1.00', '1.28', '0.78', '55')
    >>> as_ratio(7.6), as_ratio(float("inf")), as_ratio(-6.0)
    ('> 1000', '> 1000', '< 0.01')
    """
    factor = float(np.exp(np.clip(log_odds, -50, 50)))
    if factor > 1000:
        return "> 1000"
    return "< 0.01" if factor < 0.01 else f"{factor:.2f}" if factor < 9.995 else f"{factor:.0f}"


def _effect(amount: str, unit: str) -> str:
    return f"a correlation of {amount}" if unit == "r" else f"a difference of {amount}"


def _amount(value: float, unit: str) -> str:
    if unit == "points":
        return f"{100 * value:.0f} points"
    return f"{value:.2f}" if unit == "r" else f"{value:.2g} {unit}"
