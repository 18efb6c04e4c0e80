"""How often each judge errs within strata: the sums that estimators and true rates are made of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError
from voirdire.panel.votes import FloatArray, split


@dataclass(frozen=True)
class Tabulated:
    """Responses taken for wrong (right) that a judge voted on, and its errors among them; (..., judges)."""

    n_wrong: FloatArray
    n_right: FloatArray
    accepted_wrong: FloatArray
    rejected_right: FloatArray

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> "Tabulated":
        return cls(*(np.zeros(shape) for _ in range(4)))

    def __add__(self, other: "Tabulated") -> "Tabulated":
        return Tabulated(
            self.n_wrong + other.n_wrong,
            self.n_right + other.n_right,
            self.accepted_wrong + other.accepted_wrong,
            self.rejected_right + other.rejected_right,
        )

    def __mul__(self, weight: float) -> "Tabulated":
        return Tabulated(
            self.n_wrong * weight, self.n_right * weight, self.accepted_wrong * weight, self.rejected_right * weight
        )


def tabulate(votes: ArrayLike, wrong: FloatArray, right: FloatArray) -> Tabulated:
    """Each judge's errors within strata.

    votes: (..., responses, judges); wrong, right: (..., responses, strata), a response's weight as a wrong (right) one.
    Returns sums of shape (..., strata, judges).
    """
    correct, incorrect = split(votes)
    present = correct + incorrect
    wrong, right = np.swapaxes(wrong, -1, -2), np.swapaxes(right, -1, -2)
    return Tabulated(wrong @ present, right @ present, wrong @ correct, right @ incorrect)


def one_hot(task: ArrayLike, n_tasks: int) -> FloatArray:
    """(..., responses) task numbers from 0 as (..., responses, tasks) zeros and ones."""
    codes: NDArray[np.int64] = np.asarray(task, dtype=np.int64)
    if codes.size and (codes.min() < 0 or codes.max() >= n_tasks):
        raise UserError(f"task: numbers go from 0 to {n_tasks - 1}, found {codes.min()} to {codes.max()}")
    hot: FloatArray = (codes[..., None] == np.arange(n_tasks)).astype(np.float64)
    return hot
