"""Which judge has changed, and since when: a change-point test on logs of verdicts."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.drift.columns import COLUMNS
from voirdire.drift.logs import Log, log_of
from voirdire.drift.scan import READINGS, Blocks, Scan, deviations, scan
from voirdire.drift.streams import IntArray
from voirdire.errors import UserError
from voirdire.panel.matrix import NotEnoughVerdicts

# Below that there are no others that could agree with each other.
_FEWEST_JUDGES = 3
CHANGED, NOTHING, NOT_TESTED = "changed", "no evidence", "not tested"
# Without truth the one can't be told from the other.
OR_RESPONSES = "or the share of right responses in a task has changed"


def change_points(
    verdicts: pd.DataFrame,
    by: str | int = "week",
    condition: str | None = "blind",
    timestamp: str = "timestamp",
    tz: str = "UTC",
    alpha: float = 0.05,
    permutations: int = 999,
    seed: int = 0,
    include_self: bool = False,
) -> pd.DataFrame:
    """Test every judge for a change at an unknown moment, as when a provider silently puts another model in its place.

    verdicts: a VERDICTS table with a column of timestamps; by, tz: the periods, see `periods`; no truth is needed.
    alpha: probability of naming any judge in the whole log if neither judges nor responses change; permutations: of
    responses between periods, within tasks, an item's responses of one period together.

    Each judge's agreement with the others' majority and its leniency, both relative to the others on the same response,
    are compared before and after every possible change (see `scan`). After the most plain change that judge is taken
    off the panel, and the others are tested again without its votes.

    One row per judge. says: "changed", with the `note` that the share of right responses may have changed instead; "no
    evidence" (no more than that); or "not tested", and in `note` why; since: the period with which the change most
    plausibly begins; first_alarm: the first period in which the log so far would have passed the threshold, "" if none;
    reading: "agreement" or "leniency", whichever changed more; statistic: its largest
    |z|, threshold and p: adjusted for all judges, readings, moments and changes; before, after: the reading's mean,
    relative to the other judges' and within tasks, on either side of `since`; left_out: responses without a timestamp.

    The threshold is that of the whole log, so first_alarm tells how soon a change showed, not what a test repeated
    every period would have said: who looks again every week for 12 weeks at the same alpha is alarmed more often.
    A judge is compared with the others on the same responses, but judges differ in how much more they accept right ones
    than wrong ones. So where responses of a task become better or worse, judges are said to have changed though none
    has: with the share of right ones going from .5 to .8 in the seventh of 12 weeks (5 judges, 2,400 responses) any was
    named in .60 of logs. Without truth nothing tells the two apart. Responses of other examinees may also be easier for
    one judge than for others: a change in who is examined is seen, too.

    Raises UserError for a missing or unreadable timestamp column, or unknown `by`.
    """
    if not 0 < alpha < 1:
        raise UserError(f"change points: alpha is {alpha}; it must lie between 0 and 1")
    if permutations < 1 / alpha - 1 - 1e-9:
        raise UserError(f"change points: alpha {alpha} needs at least {1 / alpha - 1:.0f} permutations")
    try:
        log = log_of(verdicts, by, condition, timestamp, tz, include_self)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(COLUMNS["change_points"]))
    rows = _tested(log, alpha, permutations, seed) if log.n_periods > 1 else []
    note = "one period: nothing to compare it with" if log.n_periods == 1 else "too few judges voted"
    tested = {row["judge"] for row in rows}
    rows += [{"judge": judge, "says": NOT_TESTED, "note": note} for judge in log.box.judges if judge not in tested]
    frame = pd.DataFrame(rows).sort_values("judge", ignore_index=True)
    shared = {"n_periods": log.n_periods, "left_out": log.left_out, "seed": seed, "simulated": log.box.simulated}
    return frame.assign(**shared).reindex(columns=list(COLUMNS["change_points"]))


@dataclass(frozen=True)
class _Panel:
    """The scan of some judges' votes, their numbers, and the deviations behind it."""

    judges: list[int]
    found: Scan
    blocks: Blocks
    n_votes: IntArray


def _tested(log: Log, alpha: float, permutations: int, seed: int) -> list[dict[str, object]]:
    judges = [int(judge) for judge in np.flatnonzero(np.isfinite(log.box.votes).any(axis=0))]
    rows: list[dict[str, object]] = []
    while len(judges) >= _FEWEST_JUDGES:
        panel = _scanned(log, judges, permutations, [seed, len(judges)])
        worst = int(panel.found.z.max(axis=(0, 1)).argmax())
        if panel.found.p()[worst] > alpha:
            return rows + [_row(log, panel, place, NOTHING, alpha) for place in range(len(judges))]
        rows.append(_row(log, panel, worst, CHANGED, alpha))
        judges = [judge for place, judge in enumerate(judges) if place != worst]
    return rows


def _scanned(log: Log, judges: list[int], permutations: int, seed: list[int]) -> _Panel:
    votes = log.box.votes[:, judges]
    blocks = Blocks.of(deviations(votes), log.strata, log.periods.number, log.n_periods, log.box.cluster)
    found = scan(blocks, permutations, np.random.default_rng(seed))
    return _Panel(judges, found, blocks, np.isfinite(votes).sum(axis=0))


def _row(log: Log, panel: _Panel, place: int, says: str, alpha: float) -> dict[str, object]:
    found, starts = panel.found, log.periods.starts
    z = found.z[:, :, place]
    # By all of the log, the reading that changed more and the split that shows it best.
    reading = int(z[-1].argmax())
    since = int(found.since[-1, reading, place])
    threshold = found.threshold(alpha)
    alarms = np.flatnonzero(z.max(axis=1) > threshold)
    before, after = _means(panel.blocks, reading * len(panel.judges) + place, since)
    return {
        "judge": log.box.judges[panel.judges[place]],
        "says": says,
        "since": starts[since] if says == CHANGED else "",
        "first_alarm": starts[int(alarms[0])] if len(alarms) and says == CHANGED else "",
        "reading": READINGS[reading],
        "statistic": float(z.max()),
        "threshold": threshold,
        "p": float(found.p()[place]),
        "before": before,
        "after": after,
        "n_votes": int(panel.n_votes[place]),
        "note": OR_RESPONSES if says == CHANGED else "",
    }


def _means(blocks: Blocks, column: int, since: int) -> tuple[float, float]:
    """The mean deviation before and after, each task weighing as in the whole log; NaN where a task lacks a side."""
    sums, counts = (each[..., column] for each in blocks.observed())
    weight = counts.sum(axis=0) / max(counts.sum(), 1)
    sides = []
    for side in (slice(None, since), slice(since, None)):
        n = counts[side].sum(axis=0)
        share = weight * (n > 0)
        mean = np.where(n > 0, sums[side].sum(axis=0) / np.maximum(n, 1), 0.0)
        sides.append(float((mean * share).sum() / share.sum()) if share.sum() else float("nan"))
    return sides[0], sides[1]
