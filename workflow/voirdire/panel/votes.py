"""Votes of a panel on responses, and the rules that turn them into one verdict.

Votes are float arrays, (..., responses, judges): 1 correct, 0 incorrect, NaN missing. Results are (..., responses):
1, 0, or NaN where the panel abstains. Leading axes (seeds of a simulation, say) are independent panels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError

FloatArray = NDArray[np.float64]
Tie = Literal["incorrect", "correct", "abstain"]
Rule = Literal["linear", "log_odds"]

FLOOR = 0.02
TIES: dict[str, float] = {"incorrect": 0.0, "correct": 1.0, "abstain": np.nan}

# Weights are summed in whole numbers of this unit (2e-10), which is exact, so that a sum depends neither on the order
# of the judges nor on how a library adds; and a margin no larger than the rounding is a tie (.1 + .2 against .3).
_UNITS = 2.0**32


@dataclass(frozen=True)
class Tally:
    """The counted votes on each response, before tie and quorum are decided.

    margin: weight behind "correct" less weight behind "incorrect", exactly 0 where they are equal;
    n_votes: how many votes count towards the quorum. Both (..., responses).
    """

    margin: FloatArray
    n_votes: NDArray[np.int64]

    def tied(self, quorum: ArrayLike = 1) -> NDArray[np.bool_]:
        """Where enough votes were cast and neither side is heavier."""
        tied: NDArray[np.bool_] = (self.margin == 0) & self._enough(quorum)
        return tied

    def decide(self, quorum: ArrayLike = 1, tie: Tie = "incorrect") -> FloatArray:
        """1, 0 or NaN (abstain) per response; quorum may differ by response."""
        if tie not in TIES:
            raise UserError(f"tie: '{tie}' is unknown; use one of {', '.join(TIES)}")
        decided = np.where(self.margin == 0, TIES[tie], (self.margin > 0).astype(np.float64))
        return np.where(self._enough(quorum), decided, np.nan)

    def _enough(self, quorum: ArrayLike) -> NDArray[np.bool_]:
        # Without a single vote there is nothing to decide, whatever the quorum.
        enough: NDArray[np.bool_] = self.n_votes >= np.maximum(quorum, 1)
        return enough


def tally(votes: ArrayLike) -> Tally:
    """The tally in which every vote weighs the same."""
    correct, incorrect = split(votes)
    n_correct, n_incorrect = correct.sum(axis=-1), incorrect.sum(axis=-1)
    return Tally(n_correct - n_incorrect, (n_correct + n_incorrect).astype(np.int64))


def majority(votes: ArrayLike, quorum: ArrayLike = 1, tie: Tie = "incorrect") -> FloatArray:
    """The strict majority of the votes present.

    votes: (..., responses, judges), 1, 0 or NaN; quorum: fewest votes that decide, also (..., responses);
    tie: what equally many votes on both sides mean. Returns (..., responses), NaN where the panel abstains.

    >>> majority([[1, 1, 0], [1, 0, float("nan")]])
    array([1., 0.])
    """
    return tally(votes).decide(quorum, tie)


def weigh(
    votes: ArrayLike,
    fpr: ArrayLike,
    fnr: ArrayLike,
    rule: Rule = "linear",
    prevalence: ArrayLike | None = None,
    floor: float = FLOOR,
) -> Tally:
    """The tally in which a vote weighs by its judge's error rates; arguments as in `weighted`."""
    return weigh_split(*split(votes), fpr, fnr, rule, prevalence, floor)


def weigh_split(
    correct: FloatArray,
    incorrect: FloatArray,
    fpr: ArrayLike,
    fnr: ArrayLike,
    rule: Rule = "linear",
    prevalence: ArrayLike | None = None,
    floor: float = FLOOR,
) -> Tally:
    """`weigh` for votes that are split already, to weigh the same votes many times."""
    if rule not in WEIGHTS:
        raise UserError(f"rule: '{rule}' is unknown; use one of {', '.join(WEIGHTS)}")
    rates = np.asarray(fpr, float), np.asarray(fnr, float)
    for name, rate in zip(("fpr", "fnr"), rates, strict=True):
        if rate.shape[-1:] != correct.shape[-1:]:
            raise UserError(f"{name}: the shape is {rate.shape}; there are {correct.shape[-1]} judges, one rate each")
        if strange := rate[(rate < 0) | (rate > 1)].tolist():
            raise UserError(f"{name}: found {strange[0]:g}; a rate lies in [0, 1], or is NaN where a judge has none")
    if not 0 < floor < 0.5:
        raise UserError(f"floor: {floor:g} must lie between 0 and 0.5")
    for_correct, for_incorrect = WEIGHTS[rule](*rates, floor)
    known = np.isfinite(for_correct) & np.isfinite(for_incorrect)
    margin = _total(correct, _units(for_correct, known)) - _total(incorrect, _units(for_incorrect, known))
    n_votes = _total(correct + incorrect, known.astype(np.float64))
    slack = n_votes / 2
    if prevalence is not None and rule == "log_odds":
        margin = margin + _prior_units(prevalence, floor)
        slack = slack + 0.5
    return Tally(np.where(np.abs(margin) <= slack, 0.0, margin / _UNITS), n_votes.astype(np.int64))


def weighted(
    votes: ArrayLike,
    fpr: ArrayLike,
    fnr: ArrayLike,
    rule: Rule = "linear",
    prevalence: ArrayLike | None = None,
    floor: float = FLOOR,
    quorum: ArrayLike = 1,
    tie: Tie = "incorrect",
) -> FloatArray:
    """The weighted majority: each vote counts for what its judge's error rates make it worth.

    votes: (..., responses, judges), 1, 0 or NaN; fpr, fnr: (..., judges), a judge with a NaN in either has no vote;
    prevalence: (...), P(right), used by log_odds alone, NaN for none; floor: see the rules.
    quorum and tie as in `majority`. Returns (..., responses), NaN where the panel abstains.

    linear is the paper's (arXiv 2609.12002): 1 - FPR for a "correct" vote, 1 - FNR for an "incorrect" one, at least
    `floor`. log_odds adds log likelihood ratios, log((1 - FNR) / FPR) and log((1 - FPR) / FNR), and logit(prevalence),
    with rates and prevalence kept within [floor, 1 - floor]: the Bayes-optimal rule where errors are independent given
    the truth.

    >>> weighted([[1, 0, 0]], fpr=[0.02, 0.6, 0.6], fnr=[0.1, 0.6, 0.6])
    array([1.])
    """
    return weigh(votes, fpr, fnr, rule, prevalence, floor).decide(quorum, tie)


def minority_veto(votes: ArrayLike, k: int = 1, quorum: ArrayLike = 1) -> FloatArray:
    """Incorrect as soon as k votes say so, else correct; NaN with fewer votes than the quorum.

    votes: (..., responses, judges), 1, 0 or NaN. Returns (..., responses).

    >>> minority_veto([[1, 1, 0], [1, 1, 1]])
    array([0., 1.])
    """
    if k < 1:
        raise UserError(f"minority veto: k is {k}; at least one objection is needed to reject")
    correct, incorrect = split(votes)
    objections = incorrect.sum(axis=-1)
    enough = correct.sum(axis=-1) + objections >= np.maximum(quorum, 1)
    return np.where(enough, (objections < k).astype(np.float64), np.nan)


def split(votes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Where the vote is "correct", and where it is "incorrect", as 1 and 0.

    Raises UserError where a vote is neither 1, 0 nor NaN.
    """
    votes = np.asarray(votes, dtype=np.float64)
    correct, incorrect = votes == 1, votes == 0
    strange = ~(correct | incorrect | np.isnan(votes))
    if strange.any():
        raise UserError(f"votes: found {votes[strange][0]:g}; a vote is 1 (correct), 0 (incorrect) or NaN (missing)")
    return correct.astype(np.float64), incorrect.astype(np.float64)


def _linear(fpr: FloatArray, fnr: FloatArray, floor: float) -> tuple[FloatArray, FloatArray]:
    return np.maximum(1 - fpr, floor), np.maximum(1 - fnr, floor)


def _log_odds(fpr: FloatArray, fnr: FloatArray, floor: float) -> tuple[FloatArray, FloatArray]:
    fpr, fnr = np.clip(fpr, floor, 1 - floor), np.clip(fnr, floor, 1 - floor)
    return np.log(1 - fnr) - np.log(fpr), np.log(1 - fpr) - np.log(fnr)


# What a "correct" vote weighs for correct, and an "incorrect" vote for incorrect.
WEIGHTS: dict[Rule, Callable[[FloatArray, FloatArray, float], tuple[FloatArray, FloatArray]]] = {
    "linear": _linear,
    "log_odds": _log_odds,
}


def _units(weights: FloatArray, known: NDArray[np.bool_]) -> FloatArray:
    return np.rint(np.where(known, weights, 0.0) * _UNITS)


def _prior_units(prevalence: ArrayLike, floor: float) -> FloatArray:
    share = np.clip(np.asarray(prevalence, float), floor, 1 - floor)
    logit = np.log(share) - np.log(1 - share)
    return _units(logit, np.isfinite(logit))[..., None]


def _total(present: FloatArray, weights: FloatArray) -> FloatArray:
    total: NDArray[Any] = present @ weights[..., None]
    return total[..., 0]
