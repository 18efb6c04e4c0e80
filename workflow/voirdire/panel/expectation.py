"""Expectation maximisation for `voirdire.panel.dawid_skene`, over many panels at once.

Log odds and expected counts are whole numbers of tiny units, so that their sums are exact, and therefore the same in
whatever order and by whatever library they are taken.
"""

from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.votes import FloatArray, split

# Expected counts and probabilities are kept above it, so that a logarithm exists.
_TINY = 1e-10
# Of log odds, in a unit (1.5e-11): sums of thousands of judges' stay below 2^53 units.
UNITS = 2.0**36
# One panel of so many rows is summed by code: the votes themselves would have to be read from memory in every round.
_MANY_ROWS = 5000
# So many judges' votes make 3^7 codes, whose sums fit into the fastest cache.
_CHUNK = 7


@dataclass(frozen=True)
class Estimate:
    """Of panels (panels, ...): judges' events and their expected counts, and prevalence."""

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    n_wrong: FloatArray
    n_right: FloatArray


class Rows(Protocol):
    """Rows of votes, whose "correct" and "incorrect" ones are 2 judges columns of 0 and 1 side by side."""

    def over_judges(self, each: FloatArray) -> FloatArray:
        """(panels, rows): each row's sum of its votes' values, (panels, 2 judges)."""

    def over_rows(self, weights: FloatArray) -> FloatArray:
        """(panels, 2 judges): sums of the rows' weights, (panels, rows), over those with the vote."""

    def of(self, panels: NDArray[np.int64]) -> "Rows":
        """The rows of some of the panels."""


class Plain:
    """Rows that all panels share, `both` (rows, 2 judges), or of each panel, (panels, rows, 2 judges)."""

    def __init__(self, both: FloatArray):
        self.both = both

    def over_judges(self, each: FloatArray) -> FloatArray:
        sums: FloatArray = each @ self.both.T if self.both.ndim == 2 else (self.both @ each[..., None])[..., 0]
        return sums

    def over_rows(self, weights: FloatArray) -> FloatArray:
        sums: FloatArray = weights @ self.both if self.both.ndim == 2 else (weights[:, None, :] @ self.both)[:, 0]
        return sums

    def of(self, panels: NDArray[np.int64]) -> "Plain":
        return self if self.both.ndim == 2 else Plain(self.both[panels])


class Coded:
    """Rows of a single panel, votes (rows, judges): some judges' votes on a response at a time are one number."""

    def __init__(self, votes: FloatArray):
        self.n_judges = votes.shape[1]
        self.chunks = [
            _Chunk.of(votes, np.arange(start, min(start + _CHUNK, self.n_judges)))
            for start in range(0, self.n_judges, _CHUNK)
        ]

    def over_judges(self, each: FloatArray) -> FloatArray:
        sums = sum(np.take(chunk.votes @ each[0, chunk.columns], chunk.codes) for chunk in self.chunks)
        return np.asarray(sums)[None]

    def over_rows(self, weights: FloatArray) -> FloatArray:
        sums = np.empty((1, 2 * self.n_judges))
        for chunk in self.chunks:
            by_code = np.bincount(chunk.codes, weights[0], minlength=len(chunk.votes))
            sums[0, chunk.columns] = by_code @ chunk.votes
        return sums

    def of(self, panels: NDArray[np.int64]) -> "Coded":
        return self


@dataclass(frozen=True)
class _Chunk:
    """Some judges: each row's code (rows,), the columns that codes stand for, and those of every code there is."""

    codes: NDArray[np.int64]
    columns: NDArray[np.int64]
    votes: FloatArray

    @classmethod
    def of(cls, votes: FloatArray, judges: NDArray[np.int64]) -> "_Chunk":
        # Digits to the base of 3: 1 incorrect, 2 correct, 0 missing.
        codes = np.zeros(len(votes), dtype=np.int64)
        for place, judge in enumerate(judges):
            codes += 3**place * (2 * (votes[:, judge] == 1) + (votes[:, judge] == 0))
        digits = np.arange(3 ** len(judges))[:, None] // 3 ** np.arange(len(judges)) % 3
        both = np.concatenate([digits == 2, digits == 1], axis=1).astype(np.float64)
        return cls(codes, np.concatenate([judges, judges + votes.shape[1]]), both)


def rows_of(votes: FloatArray, n_panels: int) -> Rows:
    """Votes (rows, judges) of all panels, or (panels, rows, judges), in the form that is quickest to sum."""
    if votes.ndim == 2 and n_panels == 1 and len(votes) >= _MANY_ROWS:
        return Coded(votes)
    return Plain(np.concatenate(split(votes), axis=-1))


class Em:
    """Rounds of expectation and maximisation.

    weights: (panels, rows); smoothing: added to the expected counts on either side of each rate and of prevalence.
    """

    def __init__(self, rows: Rows, weights: FloatArray, smoothing: float):
        self.rows, self.smoothing = rows, smoothing
        # A count's unit is small enough for its rounding not to matter, and no sum of them needs more than 52 bits.
        bits = 52 - np.frexp(weights.sum(axis=-1, keepdims=True))[1]
        self.units, self.unit = np.ldexp(1.0, bits), np.ldexp(1.0, -bits)
        self.weights = self._whole(weights)
        self.counted = (weights > 0).astype(np.float64)
        self.fractions = bool((weights != np.rint(weights)).any())
        self.total = rows.over_rows(self.weights)
        self.n = self.weights.sum(axis=-1)

    def run(
        self, start: FloatArray, tolerance: float, max_iter: int
    ) -> tuple[Estimate, NDArray[np.int64], NDArray[np.bool_]]:
        """What the last posteriors make, the rounds taken, and whether the posteriors stood still.

        start: P(right), (panels, rows). A panel ends when none of its posteriors changes by more than `tolerance`.
        """
        right, now = start * self.counted, start * self.counted
        n_iter, converged = np.zeros(len(right), np.int64), np.zeros(len(right), np.bool_)
        em, going, moving = self, np.arange(len(right)), np.ones(len(right), np.bool_)
        for _ in range(max_iter):
            found = em.expected(em.maximised(now))
            ends = moving & (np.abs(found - now).max(axis=-1, initial=0.0) <= tolerance)
            n_iter[going[moving]] += 1
            now, moving = found, moving & ~ends
            right[going[ends]] = found[ends]
            converged[going[ends]] = True
            if not moving.any():
                break
            # What has ended is computed along with the others until it is worth the trouble to leave it out.
            if moving.mean() < 0.8:
                em, going, now = em.of(np.flatnonzero(moving)), going[moving], now[moving]
                moving = moving[moving]
        right[going[moving]] = now[moving]
        return self.maximised(right), n_iter, converged

    def of(self, panels: NDArray[np.int64]) -> "Em":
        """Some of the panels."""
        some = copy(self)
        some.rows = self.rows.of(panels)
        for name in ("units", "unit", "weights", "counted", "total", "n"):
            setattr(some, name, getattr(self, name)[panels])
        return some

    def maximised(self, right: FloatArray) -> Estimate:
        """M-step: rates from P(right), (panels, rows)."""
        # Rounded before they are counted, so that a row of count 2 makes what two rows make.
        shares = self.weights * self._whole(right)
        if self.fractions:
            shares = self._whole(shares)
        among_right = self.rows.over_rows(shares)
        among_wrong = np.maximum(self.total - among_right, 0.0)
        n_right = shares.sum(axis=-1)
        (accepted_right, rejected_right), (accepted_wrong, rejected_wrong) = halves(among_right), halves(among_wrong)
        return Estimate(
            fpr=self._rate(accepted_wrong, rejected_wrong),
            fnr=self._rate(rejected_right, accepted_right),
            prevalence=self._rate(n_right, np.maximum(self.n - n_right, 0.0)),
            n_wrong=accepted_wrong + rejected_wrong,
            n_right=accepted_right + rejected_right,
        )

    def expected(self, rates: Estimate) -> FloatArray:
        """E-step: P(right) of each row, (panels, rows)."""
        from scipy.special import expit

        evidence = self.rows.over_judges(evidence_of(rates.fpr, rates.fnr))
        evidence += prior_of(rates.prevalence)[..., None]
        right: FloatArray = expit(evidence, out=evidence)
        # Rows that are not counted have no part in convergence either.
        right *= self.counted
        return right

    def _whole(self, counts: FloatArray) -> FloatArray:
        whole: FloatArray = counts * self.units
        np.rint(whole, out=whole)
        whole *= self.unit
        return whole

    def _rate(self, events: FloatArray, others: FloatArray) -> FloatArray:
        events, others = (np.maximum(counts + self.smoothing, _TINY) for counts in (events, others))
        return events / (events + others)


def evidence_of(fpr: FloatArray, fnr: FloatArray) -> FloatArray:
    """(..., 2 judges): what a "correct" vote adds to the log odds of right, and then what an "incorrect" one does.

    Nothing, where a judge's rate is NaN.
    """
    known = np.isfinite(fpr) & np.isfinite(fnr)
    fpr, fnr = (np.clip(rate, _TINY, 1 - _TINY) for rate in (fpr, fnr))
    sides = np.log1p(-fnr) - np.log(fpr), np.log(fnr) - np.log1p(-fpr)
    return _in_units(np.concatenate([np.where(known, side, 0.0) for side in sides], axis=-1))


def prior_of(prevalence: FloatArray) -> FloatArray:
    """The log odds of right before any vote."""
    share = np.clip(prevalence, _TINY, 1 - _TINY)
    return _in_units(np.log(share) - np.log1p(-share))


def halves(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(..., 2 judges) as two of (..., judges), of "correct" votes and of "incorrect" ones."""
    first, second = np.split(sums, 2, axis=-1)
    return first, second


def _in_units(log_odds: FloatArray) -> FloatArray:
    whole: FloatArray = np.rint(log_odds * UNITS) / UNITS
    return whole
