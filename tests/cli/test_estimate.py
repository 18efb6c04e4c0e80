"""`voirdire estimate`: Snakemake behind it, unheard unless it fails."""

import importlib.util

import pytest

from voirdire import cli
from voirdire.steps._run import TOOK

SNAKEFILE = f"""
rule estimate:
    input: "items"
    shell: "echo 'calls 12'; echo 'pilot {{config[pilot]}}'; echo '{TOOK.format(seconds=1)}'"

rule items:
    output: "items"
    shell: "echo chatter >&2; touch {{output}}"

onsuccess:
    print("stage   jobs")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("pilot: 0\n")
    return tmp_path


@pytest.fixture
def estimate(capsys):
    def run(*arguments):
        code = cli.main(["estimate", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_only_the_estimate_is_shown(folder, estimate):
    (folder / "Snakefile").write_text(SNAKEFILE)
    assert estimate("--configfile", "mine.yaml") == (0, "calls 12\npilot 0\n", "")


def test_the_pilot_goes_into_the_configuration(folder, estimate):
    (folder / "Snakefile").write_text(SNAKEFILE)
    assert estimate("--configfile", "mine.yaml", "--pilot", "5", "--cores", "2") == (0, "calls 12\npilot 5\n", "")


def test_a_failure_is_shown_with_its_exit_code(folder, estimate):
    (folder / "workflow").mkdir()
    code = 'from snakemake.exceptions import WorkflowError\n\nraise WorkflowError("mine.yaml: judegs: unknown key")\n'
    (folder / "workflow" / "Snakefile").write_text(code)
    code, said, fault = estimate("--configfile", "mine.yaml")
    assert (code, said) == (1, "")
    assert fault.startswith("WorkflowError")
    assert "mine.yaml: judegs: unknown key" in fault


def test_a_failing_estimate_is_shown_without_the_chatter_around_it(folder, estimate):
    (folder / "Snakefile").write_text('rule estimate:\n    shell: "echo items.jsonl is damaged; exit 3"')
    code, said, fault = estimate()
    assert (code, said) == (1, "items.jsonl is damaged\n")
    assert "estimate" in fault
    assert not [line for line in fault.splitlines() if line.startswith(("Building", "Using", "Host", "  Host"))]


def test_without_snakemake_it_says_how_to_install_it(folder, estimate, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    message = "error: Snakemake is not installed; install what studies need: pip install 'voirdire[study]'\n"
    assert estimate() == (1, "", message)


def test_where_no_workflow_is_it_says_where_to_run(folder, estimate):
    code, _, fault = estimate("--configfile", "mine.yaml")
    assert code == 1
    assert fault == f"error: {folder}: no Snakefile here; run this in the folder of the voirdire workflow\n"


def test_a_missing_configuration_is_named(folder, estimate):
    (folder / "Snakefile").write_text(SNAKEFILE)
    assert estimate("--configfile", "mien.yaml") == (1, "", "error: mien.yaml: no such file (--configfile)\n")
