"""Random numbers that depend on what they are for, never on when or in which order they are drawn."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.simulated.normal import quantile

Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def stream_key(*parts: str | int) -> int:
    """A 64-bit number for one stream of draws, named by its parts.

    >>> stream_key(7, "verdict", "rook") == stream_key(7, "verdict", "rook")
    True
    >>> stream_key("ab", "c") == stream_key("a", "bc")
    False
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        # The length in front keeps ("ab", "c") and ("a", "bc") apart.
        encoded = str(part).encode()
        digest.update(f"{len(encoded)}:".encode() + encoded)
    return int.from_bytes(digest.digest(), "little")


def item_hashes(item_ids: Sequence[str]) -> Hashes:
    """One 64-bit hash per item id."""
    return np.array([stream_key("item", item_id) for item_id in item_ids], dtype=np.uint64)


def numbered_hashes(n: int) -> Hashes:
    """Hashes of n items that exist as numbers only, for estimands on many simulated items."""
    return mix(np.arange(n, dtype=np.uint64))


def mix(values: Hashes) -> Hashes:
    """SplitMix64's output function (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195), element by element."""
    z = values + _STEP
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Draws:
    """All draws of one study and task over an array of items (hashes, shape (n,))."""

    seed: int
    task: str
    items: Hashes

    @classmethod
    def of_items(cls, seed: int, task: str, item_ids: Sequence[str]) -> "Draws":
        return cls(seed, task, item_hashes(item_ids))

    def bits(self, role: str, *names: str | int) -> Hashes:
        """64 random bits per item for the stream (seed, task, role, names), shape (n,)."""
        key = np.uint64(stream_key(self.seed, self.task, role, *names))
        return mix(mix(self.items ^ key) + key)

    def uniform(self, role: str, *names: str | int) -> Floats:
        """Uniform draws strictly between 0 and 1, shape (n,)."""
        # 52 bits: with 53 the largest value would round up to 1, whose normal is infinite.
        return ((self.bits(role, *names) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def normal(self, role: str, *names: str | int) -> Floats:
        """Standard normal draws, shape (n,)."""
        return quantile(self.uniform(role, *names))
