"""How the families' requests are read and their completions written: OpenAI's chat form, Anthropic's, Gemini's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class Reply:
    """What the server does with one request: an answer, an HTTP error, or worse."""

    text: str | None = None
    finish_reason: str = "stop"  # stop and length in any family; others in the family's own words
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None  # sent instead of a completion: a dict as JSON, a string as it is
    message: dict[str, Any] = field(default_factory=dict)  # further fields of the message
    reasoning: str | None = None  # what the model thought, in the family's own place for it
    usage: bool = True
    model: str | None = None  # the model that claims to have answered
    drop: bool = False  # close the connection without a word
    hang: bool = False  # never answer (until the server is released or closed)
    latency_s: float = 0.0


class OpenAI:
    """The form of OpenAI, Azure and most servers of one's own."""

    def model(self, path: Mapping[str, str], body: Mapping[str, Any]) -> str:
        return path.get("deployment") or body.get("model", "deployed")

    def prompt(self, body: Mapping[str, Any]) -> str:
        return body["messages"][-1]["content"]

    def completion(self, model: str, prompt: str, reply: Reply) -> dict[str, Any]:
        reasoning = {} if reply.reasoning is None else {"reasoning_content": reply.reasoning}
        message = {"role": "assistant", "content": reply.text, **reasoning, **reply.message}
        document: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": reply.model or model,
            "choices": [{"index": 0, "finish_reason": reply.finish_reason, "message": message}],
        }
        if reply.usage:
            sent, received = _tokens(prompt, reply)
            document["usage"] = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
        return document

    def error(self, message: str, code: str | None = None, param: str | None = None, **more: Any) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code, **more}}


class Anthropic:
    """The form of Anthropic's /v1/messages."""

    _REASONS: ClassVar = {"stop": "end_turn", "length": "max_tokens"}

    def model(self, path: Mapping[str, str], body: Mapping[str, Any]) -> str:
        return body["model"]

    def prompt(self, body: Mapping[str, Any]) -> str:
        content = body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(part["text"] for part in content)

    def completion(self, model: str, prompt: str, reply: Reply) -> dict[str, Any]:
        content = []
        if reply.reasoning is not None:
            content.append({"type": "thinking", "thinking": reply.reasoning, "signature": "s"})
        if reply.text is not None:
            content.append({"type": "text", "text": reply.text})
        sent, received = _tokens(prompt, reply)
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": reply.model or model,
            "content": content,
            "stop_reason": self._REASONS.get(reply.finish_reason, reply.finish_reason),
            "stop_sequence": None,
            "usage": {"input_tokens": sent, "output_tokens": received},
        }

    def error(self, message: str, code: str = "invalid_request_error") -> dict[str, Any]:
        return {"type": "error", "error": {"type": code, "message": message}, "request_id": "req_1"}


class Gemini:
    """The form of Gemini's models/MODEL:generateContent."""

    _REASONS: ClassVar = {"stop": "STOP", "length": "MAX_TOKENS"}

    def model(self, path: Mapping[str, str], body: Mapping[str, Any]) -> str:
        return path["model"]

    def prompt(self, body: Mapping[str, Any]) -> str:
        return "".join(part["text"] for part in body["contents"][-1]["parts"])

    def completion(self, model: str, prompt: str, reply: Reply) -> dict[str, Any]:
        parts = [] if reply.reasoning is None else [{"text": reply.reasoning, "thought": True}]
        if reply.text is not None:
            parts.append({"text": reply.text})
        candidate: dict[str, Any] = {
            "index": 0,
            "finishReason": self._REASONS.get(reply.finish_reason, reply.finish_reason),
        }
        if parts:
            candidate["content"] = {"role": "model", "parts": parts}
        document: dict[str, Any] = {"candidates": [candidate], "modelVersion": reply.model or model, "responseId": "r1"}
        if reply.usage:
            sent, received = _tokens(prompt, reply)
            document["usageMetadata"] = {
                "promptTokenCount": sent,
                "candidatesTokenCount": received,
                "totalTokenCount": sent + received,
            }
        return document

    def error(self, message: str, code: str = "INVALID_ARGUMENT", status: int = 400, **more: Any) -> dict[str, Any]:
        return {"error": {"code": status, "message": message, "status": code, **more}}


OPENAI, ANTHROPIC, GEMINI = OpenAI(), Anthropic(), Gemini()
Wire = OpenAI | Anthropic | Gemini

# Paths of aiohttp's router, and whose form is spoken there.
COMPLETIONS: dict[str, Wire] = {
    "/v1/chat/completions": OPENAI,
    "/openai/deployments/{deployment}/chat/completions": OPENAI,
    "/openai/v1/chat/completions": OPENAI,
    "/models/chat/completions": OPENAI,
    "/v1/messages": ANTHROPIC,
    "/anthropic/v1/messages": ANTHROPIC,
    "/v1beta/models/{model}:generateContent": GEMINI,
}


def _tokens(prompt: str, reply: Reply) -> tuple[int, int]:
    """What the server counts as tokens, sent and received: words."""
    return len(prompt.split()), len((reply.text or "").split())
