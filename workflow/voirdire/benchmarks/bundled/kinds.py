"""What a kind of competition problem consists of."""

from collections.abc import Callable
from dataclasses import dataclass

from voirdire.benchmarks.bundled.drawing import Draw


@dataclass(frozen=True)
class Kind:
    """A kind of problem: draws parameters, asks the question, and solves it; both take the parameters by name."""

    name: str
    draw: Callable[[Draw], dict[str, int]]
    ask: Callable[..., str]
    solve: Callable[..., int]
