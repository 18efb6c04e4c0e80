"""What an estimator keeps of the batches that it has seen."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from voirdire.errors import UserError


class Summable(Protocol):
    """Counts that can be added up and discounted."""

    def __add__(self, other: Any, /) -> Any: ...

    def __mul__(self, factor: Any, /) -> Any: ...


T = TypeVar("T", bound=Summable)


@dataclass(frozen=True)
class Forgetting:
    """How batches lose their say: all at once when `window` newer ones are there, or by half every `half_life` batches.

    With neither, nothing is forgotten. Raises UserError for both at once, a window below 1 or a half-life not above 0.

    >>> Forgetting(window=4)
    Forgetting(window=4, half_life=None)
    """

    window: int | None = None
    half_life: float | None = None

    def __post_init__(self) -> None:
        if self.window is not None and self.half_life is not None:
            raise UserError("forgetting: give a window or a half-life, not both")
        if self.window is not None and (self.window < 1 or self.window != int(self.window)):
            raise UserError(f"forgetting: window is {self.window}; it is a number of batches, at least 1")
        if self.half_life is not None and not 0 < self.half_life < float("inf"):
            raise UserError(f"forgetting: half-life is {self.half_life:g}; it is a number of batches above 0")

    @property
    def kept(self) -> float:
        """What a batch's weight is multiplied by when the next one comes in."""
        return 1.0 if self.half_life is None else float(0.5 ** (1 / self.half_life))


class Memory(Generic[T]):
    """The sum of the batches that are kept, each with the weight that it still has.

    >>> memory = Memory(0.0, Forgetting(window=2))
    >>> for batch in (1.0, 2.0, 3.0):
    ...     memory.add(batch)
    >>> memory.total
    5.0
    """

    def __init__(self, zero: T, forgetting: Forgetting | None = None):
        self.forgetting = forgetting or Forgetting()
        self._zero, self._sum = zero, zero
        self._last: deque[T] = deque(maxlen=self.forgetting.window)

    @property
    def total(self) -> T:
        """The sum. A window's is made anew from its batches, so that nothing of older ones remains, not by rounding."""
        if self.forgetting.window is None:
            return self._sum
        total = self._zero
        for batch in self._last:
            total = total + batch
        return total

    def add(self, batch: T) -> None:
        """Take in a batch, by which the others age."""
        if self.forgetting.window is not None:
            self._last.append(batch)
        elif self.forgetting.half_life is not None:
            self._sum = self._sum * self.forgetting.kept + batch
        else:
            self._sum = self._sum + batch

    def amend(self, change: T, age: int = 0) -> None:
        """Correct the batch that came in `age` batches before the newest; nothing happens if it is forgotten."""
        if self.forgetting.window is None:
            self._sum = self._sum + change * self.forgetting.kept**age
        elif age < len(self._last):
            self._last[-1 - age] = self._last[-1 - age] + change
