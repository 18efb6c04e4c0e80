"""One call: as many attempts as it takes, and the answer or error that it ends in."""

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

from voirdire.errors import UserError
from voirdire.models import engine
from voirdire.models.engine import Connection
from voirdire.models.journal import Journal
from voirdire.models.limits import RETRY_AFTER_LONGEST_S, Limits
from voirdire.models.outcome import Failure, read_exception, read_response, readable, root_cause
from voirdire.models.pricing import Pricing
from voirdire.models.scrub import Scrubber
from voirdire.models.spec import Answer, Call, token_count
from voirdire.models.turns import Turn, Turns

BACKOFF_FIRST_S = 1.0
BACKOFF_LONGEST_S = 60.0
# How litellm ends whatever is wrong with a connection.
_UNSAID = "Connection error."
# Of a call's failed attempts, the journal tells the last ones.
_HISTORY = 20


class Asker:
    """Asks one model; `pricing` says what a call may cost, `turns` when it may go out.

    `tell` is told what the run's first failure was, while it may still be mended.
    """

    def __init__(
        self,
        connection: Connection,
        limits: Limits,
        pricing: Pricing,
        turns: Turns,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.connection, self.limits, self.pricing, self.turns = connection, limits, pricing, turns
        self.spec = connection.spec
        self.scrubber = Scrubber(connection.secrets)
        self.stopped = asyncio.Event()
        self.tell = tell

    async def ask(self, key: str, call: Call, journal: Journal) -> Answer | None:
        """Ask until there is an answer or the attempts are used up; None where the job stops in between.

        The answer, or the error, is in the journal then.
        Raises UserError where the failure dooms all calls.
        """
        history: list[str] = []
        first, attempts, busy_s = None, 0, 0.0
        while True:
            turn = await self.turns.enter(*self.pricing.expected(call))
            if turn is None:
                return None
            first, start = first or turn.started, time.monotonic()
            answer = failure = None
            try:
                answer, failure, message = await self._attempt(key, call, start, len(history) + 1)
                attempts += failure is None or not failure.limited
                # Waiting for one's turn is nobody's fault, and doesn't count.
                busy_s += time.monotonic() - start
                pause_s = 0.0 if failure is None else wait_s(failure, len(history) + 1)
                busy_s += pause_s
                if failure is not None and self._is_last(failure, attempts, busy_s):
                    self._check_busy(failure, message, first)
                    answer = self._failed(key, call, failure, message, time.monotonic() - start, len(history) + 1)
                if answer is not None:
                    # No await between a response and its line in the journal: nothing can be lost in between.
                    journal.append(answer, call.id, history[-_HISTORY:])
            finally:
                self._leave(turn, answer, failure)
            if answer is not None:
                return answer
            assert failure is not None
            history.append(f"after {time.monotonic() - start:.1f} s: {message}")
            if self.tell is not None:
                self.tell(f"a first call has failed and is made again: {message}")
                self.tell = None
            if await self._stopped_within(pause_s):
                return None

    async def _attempt(
        self, key: str, call: Call, start: float, attempt: int
    ) -> tuple[Answer | None, Failure | None, str]:
        """The answer, or how the attempt failed and what was said."""
        try:
            # Not wait_for, which makes a task of every call.
            async with asyncio.timeout(self.limits.timeout_s):
                response = await self.connection.send(call, self.limits.timeout_s)
            answer = self._answer(key, response, time.monotonic() - start, attempt)
        except Exception as error:
            # litellm raises of any kind; read_exception tells them apart.
            return None, read_exception(error), self._message(error)
        if answer is None:
            return None, Failure("again"), "the server's response holds no answer"
        return answer, None, ""

    def _is_last(self, failure: Failure, attempts: int, busy_s: float) -> bool:
        return failure.kind != "again" or attempts >= self.limits.max_attempts or busy_s >= self.limits.deadline_s

    def _check_busy(self, failure: Failure, message: str, first: float) -> None:
        """Raise UserError where the endpoint has turned everything away for as long as a call may take."""
        if failure.kind == "again" and failure.limited and self.turns.last_answer < first:
            raise UserError(
                f"{self._who}: its endpoint turns all calls away for longer than deadline_s "
                f"(429, the last with: {message}); lower its limits, or rerun later: every answer so far is kept"
            )

    def _leave(self, turn: Turn, answer: Answer | None, failure: Failure | None) -> None:
        took = None
        if answer is not None and answer.prompt_tokens is not None:
            took = answer.prompt_tokens + (answer.completion_tokens or 0)
            self.pricing.learn(answer)
        limited = failure is not None and failure.limited
        self.turns.leave(turn, answer, took, limited, failure.retry_after_s if failure else None)

    async def _stopped_within(self, pause_s: float) -> bool:
        try:
            await asyncio.wait_for(self.stopped.wait(), pause_s)
        except TimeoutError:
            return False
        return True

    def _message(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"no answer within {self.limits.timeout_s:g} s"
        said = readable(str(error))
        if said.endswith(_UNSAID):
            # Refused, a name unknown, a certificate: only the connection's own error tells.
            said = f"{said} ({root_cause(error)})"
        return self.scrubber.error(said) or type(error).__name__

    def _answer(self, key: str, response: Any, latency_s: float, attempt: int) -> Answer | None:
        reading = read_response(response)
        if reading is None:
            return None
        usage = getattr(response, "usage", None)
        # litellm gives 0 where the server gave no count.
        prompt_tokens = token_count(getattr(usage, "prompt_tokens", None)) or None
        completion_tokens = token_count(getattr(usage, "completion_tokens", None)) if prompt_tokens else None
        return Answer(
            key=key,
            status=reading.status,
            text=self._without_keys(reading.text),
            raw_text=self._without_keys(reading.raw_text),
            finish_reason=self._without_keys(reading.finish_reason),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost_usd=self.pricing.cost_usd(response, prompt_tokens, completion_tokens),
            latency_s=latency_s,
            resolved_model=self._without_keys(response.model),
            sent=self.connection.sent,
            attempts=attempt,
        )

    def _without_keys(self, said: Any) -> str | None:
        return None if said is None else self.scrubber.answer(str(said))

    @property
    def _who(self) -> str:
        return f"model '{self.spec.name}' ({self.spec.model})"

    def _failed(self, key: str, call: Call, failure: Failure, message: str, latency_s: float, attempts: int) -> Answer:
        """The answer that records a failure; raises UserError where it ends the job."""
        spec = self.spec
        if failure.kind == "key":
            raise UserError(f"{self._who}: the API key is refused ({message}); set {engine.key_variable(spec)}")
        if failure.kind == "missing":
            raise UserError(
                f"{self._who}: no such model or deployment ({message}); check model and api_base in its entry, "
                f"and that its key may use it: set {engine.key_variable(spec)}"
            )
        if failure.kind == "quota":
            raise UserError(f"{self._who}: the account has no quota left ({message}); top it up, then rerun")
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
            sent=self.connection.sent,
            error=message if refused else f"{call.id}: {message}",
            attempts=attempts,
        )


def wait_s(failure: Failure, failures: int) -> float:
    """Seconds until the next attempt: what the server asks for, up to a cap, else exponential with jitter."""
    if failure.retry_after_s is not None:
        return min(failure.retry_after_s, RETRY_AFTER_LONGEST_S)
    longest = min(BACKOFF_LONGEST_S, BACKOFF_FIRST_S * 2 ** min(failures - 1, 16))
    return random.uniform(longest / 2, longest)
