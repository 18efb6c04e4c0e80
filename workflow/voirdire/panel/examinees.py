"""Which examinees differ in accuracy: every pair, on the items that both answered.

p and interval come from one statistic, and so agree: the score test of a difference of two shares measured on the same
units (McNemar's statistic where the difference is 0), whose variance is that under the difference tested, so that a few
one-sided items aren't taken for certainty. Sources: Tango (1998), Statistics in Medicine 17, 891-908; Fagerland,
Lydersen and Laake (2013), BMC Medical Research Methodology 13, 91, for its p.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.panel.corrected import ENOUGH_LABELS, hidden, label_chances
from voirdire.panel.corrected_powered import pooled
from voirdire.panel.corrected_sample import Options, Sample, cluster_sums, design_effect
from voirdire.panel.matrix import NotEnoughVerdicts, ballots
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio
from voirdire.stats.significance import holm

COLUMNS = (
    *("task", "examinee", "other", "n_items", "n_labels", "difference", "low", "high", "p", "p_holm", "differs"),
    *("method", "note", "seed", "simulated"),
)
PAIRED, POWERED, MEAN = "paired labels", "PPI++", "mean of tasks"
_HALVINGS = 60


@dataclass(frozen=True)
class Difference:
    """First less second, as if seen on n independent pairs of which the share `discordant` has one right.

    n is 0, and all else NaN, where nothing can be said; note says why. freedom: degrees of freedom.
    """

    difference: float = np.nan
    discordant: float = np.nan
    n: float = 0.0
    freedom: float = np.nan
    method: str = ""
    note: str = ""

    def p(self) -> float:
        """Two-sided, of no difference."""
        from scipy.special import stdtr

        if not self.n:
            return np.nan
        statistic = abs(_score(self.difference, self.discordant, self.n, 0.0))
        return float(2 * stdtr(max(self.freedom, 1.0), -statistic))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """All differences that the test doesn't reject."""
        from scipy.special import stdtrit

        if not self.n:
            return np.nan, np.nan
        quantile = float(stdtrit(max(self.freedom, 1.0), (1 + level) / 2))
        return self._bound(-1.0, quantile), self._bound(1.0, quantile)

    def _bound(self, end: float, quantile: float) -> float:
        """The difference towards `end` at which the score is the quantile; the end where it never is."""
        inside, outside = self.difference, end
        if abs(_score(self.difference, self.discordant, self.n, end)) <= quantile:
            return end
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if abs(_score(self.difference, self.discordant, self.n, middle)) <= quantile:
                inside = middle
            else:
                outside = middle
        return inside


def _score(difference: float, discordant: float, n: float, supposed: float) -> float:
    """Tango's statistic of n pairs, for the supposed difference; 0 where both agree."""
    gap = difference - supposed
    if gap == 0:
        return 0.0
    second = (discordant - difference) / 2
    # The most likely share of pairs that only the second has right, were the difference as supposed.
    linear = -discordant + (2 - difference) * supposed
    constant = -second * supposed * (1 - supposed)
    only_second = (np.sqrt(max(linear**2 - 8 * constant, 0.0)) - linear) / 4
    variance = 2 * only_second + supposed * (1 - supposed)
    return float(gap * np.sqrt(n / variance)) if variance > 0 else float(np.copysign(np.inf, gap))


def compare_examinees(
    verdicts: pd.DataFrame,
    n_labels: int | None = None,
    seed: int = 0,
    condition: str | None = "blind",
    include_self: bool = False,
    level: float = 0.95,
) -> pd.DataFrame:
    """Differences in accuracy between all pairs of examinees, per task and over all ("all": the mean of the tasks).

    verdicts, n_labels, seed, condition, include_self: as in `corrected_accuracy`. Only items that both answered count.
    Where all their responses are labelled the labels are compared, pair by pair; otherwise each examinee's PPI++
    estimate with ten own labels or more, by the variance that the pooled design effect gives, and by how much the two
    vary together over clusters.

    difference: examinee's less other's, with interval and p of one statistic: 0 lies outside [low, high] where p is
    below 1 − level. p_holm: over the pairs of one task; differs: "yes" or "undecided" by it. NaN and a note where there
    is no estimate. No row, but all columns, with fewer than two examinees.
    """
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return pd.DataFrame(columns=list(COLUMNS))
    chance = label_chances(verdicts, box) if n_labels is None else None
    box, labels = (box, box.truth) if n_labels is None else hidden(box, n_labels, seed)
    votes = (box if include_self else box.without_self()).votes
    tables, found = [], []
    for task in sorted(set(box.task)):
        at = box.task == task
        sample = Sample.of(
            votes[at],
            labels[at],
            box.examinee[at].astype(str),
            box.cluster[at],
            None if chance is None else chance[at],
        )
        pairs = differences(sample, pd.factorize(box.item_id[at])[0], level)
        found.append(pairs)
        tables.append(_table(str(task), pairs, level))
    if not any(found):
        return pd.DataFrame(columns=list(COLUMNS))
    tables.append(_table("all", _over_tasks(found), level))
    table = pd.concat([table for table in tables if len(table)], ignore_index=True)
    return table.assign(seed=seed, simulated=box.simulated)[list(COLUMNS)]


Pairs = dict[tuple[str, str], tuple[Difference, int, int]]


def differences(sample: Sample, item: NDArray[np.int64], level: float = 0.95) -> Pairs:
    """Each pair of examinees of one task: their difference, the items that both answered, and these items' labels.

    item: numbers (responses,); the pairs are those of names in order.
    """
    answered = [np.unique(item[sample.examinee == number]) for number in range(sample.n_examinees)]
    pairs: Pairs = {}
    for first in range(sample.n_examinees):
        for second in range(first + 1, sample.n_examinees):
            shared = np.intersect1d(answered[first], answered[second])
            rows = np.isin(item, shared) & ((sample.examinee == first) | (sample.examinee == second))
            both = sample.take(rows)
            both = replace(
                both,
                examinee=(both.examinee == second).astype(np.int64),
                names=(sample.names[first], sample.names[second]),
            )
            pairs[both.names[0], both.names[1]] = (
                _difference(both, item[rows], level),
                len(shared),
                both.n_labels,
            )
    return pairs


def _difference(both: Sample, item: NDArray[np.int64], level: float) -> Difference:
    if not both.n:
        return Difference(note="no item that both answered")
    if both.n_labels == both.n:
        return _paired(both, item)
    own = np.bincount(both.examinee[both.known], minlength=2)
    if own.min() < ENOUGH_LABELS:
        return Difference(note=f"fewer than {ENOUGH_LABELS} labels of one of them")
    return _powered(both, item, level)


def _paired(both: Sample, item: NDArray[np.int64]) -> Difference:
    """All labels there: the difference on each item, whose responses in several trials are averaged."""
    first, second = (_by_item(both.take(both.examinee == side), item[both.examinee == side]) for side in (0, 1))
    apart = first - second
    cluster = pd.Series(both.cluster).groupby(item).first().to_numpy()
    mean = float(apart.mean())
    # Of trials that differ, no more than the squares.
    discordant = max(float((apart**2).mean()), abs(mean))
    n_clusters = len(np.unique(cluster))
    effect = design_effect(cluster, apart - mean)
    return Difference(mean, discordant, len(apart) / effect, n_clusters - 1, PAIRED)


def _by_item(sample: Sample, item: NDArray[np.int64]) -> FloatArray:
    codes = np.unique(item, return_inverse=True)[1]
    return ratio(np.bincount(codes, sample.labels), np.bincount(codes))


def _powered(both: Sample, item: NDArray[np.int64], level: float) -> Difference:
    """Some labels: PPI++ of each on the shared items."""
    found = pooled(both, Options(level=level))
    mean = np.clip(found.estimate, 0, 1)
    difference = float(mean[0] - mean[1])
    likely = (mean * found.n_labels + 1) / (found.n_labels + 2)
    variance = likely * (1 - likely) / found.worth
    together = _correlation(both, found.slope)
    total = float(variance.sum() - 2 * together * np.sqrt(variance.prod()))
    # As often as they would differ if the two had nothing to do with each other.
    discordant = float(likely[0] * (1 - likely[1]) + likely[1] * (1 - likely[0]))
    discordant = max(discordant, abs(difference))
    # By the likely accuracies, as the variances are: at 1 against 0 the pairs' own spread is nothing.
    n = max(discordant - float(likely[0] - likely[1]) ** 2, 1e-9) / max(total, 1e-12)
    return Difference(difference, discordant, n, found.freedom, POWERED)


def _correlation(both: Sample, slope: float) -> float:
    """Of the two estimates, over clusters; 0 without spread."""
    parts = []
    for side in (0, 1):
        here = both.examinee == side
        weights = np.where(here, both.weights, 0.0)
        share = np.where(here, both.share, 0.0)
        labels = np.where(both.known, both.labels, 0.0)
        residual = np.where(both.known & here, labels - slope * both.share, 0.0)
        residual = np.where(weights > 0, residual - (weights * residual).sum() / weights.sum(), 0.0)
        predicted = np.where(here, slope * (share - share.sum() / here.sum()), 0.0)
        parts.append(cluster_sums(both.cluster, weights * residual / weights.sum() + predicted / here.sum()))
    squares = [float((part**2).sum()) for part in parts]
    return float(np.nan_to_num(ratio((parts[0] * parts[1]).sum(), np.sqrt(squares[0] * squares[1]))))


def _over_tasks(found: list[Pairs]) -> Pairs:
    """The mean over the tasks in which a pair has a difference."""
    pooled_pairs: Pairs = {}
    for names in dict.fromkeys(name for pairs in found for name in pairs):
        parts = [pairs[names] for pairs in found if names in pairs]
        known = [each for each, _, _ in parts if each.n]
        counts = sum(n for _, n, _ in parts), sum(n for _, _, n in parts)
        pooled_pairs[names] = (_mean_of(known, len(found)) if known else parts[0][0], *counts)
    return pooled_pairs


def _mean_of(known: list[Difference], tasks: int) -> Difference:
    if len(known) == 1:
        only = known[0]
        return replace(only, note=f"1 of {tasks} tasks" if tasks > 1 else only.note)
    k = len(known)
    difference = float(np.mean([each.difference for each in known]))
    # Half a discordant pair more, as none among few doesn't mean none.
    smoothed = [(each.discordant * each.n + 0.5) / (each.n + 0.5) for each in known]
    spread = [max(d - each.difference**2, 1e-9) for d, each in zip(smoothed, known, strict=True)]
    variance = sum(s / each.n for s, each in zip(spread, known, strict=True)) / k**2
    discordant = max(float(np.mean([each.discordant for each in known])), abs(difference))
    n = max(float(np.mean(smoothed)) - difference**2, 1e-9) / variance
    note = f"mean of {k} of {tasks} tasks" if k < tasks else ""
    return Difference(difference, discordant, n, sum(each.freedom for each in known), MEAN, note)


def _table(task: str, pairs: Pairs, level: float) -> pd.DataFrame:
    rows = []
    for (examinee, other), (found, n_items, n_labels) in pairs.items():
        low, high = found.interval(level)
        row = {"task": task, "examinee": examinee, "other": other, "n_items": n_items, "n_labels": n_labels}
        row |= {"difference": found.difference, "low": low, "high": high, "p": found.p()}
        rows.append(row | {"method": found.method, "note": found.note})
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    adjusted = holm(table["p"].to_numpy(np.float64))
    differs = np.where(np.isnan(adjusted), "", np.where(adjusted <= 1 - level + 1e-12, "yes", "undecided"))
    return table.assign(p_holm=adjusted, differs=differs)
