"""Names that Snakemake is told are those that the library makes; generated files agree with the code."""

from pathlib import Path

from voirdire.report.gallery import drawings
from voirdire.report.paper_tables import PAPER_TABLES as BUILT
from voirdire.study.outputs import PAPER_TABLES, figure_names
from voirdire.study.schema import README, SCHEMA, readme_text, schema_text
from voirdire.study.timing import time_per_stage

PROJECT = Path(__file__).resolve().parents[2]


def test_figures_are_those_that_are_drawn():
    assert figure_names(["gsm8k", "aime"]) == [drawing.stem for drawing in drawings(["gsm8k", "aime"])]


def test_paper_tables_are_those_that_are_built():
    assert list(PAPER_TABLES) == [table.stem for table in BUILT.values()]


def test_the_schema_is_the_codes():
    assert (PROJECT / SCHEMA).read_text() == schema_text(), "run: make schema"


def test_the_description_of_the_configuration_is_the_codes():
    assert (PROJECT / README).read_text() == readme_text(), "run: make schema"


def test_time_is_summed_per_stage(tmp_path):
    (tmp_path / "judge" / "blind").mkdir(parents=True)
    (tmp_path / "judge" / "blind" / "a.log").write_text("voirdire: took 1.50 s\n")
    (tmp_path / "judge" / "blind" / "b.log").write_text("a warning\nvoirdire: took 2.25 s\n")
    (tmp_path / "metrics.log").write_text("voirdire: took 0.75 s\n")
    (tmp_path / "failed.log").write_text("error: no\n")
    rows = [line.split() for line in time_per_stage(tmp_path).splitlines()]
    assert ["judge", "2", "3.8", "2.2"] in rows
    assert ["metrics", "1", "0.8", "0.8"] in rows
    assert len(rows) == 3


def test_a_run_without_jobs_says_so(tmp_path):
    assert time_per_stage(tmp_path) == "Nothing had to be done."


def test_old_logs_are_not_of_this_run(tmp_path):
    (tmp_path / "metrics.log").write_text("voirdire: took 0.75 s\n")
    later = (tmp_path / "metrics.log").stat().st_mtime + 1
    assert time_per_stage(tmp_path, since=later) == "Nothing had to be done."
