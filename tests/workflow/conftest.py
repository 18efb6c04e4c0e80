"""A checkout with a finished small study, to be copied, edited and rerun."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake_forks import SnakemakeForks

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
    "drift": {
        "weeks": 3,
        "per_week": 4,
        "labels_per_week": 2,
        "seeds": 5,
        "factors": ["abrupt drift"],
        "factor_seeds": 5,
    },
    "panel": {"draws": 5},
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
    """A copy of the project with a configuration of its own.

    forks : run Snakemake; where they are None, it is started anew each time, with a Python that has imported nothing.
    """

    folder: Path
    config: dict[str, Any]
    forks: SnakemakeForks | None
    environment: dict[str, str] = field(default_factory=dict)

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the checkout; its output and messages together in stdout."""
        if self.forks is None:
            process = self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            output, _ = process.communicate()
            status = process.returncode
        else:
            status, output = self.forks.run(self._arguments(*arguments), self.folder, self._environment())
        assert not check or status == 0, output
        return subprocess.CompletedProcess(arguments, status, output)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        """Start Snakemake in the checkout, with options of Popen."""
        command = [sys.executable, "-m", "snakemake", *self._arguments(*arguments)]
        return subprocess.Popen(command, cwd=self.folder, env=self._environment(), **options)

    def _arguments(self, *arguments: str) -> list[str]:
        (self.folder / "mine.yaml").write_text(yaml.safe_dump(self.config))
        return ["--cores", "2", *arguments, "--configfile", "mine.yaml"]

    def _environment(self) -> dict[str, str]:
        return clean_environment() | self.environment

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
        return Checkout(folder, yaml.safe_load(yaml.safe_dump(self.config)), self.forks, dict(self.environment))


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


def new_checkout(forks: SnakemakeForks, folder: Path, **changes: Any) -> Checkout:
    """A copy of the project's own files, with the small study changed as given."""
    for name in SHIPPED:
        source = PROJECT / name
        if source.is_dir():
            # With byte code, which is another program's only while it is being written.
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    base = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text())
    return Checkout(folder, base | SMALL | changes, forks)


@pytest.fixture(scope="session")
def forks() -> Iterator[SnakemakeForks]:
    with SnakemakeForks() as running:
        yield running


@pytest.fixture
def checkout(forks, tmp_path):
    """Makes fresh checkouts in which nothing has run: `checkout(examinees=[…])`."""
    return lambda **changes: new_checkout(forks, tmp_path / "checkout", **changes)


@pytest.fixture(scope="session")
def checkout_in(forks):
    """Makes fresh checkouts for several tests: `checkout_in(folder, examinees=[…])`."""
    return partial(new_checkout, forks)


@pytest.fixture(scope="session")
def _finished(checkout_in, tmp_path_factory):
    made = checkout_in(tmp_path_factory.mktemp("finished") / "checkout")
    made.snakemake("all")
    return made


@pytest.fixture
def finished(_finished, tmp_path):
    """A checkout of one's own in which the small study has run."""
    return _finished.copy(tmp_path / "checkout")
