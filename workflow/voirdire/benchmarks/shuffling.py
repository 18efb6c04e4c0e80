"""Another order of an item's options: does a model know the answer, or prefer a letter?"""

import hashlib
import re
from dataclasses import replace

from voirdire.benchmarks.items import LETTERS, Item

# Such options mean others by their letter or place, and would mean different ones elsewhere.
_REFERS = re.compile(
    r"\b(?:above|below)\W*$|\b(?:all|none)\s+of\s+(?:these|them)\b|\b(?:both|either|neither)\s+\(?[A-D]\b"
    r"|\b[A-D]\)?\s*(?:and|or|&|,)\s*\(?[A-D]\b|\boptions?\s+\(?[A-D1-4]\b",
    re.IGNORECASE,
)


def shuffled(item: Item, seed: int) -> Item:
    """The item with its options in an order drawn from the seed and its id, and the answer's letter to match.

    The order depends on nothing else: not on the other items, nor on their number. Items with an option that refers
    to others ("all of the above", "both A and C") stay as they are.

    >>> item = Item("quality", "q1", "Who?", answer="B", options=("Ann", "Bo", "Cy", "Di"))
    >>> shuffled(item, 1).options, shuffled(item, 1).answer
    (('Di', 'Ann', 'Bo', 'Cy'), 'C')
    """
    if item.answer is None or not item.options or any(_REFERS.search(option) for option in item.options):
        return item

    def drawn(index: int) -> bytes:
        key = "\x00".join((str(seed), item.task, item.item_id, str(index)))
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(item.options)), key=drawn)
    answer = LETTERS[order.index(LETTERS.index(item.answer))]
    return replace(item, options=tuple(item.options[index] for index in order), answer=answer)
