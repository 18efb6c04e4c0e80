"""What happens in a simulated stream: how many responses a week, of which tasks, with how many labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from voirdire.drift.grid import PRIOR
from voirdire.errors import Faults, UserError
from voirdire.panel.forgetting import Forgetting
from voirdire.panel.rates import Prior
from voirdire.panel.votes import FLOOR, TIES, FloatArray, Tie


@dataclass(frozen=True)
class Scenario:
    """The drift of a task mix over weeks; the defaults are the paper's (arXiv 2609.12002, section 5).

    start, end: share of each task in the first and last week; a task in one of them only has share 0 in the other.
    shift: "linear" between, or "abrupt", from the start's to the end's halfway. labels: "after_votes", so that no vote
    sees its own label, or "before_votes". panel_size: how many of a response's judges vote on it, drawn at random; None
    for all. quorum: fewest votes that decide, or the panel's size on the response where that is smaller. floor: of
    weights, and of rates in log-odds. prior: mean FPR, mean FNR, strength. include_self: whether an examinee votes on
    its own response. forgetting: of the estimators, in weeks; None for none.
    """

    weeks: int = 12
    per_week: int = 40
    start: Mapping[str, float] = field(default_factory=lambda: {"gsm8k": 0.85, "aime": 0.15})
    end: Mapping[str, float] = field(default_factory=lambda: {"gsm8k": 0.15, "aime": 0.85})
    shift: Literal["linear", "abrupt"] = "linear"
    labels_per_week: int = 8
    labels: Literal["after_votes", "before_votes"] = "after_votes"
    panel_size: int | None = None
    quorum: int = 5
    tie: Tie = "incorrect"
    floor: float = FLOOR
    prior: tuple[float, float, float] = PRIOR
    include_self: bool = False
    forgetting: Forgetting | None = None

    def __post_init__(self) -> None:
        faults = Faults()
        for name, least in (("weeks", 1), ("per_week", 1), ("labels_per_week", 0), ("quorum", 1), ("panel_size", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                faults.add(f"drift: {name} is {value}; it must be at least {least}")
        if self.labels_per_week > self.per_week:
            faults.add(f"drift: labels_per_week is {self.labels_per_week}, more than per_week, {self.per_week}")
        for name in ("start", "end"):
            shares = getattr(self, name)
            if not shares or min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > 1e-6:
                faults.add(f"drift: {name} is {dict(shares)}; its shares must be 0 or more and add up to 1")
        if self.shift not in ("linear", "abrupt"):
            faults.add(f"drift: shift is '{self.shift}'; use linear or abrupt")
        if self.labels not in ("after_votes", "before_votes"):
            faults.add(f"drift: labels is '{self.labels}'; use after_votes or before_votes")
        if self.tie not in TIES:
            faults.add(f"drift: tie is '{self.tie}'; use one of {', '.join(TIES)}")
        if not 0 < self.floor < 0.5:
            faults.add(f"drift: floor is {self.floor}; it must lie between 0 and 0.5")
        try:
            Prior(*self.prior)
        except UserError as error:
            faults.add(f"drift: {error}")
        faults.raise_if_any()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the mix, sorted."""
        return tuple(sorted({*self.start, *self.end}))

    def mix(self) -> FloatArray:
        """(weeks, tasks): the share of each task in each week."""
        start, end = (np.array([shares.get(task, 0.0) for task in self.tasks]) for shares in (self.start, self.end))
        passed = np.linspace(0, 1, self.weeks)[:, None]
        if self.shift == "abrupt":
            passed = (np.arange(self.weeks)[:, None] >= (self.weeks + 1) // 2).astype(np.float64)
        mix: FloatArray = (1 - passed) * start / start.sum() + passed * end / end.sum()
        return mix
