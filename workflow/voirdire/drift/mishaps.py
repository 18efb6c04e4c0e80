"""Factors of the drift study: what may happen to a judge."""

from collections.abc import Callable

from voirdire.drift.levels import FEWEST_JUDGES, Base, Level, Levels
from voirdire.drift.streams import Streams
from voirdire.drift.transforms import inverted, replaced, without_judge
from voirdire.panel.matrix import NotEnoughVerdicts

Change = Callable[[Streams, list[int]], Streams]


def week_of_change(weeks: int) -> int:
    """From 1: the seventh of twelve."""
    return weeks // 2 + 1


def silent_change(study: Base) -> Levels:
    """From one week on the provider answers with another model: the least accurate judge, which is no judge itself.

    The first level is the same panel without a change.
    """
    yield Level(f"none (panel without {_weakest(study)})", study.source, model_change(study, 0, study.scenario.weeks))
    week = week_of_change(study.scenario.weeks)
    for rank in (0, 1):
        judge = study.judges[study.ranked()[rank]]
        name = f"{judge} becomes {_weakest(study)} in week {week}"
        yield Level(name, study.source, model_change(study, rank, week - 1))


def model_change(study: Base, rank: int, week: int) -> Change:
    """From a week on, counted from 0, the judge of a rank in accuracy votes as the least accurate does."""
    ranked = study.ranked()
    if len(ranked) <= FEWEST_JUDGES:
        raise NotEnoughVerdicts(f"{len(ranked)} judges: with one as the other model, fewer than {FEWEST_JUDGES} stay")
    return lambda streams, seed: replaced(streams, ranked[rank], ranked[-1], week)


def _weakest(study: Base) -> str:
    return study.judges[study.ranked()[-1]]


def dropout(study: Base) -> Levels:
    """From one week on a judge doesn't answer."""
    if len(study.judges) <= FEWEST_JUDGES:
        raise NotEnoughVerdicts(f"{len(study.judges)} judges: without one, fewer than {FEWEST_JUDGES} stay")
    week = week_of_change(study.scenario.weeks)
    for rank in (0, -1):
        judge = study.ranked()[rank]

        def change(streams: Streams, seed: list[int], judge: int = judge) -> Streams:
            return without_judge(streams, judge, week - 1)

        yield Level(f"{study.judges[judge]} from week {week}", study.source, change)


def adversarial(study: Base) -> Levels:
    """The most accurate judges say the opposite of what they think; fewer than half of the panel do."""
    if len(study.judges) < FEWEST_JUDGES:
        raise NotEnoughVerdicts(f"{len(study.judges)} judges are fewer than {FEWEST_JUDGES}")
    for n in range(1, min(2, (len(study.judges) - 1) // 2) + 1):
        judges = study.ranked()[:n]

        def change(streams: Streams, seed: list[int], judges: list[int] = judges) -> Streams:
            return inverted(streams, judges)

        yield Level(", ".join(study.judges[judge] for judge in judges), study.source, change)
