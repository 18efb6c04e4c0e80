"""What does each judge add to the panel's verdict? The panel's accuracy less its accuracy without the judge.

The panel is the log-odds vote, which makes the best of each judge that errs independently of the others: one that adds
nothing to it has nothing to say that the others have not said, or says it so that the others' errors weigh double.
Rates and prevalence of a response's vote are those on all other items, so that no response votes with its own truth.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.panel.expectation import evidence_of
from voirdire.panel.votes import FLOOR, WEIGHTS, FloatArray, split
from voirdire.stats.bootstrap import SMALL_COUNT, Interval, effective_n, percentile
from voirdire.stats.intervals import paired_difference

# A judge that adds less to the accuracy adds nothing.
NOTHING = 0.005
# Weights are summed in whole numbers of it, so that no order counts.
_UNITS = 2.0**32


def gains(votes: ArrayLike, truth: ArrayLike, cluster: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Which responses the panel gets right, (responses,), and what each judge changes in that, (responses, judges).

    votes: (responses, judges), 1, 0 or NaN; truth: (responses,), 1 or 0; cluster: (responses,), items. A change is 1
    where the panel is right with the judge alone, -1 where it is right without it alone, else 0. A tie is "incorrect".
    """
    correct, incorrect = split(votes)
    right: FloatArray = np.asarray(truth, dtype=np.float64)
    item = np.unique(np.asarray(cluster), return_inverse=True)[1]
    for_correct, for_incorrect, prior = _weights_without(correct, incorrect, right, item)
    own = correct * for_correct[item] - incorrect * for_incorrect[item]
    logit = own.sum(axis=1) + prior[item]
    panel = ((logit > 0) == right).astype(np.float64)
    without = ((logit[:, None] - own > 0) == right[:, None]).astype(np.float64)
    return panel, panel[:, None] - without


def gains_by_model(votes: FloatArray, logit: FloatArray, fpr: FloatArray, fnr: FloatArray) -> FloatArray:
    """(responses, judges): what each judge adds to the accuracy that Dawid-Skene's model expects of itself.

    logit: (responses,), the model's log odds of right; fpr, fnr: (judges,). Never below 0: a model finds all it uses of
    use.
    """
    from scipy.special import expit

    correct, incorrect = split(votes)
    for_correct, against = np.split(evidence_of(fpr, fnr), 2)
    own = correct * for_correct + incorrect * against
    surplus = (2 * expit(logit) - 1)[:, None]
    changed = (logit > 0)[:, None].astype(np.float64) - (logit[:, None] - own > 0)
    gained: FloatArray = np.maximum(surplus * changed, 0.0)
    return gained


def mean_gain(changes: FloatArray, right: FloatArray, n: FloatArray, samples: FloatArray) -> Interval:
    """The mean change with its interval, of each judge, paired and clustered by item.

    changes: (2, judges, items), gains and losses, sums per item; right, n: (items,), responses that the whole panel
    gets right, and all; samples: (resamples, judges), the mean change in each bootstrap resample. Percentile interval,
    and where fewer than 40 items have a change Newcombe's for paired shares at the effective n ("paired"), which has a
    width even where nothing changed.
    """
    gained, lost = changes
    total = float(n.sum())
    estimate = (gained - lost).sum(axis=1) / total
    low, high, dropped = percentile(samples)
    moved = gained + lost
    n_moved = (moved > 0).sum(axis=1)
    effective = effective_n(moved, np.broadcast_to(n, moved.shape))
    scale = effective / total
    only_with, only_without = gained.sum(axis=1) * scale, lost.sum(axis=1) * scale
    both = float(right.sum()) * scale - only_with
    few_low, few_high = paired_difference(both, only_with, only_without, effective - both - only_with - only_without)
    few = n_moved < SMALL_COUNT
    return Interval(
        estimate,
        np.where(few, few_low, low),
        np.where(few, few_high, high),
        np.where(few, "paired", "percentile").astype(object),
        dropped,
    )


def _weights_without(
    correct: FloatArray, incorrect: FloatArray, right: FloatArray, item: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each item the weights (items, judges) and the prior (items,) that all other items give, in whole units."""
    n_items = int(item.max(initial=-1)) + 1

    def others(values: FloatArray) -> FloatArray:
        by_item = np.zeros((n_items, values.shape[1]))
        np.add.at(by_item, item, values)
        without: FloatArray = by_item.sum(axis=0) - by_item
        return without

    is_right = right[:, None]
    accepted_wrong, rejected_wrong = others(correct * (1 - is_right)), others(incorrect * (1 - is_right))
    accepted_right, rejected_right = others(correct * is_right), others(incorrect * is_right)
    fpr = (accepted_wrong + 1) / (accepted_wrong + rejected_wrong + 2)
    fnr = (rejected_right + 1) / (accepted_right + rejected_right + 2)
    n_right, n_wrong = others(is_right)[:, 0], others(1 - is_right)[:, 0]
    share = np.clip((n_right + 1) / (n_right + n_wrong + 2), FLOOR, 1 - FLOOR)
    for_correct, for_incorrect = WEIGHTS["log_odds"](fpr, fnr, FLOOR)
    whole = [np.rint(values * _UNITS) for values in (for_correct, for_incorrect, np.log(share) - np.log1p(-share))]
    return whole[0], whole[1], whole[2]
