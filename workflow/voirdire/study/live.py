"""Live bars while Snakemake runs: one for each job that calls models, drawn by Snakemake's own process.

The jobs' output goes to their logs; how far they are stands in the study's shared state. Nothing here may ever disturb
a run: where something goes wrong, or Snakemake's inside is not the one that was read (9.27), there are no bars, or
less tidy ones, and that is all.
"""

import atexit
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from voirdire.models.jobs import SILENT_S
from voirdire.models.progress import Pace, Standing, bars
from voirdire.models.shared import read_shared
from voirdire.models.terminal import Block, is_terminal

_MOST_BARS = 10


class LiveBars:
    """Bars at the bottom of the terminal, from `start` to `stop`.

    Parameters
    ----------
    state : the study's shared state, which need not exist.
    terminal : where to draw; standard error if not given.
    now : seconds since the epoch.
    """

    def __init__(self, state: str | Path, terminal: TextIO | None = None, now: Callable[[], float] = time.time) -> None:
        self._state, self._terminal, self._now = Path(state), terminal, now
        self._since = now()
        self._jobs: dict[str, dict[str, Any]] = {}
        self._paces: dict[str, Pace] = {}
        self._lines: list[str] = []
        self._block: Block | None = None
        # Reentrant: Ctrl-C may come while the main thread draws, and its handlers write.
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._handlers: list[logging.Handler] = []

    def start(self, workflow: Any = None, every_s: float = 1.0) -> None:
        """Draw from now on, if somebody watches and Snakemake, whose `workflow` this is, isn't told to be quiet."""
        with suppress(Exception):
            terminal = self._terminal or sys.stderr
            if not is_terminal(terminal) or _is_quiet(workflow) or _has_other_display(workflow):
                return
            self._since = self._now()
            self._block = Block(terminal)
            for handler in _terminal_handlers():
                self._step_aside_for(handler, self._block)
            atexit.register(self.stop)
            # A daemon, so that it can't hold up the exit.
            thread = threading.Thread(target=self._run, args=(self._block, every_s), name="live bars", daemon=True)
            thread.start()

    def stop(self) -> None:
        """Remove the bars, for good."""
        self._ended.set()
        for handler in self._handlers:
            with suppress(AttributeError):
                del handler.emit
        self._handlers.clear()
        # A terminal that takes no more must not hold up the end.
        if self._block and self._lock.acquire(timeout=1):
            self._lines = []
            self._block.clear()
            self._lock.release()

    def refresh(self) -> None:
        """Read the state and draw it, if it looks different from before."""
        if self._block is None:
            return
        lines = self._read(self._block)
        with self._lock:
            if lines != self._lines and not self._ended.is_set():
                self._lines = lines
                self._block.draw(lines)

    def _run(self, block: Block, every_s: float) -> None:
        try:
            while not self._ended.wait(every_s) and not block.is_dead:
                self.refresh()
        except Exception:
            self.stop()

    def _step_aside_for(self, handler: logging.Handler, block: Block) -> None:
        emit = handler.emit

        def emit_above(record: logging.LogRecord) -> None:
            with self._lock:
                block.clear()
                try:
                    emit(record)
                finally:
                    block.draw(self._lines)

        handler.emit = emit_above  # type: ignore[method-assign]
        self._handlers.append(handler)

    def _read(self, block: Block) -> list[str]:
        columns, rows = block.size
        most = max(1, min(_MOST_BARS, rows - 5))
        standings = self._standings()
        lines = bars(standings[:most], columns - 1, block.has_unicode) if standings else []
        return [*lines, f"… and {len(standings) - most} more"] if len(standings) > most else lines

    def _standings(self) -> list[Standing]:
        """The running jobs, those that began first first."""
        # The state is empty while a job writes it.
        self._jobs = read_shared(self._state).get("jobs", self._jobs)
        now = self._now()
        # Nor those of an earlier run, which a kill has left there.
        seen_after = max(self._since, now - SILENT_S)
        running = {name: job for name, job in self._jobs.items() if job["seen"] >= seen_after}
        self._paces = {name: self._paces.get(name, Pace()) for name in running}
        return [
            self._standing(name, running[name], now) for name in sorted(running, key=lambda name: _order(running[name]))
        ]

    def _standing(self, name: str, job: Mapping[str, Any], now: float) -> Standing:
        pace = self._paces[name]
        pace.note(now, job["done"])
        has_answers = bool(job["tokens"] or job["cost_usd"])
        return Standing(
            job=job["job"],
            done=job["done"],
            total=job["total"],
            failed=job["failed"],
            tokens=job["tokens"],
            # Before the first answer of this run nobody knows whether its cost will be known.
            cost_usd=job["cost_usd"] if has_answers else None,
            replayed=0 if has_answers else job["done"],
            left_s=pace.left_s(job["total"]),
        )


def _order(job: Mapping[str, Any]) -> tuple[float, str]:
    return job["since"], job["job"]


def _is_quiet(workflow: Any) -> bool:
    """Whether Snakemake hides how far it is, as with a bare --quiet."""
    quiet = getattr(getattr(workflow, "output_settings", None), "quiet", None) or ()
    return any(getattr(each, "name", "") in ("ALL", "PROGRESS") for each in quiet)


def _has_other_display(workflow: Any) -> bool:
    """Whether a plugin has taken over the terminal, with bars of its own perhaps."""
    plugins = getattr(getattr(workflow, "logger_manager", None), "plugin_handlers", None) or ()
    return any(getattr(plugin, "writes_to_stream", False) for plugin in plugins)


def _terminal_handlers() -> list[logging.Handler]:
    """The handlers through which Snakemake writes to a terminal."""
    handlers = logging.getLogger("snakemake.logging").handlers
    return [each for each in handlers if isinstance(each, logging.StreamHandler) and is_terminal(each.stream)]
