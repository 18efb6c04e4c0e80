"""Word problems in the manner of GSM8K, from a seeded generator."""

from voirdire.benchmarks.bundled.drawing import Draw, Solution
from voirdire.benchmarks.bundled.word_amounts import AMOUNTS
from voirdire.benchmarks.bundled.word_money import MONEY

COUNT = 150
SEED = 2
TEMPLATES = tuple(template for pair in zip(AMOUNTS, MONEY, strict=True) for template in pair)


def generate(count: int = COUNT, seed: int = SEED) -> list[dict[str, str]]:
    """Records with `question` and `answer`; the templates take turns, so that the first few are varied too."""
    records = []
    for number in range(count):
        template = TEMPLATES[number % len(TEMPLATES)]
        solution = Solution()
        question = template(Draw(f"{seed}/{template.__name__}/{number}"), solution)
        records.append({"question": question, "answer": solution.text()})
    return records
