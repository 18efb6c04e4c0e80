"""Everything a study reads from outside, checked before the first model is called."""

from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any, TypeVar

from voirdire.benchmarks import BENCHMARKS, Source, check, load
from voirdire.benchmarks.items import Item
from voirdire.errors import Faults, UserError
from voirdire.grading.sandbox.backends import find_sandbox
from voirdire.judging import examinee_prompt, judge_prompt
from voirdire.study.prompts import read_prompt
from voirdire.study.recorded import load_recorded
from voirdire.study.study import Study

_Result = TypeVar("_Result")


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


def check_inputs(study: Study, planned: Container[str]) -> None:
    """Before a run, read every benchmark file, recorded response and prompt once; `expect_files` has found them.

    Questions from the Hub are not fetched here, only their address is checked; their rule comes first and checks them.

    Parameters
    ----------
    planned : rules that will run. Where neither answers nor verdicts are to be made, nothing is read.

    Raises
    ------
    UserError : naming every fault found in any of them.
    """
    faults = Faults()
    if any(rule in planned for rule in ("benchmark", "generate", "judge")):
        for task in study.matrix.tasks:
            _check_task(study, task, faults)
    if "grade" in planned and any(BENCHMARKS[task].grader == "code" for task in study.matrix.tasks):
        # Programs need a sandbox; better to hear so now than after paying for them.
        _collect(faults, find_sandbox, study.config.sandbox)
    faults.raise_if_any()


def _check_task(study: Study, task: str, faults: Faults) -> None:
    source, seed = study.source(task), study.config.seed
    is_remote = source.kind == "hub"
    if is_remote:
        faults.extend(check(task, source, seed))
    # Questions of the Hub aren't here yet; bundled ones have the same fields.
    loaded = _collect(faults, load, task, Source("bundled") if is_remote else source, seed)
    if loaded is None:
        return
    for name in study.matrix.examinees:
        path, model = study.generation_input(task, name), study.model(name)
        if not model.responses:
            _collect(faults, _fill_examinee_prompt, path, loaded.items[0])
        elif not is_remote:
            _collect(faults, load_recorded, path, model.responses_examinee or name, loaded.items)
    for slug, condition in study.conditions.items():
        shown = study.shown(condition.label, study.matrix.examinees[0])
        _collect(faults, _fill_judge_prompt, study.judge_prompt(slug, task), loaded.items[0], shown)


def _fill_examinee_prompt(path: str, item: Item) -> str:
    return examinee_prompt(read_prompt(path), item, path)


def _fill_judge_prompt(path: str, item: Item, shown: str | None) -> str:
    return judge_prompt(read_prompt(path), item, "", shown, seed=0, where=path)


def _collect(faults: Faults, check: Callable[..., _Result], *arguments: Any) -> _Result | None:
    """What a check returns; or None, and its faults are added once: tasks share files, and conditions templates."""
    try:
        return check(*arguments)
    except UserError as error:
        faults.extend(fault for fault in error.faults if fault not in faults.faults)
        return None
