"""What a stranger installs: locked, complete, and the same everywhere."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements-build.txt", "requirements.txt", "requirements-dev.txt")


def pins(name):
    """Package to pinned versions (several where they depend on Python's version)."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", (PROJECT / name).read_text(), re.MULTILINE):
        found.setdefault(package, set()).add(version)
    return found


def declared(*extras):
    """Names of the dependencies that pyproject.toml declares."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    names = (re.match(r"[a-z0-9-]+", dependency)[0] for part in lists for dependency in part)
    return {name for name in names if name != "voirdire"}


@pytest.mark.parametrize("name", [*LOCKS, "requirements-bench.txt", "requirements-local.txt"])
def test_every_locked_package_has_a_hash_and_no_index_is_named(name):
    text = (PROJECT / name).read_text()
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > 1
    assert all("--hash=sha256:" in package for package in packages)
    assert not re.search(r"https?:|--(extra-)?index-url|--find-links", text)


def test_the_locks_have_every_declared_dependency():
    assert declared("study") <= pins("requirements.txt").keys()
    assert declared("study", "dev") <= pins("requirements-dev.txt").keys()


def test_the_locks_agree():
    build, study, dev = (pins(name) for name in LOCKS)
    assert {name: dev.get(name) for name in study} == study
    assert {name: versions for name, versions in build.items() if dev.get(name, versions) != versions} == {}


def test_the_conda_environment_agrees_with_the_lock():
    environment = yaml.safe_load((PROJECT / "envs" / "voirdire.yaml").read_text())
    (by_pip,) = (part["pip"] for part in environment["dependencies"] if isinstance(part, dict))
    named = dict(re.sub(r"\[.*\]", "", entry).split("==") for entry in by_pip)
    locked = pins("requirements.txt")
    assert {name: version for name, version in named.items() if version not in locked[name]} == {}
    # Jobs don't start Snakemake; everything else that the library declares is there.
    not_for_jobs = {"snakemake", "docutils", "packaging", "pygments"}
    assert named.keys() == declared("study") - not_for_jobs


def test_litellm_is_pinned_to_the_release_that_was_read():
    assert pins("requirements.txt")["litellm"] == {"1.110.2"}


def test_the_wheel_has_questions_prompts_and_templates(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "voirdire/benchmarks/bundled/quality.jsonl",
        "voirdire/benchmarks/bundled/mbpp.jsonl",
        "voirdire/report/templates/report.html.j2",
        "voirdire/prompts/judge/default/gsm8k.md",
        "voirdire/prompts/examinee/aime.md",
    ):
        assert needed in names


def test_importing_voirdire_alone_loads_nothing_heavy():
    code = "import voirdire, sys; print([m for m in ('pandas', 'litellm', 'matplotlib', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
