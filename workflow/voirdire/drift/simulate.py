"""The drift simulation: every rule and estimator on the same streams."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.drift.outcomes import METRICS, Uncertainty, mean_where_known, metrics, outcomes, with_all_weeks
from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import Streams, observed_streams, population, resampled_streams
from voirdire.errors import UserError
from voirdire.panel.estimators import ESTIMATORS, Estimator, Oracle, Prior, ratio
from voirdire.panel.votes import WEIGHTS, FloatArray, Tally, count, weigh

PAPER_ESTIMATORS = ("oracle", "bayesian", "stratified", "disagreement")
RATES = ("fpr", "fnr")
_Rule = tuple[str, str, str]
_ORACLE = ("wmv", "oracle", "linear")


@dataclass(frozen=True)
class DriftResult:
    """weeks: accuracy, fpr and fnr of each rule in each week; rates: what the estimators believed, and the truth."""

    weeks: pd.DataFrame
    rates: pd.DataFrame


@dataclass(frozen=True)
class _Beliefs:
    """Rates before each week's votes: fpr, fnr (streams, weeks, judges), prevalence (streams, weeks)."""

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray

    @property
    def rates(self) -> FloatArray:
        """(streams, weeks, judges, 2): fpr and fnr."""
        return np.stack([self.fpr, self.fnr], axis=-1)


@dataclass(frozen=True)
class _Run:
    """Everything measured on one set of streams, first axis the groups of streams.

    votes: rule -> (groups, weeks + 1, METRICS); rates: estimator -> (groups, weeks + 1, judges + 1, 2) for estimate,
    truth and absolute error; index 0 of weeks is all of them, the last judge is their mean.
    """

    votes: dict[_Rule, FloatArray]
    rates: dict[str, tuple[FloatArray, FloatArray, FloatArray]]


def simulate(
    verdicts: pd.DataFrame,
    scenario: Scenario | None = None,
    estimators: Sequence[str] = PAPER_ESTIMATORS,
    seeds: int = 200,
    seed: int = 0,
    condition: str | None = "blind",
    level: float = 0.95,
) -> DriftResult:
    """Let the task mix drift, and compare plain, single and weighted votes.

    verdicts: a VERDICTS table; estimators: names in ESTIMATORS; seeds: streams to draw; seed: of all draws.
    Each week responses arrive, label-free estimators take in their votes, the votes are cast, and then the labels
    arrive (the scenario's `labels` may turn that round). All rules see the same streams.

    Returns `weeks`: a row per week (0 is all of them) and rule (majority, mean_single, best_single_hindsight,
    best_single_labels, and wmv by estimator and weights). accuracy, fpr and fnr are over decided responses, abstained
    and tied shares of all. difference_to_oracle is the accuracy less that of the oracle's wmv on the same streams, with
    the same weights, linear for rules without any. The best single judge in hindsight has the highest accuracy over the
    whole stream, the one by labels that over the labels so far; equally good ones share the role.
    And `rates`: the estimate before the week's votes, the true rate under the week's mix, and abs_error, the absolute
    error averaged over streams. Week 0 and the judge "mean" are means.

    The estimand is the mean over orders and over the population of items behind these. The point estimates come from
    `seeds` streams drawn from all responses; the intervals, from streams of resampled items, hold the uncertainty of
    both (see `streams` and `Uncertainty`). Differences are taken within each pool. The oracle and the best judge in
    hindsight know the very responses that they are tried on: on few items they do better than on the population.

    Raises UserError where a task of the scenario is missing or has too few responses, or an estimator is unknown.
    """
    scenario = scenario or Scenario()
    if unknown := [name for name in estimators if name not in ESTIMATORS]:
        raise UserError(f"drift: unknown estimator {', '.join(unknown)}; there are {', '.join(ESTIMATORS)}")
    source = population(verdicts, scenario, condition)
    streams = observed_streams(source, seeds, seed), resampled_streams(source, seeds, seed)
    observed, resampled = (_run(each, scenario, estimators) for each in streams)
    uncertainty = Uncertainty(2 * streams[1].per_group / seeds, level, source.n_items())
    weeks = _weeks_frame(observed, resampled, uncertainty)
    weeks = weeks[(weeks["rule"] != "wmv") | weeks["estimator"].isin(list(estimators))].reset_index(drop=True)
    weeks.insert(4, "n_seeds", seeds)
    rates = _rates_frame(observed, resampled, (*source.box.judges, "mean"), estimators, uncertainty)
    simulated = source.box.simulated
    return DriftResult(weeks.assign(seed=seed, simulated=simulated), rates.assign(seed=seed, simulated=simulated))


def _run(streams: Streams, scenario: Scenario, estimators: Sequence[str]) -> _Run:
    beliefs = {name: believe(name, streams, scenario) for name in dict.fromkeys(["oracle", *estimators])}
    votes = {("majority", "", ""): _summed(streams, judged(count(streams.votes), streams, scenario))}
    votes.update(_single_judges(streams, scenario))
    for name, belief in beliefs.items():
        for rule in WEIGHTS:
            tally = weigh(streams.votes, belief.fpr, belief.fnr, rule, belief.prevalence, scenario.floor)
            votes["wmv", name, rule] = _summed(streams, judged(tally, streams, scenario))
    truth = beliefs["oracle"].rates
    rates = {}
    for name, belief in beliefs.items():
        error = np.abs(belief.rates - truth)
        rates[name] = _averaged(streams, belief.rates), _averaged(streams, truth), _averaged(streams, error)
    return _Run(votes, rates)


def believe(name: str, streams: Streams, scenario: Scenario) -> _Beliefs:
    """An estimator's rates before each week's votes."""
    n_streams, n_weeks, _, n_judges = streams.votes.shape
    estimator: Estimator
    if name == "oracle":
        estimator = Oracle(streams.fpr, streams.fnr, streams.prevalence)
    else:
        prior = Prior(*scenario.prior)
        estimator = ESTIMATORS[name](n_judges, n_tasks=len(scenario.tasks), prior=prior, batch=(n_streams,))
    known = []
    for week in range(n_weeks):
        votes, labels, task = streams.votes[:, week], streams.labels[:, week], streams.task[:, week]
        wants_labels = estimator.learns_from == "labels"
        estimator.update(votes, labels if wants_labels and scenario.labels == "before_votes" else None, task)
        known.append(estimator.rates())
        if wants_labels and scenario.labels == "after_votes":
            estimator.update(votes, labels, task)
    return _Beliefs(*(np.stack([getattr(r, part) for r in known], axis=1) for part in ("fpr", "fnr", "prevalence")))


def judged(tally: Tally, streams: Streams, scenario: Scenario) -> FloatArray:
    """(streams, weeks, 6): what came of a vote."""
    verdict = tally.decide(streams.quorum, scenario.tie)
    return outcomes(verdict, streams.truth, tally.tied(streams.quorum).astype(np.float64))


def _summed(streams: Streams, counts: FloatArray) -> FloatArray:
    return metrics(streams.grouped(with_all_weeks(counts)).sum(axis=1))


def _averaged(streams: Streams, values: FloatArray) -> FloatArray:
    """(streams, weeks, judges, 2) averaged over the streams of a group, all weeks first and the mean judge last."""
    by_group = mean_where_known(streams.grouped(values), axis=1)
    by_group = np.concatenate([mean_where_known(by_group, axis=1)[:, None], by_group], axis=1)
    return np.concatenate([by_group, mean_where_known(by_group, axis=2)[:, :, None]], axis=2)


def _single_judges(streams: Streams, scenario: Scenario) -> dict[_Rule, FloatArray]:
    each = np.stack(
        [outcomes(streams.votes[..., judge], streams.truth) for judge in range(streams.votes.shape[-1])], axis=2
    )
    by_judge = metrics(streams.grouped(with_all_weeks(each)).sum(axis=1))
    hindsight = _best(metrics(each.sum(axis=1))[..., 0])[:, None]
    by_labels = _best(label_accuracy(streams, scenario))
    return {
        ("mean_single", "", ""): mean_where_known(by_judge, axis=2),
        ("best_single_hindsight", "", ""): _summed(streams, (each * hindsight[..., None]).sum(axis=2)),
        ("best_single_labels", "", ""): _summed(streams, (each * by_labels[..., None]).sum(axis=2)),
    }


def label_accuracy(streams: Streams, scenario: Scenario) -> FloatArray:
    """(streams, weeks, judges): the accuracy on the labels known when the week's votes are cast."""
    labels = streams.labels[..., None]
    right = (streams.votes == labels).sum(axis=2)
    there = (np.isfinite(streams.votes) & np.isfinite(labels)).sum(axis=2)
    right, there = (known_so_far(counts.astype(np.float64), scenario) for counts in (right, there))
    return ratio(right, there)


def known_so_far(counts: FloatArray, scenario: Scenario) -> FloatArray:
    """Sums over the weeks whose labels are there when a week's votes are cast; (streams, weeks, …)."""
    total = np.cumsum(counts, axis=1)
    return total if scenario.labels == "before_votes" else total - counts


def _best(accuracy: FloatArray) -> FloatArray:
    """(…, judges): the share of the best judge's role that each has; all share it where nothing is known."""
    known = np.where(np.isnan(accuracy), -1.0, accuracy)
    best = known == known.max(axis=-1, keepdims=True)
    shares: FloatArray = best / best.sum(axis=-1, keepdims=True)
    return shares


def _weeks_frame(observed: _Run, resampled: _Run, uncertainty: Uncertainty) -> pd.DataFrame:
    parts = []
    for key, values in observed.votes.items():
        rule, estimator, weights = key
        oracle = ("wmv", "oracle", weights) if weights else _ORACLE
        found = uncertainty.of_share(values[..., 0], resampled.votes[key][..., 0])
        gain, gain_resampled = (run.votes[key] - run.votes[oracle] for run in (observed, resampled))
        # The oracle differs from itself by nothing; that is known, not estimated.
        compare = uncertainty.of_value if key == oracle else uncertainty.of_difference
        to_oracle = compare(gain[..., 0], gain_resampled[..., 0])
        column = {name: values[0, :, number] for number, name in enumerate(METRICS)}
        part = {
            "week": np.arange(len(found.value)),
            "rule": rule,
            "estimator": estimator,
            "weights": weights,
            "accuracy": column["accuracy"],
            "low": found.low,
            "high": found.high,
            "fpr": column["fpr"],
            "fnr": column["fnr"],
            "difference_to_oracle": to_oracle.value,
            "difference_low": to_oracle.low,
            "difference_high": to_oracle.high,
            "abstained": column["abstained"],
            "tied": column["tied"],
        }
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def _rates_frame(
    observed: _Run, resampled: _Run, judges: tuple[str, ...], estimators: Sequence[str], uncertainty: Uncertainty
) -> pd.DataFrame:
    parts = []
    for name in estimators:
        estimate, truth, error = observed.rates[name]
        found = uncertainty.of_value(estimate, resampled.rates[name][0])
        off = uncertainty.of_value(error, resampled.rates[name][2])
        index = pd.MultiIndex.from_product([range(estimate.shape[1]), judges, RATES], names=["week", "judge", "rate"])
        columns = {
            "estimate": found.value,
            "low": found.low,
            "high": found.high,
            "truth": truth[0],
            "abs_error": off.value,
            "abs_error_low": off.low,
            "abs_error_high": off.high,
        }
        part = pd.DataFrame({column: values.ravel() for column, values in columns.items()}, index=index).reset_index()
        part.insert(1, "estimator", name)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
