"""A made study of six models with planted rates."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest

JUDGES = tuple(f"model{number}" for number in range(6))
ABILITY = {"gsm8k": np.linspace(0.70, 0.95, 6), "aime": np.linspace(0.20, 0.80, 6)}


def make_verdicts(n_items: Mapping[str, int], leniency: float = 0.8, seed: int = 0) -> pd.DataFrame:
    """Verdicts of six models on each other: a judge that can solve the item tells right from wrong, one that cannot
    accepts with probability `leniency`, independently."""
    rng = np.random.default_rng(seed)
    parts = []
    for task, n in n_items.items():
        right = rng.random((n, 6)) < ABILITY[task]  # item, examinee
        solves = rng.random((n, 6, 6)) < ABILITY[task]  # item, examinee, judge
        verdict = np.where(solves, right[..., None], rng.random((n, 6, 6)) < leniency)
        item, examinee, judge = (index.ravel() for index in np.indices((n, 6, 6)))
        parts.append(
            pd.DataFrame(
                {
                    "task": task,
                    "item_id": [f"{task}-{number:04d}" for number in item],
                    "examinee": np.array(JUDGES)[examinee],
                    "judge": np.array(JUDGES)[judge],
                    "verdict": verdict.ravel(),
                    "truth": np.repeat(right.ravel(), 6),
                }
            )
        )
    fixed = {"condition": "blind", "trial": 0, "status": "ok", "generation_status": "ok", "simulated": True}
    return pd.concat(parts, ignore_index=True).assign(**fixed)


@pytest.fixture(scope="session")
def make() -> Callable[..., pd.DataFrame]:
    return make_verdicts


@pytest.fixture(scope="session")
def verdicts() -> pd.DataFrame:
    return make_verdicts({"gsm8k": 60, "aime": 30})
