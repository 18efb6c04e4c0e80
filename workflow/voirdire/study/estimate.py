"""What a study will still ask of real models, and between which bounds it will cost.

The lower bound is what the prompts cost; the upper one adds as many tokens as each model's cap allows. Nothing is
guessed: where a model has no cap or no known price, the bound is missing.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from voirdire.benchmarks import Item, items_from_frame
from voirdire.judging import examinee_prompt, judge_prompt
from voirdire.models import Call, ModelSpec, estimate_tokens, pending, price_per_token
from voirdire.study.prompts import read_prompt
from voirdire.study.study import Study
from voirdire.tables import GENERATIONS, ITEMS, read_table

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


@dataclass(frozen=True)
class _Job:
    """Calls of one job that are still to do, and how many more tokens their prompts may yet grow by."""

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
    rows: dict[tuple[str, str], dict[str, float]] = {}
    prices: dict[str, tuple[float, float] | None] = {}
    for job in _jobs(study):
        if job.spec.model not in prices:
            prices[job.spec.model] = price_per_token(job.spec)
        price = prices[job.spec.model] or (math.nan, math.nan)
        low, high = job.sent, job.sent + (job.growth * len(job.to_do) if job.to_do else 0)
        received = _cap(job.spec) * len(job.to_do) if job.to_do else 0
        row = rows.setdefault((job.role, job.spec.name), dict.fromkeys(_NUMBERS, 0.0))
        found = (
            job.n_calls,
            len(job.to_do),
            low,
            high,
            received,
            low * price[0],
            high * price[0] + received * price[1],
        )
        for name, number in zip(_NUMBERS, found, strict=True):
            row[name] += number
    frame = pd.DataFrame([{"role": role, "model": model, **row} for (role, model), row in rows.items()])
    return frame.replace(math.inf, math.nan)


def _jobs(study: Study) -> Iterator[_Job]:
    for task in study.matrix.tasks:
        items = items_from_frame(read_table(study.paths.items(task), ITEMS))
        for examinee in study.matrix.examinees:
            if study.is_paid(examinee):
                yield _generation(study, task, examinee, items)
        for condition, judged_task, judge, examinee in study.matrix.judgements:
            if judged_task == task and study.is_paid(judge):
                yield _judgement(study, condition, task, judge, examinee, items)


def _generation(study: Study, task: str, examinee: str, items: Sequence[Item]) -> _Job:
    template = read_prompt(study.examinee_prompt(task))
    calls = [_call(item.item_id, examinee_prompt(template, item)) for item in items]
    spec = study.model_spec(task, examinee)
    journal = Path(study.paths.journal("generate", task, examinee))
    return _Job("examinee", spec, len(calls), pending(spec, calls, journal))


def _judgement(study: Study, condition: str, task: str, judge: str, examinee: str, items: Sequence[Item]) -> _Job:
    """A judge's job; responses that aren't there yet may be as long as their model's cap."""
    template = read_prompt(study.judge_prompt(condition, task))
    shown = study.shown(study.conditions[condition].label, examinee)
    responses, growth = _responses(study, task, examinee, items)
    calls = [
        _call(f"{item.item_id}#{trial}", judge_prompt(template, item, response, shown, study.config.seed), trial)
        for item, response in responses
        for trial in range(study.config.trials)
    ]
    spec = study.model_spec(task, judge)
    journal = Path(study.paths.journal("judge", condition, task, judge, examinee))
    return _Job("judge", spec, len(calls), pending(spec, calls, journal), growth)


def _responses(study: Study, task: str, examinee: str, items: Sequence[Item]) -> tuple[list[tuple[Item, str]], float]:
    """The responses to judge, and how many tokens each may yet grow by."""
    path = Path(study.paths.generation(task, examinee))
    if not path.exists():
        cap = _cap(study.model_spec(task, examinee)) if study.is_paid(examinee) else math.inf
        return [(item, "") for item in items], cap
    generations = read_table(path, GENERATIONS)
    answered = generations[generations["status"] == "ok"].set_index("item_id")["response"]
    return [(item, answered[item.item_id]) for item in items if item.item_id in answered.index], 0.0


def _cap(spec: ModelSpec) -> float:
    return next((spec.parameters[name] for name in _CAPS if name in spec.parameters), math.inf)


def _call(call_id: str, prompt: str, trial: int = 0) -> Call:
    return Call(call_id, ({"role": "user", "content": prompt},), trial)
