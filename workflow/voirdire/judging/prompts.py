"""Prompts for examinees and judges."""

from voirdire.benchmarks import Item, fill, placeholders, prompt_fields
from voirdire.errors import UserError
from voirdire.judging.injection import marker, neutralise


def identity_line(name: str | None) -> str:
    """The line that tells the judge who answered; empty for blind judging, which leaves its place empty.

    >>> identity_line("GPT-5")
    'The response was written by GPT-5.'
    """
    return f"The response was written by {' '.join(name.split())}." if name else ""


def judge_prompt(
    template: str, item: Item, response: str, label: str | None, seed: int, where: str = "the judge prompt"
) -> str:
    """The judge's prompt for one response.

    `label` is the model's name to show, None for blind judging; `seed` the study's. The template may use the item's
    placeholders, `$response` and `$identity`; the right answer is not among them. `where` names the template in errors.

    Raises UserError where the template lacks `$response`, or `$identity` though there is a label, or uses a
    placeholder that the item doesn't have.
    """
    used = placeholders(template)
    if "response" not in used:
        raise UserError(f"{where}: has no $response; add it where the examinee's response is to stand")
    if label and "identity" not in used:
        raise UserError(f"{where}: has no $identity, so the label cannot be shown; add it on a line of its own")
    word = marker(seed, item.task, item.item_id, response)
    shown = f"BEGIN RESPONSE {word}\n{neutralise(response)}\nEND RESPONSE {word}"
    return fill(template, {**prompt_fields(item), "response": shown, "identity": identity_line(label)}, where)


def examinee_prompt(template: str, item: Item, where: str = "the examinee prompt") -> str:
    """The examinee's prompt for one item. Raises UserError for a placeholder that the item doesn't have."""
    return fill(template, prompt_fields(item), where)
