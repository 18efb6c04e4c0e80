"""What an endpoint allows at a moment: rates that no minute exceeds, and a limit that gives way and recovers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.models.limits import RETRY_AFTER_LONGEST_S, Limits, correct_tokens, grow, hold, take, turn_away, wait_s

NOW = 1_800_000_000.0


def run(limits, gaps, tokens=lambda number: 1.0):
    """The times at which calls go out that come at the given gaps, each as soon as it may."""
    endpoint, now, times = {}, NOW, []
    for number, gap in enumerate(gaps):
        now += gap
        # Twice: a wait computed in floating point may end a hair too early.
        for _ in range(2):
            now += wait_s(endpoint, limits, 0, tokens(number), now)
        take(endpoint, limits, tokens(number), now)
        times.append(now)
    return times


def busiest_minute(times, amounts):
    return max(
        sum(amount for at, amount in zip(times, amounts, strict=True) if start <= at < start + 60) for start in times
    )


@given(st.integers(1, 300), st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.3, 5.0, 61.0]), min_size=1, max_size=400))
def test_no_minute_has_more_requests_than_allowed(per_minute, gaps):
    times = run(Limits(requests_per_minute=per_minute), gaps)
    assert busiest_minute(times, [1] * len(times)) <= per_minute


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600])
def test_what_is_allowed_is_used(per_minute):
    times = run(Limits(requests_per_minute=per_minute), [0.0] * (3 * per_minute + 1))
    assert (times[-1] - times[0]) / 60 == pytest.approx(3, rel=0.05)


@given(st.integers(100, 10_000), st.lists(st.integers(1, 3000), min_size=1, max_size=100))
def test_no_minute_has_more_tokens_than_allowed_but_for_one_call(per_minute, amounts):
    times = run(Limits(tokens_per_minute=per_minute), [0.0] * len(amounts), lambda number: amounts[number])
    assert busiest_minute(times, amounts) <= per_minute + max(amounts)


def test_tokens_that_were_not_expected_are_waited_for_and_those_that_were_not_needed_given_back():
    limits = Limits(tokens_per_minute=600)
    endpoint = {}
    take(endpoint, limits, 11.0, NOW)
    assert wait_s(endpoint, limits, 0, 1.0, NOW) == pytest.approx(1 / (590 / 60))
    correct_tokens(endpoint, limits, 590.0, NOW)
    assert wait_s(endpoint, limits, 0, 1.0, NOW) == pytest.approx(591 / (590 / 60))
    correct_tokens(endpoint, limits, -600.0, NOW)
    assert wait_s(endpoint, limits, 0, 1.0, NOW) == 0


def test_calls_in_flight_are_bounded():
    limits = Limits(concurrency=3)
    assert wait_s({}, limits, 2, 0, NOW) == 0
    assert wait_s({}, limits, 3, 0, NOW) == math.inf


def test_a_429_halves_the_limit_once_for_all_calls_of_its_time():
    limits, endpoint = Limits(concurrency=16), {}
    for _ in range(10):
        turn_away(endpoint, limits, NOW - 1, NOW)
    assert endpoint["limit"] == 8
    turn_away(endpoint, limits, NOW + 1, NOW + 2)
    assert endpoint["limit"] == 4
    for later in range(10):
        turn_away(endpoint, limits, NOW + 3 + later, NOW + 3 + later)
    assert endpoint["limit"] == 1
    assert wait_s(endpoint, limits, 0, 0, NOW) == 0, "one call may always go out"


def test_the_limit_grows_back_by_one_for_each_window_of_answers():
    limits, endpoint = Limits(concurrency=16), {"limit": 4.0}
    for _ in range(4):
        grow(endpoint, limits)
    assert 4.8 < endpoint["limit"] <= 5
    for _ in range(1000):
        grow(endpoint, limits)
    assert endpoint == {}, "nothing of it is left for a later run"


def test_clocks_that_disagree_let_nothing_more_out():
    limits = Limits(tokens_per_minute=6000)
    endpoint = {}
    take(endpoint, limits, 101, NOW + 2)
    waits = [wait_s(endpoint, limits, 0, 101, NOW + 2)]
    for _ in range(20):
        correct_tokens(endpoint, limits, 0.0, NOW)
        waits.append(wait_s(endpoint, limits, 0, 101, NOW + 2))
    assert min(waits) == max(waits) > 1


def test_a_429_counts_though_the_limit_was_lowered_by_a_clock_that_is_ahead():
    limits, endpoint = Limits(concurrency=16), {}
    turn_away(endpoint, limits, NOW + 100, NOW + 101)
    turn_away(endpoint, limits, NOW, NOW + 1)
    assert endpoint["limit"] == 4


def test_a_limit_learned_under_another_configuration_is_no_more_than_allowed_now():
    assert wait_s({"limit": 64.0}, Limits(concurrency=2), 2, 0, NOW) == math.inf


def test_retry_after_holds_all_calls_up_to_a_cap():
    endpoint = {}
    hold(endpoint, 7, NOW)
    hold(endpoint, 3, NOW)
    assert wait_s(endpoint, Limits(), 0, 0, NOW + 1) == 6
    hold(endpoint, 10_000, NOW)
    assert wait_s(endpoint, Limits(), 0, 0, NOW) == RETRY_AFTER_LONGEST_S


def test_times_that_a_wrong_clock_has_left_hold_nothing_up():
    limits = Limits(requests_per_minute=60)
    endpoint = {"not_before": NOW + 1e7, "requests": {"level": -1.0, "at": NOW + 1e5}}
    assert wait_s(endpoint, limits, 0, 0, NOW) == 0
    take(endpoint, limits, 0, NOW)
    assert endpoint["requests"]["at"] == NOW


def test_limits_come_back_from_json_and_what_a_later_version_adds_is_ignored():
    limits = Limits(pool="p", concurrency=3, tokens_per_minute=7, budget_usd=0.5, shared="a/b.json")
    assert Limits.from_json(limits.to_json()) == limits
    assert Limits.from_json('{"concurrency": 3, "new": 1}') == Limits(concurrency=3)
