"""What a study will still ask of real models, and what that will cost: a range for every role and model.

Where a job has answers, from a pilot or an earlier run, its rest is forecast from them. Where nothing of a model in
its role has been answered, there are bounds instead: the prompts alone, and every answer as long as the cap allows.
Nothing is guessed: where a model then has no cap, or no known price, the number is missing.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from voirdire.models import Answer, estimate_tokens, price_per_token
from voirdire.models.prices import BATCH_SHARE
from voirdire.models.records import spent_usd
from voirdire.study.calling import load_environment
from voirdire.study.cells import Cell, Planned, cells
from voirdire.study.forecast import Range, Sample, forecast
from voirdire.study.pilot import run_pilot
from voirdire.study.study import Study

SENT, RECEIVED, COST = "prompt_tokens", "completion_tokens", "cost_usd"
ENDS = ("low", "expected", "high")
_Price = tuple[float, float] | None


@dataclass(frozen=True)
class Estimate:
    """An estimate.

    Parameters
    ----------
    rows : one per role and paid model, and one of role "all", which is not their sum, since errors partly cancel.
        role, model, calls (all), to_do, answered; prompt_tokens, completion_tokens and cost_usd of what is to do, each
        _low, _expected and _high, missing where unknown; price: known, free, unknown, or partly known: then the cost
        is that of the models with a price.
    spent_usd : what the study's calls have cost so far; those without a price count 0.
    faults : what kept the pilot from asking, a sentence each.
    """

    rows: pd.DataFrame
    spent_usd: float
    faults: Sequence[str]


@dataclass
class _Group:
    """The jobs of one role and model; dollars of their answers, as listed and as billed."""

    calls: int = 0
    to_do: int = 0
    answered: int = 0
    listed: float = 0.0
    billed: float = 0.0

    @property
    def discount(self) -> float:
        """What is billed of a listed dollar: less than 1 where the provider caches prompts."""
        return self.billed / self.listed if self.listed and self.billed else 1.0


@dataclass(frozen=True)
class _Quantity:
    """A sample, whose it is, and what one of its tokens costs; nan where that isn't known."""

    group: tuple[str, str]
    kind: str
    sample: Sample
    price: float


def estimate(study: Study) -> Estimate:
    """What is still to do, after a pilot where the configuration wants one.

    Raises
    ------
    UserError : where items, prompts or journals can't be read.
    """
    load_environment()
    faults = run_pilot(study) if study.config.pilot else []
    prices = _Prices(study)
    groups: dict[tuple[str, str], _Group] = defaultdict(_Group)
    quantities: list[_Quantity] = []
    for cell in cells(study):
        name = cell.role, cell.spec.name
        price = prices.of(cell)
        _count(groups[name], cell, price)
        quantities += [_Quantity(name, kind, sample, price[kind == RECEIVED]) for kind, sample in _samples(cell)]
    rows = [_row(name, {name: group}, quantities) for name, group in groups.items()]
    if rows:
        rows.append(_row(("all", ""), groups, quantities))
    spent = sum(spent_usd(path) for path in sorted(Path(study.paths.journals).rglob("*.jsonl")))
    return Estimate(pd.DataFrame(rows), spent, faults)


class _Prices:
    """What models cost per token, sent and received; nan where that isn't known, or doesn't matter."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._known: dict[tuple[str, object], tuple[float, float]] = {}

    def of(self, cell: Cell) -> tuple[float, float]:
        spec = cell.spec
        key = spec.model, spec.price
        if key not in self._known:
            # Looking it up takes seconds. What is not asked costs nothing, whatever its price.
            if not any(planned.to_do for planned in cell.calls):
                return math.nan, math.nan
            self._known[key] = price_per_token(spec) or (math.nan, math.nan)
        sent, received = self._known[key]
        is_listed_batch = spec.price is None and self._study.call_limits(spec.name).mode == "batch"
        share = BATCH_SHARE if is_listed_batch else 1.0
        return share * sent, share * received


def _count(group: _Group, cell: Cell, price: tuple[float, float]) -> None:
    group.calls += len(cell.calls)
    group.to_do += sum(planned.to_do for planned in cell.calls)
    for planned in cell.calls:
        if (answer := planned.answer) is None:
            continue
        group.answered += 1
        listed = (answer.prompt_tokens or 0) * price[0] + (answer.completion_tokens or 0) * price[1]
        if answer.cost_usd and listed > 0:
            group.listed += listed
            group.billed += answer.cost_usd


def _row(
    name: tuple[str, str], groups: Mapping[tuple[str, str], _Group], quantities: Iterable[_Quantity]
) -> dict[str, object]:
    mine = [each for each in quantities if each.group in groups]
    costs = [each.price * groups[each.group].discount for each in mine]
    samples = [each.sample for each in mine]
    row: dict[str, object] = {
        "role": name[0],
        "model": name[1],
        "calls": sum(group.calls for group in groups.values()),
        "to_do": sum(group.to_do for group in groups.values()),
        "answered": sum(group.answered for group in groups.values()),
        "price": _known({cost for each, cost in zip(mine, costs, strict=True) if each.sample.left}),
    }
    for kind in (SENT, RECEIVED):
        row |= _ends(kind, forecast(samples, [float(each.kind == kind) for each in mine]))
    cost = forecast(samples, [0.0 if math.isnan(cost) else cost for cost in costs])
    return row | _ends(COST, Range(math.nan, math.nan, math.nan) if row["price"] == "unknown" else cost)


def _known(costs: Iterable[float]) -> str:
    """What is known of the prices of what is to do."""
    unknown = {math.isnan(cost) for cost in costs}
    if True in unknown:
        return "partly" if False in unknown else "unknown"
    return "known" if any(costs) or not unknown else "free"


def _ends(kind: str, found: Range) -> dict[str, float]:
    numbers = (getattr(found, end) for end in ENDS)
    return {
        f"{kind}_{end}": math.nan if math.isinf(number) else number for end, number in zip(ENDS, numbers, strict=True)
    }


def _samples(cell: Cell) -> Iterable[tuple[str, Sample]]:
    """What the job's answers have taken, and how much is left: prompts, and answers."""
    seen = [_seen(planned) for planned in cell.calls if planned.answer is not None]
    ready = [planned for planned in cell.calls if planned.to_do and planned.response is not None]
    waiting = [planned for planned in cell.calls if planned.to_do and planned.response is None]
    columns = np.array([numbers for _, numbers in seen], float).reshape(-1, 4)
    questions = [question for question, _ in seen]
    yield from _of_ready(cell, questions, columns, ready)
    if waiting:
        yield from _of_waiting(cell, questions, columns, waiting)


def _seen(planned: Planned) -> tuple[str, tuple[float, float, int, int]]:
    """The question, and tokens: sent and received as counted, sent in all and of the response as estimated."""
    assert planned.answer is not None
    assert planned.response is not None
    sent, received = _tokens(planned.answer, planned.sent)
    return planned.item_id, (sent, received, max(1, planned.sent), planned.response)


def _tokens(answer: Answer, sent: int) -> tuple[float, float]:
    """Tokens as the provider has counted them; estimated for an answer without a count, none for a blocked call."""
    if answer.prompt_tokens is not None:
        return answer.prompt_tokens, answer.completion_tokens or 0
    return (0, 0) if answer.status == "refused" else (sent, estimate_tokens(answer.raw_text or answer.text or ""))


def _of_ready(
    cell: Cell, questions: Sequence[str], seen: np.ndarray, ready: Sequence[Planned]
) -> Iterable[tuple[str, Sample]]:
    """Of the calls whose prompts are known."""
    sent, received, sizes, _ = seen.T
    who, left = f"{cell.role} {cell.spec.name}", len(ready)
    prompts = sum(planned.sent for planned in ready)
    yield SENT, Sample(f"{who} sent", cell.task, cell.name, questions, sent, sizes, left, prompts, skewed=False)
    ones = np.ones(len(questions))
    yield (
        RECEIVED,
        Sample(f"{who} received", cell.task, cell.name, questions, received, ones, left, left, cell.spec.cap),
    )


def _of_waiting(
    cell: Cell, questions: Sequence[str], seen: np.ndarray, waiting: Sequence[Planned]
) -> Iterable[tuple[str, Sample]]:
    """Of the judge's calls whose responses aren't there yet: prompts around them, the responses, and the verdicts.

    A question whose response turned out not to be judged needed no call; as many of them count as of the others.
    """
    sent, received, sizes, response = seen.T
    answered = {planned.item_id: planned.response for planned in cell.calls if planned.response is not None}
    n_idle = round(len(cell.unjudged) * len(set(questions)) / len(answered)) if answered else 0
    idle = np.zeros(n_idle)
    asked = [*questions, *cell.unjudged[:n_idle]]
    around = np.maximum(1.0, sizes - response)
    who, source, left = f"{cell.role} {cell.spec.name}", f"{cell.name} waiting", len(waiting)
    known = np.concatenate([sent * around / sizes, idle])
    around = np.concatenate([around, np.full(n_idle, around.mean() if len(around) else 1.0)])
    prompts = sum(planned.sent for planned in waiting)
    yield SENT, Sample(f"{who} waiting", cell.task, source, asked, known, around, left, prompts, skewed=False)
    per_estimate = sent.sum() / sizes.sum() if sent.any() else 1.0
    lengths = np.array([per_estimate * (tokens or 0) for tokens in answered.values()] + [0.0] * len(cell.unjudged))
    said = [*answered, *cell.unjudged]
    pool, source_of_responses = f"responses of {cell.examinee}", f"{cell.task} {cell.examinee}"
    yield SENT, Sample(pool, cell.task, source_of_responses, said, lengths, np.ones(len(said)), left, left, cell.cap)
    verdicts, ones = np.concatenate([received, idle]), np.ones(len(asked))
    yield RECEIVED, Sample(f"{who} received", cell.task, source, asked, verdicts, ones, left, left, cell.spec.cap)
