"""Do labels bear out what Dawid-Skene says of the judges? Their mean votes among right and among wrong responses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.dawid_skene import Fit, posterior_logit
from voirdire.panel.votes import FloatArray
from voirdire.stats.arrays import ratio

# Label-free rates are usable where labels show that the mean FPR and FNR are off by less.
MARGIN = 0.1
# Fewer labelled items of a class say nothing.
FEWEST = 5
# Rates are called off by mistake in 5 %, though there are two classes to look at. For rates to be called right either
# bound may err in 5 %, and both classes must pass.
_LEVEL_OFF, _LEVEL_WITHIN, _LEVEL_SHOWN = 0.975, 0.9, 0.95


@dataclass(frozen=True)
class Gap:
    """How much more often labelled responses of a class are accepted than Dawid-Skene's rates predict.

    estimate: mean difference of the share of "correct" votes, NaN without such responses; error: its standard error,
    NaN below 2 items; share, predicted: the two means; n, n_items: labelled responses and items that have votes;
    bounds: the one-sided 95 % bounds of the difference with one response more, on an item of its own: one that nobody
    accepts for the lower bound, one that everybody accepts for the upper.
    """

    estimate: float = np.nan
    error: float = np.nan
    share: float = np.nan
    predicted: float = np.nan
    n: int = 0
    n_items: int = 0
    bounds: tuple[float, float] = (np.nan, np.nan)

    def interval(self, level: float = _LEVEL_SHOWN) -> tuple[float, float]:
        """t interval of the difference, with as many degrees of freedom as items less one; NaN below 2 items."""
        return _interval(self.estimate, self.error, self.n_items, level)

    @property
    def off(self) -> bool:
        """Whether the rates are shown to be off (97.5 % interval), and by more than the margin as estimated."""
        low, high = self.interval(_LEVEL_OFF)
        return self.n_items >= FEWEST and not low <= 0 <= high and abs(self.estimate) > MARGIN

    @property
    def within(self) -> bool:
        """Whether the difference is shown to be within the margin (90 % interval: two one-sided tests of 5 %).

        It must be so with the worst response added, too: of a blind spot that holds a seventh of a class, few labels
        often hold none, and their spread knows nothing of it. By the t interval alone a true gap of .107 to .125 was
        called within the margin in 12 to 22 % of draws.
        """
        low, high = self.interval(_LEVEL_WITHIN)
        lowest, highest = min(low, self.bounds[0]), max(high, self.bounds[1])
        return self.n_items >= FEWEST and lowest > -MARGIN and highest < MARGIN


def gap(votes: ArrayLike, labels: ArrayLike, cluster: ArrayLike, fitted: Fit, right: bool) -> Gap:
    """Compare the labelled responses that are right (or wrong) with the rates that were fitted without labels.

    votes: (responses, judges), 1, 0 or NaN; labels: (responses,), 1, 0 or NaN; cluster: (responses,), numbers of items.
    A response is predicted the mean of its voters' FPR (or 1 - FNR). The mean's standard error is from items' sums
    (Kish 1965, Survey Sampling, 6.3), and no smaller than that of as many independent responses in which the model
    holds, so that equal shares of few responses are no proof.
    """
    cast: FloatArray = np.asarray(votes, dtype=np.float64)
    chosen = (np.asarray(labels, dtype=np.float64) == right) & np.isfinite(cast).any(axis=1)
    cast = cast[chosen]
    voted = np.isfinite(cast)
    rate = 1 - fitted.fnr if right else fitted.fpr
    accepted, n_votes = np.where(voted, cast, 0.0).sum(axis=1), voted.sum(axis=1)
    predicted = ratio(np.where(voted, rate, 0.0).sum(axis=1), n_votes)
    shares, n = ratio(accepted, n_votes), len(cast)
    by_model = ratio(np.where(voted, rate * (1 - rate), 0.0).sum(axis=1), n_votes.astype(np.float64) ** 2)
    item = np.unique(np.asarray(cluster)[chosen], return_inverse=True)[1]
    n_items = int(item.max(initial=-1)) + 1
    if not n:
        return Gap()
    usual = float(predicted.mean())
    estimate, error = _mean(shares - predicted, by_model, item)
    bounds = []
    for place, worst in enumerate((0.0, 1.0)):
        added = (
            np.append(shares - predicted, worst - usual),
            np.append(by_model, by_model.mean()),
            np.append(item, n_items),
        )
        bounds.append(_interval(*_mean(*added), n_items + 1, _LEVEL_WITHIN)[place])
    return Gap(estimate, error, float(shares.mean()), usual, n, n_items, (bounds[0], bounds[1]))


def _mean(difference: FloatArray, by_model: FloatArray, item: NDArray[np.int64]) -> tuple[float, float]:
    """Mean (responses,) and its standard error, NaN below 2 items; by_model: the variances if the model holds."""
    n, n_items = len(difference), int(item.max()) + 1
    mean = float(difference.mean())
    if n_items < 2:
        return mean, np.nan
    sums = np.bincount(item, difference - mean)
    seen = float((sums**2).sum()) * n_items / (n_items - 1)
    return mean, max(seen, float(by_model.sum())) ** 0.5 / n


def _interval(estimate: float, error: float, n_items: int, level: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    half = float(stdtrit(max(n_items - 1, 1), (1 + level) / 2)) * error
    return estimate - half, estimate + half


def mirrored(votes: FloatArray, labels: FloatArray, fitted: Fit) -> bool:
    """Whether the model holds the labelled wrong responses for right more than the right ones.

    The mean votes can't tell where as many judges are turned round as not: their gaps cancel out.
    """
    logit = posterior_logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence)
    wrong, right = (logit[labels == label] for label in (0, 1))
    return bool(len(wrong) and len(right) and np.median(wrong) > np.median(right))
