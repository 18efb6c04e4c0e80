"""Calls through the provider's batch interface: slower, at half the price, and never paid twice.

What is at the provider is written down in the journal, one line {"batch": {…}} per step:

1. the lines of the batch are uploaded, which costs nothing;
2. {"token", "file", "keys", "since"} says that a batch over that file is about to be started;
3. it is started, and {"token", "id"} says under which id;
4. its answers are journalled, and {"token", "done": true} says that nothing more is to be had from it.

A run that is killed between 2 and 3 doesn't know whether the batch was started; the next run looks for it among the
provider's batches, by its file and by the token in its metadata. A provider that doesn't list a batch a minute after
it was started, or drops it from its list, would be paid twice; one that can't list at all ends the run with an error.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from voirdire.errors import UserError
from voirdire.models import engine
from voirdire.models.batch_lines import Lines, results
from voirdire.models.batch_service import NotStartedError, Service
from voirdire.models.batch_turns import BatchTurns
from voirdire.models.engine import Connection
from voirdire.models.journal import Journal
from voirdire.models.pricing import Pricing
from voirdire.models.spec import Answer, Call

POLL_FIRST_S = 10.0
POLL_LONGEST_S = 60.0
# Of OpenAI's and Azure's limits (50,000 and 200 MB; 100,000 and 200 MB) what both take, and memory holds with ease.
MOST_CALLS = 50_000
MOST_BYTES = 100_000_000
# How long to wait for room in a provider's queue in which nothing goes forward.
PATIENCE_S = 86_400.0
_ENDED = {"completed", "expired", "cancelled", "failed"}
_QUEUE_FULL = "token_limit_exceeded"
# For a call of an open batch that the job no longer makes: its answer is paid for, and kept.
_UNKNOWN = Call("", ({"role": "user", "content": ""},))


@dataclass
class Submitted:
    """A batch that is, or may be, at the provider: its `id` is None where that isn't known."""

    token: str
    file: str
    keys: list[str]
    since: float
    id: str | None = None
    completed: int = 0
    reserved: float = 0.0

    @property
    def name(self) -> str:
        return f"the batch {self.id}" if self.id else f"the batch over {self.file}"


def open_batches(journal: Journal, keys: Container[str]) -> list[Submitted]:
    """The batches that a journal tells of whose answers aren't all in it, and that hold one of the keys."""
    found: dict[str, Submitted] = {}
    for note in journal.notes("batch"):
        token = note.get("token", "")
        if note.get("done"):
            found.pop(token, None)
        elif "keys" in note:
            found[token] = Submitted(token, note["file"], note["keys"], note["since"])
        elif token in found:
            found[token].id = note.get("id")
    return [batch for batch in found.values() if any(key in keys for key in batch.keys)]


class Batches:
    """The batches of one run. Raises what the live client does, and UserError where the provider has no batches."""

    def __init__(
        self,
        connection: Connection,
        pricing: Pricing,
        turns: BatchTurns,
        progress: Callable[[int, int, Answer], None] | None = None,
    ) -> None:
        self.connection, self.pricing, self.turns, self.progress = connection, pricing, turns, progress
        self.limits, self.journal, self.counts = turns.limits, turns.journal, turns.counts
        self._who = f"model '{connection.spec.name}' ({connection.spec.model})"
        self._service = Service(connection, self.limits)
        self._lines = Lines(connection, self._service.provider, self.limits, pricing, turns)
        self._most = MOST_CALLS
        self._done = self.counts.done
        self._history: dict[str, list[str]] = {}
        self._running: list[Submitted] = []
        self._accepted = time.monotonic()

    def ask_all(self, calls: dict[str, Call], submit: bool) -> dict[str, Call]:
        """Get the answers to calls by their keys; those that have none then, though nothing is wrong with them.

        submit : whether calls that no open batch holds are submitted; then all have an answer, or are errors.
        """
        self._calls, self._unsettled, self._submit = calls, dict(calls), submit
        self._running = open_batches(self.journal, calls)
        held = {key for batch in self._running for key in batch.keys}
        self._queue = deque(key for key in calls if key not in held)
        for batch in self._running:
            _say(f"{self._who}: waiting for {batch.name} of an earlier run")
        try:
            engine.run(self._ask_all())
        except KeyboardInterrupt:
            for batch in self._running:
                _say(f"{self._who}: {batch.name} goes on at the provider; rerun for its answers")
            raise
        return self._unsettled

    async def _ask_all(self) -> None:
        try:
            async with self.turns.running():
                for batch in self._running:
                    batch.reserved = sum(map(self._cost, batch.keys))
                    self.turns.reserve([batch.reserved], submitted=True)
                pause_s = POLL_FIRST_S
                while self._running or (self._queue and self._submit):
                    while self._submit and self._queue and await self._start_one():
                        pause_s = POLL_FIRST_S
                    for batch in list(self._running):
                        await self._look(batch)
                    if self._running or (self._queue and self._submit):
                        await asyncio.sleep(pause_s)
                        pause_s = min(POLL_LONGEST_S, 1.5 * pause_s)
        finally:
            await engine.close_litellm(self.connection.litellm)

    async def _start_one(self) -> bool:
        """Submit a batch of what is left; False where there is no money for one before others have ended."""
        keys = [self._queue[place] for place in range(min(self._most, len(self._queue)))]
        costs = [self._cost(key) for key in keys]
        count = self.turns.reserve(costs)
        if not count:
            return False
        lines: list[bytes] = []
        size = 0
        for key in keys[:count]:
            line = await self._lines.write(key, self._calls[key])
            size += len(line)
            if lines and size > MOST_BYTES:
                break
            lines.append(line)
        self.turns.release(sum(costs[len(lines) : count]))
        batch = Submitted(
            token=uuid.uuid4().hex,
            file=await self._service.upload(b"".join(lines)),
            keys=keys[: len(lines)],
            since=time.time(),
            reserved=sum(costs[: len(lines)]),
        )
        intent = {"token": batch.token, "file": batch.file, "keys": batch.keys, "since": batch.since}
        self.journal.note("batch", intent)
        self._running.append(batch)
        for _ in batch.keys:
            self._queue.popleft()
        try:
            batch.id = await self._service.start(batch.file, batch.token)
        except NotStartedError:
            self._close(batch)
            raise
        self.journal.note("batch", {"token": batch.token, "id": batch.id})
        _say(f"{self._who}: {len(batch.keys):,} calls are under way in {batch.name}")
        return True

    def _cost(self, key: str) -> float:
        """Dollars that a call costs at most; nothing where this run doesn't know the call or has its answer."""
        return self._lines.cost_usd(self._unsettled[key]) if key in self._unsettled else 0.0

    def _close(self, batch: Submitted) -> None:
        self.journal.note("batch", {"token": batch.token, "done": True})
        self._running.remove(batch)
        self.turns.release(batch.reserved)

    async def _look(self, batch: Submitted) -> None:
        """See how far a batch is, and take its answers if it has ended."""
        if batch.id is None:
            batch.id = await self._service.find(batch.file, batch.token, batch.since)
            if batch.id is None:
                self._close(batch)
                self._queue.extend(key for key in batch.keys if key in self._unsettled)
                return
            self.journal.note("batch", {"token": batch.token, "id": batch.id})
        found = await self._service.look(batch.id, batch.token)
        batch.completed = getattr(found.request_counts, "completed", None) or 0
        self._show()
        if found.status in _ENDED:
            batch.completed = 0
            self._show()
            await self._take(batch, found)

    def _show(self) -> None:
        """Count what is answered at the provider as done, for those who watch."""
        running = sum(batch.completed for batch in self._running)
        self.counts.done = min(self._done + running, self.counts.total)

    async def _take(self, batch: Submitted, found: Any) -> None:
        """Journal the answers of a batch that has ended, and see to the calls that have none."""
        left = {key: "the batch ended without its answer" for key in batch.keys if key not in self.journal}
        stop = None
        for file in filter(None, (found.output_file_id, found.error_file_id)):
            content = await self._service.content(file, str(batch.id), batch.token)
            stop = await self._read(content, left) or stop
        self._close(batch)
        if stop is not None:
            raise stop
        if found.status == "failed" and self._submit:
            await self._make_smaller(batch, found)
            self._queue.extend(key for key in left if key in self._unsettled)
            return
        self._accepted = time.monotonic()
        if found.status == "cancelled" and left and self._submit:
            raise UserError(
                f"{self._who}: the batch {batch.id} was cancelled with {len(left):,} of {len(batch.keys):,} calls "
                "unanswered; every answer is kept: rerun to submit the rest"
            )
        if self._submit:
            self._ask_again(left)

    async def _read(self, content: bytes, left: dict[str, str]) -> UserError | None:
        """Journal the answers in a file, and take their keys off `left`, which says what went wrong with the others.

        Gives back the error that is to end the job, if there is one.
        """
        stop = None
        for key, result in results(content):
            if key not in left:
                continue  # never asked for, or answered before
            call = self._calls.get(key, _UNKNOWN)
            try:
                answer, said = await self._lines.read(key, call, result, len(self._history.get(key, ())) + 1)
            except UserError as error:
                stop = stop or error
                continue
            if answer is None:
                left[key] = said
                continue
            del left[key]
            self._settle(key, call, answer)
        return stop

    def _settle(self, key: str, call: Call, answer: Answer) -> None:
        self.journal.append(answer, call.id, self._history.pop(key, ()))
        has_answered = answer.status not in ("error", "refused")
        # An answer without token counts has cost something all the same.
        at_most = self._lines.cost_usd(call) * has_answered
        self.turns.spend(at_most if answer.cost_usd is None else answer.cost_usd, has_answered)
        if answer.prompt_tokens is not None:
            self.pricing.learn(answer)
        if self._unsettled.pop(key, None) is None:
            return
        self._done += 1
        self.counts.add(answer)
        self._show()
        if self.progress is not None:
            self.progress(self.counts.done, self.counts.total, answer)

    def _ask_again(self, left: dict[str, str]) -> None:
        """Put calls that were in vain into the queue once more, or record that their attempts are used up."""
        for key, said in left.items():
            if (call := self._unsettled.get(key)) is None:
                continue
            past = self._history.setdefault(key, [])
            past.append(said)
            if len(past) < self.limits.max_attempts:
                self._queue.append(key)
            else:
                self._settle(key, call, self._lines.failed(key, call, said, len(past)))

    async def _make_smaller(self, batch: Submitted, found: Any) -> None:
        """Let the next batch be smaller where the provider's queue was full; raise UserError for other faults."""
        faults = list(getattr(found.errors, "data", None) or ())
        if {fault.code for fault in faults} == {_QUEUE_FULL} and time.monotonic() - self._accepted < PATIENCE_S:
            self._most = max(1, len(batch.keys) // 2)
            await asyncio.sleep(POLL_LONGEST_S)
            return
        said = "; ".join(" ".join(str(part) for part in (fault.code, fault.message) if part) for fault in faults[:3])
        said = self._lines.scrubber.error(said) or "it gives no reason"
        raise UserError(f"{self._who}: the provider refuses the batch {batch.id}, of which it makes no call: {said}")


def _say(line: str) -> None:
    print(line, flush=True)
