"""Everything a study reads from outside, checked before the first model is called."""

from collections.abc import Iterator
from pathlib import Path

from voirdire.benchmarks import BENCHMARKS, check, load
from voirdire.benchmarks.items import Item
from voirdire.errors import Faults, UserError
from voirdire.grading.backends import find_sandbox
from voirdire.judging import examinee_prompt, judge_prompt
from voirdire.study.prompts import read_prompt
from voirdire.study.recorded import load_recorded
from voirdire.study.study import Study


def expect_files(study: Study) -> None:
    """Raise UserError naming every file that the configuration speaks of and that isn't there. Opens none."""
    faults = Faults()
    for path, what in dict(_files(study)).items():
        if not Path(path).is_file():
            faults.add(f"{path}: no such file ({what}); correct the path or put the file there")
    faults.raise_if_any()


def _files(study: Study) -> Iterator[tuple[str, str]]:
    for task in study.matrix.tasks:
        for path in study.benchmark_input(task):
            yield path, f"benchmarks.{task}.path"
        for name in study.matrix.examinees:
            recorded = study.model(name).responses
            what = f"models.{name}.responses" if recorded else f"the examinees' prompt for {task}"
            yield study.generation_input(task, name), what
        for condition in study.conditions:
            yield study.judge_prompt(condition, task), f"the judges' prompt for {task}"


def check_inputs(study: Study) -> None:
    """Read every benchmark file, recorded response and prompt once; `expect_files` has found them.

    Questions from the Hub are not fetched here, only their address is checked; their rule comes first and checks them.

    Raises
    ------
    UserError : naming every fault found in any of them.
    """
    faults = Faults()
    for task in study.matrix.tasks:
        if study.source(task).kind == "hub":
            faults.extend(check(task, study.source(task), study.config.seed))
            continue
        try:
            items = load(task, study.source(task), study.config.seed).items
        except UserError as error:
            _extend(faults, error)
        else:
            _check_task(study, task, items, faults)
    _check_sandbox(study, faults)
    faults.raise_if_any()


def _check_sandbox(study: Study, faults: Faults) -> None:
    """Programs that are still to be graded need a sandbox; better to hear so now than after paying for them."""
    to_grade = [
        job
        for job in study.matrix.answers
        if BENCHMARKS[job[0]].grader == "code" and not Path(study.paths.grade(*job)).exists()
    ]
    if to_grade:
        try:
            find_sandbox(study.config.sandbox)
        except UserError as error:
            _extend(faults, error)


def _check_task(study: Study, task: str, items: list[Item], faults: Faults) -> None:
    for name in study.matrix.examinees:
        path = study.generation_input(task, name)
        try:
            if study.model(name).responses:
                load_recorded(path, study.model(name).responses_examinee or name, items)
            else:
                examinee_prompt(read_prompt(path), items[0], path)
        except UserError as error:
            _extend(faults, error)
    for condition in study.conditions:
        path = study.judge_prompt(condition, task)
        shown = study.shown(study.conditions[condition].label, study.matrix.examinees[0])
        try:
            judge_prompt(read_prompt(path), items[0], "", shown, study.config.seed, path)
        except UserError as error:
            _extend(faults, error)


def _extend(faults: Faults, error: UserError) -> None:
    """Add what is new: tasks share files of recorded responses, and conditions share templates."""
    faults.extend(fault for fault in error.faults if fault not in faults.faults)
