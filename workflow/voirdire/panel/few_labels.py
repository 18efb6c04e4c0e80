"""Verdicts of known truth as people have them: with the truth of few responses."""

import numpy as np
import pandas as pd

from voirdire.errors import UserError
from voirdire.stats.bootstrap import task_seed

_RESPONSE = ["item_id", "examinee"]


def with_few_labels(verdicts: pd.DataFrame, n_labels: int, seed: int = 0) -> pd.DataFrame:
    """The verdicts with all truths hidden but those of `n_labels` random responses of each task, or of all it has.

    verdicts: a VERDICTS table; a response's verdicts, of all judges and trials, keep or lose its truth together. What
    is drawn depends on the seed and the task's own responses, not on the order of rows. Raises UserError for fewer than
    no labels.
    """
    if n_labels < 0:
        raise UserError(f"n_labels: {n_labels} is below 0")
    known = verdicts[verdicts["truth"].notna().to_numpy(dtype=bool)]
    drawn = []
    for task, rows in known.groupby("task", sort=True):
        responses = rows[_RESPONSE].drop_duplicates().sort_values(_RESPONSE)
        chosen = np.random.default_rng(task_seed(seed, str(task))).permutation(len(responses))[:n_labels]
        drawn.append(responses.iloc[np.sort(chosen)].assign(task=task))
    if not drawn:
        return verdicts
    labelled = pd.MultiIndex.from_frame(pd.concat(drawn)[["task", *_RESPONSE]])
    seen = pd.MultiIndex.from_frame(verdicts[["task", *_RESPONSE]]).isin(labelled)
    return verdicts.assign(truth=verdicts["truth"].where(seen))
