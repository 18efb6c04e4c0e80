"""Could these judges err independently, as Dawid-Skene has it? A statistic, what it is where they do, and its power.

r is the agreement (kappa) of Dawid-Skene's labels from two random halves of the judges, over its mean in panels that
are simulated from the fitted rates. Groups of judges that share errors lower it. One blind spot of all judges does not:
that is found by no statistic of verdicts alone, as judges that agree on the truth would give the same verdicts.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.canonical import judge_order
from voirdire.panel.dawid_skene import Fit, fit
from voirdire.panel.expectation import Estimate
from voirdire.panel.latent_factor import Panel
from voirdire.panel.patterns import Patterns
from voirdire.panel.sparse_votes import CORRECT, INCORRECT, MISSING, fit_codes
from voirdire.panel.split_half import kappas, random_halves
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# On nine real panels of seven judges or more, r was below .80 for the three with the worst label-free rates alone.
THRESHOLD = 0.80
# An error correlation matters that moves the mean label-free FPR by as much.
MOVE = 0.1
# Ways to halve the judges, the same for real and simulated votes: kappa differs much with who is in which half.
SPLITS = 20
# The null's panels, of which the lowest bounds a level of 1/40, and those in which power is counted.
NULL_PANELS, POWER_PANELS = 39, 20
_CORRELATIONS = tuple(round(0.1 * step, 1) for step in range(1, 10))
_MOVED_PANELS = 4
# Responses × judges of a simulated panel, at most.
_MOST_CELLS = 200_000


@dataclass(frozen=True)
class Independence:
    """r and all that is needed to read it; NaN where it can't be had.

    r is evidence against independence below `bound`, the lower of .80 and the lowest of `null` (panels,), r in
    simulated panels. correlation: of latent errors, the least of .1 to .9 that moves the label-free FPR by `MOVE` or
    more (NaN where none does); moved: the mean label-free FPR less the true one there, or at .9; power: the share of
    panels with that correlation in which r falls below the bound (NaN without one). kappa: the halves' agreement.
    """

    r: float = np.nan
    bound: float = np.nan
    null: FloatArray = field(default_factory=lambda: np.zeros(0))
    correlation: float = np.nan
    moved: float = np.nan
    power: float = np.nan
    kappa: float = np.nan


def independence(
    votes: ArrayLike, weights: ArrayLike | None = None, seed: int = 0, panels: int = NULL_PANELS, splits: int = SPLITS
) -> Independence:
    """r of a panel, its null and its power.

    votes: (responses, judges) or patterns, 1, 0 or NaN; weights: (responses,), whole numbers, how often each row
    occurred. Simulated panels have the same judges voting on the same responses (on at most 200,000 / judges of them,
    evenly chosen). The same in whatever order judges and rows stand.
    """
    rows = np.asarray(votes, dtype=np.float64)
    order = judge_order(rows, weights)
    patterns = Patterns.of(rows[:, order[np.isfinite(rows[:, order]).any(axis=0)]])
    counts = patterns.count(weights)
    if patterns.votes.shape[1] < 2:
        return Independence()
    fitted = fit(patterns.votes, counts)
    rng = np.random.default_rng([seed, patterns.votes.shape[1]])
    halves = random_halves(patterns.votes.shape[1], splits, rng)
    (kappa,) = kappas(codes_of(patterns.votes)[None], halves, counts[None])
    panel = _panel(patterns.votes, counts, fitted)
    null = kappas(panel.simulate(0.0, panels, rng), halves)
    mean = float(np.mean(null, where=np.isfinite(null))) if np.isfinite(null).any() else np.nan
    if not (np.isfinite(kappa) and mean > 0):
        return Independence(kappa=float(kappa))
    null = null[np.isfinite(null)] / mean
    bound = min(THRESHOLD, float(null.min()))
    correlation, moved = _that_matters(panel, rng)
    power = np.nan if np.isnan(correlation) else _power(panel, correlation, halves, bound, rng)
    return Independence(float(kappa) / mean, bound, null, correlation, moved, power, float(kappa))


def codes_of(votes: FloatArray) -> NDArray[np.int8]:
    """Votes as codes, see `voirdire.panel.sparse_votes`."""
    return np.where(np.isnan(votes), MISSING, np.where(votes == 1, CORRECT, INCORRECT)).astype(np.int8)


def _panel(votes: FloatArray, counts: FloatArray, fitted: Fit) -> Panel:
    """The fitted panel, on all responses or on an even choice of them."""
    n, most = int(counts.sum()), max(1, _MOST_CELLS // votes.shape[1])
    chosen = np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)
    rows = np.searchsorted(np.cumsum(counts), chosen, side="right")
    return Panel(fitted.fpr, fitted.fnr, float(fitted.prevalence), np.isfinite(votes)[rows])


def _power(
    panel: Panel, correlation: float, halves: list[NDArray[np.int64]], bound: float, rng: np.random.Generator
) -> float:
    """The share of panels with that error correlation whose r, by the rates fitted to them, is below the bound."""
    codes = panel.simulate(correlation, POWER_PANELS, rng)
    found = _fitted(codes)
    again = [
        Panel(fpr, fnr, float(prevalence), panel.voted).simulate(0.0, 1, rng)
        for fpr, fnr, prevalence in zip(found.fpr, found.fnr, found.prevalence, strict=True)
    ]
    return float((ratio(kappas(codes, halves), kappas(np.concatenate(again), halves)) < bound).mean())


def _fitted(codes: NDArray[np.int8]) -> Estimate:
    return fit_codes(codes, np.ones(codes.shape[:2]), tolerance=1e-2, max_iter=100).rates


def _that_matters(panel: Panel, rng: np.random.Generator) -> tuple[float, float]:
    """The least error correlation that moves the label-free FPR, weighted by votes, by `MOVE`; and how far."""
    moved = np.nan
    n_votes = panel.voted.sum(axis=0)
    for correlation in _CORRELATIONS:
        codes = panel.simulate(correlation, _MOVED_PANELS, rng)
        found = _fitted(codes).fpr
        moved = float(ratio(((found - panel.fpr) * n_votes).sum(axis=1), n_votes.sum()).mean())
        if abs(moved) >= MOVE:
            return correlation, moved
    return np.nan, moved
