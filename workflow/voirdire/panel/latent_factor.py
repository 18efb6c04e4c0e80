"""Panels simulated from judges' rates, with errors that are independent or share one factor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.sparse_votes import CORRECT, INCORRECT, MISSING
from voirdire.panel.votes import FloatArray


@dataclass(frozen=True)
class Panel:
    """A panel that can be simulated: fpr, fnr (judges,), prevalence, and voted (responses, judges), who votes where."""

    fpr: FloatArray
    fnr: FloatArray
    prevalence: float
    voted: NDArray[np.bool_]

    def simulate(self, correlation: float, n_panels: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Votes as codes (panels, responses, judges), see `voirdire.panel.sparse_votes`.

        Each judge errs where a normal variable falls below the quantile of its rate; any two judges' variables on a
        response are correlated by `correlation`, 0 to 1, through a factor that is the same for all judges. Rates stay
        what they are; the correlation of errors themselves is smaller than that of the variables.
        """
        from scipy.special import ndtr, ndtri

        row, judge = np.nonzero(self.voted)
        right = rng.random((n_panels, len(self.voted))) < self.prevalence
        is_right = right[:, row]
        rate = np.where(is_right, self.fnr[judge], self.fpr[judge])
        if correlation > 0:
            factor = rng.normal(size=right.shape)[:, row]
            quantile = np.where(is_right, ndtri(self.fnr)[judge], ndtri(self.fpr)[judge])
            rate = ndtr((quantile - np.sqrt(correlation) * factor) / np.sqrt(1 - correlation))
        accepts = (rng.random(rate.shape) < rate) != is_right
        codes = np.full((n_panels, *self.voted.shape), MISSING, dtype=np.int8)
        codes[:, row, judge] = np.where(accepts, CORRECT, INCORRECT)
        return codes
