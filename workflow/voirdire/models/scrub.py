"""Keeps keys out of everything that is written or shown."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator

from voirdire.models.disguise import Plain, forms
from voirdire.models.disguise import of_url as passwords

MASK = "[secret]"
# Long enough that a value such as KEY=1 doesn't blank out half of a message.
_SHORTEST_SECRET = 6
# In a model's answer a shorter value of the environment is more likely a word of its own.
_SHORTEST_IN_ANSWERS = 16
# A server may cut what it repeats: so much of a long key's start gives it away.
_LONG, _START = 20, 12
_SECRET_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|SIGNATURE|CONNECTION_?STRING|"
    r"(?:^|_)(?:PASS|PAT|SAS|DSN|AUTH)(?:_(?!SOCK)|$)|_PWD$",
    re.IGNORECASE,
)
# More than any message needs, little enough that a server's endless one holds nothing up.
_LONGEST_READ = 8_000
_END = re.compile(r"[\w+/=-]*")
_HEADERS = re.compile(
    r"""((?:proxy-)?authorization|(?:set-)?cookie|(?:[a-z]+-){0,4}api[-_]?key|ocp-apim-subscription-key
        |(?:access|refresh|id|auth|session|security)[-_]token|client[-_]secret|password)
        (\\*["']?\s*[:=]\s*\\*["']?|\\*["'],\s*b?\\*["'])
        (?:(?:bearer|basic|token|digest)\s+)?(?!\[secret\])(?:[^\s"',;}\\]|\\+u[0-9a-f]{4}|\\+/)+""",
    re.IGNORECASE | re.VERBOSE,
)
_BEARER = re.compile(r"\b(bearer|basic)\s+(?:[A-Za-z0-9._~+/=-]|\\+u[0-9a-f]{4}|\\+/){8,}", re.IGNORECASE)
_KEYS = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|AIza|gh[opsu]|github_pat)(?:[-_]|\\+u002d)?(?:[A-Za-z0-9_*-]|\\+u002d){12,}"
    r"|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?",  # a JSON web token
    re.IGNORECASE,
)
_URL = r"\b[a-z][a-z0-9+.-]*:(?:\\*/){2}"
_URL_PASSWORD = re.compile(rf"""({_URL})[^\s/@"'<>\\]+@""", re.IGNORECASE)
_URL_QUERY = re.compile(rf"""({_URL}[^\s?#"'<>]+)[?#][^\s"'<>)]*""", re.IGNORECASE)
# Of addresses without a host, or written so that they can stand in others.
_PARAMETERS = re.compile(
    r"""((?:[?&\#]|%3F|%26|%23)[\w.-]*(?:key|token|secret|password|credential|sig|signature)(?:=|%3D))[^\s&"'<>)]+""",
    re.IGNORECASE | re.VERBOSE,
)


class Scrubber:
    """Removes secrets from texts: the key that is sent, secret-looking environment values, headers, URL queries."""

    def __init__(self, sent_keys: Iterable[str] = ()) -> None:
        sent = _of_some_length(sent_keys)
        environment = _of_some_length(_of_environment())
        # litellm may have found the key by itself, in the environment.
        self._in_answers = forms([*sent, *(value for value in environment if len(value) >= _SHORTEST_IN_ANSWERS)])
        self._known = forms([*sent, *environment])
        starts = {value[:_START] for value in (*sent, *environment) if len(value) >= _LONG and _is_key(value)}
        self._starts = sorted(starts, key=len)
        self._longest = max((len(form) for form in self._known), default=0)

    def answer(self, text: str) -> str:
        """A model's text: only what is known to be a key is removed, all else is data."""
        return _mask(text, self._in_answers)

    def error(self, text: str, longest: int = 500) -> str:
        """A message of an error: cut to `longest` characters, on one line, without anything that may be secret.

        Control and format characters, which could colour, reorder or overwrite what a terminal shows, are dropped.
        """
        if len(text) > _LONGEST_READ:
            # Without what may be the half of a secret.
            text = text[: _LONGEST_READ - min(self._longest, _LONGEST_READ // 2)]
        # Masked on both sides: a secret may hold line breaks, and one that control characters split becomes whole.
        text = _mask(_printable(_mask(text, self._known)), self._known)
        text = self._without_starts(text)
        text = _URL_QUERY.sub(r"\1", _URL_PASSWORD.sub(r"\1", text))
        text = _HEADERS.sub(rf"\1\2{MASK}", text)
        text = _BEARER.sub(rf"\1 {MASK}", text)
        text = _KEYS.sub(MASK, _PARAMETERS.sub(rf"\1{MASK}", text))
        return text if len(text) <= longest else text[: longest - 1] + "…"

    def _without_starts(self, text: str) -> str:
        for start in self._starts:
            while (at := text.find(start)) >= 0:
                rest = _END.match(text, at + len(start))
                text = text[:at] + MASK + text[rest.end() if rest else at + len(start) :]
        return text


def _of_environment() -> Iterator[str]:
    """Values of the environment whose names sound secret, and the passwords in all addresses."""
    for name, value in os.environ.items():
        if _SECRET_NAMES.search(name):
            yield value
            # Of a key of several lines each one tells much.
            yield from (line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_IN_ANSWERS)
        if "@" in value and "://" in value:
            yield from passwords(value)


def _of_some_length(values: Iterable[str]) -> list[str]:
    return [value for each in values for value in {each, each.strip()} if len(value) >= _SHORTEST_SECRET]


def _is_key(value: str) -> bool:
    """Whether a value is no path, address or sentence, whose start others may have too."""
    return not re.search(r"[\s/:]", value)


def _printable(text: str) -> str:
    """The text on one line, without characters of category C (control, format, surrogate, private, unassigned)."""
    # Split first: line breaks and tabs are of that category too, but part words.
    words = "".join(char for char in " ".join(text.split()) if unicodedata.category(char)[0] != "C")
    return " ".join(words.split())


def _mask(text: str, secrets: list[str]) -> str:
    """The text with each secret, however it is written, replaced."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    plain = Plain.of(text)
    return text if plain is None else plain.masked(secrets, MASK)
