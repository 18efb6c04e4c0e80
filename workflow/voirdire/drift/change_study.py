"""How often a changed judge is found, how soon, and how often one is accused that hasn't changed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.drift.columns import COLUMNS
from voirdire.drift.drawing import observed_streams
from voirdire.drift.levels import FEWEST_JUDGES, Base
from voirdire.drift.mishaps import week_of_change
from voirdire.drift.scan import Blocks, deviations, scan
from voirdire.drift.streams import IntArray, Streams
from voirdire.drift.transforms import replaced
from voirdire.stats.intervals import wilson

ALPHA, PERMUTATIONS = 0.05, 99
_THREADS = 2


@dataclass(frozen=True)
class Alarms:
    """Of each stream, (streams,): the first week of alarm, from 0, -1 for none; the judge that it names; and the week
    with which that judge's change begins, by all weeks."""

    week: IntArray
    judge: IntArray
    since: IntArray


def change_study(base: Base, seeds: int, seed: int, level: float = 0.95) -> pd.DataFrame:
    """The change-point test on simulated streams in which a judge becomes another in the seventh of twelve weeks.

    One row per pair of judges: `judge` becomes `becomes`, which is no judge itself. false_alarms: share of streams of
    the same panel without a change in which any judge is named in any week; power: share in which the right judge is,
    in the week of the change or later; mean_delay: weeks from the change to the alarm, 0 in the very week, of those;
    located: share of those whose change is dated within one week; misnamed: share in which another judge is named, or
    the right one too early. Limits are Wilson's. Empty with fewer than four judges.

    Every week is drawn from the same responses of each task, so false_alarms holds where their share of right ones
    stays as it is. Where that share moves, judges are named more often though none has changed, see `change_points`.
    """
    weeks = base.scenario.weeks
    change = week_of_change(weeks) - 1
    streams = observed_streams(base.source, seeds, seed)
    rows, unchanged = [], {}
    for judge, by in _pairs(base):
        place = judge - (judge > by)
        if by not in unchanged:
            unchanged[by] = alarms(replaced(streams, judge, by, weeks), seed)
        calm = unchanged[by]
        found = alarms(replaced(streams, judge, by, change), seed)
        hit = (found.week >= change) & (found.judge == place)
        row: dict[str, object] = {"judge": base.judges[judge], "becomes": base.judges[by], "week": change + 1}
        for name, events in (("false_alarms", calm.week >= 0), ("power", hit)):
            low, high = wilson(events.sum(), seeds, level)
            row |= {name: events.mean(), f"{name}_low": float(low), f"{name}_high": float(high)}
        row["mean_delay"] = float((found.week[hit] - change).mean()) if hit.any() else np.nan
        row["located"] = float((np.abs(found.since[hit] - change) <= 1).mean()) if hit.any() else np.nan
        row["misnamed"] = float(((found.week >= 0) & ~hit).mean())
        rows.append(row)
    shared = {"n_seeds": seeds, "alpha": ALPHA, "permutations": PERMUTATIONS, "seed": seed}
    frame = pd.DataFrame(rows).assign(**shared, simulated=base.source.box.simulated)
    return frame.reindex(columns=list(COLUMNS["drift_changes"]))


def _pairs(base: Base) -> Iterator[tuple[int, int]]:
    """Large changes, for the worse and for the better, and the smallest among the best."""
    ranked = base.ranked()
    if len(ranked) > FEWEST_JUDGES:
        yield ranked[0], ranked[-1]
        yield ranked[1], ranked[-1]
        yield ranked[-1], ranked[0]
        yield ranked[0], ranked[1]


def alarms(streams: Streams, seed: int, alpha: float = ALPHA, permutations: int = PERMUTATIONS) -> Alarms:
    """The test on every stream, each with its own permutations."""
    n_streams, n_weeks, per_week, n_judges = streams.votes.shape
    period = np.repeat(np.arange(n_weeks), per_week)

    def one(number: int) -> tuple[int, int, int]:
        deviation = deviations(streams.votes[number].reshape(-1, n_judges))
        blocks = Blocks.of(deviation, streams.task[number].ravel(), period, n_weeks)
        found = scan(blocks, permutations, np.random.default_rng([seed, number]))
        z = found.z.max(axis=1)
        over = np.flatnonzero(z.max(axis=1) > found.threshold(alpha))
        if not len(over):
            return -1, -1, -1
        judge = int(z[over[0]].argmax())
        reading = int(found.z[-1, :, judge].argmax())
        return int(over[0]), judge, int(found.since[-1, reading, judge])

    with ThreadPoolExecutor(_THREADS) as pool:
        week, judge, since = np.array(list(pool.map(one, range(n_streams)))).T
    return Alarms(week, judge, since)
