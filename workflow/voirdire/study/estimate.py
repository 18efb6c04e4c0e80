"""What a study will still ask of real models, and between which bounds it will cost.

The lower bound is what the prompts cost; the upper one adds as many tokens as each model's cap allows. Nothing is
guessed: where a model has no cap or no known price, the bound is missing.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from voirdire.benchmarks import Item, items_from_frame
from voirdire.judging import examinee_prompt, judge_prompt
from voirdire.models import Call, ModelSpec, estimate_tokens, pending, price_per_token, read_journal, request_key
from voirdire.study.generation import generate, load_environment
from voirdire.study.prompts import read_prompt
from voirdire.study.study import Study
from voirdire.tables import ITEMS, read_table

_CAPS = ("max_completion_tokens", "max_tokens")
_NUMBERS = (
    "calls",
    "to_do",
    "prompt_tokens",
    "prompt_tokens_high",
    "completion_tokens_high",
    "cost_usd_low",
    "cost_usd_high",
)
# A response to judge; None where it has yet to be paid for.
_Response = tuple[Item, str | None]


@dataclass(frozen=True)
class _Job:
    """Calls of one job that are still to do, and by how many tokens their prompts together may yet grow."""

    role: str
    spec: ModelSpec
    n_calls: int
    to_do: Sequence[Call]
    growth: float = 0.0

    @property
    def sent(self) -> int:
        return sum(estimate_tokens(call.messages[0]["content"]) for call in self.to_do)


def estimate(study: Study) -> pd.DataFrame:
    """Calls, tokens and cost of what is still to do, a row per role and paid model.

    Returns
    -------
    role, model, calls (all), to_do, prompt_tokens, prompt_tokens_high, completion_tokens_high, cost_usd_low,
    cost_usd_high; missing where a cap or a price is unknown.

    Raises
    ------
    UserError : where items or prompts can't be read.
    """
    load_environment()
    rows: dict[tuple[str, str], dict[str, float]] = {}
    prices: dict[str, tuple[float, float] | None] = {}
    for job in _jobs(study):
        row = rows.setdefault((job.role, job.spec.name), dict.fromkeys(_NUMBERS, 0.0))
        row["calls"] += job.n_calls
        # What is not asked costs nothing, whatever its price.
        if not job.to_do:
            continue
        if job.spec.model not in prices:
            prices[job.spec.model] = price_per_token(job.spec)
        price = prices[job.spec.model] or (math.nan, math.nan)
        low, high, received = job.sent, job.sent + job.growth, _cap(job.spec) * len(job.to_do)
        found = (len(job.to_do), low, high, received, low * price[0], high * price[0] + received * price[1])
        for name, number in zip(_NUMBERS[1:], found, strict=True):
            row[name] += number
    frame = pd.DataFrame([{"role": role, "model": model, **row} for (role, model), row in rows.items()])
    return frame.replace(math.inf, math.nan)


def _jobs(study: Study) -> Iterator[_Job]:
    for task in study.matrix.tasks:
        items = items_from_frame(read_table(study.paths.items(task), ITEMS))
        responses = {}
        for examinee in study.matrix.examinees:
            if study.is_paid(examinee):
                job, responses[examinee] = _generation(study, task, examinee, items)
                yield job
            else:
                responses[examinee] = _free_responses(study, task, examinee, items)
        for condition, judged_task, judge, examinee in study.matrix.judgements:
            if judged_task == task and study.is_paid(judge):
                yield _judgement(study, (condition, task, judge, examinee), responses[examinee])


def _generation(study: Study, task: str, examinee: str, items: Sequence[Item]) -> tuple[_Job, list[_Response]]:
    """An examinee's job, and what it leaves to judge.

    That is read from the journal: a table of generations may be older than the configuration, and be made again.
    """
    template = read_prompt(study.examinee_prompt(task))
    calls = [_call(item.item_id, examinee_prompt(template, item)) for item in items]
    spec = study.model_spec(task, examinee)
    journal = Path(study.paths.journal("generate", task, examinee))
    known = read_journal(journal)
    answers = [known.get(request_key(spec, call)) for call in calls]
    responses = [
        (item, None if answer is None else answer.text)
        for item, answer in zip(items, answers, strict=True)
        if answer is None or answer.status == "ok"
    ]
    return _Job("examinee", spec, len(calls), pending(spec, calls, journal)), responses


def _free_responses(study: Study, task: str, examinee: str, items: Sequence[Item]) -> list[_Response]:
    """Responses of a persona or from a file, which are there for the asking."""
    spec, source = json.loads(study.examinee_spec(task, examinee)), study.generation_input(task, examinee)
    frame, _ = generate(examinee, spec, items, source, "", study.config.seed)
    answered = frame[frame["status"] == "ok"].set_index("item_id")["response"].to_dict()
    return [(item, answered[item.item_id]) for item in items if item.item_id in answered]


def _judgement(study: Study, job: tuple[str, str, str, str], responses: Sequence[_Response]) -> _Job:
    """A judge's job; responses that aren't there yet may be as long as their model's cap."""
    condition, task, judge, examinee = job
    template = read_prompt(study.judge_prompt(condition, task))
    shown = study.shown(study.conditions[condition].label, examinee)
    ready: list[Call] = []
    waiting: list[Call] = []
    for item, response in responses:
        prompt = judge_prompt(template, item, response or "", shown, study.config.seed)
        calls = waiting if response is None else ready
        calls += [_call(f"{item.item_id}#{trial}", prompt, trial) for trial in range(study.config.trials)]
    spec = study.model_spec(task, judge)
    to_do = pending(spec, ready, Path(study.paths.journal("judge", *job))) + waiting
    growth = _cap(study.model_spec(task, examinee)) * len(waiting) if waiting else 0.0
    return _Job("judge", spec, len(ready) + len(waiting), to_do, growth)


def _cap(spec: ModelSpec) -> float:
    """The most tokens of one answer, by the parameters that are really sent."""
    sent = spec.sampling()
    return next((sent[name] for name in _CAPS if sent.get(name) is not None), math.inf)


def _call(call_id: str, prompt: str, trial: int = 0) -> Call:
    return Call(call_id, ({"role": "user", "content": prompt},), trial)
