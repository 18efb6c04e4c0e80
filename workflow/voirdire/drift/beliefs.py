"""What is believed about the judges when a week's votes are cast."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import Streams
from voirdire.panel.estimators import ESTIMATORS, Estimator, Oracle
from voirdire.panel.rates import Prior, Rates
from voirdire.panel.votes import FloatArray


@dataclass(frozen=True)
class Beliefs:
    """Rates before each week's votes.

    rates: (streams, weeks, judges, 2), FPR and FNR; prevalence: (streams, weeks); supported: like rates, whether any
    response is behind the rate, which otherwise is a stand-in.
    """

    rates: FloatArray
    prevalence: FloatArray
    supported: NDArray[np.bool_]

    @classmethod
    def of(cls, weekly: Sequence[Rates]) -> "Beliefs":
        return cls(
            rates=np.stack([np.stack([each.fpr, each.fnr], axis=-1) for each in weekly], axis=1),
            prevalence=np.stack([each.prevalence for each in weekly], axis=1),
            supported=np.stack([np.stack([each.n_wrong, each.n_right], axis=-1) > 0 for each in weekly], axis=1),
        )


def believe(name: str, streams: Streams, scenario: Scenario) -> Beliefs:
    """An estimator's rates before each week's votes."""
    n_streams, n_weeks, _, n_judges = streams.votes.shape
    prior = Prior(*scenario.prior)
    estimator: Estimator
    if name == "oracle":
        estimator = Oracle(streams.fpr, streams.fnr, streams.prevalence, prior)
    else:
        estimator = ESTIMATORS[name](n_judges, n_tasks=len(scenario.tasks), prior=prior, batch=(n_streams,))
    known = []
    for week in range(n_weeks):
        votes, labels, task = streams.votes[:, week], streams.labels[:, week], streams.task[:, week]
        wants_labels = estimator.learns_from == "labels"
        estimator.update(votes, labels if wants_labels and scenario.labels == "before_votes" else None, task)
        known.append(estimator.rates())
        if wants_labels and scenario.labels == "after_votes":
            estimator.update(votes, labels, task)
    return Beliefs.of(known)


def known_so_far(counts: FloatArray, scenario: Scenario) -> FloatArray:
    """Sums over the weeks whose labels are there when a week's votes are cast; (streams, weeks, …)."""
    total = np.cumsum(counts, axis=1)
    return total if scenario.labels == "before_votes" else total - counts
