"""GSM8K and AIME: the last number that a response commits itself to, compared exactly with the right one.

**What commits.** `\\boxed{…}` (or `\\fbox`); a line `#### …`; `A: …` or `Ans: …` at a line's start;
`<answer>…</answer>`; the words "answer is …", "answer: …" and their like (would be, =, →, a heading "Answer" with the
answer below, "18 is the answer", "final result: …"); the word for answer of a dozen other languages, when the number
comes next after it; a correction ("Wait, it should be 5."). The last one wins, whatever its kind, and numbers that
merely follow are nothing. These commit to nothing: an empty box, a heading `#### Step 2`, "if the answer is …", "the
answer is not …", "the answer is correct: …", a question, a prompt's example (`#### N`). "Answer:" or "A:" that opens
a solution (words or a sum first, more numbers later) commits to what its last sentence states if it is all on one
line, else to nothing.

**Where nothing commits**, the last line counts if it is a number, alone or with its unit, set off from what stands
above (by an empty line, a colon, bold, a formula's marks, or as the only line); a solved unknown (`x = 10`) or
"Total: 18", a line that is nothing but a calculation; a whole sentence with one bold number; or a whole last sentence
that states one number and is no step on the way ("So she makes 9 * 2 = $18 a day.", not "First she sells 9."). What
is added behind it (greetings, notes, a check, an explanation, a table) is skipped. So the last number of a text that
breaks off within a sentence or behind a step is never an answer; a whole sentence can't be told from an end.

**The number.** Compared as exact fractions: 18, 18.0, 36/2, 1.8e1, 033, "eighteen" are what they say. Separators of
thousands, currency, percent, degrees, units, bold and LaTeX's marks are not compared: 50 % is 50, $18 is 18. A sum
counts by what stands behind its last equals sign. In a sentence the number counts that it begins with, or else its
one bold number, or else the first that neither counts what is given ("the 3 friends") nor is a circumstance ("in 3
days"). One that is part of something else is no number: 2:30, 5-10, 3:2, 18x, "5 or 10", "2 hours 30 minutes", two
unknowns. A comma before three digits separates thousands, any other is no decimal point, except in languages that use
one (and in 1.234,56).

**No number.** Where the last commitment is to no number (`\\boxed{\\text{none}}`, "The answer is unknown.", `#### no
solution` at the end), or is taken back ("Wait, that's wrong.") with no other behind it, there is no answer, whatever
came before. Words about the answer from which no number can be read don't undo a box or a line of hash signs.

**Second opinion.** A formula that commits but is no plain number (`\\boxed{2^{10}}`) is put to Math-Verify, if it is
installed, and counts if it comes to exactly a rational number; `how` then ends in "by Math-Verify", and says so where
it isn't installed.

A response that goes on to ask itself a new question ("Q: …") is read up to there. Thoughts, struck-out text,
invisible characters and marks of chat templates are not read. No answer is wrong (truth false); truth is null only
where the item's own answer is missing or no number.
"""

import re
from collections import deque
from fractions import Fraction

from voirdire.grading.numeric.commitments import MARKS, Commitment, Reader
from voirdire.grading.numeric.last_line import from_last_line, last_match
from voirdire.grading.numeric.marks import plain_characters
from voirdire.grading.numeric.numbers import read_number, shown
from voirdire.grading.numeric.statements import STATEMENTS
from voirdire.grading.text import visible

# Struck out, or marks of a chat's template that a server let through.
_NOT_READ = re.compile(r"~~[^~\n]{1,200}~~|<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<(?:eos|end_of_turn)>")
_NEXT_QUESTION = re.compile(r"^[ \t>*_#]*(?:Q|Question|Problem|Instruction|Human|User)[*_]*:", re.MULTILINE)
_QUESTIONS_READ = 20
# The last ones suffice, and keep a text of nothing else from taking long.
_MARKS_READ = 200
_TAKEN_BACK = re.compile(
    r"(?:\b(?:wait|hold\s+on|actually|oops|sorry|hmm+)\b|(?:^|[.!?\n])\s*no[,.!:])[^\n]{0,80}?"
    r"\b(?:wrong|incorrect|mistake|error|not\s+(?:right|correct)|miscalculated|misread)\b"
    r"|\bI(?:'ve|\s+have)?\s+made\s+an?\s+(?:\w+\s+)?(?:mistake|error)\b"
    r"|(?:^|[.!?\n])\s*(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:wrong|incorrect|not\s+(?:right|correct))\b",
    re.IGNORECASE,
)
_THOUGHT_AGAIN = re.compile(r"(?:^|[.!?\n])\s*(?:but\s+)?(?:wait|hold\s+on|oops)\b", re.IGNORECASE)
_CONFIRMED = re.compile(r"\b(?:is|was|looks|seems)\s+(?:indeed\s+)?(?:right|correct|fine)\b|\bconfirm", re.IGNORECASE)


def find_number(response: str) -> tuple[Fraction | None, str]:
    """The committed answer and the rule that found it; None and the reason where there is none.

    >>> find_number("2 + 3 = 5, so the answer is 5. Check: 5 - 3 = 2.")
    (Fraction(5, 1), 'answer is')
    """
    text = _NOT_READ.sub("", plain_characters(visible(response)))
    if not text.strip():
        return None, "no answer: empty"
    parts = _parts(text)
    for part in parts:
        commitment = _last_commitment(part)
        if commitment:
            return _unless_taken_back(commitment, part)
    return from_last_line(parts[0])


def grade_number(answer: str, response: str) -> tuple[bool, str | None, str]:
    """Whether the response's committed answer equals the right one; the answer in its shortest form; how.

    Raises ValueError where the right answer is no number.
    """
    right = read_number(answer, alone=True) if re.search(r"\d", answer) else None
    if right is None:
        raise ValueError("the item's answer is not a number")
    value, how = find_number(response)
    return value == right, None if value is None else shown(value), how


def _parts(text: str) -> list[str]:
    """The text, cut where it goes on to ask itself a new question."""
    starts = [match.start() for match in _NEXT_QUESTION.finditer(text)][:_QUESTIONS_READ]
    parts = [text[start:end] for start, end in zip([0, *starts], [*starts, len(text)], strict=True)]
    return [part for part in parts if part.strip()]


def _last_commitment(text: str) -> Commitment | None:
    """The last place of a text that commits to an answer."""
    found: list[tuple[int, re.Match[str], Reader, bool]] = []
    small = text.lower()
    for stated, marks in ((False, MARKS), (True, STATEMENTS)):
        for pattern, read, words in marks:
            if any(word in small for word in words):
                matches = deque(pattern.finditer(text), _MARKS_READ)
                found += [(match.start(), match, read, stated) for match in matches]
    found.sort(key=lambda mark: mark[0], reverse=True)
    marked = not all(stated for _, _, _, stated in found)
    for _, match, read, stated in found[:_MARKS_READ]:
        commitment = read(match, text)
        # Words about an answer that can't be read say less than a box or a line of hash signs.
        if commitment and not (commitment.value is None and marked and stated):
            return Commitment(commitment.value, commitment.how, max(match.end(), commitment.end))
    return None


def _unless_taken_back(commitment: Commitment, text: str) -> tuple[Fraction | None, str]:
    rest = text[commitment.end :]
    taken_back = last_match(_TAKEN_BACK, rest)
    if taken_back and not _CONFIRMED.search(rest, taken_back.end()):
        value, how = from_last_line(rest[taken_back.end() :])
        return value, how if value is not None else "no answer: taken back"
    if _THOUGHT_AGAIN.search(rest):
        value, how = from_last_line(rest)
        if value is not None:
            return value, how
    return commitment.value, commitment.how
