"""The pilot of an estimate: a few calls of every job, made as the job would make them and kept in its journal."""

import hashlib
import multiprocessing
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from voirdire.errors import UserError
from voirdire.models import Call, Limits, ModelSpec
from voirdire.study.cells import EXAMINEE, JUDGE, Cell, cells
from voirdire.study.study import Study

# Each imports litellm: 190 MB and 2.5 s of one core, which fewer models' calls don't repay.
_PROCESSES = 6
_FEWEST = 3


@dataclass(frozen=True)
class _Ask:
    """Some calls of one job."""

    name: str
    spec: ModelSpec
    calls: Sequence[Call]
    journal: Path
    limits: Limits


def run_pilot(study: Study) -> list[str]:
    """Ask `study.config.pilot` questions of every job that calls a real model and hasn't as many answers yet.

    Which ones is up to the study's seed, the same for all examinees of a task; the judges then judge what has been
    answered. A fault ends the calls of one model on one task, not the others'.

    Returns what went wrong, a sentence per model and role.
    """
    faults: list[str] = []
    # Not threads: at the end of a job's calls litellm closes the connections of the whole process.
    with ProcessPoolExecutor(_PROCESSES, mp_context=multiprocessing.get_context("spawn")) as processes:
        for role in (EXAMINEE, JUDGE):
            asks = [ask for cell in cells(study, (role,)) if (ask := _ask(study, cell)).calls]
            if asks:
                n_calls = sum(len(ask.calls) for ask in asks)
                print(f"Pilot: {n_calls} calls of {len(asks)} {role} jobs, kept in their journals", flush=True)
            faults += _ask_all(asks, processes)
    return faults


def chosen(cell: Cell, pilot: int, seed: int) -> list[Call]:
    """The calls that a job lacks to `pilot` answered questions, in an order that is random but for the seed."""
    answered = {planned.item_id for planned in cell.calls if planned.answer is not None}
    open_calls = {
        planned.item_id: planned.call
        for planned in cell.calls
        if planned.to_do and planned.response is not None and not planned.call.trial
    }
    order = sorted(open_calls.keys() - answered, key=lambda item_id: _draw(seed, cell.task, item_id))
    return [open_calls[item_id] for item_id in order[: max(0, pilot - len(answered))]]


def _draw(seed: int, task: str, item_id: str) -> bytes:
    return hashlib.sha256(f"pilot\x00{seed}\x00{task}\x00{item_id}".encode("utf-8", "surrogatepass")).digest()


def _ask(study: Study, cell: Cell) -> _Ask:
    # A batch takes hours whatever its size.
    limits = replace(study.call_limits(cell.spec.name), mode="live")
    return _Ask(cell.name, cell.spec, chosen(cell, study.config.pilot, study.config.seed), cell.journal, limits)


def _ask_all(asks: Iterable[_Ask], processes: Executor) -> list[str]:
    """Make the calls, several models' and tasks' at once, and return the first fault of each model."""
    groups: dict[tuple[str, str], list[_Ask]] = defaultdict(list)
    for ask in asks:
        # Of one model and task all else is equal, so that what is wrong with the first is wrong with the rest.
        groups[ask.spec.name, ask.spec.to_json()].append(ask)
    ask_each = map if len(groups) < _FEWEST else processes.map
    faults: dict[str, str] = {}
    for (name, _), fault in zip(groups, ask_each(_ask_in_turn, groups.values()), strict=True):
        if fault:
            faults.setdefault(name, fault)
    return list(faults.values())


def _ask_in_turn(asks: Sequence[_Ask]) -> str:
    """Make these calls, and return the fault that ended them, or else the first that they left; empty if none."""
    # Not at the top: where nothing is to be asked, nothing waits for it.
    from voirdire.models import Journal, complete, request_keys
    from voirdire.models.batch import open_batches

    first = ""
    for ask in asks:
        try:
            with Journal(ask.journal) as journal:
                if open_batches(journal, set(request_keys(ask.spec, ask.calls))):
                    # Which may take a day, and will tell more than a pilot.
                    first = first or f"{ask.name}: left out, since a batch of its calls is under way"
                    continue
            answers = complete(ask.spec, ask.calls, ask.journal, ask.limits)
            failed = [answer.error for answer in answers.values() if answer.status == "error"]
        except UserError as error:
            return f"{ask.name}: {error}"
        if failed and not first:
            first = f"{ask.name}: {len(failed)} of {len(ask.calls)} calls failed (first {failed[0]})"
    return first
