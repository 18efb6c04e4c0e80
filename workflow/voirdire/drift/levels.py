"""What a factor of the drift study is made of: levels, each with streams of its own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from voirdire.drift.population import Population, by_task
from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import IntArray, Streams
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# With fewer responses a week, a level says little, and is no longer the base scenario with one thing changed.
FEWEST_PER_WEEK = 20
# With fewer judges there is no panel.
FEWEST_JUDGES = 3


@dataclass(frozen=True)
class Base:
    """The scenario from which each factor departs, and what it is drawn from.

    verdicts: of all conditions; source: those of the main one; families: of models, "" where unknown.
    """

    verdicts: pd.DataFrame
    source: Population
    families: Mapping[str, str]

    @property
    def scenario(self) -> Scenario:
        return self.source.scenario

    @property
    def judges(self) -> tuple[str, ...]:
        return self.source.box.judges

    def ranked(self) -> list[int]:
        """The judges' numbers, from the most to the least accurate under the mix of all weeks."""
        box, tasks = self.source.box, self.scenario.tasks
        right = (box.votes == box.truth[:, None]).astype(np.float64)
        cast = np.isfinite(box.votes)
        accuracy = np.stack([ratio(right[box.task == t].sum(axis=0), cast[box.task == t].sum(axis=0)) for t in tasks])
        known = np.isfinite(accuracy)
        mixed = self.scenario.mix().mean(axis=0)[:, None] * known
        total = ratio((np.where(known, accuracy, 0.0) * mixed).sum(axis=0), mixed.sum(axis=0))
        return [int(judge) for judge in np.argsort(np.where(np.isnan(total), 1.0, -total), kind="stable")]


def unchanged(streams: Streams, seed: list[int]) -> Streams:
    return streams


@dataclass(frozen=True)
class Level:
    """One way to depart from the base scenario.

    source: what is drawn from; change: what then happens to the streams, seed for its draws; redrawn: whether the votes
    are no longer those of the verdicts.
    """

    name: str
    source: Population
    change: Callable[[Streams, list[int]], Streams] = unchanged
    redrawn: bool = False


# What a factor gives for a level that the verdicts can't support: its name and the reason.
Lacking = tuple[str, str]
Levels = Iterator[Level | Lacking]


def attempt(name: str, make: Callable[[], Population]) -> Level | Lacking:
    """The level, or why it isn't there."""
    try:
        return Level(name, make())
    except NotEnoughVerdicts as reason:
        return name, str(reason)


def drawn_by_task(box: Ballots, scenario: Scenario) -> Population:
    """The scenario on these responses, with fewer a week where they are too few for it."""
    task = np.searchsorted(np.array(scenario.tasks, dtype=object), box.task)
    there = np.bincount(task, minlength=len(scenario.tasks))
    return by_task(box, affordable(scenario, scenario.mix(), there, scenario.tasks))


def affordable(scenario: Scenario, mix: FloatArray, there: IntArray, names: tuple[str, ...]) -> Scenario:
    """The scenario with as many responses a week as `there` (strata,) are enough for; mix: (weeks, strata).

    Raises NotEnoughVerdicts with fewer than FEWEST_PER_WEEK.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(mix.max(axis=0) > 0, np.floor(there / mix.max(axis=0) + 1e-9), np.inf)
    scarce = int(most.argmin())
    if most[scarce] >= scenario.per_week:
        return scenario
    per_week = int(most[scarce])
    if per_week < FEWEST_PER_WEEK:
        raise NotEnoughVerdicts(
            f"{int(there[scarce])} responses of {names[scarce]} are enough for {per_week} a week, fewer than "
            f"{FEWEST_PER_WEEK}"
        )
    return replace(scenario, per_week=per_week, labels_per_week=min(scenario.labels_per_week, per_week))
