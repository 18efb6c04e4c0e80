"""Panels whose judges share errors: by a factor, in groups, or by one blind spot."""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal


def factor_panel(n, fpr, fnr, correlation, prevalence=0.6, groups=None, gaps=0.0, seed=0):
    """Votes (n, judges) and truth (n,): errors are where correlated normal variables fall below a quantile.

    groups: (judges,), numbers; judges of one group share a factor, those of different ones none.
    """
    rng = np.random.default_rng(seed)
    fpr, fnr = np.asarray(fpr, float), np.asarray(fnr, float)
    truth = (rng.random(n) < prevalence).astype(float)
    group = np.zeros(len(fpr), int) if groups is None else np.asarray(groups)
    factor = rng.normal(size=(n, group.max() + 1))[:, group]
    own = rng.normal(size=(n, len(fpr)))
    errs = np.sqrt(correlation) * factor + np.sqrt(1 - correlation) * own < ndtri(
        np.where(truth[:, None] == 1, fnr, fpr)
    )
    votes = np.where(errs, 1 - truth[:, None], truth[:, None])
    votes[rng.random(votes.shape) < gaps] = np.nan
    return votes, truth


def phi(first, second, correlation):
    """The correlation of two errors of these rates whose normal variables are correlated so."""
    both = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]]).cdf([ndtri(first), ndtri(second)])
    return (both - first * second) / np.sqrt(first * (1 - first) * second * (1 - second))


def blind_spot_panel(n, n_judges, fpr=0.1, fnr=0.1, prevalence=0.6, share=0.5, spread=0.3, seed=0):
    """All judges accept this share of the wrong responses like right ones, and err independently otherwise."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    looks = truth | (rng.random(n) < share)
    rates = ndtr(ndtri([[fpr], [fnr]]) + spread * rng.normal(size=(2, n_judges)))
    votes = (rng.random((n, n_judges)) < np.where(looks[:, None], 1 - rates[1], rates[0])).astype(float)
    return votes, truth.astype(float)


def varied_panel(n, n_judges, fpr, fnr, prevalence=0.6, gaps=0.0, spread=0.5, seed=0):
    """Judges of different rates around these that err independently."""
    rates = ndtr(ndtri([[fpr], [fnr]]) + spread * np.random.default_rng([seed, 1]).normal(size=(2, n_judges)))
    return factor_panel(n, *rates, 0.0, prevalence, gaps=gaps, seed=seed)


def verdict_table(votes, truth, task="t", judges=None, cluster=None, **columns):
    """A table of verdicts, a row per vote that there is."""
    import pandas as pd

    row, judge = np.nonzero(np.isfinite(votes))
    names = np.array(judges or [f"j{number:02d}" for number in range(votes.shape[1])], dtype=object)
    frame = pd.DataFrame({"task": task, "item_id": [f"i{number:05d}" for number in row], "judge": names[judge]})
    frame = frame.assign(verdict=votes[row, judge] == 1, truth=np.asarray(truth)[row], examinee="-", **columns)
    return frame if cluster is None else frame.assign(cluster=np.asarray(cluster)[row])
