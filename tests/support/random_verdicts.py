"""Random tables of verdicts, awkward ones included: what the references are tried on."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

MODELS = ("ann", "bob", "cas", "dee")
COLUMNS = ("condition", "template", "label", "trial", "task", "item_id", "judge", "examinee")


@dataclass(frozen=True)
class Shape:
    """What a table is drawn from. right and accepts are shares; missing, failed and ungraded ones too."""

    seed: int = 0
    n_items: int = 6
    judges: tuple[str, ...] = MODELS[:3]
    examinees: tuple[str, ...] = MODELS[:3]
    tasks: tuple[str, ...] = ("aime", "gsm8k")
    conditions: tuple[tuple[str, str, str | None], ...] = (("blind", "default", None),)
    trials: int = 1
    right: float = 0.6
    accepts: float = 0.6
    missing: float = 0.2
    failed: float = 0.1
    ungraded: float = 0.05
    items_per_cluster: int = 1


CONDITIONS = (("blind", "default", None), ("elite", "default", "elite"), ("reason", "reason", None))


def shapes() -> st.SearchStrategy[Shape]:
    """Shapes that a study or an audit may have: one judge, one examinee, one task, n = 2, all right, all wrong …"""
    some = st.sampled_from([MODELS[:1], MODELS[:2], MODELS[1:3], MODELS[:3], MODELS])
    share = st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0])
    return st.builds(
        Shape,
        seed=st.integers(0, 2**20),
        n_items=st.sampled_from([1, 2, 3, 5, 8]),
        judges=some,
        examinees=some,
        tasks=st.sampled_from([("aime",), ("aime", "gsm8k"), ("aime", "gsm8k", "mbpp")]),
        conditions=st.sampled_from([CONDITIONS[:1], CONDITIONS[:2], CONDITIONS]),
        trials=st.sampled_from([1, 1, 2, 3]),
        right=share,
        accepts=share,
        missing=st.sampled_from([0.0, 0.2, 0.6]),
        failed=st.sampled_from([0.0, 0.1, 0.5]),
        ungraded=st.sampled_from([0.0, 0.2]),
        items_per_cluster=st.sampled_from([1, 1, 3]),
    )


def verdicts_of(shape: Shape) -> pd.DataFrame:
    """The table; rows are missing at random, in which a whole task, judge, condition or trial may vanish."""
    rng = np.random.default_rng(shape.seed)
    numbers = range(shape.n_items)
    keys = [(task, f"item-{i}", examinee) for task in shape.tasks for i in numbers for examinee in shape.examinees]
    answers = pd.DataFrame(keys, columns=["task", "item_id", "examinee"])
    n = len(answers)
    answers["truth"] = pd.array(rng.random(n) < shape.right, dtype="boolean")
    answers["generation_status"] = np.where(rng.random(n) < shape.failed / 2, "truncated", "ok")
    answers.loc[(rng.random(n) < shape.ungraded) | (answers["generation_status"] != "ok"), "truth"] = pd.NA
    answers["response_chars"] = rng.integers(1, 1000, n)
    # Few answers, so that some wrong ones are the same.
    answers["answer"] = pd.array(rng.choice(["12", "15", None], n, p=[0.4, 0.4, 0.2]), dtype="string")
    answers["cluster"] = "program-" + (answers["item_id"].str[5:].astype(int) // shape.items_per_cluster).astype(str)
    asked = pd.DataFrame(shape.conditions, columns=["condition", "template", "label"]).merge(
        pd.MultiIndex.from_product([shape.judges, range(shape.trials)], names=["judge", "trial"]).to_frame(index=False),
        how="cross",
    )
    frame = answers.merge(asked, how="cross")
    n = len(frame)
    frame["status"] = np.where(rng.random(n) < shape.failed, rng.choice(["unparsed", "refused"], n), "ok")
    frame["status"] = frame["status"].where(frame["generation_status"] == "ok", None)
    frame["verdict"] = pd.array(rng.random(n) < shape.accepts, dtype="boolean")
    frame.loc[(frame["status"] != "ok").fillna(True), "verdict"] = pd.NA
    frame["simulated"] = False
    kept = rng.random(n) >= shape.missing
    # A row may lack the truth that another row of the same response knows.
    frame.loc[rng.random(n) < shape.ungraded / 4, "truth"] = pd.NA
    return frame[kept].reset_index(drop=True)
