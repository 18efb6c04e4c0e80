"""The jobs that call real models, call by call: what the journals have, and what is still to do.

Keys of calls decide, as they do in the jobs themselves: results may be older than the configuration, or deleted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voirdire.benchmarks import Item, items_from_frame
from voirdire.judging import examinee_prompt, judge_prompt
from voirdire.models import Answer, Call, ModelSpec, estimate_tokens, read_journal
from voirdire.models.spec import request_keys
from voirdire.study.generation import generate
from voirdire.study.prompts import read_prompt
from voirdire.study.study import Study
from voirdire.tables import GENERATIONS, ITEMS, JUDGEMENTS, Schema, read_table

EXAMINEE, JUDGE = "examinee", "judge"


@dataclass(frozen=True)
class Response:
    """What an examinee says to an item: a text once it is there, and whether it will be judged."""

    item: Item
    text: str | None
    judged: bool = True


@dataclass(frozen=True)
class Planned:
    """One call of a job.

    Parameters
    ----------
    item_id : the question.
    call : as the job makes it; without messages while the response to judge isn't there.
    sent : its prompt's tokens, estimated, the response's included.
    response : those of the response to judge; missing while it isn't there.
    answer : the journal's.
    tolerated : it failed, and the job went on without it.
    """

    item_id: str
    call: Call
    sent: int
    response: int | None = 0
    answer: Answer | None = None
    tolerated: bool = False

    @property
    def to_do(self) -> bool:
        return self.answer is None and not self.tolerated


@dataclass(frozen=True)
class Cell:
    """One job of a real model, its calls with equal keys taken once.

    Parameters
    ----------
    role : examinee or judge.
    examinee : whose responses; the model itself where it answers.
    unjudged : questions whose response won't be judged, as is known already.
    cap : the most tokens of a response that isn't there yet.
    """

    role: str
    job: tuple[str, ...]
    task: str
    examinee: str
    spec: ModelSpec
    journal: Path
    calls: Sequence[Planned]
    unjudged: Sequence[str] = ()
    cap: float = 0.0

    @property
    def name(self) -> str:
        return " ".join((self.role, *self.job))


def cells(study: Study, roles: Sequence[str] = (EXAMINEE, JUDGE)) -> Iterator[Cell]:
    """Every job of these roles that calls a real model; of each task first the examinees' jobs, then the judges'.

    Raises UserError where items, prompts or journals can't be read.
    """
    for task in study.matrix.tasks:
        items = items_from_frame(read_table(study.paths.items(task), ITEMS))
        responses: dict[str, Sequence[Response]] = {}
        around: dict[tuple[str, str | None, str], int] = {}
        for examinee in study.matrix.examinees:
            if study.is_paid(examinee):
                cell, responses[examinee] = _generation(study, task, examinee, items)
                if EXAMINEE in roles:
                    yield cell
            elif JUDGE in roles:
                responses[examinee] = _free_responses(study, task, examinee, items)
        for job in study.matrix.judgements if JUDGE in roles else ():
            _, judged_task, judge, examinee = job
            if judged_task == task and study.is_paid(judge):
                yield _judgement(study, job, responses[examinee], around)


def _generation(study: Study, task: str, examinee: str, items: Sequence[Item]) -> tuple[Cell, list[Response]]:
    """An examinee's job, and what it leaves to judge, from the journal."""
    template = read_prompt(study.examinee_prompt(task))
    calls = [_call(item.item_id, examinee_prompt(template, item)) for item in items]
    spec = study.model_spec(task, examinee)
    journal = Path(study.paths.journal("generate", task, examinee))
    known = read_journal(journal)
    tolerated = _tolerated(study, study.paths.generation(task, examinee), GENERATIONS)
    planned: dict[str, Planned] = {}
    responses = []
    for item, call, key in zip(items, calls, request_keys(spec, calls), strict=True):
        answer = known.get(key)
        planned.setdefault(
            key,
            Planned(item.item_id, call, _sent(call), answer=answer, tolerated=key in tolerated and answer is None),
        )
        judged = not planned[key].tolerated if answer is None else answer.status == "ok"
        responses.append(Response(item, answer.text if answer is not None and judged else None, judged))
    job = (task, examinee)
    return Cell(EXAMINEE, job, task, examinee, spec, journal, list(planned.values())), responses


def _free_responses(study: Study, task: str, examinee: str, items: Sequence[Item]) -> list[Response]:
    """Responses of a persona or from a file, which are there for the asking."""
    spec, source = json.loads(study.examinee_spec(task, examinee)), study.generation_input(task, examinee)
    frame, _ = generate(examinee, spec, items, source, study.config.seed)
    answered = frame[frame["status"] == "ok"].set_index("item_id")["response"].to_dict()
    return [Response(item, answered[item.item_id]) for item in items if item.item_id in answered]


def _judgement(
    study: Study,
    job: tuple[str, str, str, str],
    responses: Sequence[Response],
    around: dict[tuple[str, str | None, str], int],
) -> Cell:
    """A judge's job; `around` remembers the tokens of prompts without their responses, which judges share."""
    condition, task, judge, examinee = job
    path = study.judge_prompt(condition, task)
    template = read_prompt(path)
    shown = study.shown(study.conditions[condition].label, examinee)
    calls: list[tuple[Response, Call]] = []
    waiting: list[Planned] = []
    for response in responses:
        item = response.item
        ids = [f"{item.item_id}#{trial}" for trial in range(study.config.trials)] if response.judged else []
        if response.text is not None:
            prompt = judge_prompt(template, item, response.text, shown, study.config.seed)
            calls += [(response, _call(call_id, prompt, trial)) for trial, call_id in enumerate(ids)]
            continue
        same = path, shown, item.item_id
        if ids and same not in around:
            around[same] = estimate_tokens(judge_prompt(template, item, "", shown, study.config.seed))
        waiting += [
            Planned(item.item_id, Call(call_id, (), trial), around[same], None) for trial, call_id in enumerate(ids)
        ]
    spec = study.model_spec(task, judge)
    journal = Path(study.paths.journal("judge", *job))
    tolerated = _tolerated(study, study.paths.judgement(*job), JUDGEMENTS)
    return Cell(
        JUDGE,
        job,
        task,
        examinee,
        spec,
        journal,
        [*_ready(calls, spec, read_journal(journal), tolerated), *waiting],
        [response.item.item_id for response in responses if not response.judged],
        study.model_spec(task, examinee).cap if study.is_paid(examinee) else 0.0,
    )


def _ready(
    calls: Sequence[tuple[Response, Call]], spec: ModelSpec, known: Mapping[str, Answer], tolerated: set[str]
) -> Iterable[Planned]:
    """The calls whose responses are there."""
    planned: dict[str, Planned] = {}
    keys = request_keys(spec, [call for _, call in calls])
    for (response, call), key in zip(calls, keys, strict=True):
        if key not in planned:
            sent, answer = _sent(call), known.get(key)
            failed = key in tolerated and answer is None
            said = min(sent, estimate_tokens(response.text or ""))
            planned[key] = Planned(response.item.item_id, call, sent, said, answer, failed)
    return planned.values()


def _tolerated(study: Study, table: str, schema: Schema) -> set[str]:
    """Keys of calls that failed and that the job, which has ended, did without: nothing asks for them again."""
    if not study.config.accept_errors or not Path(table).exists():
        return set()
    frame = read_table(table, schema)
    return set(frame.loc[frame["status"] == "error", "request_key"].dropna())


def _sent(call: Call) -> int:
    return estimate_tokens(call.messages[0]["content"])


def _call(call_id: str, prompt: str, trial: int = 0) -> Call:
    return Call(call_id, ({"role": "user", "content": prompt},), trial)
