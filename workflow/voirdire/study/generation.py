"""Examinees answer: a real model, a simulated persona, or a file of recorded responses."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from voirdire.benchmarks import Item
from voirdire.errors import UserError
from voirdire.judging import examinee_prompt
from voirdire.models import Answer, Call, ModelSpec
from voirdire.simulated import Persona, respond
from voirdire.study.matrix import canonical
from voirdire.study.prompts import read_prompt
from voirdire.study.recorded import load_recorded
from voirdire.tables import GENERATIONS


def generate(
    name: str,
    spec: Mapping[str, Any],
    items: Sequence[Item],
    source: str,
    journal: str,
    seed: int,
    accept_errors: float = 0.0,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One examinee's responses to one task, as the GENERATIONS schema has them, and metadata for the file.

    Parameters
    ----------
    name : the examinee.
    spec : `Study.examinee_spec`: one key of `model`, `persona`, `recorded`.
    items : the task's items.
    source : the prompt's file, or that of recorded responses.
    journal : the file that keeps every answer of a real model.
    seed : of simulated draws.
    accept_errors : share of failed calls to live with.

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
    answers = ask(ModelSpec(**spec["model"]), calls, journal, accept_errors)
    rows = [{**_row(item, name, answers[item.item_id].text), **call_columns(answers[item.item_id])} for item in items]
    return _frame(rows), {}


def ask(spec: ModelSpec, calls: Sequence[Call], journal: str, accept_errors: float) -> Mapping[str, Answer]:
    """Make the calls that the journal has no answer to, and return all answers by the calls' ids.

    Raises UserError where more than the accepted share has failed: the answers are in the journal, so the next run
    asks only for the failed ones.
    """
    # Not at the top: simulated jobs are many, and do without.
    from voirdire.models import complete

    load_environment()
    answers = complete(spec, calls, Path(journal))
    failed = [answers[call.id].error for call in calls if answers[call.id].status == "error"]
    if failed:
        message = f"{spec.name}: {len(failed)} of {len(calls)} calls failed (first {failed[0]})"
        # Not a product: .29 * 100 is a little less than 29.
        if len(failed) / len(calls) > accept_errors:
            raise UserError(
                f"{message}; the other answers are kept, run again to ask for the failed ones alone, "
                "or raise accept_errors in the configuration to go on without them"
            )
        print(message, file=sys.stderr)
    return answers


def load_environment() -> None:
    """Take what .env holds into the environment: keys, and endpoints, which are part of what a call is known by."""
    # Not at the top: python-dotenv comes with the study extra, which simulated and recorded models do without.
    from dotenv import load_dotenv

    load_dotenv(Path(".env"))


def call_columns(answer: Answer) -> dict[str, Any]:
    """The columns that say how a call went."""
    return {
        "status": answer.status,
        "finish_reason": answer.finish_reason,
        "sent": canonical(answer.sent),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "cost_usd": answer.cost_usd,
        "latency_s": answer.latency_s,
        "resolved_model": answer.resolved_model,
        "request_key": answer.key,
    }


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
