"""The ways in which a text may hold a secret: as it is, escaped, in Base64, in hexadecimal digits."""

import base64
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

# A shorter piece of Base64 may be a word.
_SHORTEST_CORE = 8
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
# JSON and Python, however often over; URLs; HTML. What all begin with comes first: that is found fast.
_ESCAPES = r"""[\\%&](?:
    (?<=\\)\\*(?:u(?P<unicode>[0-9a-f]{4}) | x(?P<byte>[0-9a-f]{2}) | (?P<char>["'/+=&-]))
    | (?<=%)(?:25)*(?P<percent>[0-9a-f]{2})
    | (?<=&)(?:\#x(?P<hexadecimal>[0-9a-f]{1,4}) | \#(?P<decimal>\d{1,4}) | (?P<named>amp|lt|gt|quot|apos));)"""
_HIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+"
_ESCAPE = re.compile(_ESCAPES, re.IGNORECASE | re.VERBOSE)
_HIDDEN_CHARACTERS = re.compile(_HIDDEN)
_HIDDEN_IN_ASCII = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPE_OR_HIDDEN = re.compile(f"{_ESCAPES} | {_HIDDEN}", re.IGNORECASE | re.VERBOSE)


def forms(secrets: Iterable[str]) -> list[str]:
    """What to look for: the secrets, in Base64 and in hexadecimal digits; the longest first.

    In Base64 only what no neighbours change: a key may stand anywhere within a longer code.
    """
    found = set()
    for secret in secrets:
        data = secret.encode("utf-8", "surrogateescape")
        found |= {secret, data.hex(), data.hex().upper(), *_cores(data)}
        # Escapes of a text are undone before it is looked through; what in a secret looks like one is, too.
        if (plain := Plain.of(secret)) is not None:
            found.add(plain.text)
    # So that none leaves a rest of another.
    return sorted(found, key=len, reverse=True)


def _cores(data: bytes) -> Iterator[str]:
    """The Base64 of data that begins after 0, 1 or 2 others of a group of three, without the characters it shares."""
    for before in range(3):
        code = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        core = code[first:last]
        if len(core) >= _SHORTEST_CORE:
            yield core
            yield core.translate(str.maketrans("+/", "-_"))


def of_url(url: str) -> Iterator[str]:
    """The password of an address, and user and password as they are sent; nothing where there is none."""
    try:
        parts = urlsplit(url.strip())
        user, password = parts.username or "", parts.password
    except ValueError:
        return
    for word in dict.fromkeys((password, unquote(password)) if password else ()):
        yield word
        yield f"{unquote(user)}:{word}"


@dataclass(frozen=True)
class Plain:
    """A text with its escapes undone.

    source : as it was.
    shifts : of places in `text`, ascending, and how much further on in the source what follows is.
    """

    source: str
    text: str
    places: list[int]
    shifts: list[int]

    @classmethod
    def of(cls, source: str) -> "Plain | None":
        """None where nothing is escaped.

        >>> Plain.of("sk\\\\u002dx%2By").text
        'sk-x+y'
        """
        pieces: list[str] = []
        places, shifts = [0], [0]
        at = length = 0
        hidden = _HIDDEN_IN_ASCII if source.isascii() else _HIDDEN_CHARACTERS
        is_hiding = hidden.search(source) is not None
        if not is_hiding and not any(start in source for start in "\\%&"):
            return None
        escape = _ESCAPE_OR_HIDDEN if is_hiding else _ESCAPE
        for found in escape.finditer(source):
            char = _unescaped(found)
            pieces += [source[at : found.start()], char]
            length += found.start() - at
            # A match that begins or ends at an escape takes it in whole.
            places.append(length + len(char))
            length += len(char)
            at = found.end()
            shifts.append(at - length)
        if not at:
            return None
        pieces.append(source[at:])
        return cls(source, "".join(pieces), places, shifts)

    def masked(self, secrets: Iterable[str], mask: str) -> str:
        """The source without the secrets that the text holds."""
        spans = sorted(span for secret in secrets for span in self._spans(secret))
        pieces, at = [], 0
        for start, end in spans:
            if start >= at:
                pieces += [self.source[at:start], mask]
            at = max(at, end)
        return "".join([*pieces, self.source[at:]])

    def _spans(self, secret: str) -> Iterator[tuple[int, int]]:
        """Where in the source a secret is."""
        start = self.text.find(secret)
        while start >= 0:
            end = start + len(secret)
            yield self._in_source(start), self._in_source(end)
            start = self.text.find(secret, end)

    def _in_source(self, place: int) -> int:
        return place + self.shifts[bisect_right(self.places, place) - 1]


def _unescaped(found: re.Match[str]) -> str:
    kind, value = found.lastgroup, found[found.lastgroup] if found.lastgroup else ""
    match kind:
        case "unicode" | "byte" | "percent" | "hexadecimal":
            return chr(int(value, 16))
        case "decimal":
            return chr(int(value))
        case "named":
            return _NAMED[value.lower()]
    return value
