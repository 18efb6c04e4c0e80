"""The whole study with the panel behind HTTP: every model is called, and nothing comes out differently for it."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from panel_server import called, panel_server, panel_texts

from voirdire.study.config import parse
from voirdire.study.study import Study

# What tells of a call, or that there was none. The notes of claims say what is planted in simulated models.
OF_CALLS = ["simulated", "finish_reason", "sent", "prompt_tokens", "completion_tokens", "cost_usd", "latency_s"]
OF_CALLS += ["resolved_model", "request_key", "note"]


def files(checkout, *endings):
    """The study's files by their paths, without logs."""
    folder = checkout.folder / "results" / "small"
    paths = [path for path in folder.rglob("*") if path.suffix in endings and "logs" not in path.parts]
    return {str(path.relative_to(folder)): path for path in paths}


def table(path: Path) -> pd.DataFrame:
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    return frame.drop(columns=OF_CALLS, errors="ignore")


def words(path: Path) -> str:
    """All that a figure says, its numbers included, but that it is simulated."""
    said = " ".join(re.findall(r">([^<]*)</text>", path.read_text()))
    return " ".join(said.replace("(simulated panel)", "").split())


@pytest.mark.slow
def test_the_whole_study_over_http_gives_the_tables_and_figures_of_the_bulk_run(finished, tmp_path):
    study = finished.copy(tmp_path / "called")
    shutil.rmtree(study.folder / "results")
    texts = panel_texts(Study(parse(finished.config), "config/prompts"), finished.folder)
    with panel_server(texts) as server:
        study.config = called(study.config, server.url)
        study.snakemake("all")
        asked = [(request.model, request.prompt) for request in server.requests]
    # Every prompt is asked once, and none that the panel wouldn't know.
    assert sorted(asked) == sorted(texts)

    tables, expected = files(study, ".parquet", ".csv"), files(finished, ".parquet", ".csv")
    assert tables.keys() == expected.keys()
    for name, path in tables.items():
        pd.testing.assert_frame_equal(table(path), table(expected[name]), check_exact=True, obj=name)
    assert not pd.read_parquet(tables["verdicts.parquet"])["simulated"].any()

    figures, expected = files(study, ".svg"), files(finished, ".svg")
    assert figures.keys() == expected.keys()
    assert {name: words(path) for name, path in figures.items()} == {n: words(p) for n, p in expected.items()}
    assert "(simulated" not in (study.folder / "results" / "small" / "report.html").read_text()
