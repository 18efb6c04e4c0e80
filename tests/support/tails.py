"""Intervals of a proportion, straight from their definition, by binomial probabilities and root-finding."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom


def tails_interval(hits, n, level=0.95, tie=0.7):
    """The shares at which the tail with `tie` times the count seen is half of 1 − level; counts are whole."""
    tail = (1 - level) / 2

    def above(share):
        return binom.sf(hits, n, share) + tie * binom.pmf(hits, n, share) - tail

    def below(share):
        return binom.cdf(hits - 1, n, share) + tie * binom.pmf(hits, n, share) - tail

    low = brentq(above, 0, 1, xtol=1e-14) if hits > 0 else 0.0
    high = brentq(below, 0, 1, xtol=1e-14) if hits < n else 1.0
    return low, high


def squares_added(first, second):
    """Interval of the difference of two proportions (hits, n) from the intervals of each."""
    (low1, high1), (low2, high2) = tails_interval(*first), tails_interval(*second)
    p1, p2 = first[0] / first[1], second[0] / second[1]
    return p1 - p2 - np.hypot(p1 - low1, high2 - p2), p1 - p2 + np.hypot(high1 - p1, p2 - low2)
