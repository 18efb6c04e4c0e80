"""Panels of verdicts with known true rates, many panels at once: counts per panel and item, (panels, items).

On a share `agreement` of the items all verdicts are alike, so decided by one draw of the item; on the others every
verdict is drawn for itself. Two verdicts on one item then correlate by `agreement`, and the true rate is `share`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Items:
    """n items with up to `size` verdicts each: all of them, or 1 … size by chance if not `even`."""

    n: int
    size: int = 1
    agreement: float = 0.0
    even: bool = True

    def trials(self, rng, panels):
        if self.even:
            return np.full((panels, self.n), self.size)
        return rng.integers(1, self.size + 1, (panels, self.n))

    def worth(self):
        """The number of independent verdicts that these are worth."""
        sizes = np.array([self.size]) if self.even else np.arange(1, self.size + 1)
        repeats = (sizes**2).mean() / sizes.mean()
        return self.n * sizes.mean() / (1 + (repeats - 1) * self.agreement)

    def shares(self, rng, draws, share):
        """Each item's own probability; draws: uniform, (panels, items), by which decided items are decided."""
        decided = rng.random(draws.shape) < self.agreement
        return np.where(decided, draws < share, share)


def one_rate(rng, panels, items, share):
    """(hits, trials) of one rate."""
    trials = items.trials(rng, panels)
    hits = rng.binomial(trials, items.shares(rng, rng.random(trials.shape), share))
    return hits.astype(float), trials.astype(float)


def beta_rate(rng, panels, items, share):
    """The same with item probabilities from a beta distribution, so that verdicts agree more on some items than others.

    agreement must lie between 0 and 1, without them.
    """
    trials = items.trials(rng, panels)
    strength = 1 / items.agreement - 1
    hits = rng.binomial(trials, rng.beta(share * strength, (1 - share) * strength, trials.shape))
    return hits.astype(float), trials.astype(float)


def two_rates(rng, panels, items, shares, together=0):
    """((hits, trials), (hits, trials)) of two rates of the same items, as FPR and FNR are: half the verdicts each.

    together: 1 where what is accepted wrongly is rejected wrongly too, −1 for the opposite, 0 for neither.
    """
    trials = items.trials(rng, panels)
    first_n = rng.binomial(trials, 0.5)
    draws = rng.random(trials.shape)
    others = {1: draws, -1: 1 - draws, 0: rng.random(trials.shape)}[together]
    sides = []
    for n, draw, share in ((first_n, draws, shares[0]), (trials - first_n, others, shares[1])):
        sides.append((rng.binomial(n, items.shares(rng, draw, share)).astype(float), n.astype(float)))
    return sides


def paired_rates(rng, panels, items, shares, kept=0.7):
    """((hits, trials), (hits, trials)) of the same responses judged twice; a share `kept` keeps its draw."""
    trials = items.trials(rng, panels)
    sizes = (*trials.shape, items.size)
    judged = np.arange(items.size) < trials[..., None]
    decided = (rng.random(trials.shape) < items.agreement)[..., None]
    alike = rng.random(trials.shape)[..., None]
    draw = np.where(decided, alike, rng.random(sizes))
    again = np.where(decided | (rng.random(sizes) < kept), draw, rng.random(sizes))
    hits = [
        ((side < share) & judged).sum(axis=2).astype(float) for side, share in ((draw, shares[0]), (again, shares[1]))
    ]
    return [(side, trials.astype(float)) for side in hits]


def judges_before_and_after(rng, panels, items, judges, shares, kept=0.7):
    """`paired_rates` of several judges on the same responses: arrays (panels, judges, items); judges agree by half."""
    alike = rng.random((panels, 1, items.n, items.size))
    shape = (panels, judges, items.n, items.size)
    draw = np.where(rng.random(shape) < 0.5, alike, rng.random(shape))
    again = np.where(rng.random(shape) < kept, draw, rng.random(shape))
    hits = [(side < share).sum(axis=3).astype(float) for side, share in ((draw, shares[0]), (again, shares[1]))]
    return hits, np.full((panels, judges, items.n), float(items.size))


def lengths(rng, panels, items, accepted, d, per_item=0.5):
    """Moments of the lengths of accepted and rejected responses, (panels, items) each: number, sum, squares, twice.

    Lengths are normal with standard deviation 1, of whose variance the item makes up `per_item`; a share `accepted` of
    the responses is accepted, and these are longer by d.
    """
    trials = items.trials(rng, panels)
    shape = (*trials.shape, items.size)
    judged = np.arange(items.size) < trials[..., None]
    own, shared = rng.normal(size=shape), rng.normal(size=trials.shape)[..., None]
    length = np.sqrt(per_item) * shared + np.sqrt(1 - per_item) * own
    taken = rng.random(shape) < accepted
    length = length + d * taken
    moments = []
    for side in (taken & judged, ~taken & judged):
        moments += [(side * length**power).sum(axis=2).astype(float) for power in (0, 1, 2)]
    return moments
