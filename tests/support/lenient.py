"""Panels whose judges accept wrong responses for planted reasons."""

import numpy as np
import pandas as pd

ABILITY = np.array([0.35, 0.45, 0.55, 0.65, 0.75, 0.85])
MODELS = ("ann", "bob", "cas", "dee", "eve", "fay")
FAMILIES = dict(zip(MODELS, ("a", "a", "b", "b", "c", "c"), strict=True))
# How much likelier the items' difficulty makes a wrong response, and what stands for the item in the verdict's logit.
_HARD, _BASE = 1.2, -1.0


def panel(n_items, seed, slope=0.0, difficulty=0.0, own=0.0, length=0.0, response=0.0, task="gsm8k"):
    """Verdicts of six judges on the responses of six examinees, who are the judges.

    The log-odds of accepting a wrong response grow by `slope` per 0.1 of the examinee's accuracy on these items, by
    `difficulty` per standard deviation of the item's, by `own` where the judge is the examinee, by `length` per
    doubling; `response` is the standard deviation of what each response adds for all judges. Right responses are
    accepted 9 times of 10.
    """
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n_items)
    ability = 1.3 * np.log(ABILITY / (1 - ABILITY))
    right = rng.random((n_items, 6)) < 1 / (1 + np.exp(-(ability - _HARD * hard[:, None])))
    chars = np.rint(400 * 2 ** rng.normal(0, 0.6, (n_items, 6)))
    plausible = rng.normal(0, response, (n_items, 6)) + length * np.log2(chars / 400)
    accuracy = right.mean(axis=0)
    logit = _BASE + slope * (accuracy - 0.6) / 0.1 + difficulty * hard[:, None] + plausible
    judges = np.linspace(-0.4, 0.4, 6)[:, None, None] + own * np.eye(6)[:, None, :] + logit
    accepted = rng.random((6, n_items, 6)) < np.where(right, 0.9, 1 / (1 + np.exp(-judges)))
    judge, item, examinee = (axis.ravel() for axis in np.indices(accepted.shape))
    names = np.array(MODELS, dtype=object)
    return pd.DataFrame(
        {
            "task": task,
            "item_id": [f"item-{number}" for number in item],
            "judge": names[judge],
            "examinee": names[examinee],
            "verdict": accepted.ravel(),
            "truth": right[item, examinee],
            "response_chars": chars[item, examinee],
        }
    )
