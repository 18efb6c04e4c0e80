"""The fault-injecting server and calls to it."""

from collections.abc import Iterator
from typing import Any

import pytest
from fault_server import FaultServer

from voirdire.models import Call, ModelSpec, client


@pytest.fixture(scope="session")
def running_server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


@pytest.fixture
def server(running_server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """The server, with nothing recorded or scripted, and retries that come at once."""
    monkeypatch.setattr(client, "BACKOFF_FIRST_S", 0.001)
    running_server.reset()
    yield running_server
    running_server.reset()


@pytest.fixture
def spec(server: FaultServer):
    """Makes a specification of a model behind the server."""

    def make(**changes: Any) -> ModelSpec:
        return ModelSpec(**{"name": "tested", "model": "openai/tested", "api_base": server.url, **changes})

    return make


@pytest.fixture
def calls():
    """Makes one call per prompt, its id the prompt."""

    def make(*prompts: str) -> list[Call]:
        return [Call(prompt, ({"role": "user", "content": prompt},)) for prompt in prompts]

    return make
