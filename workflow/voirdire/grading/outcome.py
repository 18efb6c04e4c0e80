"""What grading says about one response."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Grade:
    """`truth`: is the response right; None only where grading itself failed. `answer`: what was read from it.

    `how`: the rule that found the answer, or why there is none, in words of voirdire, never the response's.
    `sandbox`: for code, the isolation it ran in.
    """

    truth: bool | None
    answer: str | None
    how: str
    sandbox: str | None = None
