"""How long the default study takes, from nothing and when nothing is to be done."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.bench


def test_time_of_the_default_study(tmp_path):
    for name in ("Snakefile", "config", "envs", "profiles", "workflow"):
        source = PROJECT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tmp_path / name)
    seconds = {}
    for run in ("from nothing", "nothing to do"):
        start = time.perf_counter()
        command = [sys.executable, "-m", "snakemake", "--cores", "8", "all"]
        done = subprocess.run(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seconds[run] = time.perf_counter() - start
        assert done.returncode == 0, done.stdout
        if run == "from nothing":
            print("\n" + done.stdout[done.stdout.index("stage ") :])
    for run, took in seconds.items():
        print(f"default study, {run}: {took:.1f} s")
