"""An LLM server on loopback that counts, records and misbehaves on demand.

It runs on a thread of its own, so that synchronous tests and subprocesses alike can call it. By default it answers
every prompt with `answer to: PROMPT`; `server.script(PROMPT, Reply(...), Reply(...))` makes it give those replies to
that prompt in turn, the last one for ever. It speaks OpenAI's, Azure's, Anthropic's and Gemini's forms, each under
the provider's own paths, and keeps batches (`server.batches`).
"""

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from batch_endpoints import Batches
from wire_formats import COMPLETIONS, OPENAI, Reply, Wire

__all__ = ["FaultServer", "Received", "Reply", "error_body"]


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    prompt: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    model: str


error_body = OPENAI.error


class FaultServer:
    """Use as a context manager; `url` is the base of OpenAI's form, `root` that of every other.

    default: what to reply to a prompt without a script.
    by_model: instead, what to reply to (model, prompt).
    """

    def __init__(
        self,
        default: Callable[[str], Reply] | None = None,
        by_model: Callable[[str, str], Reply] | None = None,
    ) -> None:
        self.requests: list[Received] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.answered = 0
        self.hold_after: int | None = None  # so many answers, then every request hangs
        self.most_allowed: int | None = None  # so many requests at once, the others get a 429
        answer = default or (lambda prompt: Reply(f"answer to: {prompt}"))
        self._default = by_model or (lambda model, prompt: answer(prompt))
        self._scripts: dict[str, list[Reply]] = {}
        self.batches = Batches(self._next)
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        self.root = self.azure_url = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.root}/v1"
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def script(self, prompt: str, *replies: Reply) -> None:
        self._scripts[prompt] = list(replies)

    def prompts(self) -> list[str]:
        """The prompts that have come in, in order, repeats included."""
        with self._changed:
            return [request.prompt for request in self.requests]

    def reset(self) -> None:
        """Forget requests, scripts, batches and holds."""
        self.release()
        self.batches.reset()
        with self._changed:
            self.requests.clear()
            self._scripts.clear()
            self.answered = self.most_in_flight = 0

    def release(self) -> None:
        """Let hanging requests go, with an empty answer; later ones don't hang."""
        self.hold_after = None
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._set_released)

    def wait_until(self, condition: Callable[["FaultServer"], bool], timeout_s: float = 20) -> None:
        """Wait until a condition on the counters holds; fails after `timeout_s`."""
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self), timeout_s), "the server waited in vain"

    async def _start(self) -> int:
        self._released = asyncio.Event()
        app = web.Application(client_max_size=2**26)
        for path, wire in COMPLETIONS.items():
            app.router.add_post(path, self._handler(wire))
        self.batches.add_routes(app.router)
        # Handlers of clients that went away end, so that `in_flight` counts the living only.
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return self._runner.addresses[0][1]

    def _set_released(self) -> None:
        self._released.set()
        self._released = asyncio.Event()

    def _count(self, **change: int) -> None:
        with self._changed:
            for name, by in change.items():
                setattr(self, name, getattr(self, name) + by)
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self._changed.notify_all()

    def _handler(self, wire: Wire) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            body = await request.json()
            prompt, model = wire.prompt(body), wire.model(request.match_info, body)
            received = Received(prompt, request.path_qs, dict(request.headers), body, time.monotonic(), model)
            with self._changed:
                self.requests.append(received)
            self._count(in_flight=1)
            try:
                return await self._reply(request, wire, received, self._next(model, prompt))
            finally:
                self._count(in_flight=-1)

        return handle

    def _next(self, model: str, prompt: str) -> Reply:
        replies = self._scripts.get(prompt)
        if not replies:
            return self._default(model, prompt)
        return replies.pop(0) if len(replies) > 1 else replies[0]

    async def _reply(self, request: web.Request, wire: Wire, received: Received, reply: Reply) -> web.StreamResponse:
        if self.most_allowed is not None and self.in_flight > self.most_allowed:
            reply = Reply(status=429, body=error_body("too many at once", "rate_limit_exceeded"))
        held = self.hold_after is not None and self.answered >= self.hold_after
        if reply.hang or held:
            await self._released.wait()
        if reply.latency_s:
            await asyncio.sleep(reply.latency_s)
        if reply.drop:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        self._count(answered=1)
        if isinstance(reply.body, str):
            return web.Response(text=reply.body, status=reply.status, headers=reply.headers)
        document = reply.body
        if document is None:
            document = wire.completion(received.model, received.prompt, reply)
        return web.Response(
            text=json.dumps(document), status=reply.status, headers=reply.headers, content_type="application/json"
        )
