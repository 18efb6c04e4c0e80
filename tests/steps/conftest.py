"""A step called as a rule would call it, and small studies and verdicts to call it with."""

import numpy as np
import pandas as pd
import pytest

from voirdire.study.config import parse
from voirdire.study.study import Study
from voirdire.tables import VERDICTS, write_table

JUDGES = ("chough", "larch", "rook")


@pytest.fixture
def called(monkeypatch):
    """Runs a step's `main` with arguments as a rule would give them."""

    def call(step, **options):
        argv = ["step"]
        for name, value in options.items():
            values = value if isinstance(value, list) else [value]
            argv += [f"--{name.replace('_', '-')}", *map(str, values)]
        monkeypatch.setattr("sys.argv", argv)
        step()

    return call


@pytest.fixture
def study():
    """Makes a study of three personas, of which only names and settings matter here."""

    def make(tasks=("gsm8k", "aime"), **changes):
        persona = {"family": "x", "ability": dict.fromkeys(tasks, 0.5)}
        config = {
            "study": "small",
            "benchmarks": {task: {} for task in tasks},
            "models": {name: {"model": f"simulated/{name}", "family": "x"} for name in JUDGES},
            "personas": dict.fromkeys(JUDGES, persona),
            "examinees": list(JUDGES),
            "judges": list(JUDGES),
            "bootstrap": {"resamples": 100},
            "drift": {"weeks": 3, "per_week": 4, "labels_per_week": 2, "seeds": 5},
            "prior_sweep": {"fpr": [0.4], "fnr": [0.2], "strength": [1, 10]},
        }
        return Study(parse(config | changes), "prompts")

    return make


@pytest.fixture
def verdicts(tmp_path):
    """Writes a table of verdicts with so many items per task, under two conditions, and returns its path."""

    def write(**n_items):
        rng = np.random.default_rng(0)
        rows = [
            {
                "condition": condition,
                "template": "default",
                "label": None if condition == "blind" else condition,
                "trial": 0,
                "task": task,
                "item_id": f"{task}{number}",
                "judge": judge,
                "examinee": examinee,
                "generation_status": "ok",
                "status": "ok",
                "verdict": bool(rng.random() < 0.5),
                "truth": number % 2 == 0,
                "response_chars": 10 + number,
                "simulated": True,
            }
            for condition in ("blind", "elite")
            for task, n in n_items.items()
            for number in range(n)
            for judge in JUDGES
            for examinee in JUDGES
        ]
        path = tmp_path / "verdicts.parquet"
        write_table(pd.DataFrame(rows, columns=VERDICTS.names, dtype=object), path, VERDICTS)
        return path

    return write
