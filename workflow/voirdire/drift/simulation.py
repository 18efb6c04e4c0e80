"""The drift simulation: every rule and estimator on the same streams."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from voirdire.drift.drawing import observed_streams, resampled_streams
from voirdire.drift.grid import SEEDS
from voirdire.drift.outcomes import METRICS, Uncertainty
from voirdire.drift.population import population
from voirdire.drift.running import BASELINES, Run, baseline_of, known_estimators, run_rules
from voirdire.drift.scenario import Scenario

PAPER_ESTIMATORS = ("oracle", "bayesian", "stratified", "disagreement")
RATES = ("fpr", "fnr")


@dataclass(frozen=True)
class DriftResult:
    """weeks: accuracy, fpr and fnr of each rule in each week; rates: what the estimators believed, and the truth."""

    weeks: pd.DataFrame
    rates: pd.DataFrame


def simulate(
    verdicts: pd.DataFrame,
    scenario: Scenario | None = None,
    estimators: Sequence[str] = PAPER_ESTIMATORS,
    seeds: int = SEEDS,
    seed: int = 0,
    condition: str | None = "blind",
    level: float = 0.95,
) -> DriftResult:
    """Let the task mix drift, and compare plain, single and weighted votes.

    verdicts: a VERDICTS table; estimators: names in ESTIMATORS; seeds: streams to draw; seed: of all draws.
    Each week responses arrive, label-free estimators take in their votes, the votes are cast, and then the labels
    arrive (the scenario's `labels` may turn that round). All rules see the same streams.

    Returns `weeks`: a row per week (0 is all of them) and rule (majority, mean_single, best_single_hindsight,
    best_single_labels, and wmv by estimator and weights; with "probability", which are no weights, the estimator's own
    probability decides, where it states one). accuracy, fpr and fnr are over decided responses, abstained and tied
    shares of all. The best single judge in hindsight has the highest accuracy over the whole stream, the one by labels
    that over the labels so far; equally good ones share the role.
    difference_to_oracle (limits difference_low, _high) is the accuracy less that of the oracle's wmv with the same
    weights, linear for rules without any, log-odds for probabilities; difference_to_majority and _mean_single likewise.
    All are paired: within each stream, on the responses that both rules have decided. A judge doesn't vote on its own
    responses, so a single judge's difference is on the others', and is not that of the accuracies shown; the mean
    judge's is the mean of them.
    And `rates`: the estimate before the week's votes, the true rate under the week's mix (NaN where no response bears
    on it), and abs_error, the absolute error averaged over streams. Week 0 and the judge "mean" are means.

    The estimand is the mean over orders and over the population of items behind these. The point estimates come from
    `seeds` streams drawn from all responses; the intervals, from streams of resampled items, hold the uncertainty of
    both (see `drawing` and `Uncertainty`). Differences are taken within each pool. The oracle and the best judge in
    hindsight know the very responses that they are tried on: on few items they do better than on the population.

    Raises NotEnoughVerdicts where a task of the scenario is missing or has too few responses, UserError where an
    estimator is unknown.
    """
    scenario = scenario or Scenario()
    known_estimators(estimators)
    source = population(verdicts, scenario, condition)
    streams = observed_streams(source, seeds, seed), resampled_streams(source, seeds, seed)
    observed, resampled = (run_rules(each, scenario, estimators) for each in streams)
    uncertainty = Uncertainty(2 * streams[1].per_group / seeds, level, source.n_items())
    weeks = _weeks_frame(observed, resampled, uncertainty)
    weeks = weeks[(weeks["rule"] != "wmv") | weeks["estimator"].isin(list(estimators))].reset_index(drop=True)
    weeks.insert(4, "n_seeds", seeds)
    rates = _rates_frame(observed, resampled, (*source.box.judges, "mean"), estimators, uncertainty)
    simulated = source.box.simulated
    return DriftResult(weeks.assign(seed=seed, simulated=simulated), rates.assign(seed=seed, simulated=simulated))


def _weeks_frame(observed: Run, resampled: Run, uncertainty: Uncertainty) -> pd.DataFrame:
    parts = []
    for key, values in observed.votes.items():
        found = uncertainty.of_share(values[..., 0], resampled.votes[key][..., 0])
        column = {name: values[0, :, number] for number, name in enumerate(METRICS)}
        part = {
            "week": np.arange(len(found.value)),
            **dict(zip(("rule", "estimator", "weights"), key, strict=True)),
            "accuracy": column["accuracy"],
            "low": found.low,
            "high": found.high,
            "fpr": column["fpr"],
            "fnr": column["fnr"],
        }
        for baseline, limits in BASELINES.items():
            # A rule differs from itself by nothing; that is known, not estimated.
            itself = key == baseline_of(baseline, key)
            compare = uncertainty.of_value if itself else uncertainty.of_difference
            gain = compare(observed.gains[key, baseline], resampled.gains[key, baseline])
            part |= {f"difference_to_{baseline}": gain.value, limits[0]: gain.low, limits[1]: gain.high}
        parts.append(pd.DataFrame({**part, "abstained": column["abstained"], "tied": column["tied"]}))
    return pd.concat(parts, ignore_index=True)


def _rates_frame(
    observed: Run, resampled: Run, judges: tuple[str, ...], estimators: Sequence[str], uncertainty: Uncertainty
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
