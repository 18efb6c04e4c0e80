"""What is believed about the judges when a week's votes are cast."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import Streams
from voirdire.panel.estimators import ESTIMATORS, Estimator, Oracle
from voirdire.panel.rates import Prior, Rates
from voirdire.panel.votes import FloatArray

# Streams that are estimated at once: many enough for arrays to pay, few enough for two threads and for bounded memory.
CHUNK = 125
_THREADS = 2


@runtime_checkable
class GivesProbability(Protocol):
    """An estimator that says how probably a response is right, beside its judges' rates."""

    def probability(self, votes: ArrayLike) -> FloatArray:
        """(..., responses): P(right | votes)."""


class TakesLabelsLater(Protocol):
    """An estimator from verdicts and labels, for a batch whose labels come after its votes."""

    def label(self, votes: ArrayLike, labels: ArrayLike, task: ArrayLike | None = None) -> None:
        """Take in the labels of responses whose votes are known."""


@dataclass(frozen=True)
class Beliefs:
    """Rates before each week's votes.

    rates: (streams, weeks, judges, 2), FPR and FNR; prevalence: (streams, weeks); supported: like rates, whether any
    response is behind the rate, which otherwise is a stand-in. probability: (streams, weeks, responses), P(right) of
    the week's responses, where the estimator states it.
    """

    rates: FloatArray
    prevalence: FloatArray
    supported: NDArray[np.bool_]
    probability: FloatArray | None = None

    @classmethod
    def of(cls, weekly: Sequence[Rates], probability: Sequence[FloatArray] = ()) -> "Beliefs":
        return cls(
            rates=np.stack([np.stack([each.fpr, each.fnr], axis=-1) for each in weekly], axis=1),
            prevalence=np.stack([each.prevalence for each in weekly], axis=1),
            supported=np.stack([np.stack([each.n_wrong, each.n_right], axis=-1) > 0 for each in weekly], axis=1),
            probability=np.stack(probability, axis=1) if probability else None,
        )

    @classmethod
    def joined(cls, parts: "Sequence[Beliefs]") -> "Beliefs":
        """One after the other, along streams."""
        if len(parts) == 1:
            return parts[0]
        stated = [part.probability for part in parts if part.probability is not None]
        return cls(
            rates=np.concatenate([part.rates for part in parts]),
            prevalence=np.concatenate([part.prevalence for part in parts]),
            supported=np.concatenate([part.supported for part in parts]),
            probability=np.concatenate(stated) if stated else None,
        )


def believe_all(names: Sequence[str], streams: Streams, scenario: Scenario) -> dict[str, Beliefs]:
    """Every estimator's beliefs; streams are independent, so chunks of them are estimated side by side."""
    starts = range(0, len(streams.votes), CHUNK)
    parts = [streams.take(slice(start, start + CHUNK)) for start in starts]
    with ThreadPoolExecutor(_THREADS) as pool:
        jobs = {name: [pool.submit(believe, name, part, scenario) for part in parts] for name in dict.fromkeys(names)}
        return {name: Beliefs.joined([job.result() for job in mine]) for name, mine in jobs.items()}


def believe(name: str, streams: Streams, scenario: Scenario) -> Beliefs:
    """An estimator's rates before each week's votes.

    One that learns from verdicts and labels is given the week's verdicts before the votes are cast and their labels
    after, as one batch.
    """
    n_streams, n_weeks, _, n_judges = streams.votes.shape
    prior = Prior(*scenario.prior)
    if name == "oracle":
        return Beliefs.of([_true(streams, week, prior) for week in range(n_weeks)])
    estimator = ESTIMATORS[name](
        n_judges, n_tasks=streams.fpr.shape[2], prior=prior, batch=(n_streams,), forgetting=scenario.forgetting
    )
    known, stated = [], []
    early, wants_labels = scenario.labels == "before_votes", estimator.learns_from in ("labels", "both")
    for week in range(n_weeks):
        votes, labels, task = streams.week(week)
        estimator.update(votes, labels if wants_labels and early else None, task)
        known.append(estimator.rates())
        if isinstance(estimator, GivesProbability):
            stated.append(_padded(estimator.probability(votes), streams.truth.shape[2]))
        if wants_labels and not early:
            _tell(estimator, votes, labels, task)
    return Beliefs.of(known, stated)


def _true(streams: Streams, week: int, prior: Prior) -> Rates:
    oracle = Oracle(streams.fpr[:, week], streams.fnr[:, week], streams.prevalence, prior)
    votes, _, task = streams.week(week)
    oracle.update(votes, task=task)
    return oracle.rates()


def _tell(estimator: Estimator, votes: FloatArray, labels: FloatArray, task: ArrayLike) -> None:
    if estimator.learns_from == "both":
        cast(TakesLabelsLater, estimator).label(votes, labels, task)
    else:
        estimator.update(votes, labels, task)


def _padded(values: FloatArray, n: int) -> FloatArray:
    """(streams, responses) with NaN up to n responses."""
    return np.pad(values, [(0, 0), (0, n - values.shape[1])], constant_values=np.nan)


def known_so_far(counts: FloatArray, scenario: Scenario) -> FloatArray:
    """Sums over the weeks whose labels are there when a week's votes are cast; (streams, weeks, …).

    Nothing is forgotten in these: they are of the rules without an estimator.
    """
    total = np.cumsum(counts, axis=1)
    return total if scenario.labels == "before_votes" else total - counts
