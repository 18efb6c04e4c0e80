"""Ask a model many things at once: replay what the journal has, ask the rest, lose nothing that was answered."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from voirdire.errors import UserError
from voirdire.models import engine
from voirdire.models.asking import Asker
from voirdire.models.batch import Batches, open_batches
from voirdire.models.batch_turns import BatchTurns
from voirdire.models.jobs import Counts
from voirdire.models.journal import Journal
from voirdire.models.limits import ALONE, Limits
from voirdire.models.pricing import Pricing, dollars
from voirdire.models.records import known_keys
from voirdire.models.spec import Answer, Call, ModelSpec, request_keys
from voirdire.models.turns import BudgetSpentError, Turns

# Called after each answer of this run: calls done (replayed ones included), calls in all, the answer.
Progress = Callable[[int, int, Answer], None]

# A dead endpoint must not cost the backoff of a thousand calls.
GIVE_UP_AFTER = 20
_FIRST_IN_VAIN = 5
# After so long without an answer, the log says what is waited for.
QUIET_S = 30.0


def complete(
    spec: ModelSpec,
    calls: Sequence[Call],
    journal: str | Path,
    limits: Limits = ALONE,
    progress: Progress | None = None,
) -> Mapping[str, Answer]:
    """The answer to every call, by its id; read from the journal when it is looked at, so that memory stays flat.

    Answers in the journal are replayed; the rest is asked as `limits` allow, and journalled as it comes in, so that
    nothing answered is lost by a crash, a kill or Ctrl-C. Calls with equal keys are asked once. A call that fails after
    its attempts has status `error`: it is in the journal, and asked again next time. litellm is imported only if
    something is left to ask.

    Raises UserError where the whole job can't go on (key, model or parameter refused, quota exhausted, budget spent,
    endpoint dead, journal locked or full); calls in flight are finished and journalled first.
    """
    keys = dict(zip((call.id for call in calls), request_keys(spec, calls), strict=True))
    if len(keys) != len(calls):
        raise ValueError("the ids of the calls of one batch must be unique")
    with Journal(journal) as record:
        wanted = set(keys.values())
        to_ask = {key for key in wanted if key not in record}
        if to_ask:
            counts = Counts(done=len(wanted) - len(to_ask), total=len(wanted))
            with BatchTurns(limits, record, counts) as turns:
                # What a batch of an earlier run will bring is being paid for: a live run, too, waits for it.
                awaits = bool(open_batches(record, to_ask))
                _ask(spec, _first_of_each(calls, keys, to_ask), turns, awaits, progress)
        return record.answers(keys)


def _ask(
    spec: ModelSpec, queue: Iterator[tuple[str, Call]], turns: BatchTurns, awaits: bool, progress: Progress | None
) -> None:
    """Ask what is in the queue, live or in batches; `awaits`: some of it is in a batch of an earlier run."""
    submits = turns.limits.mode == "batch"
    try:
        if not awaits:
            # Before litellm is loaded: when the money is spent, hundreds of jobs may still want to start.
            turns.check_budget()
        connection, pricing = engine.connect(spec), Pricing(spec, turns.limits)
        if awaits or submits:
            left = Batches(connection, pricing, turns, progress).ask_all(dict(queue), submits)
            queue = iter(left.items())
        _Run(connection, pricing, turns, progress).ask_all(queue)
    except BudgetSpentError as error:
        raise UserError(_budget_message(error, turns)) from None


def pending(spec: ModelSpec, calls: Sequence[Call], journal: str | Path) -> list[Call]:
    """The calls that the journal has no replayable answer to; needs neither its lock nor litellm."""
    known = known_keys(journal)
    return [call for call, key in zip(calls, request_keys(spec, calls), strict=True) if key not in known]


def _first_of_each(calls: Sequence[Call], keys: Mapping[str, str], to_ask: set[str]) -> Iterator[tuple[str, Call]]:
    """(key, call) of what is to be asked, each key once."""
    for call in calls:
        key = keys[call.id]
        if key in to_ask:
            to_ask.discard(key)
            yield key, call


class _Run:
    """The calls of one run; `stop` holds the error that ends the job."""

    def __init__(
        self, connection: engine.Connection, pricing: Pricing, turns: Turns, progress: Progress | None
    ) -> None:
        self.connection, self.turns, self.progress = connection, turns, progress
        self.limits, self.journal, self.counts = turns.limits, turns.journal, turns.counts
        self.spec = connection.spec
        self._note = getattr(progress, "note", None)
        self._asker = Asker(connection, self.limits, pricing, turns, self._note)
        self.stop: Exception | None = None
        self._in_vain = 0  # calls in a row that used up their attempts
        self._has_answers = False

    def ask_all(self, queue: Iterator[tuple[str, Call]]) -> None:
        """Ask everything in the queue. Raises the error that has ended the job, if one has."""
        with engine.seldom_collecting():
            engine.run(self._ask_all(queue))
        if self.stop is not None:
            raise self.stop

    async def _ask_all(self, queue: Iterator[tuple[str, Call]]) -> None:
        engine.spare_logging()
        waiting = asyncio.create_task(self._say_what_is_waited_for())
        try:
            # Workers that share one iterator, not one task per call: memory stays flat over any number of calls.
            async with self.turns.running(), asyncio.TaskGroup() as group:
                for _ in range(self.limits.concurrency):
                    group.create_task(self._work(queue))
        finally:
            waiting.cancel()
            await engine.close_litellm(self.connection.litellm)

    async def _say_what_is_waited_for(self) -> None:
        """Where nothing is answered for long, say so: an empty log tells nobody why."""
        done = -1
        while self._note is not None:
            await asyncio.sleep(QUIET_S)
            if self.counts.done == done:
                self._note(f"no answer for {QUIET_S:.0f} s; {self.turns.standing()}")
            done = self.counts.done

    async def _work(self, queue: Iterator[tuple[str, Call]]) -> None:
        for key, call in queue:
            if self.stop is not None:
                return
            try:
                answer = await self._asker.ask(key, call, self.journal)
                if answer is None:
                    return
                self.counts.add(answer)
                self._check_endpoint(answer)
            except Exception as error:
                # Whatever it is, the calls of the other workers are paid for: they are finished and kept first.
                self.stop = self.stop or error
                self._asker.stopped.set()
                self.turns.stop()
                return
            if self.progress is not None:
                self.progress(self.counts.done, self.counts.total, answer)

    def _check_endpoint(self, answer: Answer) -> None:
        """Raise UserError where so many calls in a row have used up their attempts that the rest would too."""
        self._in_vain = self._in_vain + 1 if answer.status == "error" and answer.attempts > 1 else 0
        self._has_answers = self._has_answers or answer.status != "error"
        patience = max(GIVE_UP_AFTER, 2 * self.limits.concurrency) if self._has_answers else _FIRST_IN_VAIN
        if self._in_vain >= patience:
            raise UserError(
                f"model '{self.spec.name}' ({self.spec.model}): {self._in_vain} calls in a row failed "
                f"{answer.attempts} times each, the last with: {answer.error}; "
                "check that its endpoint is up and api_base is right, then rerun: every answer so far is kept"
            )


def _budget_message(error: BudgetSpentError, turns: Turns) -> str:
    left = turns.counts.total - turns.counts.done
    rate = turns.usual_cost()
    cost = f", which would cost about {dollars(left * rate)} more" if rate else ""
    return (
        f"{error}. {left} of the {turns.counts.total} calls of this job are left{cost}; `voirdire estimate` says what "
        "the whole study needs. Every answer is kept: raise budget_usd and rerun"
    )
