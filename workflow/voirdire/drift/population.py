"""What simulated streams are drawn from."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import IntArray
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.votes import FloatArray


@dataclass(frozen=True)
class Population:
    """Responses of known truth in the scenario's tasks, in strata of which each week draws its share.

    box: the responses; task, stratum: (responses,), numbers from 0; mix: (weeks, strata), adding up to 1 in each week;
    prevalence: the share of right responses that every task is given by its strata, None where strata are the tasks.
    """

    box: Ballots
    task: IntArray
    stratum: IntArray
    mix: FloatArray
    scenario: Scenario
    prevalence: float | None = None

    def n_items(self) -> FloatArray:
        """(weeks + 1,): the number of items as good as those of each week's mix, and of all weeks' first."""
        pairs = np.unique(np.stack([self.box.cluster, self.stratum]), axis=1)
        items = np.bincount(pairs[1], minlength=self.mix.shape[1])
        mix = np.concatenate([self.mix.mean(axis=0)[None], self.mix])
        n_items: FloatArray = 1 / np.divide(mix**2, items, out=np.zeros(mix.shape), where=mix > 0).sum(axis=1)
        return n_items

    def needed(self) -> IntArray:
        """(strata,): the most responses of each stratum that one week can draw."""
        most: IntArray = np.ceil(self.scenario.per_week * self.mix.max(axis=0) - 1e-9).astype(np.int64)
        return most


def population(verdicts: pd.DataFrame, scenario: Scenario, condition: str | None) -> Population:
    """The responses that the scenario can draw: one condition's, first trial, truth known; strata are the tasks.

    Raises NotEnoughVerdicts naming each task that is not there or has too few responses for its largest week.
    """
    box = eligible(ballots(verdicts, condition), scenario)
    source = by_task(box, scenario)
    faults = []
    for task, need in zip(scenario.tasks, source.needed(), strict=True):
        there = int((box.task == task).sum())
        if not there:
            known = ", ".join(sorted(set(verdicts["task"]))) if "task" in verdicts else "none"
            faults.append(f"drift: no judged response of known truth has task '{task}'; tasks in the verdicts: {known}")
        elif there < need:
            faults.append(
                f"drift: task '{task}' has {there} responses of known truth, and a week draws up to {need} of them "
                "without repeats; lower drift's per_week or the task's share, or add items or examinees"
            )
    if faults:
        raise NotEnoughVerdicts(faults)
    return source


def eligible(box: Ballots, scenario: Scenario) -> Ballots:
    """The responses of the first trial whose truth is known and whose task is the scenario's."""
    box = box.take((box.trial == box.trial.min()) & np.isfinite(box.truth) & np.isin(box.task, scenario.tasks))
    return box if scenario.include_self else box.without_self()


def by_task(box: Ballots, scenario: Scenario) -> Population:
    """These responses, drawn as the scenario's mix says."""
    task = np.searchsorted(np.array(scenario.tasks, dtype=object), box.task)
    return Population(box, task, task, scenario.mix(), scenario)
