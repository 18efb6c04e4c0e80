"""QuALITY: which of the options a response decides for; the last decision wins.

**What decides.** A letter in a box, as a value of JSON, after "answer is", "answer:" (in a few languages), "choose",
"so", "I think", "that leaves" and the like, or before "is correct", "fits best"; alone on a line or as its last
sentence; at the start of the response with a reason or its option behind it, or of a line with its option; and the one
letter that a walk through the options calls right ("A: wrong. B: right."). Where there is no such letter, an option's
own words do: as the whole response or as the answer that it names; or where the text holds those of one option alone,
three words or more, or fewer at the end of what a short text says and doesn't deny or doubt. Where one option's words
are part of another's, the longer one counts.

**What doesn't.** A letter that is denied ("not B", "I wouldn't choose B"), asked about ("Could it be B?") or offered
beside another ("B or D", "A and C"); the article "A"; an initial or a name ("Vitamin C"); letters of options that are
walked through without one called right; letters beyond D, numbers, "none of the above". A decision between two letters
that is never made leaves the response without an answer, even if it decided before: the last word counts. Small letters
count where nothing follows them ("answer: b").
"""

import re
import unicodedata

from voirdire.benchmarks import LETTERS
from voirdire.grading.options.wordings import (
    AN_ANSWER,
    ASKED,
    BESIDE,
    DECISIONS,
    DENIED,
    DENIED_BEFORE,
    ENDS,
    LINE,
    NEXT_QUESTION,
    REFUTED,
    STATEMENT,
    UNDECIDED,
    WALK,
    WAVERS,
    WORD_FOLLOWS,
)
from voirdire.grading.text import visible

_TAGS = re.compile(r"</?[A-Za-z][\w-]{1,20}>")
# A longer text says more than its answer.
_SHORT = 300
_DENIALS = {"not", "t", "never", "nor", "than", "unlike"}
_ARTICLES = {"a", "an", "the"}
_MARKS = re.compile(r"\*+|`|_{2,}|\$")


def find_letter(response: str, options: tuple[str, ...] = ()) -> tuple[str | None, str]:
    """The letter decided for and the rule that found it; None and the reason where there is none.

    >>> find_letter("It can't be B, since he never left. The answer is D.")
    ('D', 'decision')
    """
    text = _MARKS.sub("", _TAGS.sub("\n", _folded(visible(response))))
    text = _before_next_question(text)
    lines = _line_decisions(text, options)
    found = sorted([*_worded_decisions(text), *_walked(text), *lines], key=lambda decision: decision[0])
    if found:
        return found[-1][1:]
    alone = re.fullmatch(r"\W*(?:answer\W+)?(?:is\W+)?(?:option\W+)?([a-d])\W*", text.strip(), re.IGNORECASE)
    if alone:
        return alone[1].upper(), "letter alone"
    return _by_words(text, options)


def grade_choice(answer: str, options: tuple[str, ...], response: str) -> tuple[bool, str | None, str]:
    """Whether the response decides for the right letter; the letter; how it was found."""
    letter, how = find_letter(response, options)
    return letter == answer.strip().upper(), letter, how


def _worded_decisions(text: str) -> list[tuple[int, str | None, str]]:
    wavering = (match for match in WAVERS.finditer(text) if BESIDE.match(text, match.end()))
    found: list[tuple[int, str | None, str]] = [
        (match.start("letter"), None, "undecided: two letters") for match in wavering
    ]
    for pattern in DECISIONS:
        for match in pattern.finditer(text):
            letter = match["letter"]
            # The patterns ignore case for their words; a small letter is an article or a name, unless it ends.
            if letter.islower() and WORD_FOLLOWS.match(text, match.end()):
                continue
            start = match.start("letter")
            before = text[max(0, match.start() - 30) : match.start()]
            if DENIED.search(text[max(0, start - 20) : start]) or re.search(r"\bnot\b", match[0], re.IGNORECASE):
                continue
            if DENIED_BEFORE.search(before) or ASKED.match(text, match.end()):
                continue
            if BESIDE.match(text, match.end()):
                found.append((start, None, "undecided: two letters"))
            else:
                found.append((start, letter.upper(), "decision"))
    return found


def _walked(text: str) -> list[tuple[int, str | None, str]]:
    """The one letter that a walk through several options calls right."""
    calls = list(WALK.finditer(text))
    right = {match["letter"].upper() for match in calls if match["right"]}
    if len(right) != 1 or len({match["letter"].upper() for match in calls}) < 2:
        return []
    return [(calls[-1].start("letter"), right.pop(), "called right")]


def _before_next_question(text: str) -> str:
    """What stands before the first question that the response asks itself, behind something else."""
    for question in NEXT_QUESTION.finditer(text):
        if text[: question.start()].strip():
            return text[: question.start()]
    return text


def _folded(text: str) -> str:
    """Full-width and circled letters as plain ones, one character at a time."""
    folded = {ord(c): unicodedata.normalize("NFKC", c) for c in set(text) if not c.isascii()}
    return text.translate(folded) if folded else text


def _line_decisions(text: str, options: tuple[str, ...]) -> list[tuple[int, str | None, str]]:
    found: list[tuple[int, str | None, str]] = []
    matches = [match for match in LINE.finditer(text) if not STATEMENT.match(match["behind"])]
    first = len(text) - len(text.lstrip())
    # Lines that go through several options, each with its letter, weigh them; they decide nothing.
    walk = len({match["letter"] for match in matches if match["behind"].strip(" .):")}) > 1
    for match in matches:
        bare = not match["behind"].strip(" .):,;")
        if bare or (not walk and (match.start() == first or _names_option(match, options))):
            if BESIDE.match(text, match.end("letter")):
                found.append((match.start("letter"), None, "undecided: two letters"))
            else:
                found.append((match.start("letter"), match["letter"], "letter alone" if bare else "letter first"))
    return found


def _names_option(match: "re.Match[str]", options: tuple[str, ...]) -> bool:
    index = LETTERS.index(match["letter"])
    if index >= len(options):
        return False
    behind, option = f"{_words(match['behind'])} ", f"{_words(options[index])} "
    return behind.startswith(option) and not REFUTED.search(behind[len(option) :])


def _by_words(text: str, options: tuple[str, ...]) -> tuple[str | None, str]:
    """The one option whose own words are the answer."""
    candidates = [_words(text), *(_words(match[1]) for match in reversed(list(AN_ANSWER.finditer(text))))]
    words = [_words(option) for option in options]
    for said in candidates:
        same = [letter for letter, option in zip(LETTERS, words, strict=False) if option and said == option]
        if len(same) == 1:
            return same[0], "option text"
    for said in candidates[1:]:
        within = [
            letter
            for letter, option in zip(LETTERS, words, strict=False)
            if option and f"{said} ".startswith(f"{option} ")
        ]
        if len(within) == 1:
            return within[0], "option text"
    held = [
        (letter, option)
        for letter, option in zip(LETTERS, words, strict=False)
        if len(option.split()) >= 2 and f" {option} " in f" {candidates[0]} "
    ]
    quoted = [
        letter
        for letter, option in held
        if not any(option != other and f" {option} " in f" {other} " for _, other in held)
    ]
    if len(quoted) == 1 and len(dict(held)[quoted[0]].split()) >= 3 and not re.search(r"\b[A-D]\b(?!\s+[a-z])", text):
        return quoted[0], "option text"
    named = _named(text, options) if len(text) <= _SHORT and not UNDECIDED.search(text) else set()
    if len(named) == 1:
        return named.pop(), "option text"
    return None, "no answer: no decision for one letter"


def _named(text: str, options: tuple[str, ...]) -> set[str]:
    """The letters whose options' words stand in a short text undenied; those of a longer option count for it alone.

    None where the text has letters besides.
    """
    found = list(re.finditer(r"\w+", text))
    said = [word[0] for word in found]
    tokens = [word.casefold() for word in said]
    places: list[tuple[int, int, str]] = []
    for letter, option in zip(LETTERS, options, strict=False):
        words = _words(option).split()
        words = words[1:] if words and words[0] in _ARTICLES else words
        starts = range(len(tokens) - len(words) + 1) if words else ()
        places += [(at, at + len(words), letter) for at in starts if tokens[at : at + len(words)] == words]
    outer = [
        (start, end, letter)
        for start, end, letter in places
        if not any(a <= start and end <= b and (a, b) != (start, end) for a, b, _ in places)
    ]
    covered = {at for start, end, _ in outer for at in range(start, end)}
    if any(word in LETTERS and at not in covered and not _is_article(said, at) for at, word in enumerate(said)):
        return set()
    stated = [place for place in outer if not _DENIALS & set(tokens[max(0, place[0] - 2) : place[0]])]
    letters = {letter for _, _, letter in stated}
    return letters if any(ENDS.match(text, found[end - 1].end()) for _, end, _ in stated) else set()


def _is_article(said: list[str], at: int) -> bool:
    return said[at] == "A" and at + 1 < len(said) and said[at + 1].islower()


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
