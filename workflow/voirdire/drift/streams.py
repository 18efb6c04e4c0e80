"""Simulated streams: weeks of responses, their votes and truths."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.votes import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Streams:
    """Streams of responses, in `groups` of equally many, one group after the other.

    Streams of a group share their pool of items.

    votes, can_vote (whether the judge is on the response's panel): (streams, weeks, responses, judges); truth, labels
    (NaN where there is none), quorum, task (number): (streams, weeks, responses); fpr, fnr: (streams, weeks, tasks,
    judges) and prevalence: (streams, tasks), the true ones of the stream's pool. sizes: (weeks,), how many responses
    each week has, where fewer than the arrays hold; what is behind them is NaN, and task 0.
    """

    votes: FloatArray
    can_vote: NDArray[np.bool_]
    truth: FloatArray
    labels: FloatArray
    quorum: IntArray
    task: IntArray
    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    groups: int
    sizes: IntArray | None = None

    @property
    def per_group(self) -> int:
        return len(self.votes) // self.groups

    def grouped(self, values: FloatArray) -> FloatArray:
        """(streams, …) as (groups, streams of the group, …)."""
        return values.reshape(self.groups, self.per_group, *values.shape[1:])

    def take(self, which: slice) -> "Streams":
        """Some of the streams, as one group."""
        by_stream = [each.name for each in fields(self) if each.name not in ("groups", "sizes")]
        return replace(self, **{name: getattr(self, name)[which] for name in by_stream}, groups=1)

    def week(self, number: int) -> tuple[FloatArray, FloatArray, IntArray]:
        """Votes (streams, responses, judges), labels and tasks (streams, responses) of a week, from 0."""
        n = self.truth.shape[2] if self.sizes is None else int(self.sizes[number])
        return self.votes[:, number, :n], self.labels[:, number, :n], self.task[:, number, :n]
