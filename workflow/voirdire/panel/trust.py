"""Can estimates from verdicts alone be trusted? What speaks against it, and what nothing can tell.

That is not identifiable from verdicts alone: judges that share one blind spot agree like judges that are right. So
without labels there is evidence against, or none; never evidence for. From 30 labels on it is decided by them: so many
can show that rates are wrong; to show that they are right takes about a hundred, more where few answers are wrong.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from voirdire.errors import UserError
from voirdire.panel.dawid_skene import fit
from voirdire.panel.independence import MOVE, THRESHOLD, Independence, independence
from voirdire.panel.labelled_check import FEWEST, MARGIN, Gap, gap, mirrored
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.votes import FloatArray
from voirdire.stats.bootstrap import task_seed

Verdict = Literal[
    "unusable",
    "doubtful",
    "no evidence against",
    "usable",
    "too few wrong answers labelled",
    "too few right answers labelled",
]
FEWEST_JUDGES = 7
FEWEST_LABELS = 30
# Less power is low.
POWER = 0.5
_WHAT_LABELS_SHOW = (
    f"{FEWEST_LABELS} labels can show that the rates are wrong; to show that they are right takes about a hundred."
)
_TOO_FEW: dict[str, Verdict] = {
    "wrong": "too few wrong answers labelled",
    "right": "too few right answers labelled",
}

COLUMNS = (
    *("task", "verdict", "without_labels", "reason", "n_judges", "n_responses", "n_labels"),
    *("r", "bound", "null_low", "null_median", "null_high", "power", "correlation_that_matters", "fpr_moved"),
    *(f"{side}_{name}" for side in ("wrong", "right") for name in ("labelled", "gap", "gap_low", "gap_high")),
    *("basis", "seed", "simulated"),
)


@dataclass(frozen=True)
class Trust:
    """verdict, and in words why; without_labels: what the verdicts alone say, the same where labels decide nothing.

    Without labels `verdict` is "unusable" (evidence against), "doubtful" (can't be checked, or with too little power)
    or "no evidence against"; with 30 labels or more "usable", "unusable", or "too few wrong (right) answers labelled".
    independence: the statistic r, its null and its power; wrong, right: votes on labelled responses against the rates,
    None without labels; n_judges: those that have given both verdicts; n_responses: with any vote.
    """

    verdict: Verdict
    reason: str
    without_labels: Verdict
    independence: Independence
    n_judges: int
    n_responses: int
    n_labels: int
    seed: int
    wrong: Gap | None = None
    right: Gap | None = None

    @property
    def statistic(self) -> float:
        """r, see `voirdire.panel.independence`."""
        return self.independence.r

    @property
    def null(self) -> FloatArray:
        """r in panels that err independently, (panels,)."""
        return self.independence.null

    @property
    def power(self) -> float:
        """How likely an error correlation that matters would be seen; NaN where none matters."""
        return self.independence.power


def label_free_trust(
    votes: ArrayLike, labels: ArrayLike | None = None, cluster: ArrayLike | None = None, seed: int = 0
) -> Trust:
    """Whether the rates that Dawid-Skene's model takes from these verdicts can be trusted.

    votes: (responses, judges), 1, 0 or NaN; labels: (responses,), 1 right, 0 wrong, NaN unlabelled, a random sample of
    the responses; fewer than 30 are not looked at. cluster: (responses,), numbers of items, default each response one.

    Without labels: unusable where r, the agreement of halves of the judges relative to judges that err independently,
    is below .80 and below all of 39 such panels. Doubtful with fewer than seven judges, where it can't be checked, and
    where an error that all judges share and that moves the label-free FPR by .1 (through one latent factor, at the
    fitted rates) would lower r so far in less than half of the cases. Otherwise no evidence against, which promises
    nothing; where r is at least .80, yet below all of the 39 panels, the reason says that judges share errors.

    With labels: usable where the mean votes among wrong and among right ones are shown to be within .1 of what the
    rates predict, even with one more that all judges accept, or none (which takes about a hundred labels); unusable
    where they are shown to differ, by more than .1 as estimated, or the model takes right for wrong; see
    `labelled_check`.

    >>> trust = label_free_trust([[1, 1, 0], [1, 0, 0]] * 20)
    >>> trust.verdict, trust.reason[:17]
    ('doubtful', 'cannot be checked')
    """
    cast: FloatArray = np.asarray(votes, dtype=np.float64)
    known = np.full(len(cast), np.nan) if labels is None else np.asarray(labels, dtype=np.float64)
    items = np.arange(len(cast)) if cluster is None else np.asarray(cluster)
    for name, array in (("labels", known), ("cluster", items)):
        if array.shape != cast.shape[:1]:
            raise UserError(f"{name}: the shape is {array.shape}; there are {len(cast)} responses")
    if strange := known[~np.isin(known, (0, 1)) & ~np.isnan(known)].tolist():
        raise UserError(f"labels: found {strange[0]:g}; a label is 1 (right), 0 (wrong) or NaN (unlabelled)")
    voted = np.isfinite(cast).any(axis=1)
    n_judges = int(((cast == 1).any(axis=0) & (cast == 0).any(axis=0)).sum())
    n_labels = int((np.isfinite(known) & voted).sum())
    checked = independence(cast, seed=seed) if n_judges >= FEWEST_JUDGES else Independence()
    alone, why = _without_labels(checked, n_judges)
    common = (checked, n_judges, int(voted.sum()), n_labels, seed)
    if n_labels < FEWEST_LABELS:
        return Trust(alone, why, alone, *common)
    fitted = fit(cast)
    wrong, right = (gap(cast, known, items, fitted, right) for right in (False, True))
    verdict, reason = decided_by_labels(wrong, right)
    if mirrored(cast, known, fitted):
        verdict, reason = (
            "unusable",
            "the label-free model takes labelled wrong answers for right more than right ones.",
        )
    return Trust(verdict, f"{reason} Without labels: {why}", alone, *common, wrong, right)


def trust_table(
    verdicts: pd.DataFrame,
    condition: str | None = "blind",
    include_self: bool = False,
    seed: int = 0,
    use_labels: bool = True,
) -> pd.DataFrame:
    """`label_free_trust` of each task: a row per task, its columns `COLUMNS`; no row where nothing has been judged.

    use_labels: whether known truth counts as labels. The gaps of shares are of labelled wrong and right responses.
    """
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(COLUMNS))
    box = box if include_self else box.without_self()
    rows = [_row(task, box.take(box.task == task), seed, use_labels) for task in sorted(set(box.task))]
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(seed=seed, simulated=box.simulated)


def _row(task: str, box: Ballots, seed: int, use_labels: bool) -> dict[str, object]:
    # The sequence as one number: a stream of its own for each task.
    own = int(np.random.SeedSequence(task_seed(seed, task)).generate_state(1)[0])
    trust = label_free_trust(box.votes, box.truth if use_labels else None, box.cluster, own)
    low, median, high = np.quantile(trust.null, (0.025, 0.5, 0.975)) if len(trust.null) else (np.nan,) * 3
    row: dict[str, object] = {
        "task": task,
        "verdict": trust.verdict,
        "without_labels": trust.without_labels,
        "reason": trust.reason,
        "n_judges": trust.n_judges,
        "n_responses": trust.n_responses,
        "n_labels": trust.n_labels,
        "r": trust.statistic,
        "bound": trust.independence.bound,
        "null_low": low,
        "null_median": median,
        "null_high": high,
        "power": trust.power,
        "correlation_that_matters": trust.independence.correlation,
        "fpr_moved": trust.independence.moved,
        "basis": "labels" if trust.wrong else "verdicts",
    }
    for side, found in (("wrong", trust.wrong or Gap()), ("right", trust.right or Gap())):
        row |= {f"{side}_labelled": found.n, f"{side}_gap": found.estimate}
        row[f"{side}_gap_low"], row[f"{side}_gap_high"] = found.interval()
    return row


def _without_labels(checked: Independence, n_judges: int) -> tuple[Verdict, str]:
    if n_judges < FEWEST_JUDGES:
        return "doubtful", (
            f"cannot be checked: {n_judges} judges have given both verdicts, and it takes {FEWEST_JUDGES} to compare "
            f"halves of a panel. {_WHAT_LABELS_SHOW}"
        )
    if np.isnan(checked.r):
        return "doubtful", (
            "cannot be checked: Dawid-Skene gives all responses one label, or none that halves of the judges share. "
            f"{_WHAT_LABELS_SHOW}"
        )
    seen = f"halves of the judges agree {checked.r:.2f} times as well as they would if they erred independently"
    if checked.r < checked.bound:
        return (
            "unusable",
            f"{seen}, which is below {checked.bound:.2f}: judges share errors that the model does not know.",
        )
    if shared := checked.r < checked.null.min():
        seen += (
            f"; in {len(checked.null)} simulated panels that did it was {checked.null.min():.2f} to "
            f"{checked.null.max():.2f}: judges share errors, though less than in the three of nine real panels in "
            f"which label-free rates failed, all below {THRESHOLD:.2f}"
        )
    if checked.power < POWER:
        return "doubtful", (
            f"{seen}. That says little: one error shared by all judges that moves the label-free FPR by {MOVE} (latent "
            f"correlation {checked.correlation:.1f}) would show in {checked.power:.0%} of such panels. "
            f"{_WHAT_LABELS_SHOW}"
        )
    mattering = (
        f"An error correlation that moves the label-free FPR by {MOVE} would show in {checked.power:.0%} of such panels"
        if np.isfinite(checked.power)
        else f"If the rates are right, no error shared through one factor moves the label-free FPR by {MOVE}"
    )
    kind = (
        "That speaks against independence, and is no evidence for the rates" if shared else "That is no evidence for it"
    )
    return "no evidence against", (
        f"{seen}. {mattering}. {kind}: judges that share one blind spot give the same verdicts as "
        f"judges that are right, and no statistic of verdicts tells them apart. {_WHAT_LABELS_SHOW}"
    )


def decided_by_labels(wrong: Gap, right: Gap) -> tuple[Verdict, str]:
    """What labelled wrong and labelled right responses say of the label-free rates, and why."""
    found = {"wrong": wrong, "right": right}
    for side, each in found.items():
        if each.off:
            return "unusable", (
                f"{each.n} labelled {side} answers are accepted in {each.share:.0%} of votes, where the label-free "
                f"rates predict {each.predicted:.0%} (difference {_span(each)})."
            )
    for side, each in found.items():
        if not each.within:
            return _TOO_FEW[side], f"{each.n} {side} answers are labelled{_why_too_few(each)}."
    spans = " and ".join(f"{_span(each)} among {side} answers" for side, each in found.items())
    return "usable", f"labelled answers' votes differ from what the label-free rates predict by {spans}."


def _why_too_few(found: Gap) -> str:
    if found.n_items < FEWEST:
        return f", on {found.n_items} items, and fewer than {FEWEST} say nothing"
    return (
        f": their votes differ from what the label-free rates predict by {_span(found)}, which is shown neither to be "
        f"within {MARGIN}, whatever one response more may hold, nor to be off by more"
    )


def _span(found: Gap) -> str:
    low, high = found.interval()
    return f"{low:+.2f} to {high:+.2f}"
