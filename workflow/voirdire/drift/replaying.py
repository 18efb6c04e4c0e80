"""Verdicts replayed in the order in which they came, with the rules and estimators of the simulation."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from voirdire.drift.columns import COLUMNS
from voirdire.drift.logs import Log, log_of
from voirdire.drift.outcomes import METRICS, with_all_weeks
from voirdire.drift.rules import Said
from voirdire.drift.running import BASELINES, RuleKey, baseline_of, known_estimators, rules_of
from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import IntArray, Streams
from voirdire.errors import UserError
from voirdire.panel.matrix import NotEnoughVerdicts
from voirdire.panel.tabulated import one_hot, tabulate
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import effective_n
from voirdire.stats.intervals import wilson

# Votes in the padded table of periods; more would take gigabytes.
_MOST_CELLS = 50_000_000


def replay(
    verdicts: pd.DataFrame,
    by: str | int = "week",
    estimators: Sequence[str] | None = None,
    scenario: Scenario | None = None,
    labels_per_period: int | None = None,
    condition: str | None = "blind",
    timestamp: str = "timestamp",
    tz: str = "UTC",
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """What each rule would have said, had it been used from the first day on.

    verdicts: a VERDICTS table with a column `timestamp` (ISO 8601 or datetimes); rows in any order, of which those of
    the first trial are replayed. A response's moment is that of its last verdict; responses without any are left out,
    and counted. by: "day", "week" (from Monday), or a number of responses; tz: the zone of days and weeks, and of
    timestamps that name none. estimators: names, default all of them. scenario: its labels, quorum, tie, floor, prior,
    include_self and forgetting (in periods) are used. labels_per_period: so many random responses' truths become known
    in each period (seed: of that draw), default all that the table has.

    In each period, as in a week of `simulate`: its verdicts are seen, label-free estimators take them in, the votes are
    cast, and then its labels arrive. Responses of unknown truth are voted on and learnt from, but not measured. The
    oracle knows the rates within tasks over the whole log, and each period's mix of tasks.

    One row per period (1, 2, …; 0 is all) and rule. start: the period's name; n_responses, n_known (truth), n_labels;
    accuracy with Wilson's interval, an item's responses being one cluster; fpr, fnr, abstained, tied and the three
    differences as in `simulate`, without intervals: there is one order. NaN where nothing was decided, as in periods
    without responses, which have rows too. left_out: responses without a timestamp.

    Raises UserError for unknown estimators or periods, and a missing or unreadable timestamp column.
    """
    scenario, names = scenario or Scenario(), known_estimators(estimators)
    try:
        log = log_of(verdicts, by, condition, timestamp, tz, scenario.include_self)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(COLUMNS["replay"]))
    if not log.n_periods:
        return pd.DataFrame(columns=list(COLUMNS["replay"]))
    place = _places(log.periods.number, log.n_periods)
    streams = _streams(log, place, scenario, labels_per_period, seed)
    cluster = _padded(log.box.cluster, place, -1)
    _, said = rules_of(streams, scenario, names)
    kept = [key for key in said if key[0] != "wmv" or key[1] in names]
    frame = pd.concat([_rows(key, said, streams, cluster, level) for key in kept], ignore_index=True)
    counts = {
        "n_responses": cluster[None] >= 0,
        "n_known": np.isfinite(streams.truth),
        "n_labels": np.isfinite(streams.labels),
    }
    for position, (name, there) in enumerate(counts.items(), start=2):
        per_period = with_all_weeks(there.sum(axis=2).astype(np.float64))[0].astype(int)
        frame.insert(position, name, np.tile(per_period, len(kept)))
    frame.insert(1, "start", np.tile(np.array(["", *log.periods.starts], dtype=object), len(kept)))
    frame = frame.assign(left_out=log.left_out, seed=seed, simulated=log.box.simulated)
    return frame.reindex(columns=list(COLUMNS["replay"]))


def _places(period: IntArray, n_periods: int) -> IntArray:
    """(periods, most): the responses of each period in the order of their rows, -1 behind them."""
    sizes = np.bincount(period, minlength=n_periods)
    place = np.full((n_periods, int(sizes.max(initial=0))), -1, dtype=np.int64)
    order = np.argsort(period, kind="stable")
    within = np.arange(len(period)) - (np.cumsum(sizes) - sizes)[period[order]]
    place[period[order], within] = order
    return place


def _padded(values: np.ndarray, place: IntArray, fill: float | bool) -> np.ndarray:
    """(responses, …) as (periods, most, …)."""
    found = values[place]
    found[place < 0] = fill
    return found


def _streams(log: Log, place: IntArray, scenario: Scenario, labels_per_period: int | None, seed: int) -> Streams:
    """The log as one stream."""
    box = log.box
    if place.size * len(box.judges) > _MOST_CELLS:
        raise UserError(
            f"replay: {place.shape[0]:,} periods of up to {place.shape[1]:,} responses; their sizes differ too much, "
            "count responses instead (by a number)"
        )
    truth = _padded(box.truth, place, np.nan)
    known = np.isfinite(truth)
    rank = np.where(known, np.random.default_rng(seed).random(truth.shape), 2.0).argsort(axis=1).argsort(axis=1)
    labelled = known & (rank < (place.shape[1] if labels_per_period is None else labels_per_period))
    strata = one_hot(log.strata, int(log.strata.max()) + 1)
    right, wrong = (strata * (box.truth == value)[:, None] for value in (1, 0))
    counts = tabulate(box.votes, wrong, right)
    prevalence = ratio(right.sum(axis=0), (right + wrong).sum(axis=0))
    rates = [ratio(counts.accepted_wrong, counts.n_wrong), ratio(counts.rejected_right, counts.n_right)]
    fpr, fnr = (np.broadcast_to(each, (1, len(place), *each.shape)) for each in rates)
    return Streams(
        votes=_padded(box.votes, place, np.nan)[None],
        can_vote=_padded(box.can_vote, place, False)[None],
        truth=truth[None],
        labels=np.where(labelled, truth, np.nan)[None],
        quorum=_padded(box.quorum(scenario.quorum), place, 1)[None],
        task=_padded(log.strata, place, 0)[None],
        fpr=fpr,
        fnr=fnr,
        prevalence=prevalence[None],
        groups=1,
        sizes=(place >= 0).sum(axis=1),
    )


def _rows(key: RuleKey, said: dict[RuleKey, Said], streams: Streams, cluster: IntArray, level: float) -> pd.DataFrame:
    rule = said[key]
    metric = rule.performance(streams)[0]
    low, high = _interval(rule, cluster, metric[:, 0], level)
    columns: dict[str, object] = {
        "period": np.arange(len(metric)),
        **dict(zip(("rule", "estimator", "weights"), key, strict=True)),
        **{name: metric[:, number] for number, name in enumerate(METRICS)},
        "low": low,
        "high": high,
    }
    for baseline in BASELINES:
        gain = rule.gain(said[baseline_of(baseline, key)], streams)[0]
        columns[f"difference_to_{baseline}"] = np.where(np.isnan(metric[:, 0]), np.nan, gain)
    return pd.DataFrame(columns)


def _interval(rule: Said, cluster: IntArray, accuracy: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's with the n that the clusters are worth, of all periods first."""
    share = np.ones(rule.counts.shape[1:3])[..., None] if rule.share is None else rule.share[0][..., None]
    decided = (rule.decided[0] * share).sum(axis=1)
    hits = (rule.right[0] & rule.decided[0]) * share
    n_clusters = int(cluster.max(initial=0)) + 1
    totals = [_by_cluster(each, cluster, n_clusters) for each in (hits.sum(axis=1), decided)]
    hits_of, decided_of = (np.concatenate([each.sum(axis=0, keepdims=True), each]) for each in totals)
    n = effective_n(hits_of, decided_of, level=level)
    return wilson(np.nan_to_num(accuracy) * n, n, level)


def _by_cluster(values: FloatArray, cluster: IntArray, n_clusters: int) -> FloatArray:
    """(periods, most) as sums (periods, clusters)."""
    index = np.arange(len(values))[:, None] * n_clusters + np.maximum(cluster, 0)
    summed = np.bincount(index.ravel(), values.ravel(), minlength=len(values) * n_clusters)
    return summed.reshape(len(values), n_clusters).astype(np.float64)
