"""All rules and estimators on one set of streams."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.drift.beliefs import Beliefs, believe_all
from voirdire.drift.outcomes import mean_where_known
from voirdire.drift.rules import PROBABILITY, Said, single_judges, voted, weighed
from voirdire.drift.scenario import Scenario
from voirdire.drift.streams import Streams
from voirdire.errors import UserError
from voirdire.panel.estimators import ESTIMATORS
from voirdire.panel.votes import WEIGHTS, FloatArray, tally

# What every rule is compared with, and the names of its limits.
BASELINES = {
    "oracle": ("difference_low", "difference_high"),
    "majority": ("difference_to_majority_low", "difference_to_majority_high"),
    "mean_single": ("difference_to_mean_single_low", "difference_to_mean_single_high"),
}
# A rule's name, its estimator and its weights, "" where it has none.
RuleKey = tuple[str, str, str]


@dataclass(frozen=True)
class Run:
    """Everything measured on one set of streams, first axis the groups of streams.

    votes: rule -> (groups, weeks + 1, METRICS); gains: rule, baseline -> (groups, weeks + 1); rates: estimator ->
    (groups, weeks + 1, judges + 1, 2) for estimate, truth and absolute error. Index 0 of weeks is all of them, the last
    judge is their mean.
    """

    votes: dict[RuleKey, FloatArray]
    gains: dict[tuple[RuleKey, str], FloatArray]
    rates: dict[str, tuple[FloatArray, FloatArray, FloatArray]]


def known_estimators(names: Sequence[str] | None) -> tuple[str, ...]:
    """The names, or those of all estimators; UserError where one is unknown."""
    if unknown := [name for name in names or () if name not in ESTIMATORS]:
        raise UserError(f"drift: unknown estimator {', '.join(unknown)}; there are {', '.join(ESTIMATORS)}")
    return tuple(ESTIMATORS if names is None else names)


def run_rules(streams: Streams, scenario: Scenario, estimators: Sequence[str], rates: bool = True) -> Run:
    """Every rule's outcomes, and every estimator's rates unless they aren't asked for; the oracle as the yardstick."""
    beliefs, said = rules_of(streams, scenario, estimators)
    gains = {
        (rule, baseline): each.gain(said[baseline_of(baseline, rule)], streams)
        for rule, each in said.items()
        for baseline in BASELINES
    }
    believed = _rates(streams, beliefs) if rates else {}
    return Run({rule: each.performance(streams) for rule, each in said.items()}, gains, believed)


def rules_of(
    streams: Streams, scenario: Scenario, estimators: Sequence[str]
) -> tuple[dict[str, Beliefs], dict[RuleKey, Said]]:
    """What the estimators believe, the oracle first, and what every rule says."""
    beliefs = believe_all(["oracle", *estimators], streams, scenario)
    said: dict[RuleKey, Said] = {("majority", "", ""): voted(tally(streams.votes), streams, scenario)}
    said.update({(rule, "", ""): each for rule, each in single_judges(streams, scenario).items()})
    for name, belief in beliefs.items():
        for weights in WEIGHTS if belief.probability is None else (*WEIGHTS, PROBABILITY):
            counted = weighed(streams.votes, belief, weights, scenario.floor)
            said["wmv", name, weights] = voted(counted, streams, scenario)
    return beliefs, said


def _rates(streams: Streams, beliefs: Mapping[str, Beliefs]) -> dict[str, tuple[FloatArray, FloatArray, FloatArray]]:
    truth = np.where(beliefs["oracle"].supported, beliefs["oracle"].rates, np.nan)
    found = {}
    for name, belief in beliefs.items():
        error = np.abs(belief.rates - truth)
        found[name] = _averaged(streams, belief.rates), _averaged(streams, truth), _averaged(streams, error)
    return found


def baseline_of(name: str, rule: RuleKey) -> RuleKey:
    """The rule that a rule is compared with: the oracle's of the same weights; linear for rules without, log-odds, the
    best there is, for probabilities."""
    if name != "oracle":
        return name, "", ""
    return "wmv", "oracle", {"": "linear", PROBABILITY: "log_odds"}.get(rule[2], rule[2])


def _averaged(streams: Streams, values: FloatArray) -> FloatArray:
    """(streams, weeks, judges, 2) averaged over the streams of a group, all weeks first and the mean judge last."""
    by_group = mean_where_known(streams.grouped(values), axis=1)
    by_group = np.concatenate([mean_where_known(by_group, axis=1)[:, None], by_group], axis=1)
    return np.concatenate([by_group, mean_where_known(by_group, axis=2)[:, :, None]], axis=2)
