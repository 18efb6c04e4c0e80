"""How often each pattern of votes has occurred, as batches come in, in many streams at once.

Streams of few judges make the same few patterns, and share one table of them; those of many judges make nearly as many
patterns as responses, and each has a table of its own, or the counts would take streams × all streams' patterns.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.forgetting import Forgetting, Memory
from voirdire.panel.patterns import Patterns
from voirdire.panel.votes import FloatArray

# A shared table may have so many times the rows of the largest of the streams' own: it is that much quicker to use.
_SHARED_AT_MOST = 4


@dataclass(frozen=True)
class _Counts:
    """Counts (kinds, keys) of what is there at all, by key, sorted: pattern × streams + stream."""

    keys: NDArray[np.int64]
    counts: FloatArray

    def __add__(self, other: "_Counts") -> "_Counts":
        if not len(other.keys):
            return self
        return _summed(np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts], axis=1))

    def __mul__(self, factor: float) -> "_Counts":
        return _Counts(self.keys, self.counts * factor)


class PatternCounts:
    """Counts of vote patterns by stream and by kind of response (unlabelled, right, wrong, say).

    >>> seen = PatternCounts(n_judges=2)
    >>> seen.add([[1, 0], [0, 0]])
    >>> seen.add([[1, 0]])
    >>> votes, counts = seen.table()
    >>> votes.tolist(), counts.tolist()
    ([[0.0, 0.0], [1.0, 0.0]], [[1.0, 2.0]])
    """

    def __init__(
        self, n_judges: int, batch: tuple[int, ...] = (), n_kinds: int = 1, forgetting: Forgetting | None = None
    ):
        self.n_judges, self.batch, self.n_kinds = n_judges, batch, n_kinds
        self._streams = prod(batch)
        self._known = np.zeros((0, n_judges))
        self._memory = Memory(_Counts(np.zeros(0, np.int64), np.zeros((n_kinds, 0))), forgetting)

    def add(self, votes: ArrayLike, kind: ArrayLike | None = None, weight: ArrayLike = 1.0) -> None:
        """Take in a batch: votes (*batch, responses, judges), kind (*batch, responses), each response's, from 0.

        A response of a kind below 0 is left out; without `kind` all are of the first. weight: (*batch, responses), what
        each response counts for.
        """
        kinds = self._each(0 if kind is None else kind, votes)
        self._memory.add(self._counted(votes, kinds >= 0, [(kinds, self._each(weight, votes))]))

    def move(self, votes: ArrayLike, before: ArrayLike, after: ArrayLike, age: int = 0) -> None:
        """Count responses as of another kind than before: votes (*batch, responses, judges).

        before, after: (*batch, responses), or one for all; a response with a kind below 0 in either is left alone.
        age: how many batches before the newest one they came in.
        """
        old, new = self._each(before, votes), self._each(after, votes)
        parts = [(old, np.full(old.shape, -1.0)), (new, np.ones(new.shape))]
        self._memory.amend(self._counted(votes, (old >= 0) & (new >= 0), parts), age)

    def amend(self, votes: ArrayLike, kind: ArrayLike, age: int = 0, weight: ArrayLike = 1.0) -> None:
        """Count responses of a batch that came in before as of this kind, too; arguments as in `add` and `move`."""
        kinds = self._each(kind, votes)
        if (kinds >= 0).any():
            self._memory.amend(self._counted(votes, kinds >= 0, [(kinds, self._each(weight, votes))]), age)

    def table(self) -> tuple[FloatArray, FloatArray]:
        """Votes and counts (kinds, *batch, patterns) of everything kept; no count is below 0.

        votes: (patterns, judges) in a fixed order, or (*batch, patterns, judges) where a table per stream is smaller
        by far; there, rows without votes and counts fill up the shorter ones.
        """
        total = self._memory.total
        pattern, stream = np.divmod(total.keys, max(self._streams, 1))
        own = np.bincount(stream, minlength=self._streams)
        length = int(own.max(initial=0))
        if len(self._known) <= _SHARED_AT_MOST * length or self._streams == 1:
            rank = Patterns.of(self._known).index
            length, place = len(rank), rank[pattern]
            votes = np.empty_like(self._known)
            votes[rank] = self._known
        else:
            # Each stream's patterns from its first row on, in the order of their keys.
            by_stream = np.argsort(stream, kind="stable")
            place = np.empty_like(stream)
            place[by_stream] = np.arange(len(stream)) - (np.cumsum(own) - own)[stream[by_stream]]
            votes = np.full((self._streams, length, self.n_judges), np.nan)
            votes[stream, place] = self._known[pattern]
            votes = votes.reshape(*self.batch, length, self.n_judges)
        counts = np.zeros((self.n_kinds, self._streams, length))
        counts[:, stream, place] = np.maximum(total.counts, 0.0)
        return votes, counts.reshape(self.n_kinds, *self.batch, length)

    def _each(self, values: ArrayLike, votes: ArrayLike) -> FloatArray:
        """One value for each response, flat."""
        return np.broadcast_to(np.asarray(values, dtype=np.float64), np.shape(votes)[:-1]).ravel()

    def _counted(
        self, votes: ArrayLike, counted: NDArray[np.bool_], parts: list[tuple[FloatArray, FloatArray]]
    ) -> _Counts:
        """The responses that are counted, by the parts' kinds and weights."""
        rows: FloatArray = np.asarray(votes, dtype=np.float64)
        streams = np.repeat(np.arange(self._streams), rows.shape[-2])[counted]
        keys = self._patterns(rows.reshape(-1, self.n_judges)[counted]) * self._streams + streams
        counts = np.zeros((self.n_kinds, len(keys)))
        for kinds, weight in parts:
            counts += weight[counted] * (kinds[counted] == np.arange(self.n_kinds)[:, None])
        return _summed(keys, counts)

    def _patterns(self, rows: FloatArray) -> NDArray[np.int64]:
        """The number of each row's pattern; those not seen before are given the next numbers."""
        here = Patterns.of(rows)
        n_known = len(self._known)
        joined = Patterns.of(np.concatenate([self._known, here.votes]))
        number = np.full(len(joined.votes), -1, dtype=np.int64)
        number[joined.index[:n_known]] = np.arange(n_known)
        new = np.flatnonzero(number < 0)
        number[new] = n_known + np.arange(len(new))
        self._known = np.concatenate([self._known, joined.votes[new]])
        numbers: NDArray[np.int64] = number[joined.index[n_known:]][here.index]
        return numbers


def _summed(keys: NDArray[np.int64], counts: FloatArray) -> _Counts:
    """Counts (kinds, keys) with each key once."""
    found, index = np.unique(keys, return_inverse=True)
    return _Counts(found, np.stack([np.bincount(index, each, minlength=len(found)) for each in counts]))
