"""How far a batch of calls is: a live bar on a terminal, now and then a line in a log."""

import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TextIO

from voirdire.models.spec import Answer
from voirdire.models.terminal import Block, is_terminal

_REDRAW_S = 0.2
_LINE_S = 30.0
# Long enough for slow models to answer something, short enough to forget how fast it went before a rate limit.
_PACE_S = 180.0
_COLUMNS = ("count", "ok", "failed", "tokens", "cost", "left")
# In a narrow window these go first, in this order.
_EXPENDABLE = ("ok", "tokens", "cost", "left", "failed")
_BAR_SHORTEST = 16


@dataclass(frozen=True)
class Standing:
    """How far a job is.

    done : calls answered or failed, those replayed from the journal included.
    failed, tokens, cost_usd : of this run; `tokens` are those sent and received, as far as the server counts them.
    cost_usd : None where it is unknown; `at_least` where that of some answers is.
    left_s : seconds until the end; None where nothing tells.
    """

    job: str
    done: int
    total: int
    failed: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    at_least: bool = False
    replayed: int = 0
    left_s: float | None = None

    @property
    def ok(self) -> int:
        return self.done - self.failed

    @property
    def cost(self) -> str:
        """The cost in words; empty before there is anything to pay for.

        >>> Standing("a", 3, 9, cost_usd=0.42).cost, Standing("a", 3, 9).cost, Standing("a", 3, 9, failed=3).cost
        ('$0.42', 'price unknown', '')
        """
        if self.cost_usd is None:
            return "price unknown" if self.ok > self.replayed else ""
        if 0 < self.cost_usd < 0.0001:
            return "<$0.0001"
        # Small sums to four digits, or the first minutes of every run would cost nothing.
        digits = 4 if 0 < self.cost_usd < 0.1 else 2
        return f"{'at least ' if self.at_least else ''}${self.cost_usd:,.{digits}f}"

    @property
    def left(self) -> str:
        """The time left in words; empty where nothing tells."""
        return "" if self.left_s is None else duration(self.left_s, step_s=5)

    def line(self, end: str = "") -> str:
        """One line for a log; `end` says how it ended, instead of the time left.

        >>> Standing("judge a b", 120, 500, 2, 34_100, 0.42, left_s=181).line()
        'judge a b: 120 of 500, 118 ok, 2 failed, 34,100 tokens, $0.42, about 3 min left'
        """
        kept = f" ({self.replayed:,} from the journal)" if self.replayed else ""
        parts = [
            f"{self.job}: {self.done:,} of {self.total:,}{kept}",
            f"{self.ok:,} ok",
            f"{self.failed:,} failed",
            f"{self.tokens:,} tokens" if self.tokens else "",
            self.cost,
            end or (f"about {self.left} left" if self.left else ""),
        ]
        return ", ".join(part for part in parts if part)


def duration(seconds: float, step_s: int = 1) -> str:
    """About how long, in words; what is shown anew all the time dances less in steps of some seconds.

    >>> duration(42.4), duration(42.4, step_s=5), duration(181), duration(7800)
    ('42 s', '45 s', '3 min', '2 h 10 min')
    """
    if seconds <= 90:
        return f"{max(1, math.ceil(round(seconds) / step_s)) * step_s} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def bars(standings: Sequence[Standing], width: int, has_unicode: bool = True) -> list[str]:
    """One line for each, at most `width` wide, with a bar and aligned columns; a narrow window says less.

    >>> bars([Standing("judge a b", 120, 500, 2, left_s=181), Standing("c", 7, 9)], 65)
    ['judge a b  ━━━━╸───────────────  120 of 500  2 failed  3 min left', 'c          ━━━━━━━━━━━━━━━╸────    7 of 9']
    """
    from tqdm import tqdm

    cells = [_cells(standing, max(len(f"{each.total:,}") for each in standings)) for standing in standings]
    names = min(max(len(standing.job) for standing in standings), max(8, width // 3))
    shown = list(_COLUMNS)
    for column in _EXPENDABLE:
        if names + len(_aligned(cells, shown)[0]) + _BAR_SHORTEST <= width:
            break
        shown.remove(column)
    return [
        tqdm.format_meter(
            n=min(standing.done, standing.total),
            total=max(standing.total, 1),
            elapsed=0,
            ncols=width,
            prefix=_cut(standing.job, names).ljust(names),
            ascii="─╸━" if has_unicode else ".#",
            bar_format="{desc}  {bar}{end}",
            end=end,
        ).rstrip()
        for standing, end in zip(standings, _aligned(cells, shown), strict=True)
    ]


def _cells(standing: Standing, digits: int) -> dict[str, str]:
    return {
        "count": f"{standing.done:>{digits},} of {standing.total:<{digits},}",
        "ok": f"{standing.ok:,} ok" if standing.ok else "",
        "failed": f"{standing.failed:,} failed" if standing.failed else "",
        "tokens": f"{standing.tokens:,} tokens" if standing.tokens else "",
        "cost": standing.cost,
        "left": f"{standing.left} left" if standing.left else "",
    }


def _aligned(cells: Sequence[dict[str, str]], columns: Sequence[str]) -> list[str]:
    """The chosen columns of each row, right-aligned; a column in which nobody says anything takes no room."""
    widths = {column: max(len(row[column]) for row in cells) for column in columns}
    return ["".join("  " + row[column].rjust(width) for column, width in widths.items() if width) for row in cells]


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


class Pace:
    """The time left, from how many calls were done in the last minutes."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, at: float, done: int) -> None:
        """`done` calls were done at the time `at` (seconds of any clock)."""
        self._seen.append((at, done))
        # One that is older stays, so that a slow model's pace is known, too.
        while len(self._seen) > 2 and self._seen[1][0] <= at - _PACE_S:
            self._seen.popleft()

    def left_s(self, total: int) -> float | None:
        """Seconds from the last note until `total` are done; None where no call was done in between."""
        if not self._seen:
            return None
        (start, before), (end, done) = self._seen[0], self._seen[-1]
        if end <= start or done <= before or done >= total:
            return None
        return (total - done) * (end - start) / (done - before)


class Meter:
    """Shows how far `complete` is: `with Meter(job, len(calls)) as meter: complete(..., progress=meter)`.

    On a terminal a bar that is redrawn in place, elsewhere a line at most every 30 s; with the environment variable CI
    neither. One last line in any case, if only to say that the journal had everything.

    Parameters
    ----------
    job : what is being done, for people, as "judge blind gsm8k rook larch".
    total : how many calls the batch has.
    log : where lines go; standard output if not given.
    terminal : where the bar goes, if it is a terminal; standard error if not given.
    clock : seconds.
    """

    def __init__(
        self,
        job: str,
        total: int,
        log: TextIO | None = None,
        terminal: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job, self._total, self._clock = job, total, clock
        self._log = log or sys.stdout
        stream = terminal or sys.stderr
        self._block = Block(stream) if is_terminal(stream) else None
        self._every_s = _REDRAW_S if self._block else math.inf if os.environ.get("CI") else _LINE_S
        self._done = self._calls = self._failed = self._tokens = 0
        self._cost_usd, self._priced, self._unpriced = 0.0, 0, 0
        self._pace = Pace()
        self._start = clock()
        self._due = self._start + self._every_s

    def __enter__(self) -> "Meter":
        return self

    def __call__(self, done: int, total: int, answer: Answer) -> None:
        """Count an answer of this run, and show where all stand if it is time to."""
        if not self._calls:
            # Neither replaying nor loading litellm, half a minute on a busy machine, says how fast the model is.
            self._pace.note(self._clock() - (answer.latency_s or 0.0), done - 1)
        self._done, self._total = done, total
        self._calls += 1
        self._tokens += (answer.prompt_tokens or 0) + (answer.completion_tokens or 0)
        if answer.status == "error":
            self._failed += 1
        if answer.cost_usd is not None:
            self._cost_usd += answer.cost_usd
            self._priced += 1
        elif answer.prompt_tokens is not None or answer.status in ("ok", "truncated", "empty"):
            self._unpriced += 1
        if self._clock() >= self._due:
            self._show()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._block:
            self._block.clear()
        took = duration(self._clock() - self._start)
        if self._calls:
            self._print(self.standing().line("took " + took if kind is None else "stopped after " + took))
        elif kind is None and self._total:
            self._print(f"{self._job}: {self._total:,} of {self._total:,} from the journal")

    def note(self, text: str) -> None:
        """Say something about the job, on a line of its own."""
        if self._block:
            self._block.clear()
        self._print(f"{self._job}: {text}")

    def standing(self) -> Standing:
        """Where the batch stands."""
        self._pace.note(self._clock(), self._done)
        return Standing(
            job=self._job,
            done=self._done,
            total=self._total,
            failed=self._failed,
            tokens=self._tokens,
            cost_usd=self._cost_usd if self._priced else None,
            at_least=self._unpriced > 0,
            replayed=self._done - self._calls,
            left_s=self._pace.left_s(self._total),
        )

    def _show(self) -> None:
        self._due = self._clock() + self._every_s
        if self._block:
            columns, _ = self._block.size
            self._block.draw(bars([self.standing()], columns - 1, self._block.has_unicode))
        else:
            self._print(self.standing().line())

    def _print(self, line: str) -> None:
        try:
            print(line, file=self._log, flush=True)
        except (OSError, ValueError):
            # A full disk or a closed pipe: no reason to lose answers, which have a file of their own.
            self._due = math.inf
