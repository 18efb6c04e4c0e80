"""Calls to the fault-injecting server."""

from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer

from voirdire.models import Call, ModelSpec, asking, batch, batch_service


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


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "tested.jsonl"


@pytest.fixture
def quick_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at batches all the time."""
    for module, name in (
        (batch, "POLL_FIRST_S"),
        (batch, "POLL_LONGEST_S"),
        (batch_service, "SETTLED_S"),
        (batch_service, "LOOK_AGAIN_S"),
        (asking, "BACKOFF_FIRST_S"),
    ):
        monkeypatch.setattr(module, name, 0.002)
