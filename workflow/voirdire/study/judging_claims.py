"""How a claim is held against this run: bounds, equivalence, and what "every" and "most" mean.

An interval decides
-------------------
A claim `holds` or `fails` where the interval lies on one side of its bound, else it is `undecided`; so it is without
limits, and where the table says that so few could not have shown any effect, wherever their interval lies. `not in
this study`: models, tasks or tables are missing.

Claims about several models (or tasks' bins, priors, …)
-------------------------------------------------------
"Every" holds where each one holds by its own 95 % interval: that needs no correction, as all must. It fails where any
one does, and among k that have nothing to do with the claim one in 40/k would by chance; so "fails" is judged by the
interval stretched around its value by z(1 − α/2k) / z(1 − α/2), Bonferroni's level for normal limits. One without a
value can neither hold nor fail: "every" is then undecided at best.

"Most" counts the models: it holds where more than half hold, each by its own 95 % interval, and fails where so many
fail that the rest is no majority. That is a count, not a test with an error rate of its own.

The row shows the one that decides, with its own value and 95 % interval: in the order holds, undecided, fails, and
within each from the best value to the worst, the last one ("every"), or the one that would complete the majority.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isnan, nan
from statistics import NormalDist
from typing import Protocol

HOLDS, FAILS, UNDECIDED, ABSENT = "holds", "fails", "undecided", "not in this study"
PLANTED = "the panel is simulated: its effects are planted, so this tests the workflow and not the paper"
NO_INTERVAL = "this run gives no interval for it, so it stays undecided"
# Names in a note; of more than these, the first few.
_MOST_NAMES, _FEW_NAMES = 6, 3
_ALPHA = 0.05


@dataclass(frozen=True)
class Measured:
    """What this run measured for one model, bin or prior; NaN where it has no value or no interval.

    silent: whether the table says that no effect could have been shown; reach: what could have been, in words.
    """

    name: str
    value: float
    low: float
    high: float
    silent: bool = False
    reach: str = ""

    def stretched(self, times: int) -> "Measured":
        """With the interval that Bonferroni's correction for so many asks for; none for one."""
        ratio = quantile(times) / quantile(1)
        low, high = (self.value + ratio * (limit - self.value) for limit in (self.low, self.high))
        return replace(self, low=low, high=high)

    def __str__(self) -> str:
        return f"{self.value:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


def quantile(times: int) -> float:
    """The normal quantile of a two-sided 95 % interval, corrected for so many comparisons."""
    return NormalDist().inv_cdf(1 - _ALPHA / 2 / times)


class Criterion(Protocol):
    """What an interval is held against."""

    def verdict(self, one: Measured) -> str:
        """`holds`, `fails` or `undecided`."""

    def merit(self, value: float) -> float:
        """How well a value does: the higher, the more it speaks for the claim."""


@dataclass(frozen=True)
class Beyond:
    """Whether the effect is beyond the bound, upwards (direction 1) or downwards (-1)."""

    bound: float
    direction: int
    strict: bool = False

    def verdict(self, one: Measured) -> str:
        low, high, bound = one.low, one.high, self.bound
        if one.silent or isnan(low) or isnan(high) or isnan(bound):
            return UNDECIDED
        if self.direction < 0:
            low, high, bound = -high, -low, -bound
        if low > bound or (low == bound and not self.strict):
            return HOLDS
        return FAILS if high < bound or (high == bound and self.strict) else UNDECIDED

    def merit(self, value: float) -> float:
        return self.direction * value


@dataclass(frozen=True)
class Within:
    """Equivalence: whether the interval lies within ± margin, or wholly outside."""

    margin: float

    def verdict(self, one: Measured) -> str:
        if one.silent or isnan(one.low) or isnan(one.high):
            return UNDECIDED
        if -self.margin < one.low and one.high < self.margin:
            return HOLDS
        return FAILS if one.low >= self.margin or one.high <= -self.margin else UNDECIDED

    def merit(self, value: float) -> float:
        return -abs(value)


@dataclass
class Claim:
    """A claim's row; `bound` is the published number in the value's own unit."""

    id: str
    part: str
    claim: str
    published: str
    bound: float = nan
    value: float = nan
    low: float = nan
    high: float = nan
    sign: str = ABSENT
    size: str = ABSENT
    notes: list[str] = field(default_factory=list)

    def row(self, simulated: bool) -> dict[str, object]:
        fields = asdict(self)
        notes = [*fields.pop("notes"), *([PLANTED] if simulated else [])]
        return {**fields, "note": "; ".join(notes), "simulated": simulated}

    def absent(self, reason: str) -> "Claim":
        """Leave the claim unjudged, and say why."""
        self.notes.append(reason)
        return self

    def show(self, one: Measured) -> None:
        self.value, self.low, self.high = one.value, one.low, one.high
        if not isnan(one.value) and (isnan(one.low) or isnan(one.high)):
            self.notes.append(NO_INTERVAL)

    def explain(self, one: Measured) -> None:
        """Say what could have been shown, where that is why the claim is undecided."""
        if one.reach and UNDECIDED in (self.sign, self.size):
            self.notes.append(one.reach)

    def tests(self, direction: int) -> dict[str, Criterion]:
        """Sign against 0, and size against the published number where there is one."""
        sign: dict[str, Criterion] = {"sign": Beyond(0, direction, strict=True)}
        return sign if isnan(self.bound) else {**sign, "size": Beyond(self.bound, direction)}


def judge_one(claim: Claim, one: Measured, tests: Mapping[str, Criterion]) -> Claim:
    """Fill in what was measured and judge it; with one test only, sign and size are the same."""
    verdicts = {name: test.verdict(one) for name, test in tests.items()}
    claim.show(one)
    claim.sign, claim.size = _both(verdicts)
    claim.explain(one)
    return claim


def judge_many(
    claim: Claim, several: Sequence[Measured], tests: Mapping[str, Criterion], who: str, most: bool = False
) -> Claim:
    """Judge a claim about every one of several, or about most of them, as this module says.

    several: one per model, bin or prior, those without a value too. tests: by the name of the column that they fill,
    "sign" or "size"; with one test only, the two are the same. who: what they are, in the singular.
    """
    known = [one for one in several if not isnan(one.value)]
    if len(several) == 1 and known:
        return judge_one(claim, known[0], tests)
    if not known:
        claim.sign = claim.size = UNDECIDED
        claim.notes.append(f"no value for any {who}")
        return claim
    judged = {name: _Quantified(test, several, most) for name, test in tests.items()}
    shown = judged.get("size", judged.get("sign"))
    assert shown is not None
    claim.show(shown.deciding)
    claim.sign, claim.size = _both({name: each.verdict for name, each in judged.items()})
    about = f"about {'most' if most else 'every one'} of {len(several)} {who}s"
    claim.notes.append(f"{about}; shown is the one that decides: {shown.deciding.name}")
    for name, each in judged.items():
        prefix = f"{name}: " if len(judged) > 1 else ""
        claim.notes.append(prefix + each.counts())
        if each.deciding != shown.deciding:
            claim.notes.append(f"the {name} is decided by {each.deciding.name}, {each.deciding}")
    silent = [one.name for one in known if one.silent]
    if silent:
        claim.notes.append(f"too few to have shown anything: {listed(silent)}")
    else:
        claim.explain(shown.deciding)
    missing = [one.name for one in several if isnan(one.value)]
    if missing:
        claim.notes.append(f"no value for {listed(missing)}")
    return claim


class _Quantified:
    """The verdict on every one of several, or on most of them, and the one that decides it."""

    def __init__(self, test: Criterion, several: Sequence[Measured], most: bool):
        self._own = [(test.verdict(one), one) for one in several]
        times = 1 if most else len([one for one in several if not isnan(one.value)])
        self._corrected = [(self._judged(test, one, times), one) for one in several]
        needed = len(several) // 2 + 1 if most else len(several)
        self.verdict = self._decided(needed)
        order = sorted(
            (pair for pair in self._corrected if not isnan(pair[1].value)),
            key=lambda pair: (-(HOLDS, UNDECIDED, FAILS).index(pair[0]), test.merit(pair[1].value)),
            reverse=True,
        )
        self.deciding = order[min(needed, len(order)) - 1][1]

    @staticmethod
    def _judged(test: Criterion, one: Measured, times: int) -> str:
        own = test.verdict(one)
        return UNDECIDED if own == FAILS and test.verdict(one.stretched(times)) != FAILS else own

    def _decided(self, needed: int) -> str:
        verdicts = [verdict for verdict, _ in self._corrected]
        if verdicts.count(HOLDS) >= needed:
            return HOLDS
        return FAILS if len(verdicts) - verdicts.count(FAILS) < needed else UNDECIDED

    def counts(self) -> str:
        """How many hold, fail and are undecided by their own intervals; who fails; what the correction changes."""
        verdicts = [verdict for verdict, one in self._own if not isnan(one.value)]
        words = {HOLDS: ("holds", "hold"), FAILS: ("fails", "fail"), UNDECIDED: ("undecided", "undecided")}
        parts = [f"{n} {words[each][n > 1]}" for each in (HOLDS, UNDECIDED, FAILS) if (n := verdicts.count(each))]
        failing = [one.name for verdict, one in self._own if verdict == FAILS]
        text = ", ".join(parts) + (f": {listed(failing)}" if failing else "")
        spared = len(failing) - [verdict for verdict, _ in self._corrected].count(FAILS)
        if spared:
            none = "none fails" if spared == len(failing) else f"{len(failing) - spared} fail"
            text += f" ({none} at the level corrected for {len(verdicts)})"
        return text


def _both(verdicts: dict[str, str]) -> tuple[str, str]:
    """Sign and size, where only one was judged both the same."""
    only = next(iter(verdicts.values()))
    return verdicts.get("sign", only), verdicts.get("size", only)


def listed(names: Sequence[str]) -> str:
    """Names for a sentence, the first few of many.

    >>> listed(["rook", "jackdaw"])
    'rook, jackdaw'
    """
    shown = list(names if len(names) <= _MOST_NAMES else names[:_FEW_NAMES])
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
