"""Runs `complete` in processes that a test kills; litellm is imported once, and each run is a fork.

Reads from standard input one line per run, a JSON list of specification, journal and number of calls. Prints the
run's process id, and when it has ended, however it ended, `ended STATUS`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from voirdire.models import Call, Limits, ModelSpec, asking, complete, engine


def prompts(count: int) -> list[str]:
    return [f"question {number}" for number in range(count)]


def run(specification: dict[str, Any], journal: str, count: int, concurrency: int) -> None:
    asking.BACKOFF_FIRST_S = 0.001
    calls = [Call(prompt, ({"role": "user", "content": prompt},)) for prompt in prompts(count)]
    complete(ModelSpec(**specification), calls, Path(journal), Limits(concurrency=concurrency))


def main() -> None:
    engine.load_litellm()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(*json.loads(line))
                status = 0
            finally:
                os._exit(status)
        print(child, flush=True)
        print("ended", os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
