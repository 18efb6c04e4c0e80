"""How hard an endpoint may be asked: limits that change no answer, and what they allow at a moment.

The state of an endpoint is a plain dictionary, shared by all jobs that ask it. Time is an argument: seconds since the
epoch, since jobs on several machines share it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

# A server that asks for more than this is asked again sooner.
RETRY_AFTER_LONGEST_S = 120.0
_MINUTE_S = 60.0


@dataclass(frozen=True)
class Limits:
    """How a model's calls are made. Nothing here changes an answer.

    pool : names the endpoint; calls of one pool share concurrency and rates, whatever job or model they are of.
    concurrency : calls in flight, over all jobs.
    requests_per_minute, tokens_per_minute : in any minute, over all jobs; tokens are those sent and received.
    timeout_s : seconds one attempt may take.
    max_attempts : attempts per call, the first included; those turned away by a rate limit (429) don't count.
    deadline_s : seconds from a call's first attempt to its last.
    budget_usd : what the study may spend, over all jobs and models.
    mode : `live`, or `batch` through the provider's batch interface.
    shared : the file through which the study's jobs share all this; without it, this process is alone.
    """

    pool: str = ""
    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout_s: float = 600
    max_attempts: int = 6
    deadline_s: float = 3600
    budget_usd: float | None = None
    mode: Literal["live", "batch"] = "live"
    shared: str | None = None

    def to_json(self) -> str:
        """JSON that `from_json` reads."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Limits":
        """Read limits; keys that this version doesn't know are passed over."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in json.loads(text).items() if name in known})


# Of a process that shares nothing.
ALONE = Limits()


def allowed(endpoint: Mapping[str, Any], limits: Limits) -> int:
    """How many calls the endpoint may have in flight now, by the configuration and by what its 429s have taught."""
    return max(1, int(min(limits.concurrency, endpoint.get("limit", limits.concurrency))))


def wait_s(endpoint: Mapping[str, Any], limits: Limits, in_flight: int, tokens: float, now: float) -> float:
    """Seconds until the endpoint may be asked again; 0 where it may now, infinite where a call has to end first.

    endpoint : its state, empty at first.
    in_flight : its calls under way, over all jobs.
    tokens : what the call is expected to send and receive.
    """
    if in_flight >= allowed(endpoint, limits):
        return math.inf
    held_s = endpoint.get("not_before", 0.0) - now
    # More than a server is granted comes of a clock that was wrong.
    waits = [held_s if held_s <= RETRY_AFTER_LONGEST_S else 0.0]
    for name, per_minute, amount in (
        ("requests", limits.requests_per_minute, 1.0),
        ("tokens", limits.tokens_per_minute, tokens),
    ):
        if per_minute is not None:
            burst, rate = _bucket(per_minute)
            missing = min(amount, burst) - _level(endpoint.get(name), burst, rate, now)
            waits.append(missing / rate)
    return max(0.0, *waits)


def take(endpoint: dict[str, Any], limits: Limits, tokens: float, now: float) -> None:
    """Note that a call goes out."""
    _draw(endpoint, "requests", limits.requests_per_minute, 1.0, now)
    _draw(endpoint, "tokens", limits.tokens_per_minute, tokens, now)


def correct_tokens(endpoint: dict[str, Any], limits: Limits, more: float, now: float) -> None:
    """Note that a call took `more` tokens than expected; fewer where it is negative."""
    _draw(endpoint, "tokens", limits.tokens_per_minute, more, now)


def grow(endpoint: dict[str, Any], limits: Limits) -> None:
    """An answer has come: once all calls of a full window are answered, the limit has grown by one."""
    limit = endpoint.get("limit", limits.concurrency)
    if limit + 1 / limit < limits.concurrency:
        endpoint["limit"] = limit + 1 / limit
    else:
        endpoint.pop("limit", None)


def turn_away(endpoint: dict[str, Any], limits: Limits, started: float, now: float) -> None:
    """The endpoint has turned a call away that started at `started`: half the limit.

    The calls that were on their way when the limit was lowered say nothing of the lower one.
    """
    lowered_at = endpoint.get("lowered_at", 0.0)
    # A time to come is another machine's, whose clock is ahead.
    if started >= lowered_at or lowered_at > now:
        endpoint["limit"] = max(1.0, min(limits.concurrency, endpoint.get("limit", limits.concurrency)) / 2)
        endpoint["lowered_at"] = now


def hold(endpoint: dict[str, Any], retry_after_s: float, now: float) -> None:
    """The endpoint wants no call at all for so long."""
    until = now + min(retry_after_s, RETRY_AFTER_LONGEST_S)
    endpoint["not_before"] = max(endpoint.get("not_before", 0.0), until)


def _bucket(per_minute: int) -> tuple[float, float]:
    """(burst, rate per second) of a bucket out of which no minute takes more than `per_minute`.

    A minute may empty a full bucket and all that flows in meanwhile. Providers look at seconds, not at minutes:
    so the burst is what a second allows, and one call at least.
    """
    burst = 1.0 + per_minute // _MINUTE_S
    return burst, max(per_minute - burst + 1.0, 1e-9) / _MINUTE_S


def _level(bucket: Mapping[str, float] | None, burst: float, rate: float, now: float) -> float:
    if not bucket or bucket["at"] > now + _MINUTE_S:
        return burst
    # A clock that is behind another machine's must not drain the bucket.
    return min(burst, bucket["level"] + max(0.0, now - bucket["at"]) * rate)


def _draw(endpoint: dict[str, Any], name: str, per_minute: int | None, amount: float, now: float) -> None:
    if per_minute is None:
        return
    burst, rate = _bucket(per_minute)
    level = _level(endpoint.get(name), burst, rate, now) - amount
    # Never back in time, as on a machine whose clock is behind: what flowed in since would flow in once more.
    noted = endpoint[name]["at"] if name in endpoint else now
    at = max(now, noted) if noted <= now + _MINUTE_S else now
    endpoint[name] = {"level": min(level, burst), "at": at}
