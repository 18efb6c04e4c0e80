"""Runs Snakemake in forks of a process that has imported it, which takes longer than to plan a small study.

Reads from standard input one run per line, {"arguments", "folder", "environment", "output"}: where it runs, and the
file for all that it prints. Prints each run's exit status. Of this project nothing is imported before the fork: a run
takes it from the checkout that it is of, as always.
"""

import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Beside Snakemake what a plan of this project imports.
IMPORTED = ("snakemake.cli", "snakemake.report.html_reporter", "numpy", "pandas", "pydantic")


class SnakemakeForks:
    """The process that runs Snakemake, as the tests see it. Use as a context manager; it starts when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "SnakemakeForks":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=60)

    def run(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
        """Run Snakemake; its exit status, and its output and messages together."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.NamedTemporaryFile("r+", encoding="utf-8") as output:
            run = {"arguments": arguments, "folder": str(folder), "environment": environment, "output": output.name}
            self._process.stdin.write(json.dumps(run) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline()), output.read()


def fork(run: Mapping[str, Any]) -> int:
    """Run Snakemake in a fork, and wait for its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        output = os.open(run["output"], os.O_WRONLY)
        for descriptor, standard in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(descriptor, standard)
        os.environ.clear()
        os.environ.update(run["environment"])
        os.chdir(run["folder"])
        sys.path[0] = run["folder"]
        sys.modules["snakemake.cli"].main(run["arguments"])
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    for module in IMPORTED:
        importlib.import_module(module)
    gc.freeze()
    for line in sys.stdin:
        print(fork(json.loads(line)), flush=True)


if __name__ == "__main__":
    main()
