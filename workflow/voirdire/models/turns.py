"""When a job's next call may go out: the endpoint's limits and the study's budget, over all jobs at once."""

import asyncio
import math
import os
import random
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from voirdire.errors import UserError
from voirdire.models import limits as endpoint
from voirdire.models.jobs import Counts, Watch, identity, may_go
from voirdire.models.journal import Journal
from voirdire.models.limits import Limits
from voirdire.models.pricing import dollars
from voirdire.models.records import spent_usd
from voirdire.models.shared import Shared, State
from voirdire.models.spec import Answer

# How often a job that others keep waiting looks whether it is its turn, and how often one shows that it lives.
POLL_S, POLL_LONGEST_S = 0.04, 0.4
HEARTBEAT_S = 10.0
_LOOK_FOR_DEAD_S = 2.0
_SETTLE_S = 0.02


class BudgetSpentError(UserError):
    """The study's budget leaves no room for another call."""


@dataclass(frozen=True)
class Turn:
    """A call that may go out: when, and what it is expected to take."""

    started: float
    tokens: float
    reserved_usd: float


@dataclass(frozen=True)
class _Left:
    turn: Turn
    tokens: float | None
    answered: bool
    turned_away: bool
    retry_after_s: float | None


@dataclass
class Turns:
    """One job's turns at its endpoint. Use as a context manager; `enter` before each attempt, `leave` after it.

    The job's line in the shared state is rewritten at every change, so that a state that was lost heals by itself.
    Money: `spent` holds what ended jobs have spent, each living job's line what it has spent since; a job that died
    is settled from its journal.
    """

    limits: Limits
    journal: Journal
    counts: Counts
    now: Callable[[], float] = time.time
    _left: list[_Left] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._shared = Shared(self.limits.shared)
        self._folder = Path(self.limits.shared).parent if self.limits.shared else None
        self._id = f"{socket.gethostname()}-{os.getpid()}-{random.getrandbits(32):08x}"
        self._fixed = identity(self.limits, self.journal.path, self.now())
        self._start = self.journal.size
        self._spent = self._reserved = 0.0
        self._in_flight = self._answered = 0
        self._looked = 0.0
        self._is_known = self._stopped = self._pauses = self._others = False
        self._waits_since: float | None = None
        self._watch = Watch()
        self._held_until = 0.0
        self.last_answer = 0.0  # when the endpoint last answered any job's call
        self._timer: asyncio.TimerHandle | None = None
        self._queue, self._changed = asyncio.Lock(), asyncio.Event()

    def __enter__(self) -> Self:
        self._settle_now()
        return self

    def __exit__(self, *exception: object) -> None:
        with self._shared.change() as state:
            self._settle(state)
            self._bury(state, self._id, self._spent)
        self._shared.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Show all the while that this job lives."""
        heart = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            heart.cancel()
            if self._timer is not None:
                self._timer.cancel()

    def check_budget(self) -> None:
        """Raise BudgetSpentError where the money is spent, so that no call could go out."""
        with self._shared.change() as state:
            self._settle(state)
            spent = self._all_spent(state)
        if self.limits.budget_usd is not None and spent >= self.limits.budget_usd:
            raise self._budget_spent(spent)

    def usual_cost(self) -> float | None:
        """What one of this run's calls has cost on average, in dollars; None where none has an answer."""
        return self._spent / self._answered if self._answered else None

    def standing(self) -> str:
        """What the job waits for, in words."""
        quiet_s = self._held_until - self.now()
        held = f", and none goes out for {quiet_s:.0f} s, as the endpoint has asked (429)" if quiet_s >= 1 else ""
        return f"{self._in_flight} calls under way{held}"

    def stop(self) -> None:
        """End all waiting: `enter` then gives None."""
        self._stopped = True
        self._changed.set()

    async def enter(self, tokens: float, cost_usd: float) -> Turn | None:
        """Wait for the turn of a call that is expected to take so many tokens and at most so much money.

        None where `stop` was called. Raises BudgetSpentError where the money is spent and no call is under way that
        could turn out cheaper than feared.
        """
        async with self._queue:
            self._waits_since = self.now()
            look_s = POLL_S
            while not self._stopped:
                with self._shared.change() as state:
                    self._settle(state)
                    wait = self._wait(state, tokens, cost_usd)
                    spent = self._all_spent(state)
                    if wait is not None and wait <= 0:
                        return self._take(state, tokens, cost_usd)
                if wait is None:
                    raise self._budget_spent(spent)
                await self._pause(look_s if wait == math.inf and self._others else wait)
                # Who has waited for long waits for calls that take long.
                look_s = min(POLL_LONGEST_S, 1.1 * look_s)
        return None

    def leave(
        self,
        turn: Turn,
        answer: Answer | None = None,
        tokens: float | None = None,
        turned_away: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        """The attempt has ended: with an answer, already in the journal, or without.

        tokens : what it took, as far as known. turned_away : the endpoint wants fewer calls. retry_after_s : it wants
        none for so long.
        """
        self._in_flight -= 1
        self._reserved = max(0.0, self._reserved - turn.reserved_usd) if self._in_flight else 0.0
        if answer is not None and answer.status not in ("error", "refused"):
            self._answered += 1
            # An answer without token counts has cost something all the same.
            self._spent += turn.reserved_usd if answer.cost_usd is None else answer.cost_usd
        elif answer is not None:
            self._spent += answer.cost_usd or 0.0
        self._left.append(_Left(turn, tokens, answer is not None, turned_away, retry_after_s))
        if self._pauses:
            self._changed.set()
        elif turned_away or retry_after_s is not None:
            self._settle_now()
        elif self._timer is None:
            # Mostly the next `enter` comes first, and does it by the way.
            self._timer = asyncio.get_running_loop().call_later(_SETTLE_S, self._settle_later)

    async def _pause(self, wait: float) -> None:
        """Wait for a change of one's own, but no longer than so many seconds."""
        self._changed.clear()
        self._pauses = True
        try:
            await asyncio.wait_for(self._changed.wait(), min(wait, HEARTBEAT_S))
        except TimeoutError:
            pass
        finally:
            self._pauses = False

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            # A fault that lasts is met by the next call; one that passes must not silence this job.
            with suppress(UserError):
                self._settle_now()

    def _settle_later(self) -> None:
        with suppress(UserError):
            self._settle_now()

    def _settle_now(self) -> None:
        self._timer = None
        with self._shared.change() as state:
            self._settle(state)

    def _settle(self, state: State) -> None:
        """Enter all that has changed in this job into the shared state."""
        now = self.now()
        place = state.setdefault("endpoints", {}).setdefault(self.limits.pool, {})
        for left in self._left:
            if left.tokens is not None:
                endpoint.correct_tokens(place, self.limits, left.tokens - left.turn.tokens, now)
            if left.turned_away:
                endpoint.turn_away(place, self.limits, left.turn.started, now)
            elif left.answered:
                endpoint.grow(place, self.limits)
                place["answered"] = now
            if left.retry_after_s is not None:
                endpoint.hold(place, left.retry_after_s, now)
        self._left.clear()
        self.last_answer, self._held_until = place.get("answered", 0.0), place.get("not_before", 0.0)
        jobs = state.setdefault("jobs", {})
        if self._id not in jobs and self._is_known:
            # The state was lost. Let the money be counted anew from the journals, this one's included.
            state.pop("spent_usd", None)
            self._start, self._spent, self._answered = self.journal.size, 0.0, 0
        jobs[self._id] = self._line(now)
        self._others = len(jobs) > 1
        if now - self._looked >= _LOOK_FOR_DEAD_S or not self._is_known:
            self._looked = now
            for name in self._watch.dead(jobs):
                if name != self._id:
                    self._bury(state, name, spent_usd(jobs[name]["journal"], jobs[name]["from"]))
        self._is_known = True
        if self.limits.budget_usd is not None and state.get("spent_usd") is None:
            state["spent_usd"] = self._spent_before(jobs)

    def _line(self, now: float) -> dict[str, Any]:
        counts = self.counts
        return {
            **self._fixed,
            "seen": now,
            "done": counts.done,
            "total": counts.total,
            "failed": counts.failed,
            "tokens": counts.tokens,
            "cost_usd": counts.cost_usd if counts.priced else None,
            "in_flight": self._in_flight,
            "waiting": self._waits_since,
            "reserved_usd": self._reserved,
            "spent_usd": self._spent,
            "from": self._start,
        }

    def _wait(self, state: State, tokens: float, cost_usd: float) -> float | None:
        """Seconds until the call may go out, infinite where another has to end first; None where the money is spent."""
        jobs = state["jobs"].values()
        in_flight = sum(job["in_flight"] for job in jobs if job["pool"] == self.limits.pool)
        place = state["endpoints"][self.limits.pool]
        now = self.now()
        wait = endpoint.wait_s(place, self.limits, in_flight, tokens, now)
        if wait <= 0 and not may_go(self._id, state["jobs"], endpoint.allowed(place, self.limits), now):
            return math.inf
        if self.limits.budget_usd is None or cost_usd <= 0 or wait > 0:
            return wait
        spent = self._all_spent(state)
        reserved = sum(job["reserved_usd"] for job in jobs)
        if spent + reserved + cost_usd <= self.limits.budget_usd:
            return 0.0
        if reserved > 0:
            return math.inf
        # What a call may cost at most is far more than what it does: the last ones go one by one.
        return 0.0 if spent < self.limits.budget_usd else None

    def _budget_spent(self, spent: float) -> BudgetSpentError:
        return BudgetSpentError(f"budget_usd: {dollars(spent)} of {dollars(self.limits.budget_usd or 0)} is spent")

    def _all_spent(self, state: State) -> float:
        return (state.get("spent_usd") or 0.0) + sum(job["spent_usd"] for job in state["jobs"].values())

    def _take(self, state: State, tokens: float, cost_usd: float) -> Turn:
        now = self.now()
        endpoint.take(state["endpoints"][self.limits.pool], self.limits, tokens, now)
        self._in_flight += 1
        self._reserved += cost_usd
        self._waits_since = None
        state["jobs"][self._id] = self._line(now)
        return Turn(now, tokens, cost_usd)

    def _bury(self, state: State, name: str, spent: float) -> None:
        """Take a job that has ended off the list; what it has spent since it began joins what was spent before."""
        state["jobs"].pop(name, None)
        if state.get("spent_usd") is not None:
            state["spent_usd"] += spent

    def _spent_before(self, jobs: dict[str, Any]) -> float:
        """What all journals of the study hold, but for what living jobs have added and count themselves."""
        total = self.journal.spent_usd(self._start)
        if self._folder is None:
            return total
        started = {os.path.realpath(job["journal"]): job["from"] for job in jobs.values()}
        mine = os.path.realpath(self.journal.path)
        for path in sorted(self._folder.rglob("*.jsonl")):
            if (real := os.path.realpath(path)) != mine:
                total += spent_usd(path, 0, started.get(real, math.inf))
        return total
