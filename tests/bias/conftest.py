"""Tables of verdicts made from a few words."""

import numpy as np
import pandas as pd
import pytest


def _table(**columns):
    """A verdicts frame; columns not given have one plain value."""
    n = max(len(values) for values in columns.values() if not isinstance(values, str))
    plain = {
        "condition": "blind",
        "template": "default",
        "label": None,
        "trial": 0,
        "task": "gsm8k",
        "item_id": [f"item-{i}" for i in range(n)],
        "judge": "ann",
        "examinee": "bob",
        "generation_status": "ok",
        "status": "ok",
        "response_chars": 100,
        "simulated": False,
    }
    return pd.DataFrame({**plain, **columns}, index=range(n))


def _random_table(seed, n_items=12, models=("ann", "bob", "cas", "dee"), tasks=("aime", "gsm8k"), missing=0.2):
    """Random verdicts of every judge on every examinee, with rows missing and calls that failed."""
    rng = np.random.default_rng(seed)
    keys = [(t, f"item-{i}", e) for t in tasks for i in range(n_items) for e in models]
    frame = pd.DataFrame(keys, columns=["task", "item_id", "examinee"])
    frame["truth"] = pd.array(rng.random(len(frame)) < 0.6, dtype="boolean")
    frame["generation_status"] = rng.choice(["ok", "truncated"], len(frame), p=[0.95, 0.05])
    frame.loc[frame["generation_status"] != "ok", "truth"] = pd.NA
    frame = frame.merge(pd.DataFrame({"judge": models}), how="cross")
    frame["status"] = rng.choice(["ok", "unparsed", "refused"], len(frame), p=[0.9, 0.05, 0.05])
    frame.loc[frame["generation_status"] != "ok", "status"] = None
    frame["verdict"] = pd.array(rng.random(len(frame)) < 0.7, dtype="boolean")
    frame.loc[frame["status"] != "ok", "verdict"] = pd.NA
    frame = frame[rng.random(len(frame)) >= missing].reset_index(drop=True)
    return frame.assign(condition="blind", template="default", label=None, trial=0, simulated=False)


@pytest.fixture(scope="session")
def table():
    return _table


@pytest.fixture(scope="session")
def random_table():
    return _random_table
