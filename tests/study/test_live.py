"""Live bars below Snakemake's messages."""

import json
import logging
import sys
import threading
from dataclasses import fields
from types import SimpleNamespace

import pytest
from screen import Terminal
from snakemake.api import Workflow
from snakemake.logging import LoggerManager, logger
from snakemake.settings.enums import Quietness
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.base import LogHandlerBase

from voirdire.study.live import LiveBars

pytestmark = pytest.mark.usefixtures("watched")


@pytest.fixture
def terminal():
    with Terminal(columns=100, rows=24) as running:
        yield running


@pytest.fixture
def log(terminal):
    """Snakemake's logger, writing to the terminal."""
    logger = logging.getLogger("snakemake.logging")
    before, handler = logger.handlers, logging.StreamHandler(terminal.stream)
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    yield logger
    logger.handlers = before


class Run:
    """A study's shared state that a test writes, at a time that it sets."""

    def __init__(self, path, terminal):
        self.path, self.now, self.jobs = path, 5000.0, {}
        self.live = LiveBars(path, terminal.stream, now=lambda: self.now)

    def job(self, name, done=0, total=100, seen=None, since=None, **more):
        """The job says how far it is."""
        since = self.jobs.get(name, {}).get("since", self.now if since is None else since)
        entry = {"job": name, "host": "here", "pid": 1, "seen": self.now if seen is None else seen, "since": since}
        numbers = {"done": done, "total": total, "failed": 0, "tokens": 0, "cost_usd": None, "in_flight": 3}
        self.jobs[name] = entry | numbers | more
        self.write()

    def write(self):
        self.path.write_text(json.dumps({"jobs": self.jobs, "endpoints": {}, "spent_usd": None}))

    def end(self, name):
        del self.jobs[name]
        self.write()

    def wait(self, seconds):
        self.now += seconds
        self.live.refresh()


@pytest.fixture
def run(tmp_path, terminal):
    """A run whose bars are drawn when a test says so."""
    run = Run(tmp_path / "shared.json", terminal)
    run.live.start(every_s=3600)
    yield run
    run.live.stop()
    wait_for_the_end()


def wait_for_the_end():
    """Wait until no bars are being drawn by themselves."""
    for thread in threading.enumerate():
        if thread.name == "live bars":
            thread.join(60)


def names(lines):
    return [line.split("  ")[0] for line in lines if line]


def test_bars_come_and_go_with_the_jobs(run, terminal):
    run.wait(1)
    assert terminal.look() == []
    run.job("judge blind gsm8k rook larch", 7, failed=2, tokens=34_100, cost_usd=0.42)
    run.wait(1)
    run.job("generate aime crow", 3, tokens=7)
    run.job("judge blind gsm8k rook larch", 9, failed=2, tokens=34_200, cost_usd=0.43)
    run.wait(1)
    lines = terminal.look()
    assert names(lines) == ["judge blind gsm8k rook larch", "generate aime crow"]
    assert lines[1].endswith("  9 of 100  2 failed          $0.43  50 s left")
    assert lines[2].endswith("  3 of 100            price unknown")
    run.end("judge blind gsm8k rook larch")
    run.wait(1)
    assert names(terminal.look()) == ["generate aime crow"]
    run.live.stop()
    assert terminal.look() == []


def test_nothing_is_said_of_the_cost_before_there_is_any(run, terminal):
    run.job("a, all replayed so far", 60, cost_usd=0.0)
    run.job("b, just begun", 0)
    run.job("c, free", 5, tokens=500, cost_usd=0.0)
    run.wait(1)
    first, second, third = terminal.look()[1:]
    assert first.endswith("  60 of 100  60 ok")
    assert second.endswith("  0 of 100")
    assert third.endswith("  5 of 100   5 ok  500 tokens  $0.00")


def test_messages_stand_above_the_bars_untouched(log, run, terminal):
    messages = [f"[now]\nrule judge:\n    jobid: {n}" for n in range(20)]
    expected = "\n".join(messages).split("\n")
    for done, message in enumerate(messages):
        run.job("judge a", done)
        run.job("judge b", done)
        run.wait(1)
        log.info(message)
    lines = terminal.look()
    assert lines[:-3] == expected
    assert [lines[-3], *names(lines[-2:])] == ["", "judge a", "judge b"]
    run.live.stop()
    log.info("Complete log: …")
    assert terminal.look() == [*expected, "Complete log: …"]
    assert not any("emit" in vars(handler) for handler in log.handlers), "the handlers are as before"


def test_ten_bars_at_most_fewer_in_a_low_window(run, terminal):
    for n in range(22):
        run.job(f"judge {n:02}")
    run.wait(1)
    assert names(terminal.look()) == [*(f"judge {n:02}" for n in range(10)), "… and 12 more"]
    terminal.resize(100, 9)
    run.wait(1)
    assert names(terminal.look()) == [*(f"judge {n:02}" for n in range(4)), "… and 18 more"]


def test_jobs_that_fell_silent_are_not_drawn(run, terminal):
    run.job("killed")
    run.wait(1)
    run.now += 60
    run.job("alive")
    run.live.refresh()
    assert names(terminal.look()) == ["alive"]


def test_jobs_of_an_earlier_run_are_not_drawn(run, terminal):
    run.job("killed a moment ago", seen=run.now - 2)
    run.job("alive")
    run.live.refresh()
    assert names(terminal.look()) == ["alive"]


def test_a_state_that_is_being_written_changes_nothing(run, terminal):
    run.job("alive", 5)
    run.wait(1)
    before = terminal.look()
    for torn in ('{"jobs": {"alive": {"jo', "", "[]", "null"):
        run.path.write_text(torn)
        run.live.refresh()
        assert terminal.look() == before
    run.path.unlink()
    run.live.refresh()
    assert terminal.look() == before


def test_a_state_that_makes_no_sense_ends_the_bars_and_nothing_else(tmp_path, log, terminal):
    run = Run(tmp_path / "shared.json", terminal)
    run.job("a", done="many")
    run.live.start(every_s=0.001)
    wait_for_the_end()
    log.info("all is well")
    assert terminal.look() == ["all is well"]


def test_a_thread_draws_while_snakemake_waits(tmp_path, terminal):
    run = Run(tmp_path / "shared.json", terminal)
    run.live.start(every_s=0.001)
    run.job("judge a", 1)
    terminal.wait_for(lambda lines: any("1 of 100" in line for line in lines))
    run.job("judge a", 2)
    terminal.wait_for(lambda lines: any("2 of 100" in line for line in lines))
    run.live.stop()
    wait_for_the_end()
    assert terminal.look() == []


def test_a_window_that_was_closed_does_not_disturb(run, terminal):
    run.job("judge a")
    run.wait(1)
    terminal.hang_up()
    run.wait(1)
    run.job("judge b")
    run.wait(1)
    run.live.stop()


@pytest.mark.parametrize(
    ("quiet", "is_drawn"),
    [
        (None, True),
        ({Quietness.RULES}, True),
        ({Quietness.PROGRESS, Quietness.RULES}, False),  # what a bare --quiet means
        ({Quietness.ALL}, False),
    ],
    ids=["loud", "quiet about rules", "quiet", "silent"],
)
def test_a_quiet_snakemake_draws_nothing(tmp_path, terminal, quiet, is_drawn):
    run = Run(tmp_path / "shared.json", terminal)
    run.live.start(SimpleNamespace(output_settings=OutputSettings(quiet=quiet)), every_s=3600)
    run.job("judge a")
    run.wait(1)
    assert bool(terminal.look()) == is_drawn
    run.live.stop()


def test_snakemake_has_what_is_looked_for():
    assert {"output_settings", "logger_manager"} <= {field.name for field in fields(Workflow)}
    assert "plugin_handlers" in LoggerManager.__annotations__
    assert "writes_to_stream" in vars(LogHandlerBase)
    assert logger.name == "snakemake.logging"


def test_a_plugin_that_has_the_terminal_keeps_it(tmp_path, terminal):
    run = Run(tmp_path / "shared.json", terminal)
    manager = SimpleNamespace(plugin_handlers=[SimpleNamespace(writes_to_stream=True)])
    run.live.start(SimpleNamespace(logger_manager=manager), every_s=3600)
    run.job("judge a")
    run.wait(1)
    assert terminal.look() == []


def test_nothing_is_drawn_under_ci_or_into_a_file(tmp_path, terminal, monkeypatch):
    with open(tmp_path / "log", "w") as file:
        LiveBars(tmp_path / "shared.json", file).start()
    monkeypatch.setenv("CI", "1")
    run = Run(tmp_path / "shared.json", terminal)
    run.live.start(every_s=3600)
    run.job("judge a")
    run.wait(1)
    assert terminal.look() == []
    assert (tmp_path / "log").read_text() == ""


def test_a_snakemake_of_another_make_runs_all_the_same(tmp_path, terminal, monkeypatch):
    class Strange:
        def __getattr__(self, name):
            raise RuntimeError(name)

    monkeypatch.setattr(sys, "stderr", terminal.stream)
    LiveBars(tmp_path / "shared.json").start(Strange())
    assert terminal.look() == []
