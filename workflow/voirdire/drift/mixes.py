"""Factors of the drift study: which responses arrive, and how the judges err on them."""

from dataclasses import replace
from functools import partial

import numpy as np

from voirdire.drift.levels import Base, Level, Levels, affordable, attempt
from voirdire.drift.population import Population, by_task
from voirdire.drift.streams import Streams
from voirdire.drift.transforms import redrawn

PREVALENCES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
CORRELATIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


def abrupt(study: Base) -> Levels:
    """The mix of tasks changes all at once, halfway."""
    changed = by_task(study.source.box, replace(study.scenario, shift="abrupt"))
    yield Level(f"from week {(study.scenario.weeks + 1) // 2 + 1}", changed)


def prevalence(study: Base) -> Levels:
    """So large a share of each task's responses is right, in every week."""
    for share in PREVALENCES:
        yield attempt(f"{share:g}", partial(_with_prevalence, study.source, share))


def _with_prevalence(source: Population, share: float) -> Population:
    box, scenario = source.box, source.scenario
    stratum = 2 * source.task + (box.truth == 1)
    by_truth = scenario.mix()[:, :, None] * np.array([1 - share, share])
    mix = by_truth.reshape(len(by_truth), -1)
    names = tuple(f"{task} that are {truth}" for task in scenario.tasks for truth in ("wrong", "right"))
    fewer = affordable(scenario, mix, np.bincount(stratum, minlength=mix.shape[1]), names)
    return Population(box, source.task, stratum, mix, fewer, share)


def error_correlation(study: Base) -> Levels:
    """Votes drawn anew at each judge's own rates, with a shared cause of errors given the truth; see `redrawn`."""
    for correlation in CORRELATIONS:

        def change(streams: Streams, seed: list[int], correlation: float = correlation) -> Streams:
            return redrawn(streams, correlation, seed)

        yield Level(f"{correlation:g}", study.source, change, redrawn=True)
