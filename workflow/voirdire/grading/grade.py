"""Grading of responses, by the kind of answer that a task wants."""

from collections.abc import Sequence

from voirdire.benchmarks import BENCHMARKS, Item
from voirdire.errors import UserError
from voirdire.grading.numeric.answer import grade_number
from voirdire.grading.options.choice import grade_choice
from voirdire.grading.outcome import Grade
from voirdire.grading.programs.code import grade_programs
from voirdire.grading.sandbox.backends import find_sandbox


def grade(task: str, item: Item, response: str, *, sandbox: str = "auto") -> Grade:
    """Grade one response.

    `task` is a benchmark's name (gsm8k, aime, mbpp, quality); `sandbox` as for `grade_many`.

    >>> item = Item("gsm8k", "q1", "What is 9 * 2?", answer="18")
    >>> grade("gsm8k", item, "9 * 2 = 18\\n#### 18")
    Grade(truth=True, answer='18', how='####', sandbox=None)
    """
    return grade_many(task, [item], [response], sandbox=sandbox, workers=1)[0]


def grade_many(
    task: str, items: Sequence[Item], responses: Sequence[str], *, sandbox: str = "auto", workers: int | None = None
) -> list[Grade]:
    """Grade a response per item, in order.

    For code, `sandbox` is "auto" (the strongest isolation that works here), the name of one ("bubblewrap", "unshare",
    "landlock"), or "unsafe" (none, to be chosen by hand only), and `workers` programs run at a time (default: one per
    core).

    Raises UserError where the task is unknown or, for code, nothing isolates.
    """
    if task not in BENCHMARKS:
        raise UserError(f"unknown task '{task}'; known are {', '.join(BENCHMARKS)}")
    if len(items) != len(responses):
        raise UserError(f"{task}: {len(items)} items but {len(responses)} responses; there must be one per item")
    if BENCHMARKS[task].grader == "code":
        return grade_programs(list(items), list(responses), find_sandbox(sandbox), workers) if items else []
    return [_grade_text(task, item, response) for item, response in zip(items, responses, strict=True)]


def _grade_text(task: str, item: Item, response: str) -> Grade:
    if item.answer is None:
        return Grade(None, None, "not graded: the item has no answer")
    if BENCHMARKS[task].grader == "choice":
        return Grade(*grade_choice(item.answer, item.options, response))
    try:
        return Grade(*grade_number(item.answer, response))
    except ValueError as error:
        return Grade(None, None, f"not graded: {error}")
