"""The lines of a batch: each call as live mode would send it, each result as live mode would read it.

Both go through litellm's own code for one live call, whose HTTP request ends here instead of at the provider. So a
batch's bodies are exactly live mode's, and its answers, refusals and errors are told apart by the very same rules.
"""

import dataclasses
import io
import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from voirdire.errors import UserError
from voirdire.models.asking import Asker
from voirdire.models.batch_service import chat_url
from voirdire.models.engine import Connection
from voirdire.models.limits import Limits
from voirdire.models.prices import BATCH_SHARE
from voirdire.models.pricing import Pricing
from voirdire.models.spec import Answer, Call
from voirdire.models.turns import Turns

if TYPE_CHECKING:
    import httpx

_BLANK = {
    "id": "",
    "object": "chat.completion",
    "created": 0,
    "model": "",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ""}}],
}


class Lines(Asker):
    """Writes the calls of one model as lines, and reads their results."""

    def __init__(self, connection: Connection, provider: str, limits: Limits, pricing: Pricing, turns: Turns) -> None:
        self._tape, self._url = _Tape(), chat_url(provider)
        super().__init__(connection.through(self._tape.client(provider)), limits, pricing, turns)

    async def write(self, key: str, call: Call) -> bytes:
        """The line of a call. Raises UserError where live mode doesn't ask this model for chat completions."""
        said = self._tape.play(200, _BLANK)
        try:
            await self.connection.send(call, self.limits.timeout_s)
        except Exception as error:
            # What fails here fails in live mode, too; most of all where litellm takes another way than the tape's.
            said = self._message(error)
        if self._tape.asked is None or not self._tape.path.endswith("/chat/completions"):
            raise UserError(
                f"{self._who}: mode: batch is not possible, since litellm doesn't ask this model for chat completions"
                f"{f' ({said})' if said else ''}; set models.{self.spec.name}.mode to live"
            )
        # Written anew, since other characters than ASCII's may end a line for somebody.
        line = {"custom_id": key, "method": "POST", "url": self._url, "body": json.loads(self._tape.asked)}
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"

    async def read(self, key: str, call: Call, result: dict[str, Any], attempt: int) -> tuple[Answer | None, str]:
        """The answer in a result; None, and what was said, where the call should be made again.

        Raises UserError where the failure dooms all calls.
        """
        response = result.get("response")
        if not isinstance(response, dict):
            return None, self._reason(result.get("error"))
        self._tape.play(response.get("status_code"), response.get("body"))
        answer, failure, message = await self._attempt(key, call, time.monotonic(), attempt)
        if failure is not None:
            if failure.kind == "again":
                return None, message
            answer = self._failed(key, call, failure, message, 0.0, attempt)
        assert answer is not None
        cost = answer.cost_usd
        if cost is not None and self.spec.price is None:
            cost *= BATCH_SHARE
        return dataclasses.replace(answer, latency_s=None, cost_usd=cost), ""

    def failed(self, key: str, call: Call, message: str, attempts: int) -> Answer:
        """The answer that records that a call was in vain."""
        return Answer(key, "error", sent=self.connection.sent, error=f"{call.id}: {message}", attempts=attempts)

    def cost_usd(self, call: Call) -> float:
        """Dollars that a call costs at most."""
        return self.pricing.expected(call)[1] * (1.0 if self.spec.price is not None else BATCH_SHARE)

    def _reason(self, error: Any) -> str:
        said = " ".join(str(error[name]) for name in ("code", "message") if error.get(name)) if error else ""
        return self.scrubber.error(said) or "the batch ended without an answer"


def results(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """(key, result) of each line of an output file; what is no such line is passed over."""
    # Not split: a second copy of some hundred megabytes.
    for line in io.BytesIO(content):
        try:
            result = json.loads(line)
        except ValueError:
            continue
        if isinstance(result, dict) and isinstance(key := result.get("custom_id"), str):
            if not isinstance(result.get("error"), dict):
                result["error"] = None
            yield key, result


class _Tape:
    """Stands in for the provider: keeps what it is asked, and answers what it was told to."""

    asked: bytes | None
    path: str

    def play(self, status: Any, body: Any) -> str:
        """Set the next answer, and forget what was asked."""
        self._status, self._body = status if isinstance(status, int) and 200 <= status < 600 else 500, body
        self.asked, self.path = None, ""
        return ""

    def client(self, provider: str) -> Any:
        """A client for litellm whose requests all end here; the host it names exists nowhere."""
        import httpx
        import openai

        tape = self

        class Transport(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: "httpx.Request") -> "httpx.Response":
                tape.asked, tape.path = request.content, request.url.path
                # httpx's own JSON knows no lone surrogates.
                content, headers = json.dumps(tape._body), {"Content-Type": "application/json"}
                return httpx.Response(tape._status, content=content, headers=headers, request=request)

        # Any: litellm, too, gives OpenAI's client one of another library than its types want.
        client: Any = httpx.AsyncClient(transport=Transport())
        if provider == "hosted_vllm":
            from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

            handler = AsyncHTTPHandler()
            handler.client = client
            return handler
        return openai.AsyncOpenAI(api_key="none", base_url="http://batch.invalid/v1", max_retries=0, http_client=client)
