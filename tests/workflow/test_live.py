"""What somebody sees who runs a study in a terminal."""

import os
import signal
from contextlib import suppress

import pytest
from fault_server import FaultServer
from screen import Terminal


@pytest.fixture
def server():
    with FaultServer() as running:
        yield running


@pytest.fixture
def study(checkout, server):
    """A study in which a model behind the server answers."""
    made = checkout(benchmarks={"gsm8k": {"limit": 3}}, examinees=["crow"], judges=["crow"], ablations={})
    made.config["models"]["crow"] = {
        "model": "openai/crow",
        "family": "birds",
        "endpoint": {"api_base": server.url, "api_key_env": "CROW_KEY"},
        "price": {"input": 1000, "output": 1000},
    }
    made.environment |= {"CROW_KEY": "sk-planted-key", "TERM": "xterm", "CI": ""}
    return made


@pytest.fixture
def terminal():
    # Wide enough for the longest of Snakemake's lines.
    with Terminal(columns=400, rows=40) as running:
        yield running


@pytest.fixture
def start(study, terminal):
    """Starts Snakemake in the terminal."""
    started = []

    def start(*arguments):
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.slave)
        started.append(study.start(*arguments, **streams, start_new_session=True))
        return started[-1]

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def bars(lines):
    return [line for line in lines if "━" in line or "──" in line]


def test_a_bar_shows_how_far_a_running_job_is_and_leaves_nothing(study, server, terminal, start):
    server.hold_after = 1
    running = start("generate_all")
    *_, above, bar = terminal.wait_for(lambda lines: any("1 of 3" in line for line in bars(lines)))
    assert above == ""
    assert bar.startswith("generate gsm8k crow  ━━")
    assert "1 of 3  1 ok" in bar
    assert "tokens  $" in bar
    server.release()
    assert running.wait(60) == 0
    lines = terminal.look()
    assert bars(lines) == []
    (file,) = (study.folder / ".snakemake/log").iterdir()
    said = [line.rstrip() for line in file.read_text().splitlines() if line.strip()]
    shown = iter(lines)
    assert [line for line in said if line not in shown] == [], "each of Snakemake's lines, whole and in order"
    log = (study.folder / "results/small/logs/generate/gsm8k/crow.log").read_text()
    assert "generate gsm8k crow: 3 of 3, 3 ok, 0 failed, " in log


def test_ctrl_c_leaves_a_tidy_terminal(server, terminal, start):
    server.hold_after = 1
    running = start("generate_all")
    terminal.wait_for(lambda lines: bars(lines) != [])
    terminal.type(b"\x03")
    os.killpg(running.pid, signal.SIGINT)  # as the terminal does
    assert running.wait(60) != 0
    lines = terminal.look()
    assert bars(lines) == []
    assert "At least one job did not complete successfully." in lines
