"""Calls to the fault-injecting server."""

from typing import Any

import pytest
from fault_server import FaultServer

from voirdire.models import Call, ModelSpec


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
