"""Ask a model many things at once: replay what the journal has, ask the rest, lose nothing that was answered."""

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from voirdire.errors import UserError
from voirdire.models import engine
from voirdire.models.journal import Journal, read_journal
from voirdire.models.outcome import Failure, read_exception, read_response, without_traceback
from voirdire.models.scrub import Scrubber
from voirdire.models.spec import Answer, Call, ModelSpec, request_key

# Called after each answer of this run: calls done (replayed ones included), calls in all, the answer.
Progress = Callable[[int, int, Answer], None]

BACKOFF_FIRST_S = 1.0
BACKOFF_LONGEST_S = 60.0
# A server that asks for more than this is asked again sooner, and counted as an attempt.
RETRY_AFTER_LONGEST_S = 120.0
# A dead endpoint must not cost the backoff of a thousand calls.
GIVE_UP_AFTER = 20


def complete(
    spec: ModelSpec, calls: Sequence[Call], journal: str | Path, progress: Progress | None = None
) -> dict[str, Answer]:
    """The answer to every call, by its id.

    Answers in the journal are replayed; the rest is asked, `spec.concurrency` at a time, and journalled as it comes
    in, so that nothing answered is lost by a crash, a kill or Ctrl-C. Calls with equal keys are asked once. A call
    that fails after its attempts has status `error`: it is in the journal, and asked again next time. litellm is
    imported only if something is left to ask.

    Raises UserError where the whole job can't go on (key, model or parameter refused, quota exhausted, endpoint dead,
    journal locked or full); calls in flight are finished and journalled first.
    """
    if len({call.id for call in calls}) != len(calls):
        raise ValueError("the ids of the calls of one batch must be unique")
    keys = {call.id: request_key(spec, call) for call in calls}
    with Journal(journal) as record:
        answers = {key: answer for key in keys.values() if (answer := record.get(key)) is not None}
        to_ask = {keys[call.id]: call for call in reversed(calls) if keys[call.id] not in answers}
        if to_ask:
            litellm = engine.load_litellm()
            engine.check_provider(litellm, spec)
            key = engine.api_key(litellm, spec)
            sent = engine.sent_parameters(litellm, spec)
            scrubber = Scrubber([key] if key and key != engine.NO_KEY else [])
            batch = _Batch(litellm, spec, key, sent, scrubber, record, progress, len(answers), len(set(keys.values())))
            answers |= batch.run(dict(reversed(to_ask.items())))
    return {call.id: answers[keys[call.id]] for call in calls}


def pending(spec: ModelSpec, calls: Sequence[Call], journal: str | Path) -> list[Call]:
    """The calls that the journal has no replayable answer to; needs neither its lock nor litellm."""
    known = read_journal(journal)
    return [call for call in calls if request_key(spec, call) not in known]


@dataclass
class _Batch:
    """The calls of one run; `stop` holds the error that ends the job."""

    litellm: ModuleType
    spec: ModelSpec
    api_key: str | None
    sent: dict[str, Any]
    scrubber: Scrubber
    journal: Journal
    progress: Progress | None
    done: int
    total: int
    answers: dict[str, Answer] = field(default_factory=dict)
    stop: UserError | None = None
    given_up: int = 0  # calls in a row that used up their attempts

    def run(self, to_ask: dict[str, Call]) -> dict[str, Answer]:
        asyncio.run(self._run(to_ask))
        if self.stop is not None:
            raise self.stop
        return self.answers

    async def _run(self, to_ask: dict[str, Call]) -> None:
        self.stopped = asyncio.Event()
        # Workers that share one iterator, not one task per call: memory stays flat over any number of calls.
        queue = iter(to_ask.items())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.spec.concurrency, len(to_ask))):
                    group.create_task(self._work(queue))
        finally:
            await engine.close_litellm(self.litellm)

    async def _work(self, queue: Iterator[tuple[str, Call]]) -> None:
        for key, call in queue:
            if self.stop is not None:
                return
            try:
                answer = await self._ask(key, call)
                if answer is None:
                    return
                # No await between a response and its line in the journal: nothing can be lost in between.
                self.journal.append(answer, call.id)
                self._check_endpoint(answer)
            except UserError as error:
                self._end(error)
                return
            self.answers[key] = answer
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total, answer)

    def _check_endpoint(self, answer: Answer) -> None:
        """Raise UserError where so many calls in a row have used up their attempts that the rest would too."""
        if answer.status != "error":
            self.given_up = 0
        if self.given_up >= max(GIVE_UP_AFTER, 2 * self.spec.concurrency):
            raise UserError(
                f"model '{self.spec.name}' ({self.spec.model}): {self.given_up} calls in a row failed "
                f"{self.spec.max_attempts} times each, the last with: {answer.error}; "
                "check that its endpoint is up and api_base is right, then rerun: every answer so far is kept"
            )

    def _end(self, error: UserError) -> None:
        self.stop = self.stop or error
        self.stopped.set()

    async def _ask(self, key: str, call: Call) -> Answer | None:
        """Ask until there is an answer or the attempts are used up; None where the job stops in between."""
        for attempt in range(1, self.spec.max_attempts + 1):
            start = time.monotonic()
            try:
                response = await asyncio.wait_for(self._send(call), self.spec.timeout_s)
                answer = self._answer(key, response, time.monotonic() - start, attempt)
            except Exception as error:
                failure, message = read_exception(error), self._message(error)
            else:
                if answer is not None:
                    return answer
                failure, message = Failure("again"), "the server's response holds no answer"
            latency_s = time.monotonic() - start
            if failure.kind != "again" or attempt == self.spec.max_attempts:
                self.given_up += failure.kind == "again"
                return self._failed(key, call, failure, message, latency_s, attempt)
            if await self._stopped_while_waiting(failure, attempt):
                return None
        raise AssertionError("max_attempts is at least 1")

    async def _send(self, call: Call) -> Any:
        api_base, api_version = self.spec.endpoint()
        endpoint = {"api_base": api_base, "api_version": api_version, "api_key": self.api_key}
        return await self.litellm.acompletion(
            model=self.spec.model,
            messages=[dict(message) for message in call.messages],
            timeout=self.spec.timeout_s,
            num_retries=0,  # the one retry loop is ours: it counts attempts and caps Retry-After
            max_retries=0,
            **{name: value for name, value in endpoint.items() if value},
            **self.spec.sampling(),
        )

    async def _stopped_while_waiting(self, failure: Failure, attempt: int) -> bool:
        try:
            await asyncio.wait_for(self.stopped.wait(), wait_s(failure, attempt))
        except TimeoutError:
            return False
        return True

    def _message(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"no answer within {self.spec.timeout_s:g} s"
        return self.scrubber.error(without_traceback(str(error))) or type(error).__name__

    def _answer(self, key: str, response: Any, latency_s: float, attempt: int) -> Answer | None:
        reading = read_response(response)
        if reading is None:
            return None
        usage = getattr(response, "usage", None)
        prompt_tokens = getattr(usage, "prompt_tokens", None)
        return Answer(
            key=key,
            status=reading.status,
            text=None if reading.text is None else self.scrubber.answer(reading.text),
            raw_text=None if reading.raw_text is None else self.scrubber.answer(reading.raw_text),
            finish_reason=reading.finish_reason,
            # litellm gives 0 where the server gave no count, and 0 or None where it knows no price.
            prompt_tokens=prompt_tokens or None,
            completion_tokens=getattr(usage, "completion_tokens", None) if prompt_tokens else None,
            cost_usd=getattr(response, "_hidden_params", {}).get("response_cost") or None,
            latency_s=latency_s,
            resolved_model=response.model,
            sent=self.sent,
            attempts=attempt,
        )

    def _failed(self, key: str, call: Call, failure: Failure, message: str, latency_s: float, attempt: int) -> Answer:
        """The answer that records a failure; raises UserError where it ends the job."""
        spec, who = self.spec, f"model '{self.spec.name}' ({self.spec.model})"
        if failure.kind == "key":
            raise UserError(f"{who}: the API key is refused ({message}); set {engine.key_variable(spec)}")
        if failure.kind == "missing":
            raise UserError(
                f"{who}: no such model or deployment ({message}); check model and api_base in its entry, "
                f"and that its key may use it: set {engine.key_variable(spec)}"
            )
        if failure.kind == "quota":
            raise UserError(f"{who}: the account has no quota left ({message}); top it up, then rerun")
        if failure.kind == "parameter":
            raise engine.refused_parameter(spec, message, self.scrubber.error(failure.parameter or ""))
        refused = failure.kind == "refused"
        if failure.kind == "context":
            message = f"the prompt and max_tokens don't fit into the model's context: {message}"
        return Answer(
            key=key,
            status="refused" if refused else "error",
            finish_reason="content_filter" if refused else None,
            latency_s=latency_s,
            sent=self.sent,
            error=message if refused else f"{call.id}: {message}",
            attempts=attempt,
        )


def wait_s(failure: Failure, attempt: int) -> float:
    """Seconds until the next attempt: what the server asks for, up to a cap, else exponential with jitter."""
    if failure.retry_after_s is not None:
        return min(failure.retry_after_s, RETRY_AFTER_LONGEST_S)
    longest = min(BACKOFF_LONGEST_S, BACKOFF_FIRST_S * 2 ** (attempt - 1))
    return random.uniform(longest / 2, longest)
