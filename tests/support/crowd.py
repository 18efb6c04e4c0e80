"""Judges that err independently, and crowd-kit's Dawid-Skene."""

import warnings

import numpy as np
import pandas as pd


def independent_panel(n, fpr, fnr, prevalence=0.6, gaps=0.0, seed=0, batch=()):
    """Votes (*batch, n, judges) of judges that err independently, and the truth (*batch, n)."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((*batch, n)) < prevalence).astype(float)
    accepts = np.where(truth[..., None] == 1, 1 - np.asarray(fnr), np.asarray(fpr))
    votes = (rng.random((*batch, n, len(fpr))) < accepts).astype(float)
    votes[rng.random(votes.shape) < gaps] = np.nan
    return votes, truth


def crowd_kit(votes, n_iter):
    """P(right) of each response, NaN without votes, and fpr, fnr, by crowd-kit after so many rounds.

    Its stopping rule would end long before convergence, and is turned off.
    """
    with warnings.catch_warnings():
        # What it imports, nltk and scikit-learn among it, warns.
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import DawidSkene

        fitted = DawidSkene(n_iter=n_iter, tol=-np.inf).fit(long(votes))
    right = fitted.probas_[1].reindex(range(len(votes))).to_numpy()
    # What a judge has never said is not in its table.
    said = fitted.errors_[[0, 1]].unstack("label", fill_value=0).reindex(range(votes.shape[1]))
    return right, said[0, 1].to_numpy(), said[1, 0].to_numpy()


def long(votes):
    """A row per vote, as crowd-kit takes them."""
    task, worker = np.nonzero(np.isfinite(votes))
    return pd.DataFrame({"task": task, "worker": worker, "label": votes[task, worker].astype(int)})


def read_crowd(path):
    """Votes (items, judges) of a crowd's verdicts on items."""
    frame = pd.read_csv(path)
    return frame.pivot(index="item_id", columns="judge", values="verdict").to_numpy(float)
