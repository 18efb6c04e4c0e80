"""A study of a real model: config/local.yaml, with three questions and a server of the test's own."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from voirdire.models.local import NAME, LocalServer, weights

PROJECT = Path(__file__).resolve().parents[2]
JUDGES = {"smollm2_greedy", "smollm2_drawn"}


@pytest.fixture
def study(checkout):
    made = checkout()
    made.config = yaml.safe_load((PROJECT / "config" / "local.yaml").read_text())
    made.config["benchmarks"]["gsm8k"]["limit"] = 3
    # The one whose answers are shorter: each takes seconds.
    made.config["examinees"] = ["smollm2_drawn"]
    return made


def test_a_real_model_answers_and_judges_on_this_machine(study):
    with LocalServer(port=0) as server:
        for model in study.config["models"].values():
            model["endpoint"]["api_base"] = server.url
        output = study.snakemake("all").stdout
    assert "Report: results/local/report.html" in output

    results = study.folder / "results/local"
    ledger = pd.read_parquet(results / "tables/ledger.parquet")
    answers = ledger[ledger["stage"] == "generation"].set_index("examinee").loc["smollm2_drawn"]
    assert answers["n"] == 3
    assert answers["ok"] + answers["truncated"] == 3
    assert answers["ok"] > 0, "something was judged"

    # Whatever it said instead of a verdict is counted, and read as none.
    pairs = ledger[ledger["stage"] == "verdict"]
    assert set(pairs["judge"]) == JUDGES
    assert (pairs[["not_judged", "ok", "unparsed", "truncated"]].sum(axis=1) == 3).all()
    verdicts = pd.read_parquet(results / "verdicts.parquet")
    asked = verdicts[verdicts["generation_status"] == "ok"]
    assert set(asked["resolved_model"]) == {NAME}
    assert set(asked["cost_usd"]) == {0.0}
    assert not asked["simulated"].any()
    assert asked.loc[asked["status"] != "ok", "verdict"].isna().all()

    told = [path for path in results.rglob("*") if path.is_file() and bytes(weights().parent) in path.read_bytes()]
    assert told == [], "nothing tells where this machine keeps its weights"
