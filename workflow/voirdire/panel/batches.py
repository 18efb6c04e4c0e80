"""A batch of votes as an estimator is given it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError
from voirdire.panel.votes import FloatArray


@dataclass(frozen=True)
class Batch:
    """Votes (*batch, responses, judges), labels (*batch, responses), NaN without, and task numbers of that shape."""

    votes: FloatArray
    labels: FloatArray
    task: NDArray[np.int64]

    @classmethod
    def of(
        cls, votes: ArrayLike, labels: ArrayLike | None, task: ArrayLike | None, n_judges: int, batch: tuple[int, ...]
    ) -> "Batch":
        """The batch for `n_judges` judges in streams of shape `batch`; no label, and task 0, where none are given.

        Raises UserError where shapes don't fit; `task` may be one for all streams.
        """
        cast: FloatArray = np.asarray(votes, dtype=np.float64)
        if cast.ndim != len(batch) + 2 or cast.shape[:-2] != batch or cast.shape[-1] != n_judges:
            needed = ", ".join([*map(str, batch), "responses", str(n_judges)])
            raise UserError(f"votes: the shape is {cast.shape}; the estimator takes ({needed})")
        shape = cast.shape[:-1]
        known = np.full(shape, np.nan) if labels is None else np.asarray(labels, dtype=np.float64)
        if known.shape != shape:
            raise UserError(f"labels: the shape is {known.shape}; votes of shape {cast.shape} have labels of {shape}")
        codes = np.asarray(0 if task is None else task, dtype=np.int64)
        try:
            return cls(cast, known, np.broadcast_to(codes, shape))
        except ValueError:
            raise UserError(
                f"task: the shape is {codes.shape}; votes of shape {cast.shape} have task numbers of {shape}"
            ) from None
