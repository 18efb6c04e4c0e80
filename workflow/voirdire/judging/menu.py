"""What a verdict says: correct, incorrect, or something that is not on the menu.

On the menu are the two words; with "not" or "isn't" before "correct"; with a plain subject ("the response is
correct") or an adverb of certainty ("clearly incorrect"); and with a reason behind, as long as it takes nothing back.
Off the menu, so that there is no verdict: both words, a double negation ("not incorrect"), a degree ("partially
correct"), a question ("correct?"), a hedge ("correct, but …", "correct, though I'm not sure"), a mark that contradicts
its word ("❌ correct"), and other words ("wrong", "true", "yes", "correcto").
"""

import re

from voirdire.judging.behind import is_reason

# Possessive, as everything here that could be long: a hostile line must not be tried in a thousand ways.
WRAPPING = r"[\W_]*+"
_SUBJECT = (
    r"(?:(?:(?:the|this)\s+)?(?:(?:examinee's|model's|student's|given|proposed|final|chosen|selected)\s+){0,3}"
    r"(?:response|answer|solution|code|program|option|choice)(?:'s\s+(?:final\s+)?(?:answer|code))?"
    r"(?:\s*[(,]\s*[\w$.%]{1,15}\s*[),]|\s+of\s+[\w$.%,]{1,15})?|it|this)"
)
_MENU = re.compile(
    rf"(?P<wrapping>{WRAPPING})(?:verdict{WRAPPING})?(?:(?:{_SUBJECT}\s+)?is(?P<is_not>n't)?\s+{WRAPPING})?"
    rf"(?P<negation>not(?![^\W_]){WRAPPING})?"
    rf"(?P<surely>(?:clearly|definitely|certainly|absolutely|completely|fully|entirely)\b{WRAPPING})?"
    r"(?P<word>correct|incorrect)(?![^\W_])(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(rf"(?P<wrapping>{WRAPPING})(?P<word>correct|incorrect)(?P<rest>{WRAPPING})", re.IGNORECASE)
_CROSS, _CHECK = re.compile("[❌❎✗✘✖☒🚫👎]"), re.compile("[✅✓✔☑👍]")
# Tags, boxes, and emphasis within a word ("**in**correct").
_AROUND = re.compile(r"</\w{1,20}>|(?<=[^\W_])(?:\*{1,3}|__?)(?=[^\W_])|\\(?:boxed|fbox)(?=\s*\{)")
_REASON = re.compile(
    r"[\"'*_`})\]]*+(?:\s*+[.;:(,!—–。，；[]|\s++-|-\s|\s++(?:because|since|as)\b)(?P<text>.*)",
    re.IGNORECASE | re.DOTALL,
)


def on_menu(said: str) -> bool | None:
    """Whether what a marked verdict says is correct or incorrect; None where it is neither, or takes itself back.

    >>> on_menu("**Incorrect** (the correct answer is 18)"), on_menu("not correct"), on_menu("correct or incorrect")
    (False, False, None)
    """
    match = _MENU.match(_AROUND.sub("", said))
    if not match:
        return None
    right, rest = match["word"].lower() == "correct", match["rest"]
    if match["negation"] or match["is_not"]:
        if not right or match["surely"] or (match["negation"] and match["is_not"]):
            return None
        right = False
    if re.search(r"[^\W_]|\?", rest) and not _is_reason(rest, right):
        return None
    return None if _contradicts(right, match["wrapping"], rest) else right


def bare(line: str) -> bool | None:
    """What a line says that holds nothing but one of the two words; None for any other line.

    >>> bare("**Correct.**"), bare("Correct?"), bare("The answer is correct.")
    (True, None, None)
    """
    match = _BARE.fullmatch(line)
    if not match or "?" in match["rest"]:
        return None
    right = match["word"].lower() == "correct"
    return None if _contradicts(right, match["wrapping"], match["rest"]) else right


def _contradicts(right: bool, before: str, after: str) -> bool:
    """Whether a mark beside the word says the opposite of it."""
    opposite = _CROSS if right else _CHECK
    beside = re.match(WRAPPING, after)
    return any(opposite.search(text) for text in (before, beside[0] if beside else ""))


def _is_reason(rest: str, right: bool) -> bool:
    """Whether what stands behind the word gives a reason for it, and doesn't take it back."""
    reason = _REASON.fullmatch(rest)
    return reason is not None and is_reason(reason["text"], right)
