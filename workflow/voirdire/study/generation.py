"""Examinees answer: a real model, a simulated persona, or a file of recorded responses."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from voirdire.benchmarks import Item
from voirdire.judging import examinee_prompt
from voirdire.models import Call, ModelSpec
from voirdire.simulated import Persona, respond
from voirdire.study.calling import NO_CALLS, Calling, call_columns
from voirdire.study.prompts import read_prompt
from voirdire.study.recorded import load_recorded
from voirdire.tables import GENERATIONS


def generate(
    name: str,
    spec: Mapping[str, Any],
    items: Sequence[Item],
    source: str,
    seed: int,
    calling: Calling = NO_CALLS,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One examinee's responses to one task, as the GENERATIONS schema has them, and metadata for the file.

    Parameters
    ----------
    name : the examinee.
    spec : `Study.examinee_spec`: one key of `model`, `persona`, `recorded`.
    items : the task's items.
    source : the prompt's file, or that of recorded responses.
    seed : of simulated draws.
    calling : how a real model may be called.

    Raises
    ------
    UserError : for a bad prompt or file, a fault that stops all calls, or more failed calls than accepted.
    """
    if "recorded" in spec:
        recorded = load_recorded(source, spec["recorded"], items)
        rows = [
            _row(item, name, recorded.responses[item.item_id]) for item in items if item.item_id in recorded.responses
        ]
        metadata = {"unmatched_records": recorded.n_unmatched, "items_without_response": len(items) - len(rows)}
        return _frame(rows), metadata
    if "persona" in spec:
        persona = Persona.from_dict(spec["persona"], name)
        responses = respond(persona, items, seed)
        rows = [
            {**_row(item, name, response.text), "simulated": True}
            for item, response in zip(items, responses, strict=True)
        ]
        return _frame(rows), {}
    template = read_prompt(source)
    calls = [Call(item.item_id, _message(examinee_prompt(template, item, source))) for item in items]
    answers = calling.ask(ModelSpec(**spec["model"]), calls)
    rows = [{**_row(item, name, answers[item.item_id].text), **call_columns(answers[item.item_id])} for item in items]
    return _frame(rows), {}


def _message(prompt: str) -> tuple[dict[str, str], ...]:
    return ({"role": "user", "content": prompt},)


def _row(item: Item, name: str, response: str | None) -> dict[str, Any]:
    return {
        "task": item.task,
        "item_id": item.item_id,
        "examinee": name,
        "status": "ok" if response and response.strip() else "empty",
        "response": response,
        "response_chars": None if response is None else len(response),
        "simulated": False,
    }


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows with every column of the schema, missing where a row doesn't say."""
    return GENERATIONS.check(pd.DataFrame(rows, columns=GENERATIONS.names, dtype=object), "generations")
