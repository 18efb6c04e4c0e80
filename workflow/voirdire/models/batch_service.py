"""A provider's batch interface through litellm: a file goes up, a batch runs over it, files come back."""

import asyncio
import itertools
import time
from collections.abc import Callable
from typing import Any

from voirdire.errors import UserError
from voirdire.models import engine
from voirdire.models.asking import wait_s
from voirdire.models.engine import Connection
from voirdire.models.limits import Limits
from voirdire.models.outcome import Failure, read_exception, readable
from voirdire.models.scrub import Scrubber

# So long after a batch may have been started, a provider's list is trusted not to hold it.
SETTLED_S = 60.0
LOOK_AGAIN_S = 5.0
# Of a batch's metadata, the entry that tells it is ours.
_MARK = "voirdire"


class NotStartedError(UserError):
    """The provider has refused a batch, which therefore costs nothing."""


class Service:
    """The batches of one model's endpoint. Faults that pass are waited out, up to `deadline_s` in a row.

    Each method raises UserError where that doesn't help, or the provider says no.
    """

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self.spec, self.deadline_s = connection.spec, limits.deadline_s
        self._who = f"model '{self.spec.name}' ({self.spec.model})"
        self._litellm = connection.litellm
        self._scrubber = Scrubber(connection.secrets)
        self.provider = provider_with_batches(connection)
        api_base, api_version = self.spec.endpoint()
        route = {"api_base": api_base, "api_version": api_version, "api_key": connection.api_key}
        self._route = {
            **{name: value for name, value in route.items() if value},
            "custom_llm_provider": self.provider,
            "timeout": limits.timeout_s,
            "max_retries": 0,
            # litellm makes a client for each of these requests, and leaves its connection open.
            "extra_headers": {"Connection": "close"},
        }

    async def upload(self, content: bytes) -> str:
        """Bring the lines of a batch to the provider, which costs nothing; the file's name there."""
        file = ("calls.jsonl", content)
        advice = "set mode: live if its endpoint has no batch interface"
        call = lambda: self._litellm.create_file(file=file, purpose="batch", **self._route)  # noqa: E731
        sent = await self._patiently("its calls can't be uploaded", advice, call)
        while sent.status == "pending":
            # Azure looks at a file before a batch may use it.
            await asyncio.sleep(LOOK_AGAIN_S)
            look = lambda name=sent.id: self._litellm.file_retrieve(file_id=name, **self._route)  # noqa: E731
            sent = await self._patiently("its calls can't be uploaded", advice, look)
        return sent.id

    async def start(self, file: str, token: str) -> str:
        """Start a batch over a file; its id. One whose start was not confirmed is looked for before the next attempt.

        Raises NotStartedError where the provider refuses.
        """
        first = time.monotonic()
        for failures in itertools.count(1):
            try:
                return (await asyncio.to_thread(self._start, file, token)).id
            except Exception as error:
                failure, message = read_exception(error), self._message(error)
                if failure.kind != "again":
                    advice = "set mode: live if its endpoint has no batch interface"
                    raise NotStartedError(self._fault("the batch can't be started", advice, failure, message)) from None
            if not failure.limited and (found := await self.find(file, token, time.time())):
                return found
            if time.monotonic() - first >= self.deadline_s:
                raise NotStartedError(f"{self._who}: the batch can't be started ({message}); rerun later")
            await asyncio.sleep(wait_s(failure, failures))
        raise AssertionError

    async def find(self, file: str, token: str, since: float) -> str | None:
        """The id of the batch over a file that was perhaps started at `since` (epoch); None where it wasn't."""
        advice = (
            "so it isn't known whether the batch over its file "
            f"{file} was accepted. Look for it at the provider, and append to this job's journal a line "
            f'{{"batch": {{"token": "{token}", "id": "THE BATCH\'S ID"}}}} if it is there, '
            f'{{"batch": {{"token": "{token}", "done": true}}}} if not; then rerun'
        )
        while True:
            batches = await self._patiently("its batches can't be listed", advice, self._all)
            for batch in batches:
                if batch.input_file_id == file or (batch.metadata or {}).get(_MARK) == token:
                    return batch.id
            left_s = since + SETTLED_S - time.time()
            if left_s <= 0:
                return None
            await asyncio.sleep(min(left_s, LOOK_AGAIN_S))

    async def look(self, name: str, token: str) -> Any:
        """litellm's description of a batch as it is now."""
        return await self._patiently(
            f"the batch {name} can't be looked at",
            _if_lost(token),
            lambda: self._litellm.retrieve_batch(batch_id=name, **self._route),
        )

    async def content(self, file: str, name: str, token: str) -> bytes:
        """What is in an output file of a batch."""
        response = await self._patiently(
            f"the output {file} of the batch {name} can't be read",
            _if_lost(token),
            lambda: self._litellm.file_content(file_id=file, **self._route),
        )
        return response.content

    def _start(self, file: str, token: str) -> Any:
        return self._litellm.create_batch(
            completion_window="24h",
            endpoint=chat_url(self.provider),
            input_file_id=file,
            metadata={_MARK: token},
            **self._route,
        )

    def _all(self) -> list[Any]:
        # Iterating over the first page asks for the others.
        return list(self._litellm.list_batches(limit=100, **self._route))

    async def _patiently(self, what: str, advice: str, ask: Callable[[], Any]) -> Any:
        """What `ask` gives, in a thread of its own."""
        first = time.monotonic()
        for failures in itertools.count(1):
            try:
                return await asyncio.to_thread(ask)
            except Exception as error:
                # litellm raises of any kind; read_exception tells them apart.
                failure, message = read_exception(error), self._message(error)
            if failure.kind != "again":
                raise UserError(self._fault(what, advice, failure, message))
            if time.monotonic() - first >= self.deadline_s:
                raise UserError(
                    f"{self._who}: {what} ({message}); rerun later: what runs at the provider goes on there"
                )
            await asyncio.sleep(wait_s(failure, failures))

    def _message(self, error: Exception) -> str:
        return self._scrubber.error(readable(str(error))) or type(error).__name__

    def _fault(self, what: str, advice: str, failure: Failure, message: str) -> str:
        if failure.kind == "key":
            advice = f"the API key is refused: set {engine.key_variable(self.spec)}"
        elif failure.kind == "quota":
            advice = "the account has no quota left: top it up, then rerun"
        return f"{self._who}: mode: batch: {what} ({message}); {advice}"


def provider_with_batches(connection: Connection) -> str:
    """litellm's name of the provider. Raises UserError where it has no batch interface of OpenAI's form."""
    litellm, spec = connection.litellm, connection.spec
    provider = litellm.get_llm_provider(spec.model, api_base=spec.api_base)[1]
    known = {*litellm.types.utils.OPENAI_COMPATIBLE_BATCH_AND_FILES_PROVIDERS, "azure"}
    if provider not in known:
        raise UserError(
            f"model '{spec.name}' ({spec.model}): mode: batch is not possible with the provider {provider}, "
            f"only with {', '.join(sorted(known))}; set models.{spec.name}.mode to live"
        )
    return provider


def chat_url(provider: str) -> str:
    """What a batch asks, as the provider's manual puts it."""
    return "/chat/completions" if provider == "azure" else "/v1/chat/completions"


def _if_lost(token: str) -> str:
    return (
        "if it is gone for good, and its calls are to be paid once more, append to this job's journal a line "
        f'{{"batch": {{"token": "{token}", "done": true}}}} and rerun'
    )
