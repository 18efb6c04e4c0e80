"""That examinees' accuracies are measured too, on the very questions: what that adds to the models' spread."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from voirdire.bias.leniency_design import Model, Rows, model
from voirdire.bias.leniency_rows import ACCURACY, STEP, TERMS
from voirdire.stats.arrays import Array
from voirdire.stats.logit import Maximum, Spread

# Of accuracy, both ways: small beside its own error, large beside rounding.
_MOVE = 0.005


@dataclass(frozen=True)
class Noise:
    """influence: what each unit (a cluster of a task, with wrong responses or without) adds to each accuracy, less its
    mean, (units, pairs); pairs: (task, examinee) of each column."""

    influence: Array
    pairs: "pd.MultiIndex"

    @classmethod
    def of(cls, graded: pd.DataFrame, units: "pd.MultiIndex") -> "Noise":
        """graded: task, cluster, examinee and truth of each response, once; units: (task, cluster), all there are."""
        by = graded.groupby(["task", "examinee"])["truth"]
        mean, n = by.transform("mean"), by.transform("size")
        pairs = pd.MultiIndex.from_frame(graded[["task", "examinee"]].drop_duplicates())
        influence = np.zeros((len(units), len(pairs)))
        row = units.get_indexer(pd.MultiIndex.from_frame(graded[["task", "cluster"]]))
        column = pairs.get_indexer(pd.MultiIndex.from_frame(graded[["task", "examinee"]]))
        np.add.at(influence, (row, column), ((graded["truth"] - mean) / n).to_numpy(np.float64))
        return cls(influence, pairs)


def with_noise(around: Spread, built: Model, at: Maximum, rows: Rows, method: str, noise: Noise) -> Spread:
    """The spread by clusters with the accuracies' own error: what a unit adds to a coefficient is its score's part and,
    through every accuracy that it is part of, the coefficient's derivative along that accuracy times its influence.

    rows, method: what `built` was made of. The derivative is the inverse information times the score's, by central
    differences. Accuracies of examinees without a row, or which turn the design into another, add nothing.
    Source: the linearised (two-step) estimator, Newey & McFadden (1994), Handbook of Econometrics 4, section 6.
    """
    assert built.likelihood is not None
    task, examinee = (rows.labels[name][rows.numbers[name]] for name in ("task", "examinee"))
    pair = noise.pairs.get_indexer(pd.MultiIndex.from_arrays([task, examinee]))
    parts = np.zeros((len(noise.influence), built.likelihood.n_terms))
    np.add.at(parts, built.likelihood.clusters, at.evaluation.scores)
    for number in np.unique(pair[pair >= 0]):
        ends = []
        for move in (_MOVE, -_MOVE):
            terms = rows.terms.copy()
            terms[pair == number, TERMS.index(ACCURACY)] += move / STEP
            moved = model(replace(rows, terms=terms), method, built.unknown)
            if moved.likelihood is not None and moved.names == built.names:
                ends.append(moved.likelihood.evaluate(at.beta).scores.sum(axis=0))
        if len(ends) == 2:
            parts += noise.influence[:, [number]] * (ends[0] - ends[1]) / (2 * _MOVE)
    told = parts @ around.by_model
    n_units = int((np.abs(told) > 0).any(axis=1).sum())
    factor = n_units / (n_units - 1) if n_units > 1 else np.nan
    return replace(around, by_cluster=factor * told.T @ told)
