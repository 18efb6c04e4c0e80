"""Forget chosen answers, so that the study's next run asks again.

Every answer of a real model is kept in the study's journal, below
results/journal/STUDY, and is never asked for again: nor is one that the model
refused, left empty, or did not finish within max_tokens. Where asking once
more may help, forget it with this command and run the study again: exactly
those calls are made anew, and all that was made of them (verdicts on a new
response, tables, report). The journal keeps its lines, and counts their cost.

Statuses, as in the study's tables:
  truncated   cut off at max_tokens
  empty       no text came
  refused     by the model, or by a content filter
  unparsed    a judge's text without a verdict
  error       failed calls that accept_errors has let pass; the others are
              asked again by the next run anyway
  ok          everything else
A model at temperature 0 will mostly say the same again; a change of its
parameters or prompt asks again by itself, and needs no retry.

Examples:
  voirdire retry --status empty,truncated
  voirdire retry --status unparsed --model gpt --task gsm8k --dry-run
  voirdire retry --study mine --status ok --role judge --condition author
"""

import argparse
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import Faults, UserError

if TYPE_CHECKING:
    from voirdire.study.retry import Found, Job

_STATUSES = ("ok", "unparsed", "refused", "truncated", "empty", "error")
# Arguments that narrow the jobs down, named like the jobs' attributes.
_FILTERS = ("role", "task", "condition", "model", "examinee")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--status",
        action="append",
        required=True,
        metavar="STATUS",
        help=f"which answers: one or more of {', '.join(_STATUSES)}; commas between them, or repeated",
    )
    parser.add_argument("--study", metavar="NAME", help="`study` in its configuration; needed where there are several")
    parser.add_argument("--role", choices=("examinee", "judge"), help="only answers to questions, or only verdicts")
    parser.add_argument("--model", metavar="NAME", help="only answers of this model")
    parser.add_argument("--task", metavar="TASK", help="only this benchmark")
    parser.add_argument("--condition", metavar="C", help="only verdicts under this condition (blind, author, …)")
    parser.add_argument("--examinee", metavar="NAME", help="only answers of this examinee, and verdicts on them")
    parser.add_argument("--item", metavar="ID", help="only this question (item_id in the tables)")
    parser.add_argument("--directory", metavar="DIR", default=".", help="the folder that holds results/ (default: .)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be forgotten, and forget nothing")


def run(args: argparse.Namespace) -> int:
    # Not at the top: `voirdire --help` would load it too.
    from voirdire.study.matrix import Paths
    from voirdire.study.retry import answers, forget, jobs

    statuses = _statuses(args.status)
    study = _study(args.study, args.directory)
    chosen = _narrow(jobs(Paths(str(Path(args.directory) / "results" / study))), args)
    found = [answers(job, args.item) for job in chosen]
    matching = [part for part in (each.only(statuses) for each in found) if part.n]
    _say_stale([each.only(statuses) for each in found])
    if not matching:
        there = _counts(found) or "none at all"
        print(f"Nothing to forget: no answer chosen here is {' or '.join(statuses)} (there are: {there}).")
        return 0
    for part in matching if args.dry_run else forget(matching):
        print(f"{part.job}: {_counts([part])}", flush=True)
    done = "Would forget" if args.dry_run else "Forgot"
    answered, asked = sum(part.n for part in matching), len(matching)
    print(f"{done} {_plural(answered, 'answer')} of {_plural(asked, 'job')}: {_counts(matching)}.")
    if not args.dry_run:
        print(f"What they cost stays counted. Next: {_next_command(study, args.directory)}")
    return 0


def _statuses(given: Iterable[str]) -> list[str]:
    statuses = list(dict.fromkeys(part.strip() for each in given for part in each.split(",") if part.strip()))
    unknown = [status for status in statuses if status not in _STATUSES]
    if unknown or not statuses:
        what = ", ".join(f"'{status}'" for status in unknown) or "nothing"
        raise UserError(f"--status: {what} is no status; known are {', '.join(_STATUSES)}")
    return statuses


def _study(name: str | None, folder: str) -> str:
    from voirdire.study.retry import studies

    known = studies(folder)
    if not known:
        raise UserError(
            f"{Path(folder, 'results', 'journal')}: no answers of real models here; "
            "run this where the study was run, or name that folder with --directory"
        )
    if name is None and len(known) > 1:
        raise UserError(f"--study: there are several studies here, choose one: {', '.join(known)}")
    if name is not None and name not in known:
        raise UserError(f"--study: no answers of a study '{name}' here; known are {', '.join(known)}")
    return name or known[0]


def _narrow(jobs: "Sequence[Job]", args: argparse.Namespace) -> "list[Job]":
    """The jobs that the arguments choose. Raises UserError for names that no job has."""
    faults = Faults()
    for name in _FILTERS:
        wanted, known = getattr(args, name), {getattr(job, name) for job in jobs} - {None}
        if wanted is not None and wanted not in known:
            there = f"known are {', '.join(sorted(known))}" if known else "there is none"
            faults.add(f"--{name}: this study has no answers of {name} '{wanted}'; {there}")
    faults.raise_if_any()
    return [job for job in jobs if all(getattr(args, name) in (None, getattr(job, name)) for name in _FILTERS)]


def _counts(found: "Iterable[Found]") -> str:
    counts = Counter(status for each in found for status, keys in each.keys.items() for _ in keys)
    return ", ".join(f"{counts[status]} {status}" for status in _STATUSES if counts[status])


def _say_stale(found: "Iterable[Found]") -> None:
    stale = sum(each.n_stale for each in found)
    if stale:
        print(
            f"Left alone: {_plural(stale, 'answer')} in the journals that the study's tables don't hold, "
            "to what it asked before prompts, parameters or questions were changed."
        )


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _next_command(study: str, folder: str) -> str:
    """How to run the study again, with its configuration where that is to be seen."""
    command = "snakemake --cores 8 all"
    if study != "default":
        named = re.compile(rf"^study:\s*([\"']?){re.escape(study)}\1\s*(#.*)?$", re.MULTILINE)
        fitting = [path for path in _configurations(folder) if named.search(path.read_text("utf-8", "replace"))]
        command += f" --configfile {shlex.quote(str(fitting[0])) if len(fitting) == 1 else 'FILE'}"
    # The workflow itself may be elsewhere.
    return command if Path(folder) == Path() else f"{command} --directory {shlex.quote(folder)}"


def _configurations(folder: str) -> list[Path]:
    return [path for pattern in ("*.yaml", "*.yml", "config/*.yaml") for path in sorted(Path(folder).glob(pattern))]
