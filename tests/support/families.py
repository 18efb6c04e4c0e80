"""The families of models that a study may name, as the tests' server plays them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fault_server import FaultServer, Received
from wire_formats import ANTHROPIC, GEMINI, OPENAI, Reply, Wire

KEY = "planted-key-0123456789abcdef"
KEY_VARIABLE = "TESTED_KEY"


@dataclass(frozen=True)
class Family:
    """A provider: its usual model, where it is asked, and how its key goes along."""

    model: str
    base: str  # of api_base, after the server's root
    path: str  # of the request
    header: tuple[str, str]
    wire: Wire = OPENAI
    api_version: str | None = None

    def entry(self, server: FaultServer, model: str | None = None) -> dict[str, Any]:
        """The fields of a ModelSpec that reach the server as this family."""
        base = {"api_base": server.root + self.base, "api_version": self.api_version}
        return {"name": "tested", "model": model or self.model, "api_key_env": KEY_VARIABLE, **base}

    def parameters(self, request: Received) -> dict[str, Any]:
        """What a request holds besides the messages and the model's name."""
        inside = {"messages", "model", "contents", "system"}
        body = {name: value for name, value in request.body.items() if name not in inside}
        return body.pop("generationConfig", {}) | body


_BEARER = ("Authorization", f"Bearer {KEY}")
_AZURE = "/openai/deployments/{}/chat/completions?api-version=2024-10-21"

FAMILIES: Mapping[str, Family] = {
    "openai": Family("openai/gpt-5", "/v1", "/v1/chat/completions", _BEARER),
    "azure": Family(
        "azure/gpt-4.1-mini", "", _AZURE.format("gpt-4.1-mini"), ("api-key", KEY), api_version="2024-10-21"
    ),
    "azure v1": Family("azure/gpt-4.1-mini", "", "/openai/v1/chat/completions", _BEARER, api_version="v1"),
    "azure_ai": Family("azure_ai/Llama-3.3-70B-Instruct", "/models", "/models/chat/completions", _BEARER),
    "azure_ai claude": Family(
        "azure_ai/claude-sonnet-4-5", "/anthropic", "/anthropic/v1/messages", ("x-api-key", KEY), ANTHROPIC
    ),
    "anthropic": Family("anthropic/claude-sonnet-4-5", "", "/v1/messages", ("x-api-key", KEY), ANTHROPIC),
    "gemini": Family(
        "gemini/gemini-2.5-flash",
        "/v1beta",
        "/v1beta/models/gemini-2.5-flash:generateContent",
        ("x-goog-api-key", KEY),
        GEMINI,
    ),
    "deepseek": Family("deepseek/deepseek-reasoner", "/v1", "/v1/chat/completions", _BEARER),
    "vllm": Family("hosted_vllm/qwen3", "/v1", "/v1/chat/completions", _BEARER),
}


def openai_error(status: int, message: str, code: Any = None, param: str | None = None, **more: Any) -> Reply:
    """An error as OpenAI, Azure and most servers of one's own send it."""
    return Reply(status=status, body={"error": {**OPENAI.error(message, code, param)["error"], **more}})


def anthropic_error(status: int, message: str, kind: str = "invalid_request_error") -> Reply:
    return Reply(status=status, body=ANTHROPIC.error(message, kind))


def gemini_error(status: int, message: str, kind: str = "INVALID_ARGUMENT", **more: Any) -> Reply:
    return Reply(status=status, body=GEMINI.error(message, kind, status, **more))
