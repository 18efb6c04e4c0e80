"""Runs jobs in processes that a test can kill; litellm is imported once, and each job is a fork.

Reads from standard input one line per batch of jobs, a JSON list. A job is {"specification", "journal", "prompts",
"limits"}, which are asked with `complete`, or {"step", "arguments", "folder", "log"}, a module of voirdire.steps, its
command line, where it runs and the file for all that it prints. Prints the process ids as a list, and when all have
ended, however they ended, the list of their exit statuses. What stops a job that is no step is written to the file
"errors", if the job names one.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from voirdire.errors import UserError
from voirdire.models import Call, Limits, ModelSpec, asking, complete
from voirdire.steps._run import run as run_step


class Worker:
    """The process that runs jobs in forks of itself, as the test sees it. Use as a context manager.

    within : a command that runs the one given to it, such as one that gives it a file system of its own.
    """

    def __init__(self, *within: str) -> None:
        self._within = within

    def __enter__(self) -> "Worker":
        self._running: list[int] = []
        self._process = subprocess.Popen(
            [*self._within, sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def sees(self, path: str | Path) -> Path:
        """A file of the worker's, which may have file systems of its own, as this process finds it."""
        return Path(f"/proc/{self._process.pid}/root{path}")

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.communicate(timeout=60)

    def start(self, *jobs: dict[str, Any]) -> list[int]:
        """Start the jobs at once; their process ids. Jobs that a failed test left behind are ended first."""
        for child in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        if self._running:
            self.wait()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(jobs) + "\n")
        self._process.stdin.flush()
        self._running = self._read()
        return self._running

    def wait(self) -> list[int]:
        """Wait until all jobs have ended; their exit statuses, negative where a signal ended one."""
        self._running = []
        return [os.waitstatus_to_exitcode(status) for status in self._read()]

    def _read(self) -> list[int]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def run(job: dict[str, Any]) -> None:
    asking.BACKOFF_FIRST_S = 0.001
    if "step" in job:
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(job["folder"])
        sys.argv = [job["step"], *job["arguments"]]
        run_step(step(job).main)
        return
    calls = [Call(prompt, ({"role": "user", "content": prompt},)) for prompt in job["prompts"]]
    specification = ModelSpec.from_json(json.dumps(job["specification"]))
    complete(specification, calls, Path(job["journal"]), Limits.from_json(json.dumps(job.get("limits", {}))))


def step(job: dict[str, Any]) -> Any:
    return importlib.import_module(f"voirdire.steps.{job['step']}")


def fork(job: dict[str, Any]) -> int:
    if "step" in job:
        step(job)  # once for all forks
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        run(job)
        status = 0
    except UserError as error:
        if "errors" in job:
            Path(job["errors"]).write_text(str(error))
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def warm_up() -> None:
    """Make a call, in vain: what litellm imports at the first one, each fork would import anew."""
    nobody = ModelSpec(name="nobody", model="openai/nobody", api_base="http://127.0.0.1:9/v1")
    with tempfile.TemporaryDirectory() as folder:
        call = Call("in vain", ({"role": "user", "content": "?"},))
        complete(nobody, [call], Path(folder) / "journal.jsonl", Limits(max_attempts=1))


def main() -> None:
    # Standard output is the test's; what a step prints isn't for it.
    answers, sys.stdout = sys.stdout, sys.stderr
    warm_up()
    for line in sys.stdin:
        children = [fork(job) for job in json.loads(line)]
        print(json.dumps(children), file=answers, flush=True)
        print(json.dumps([os.waitpid(child, 0)[1] for child in children]), file=answers, flush=True)


if __name__ == "__main__":
    main()
