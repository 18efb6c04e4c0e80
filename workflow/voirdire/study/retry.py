"""Which of a study's answers are to be asked again, and making it so.

Forgetting takes two things. The journal notes that the answers no longer count; and a file beside it, which the job's
rule has among its inputs, becomes newer than what the job has made. (Deleting the job's table would not do: Snakemake
makes no intermediate table anew while all that was made of it is there.)
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import UserError
from voirdire.study.matrix import JOURNAL, Paths

if TYPE_CHECKING:
    from voirdire.models import Answer

_RETRIED = ".retried"


def retried(journal: str) -> list[str]:
    """The file that says when answers of this journal were forgotten; empty while none were. An input of its job."""
    mark = _mark(journal)
    return [str(mark)] if mark.exists() else []


@dataclass(frozen=True)
class Job:
    """A job that has asked a real model: `model` is the examinee itself or the judge; examinees have no condition."""

    role: str
    task: str
    model: str
    examinee: str
    condition: str | None
    journal: str
    table: str

    def __str__(self) -> str:
        """As in the paths of its files."""
        if self.condition is None:
            return f"generate {self.task} {self.examinee}"
        return f"judge {self.condition} {self.task} {self.model} {self.examinee}"

    def status(self, answer: "Answer") -> str:
        """An answer's status, as the job's table has it."""
        if self.role == "judge" and answer.status == "ok":
            from voirdire.judging import parse_verdict

            return parse_verdict(answer.text).status
        return answer.status


def studies(folder: str | Path) -> list[str]:
    """The studies that have journals below this folder."""
    journals = Path(folder) / "results" / JOURNAL
    return sorted({path.parent.name for name in ("generate", "judge") for path in journals.glob(f"*/{name}")})


def jobs(paths: Paths) -> list[Job]:
    """The jobs of a study that have a journal, whether or not its configuration still has them."""
    root = Path(paths.journals)
    found = []
    for path in sorted(root.glob("generate/*/*.jsonl")):
        task, examinee = path.parent.name, path.stem
        table = paths.generation(task, examinee)
        found.append(Job("examinee", task, examinee, examinee, None, str(path), table))
    for path in sorted(root.glob("judge/*/*/*/*.jsonl")):
        condition, task, judge = path.relative_to(root).parts[1:4]
        table = paths.judgement(condition, task, judge, path.stem)
        found.append(Job("judge", task, judge, path.stem, condition, str(path), table))
    return found


@dataclass(frozen=True)
class Found:
    """One job's answers: their request keys by status.

    keys : of the answers that count.
    stale : of those that its table has others instead of.
    """

    job: Job
    keys: Mapping[str, Sequence[str]]
    stale: Mapping[str, Sequence[str]]

    def only(self, statuses: Collection[str]) -> "Found":
        keys, stale = (
            {status: each for status, each in part.items() if status in statuses} for part in (self.keys, self.stale)
        )
        return Found(self.job, keys, stale)

    @property
    def n(self) -> int:
        return sum(map(len, self.keys.values()))

    @property
    def n_stale(self) -> int:
        return sum(map(len, self.stale.values()))


def answers(job: Job, item: str | None = None) -> Found:
    """What a job's calls have come to, of one item or of all.

    Answers to what the study has since ceased to ask stay in the journal, for the case that it asks so again. Where
    the job has its table, only the answers in that count.

    Raises UserError where the journal or the table can't be read.
    """
    # Not at the top: Snakemake imports this module at every start.
    from voirdire.models import read_journal

    known = read_journal(job.journal)
    of_item = None if item is None else _keys_of(job, item)
    current = _statuses_in_table(job.table)
    keys: dict[str, list[str]] = {}
    stale: dict[str, list[str]] = {}
    for key, answer in known.items():
        if of_item is None or key in of_item:
            part = keys if current is None or key in current else stale
            part.setdefault(job.status(answer), []).append(key)
    # Failed calls, which the journal has no answer to, are settled where the job has made its table all the same.
    failed = [key for key, status in (current or {}).items() if status == "error" and key not in known]
    if failed := [key for key in failed if of_item is None or key in of_item]:
        keys["error"] = failed
    return Found(job, keys, stale)


def forget(chosen: Sequence[Found]) -> Iterator[Found]:
    """Forget the answers of each job in turn, and yield what was done.

    A kill loses nothing: a job that is marked but whose answers are still known runs again without asking, and the
    next call finds the same answers.

    Raises UserError, before anything is forgotten, where a running job writes one of the journals.
    """
    from voirdire.models import Journal

    for found in chosen:
        Journal(found.job.journal).close()
    for found in chosen:
        with Journal(found.job.journal) as journal:
            _note(found)
            journal.forget([key for keys in found.keys.values() for key in keys])
        yield found


def _note(found: Found) -> None:
    note = {
        "at": datetime.now(UTC).isoformat(),
        "forgotten": {status: len(keys) for status, keys in found.keys.items()},
    }
    mark = _mark(found.job.journal)
    try:
        # Appended, never the same twice: Snakemake takes a file of the same content for unchanged.
        with mark.open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")
    except OSError as error:
        raise UserError(f"{mark}: can't be written ({error.strerror}); its answers were not forgotten") from error


def _mark(journal: str) -> Path:
    return Path(journal).with_suffix(_RETRIED)


def _keys_of(job: Job, item: str) -> set[str]:
    """The requests of one item, by the ids that the journal notes for people."""
    keys = set()
    # Only at "\n": another tool may have left U+2028 unescaped.
    for line in Path(job.journal).read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            call_id, key = str(record["id"]), str(record["key"])
        except (ValueError, KeyError, TypeError):
            continue
        # A judge's calls are ITEM#TRIAL.
        if item == (call_id if job.role == "examinee" else call_id.rpartition("#")[0]):
            keys.add(key)
    return keys


def _statuses_in_table(path: str) -> dict[str, str] | None:
    """The requests whose answers a table holds, and what came of them; None where there is no table."""
    if not Path(path).exists():
        return None
    from voirdire.tables import read_table

    called = read_table(path)[["request_key", "status"]].dropna()
    return dict(zip(called["request_key"], called["status"], strict=True))
