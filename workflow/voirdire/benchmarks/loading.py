"""Loading a benchmark: from a source to items, with every fault found named at once."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.benchmarks import bundled, hub
from voirdire.benchmarks.items import Item
from voirdire.benchmarks.records import LeavesOutError, OutsideSplitError, Record, WrongRecordError, read_records
from voirdire.benchmarks.registry import BENCHMARKS, Benchmark
from voirdire.benchmarks.shuffling import shuffled
from voirdire.benchmarks.source import Source
from voirdire.errors import Faults, UserError


@dataclass(frozen=True)
class LeftOut:
    """A question that lacks something required: where it stands, and what it lacks."""

    where: str
    reason: str


@dataclass(frozen=True)
class Loaded:
    """A benchmark's items in file order, what was left out, and metadata for the item table."""

    items: list[Item]
    left_out: list[LeftOut]
    metadata: dict[str, Any]


def load(task: str, source: Source, seed: int) -> Loaded:
    """Load a benchmark's items from a source; `seed` decides which items `sample` takes, and the options' order.

    Raises UserError naming all faults: an unknown task, a wrong source, missing files, malformed lines
    (file:line), duplicate item ids, no items.
    """
    benchmark, source = _resolved(task, source)
    faults = Faults()
    records, files = _records(benchmark, source, faults)
    collected = _Collected(benchmark, faults)
    for record in records:
        collected.add(record)
    if not collected.items and not faults.faults:
        faults.add(_empty(task, source, collected))
    faults.raise_if_any()
    items = _subset(task, collected.items, source, seed)
    if source.shuffle_options:
        items = [shuffled(item, seed) for item in items]
    metadata = {
        "task": task,
        "source": source.to_dict(),
        "files": files,
        "licence": _licence(benchmark, source),
        "n_read": collected.n_read,
        "n_outside_split": collected.n_outside,
        "n_left_out": len(collected.left_out),
        "left_out": dict(sorted(Counter(left.reason for left in collected.left_out).items())),
        "n_items": len(items),
    }
    return Loaded(items, collected.left_out, metadata)


def check(task: str, source: Source, seed: int) -> list[str]:
    """The faults that `load` would raise; empty if there are none. For the Hub nothing is downloaded."""
    try:
        if source.kind == "hub":
            _resolved(task, source)
        else:
            load(task, source, seed)
    except UserError as error:
        return error.faults
    return []


def _resolved(task: str, source: Source) -> tuple[Benchmark, Source]:
    if task not in BENCHMARKS:
        raise UserError(f"benchmarks: unknown task '{task}'; known are {', '.join(BENCHMARKS)}")
    wrong = source.faults()
    if source.shuffle_options and BENCHMARKS[task].grader != "choice":
        wrong.append("shuffle_options: its items have no options; remove it")
    if wrong:
        raise UserError(f"benchmarks: {task}: {fault}" for fault in wrong)
    benchmark = BENCHMARKS[task]
    return benchmark, hub.resolve(task, source, benchmark.hub) if source.kind == "hub" else source


def _licence(benchmark: Benchmark, source: Source) -> str:
    if source.kind == "bundled":
        return bundled.LICENCE
    if source.kind == "hub" and source.repo == benchmark.hub.repo:
        return benchmark.licence
    return f"as the file's publisher says ({benchmark.title} itself: {benchmark.licence})"


def _records(benchmark: Benchmark, source: Source, faults: Faults) -> tuple[list[Record], dict[str, str]]:
    """All records of the source, and the SHA-256 of each of its files."""
    if source.kind == "bundled":
        records = benchmark.bundled()
        content = json.dumps([record.fields for record in records], sort_keys=True)
        return records, {"bundled": hashlib.sha256(content.encode()).hexdigest()}
    paths = hub.download(source, faults) if source.kind == "hub" else {str(source.path): Path(str(source.path))}
    records, hashes = [], {}
    for name, path in paths.items():
        found, digest = read_records(path, faults)
        records += found
        if digest is not None:
            hashes[name] = digest
    return records, hashes


class _Collected:
    """What becomes of the records: items, questions left out, and faults."""

    def __init__(self, benchmark: Benchmark, faults: Faults):
        self.benchmark = benchmark
        self.faults = faults
        self.items: list[Item] = []
        self.left_out: list[LeftOut] = []
        self.n_read = 0
        self.n_outside = 0
        self._seen: dict[str, str] = {}

    def add(self, record: Record) -> None:
        try:
            questions = list(self.benchmark.expand(record))
        except WrongRecordError as error:
            self.faults.add(f"{record.where}: {error}; mend or remove it")
            return
        for question in questions:
            self._add_question(question)

    def _add_question(self, question: Record) -> None:
        # Questions left out count too, so that mending one doesn't rename those after it.
        self.n_read += 1
        try:
            item = self.benchmark.parse(question.fields, self.n_read)
        except OutsideSplitError:
            self.n_outside += 1
        except LeavesOutError as error:
            self.left_out.append(LeftOut(question.where, str(error)))
        except WrongRecordError as error:
            self.faults.add(f"{question.where}: {error}; mend or remove it")
        else:
            self._keep(item, question.where)

    def _keep(self, item: Item, where: str) -> None:
        if item.item_id in self._seen:
            first = self._seen[item.item_id]
            self.faults.add(f"{where}: item id '{item.item_id}' is already that of {first}; remove one of them")
        self._seen.setdefault(item.item_id, where)
        self.items.append(item)


def _empty(task: str, source: Source, collected: _Collected) -> str:
    where = source.path or source.repo or source.kind
    reasons = Counter(left.reason for left in collected.left_out)
    why = "; ".join(f"{count} left out: {reason}" for reason, count in reasons.most_common(3))
    if collected.n_outside:
        why = f"{collected.n_outside} outside the evaluation split" + (f"; {why}" if why else "")
    return f"{where}: no items for {task} ({why or 'no records'}); check that it is the right file"


def _subset(task: str, items: list[Item], source: Source, seed: int) -> list[Item]:
    """The first `limit` items or a random `sample`, in file order; all of them where there are fewer."""
    if source.limit is not None:
        return items[: source.limit]
    if source.sample is None or source.sample >= len(items):
        return items
    # Keyed by the task's name, so that another benchmark's presence changes nothing.
    key = int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big")
    rows = np.random.default_rng([seed, key]).choice(len(items), size=source.sample, replace=False)
    return [items[row] for row in sorted(rows)]
