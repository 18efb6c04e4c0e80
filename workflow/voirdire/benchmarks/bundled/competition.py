"""Problems in the manner of AIME: answers are whole numbers from 0 to 999, found by computation."""

from collections.abc import Mapping
from dataclasses import dataclass

from voirdire.benchmarks.bundled.competition_counting import COUNTING
from voirdire.benchmarks.bundled.competition_numbers import NUMBERS
from voirdire.benchmarks.bundled.drawing import Draw

COUNT = 30
SEED = 1
LARGEST = 999


@dataclass(frozen=True)
class Problem:
    """One problem with the parameters it was made from, so that a test can solve it in another way."""

    kind: str
    parameters: Mapping[str, int]
    question: str
    answer: int


KINDS = tuple(kind for pair in zip(NUMBERS, COUNTING, strict=True) for kind in pair)


def problems(count: int = COUNT, seed: int = SEED) -> list[Problem]:
    """The problems; the kinds take turns, and each is drawn again until its answer is from 10 to 999."""
    made: list[Problem] = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        draw = Draw(f"{seed}/{kind.name}/{number}")
        while True:
            parameters = kind.draw(draw)
            answer = kind.solve(**parameters)
            question = kind.ask(**parameters)
            if 10 <= answer <= LARGEST and all(question != other.question for other in made):
                break
        made.append(Problem(kind.name, parameters, question, answer))
    return made


def generate(count: int = COUNT, seed: int = SEED) -> list[dict[str, str]]:
    """Records with `question` and `answer`."""
    return [{"question": problem.question, "answer": str(problem.answer)} for problem in problems(count, seed)]
