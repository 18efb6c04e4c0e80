"""What the README shows works as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from voirdire.study import outputs
from voirdire.study.config import Config, parse

PROJECT = Path(__file__).resolve().parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")
YAML_BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)]
MINE = next(block for block in YAML_BLOCKS if "examinees" in block)


def test_the_configuration_of_own_models_is_sound():
    config = parse(MINE, "README.md")
    assert config.models["gpt_azure"].endpoint.api_key_env == "AZURE_API_KEY"


OTHERS = {next(iter(block)): block for block in YAML_BLOCKS if block is not MINE}


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_snippet_fits_into_it(name):
    block = OTHERS[name]
    merged = {**MINE, **block} if name in Config.model_fields else {**MINE, "models": block}
    merged["models"] = {**MINE["models"], **merged["models"]}
    parse(merged, "README.md")
    assert merged != MINE


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL), ids=["reading", "voting"])
def test_its_python_prints_what_it_says(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == re.findall(r"^# (.*)$", code, re.MULTILINE)


def test_every_file_that_it_names_is_there():
    named = set(re.findall(r"`((?:config|workflow|envs|requirements|profiles)[\w./-]*)`", README))
    assert len(named) > 5
    assert {name for name in named if "TASK" not in name and not (PROJECT / name).exists()} == set()


def test_every_make_target_that_it_names_is_there():
    known = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"all", "test", "check"} <= named
    assert {name for name in named if f"make {name} " not in known} == set()


@pytest.mark.parametrize(
    ("heading", "known", "n_tables", "n_documents"),
    [
        ("What the numbers mean", outputs.BIAS_TABLES, 4, 2),
        ("One verdict from a panel", (*outputs.PANEL_TABLES, *outputs.DRIFT_TABLES, "calibrated"), 10, 3),
    ],
)
def test_every_table_and_document_that_it_explains_is_there(heading, known, n_tables, n_documents):
    explained = README.partition(f"## {heading}")[2].partition("\n## ")[0]
    tables = set(re.findall(r"`([a-z]+_[a-z_]+|leniency|calibrated|drift)`", explained))
    assert len(tables) == n_tables
    assert tables <= set(known)
    links = re.findall(r"\]\((docs/[^)]+)\)", explained)
    assert len(links) == n_documents
    assert all((PROJECT / link).is_file() for link in links)
