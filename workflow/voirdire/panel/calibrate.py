"""One calibrated verdict for each response of a table of verdicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.errors import UserError
from voirdire.panel.calibration import cross_fitted
from voirdire.panel.dawid_skene import DawidSkene, posterior_logit
from voirdire.panel.estimators import Disagreement
from voirdire.panel.halves import agreement
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.rates import too_few_judges
from voirdire.panel.votes import FloatArray, Tally, Tie, split, tally, weigh

# Of a task with fewer responses on which two judges have voted, rates are known to some ten points at best: rates of
# all tasks together are then nearer.
ENOUGH_RESPONSES = 100
KEYS = ("task", "item_id", "examinee", "condition", "trial")
WORDS = {1.0: "correct", 0.0: "incorrect"}
# A probability so near to a half is one, but for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Heard:
    """The votes from which rules learn, and those on which they then decide; (responses, judges).

    labels, weights: (responses,) of the former, 1, 0 or NaN, and what each label counts for; probability: (responses,)
    of the latter, P(right); the latter are rows `chosen` of the former.
    """

    votes: FloatArray
    labels: FloatArray
    weights: FloatArray
    chosen: NDArray[np.bool_]
    probability: FloatArray

    @property
    def here(self) -> FloatArray:
        """The votes that are decided on."""
        return self.votes[self.chosen]


def calibrate(
    verdicts: pd.DataFrame,
    methods: Sequence[str] = ("majority", "disagreement", "dawid_skene", "hybrid"),
    condition: str | None = None,
    quorum: int = 1,
    tie: Tie = "incorrect",
    include_self: bool = False,
) -> pd.DataFrame:
    """The panel's verdict on each response by each method, and its probability of being right.

    verdicts: a VERDICTS table, or its columns item_id, judge, verdict and more; what has a truth is labelled, by a
    random sample, or with column `label_probability`, 0 to 1, by one that weighs each label by its inverse.
    methods: names in METHODS; condition: one judge prompt, None for each by itself; quorum: fewest votes that decide,
    or the panel's size on the response where that is smaller; tie, include_self: as in the study.

    Returns a row per condition and response, sorted: task, item_id, examinee, condition, trial, n_votes, a column for
    each method (correct, incorrect, abstain), probability, label (1, 0, NaN) and status (ok, abstain). A response with
    fewer votes than the quorum is decided by no method and has no probability.

    The probability is the hybrid's, with the label of the response itself left out, so that it can be compared with it.
    A task learns from its own responses where at least ENOUGH_RESPONSES have two votes and three judges have given both
    verdicts, since judges err differently by task; otherwise from all of the condition. No row, but all columns, where
    nothing was judged.

    Raises UserError where a method or the condition is unknown.
    """
    if unknown := [name for name in methods if name not in METHODS]:
        raise UserError(f"calibrate: unknown method {', '.join(unknown)}; there are {', '.join(METHODS)}")
    columns = [*KEYS, "n_votes", *methods, "probability", "label", "status"]
    parts = []
    for name, frame in _by_condition(verdicts, condition):
        try:
            box = ballots(frame, None)
        except NotEnoughVerdicts:
            continue
        box = box if include_self else box.without_self()
        parts.append(_decided(box, _weights(frame, box), methods, quorum, tie).assign(condition=name))
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns].sort_values(list(KEYS), ignore_index=True)


def _by_condition(verdicts: pd.DataFrame, condition: str | None) -> list[tuple[str, pd.DataFrame]]:
    if "condition" not in verdicts:
        return [("" if condition is None else condition, verdicts)]
    there = sorted(verdicts["condition"].unique())
    if condition is not None and condition not in there and len(verdicts):
        raise UserError(f"verdicts: condition '{condition}' has no verdicts; conditions there: {', '.join(there)}")
    return [
        (name, verdicts[(verdicts["condition"] == name).to_numpy(dtype=bool)])
        for name in there
        if condition in (None, name)
    ]


def _decided(box: Ballots, weights: FloatArray, methods: Sequence[str], quorum: int, tie: Tie) -> pd.DataFrame:
    """The rows of one condition."""
    n = len(box.task)
    said = {name: np.full(n, np.nan) for name in methods}
    probability = np.full(n, np.nan)
    n_votes = np.isfinite(box.votes).sum(axis=1)
    need = np.maximum(box.quorum(quorum), 1)
    for learnt, rows in _parts(box):
        within = Heard(box.votes[learnt], box.truth[learnt], weights[learnt], rows[learnt], np.zeros(0))
        probability[rows] = _probability(within)
        heard = Heard(*(within.votes, within.labels, within.weights, within.chosen), probability[rows])
        for name in methods:
            counted = METHODS[name](heard)
            said[name][rows] = Tally(counted.margin, n_votes[rows]).decide(need[rows], tie)
    enough = n_votes >= need
    frame = pd.DataFrame({"task": box.task, "item_id": box.item_id, "examinee": box.examinee, "trial": box.trial})
    words = {name: [WORDS.get(verdict, "abstain") for verdict in verdicts] for name, verdicts in said.items()}
    return frame.assign(
        n_votes=n_votes,
        **words,
        probability=np.where(enough, probability, np.nan),
        label=box.truth,
        status=np.where(enough, "ok", "abstain"),
    )


def _parts(box: Ballots) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Which responses are learnt from, and which then decided on: large tasks by themselves, the others from all."""
    everything, parts = np.ones(len(box.task), dtype=np.bool_), []
    rest = everything.copy()
    for task in sorted(set(box.task)):
        here = box.task == task
        correct, incorrect = split(box.votes[here])
        too_few = too_few_judges(correct.sum(axis=0), incorrect.sum(axis=0))
        if ((correct + incorrect).sum(axis=1) >= 2).sum() >= ENOUGH_RESPONSES and not too_few:
            parts.append((here, here))
            rest &= ~here
    return [*parts, (everything, rest)] if rest.any() else parts


def _weights(frame: pd.DataFrame, box: Ballots) -> FloatArray:
    """What each response's label counts for: its inverse probability, all together their effective number.

    Kish's effective number, (Σ w)² / Σ w², so that labels drawn very unequally aren't taken for as many as there are.
    """
    weights = np.ones(len(box.task))
    if "label_probability" not in frame:
        return weights
    absent = {name: value for name, value in (("task", ""), ("examinee", ""), ("trial", 0)) if name not in frame}
    keys = ["task", "item_id", "examinee", "trial"]
    chances = frame.assign(**absent).groupby(keys)["label_probability"].first()
    wanted = pd.MultiIndex.from_arrays([box.task, box.item_id, box.examinee, box.trial])
    chance = chances.reindex(wanted).to_numpy(dtype=np.float64, na_value=np.nan)
    labelled = np.isfinite(box.truth)
    strange = labelled & ~((chance > 0) & (chance <= 1))
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise UserError(
            f"label_probability: {chance[row]:g} for the labelled {box.task[row]} {box.item_id[row]} by "
            f"{box.examinee[row]}; it is above 0 and at most 1"
        )
    weights[labelled] = 1 / chance[labelled]
    total, squares = weights[labelled].sum(), (weights[labelled] ** 2).sum()
    return weights * (total / squares) if squares else weights


def _probability(heard: Heard) -> FloatArray:
    found = cross_fitted(heard.votes, heard.labels, agreement(heard.votes), heard.weights)
    return found[heard.chosen]


def _majority(heard: Heard) -> Tally:
    return tally(heard.here)


def _disagreement(heard: Heard) -> Tally:
    peers = Disagreement(heard.votes.shape[1])
    peers.update(heard.votes)
    rates = peers.rates()
    if rates.fell_back:
        return tally(heard.here)
    return weigh(heard.here, rates.fpr, rates.fnr, "linear")


def _dawid_skene(heard: Heard) -> Tally:
    model = DawidSkene(heard.votes.shape[1])
    model.update(heard.votes)
    rates = model.rates()
    if rates.fell_back:
        return tally(heard.here)
    return Tally(posterior_logit(heard.here, rates.fpr, rates.fnr, rates.prevalence), _majority(heard).n_votes)


def _hybrid(heard: Heard) -> Tally:
    margin = heard.probability - 0.5
    return Tally(np.where(np.abs(margin) < _ROUNDING, 0.0, margin), _majority(heard).n_votes)


# What each method says: disagreement is the vote weighted linearly by rates against the other judges' majority. Where
# too few judges have given both verdicts for any rates, the majority is what they have in common.
METHODS: dict[str, Callable[[Heard], Tally]] = {
    "majority": _majority,
    "disagreement": _disagreement,
    "dawid_skene": _dawid_skene,
    "hybrid": _hybrid,
}
