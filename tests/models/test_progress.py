"""What is shown while calls are made."""

import io
import itertools
import time

import pytest
from screen import Terminal

from voirdire.models import Answer, complete
from voirdire.models.progress import Meter, Pace, Standing, bars


@pytest.fixture(autouse=True)
def _not_under_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")


class Clock:
    """Time that passes when told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def meter(clock, log):
    """Makes a meter that writes to the log."""
    return lambda total=500, terminal=None: Meter("judge blind gsm8k rook larch", total, log, terminal or log, clock)


def answer(status="ok", cost_usd=0.01, tokens=100):
    half = None if tokens is None else tokens // 2
    return Answer(key="k", status=status, prompt_tokens=half, completion_tokens=half, cost_usd=cost_usd, latency_s=1.0)


FAILED = answer("error", None, None)


def feed(meter, clock, answers, total=500, replayed=0, every_s=1.0):
    for done, each in enumerate(answers, replayed + 1):
        clock.now += every_s
        meter(done, total, each)


def test_a_log_gets_a_line_every_30_seconds_and_one_at_the_end(meter, clock, log):
    with meter() as running:
        feed(running, clock, [FAILED, FAILED, *[answer()] * 118])
    lines = log.getvalue().splitlines()
    assert lines == [
        "judge blind gsm8k rook larch: 30 of 500, 28 ok, 2 failed, 2,800 tokens, $0.28, about 8 min left",
        "judge blind gsm8k rook larch: 60 of 500, 58 ok, 2 failed, 5,800 tokens, $0.58, about 7 min left",
        "judge blind gsm8k rook larch: 90 of 500, 88 ok, 2 failed, 8,800 tokens, $0.88, about 7 min left",
        "judge blind gsm8k rook larch: 120 of 500, 118 ok, 2 failed, 11,800 tokens, $1.18, about 6 min left",
        "judge blind gsm8k rook larch: 120 of 500, 118 ok, 2 failed, 11,800 tokens, $1.18, took 2 min",
    ]


def test_a_fast_job_gets_one_line(meter, clock, log):
    with meter(3) as running:
        feed(running, clock, [answer()] * 3, total=3)
    assert log.getvalue() == "judge blind gsm8k rook larch: 3 of 3, 3 ok, 0 failed, 300 tokens, $0.0300, took 3 s\n"


def test_ci_gets_the_last_line_alone(monkeypatch, meter, clock, log):
    monkeypatch.setenv("CI", "true")
    with meter() as running:
        feed(running, clock, [answer()] * 120)
    assert len(log.getvalue().splitlines()) == 1


def test_replayed_answers_are_done_but_say_nothing_of_the_time_left(meter, clock, log):
    with meter() as running:
        feed(running, clock, [answer()] * 30, replayed=440)
    first = log.getvalue().splitlines()[0]
    assert "470 of 500 (440 from the journal), 470 ok" in first
    assert first.endswith("about 30 s left")


def test_a_slow_start_says_nothing_of_the_time_left(meter, clock, log):
    with meter() as running:
        clock.now += 60
        running(1, 500, answer())
        assert log.getvalue().endswith("about 8 min left\n")


def test_a_job_without_a_call_of_its_own_says_so_once(meter, log):
    with meter():
        pass
    assert log.getvalue() == "judge blind gsm8k rook larch: 500 of 500 from the journal\n"


def test_an_empty_job_says_nothing(meter, log):
    with meter(0):
        pass
    assert log.getvalue() == ""


def test_a_job_that_ends_early_says_where(meter, clock, log):
    def fail():
        with meter() as running:
            feed(running, clock, [answer()] * 5)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert log.getvalue().endswith("5 of 500, 5 ok, 0 failed, 500 tokens, $0.0500, stopped after 5 s\n")


def test_a_job_that_ends_before_its_first_answer_leaves_it_to_the_error(meter, log):
    with pytest.raises(RuntimeError), meter():
        raise RuntimeError
    assert log.getvalue() == ""


@pytest.mark.parametrize(
    ("answers", "cost"),
    [
        ([answer(cost_usd=None)], "price unknown"),
        ([answer(cost_usd=None, tokens=None)], "price unknown"),
        ([FAILED], None),
        ([answer("refused", None, None), answer(cost_usd=0.5)], "$0.50"),
        ([answer(cost_usd=0.5), answer(cost_usd=None)], "at least $0.50"),
        ([answer(cost_usd=0.0)], "$0.00"),
        ([answer(cost_usd=0.00001)], "<$0.0001"),
        ([answer(cost_usd=0.0042)], "$0.0042"),
        ([answer(cost_usd=1234.5)], "$1,234.50"),
    ],
    ids=["unknown", "uncounted", "failed", "blocked", "partly", "free", "tiny", "small", "large"],
)
def test_cost_is_a_sum_only_where_it_is_known(meter, clock, log, answers, cost):
    with meter() as running:
        feed(running, clock, answers)
    said = log.getvalue().split(", failed", 1)[-1]
    assert f", {cost}, took" in said if cost else "$" not in said and "price" not in said


def test_a_log_that_takes_no_more_loses_no_answer(meter, clock):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    with Meter("a", 100, Full(), Full(), clock) as running:
        feed(running, clock, [answer()] * 100)
    assert running.standing().done == 100


def test_a_call_costs_less_than_5_microseconds_between_lines(meter):
    running, one = meter(), answer()

    def call_s(n=20_000):
        start = time.perf_counter()
        for done in range(n):
            running(done, n, one)
        return (time.perf_counter() - start) / n

    assert min(call_s() for _ in range(5)) < 5e-6


def test_a_terminal_shows_a_bar_that_gives_way_to_the_last_line(meter, clock, log):
    with Terminal(columns=100) as terminal:
        with meter(terminal=terminal.stream) as running:
            feed(running, clock, [FAILED, *[answer()] * 249])
            (bar,) = filter(None, terminal.look())
            assert bar.startswith("judge blind gsm8k rook larch  ━━━━━")
            assert bar.endswith("─  250 of 500  1 failed  $2.49  4 min left")
            assert log.getvalue() == ""
        assert terminal.look() == []
    assert log.getvalue().endswith("250 of 500, 249 ok, 1 failed, 24,900 tokens, $2.49, took 4 min\n")


def test_a_bar_is_redrawn_five_times_a_second_at_most(meter, clock):
    with Terminal(columns=100) as terminal, meter(terminal=terminal.stream) as running:
        feed(running, clock, [answer()] * 20, every_s=0.01)
        assert terminal.look() == []
        feed(running, clock, [answer()], replayed=20, every_s=0.01)
        assert "21 of 500" in terminal.look()[-1]


def test_complete_tells_how_far_it_is(spec, calls, server, tmp_path, log, clock):
    batch = calls("one", "two", "three")
    for expected in ("3 of 3, 3 ok, 0 failed, ", "3 of 3 from the journal\n"):
        with Meter("generate gsm8k rook", len(batch), log, log, clock) as meter:
            complete(spec(), batch, tmp_path / "journal.jsonl", progress=meter)
        assert f"generate gsm8k rook: {expected}" in log.getvalue()
    assert log.getvalue().count("\n") == 2


def test_the_pace_is_that_of_the_last_minutes():
    pace = Pace()
    for at in range(0, 600, 10):
        pace.note(at, at // 10)  # a call in ten seconds, for ten minutes
    for at in range(600, 1000, 10):
        pace.note(at, 60 + at - 600)  # then one a second
    assert pace.left_s(1450) == pytest.approx(1000)


def test_a_pace_slower_than_its_window_is_known_all_the_same():
    pace = Pace()
    for n in range(5):
        pace.note(400.0 * n, n)
    assert pace.left_s(10) == pytest.approx(6 * 400)


def test_there_is_no_time_left_without_a_pace_or_a_rest():
    pace = Pace()
    assert pace.left_s(10) is None
    pace.note(1, 5)
    pace.note(9, 5)
    assert pace.left_s(10) is None, "nothing has been done"
    pace.note(10, 10)
    assert pace.left_s(10) is None, "nothing is left"


STANDINGS = [
    Standing("judge blind gsm8k rook larch", 120, 500, 2, 34_100, 0.42, left_s=181),
    Standing("generate aime crow", 3, 30, 0, 900, None, left_s=42),
    Standing("judge named mbpp larch a_very_long_name", 1500, 1000, 0, 0, 0.0042),
    Standing("x", 0, 0, 0),
]


@pytest.mark.parametrize("has_unicode", [True, False])
def test_bars_fit_into_every_window(has_unicode):
    for width, count in itertools.product(range(20, 240), range(1, 5)):
        lines = bars(STANDINGS[:count], width, has_unicode)
        assert len(lines) == count
        assert max(map(len, lines)) <= width
        assert not has_unicode or any("━" in line or "─" in line for line in lines)


def test_a_wide_window_shows_all_in_columns():
    first, second, *_ = bars(STANDINGS, 160)
    assert first.endswith("  120 of 500      118 ok  2 failed  34,100 tokens          $0.42  3 min left")
    assert second.endswith("    3 of 30         3 ok               900 tokens  price unknown   45 s left")


def test_a_narrow_window_shows_what_cannot_be_missed():
    assert bars(STANDINGS[:1], 76)[0].endswith("120 of 500  2 failed  3 min left")
    assert bars(STANDINGS[:1], 50)[0].endswith("120 of 500")
