"""One way of asking a model many things, measured from within: python contender.py NAME BASE_URL FOLDER PLAN.

PLAN is a JSON list of [latency_ms, calls, [counts]]: ask so many things of a server that takes so long, and note time,
processor time and memory when so many answers are there. Prints a JSON list of what was noted for each part. Files
(journal, logs) go into FOLDER.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CONCURRENCY = 64
MODEL = "gpt-4.1-mini"
SYSTEM = "You are a strict judge of answers to questions in mathematics."
PROMPT = "Question {i}. " + "Read the question and the examinee's answer, then say whether the answer is right. " * 12


@dataclass
class Meter:
    """Notes [answers, seconds, processor seconds, MB of memory] when `counts` of answers are reached."""

    counts: Sequence[int]
    notes: list[tuple[int, float, float, float]] = field(default_factory=list)
    answers: int = 0

    def answered(self) -> None:
        self.answers += 1
        if self.answers in self.counts:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            self.notes.append((self.answers, time.perf_counter(), usage.ru_utime + usage.ru_stime, _memory_mb()))


def _memory_mb() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")  # not Linux
    return pages * resource.getpagesize() / 2**20


def _messages(i: int) -> list[dict[str, str]]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT.format(i=i)}]


def bare(url: str, folder: Path, calls: int, meter: Meter) -> None:
    """aiohttp alone, to see that the server is not what limits the others."""
    import aiohttp

    async def run() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def ask(i: int) -> None:
                body = {"model": MODEL, "messages": _messages(i)}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    await response.json()

            await _by_workers(ask, calls, meter)

    asyncio.run(run())


def litellm(url: str, folder: Path, calls: int, meter: Meter) -> None:
    """litellm.acompletion from 64 workers: no journal, no checks, answers thrown away."""
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION", LITELLM_LOG="ERROR")
    import litellm

    litellm.suppress_debug_info = True

    async def ask(i: int) -> None:
        await litellm.acompletion(
            model=f"openai/{MODEL}",
            messages=_messages(i),
            api_base=url,
            api_key="none",
            timeout=600,
            num_retries=0,
            max_retries=0,
            temperature=0,
            max_tokens=512,
        )

    async def run() -> None:
        await _by_workers(ask, calls, meter)
        # The connections belong to this event loop; the next part has its own.
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()

    asyncio.run(run())


def voirdire(url: str, folder: Path, calls: int, meter: Meter) -> None:
    """This client as a study uses it: journal, state shared with other jobs, a budget."""
    from voirdire.models import Limits, ModelSpec, complete

    spec = ModelSpec("mini", f"openai/{MODEL}", {"temperature": 0, "max_tokens": 512}, api_base=url)
    limits = Limits(pool=url, concurrency=CONCURRENCY, budget_usd=1e6, shared=str(folder / "shared.json"))
    journal = folder / f"{url.split('/')[3]}_ms.jsonl"
    answers = complete(spec, _Calls(calls), journal, limits, progress=lambda done, total, answer: meter.answered())
    assert len(answers) == calls
    assert answers["0"].status == "ok"


class _Calls(Sequence):
    """The calls of the client, made when they are looked at."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i):
        from voirdire.models import Call

        if not 0 <= i < self._n:
            raise IndexError(i)
        return Call(str(i), tuple(_messages(i)))


def inspect(url: str, folder: Path, calls: int, meter: Meter) -> None:
    """Inspect AI as its users run it: a task, evaluated, its log on disk."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser
    from inspect_ai.solver import generate, solver

    @solver
    def counted():
        generated = generate()

        async def solve(state, generate):
            state = await generated(state, generate)
            meter.answered()
            return state

        return solve

    samples = [
        Sample(input=[ChatMessageSystem(content=SYSTEM), ChatMessageUser(content=PROMPT.format(i=i))])
        for i in range(calls)
    ]
    _tell_inspect(url)
    (log,) = eval(
        Task(dataset=samples, solver=counted()),
        model=f"openai-api/bench/{MODEL}",
        display="none",
        log_dir=str(folder),
        max_connections=CONCURRENCY,
        max_samples=CONCURRENCY,
        temperature=0,
        max_tokens=512,
    )
    assert log.status == "success"


def inspect_model(url: str, folder: Path, calls: int, meter: Meter) -> None:
    """Inspect AI's model alone, from 64 workers: no task, no log, answers thrown away."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model

    _tell_inspect(url)
    config = GenerateConfig(max_connections=CONCURRENCY, temperature=0, max_tokens=512)

    async def run() -> None:
        async with get_model(f"openai-api/bench/{MODEL}", config=config, memoize=False) as model:

            async def ask(i: int) -> None:
                await model.generate([ChatMessageSystem(content=SYSTEM), ChatMessageUser(content=PROMPT.format(i=i))])

            await _by_workers(ask, calls, meter)

    asyncio.run(run())


def _tell_inspect(url: str) -> None:
    os.environ.update(BENCH_BASE_URL=url, BENCH_API_KEY="none", INSPECT_DISPLAY="none")


async def _by_workers(ask: Callable[[int], Awaitable[None]], calls: int, meter: Meter) -> None:
    async def work(queue: Iterator[int]) -> None:
        for i in queue:
            await ask(i)
            meter.answered()

    queue = iter(range(calls))
    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(work(queue))


CONTENDERS = {each.__name__: each for each in (bare, litellm, voirdire, inspect, inspect_model)}


def main() -> None:
    name, base_url, folder, plan = sys.argv[1:]
    noted = []
    for latency_ms, calls, counts in json.loads(plan):
        meter = Meter(counts)
        CONTENDERS[name](f"{base_url}/{latency_ms}/v1", Path(folder), calls, meter)
        noted.append(meter.notes)
    print(json.dumps(noted))


if __name__ == "__main__":
    main()
