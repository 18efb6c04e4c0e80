"""Keeps keys out of everything that is written or shown."""

import os
import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote

MASK = "[secret]"
# Long enough that a value such as KEY=1 doesn't blank out half of a message.
_SHORTEST_SECRET = 6
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_HEADERS = re.compile(
    r"""((?:proxy-)?authorization|x-api-key|api[-_]?key|x-goog-api-key|ocp-apim-subscription-key)
        (["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|token)\s+)?[^\s"',;}]+""",
    re.IGNORECASE | re.VERBOSE,
)
_BEARER = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_KEYS = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|AIza)[-_]?[A-Za-z0-9_*-]{12,}")
_URL_PASSWORD = re.compile(r"(https?://)[^\s/@\"']+@")
_URL_QUERY = re.compile(r"(https?://[^\s?\"'<>]+)\?[^\s\"'<>)]*")


class Scrubber:
    """Removes secrets from texts: the key that is sent, secret-looking environment values, headers, URL queries."""

    def __init__(self, sent_keys: Iterable[str] = ()) -> None:
        self._sent = _variants(sent_keys)
        environment = (value for name, value in os.environ.items() if _SECRET_NAMES.search(name))
        self._known = _variants([*sent_keys, *environment])

    def answer(self, text: str) -> str:
        """A model's text: only the very key that was sent is removed, all else is data."""
        return _mask(text, self._sent)

    def error(self, text: str, longest: int = 500) -> str:
        """A message of an error: cut to `longest` characters, on one line, without anything that may be secret.

        Control and format characters, which could colour, reorder or overwrite what a terminal shows, are dropped.
        """
        # Masked on both sides: a secret may hold line breaks, and one that control characters split becomes whole.
        text = _mask(_printable(_mask(text, self._known)), self._known)
        text = _HEADERS.sub(rf"\1\2{MASK}", text)
        text = _BEARER.sub(rf"\1 {MASK}", text)
        text = _KEYS.sub(MASK, text)
        text = _URL_QUERY.sub(r"\1", _URL_PASSWORD.sub(r"\1", text))
        return text if len(text) <= longest else text[: longest - 1] + "…"


def _variants(values: Iterable[str]) -> list[str]:
    """The values and their URL-encoded forms, the longest first so that none leaves a rest of another."""
    long = {value for value in values if len(value) >= _SHORTEST_SECRET}
    return sorted(long | {quote(value, safe="") for value in long}, key=len, reverse=True)


def _printable(text: str) -> str:
    """The text on one line, without characters of category C (control, format, surrogate, private, unassigned)."""
    # Split first: line breaks and tabs are of that category too, but part words.
    words = "".join(char for char in " ".join(text.split()) if unicodedata.category(char)[0] != "C")
    return " ".join(words.split())


def _mask(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text
