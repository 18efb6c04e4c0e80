"""QuALITY: questions with four options on a long text."""

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.benchmarks.items import LETTERS, Item
from voirdire.benchmarks.records import (
    LeavesOutError,
    Record,
    WrongRecordError,
    is_missing,
    required,
    text,
    texts,
    whole_number,
)


def expand(record: Record) -> Iterator[Record]:
    """One record per question: QuALITY's own lines hold an article with its questions, other files one question."""
    if "questions" not in record.fields:
        yield record
        return
    questions = record.fields["questions"]
    if not isinstance(questions, list) or not all(isinstance(question, dict) for question in questions):
        raise WrongRecordError("questions must be a list of objects")
    shared = {key: value for key, value in record.fields.items() if key != "questions"}
    # The full file has an article once per question writer: only the set's id tells these lines apart.
    group = next((shared[key] for key in ("set_unique_id", "article_id") if not is_missing(shared.get(key))), None)
    for number, question in enumerate(questions, start=1):
        fallback = {} if group is None else {"item_id": f"{group}-q{number}"}
        yield Record(f"{record.where}, question {number}", {**shared, **fallback, **question})


def parse(record: Mapping[str, Any], position: int) -> Item:
    """One question with its article: article, question, options, and gold_label (1-4) or answer (0-3 or A-D)."""
    article = text(required(record, "article"), "article")
    question = text(required(record, "question"), "question")
    options = texts(required(record, "options"), "options")
    if len(options) != len(LETTERS):
        raise LeavesOutError(f"options has not {len(LETTERS)} entries")
    own_id = next((record[key] for key in ("question_unique_id", "item_id") if not is_missing(record.get(key))), None)
    return Item(
        task="quality",
        item_id=f"quality-{position:04d}" if own_id is None else text(own_id, "question_unique_id or item_id"),
        question=question,
        answer=_letter(record),
        options=options,
        article=article,
    )


def _letter(record: Mapping[str, Any]) -> str:
    label = record.get("gold_label")
    if not is_missing(label):
        number = whole_number(label, "gold_label") - 1
    else:
        answer = required(record, "gold_label", "answer")
        if isinstance(answer, str) and answer.strip() in LETTERS:
            return answer.strip()
        number = whole_number(answer, "answer")
    if number not in range(len(LETTERS)):
        raise WrongRecordError("gold_label must be from 1 to 4 (or answer from 0 to 3, or a letter A-D)")
    return LETTERS[number]
