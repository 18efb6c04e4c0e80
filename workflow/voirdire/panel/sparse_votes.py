"""Panels of many judges of which few have voted on each response, for Dawid-Skene's sums over many panels at once."""

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.panel.expectation import UNITS, Em, Estimate, evidence_of, prior_of
from voirdire.panel.votes import FloatArray

# Codes of votes in a byte: what most arrays of simulated panels consist of.
MISSING, INCORRECT, CORRECT = 0, 1, 2


class SparseRows:
    """The votes that there are, of panels (panels, rows, judges); as `voirdire.panel.expectation.Rows`.

    Panels that are no longer needed stay in the matrix until they are more than half of it.
    """

    def __init__(self, codes: NDArray[np.int8]):
        from scipy.sparse import csr_array

        self.codes, (n_panels, n_rows, n_judges) = codes, codes.shape
        flat = codes.reshape(-1, n_judges)
        row, judge = np.nonzero(flat != MISSING)
        column = row // n_rows * (2 * n_judges) + np.where(flat[row, judge] == CORRECT, judge, judge + n_judges)
        ends = np.searchsorted(row, np.arange(len(flat) + 1))
        self.matrix = csr_array((np.ones(len(row)), column, ends), shape=(len(flat), n_panels * 2 * n_judges))
        self.panels = np.arange(n_panels)

    def over_judges(self, each: FloatArray) -> FloatArray:
        sums: FloatArray = self.matrix @ self._among_all(each).ravel()
        return sums.reshape(self.codes.shape[:2])[self.panels]

    def over_rows(self, weights: FloatArray) -> FloatArray:
        sums: FloatArray = self.matrix.T @ self._among_all(weights).ravel()
        return sums.reshape(len(self.codes), -1)[self.panels]

    def of(self, panels: NDArray[np.int64]) -> "SparseRows":
        kept = self.panels[panels]
        if 2 * len(kept) < len(self.codes):
            return SparseRows(self.codes[kept])
        some = copy(self)
        some.panels = kept
        return some

    def _among_all(self, values: FloatArray) -> FloatArray:
        if len(self.panels) == len(self.codes):
            return values
        everyone = np.zeros((len(self.codes), values.shape[1]))
        everyone[self.panels] = values
        return everyone


@dataclass(frozen=True)
class CodedFit:
    """Rates of Dawid and Skene's model for each panel, and logit, (panels, rows), the log odds of right."""

    rates: Estimate
    logit: FloatArray


def fit_codes(codes: NDArray[np.int8], weights: FloatArray, tolerance: float, max_iter: int) -> CodedFit:
    """`voirdire.panel.dawid_skene.fit` and its log odds for panels of votes given as codes, to the last bit.

    codes: (panels, rows, judges); weights: (panels, rows). A judge without votes has a rate of .5.
    """
    rows = SparseRows(codes)
    correct, voted = (codes == CORRECT).sum(axis=2), (codes != MISSING).sum(axis=2)
    start = np.where(voted > 0, correct / np.maximum(voted, 1), 0.5)
    em = Em(rows, np.where(voted > 0, weights, 0.0), smoothing=1.0)
    rates = em.run(start, tolerance, max_iter)[0]
    logit = rows.over_judges(evidence_of(rates.fpr, rates.fnr)) + prior_of(rates.prevalence)[:, None]
    return CodedFit(rates, np.where(np.abs(logit) * UNITS <= (voted + 1) / 2, 0.0, logit))
