"""Votes by the pattern that they make: responses with equal votes are one row with a count.

A panel of few judges makes few patterns, however many responses it has judged, and everything that is estimated from
votes alone needs no more than how often each pattern occurred.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.votes import FloatArray, split

# As many base-3 digits as fit into an int64.
_DIGITS = 39


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of votes, in a fixed order; votes: (patterns, judges); index: (responses,), each one's pattern."""

    votes: FloatArray
    index: NDArray[np.int64]

    @classmethod
    def of(cls, votes: ArrayLike) -> "Patterns":
        """The patterns of votes (responses, judges), 1, 0 or NaN.

        >>> found = Patterns.of([[1, 0], [0, 0], [1, 0]])
        >>> found.index, found.count()
        (array([1, 0, 1]), array([1., 2.]))
        """
        correct, incorrect = split(votes)
        codes = (correct * 2 + incorrect).astype(np.int8)
        index = np.zeros(len(codes), dtype=np.int64)
        for part in _parts(codes):
            number = np.unique(part, return_inverse=True)[1]
            index = np.unique(index * (number.max(initial=0) + 1) + number, return_inverse=True)[1]
        first = np.unique(index, return_index=True)[1]
        return cls(np.asarray(votes, dtype=np.float64)[first], index)

    def count(self, weights: ArrayLike | None = None) -> FloatArray:
        """(patterns,): how many responses have each pattern, or the sum of their weights (responses,)."""
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        counted: FloatArray = np.bincount(self.index, given, minlength=len(self.votes)).astype(np.float64)
        return counted


def _parts(codes: NDArray[np.int8]) -> Iterator[NDArray[np.int64]]:
    """The rows of codes as whole numbers, as many columns at a time as a number holds."""
    for start in range(0, codes.shape[1], _DIGITS):
        part = codes[:, start : start + _DIGITS]
        yield part @ 3 ** np.arange(part.shape[1], dtype=np.int64)
