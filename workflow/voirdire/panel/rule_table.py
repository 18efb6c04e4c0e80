"""Every rule on the same responses, with no, few and more labels: what it gets right where nobody has looked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.errors import UserError
from voirdire.panel.calibration import calibrate_patterns
from voirdire.panel.dawid_skene import DawidSkene, posterior_logit
from voirdire.panel.estimators import Bayesian, Disagreement
from voirdire.panel.halves import agreement
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.patterns import Patterns
from voirdire.panel.rates import Rates
from voirdire.panel.rule_scores import accuracies, expected_calibration_error, mean_of_draws
from voirdire.panel.singles import best_single
from voirdire.panel.votes import FLOOR, WEIGHTS, FloatArray, Tally, Tie, majority, minority_veto, tally, weigh
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import task_seed

METRICS = ("accuracy", "balanced_accuracy", "prevalence_error", "ece", "difference_to_majority")
COLUMNS = (
    *("task", "rule", "n_labels"),
    *(f"{metric}{end}" for metric in METRICS[:-1] for end in ("", "_se")),
    *("n_responses", "draws", "difference_to_majority", "difference_to_majority_se", "reason", "seed", "simulated"),
)
# Draws at once: so many arrays of draws × patterns × judges fit into memory.
_AT_ONCE = 25
# A probability so near to a half is one, but for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Panel:
    """Responses of known truth by pattern: votes (patterns, judges), index (responses,), counts (patterns,)."""

    votes: FloatArray
    index: NDArray[np.int64]
    truth: FloatArray
    n: FloatArray
    n_right: FloatArray
    agreement: float
    tie: Tie

    @property
    def n_judges(self) -> int:
        return int(self.votes.shape[1])

    def decide(self, margin: FloatArray) -> FloatArray:
        """Verdicts where the margin, (..., patterns), is behind "correct" or not."""
        return Tally(margin, np.ones(margin.shape, dtype=np.int64)).decide(tie=self.tie)


@dataclass(frozen=True)
class _Draws:
    """Labelled responses (draws, labels), and counts (draws, patterns) of right and wrong ones among them."""

    rows: NDArray[np.int64]
    right: FloatArray
    wrong: FloatArray


@dataclass(frozen=True)
class _Said:
    """What a rule says of each pattern: verdict, 1, 0 or NaN, and P(right), if it has one; (patterns,) or (draws, …).

    prevalence: (draws,), its estimate of the share of right responses if it isn't the mean of what it says.
    """

    verdict: FloatArray
    probability: FloatArray | None = None
    prevalence: FloatArray | None = None


def compare_rules(
    verdicts: pd.DataFrame,
    n_labels: Sequence[int] = (0, 30, 100),
    draws: int = 500,
    seed: int = 0,
    condition: str | None = None,
    quorum: int = 1,
    tie: Tie = "incorrect",
    include_self: bool = False,
) -> pd.DataFrame:
    """Try every rule on the responses that it has no label of, over random draws of the labels.

    verdicts: a VERDICTS table; condition: one judge prompt, None for a table of one. Responses of known truth with as
    many votes as the quorum; the same labels for every rule. No labels: one draw, as nothing is drawn.

    Returns a row per task (and "all", one panel of all tasks, if there are several), number of labels and rule:
    majority, minority_veto, best_single (by the labels), linear_* and log_odds_* (weighted by the rates of bayesian,
    disagreement, dawid_skene, hybrid, and, as a yardstick that knows every truth, of the oracle), dawid_skene, hybrid,
    labels_alone (the commoner label for all). Each metric is a mean over draws with its standard error (…_se), which
    says how well the mean is known, not how another set of responses would do:

    accuracy, balanced_accuracy: of the decided responses without a label;
    prevalence_error: absolute error of the estimated share of right responses. Labelled responses count by their label,
    others by their probability or, of a rule without one, by its verdict; labels_alone has the labels' share;
    ece: expected calibration error of the probability on responses without a label, in 10 bins; NaN without one;
    difference_to_majority: in accuracy, paired by draw.

    A metric is NaN, with a reason, where there is nothing to try the rules on. No row, but all columns, without
    responses of known truth. Raises UserError where draws or a number of labels isn't sensible.
    """
    if draws < 1 or min(n_labels, default=0) < 0:
        raise UserError(f"compare_rules: draws is {draws}, n_labels {list(n_labels)}; at least 1 draw, no fewer than 0")
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(COLUMNS))
    box = box if include_self else box.without_self()
    n_votes = np.isfinite(box.votes).sum(axis=1)
    box = box.take(np.isfinite(box.truth) & (n_votes >= np.maximum(box.quorum(quorum), 1)))
    rows = []
    for task, here in _tasks(box):
        panel = _panel(here, tie)
        for k in n_labels:
            rows += _compared(panel, k, draws if k else 1, task_seed(seed, f"{task} {k}"), {"task": task})
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).assign(seed=seed, simulated=box.simulated)
    return frame[list(COLUMNS)]


def _tasks(box: Ballots) -> Iterator[tuple[str, Ballots]]:
    tasks = sorted(set(box.task))
    for task in tasks:
        yield task, box.take(box.task == task)
    if len(tasks) > 1:
        yield "all", box


def _panel(box: Ballots, tie: Tie) -> _Panel:
    patterns = Patterns.of(box.votes)
    n = patterns.count()
    return _Panel(
        *(patterns.votes, patterns.index, box.truth, n, patterns.count(box.truth)),
        agreement(patterns.votes, n),
        tie,
    )


def _compared(panel: _Panel, k: int, draws: int, seed: list[int], keys: dict[str, str]) -> list[dict[str, object]]:
    """The rows of one number of labels."""
    n = len(panel.index)
    base: dict[str, object] = {**keys, "n_labels": k, "n_responses": max(n - k, 0), "draws": draws, "reason": ""}
    if k >= n:
        metrics = {name: np.nan for name in COLUMNS if name.removesuffix("_se") in METRICS}
        reason = f"{n} responses of known truth: with {k} labels none is left to try the rules on"
        return [{**base, **metrics, "rule": "majority", "reason": reason}]
    rng = np.random.default_rng(seed)
    fixed = _without_labels(panel)
    parts: list[dict[str, dict[str, FloatArray]]] = []
    for start in range(0, draws, _AT_ONCE):
        drawn = _draw(panel, k, min(_AT_ONCE, draws - start), rng)
        said = {**fixed, **_with_labels(panel, drawn)}
        parts.append({rule: _measured(panel, drawn, each) for rule, each in said.items()})
    rows = []
    for rule in parts[0]:
        row = {**base, "rule": rule}
        for name in METRICS:
            values = np.concatenate([part[rule][name] for part in parts])
            row[name], row[f"{name}_se"] = mean_of_draws(values)
        rows.append(row)
    return rows


def _draw(panel: _Panel, k: int, draws: int, rng: np.random.Generator) -> _Draws:
    n = len(panel.index)
    rows = np.argpartition(rng.random((draws, n)), k, axis=1)[:, :k] if k else np.zeros((draws, 0), np.int64)
    counts = np.zeros((2, draws, len(panel.n)))
    side = panel.truth[rows].astype(np.int64)
    np.add.at(counts, (side, np.arange(draws)[:, None], panel.index[rows]), 1.0)
    return _Draws(rows, counts[1], counts[0])


def _without_labels(panel: _Panel) -> dict[str, _Said]:
    """The rules that labels don't change."""
    votes, every = panel.votes, panel.votes[panel.index]
    peers, model = Disagreement(panel.n_judges), DawidSkene(panel.n_judges)
    for estimator in (peers, model):
        estimator.update(every)
    found = model.rates()
    said = {
        "majority": _Said(majority(votes, tie=panel.tie)),
        "minority_veto": _Said(minority_veto(votes)),
        **_weighted(panel, "disagreement", peers.rates()),
        **_weighted(panel, "dawid_skene", found),
        **_weighted(panel, "oracle", _true_rates(panel)),
    }
    logit = tally(votes).margin if found.fell_back else posterior_logit(votes, found.fpr, found.fnr, found.prevalence)
    return {**said, "dawid_skene": _Said(panel.decide(logit), None if found.fell_back else _expit(logit))}


def _with_labels(panel: _Panel, drawn: _Draws) -> dict[str, _Said]:
    """The rules that learn from labels."""
    draws, k = drawn.rows.shape
    votes, labels = panel.votes[panel.index[drawn.rows]], panel.truth[drawn.rows]
    rates = Bayesian(panel.n_judges, batch=(draws,))
    rates.update(votes, labels)
    unlabelled = panel.n - drawn.right - drawn.wrong
    hybrid = calibrate_patterns(panel.votes, unlabelled, drawn.right, drawn.wrong, panel.agreement)
    probability = hybrid.probability(panel.votes)
    sure = np.where(np.abs(probability - 0.5) < _ROUNDING, 0.0, probability - 0.5)
    right = drawn.right + unlabelled * probability
    said = {
        **_weighted(panel, "bayesian", rates.rates()),
        **_weighted(panel, "hybrid", _expected_rates(panel, right)),
        "hybrid": _Said(panel.decide(sure), probability),
    }
    if not k:
        return said
    among = np.broadcast_to(panel.votes, (draws, *panel.votes.shape))
    n_right = drawn.right.sum(axis=1)
    share = np.broadcast_to(((n_right + 1) / (k + 2))[:, None], unlabelled.shape)
    return {
        **said,
        "best_single": _Said(best_single(votes, labels, among, panel.tie)),
        "labels_alone": _Said(panel.decide(share - 0.5), share, n_right / k),
    }


def _weighted(panel: _Panel, name: str, rates: Rates) -> dict[str, _Said]:
    """The vote weighted by these rates, linearly and by log-odds, which is a probability if judges are independent."""
    said = {}
    for rule in WEIGHTS:
        counted = weigh(panel.votes, rates.fpr, rates.fnr, rule, rates.prevalence, FLOOR)
        verdict = counted.decide(tie=panel.tie)
        said[f"{rule}_{name}"] = _Said(verdict, _expit(counted.margin) if rule == "log_odds" else None)
    return said


def _true_rates(panel: _Panel) -> Rates:
    return _expected_rates(panel, panel.n_right)


def _expected_rates(panel: _Panel, right: FloatArray) -> Rates:
    """Rates from how many responses of each pattern, (..., patterns), are right, one added on either side."""
    accepts, rejects = (panel.votes == 1).astype(np.float64), (panel.votes == 0).astype(np.float64)
    wrong = panel.n - right
    accepted_wrong, n_wrong = wrong @ accepts, wrong @ (accepts + rejects)
    rejected_right, n_right = right @ rejects, right @ (accepts + rejects)
    prevalence = (right.sum(axis=-1) + 1) / (panel.n.sum() + 2)
    return Rates(
        (accepted_wrong + 1) / (n_wrong + 2), (rejected_right + 1) / (n_right + 2), prevalence, n_wrong, n_right
    )


def _measured(panel: _Panel, drawn: _Draws, said: _Said) -> dict[str, FloatArray]:
    """Each metric, (draws,)."""
    right = panel.n_right - drawn.right
    wrong = panel.n - panel.n_right - drawn.wrong
    accuracy, balanced = accuracies(said.verdict, right, wrong)
    plain = accuracies(majority(panel.votes, tie=panel.tie), right, wrong)[0]
    believed = said.verdict if said.probability is None else said.probability
    known = np.isfinite(believed)
    expected = (np.where(known, believed, 0.0) * (right + wrong)).sum(axis=1)
    counted = (known * (right + wrong)).sum(axis=1) + drawn.right.sum(axis=1) + drawn.wrong.sum(axis=1)
    share = ratio(expected + drawn.right.sum(axis=1), counted) if said.prevalence is None else said.prevalence
    return {
        "accuracy": accuracy,
        "balanced_accuracy": balanced,
        "prevalence_error": np.abs(share - panel.n_right.sum() / panel.n.sum()),
        "ece": np.full(len(right), np.nan)
        if said.probability is None
        else expected_calibration_error(said.probability, right, wrong),
        "difference_to_majority": accuracy - plain,
    }


def _expit(logit: FloatArray) -> FloatArray:
    from scipy.special import expit

    probability: FloatArray = expit(logit)
    return probability
