"""Errors for people: what is wrong, where, and what to do about it."""

from collections.abc import Iterable


class UserError(Exception):
    """A fault that the person who runs voirdire can mend; its text is all they need to see.

    Several faults found together are raised together, so that they can be mended together.
    """

    def __init__(self, faults: str | Iterable[str]):
        self.faults = [faults] if isinstance(faults, str) else list(faults)
        super().__init__("\n".join(self.faults))


class Faults:
    """Collects faults, to raise all of them at once.

    >>> faults = Faults()
    >>> faults.raise_if_any()
    >>> faults.add("config.yaml: seed: must be a whole number")
    >>> faults.raise_if_any()
    Traceback (most recent call last):
    voirdire.errors.UserError: config.yaml: seed: must be a whole number
    """

    def __init__(self) -> None:
        self.faults: list[str] = []

    def add(self, fault: str) -> None:
        self.faults.append(fault)

    def extend(self, faults: Iterable[str]) -> None:
        self.faults.extend(faults)

    def raise_if_any(self) -> None:
        if self.faults:
            raise UserError(self.faults)
