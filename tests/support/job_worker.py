"""Runs jobs in processes that a test can kill; litellm is imported once, and each job is a fork.

Reads from standard input one line per batch of jobs, a JSON list. A job is {"specification", "journal", "prompts",
"limits"}, which are asked with `complete`, or {"step", "arguments"}, a module of voirdire.steps and its command line.
Prints the process ids as a list, and when all have ended, however they ended, the list of their exit statuses. What
stops a job is written to the file "errors", if the job names one.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from voirdire.errors import UserError
from voirdire.models import Call, Limits, ModelSpec, asking, complete, engine


class Worker:
    """The process that runs jobs in forks of itself, as the test sees it. Use as a context manager."""

    def __enter__(self) -> "Worker":
        self._running: list[int] = []
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

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
        sys.argv = [job["step"], *job["arguments"]]
        importlib.import_module(f"voirdire.steps.{job['step']}").main()
        return
    calls = [Call(prompt, ({"role": "user", "content": prompt},)) for prompt in job["prompts"]]
    specification = ModelSpec.from_json(json.dumps(job["specification"]))
    complete(specification, calls, Path(job["journal"]), Limits.from_json(json.dumps(job.get("limits", {}))))


def fork(job: dict[str, Any]) -> int:
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
    finally:
        os._exit(status)


def main() -> None:
    # Standard output is the test's; what a step prints isn't for it.
    answers, sys.stdout = sys.stdout, sys.stderr
    engine.load_litellm()
    for line in sys.stdin:
        children = [fork(job) for job in json.loads(line)]
        print(json.dumps(children), file=answers, flush=True)
        print(json.dumps([os.waitpid(child, 0)[1] for child in children]), file=answers, flush=True)


if __name__ == "__main__":
    main()
