"""The benchmarks that voirdire knows. To add one: a module with `parse`, and an entry here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from voirdire.benchmarks import aime, bundled, gsm8k, mbpp, quality
from voirdire.benchmarks.items import Item
from voirdire.benchmarks.records import Record
from voirdire.benchmarks.source import Source


def _alone(record: Record) -> Iterable[Record]:
    return (record,)


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    `grader` says how a response is graded: number, integer (0-999), code or choice. `parse(record, position)`
    makes an item of one record, raising LeavesOutError, OutsideSplitError or WrongRecordError; `expand` makes
    one record per question of a file's record. `hub` is the default source on the Hugging Face Hub; its revision
    is None where none is known, so that configuration must give it. `bundled` gives the records of the
    questions written for this project.
    """

    task: str
    title: str
    grader: str
    parse: Callable[[Mapping[str, Any], int], Item]
    hub: Source
    licence: str
    bundled: Callable[[], list[Record]]
    expand: Callable[[Record], Iterable[Record]] = _alone


BENCHMARKS: dict[str, Benchmark] = {
    benchmark.task: benchmark
    for benchmark in (
        Benchmark(
            task="gsm8k",
            title="GSM8K",
            grader="number",
            parse=gsm8k.parse,
            hub=Source(
                kind="hub",
                repo="openai/gsm8k",
                files=("main/test-00000-of-00001.parquet",),
                revision="cc7b047b6e5bb11b4f1af84efc572db110a51b3c",
            ),
            licence="MIT",
            bundled=bundled.number_questions,
        ),
        Benchmark(
            task="aime",
            title="AIME 2025",
            grader="integer",
            parse=aime.parse,
            hub=Source(
                kind="hub",
                repo="opencompass/AIME2025",
                files=("aime2025-I.jsonl", "aime2025-II.jsonl"),
                revision="a6ad95f611d72cf628a80b58bd0432ef6638f958",
            ),
            licence="problems © Mathematical Association of America",
            bundled=bundled.integer_questions,
        ),
        Benchmark(
            task="mbpp",
            title="MBPP",
            grader="code",
            parse=mbpp.parse,
            hub=Source(
                kind="hub",
                repo="google-research-datasets/mbpp",
                files=("full/test-00000-of-00001.parquet",),
                revision="4bb6404fdc6cacfda99d4ac4205087b89d32030c",
            ),
            licence="CC BY 4.0",
            bundled=bundled.code_questions,
        ),
        Benchmark(
            task="quality",
            title="QuALITY",
            grader="choice",
            parse=quality.parse,
            expand=quality.expand,
            hub=Source(kind="hub", repo="emozilla/quality"),
            licence="CC BY 4.0",
            bundled=bundled.choice_questions,
        ),
    )
}
