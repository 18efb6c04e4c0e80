"""Another order of an item's options: does a model know the answer, or prefer a letter?"""

import hashlib
import re
from dataclasses import replace

from voirdire.benchmarks.items import LETTERS, Item

_LETTER = r"(?:\(?[A-Da-d]\)|[A-D]\b)"
_OF = r"(?:all|none|both|neither|either|any|each|one|some|two|three)"
_WHICH = (
    r"(?:(?:\d|two|three|four|all|both|others?|rest|remaining|previous|preceding|following|first|second|third|fourth"
    r"|last)\s+)"
)
_OPTIONS = r"(?:options?|choices?|answers?)"
# Such options mean others by their letter or place, and would mean different ones elsewhere. Letters are capitals, or
# in brackets: "both a scholar and a soldier" has none.
_REFERS = re.compile(
    r"\b(?i:above|below)\W*$"
    rf"|\b(?i:{_OF}\s+of\s+(?:these|them|those)\b(?!\s+[^\W\d]))"
    rf"|\b(?i:{_OF}\s+of\s+the\s+(?:others?|rest)\b)"
    rf"|\b(?i:{_OF}\s+(?:of\s+)?(?:the\s+)?{_WHICH}{{0,2}}(?:{_OPTIONS}|statements?)\b)"
    rf"|\b(?i:(?:the|these|those)\s+{_WHICH}{{1,2}}{_OPTIONS}\b)"
    rf"|\b(?i:both|either|neither|only|not)\s+{_LETTER}(?=\W*$|[\s,/&]+(?i:and|or|nor)?\s*\(?[A-D]\b)"
    rf"|(?:^|[^\w]){_LETTER}\s*(?:(?i:and|or|nor)\b|[&,/+])\s*{_LETTER}(?!\w)"
    rf"|\b(?i:{_OPTIONS})\s+(?:{_LETTER}|[1-4]\b|(?i:one|two|three|four)\b)"
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
