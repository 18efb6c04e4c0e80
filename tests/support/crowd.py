"""Judges that err independently, and crowd-kit's Dawid-Skene."""

import warnings
from itertools import product

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


def all_patterns(fpr, fnr, prevalence):
    """Every pattern of votes (patterns, judges), and how often it occurs with a right and with a wrong response."""
    votes = np.array(list(product([0.0, 1.0], repeat=len(fpr))))
    if_right, if_wrong = np.full(len(votes), prevalence), np.full(len(votes), 1 - prevalence)
    for judge, vote in enumerate(votes.T):
        if_right *= np.where(vote == 1, 1 - fnr[judge], fnr[judge])
        if_wrong *= np.where(vote == 1, fpr[judge], 1 - fpr[judge])
    return votes, if_right, if_wrong


def disagreement_limit(fpr, fnr, prevalence):
    """FPR, FNR and prevalence as they seem where the others' strict majority is taken for the truth."""
    votes, if_right, if_wrong = all_patterns(fpr, fnr, prevalence)
    p, half = if_right + if_wrong, (len(fpr) - 1) / 2
    limit_fpr, limit_fnr = np.zeros(len(fpr)), np.zeros(len(fpr))
    for judge in range(len(fpr)):
        accepting = np.delete(votes, judge, axis=1).sum(axis=1)
        wrong, right = accepting < half, accepting > half
        limit_fpr[judge] = p[wrong & (votes[:, judge] == 1)].sum() / p[wrong].sum()
        limit_fnr[judge] = p[right & (votes[:, judge] == 0)].sum() / p[right].sum()
    share = votes.mean(axis=1)
    return limit_fpr, limit_fnr, p[share > 0.5].sum() / p[share != 0.5].sum()


def crowd_kit(votes, n_iter):
    """P(right) of each response, NaN without votes, and fpr, fnr, by crowd-kit after so many rounds."""
    fitted = fit_crowd_kit(long(votes), n_iter)
    right = fitted.probas_[1].reindex(range(len(votes))).to_numpy()
    # What a judge has never said is not in its table.
    said = fitted.errors_[[0, 1]].unstack("label", fill_value=0).reindex(range(votes.shape[1]))
    return right, said[0, 1].to_numpy(), said[1, 0].to_numpy()


def fit_crowd_kit(frame, n_iter):
    """crowd-kit's model; its stopping rule would end long before convergence, and is turned off."""
    with warnings.catch_warnings():
        # It uses what pandas will drop, and imports nltk and scikit-learn, which warn.
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import DawidSkene

        return DawidSkene(n_iter=n_iter, tol=-np.inf).fit(frame)


def written_out(votes, counts, smoothing, n_iter):
    """Rates of Dawid and Skene's model, vote by vote: fpr, fnr (judges,) and prevalence after so many rounds."""
    voted = np.isfinite(votes)
    right = [np.mean(row[there]) if there.any() else 0.5 for row, there in zip(votes, voted, strict=True)]
    for round_ in range(n_iter + 1):
        # [judge][truth][vote], and responses by truth.
        said = np.full((votes.shape[1], 2, 2), float(smoothing))
        responses = np.full(2, float(smoothing))
        for row, share, count in zip(votes, right, counts, strict=True):
            if not np.isfinite(row).any():
                continue
            responses += count * np.array([1 - share, share])
            for judge, vote in enumerate(row):
                if np.isfinite(vote):
                    said[judge, :, int(vote)] += count * np.array([1 - share, share])
        said = np.maximum(said, 1e-10)
        share_of = said / said.sum(axis=2, keepdims=True)
        prior = responses / responses.sum()
        if round_ == n_iter:
            break
        for number, row in enumerate(votes):
            joint = prior.copy()
            for judge, vote in enumerate(row):
                if np.isfinite(vote):
                    joint *= share_of[judge, :, int(vote)]
            right[number] = joint[1] / joint.sum()
    return share_of[:, 0, 1], share_of[:, 1, 0], prior[1]


def long(votes):
    """A row per vote, as crowd-kit takes them."""
    task, worker = np.nonzero(np.isfinite(votes))
    return pd.DataFrame({"task": task, "worker": worker, "label": votes[task, worker].astype(int)})


def read_crowd(path):
    """Votes (items, judges) of a crowd's verdicts on items."""
    frame = pd.read_csv(path)
    return frame.pivot(index="item_id", columns="judge", values="verdict").to_numpy(float)
