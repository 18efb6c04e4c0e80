"""What a run of Snakemake says at its end."""

import os
from pathlib import Path

import pytest

from voirdire.study.matrix import Paths
from voirdire.study.run import Run


class OnlyPaths:
    """As much of a study as is needed here."""

    paths = Paths("results/small")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Run(OnlyPaths())
    log = Path("results/small/logs/grade/aime.log")
    log.parent.mkdir(parents=True)
    log.write_text("voirdire: took 1.50 s\n")
    return run


def test_time_per_stage_and_the_report_of_this_run(run):
    report = Path("results/small/report.html")
    report.touch()
    table, last = run.finish().rsplit("\n", 1)
    assert table.splitlines()[-1].split() == ["grade", "1", "1.5", "1.5"]
    assert last == "Report: results/small/report.html"
    os.utime(report, (1, 1))
    assert run.finish() == table, "an old report is none of this run's"
