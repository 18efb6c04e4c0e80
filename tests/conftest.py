"""Fixtures that several packages' tests share."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fault_server import FaultServer

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real benchmark files, responses and verdicts; skips where there is none."""
    data = Path(os.environ.get("VOIRDIRE_SHARED", PROJECT.parent / "shared")) / "data"
    if not data.is_dir():
        pytest.skip(f"real data not found at {data}; set VOIRDIRE_SHARED to the folder that holds data/")
    return data


@pytest.fixture(scope="session")
def running_server() -> "Iterator[FaultServer]":
    # Not at the top: most tests need no server, and do not wait for aiohttp.
    from fault_server import FaultServer

    with FaultServer() as server:
        yield server


@pytest.fixture
def server(running_server: "FaultServer", monkeypatch: pytest.MonkeyPatch) -> "Iterator[FaultServer]":
    """An LLM server with nothing recorded or scripted, and a client whose retries come at once."""
    from voirdire.models import asking

    monkeypatch.setattr(asking, "BACKOFF_FIRST_S", 0.001)
    running_server.reset()
    yield running_server
    running_server.reset()
