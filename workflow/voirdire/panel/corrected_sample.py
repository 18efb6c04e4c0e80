"""What corrected accuracy is made from: votes, labels of some, how likely each label was to be drawn, clusters.

Two quantities can be asked for. "population": the examinee's accuracy on all items that could have been asked, of which
those here are a sample. "set": the share of right responses among exactly these, of which nothing is unknown but the
truth of those without a label: with all labelled there is no uncertainty left.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import UserError
from voirdire.panel.votes import FloatArray, majority, split
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import effective_n
from voirdire.stats.intervals import normal_quantile, wilson

Target = Literal["population", "set"]
TARGETS = ("population", "set")
# Stands for infinitely many labels where numbers must be finite.
MANY = 1e12


@dataclass(frozen=True)
class Options:
    """target: see the top; level: of the intervals; draws, seed: of those intervals that are drawn."""

    target: Target = "population"
    level: float = 0.95
    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise UserError(f"target: '{self.target}' is unknown; use one of {', '.join(TARGETS)}")


@dataclass(frozen=True)
class Corrected:
    """An estimated accuracy with its interval; NaN, and a note that says why, where there is none.

    clipped: whether the estimate lay outside [0, 1]; interval: how it was made; note: what the reader must know.
    """

    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    clipped: bool = False
    interval: str = ""
    note: str = ""


@dataclass(frozen=True)
class Sample:
    """Responses of one task: arrays (responses,), but votes, (responses, judges), 1, 0 or NaN.

    share: of "correct" among the votes; where there are none, the mean of the others (.5 if there are no others);
    verdict: the panel's, 1, 0 or NaN; labels: 1, 0 or NaN; chance: of being labelled, in (0, 1], NaN without a label;
    examinee: numbers from 0, each examinee's; cluster: numbers from 0; probability: P(right) of a response, in which
    its own label has no say, or None; names: (examinees,).
    """

    votes: FloatArray
    share: FloatArray
    verdict: FloatArray
    labels: FloatArray
    chance: FloatArray
    examinee: NDArray[np.int64]
    cluster: NDArray[np.int64]
    probability: FloatArray | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        votes: ArrayLike,
        labels: ArrayLike,
        examinee: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
        label_probability: ArrayLike | None = None,
        verdict: ArrayLike | None = None,
        probability: ArrayLike | None = None,
    ) -> "Sample":
        """Check the arrays and fill in what is not given.

        votes: (responses, judges); the others (responses,). examinee, cluster: names or numbers, default one examinee,
        a cluster for each response. label_probability: how likely the response was to be labelled, read where it is;
        default: all alike. verdict: the panel's, default its majority, a tie being incorrect.

        Raises UserError where shapes differ or values can't be what they should.

        >>> Sample.of([[1, 1, 0], [0, 0, 0]], [1, float("nan")]).share.round(2)
        array([0.67, 0.  ])
        """
        cast = np.asarray(votes, dtype=np.float64)
        if cast.ndim != 2:
            raise UserError(f"votes: the shape is {cast.shape}; they are responses × judges")
        n = len(cast)
        known = np.asarray(labels, dtype=np.float64)
        correct, incorrect = (side.sum(axis=1) for side in split(cast))
        split(known)
        share = ratio(correct, correct + incorrect)
        there = np.isfinite(share)
        share = np.where(there, share, share[there].mean() if there.any() else 0.5)
        names, examinees = np.unique(np.zeros(n) if examinee is None else np.asarray(examinee), return_inverse=True)
        clusters = np.arange(n) if cluster is None else np.unique(np.asarray(cluster), return_inverse=True)[1]
        decided = majority(cast) if verdict is None else np.asarray(verdict, dtype=np.float64)
        given = None if probability is None else np.asarray(probability, dtype=np.float64)
        made = cls(
            cast,
            share,
            decided,
            known,
            _chances(known, label_probability),
            examinees,
            clusters,
            given,
            tuple(map(str, names)),
        )
        for name, values in vars(made).items():
            if isinstance(values, np.ndarray) and values.shape[:1] != (n,):
                raise UserError(f"{name}: the shape is {values.shape}; there are {n} responses")
        if given is not None and not ((given >= 0) & (given <= 1)).all():
            raise UserError("probability: every response needs one, from 0 to 1")
        return made

    def take(self, rows: NDArray[np.bool_]) -> "Sample":
        """The sample of some responses; examinees keep their numbers."""
        arrays: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        taken: dict[str, Any] = {name: a[rows] if isinstance(a, np.ndarray) else a for name, a in arrays.items()}
        return Sample(**taken)

    def of_examinee(self, number: int) -> "Sample":
        return self.take(self.examinee == number)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(responses,): where there is a label."""
        return np.isfinite(self.labels)

    @property
    def n_examinees(self) -> int:
        return len(self.names)

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def n_labels(self) -> int:
        return int(self.known.sum())

    @property
    def weights(self) -> FloatArray:
        """(responses,): what a label weighs, 1 / chance, with a mean of 1; 0 without a label."""
        weights = np.where(self.known, ratio(1.0, self.chance), 0.0)
        return np.nan_to_num(ratio(weights * self.n_labels, weights.sum()))

    @property
    def open_share(self) -> FloatArray:
        """(responses,): 1 − chance of being labelled, chances scaled to the labels there are; 0 without a label."""
        chance = self.chance * np.nansum(ratio(1.0, self.chance)) / max(self.n, 1)
        return np.where(self.known, 1 - np.minimum(np.nan_to_num(chance), 1), 0.0)

    def unknown_share(self) -> float:
        """The finite-population correction: by how much a variance of labels shrinks when the target is this set.

        0 where all responses are labelled; 1 − labels / responses where all were equally likely to be.
        """
        if self.n_labels == self.n:
            return 0.0
        squares = self.weights**2
        return float(ratio((self.open_share * squares).sum(), squares.sum()))


def _chances(labels: FloatArray, label_probability: ArrayLike | None) -> FloatArray:
    known = np.isfinite(labels)
    if label_probability is None:
        return np.where(known, known.sum() / max(len(labels), 1), np.nan)
    chance = np.asarray(label_probability, dtype=np.float64)
    if chance.shape != labels.shape:
        raise UserError(f"label_probability: the shape is {chance.shape}; there are {len(labels)} responses")
    strange = known & ~((chance > 0) & (chance <= 1))
    if strange.any():
        raise UserError(f"label_probability: found {chance[strange][0]:g}; a labelled response has one in (0, 1]")
    return np.where(known, chance, np.nan)


def labelled_mean(sample: Sample, values: FloatArray | None = None) -> float:
    """Mean of the labels, or of other values of the labelled, weighed by inverse probability (Hájek's); NaN if none."""
    values = sample.labels if values is None else values
    weights = sample.weights
    return float(ratio(np.where(sample.known, weights * values, 0.0).sum(), weights.sum()))


def kish(weights: FloatArray) -> float:
    """How many equal weights these are worth: (Σw)² / Σw². Source: Kish (1965), Survey Sampling.

    >>> kish(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    return float(np.nan_to_num(ratio(weights.sum() ** 2, (weights**2).sum())))


def cluster_sums(cluster: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """(clusters,): sums of the values of each cluster that has a member here."""
    codes = np.unique(cluster, return_inverse=True)[1]
    return np.bincount(codes, values).astype(np.float64)


def fewest_worth(sample: Sample) -> float:
    """How many independent labels there are if all labels of a cluster say the same, and weights are what they are."""
    known = sample.known
    return kish(cluster_sums(sample.cluster[known], sample.weights[known]))


def labels_worth(sample: Sample, level: float = 0.95) -> float:
    """How many independent, equally likely labels the labels are worth, for their mean.

    Kish's number for the weights, by the design effect of clusters (see `effective_n`); where weights differ, no more
    than the mean's own linearised variance says, as labels that are often drawn may err less than the others.
    """
    known = sample.known
    if not known.any():
        return 0.0
    weights, labels = sample.weights[known], sample.labels[known]
    scaled = weights * kish(weights) / weights.sum()
    hits, trials = (cluster_sums(sample.cluster[known], values) for values in (scaled * labels, scaled))
    worth = float(effective_n(hits[None], trials[None], level=level)[0])
    if np.ptp(weights) > 1e-9:
        mean = labelled_mean(sample)
        squares = (cluster_sums(sample.cluster[known], weights * (labels - mean)) ** 2).sum()
        if squares > 0:
            worth = min(worth, mean * (1 - mean) * weights.sum() ** 2 / squares)
    return worth


def design_effect(cluster: NDArray[np.int64], residuals: FloatArray) -> float:
    """By how much clusters widen the variance of a sum of residuals of mean 0; at least 1, and 1 without residuals."""
    alone = (residuals**2).sum()
    return max(1.0, float(np.nan_to_num(ratio((cluster_sums(cluster, residuals) ** 2).sum(), alone), nan=1.0)))


def wilson_at(estimate: float, worth: float, level: float, freedom: float = np.inf) -> tuple[float, float]:
    """Wilson's interval of a share known as well as from `worth` responses; no width at infinitely many.

    freedom: degrees of freedom of what `worth` is made from: a t quantile takes the normal one's place.
    """
    from scipy.special import stdtrit

    if not np.isfinite(worth) or worth >= MANY:
        return estimate, estimate
    if np.isfinite(freedom):
        # The interval depends on quantile² / n alone.
        quantile = stdtrit(max(freedom, 1.0), (1 + level) / 2)
        worth = worth * (normal_quantile(level) / quantile) ** 2
    low, high = wilson(estimate * worth, worth, level)
    return float(low), float(high)


def bounded(estimate: float, low: float, high: float, interval: str, note: str = "") -> Corrected:
    """The estimate and its interval within [0, 1], flagged where the estimate wasn't, and within its interval."""
    inside = float(np.clip(estimate, 0, 1))
    low, high = (float(np.clip(bound, 0, 1)) for bound in (low, high))
    outside = bool(estimate < -1e-12 or estimate > 1 + 1e-12)
    return Corrected(inside, min(low, inside), max(high, inside), outside, interval, note)
