"""A checkout with a finished small study, to be copied, edited and rerun."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
SHIPPED = ("Snakefile", "config", "envs", "profiles", "workflow")

_JOB = re.compile(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", re.MULTILINE)
_WILDCARDS = re.compile(r"^    wildcards: (.*)$", re.MULTILINE)

# Three personas, two tasks, few questions: the whole flow in seconds.
SMALL: dict[str, Any] = {
    "study": "small",
    "benchmarks": {"gsm8k": {"limit": 5}, "aime": {"limit": 4}},
    "examinees": ["rook", "larch", "stoat"],
    "judges": ["rook", "larch", "stoat"],
    "templates": ["default"],
    "bootstrap": {"resamples": 100},
    "drift": {"weeks": 3, "per_week": 4, "labels_per_week": 2, "seeds": 5},
    "prior_sweep": {"fpr": [0.4], "fnr": [0.2], "strength": [1, 10]},
}


@dataclass(frozen=True)
class Job:
    """One job of Snakemake's plan."""

    rule: str
    wildcards: tuple[tuple[str, str], ...] = ()

    def __getitem__(self, name: str) -> str:
        return dict(self.wildcards)[name]


@dataclass
class Checkout:
    """A copy of the project with a configuration of its own."""

    folder: Path
    config: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the checkout; its output and messages together in stdout."""
        process = self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output, _ = process.communicate()
        assert not check or process.returncode == 0, output
        return subprocess.CompletedProcess(process.args, process.returncode, output)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        """Start Snakemake in the checkout, with options of Popen."""
        (self.folder / "mine.yaml").write_text(yaml.safe_dump(self.config))
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, "--configfile", "mine.yaml"]
        return subprocess.Popen(command, cwd=self.folder, env=clean_environment() | self.environment, **options)

    def plan(self, *targets: str) -> list[Job]:
        """The jobs that Snakemake would run, without target rules."""
        output = self.snakemake(*(targets or ("all",)), "--dry-run").stdout
        jobs = []
        for rule, body in _JOB.findall(output):
            found = _WILDCARDS.search(body)
            pairs = (pair.split("=") for pair in found[1].split(", ")) if found else ()
            jobs.append(Job(rule, tuple((name, value) for name, value in pairs)))
        assert len(jobs) == _total(output), output
        return [job for job in jobs if job.rule not in ("all", "generate_all", "judge_all")]

    def rules(self, *targets: str) -> Counter[str]:
        """How many jobs of each rule Snakemake would run."""
        return Counter(job.rule for job in self.plan(*targets))

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text()
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new))

    def copy(self, folder: Path) -> "Checkout":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Checkout(folder, yaml.safe_load(yaml.safe_dump(self.config)), dict(self.environment))


def _total(output: str) -> int:
    """The number of jobs that Snakemake says it would run."""
    found = re.search(r"^total +(\d+)$", output, re.MULTILINE)
    return int(found[1]) if found else 0


def clean_environment() -> dict[str, str]:
    """The environment without what would make runs differ, or hold a key."""
    # Without byte code on disk, each of a study's many jobs would compile the library anew.
    unwanted = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SNAKEMAKE", "PYTEST")) and not name.endswith("_API_KEY") and name not in unwanted
    }


def new_checkout(folder: Path, **changes: Any) -> Checkout:
    """A copy of the project's own files, with the small study changed as given."""
    for name in SHIPPED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    base = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text())
    return Checkout(folder, base | SMALL | changes)


@pytest.fixture
def checkout(tmp_path):
    """Makes fresh checkouts in which nothing has run: `checkout(examinees=[…])`."""
    return lambda **changes: new_checkout(tmp_path / "checkout", **changes)


@pytest.fixture(scope="session")
def checkout_in():
    """Makes fresh checkouts for several tests: `checkout_in(folder, examinees=[…])`."""
    return new_checkout


@pytest.fixture(scope="session")
def _finished(tmp_path_factory):
    made = new_checkout(tmp_path_factory.mktemp("finished") / "checkout")
    made.snakemake("all")
    return made


@pytest.fixture
def finished(_finished, tmp_path):
    """A checkout of one's own in which the small study has run."""
    return _finished.copy(tmp_path / "checkout")
