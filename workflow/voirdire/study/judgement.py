"""Judges say whether each response of one examinee is correct: a real model or a simulated persona."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from voirdire.benchmarks import Item
from voirdire.judging import judge_prompt, parse_verdict
from voirdire.models import Answer, Call, ModelSpec
from voirdire.simulated import ExamineeLook, Persona, right_answers
from voirdire.simulated import judge as simulated_judge
from voirdire.study.calling import NO_CALLS, Calling, call_columns
from voirdire.study.prompts import read_prompt
from voirdire.tables import JUDGEMENTS


@dataclass(frozen=True)
class Bench:
    """What one judge job is given.

    Parameters
    ----------
    name, condition : the judge and the condition's slug.
    spec : `Study.judge_spec`.
    items : the task's items.
    generations : one examinee's responses to them.
    grades : their grades, where a simulated judge needs them.
    prompt : the template's file.
    seed : of simulated draws and of the marker that delimits a response.
    calling : how a real model may be called.
    """

    name: str
    condition: str
    spec: Mapping[str, Any]
    items: Sequence[Item]
    generations: pd.DataFrame
    grades: pd.DataFrame | None
    prompt: str
    seed: int
    calling: Calling = NO_CALLS


def judge(bench: Bench) -> pd.DataFrame:
    """Every trial's verdicts on one examinee's responses, as the JUDGEMENTS schema has them.

    A response whose status isn't ok is not judged: its row has no status and no verdict.

    Raises UserError as `Calling.ask` does.
    """
    by_id = {item.item_id: item for item in bench.items}
    generations = bench.generations
    answered = generations[generations["status"] == "ok"]
    items = [by_id[item_id] for item_id in answered["item_id"]]
    responses = answered["response"].tolist()
    trials = range(bench.spec["trials"])
    if "persona" in bench.spec["judge"]:
        answers = _simulated(bench, items, responses, trials)
    else:
        answers = _called(bench, items, responses, trials)
    rows = [
        _row(bench, generation, trial, answers.get((generation["item_id"], trial)))
        for trial in trials
        for generation in generations.to_dict("records")
    ]
    return JUDGEMENTS.check(pd.DataFrame(rows, columns=JUDGEMENTS.names, dtype=object), "judgements")


def _called(
    bench: Bench, items: Sequence[Item], responses: Sequence[str], trials: range
) -> dict[tuple[str, int], dict[str, Any]]:
    template = read_prompt(bench.prompt)
    calls = {}
    for item, response in zip(items, responses, strict=True):
        prompt = judge_prompt(template, item, response, bench.spec["shown"], bench.seed, bench.prompt)
        for trial in trials:
            message = ({"role": "user", "content": prompt},)
            calls[item.item_id, trial] = Call(f"{item.item_id}#{trial}", message, trial)
    spec = ModelSpec(**bench.spec["judge"]["model"])
    answers = bench.calling.ask(spec, list(calls.values()))
    return {key: _read(answers[call.id]) for key, call in calls.items()}


def _simulated(
    bench: Bench, items: Sequence[Item], responses: Sequence[str], trials: range
) -> dict[tuple[str, int], dict[str, Any]]:
    persona = Persona.from_dict(bench.spec["judge"]["persona"], bench.name)
    examinee, right = _examinee(bench, items)
    found = {}
    for trial in trials:
        texts = simulated_judge(
            persona, items, responses, right, examinee, bench.spec["label"], bench.spec["template"], trial, bench.seed
        )
        for item, text in zip(items, texts, strict=True):
            parsed = parse_verdict(text)
            found[item.item_id, trial] = {
                "status": parsed.status,
                "verdict": parsed.verdict,
                "text": text,
                "simulated": True,
            }
    return found


def _examinee(bench: Bench, items: Sequence[Item]) -> tuple[Persona | ExamineeLook, Any]:
    """What a simulated judge sees of the examinee, and whether each response is right."""
    spec = bench.spec["examinee"]
    name = bench.generations["examinee"].iloc[0] if len(bench.generations) else ""
    if "persona" in spec:
        persona = Persona.from_dict(spec["persona"], name)
        return persona, right_answers(persona, items, bench.seed)
    if bench.grades is None:
        raise ValueError("a simulated judge of an examinee that isn't simulated needs the grades")
    truth = bench.grades.set_index("item_id")["truth"].reindex([item.item_id for item in items])
    accuracy = float(truth.mean()) if truth.notna().any() else 0.5
    return ExamineeLook.from_accuracy(name, spec["family"], accuracy), truth.array


def _read(answer: Answer) -> dict[str, Any]:
    columns = {**call_columns(answer), "text": answer.text, "simulated": False}
    if answer.status == "ok":
        parsed = parse_verdict(answer.text or "")
        columns.update(status=parsed.status, verdict=parsed.verdict)
    return columns


def _row(bench: Bench, generation: Mapping[Any, Any], trial: int, answer: Mapping[str, Any] | None) -> dict[str, Any]:
    row = {
        "condition": bench.condition,
        "template": bench.spec["template"],
        "label": bench.spec["label"],
        "trial": trial,
        "task": generation["task"],
        "item_id": generation["item_id"],
        "judge": bench.name,
        "examinee": generation["examinee"],
        "generation_status": generation["status"],
        "simulated": "persona" in bench.spec["judge"],
    }
    return {**row, **(answer or {})}
