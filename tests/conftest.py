"""Fixtures that several packages' tests share."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from fault_server import FaultServer
    from job_worker import Worker

# A runner that was started in the background ignores Ctrl-C, one behind nohup that its terminal is gone; and so would
# all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The same examples every time: what fails, fails for everybody. Other settings of a test are added to these.
settings.register_profile("voirdire", derandomize=True, database=None, deadline=None)
settings.load_profile("voirdire")

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


@pytest.fixture(scope="module")
def worker() -> "Iterator[Worker]":
    """Runs jobs in processes that the test can kill."""
    from job_worker import Worker

    with Worker() as running:
        yield running


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """As somebody sits before the terminal."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
