"""An OpenAI-compatible server on loopback that counts, records and misbehaves on demand.

It runs on a thread of its own, so that synchronous tests and subprocesses alike can call it. By default it answers
every prompt with `answer to: PROMPT`; `server.script(PROMPT, Reply(...), Reply(...))` makes it give those replies to
that prompt in turn, the last one for ever. OpenAI's and Azure's paths are both served.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    """What the server does with one request: an answer, an HTTP error, or worse."""

    text: str | None = None
    finish_reason: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None  # sent instead of a completion: a dict as JSON, a string as it is
    message: dict[str, Any] = field(default_factory=dict)  # further fields of the message
    usage: bool = True
    model: str | None = None  # the model that claims to have answered
    drop: bool = False  # close the connection without a word
    hang: bool = False  # never answer (until the server is released or closed)
    latency_s: float = 0.0


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    prompt: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


def error_body(message: str, code: str | None = None, param: str | None = None, **more: Any) -> dict[str, Any]:
    """An error in OpenAI's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code, **more}}


class FaultServer:
    """Use as a context manager; `url` is the OpenAI base, `azure_url` the Azure one."""

    def __init__(self, default: Callable[[str], Reply] | None = None) -> None:
        self.requests: list[Received] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.answered = 0
        self.hold_after: int | None = None  # so many answers, then every request hangs
        self._default = default or (lambda prompt: Reply(f"answer to: {prompt}"))
        self._scripts: dict[str, list[Reply]] = {}
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        self.azure_url = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.azure_url}/v1"
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
        """Forget requests, scripts and holds."""
        self.release()
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
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/openai/deployments/{deployment}/chat/completions", self._handle)
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

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = body["messages"][-1]["content"]
        received = Received(prompt, request.path_qs, dict(request.headers), body, time.monotonic())
        with self._changed:
            self.requests.append(received)
        self._count(in_flight=1)
        try:
            return await self._reply(request, body, self._next(prompt))
        finally:
            self._count(in_flight=-1)

    def _next(self, prompt: str) -> Reply:
        replies = self._scripts.get(prompt)
        if not replies:
            return self._default(prompt)
        return replies.pop(0) if len(replies) > 1 else replies[0]

    async def _reply(self, request: web.Request, body: dict[str, Any], reply: Reply) -> web.StreamResponse:
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
        document = reply.body if reply.body is not None else _completion(body, reply)
        return web.Response(
            text=json.dumps(document), status=reply.status, headers=reply.headers, content_type="application/json"
        )


def _completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    prompt = body["messages"][-1]["content"]
    document: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": reply.model or body.get("model", "deployed"),
        "choices": [
            {
                "index": 0,
                "finish_reason": reply.finish_reason,
                "message": {"role": "assistant", "content": reply.text, **reply.message},
            }
        ],
    }
    if reply.usage:
        sent, received = len(prompt.split()), len((reply.text or "").split())
        document["usage"] = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    return document
