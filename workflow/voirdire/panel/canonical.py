"""An order of judges that depends on their votes alone, so that what is drawn at random depends on no order or name."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.votes import split

# Rounds in which judges and responses tell each other apart; two settle all but panels that are symmetric.
_ROUNDS = 3


def judge_order(votes: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.int64]:
    """(judges,): the judges in an order that stays the same, whatever the order of columns and rows.

    votes: (responses, judges), 1, 0 or NaN; weights: (responses,), whole numbers, how often each row occurred.

    Every judge is coloured by the responses that it accepts and rejects, those by their judges' colours, and so on
    (Weisfeiler and Leman's refinement, 1968, in 64-bit hashes). Judges that are still alike can nearly always be
    exchanged without changing anything.
    """
    correct, incorrect = (side.astype(bool) for side in split(votes))
    counts = np.ones(len(correct)) if weights is None else np.rint(np.asarray(weights, dtype=np.float64))
    times = counts.astype(np.uint64)
    colour = np.zeros(correct.shape[1], dtype=np.uint64)
    for _ in range(_ROUNDS):
        row = _mixed(_sums(correct, incorrect, colour))
        colour = _mixed(_sums(correct.T, incorrect.T, row, times))
    order: NDArray[np.int64] = np.argsort(colour, kind="stable")
    return order


def _sums(
    correct: NDArray[np.bool_],
    incorrect: NDArray[np.bool_],
    colour: NDArray[np.uint64],
    times: NDArray[np.uint64] | None = None,
) -> NDArray[np.uint64]:
    """For each row the sum over its votes of their mixed colours, modulo 2^64, in which the order is no matter."""
    accepted, rejected = (_mixed(colour + np.uint64(salt)) for salt in (1, 2))
    if times is not None:
        accepted, rejected = accepted * times, rejected * times
    zero = np.uint64(0)
    total: NDArray[np.uint64] = np.where(correct, accepted, zero).sum(axis=1, dtype=np.uint64)
    total += np.where(incorrect, rejected, zero).sum(axis=1, dtype=np.uint64)
    return total


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scrambled one to one (the finaliser of splitmix64; Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    scrambled: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return scrambled
