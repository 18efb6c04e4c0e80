"""Retry-After and reasoning blocks, read as written."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from voirdire.models.asking import BACKOFF_LONGEST_S, wait_s
from voirdire.models.limits import RETRY_AFTER_LONGEST_S
from voirdire.models.outcome import (
    Failure,
    read_response,
    readable,
    retry_after_s,
    without_reasoning,
    without_traceback,
)

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.25", 0.25),
        ("-3", 0.0),
        ("Mon, 30 Nov 2026 12:00:20 GMT", 20.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(value, seconds):
    assert retry_after_s(value, NOW) == seconds


def test_retry_after_is_capped():
    assert wait_s(Failure("again", retry_after_s=86400), 1) == RETRY_AFTER_LONGEST_S
    assert wait_s(Failure("again", retry_after_s=3), 5) == 3


@pytest.mark.parametrize(("attempt", "longest"), [(1, 1), (2, 2), (4, 8), (50, BACKOFF_LONGEST_S)])
def test_backoff_doubles_with_jitter_up_to_a_cap(attempt, longest):
    waits = {wait_s(Failure("again"), attempt) for _ in range(50)}
    assert len(waits) > 1
    assert all(longest / 2 <= wait <= longest for wait in waits)


@pytest.mark.parametrize(
    ("text", "cleaned", "unclosed"),
    [
        ("42", "42", False),
        ("  42\n", "  42\n", False),
        ("<think>6 * 7</think>\n\n42", "42", False),
        ("<THINK>\na\nb\n</Think>42", "42", False),
        ("<think>a</think> x <think>b</think> y", "x  y", False),
        ("<think>a <think> b</think> c</think> 42", "42", False),
        ("6 * 7</think>\n42", "42", False),
        ("<think></think>", "", False),
        ("<think>6 * 7 is", "", True),
        ("42 <think>or", "42", True),
        ("<think>a</think>42<think>b", "42", True),
        ("I think < 3", "I think < 3", False),
    ],
)
def test_reasoning_is_taken_out(text, cleaned, unclosed):
    assert without_reasoning(text) == (cleaned, unclosed)


@pytest.mark.parametrize(
    ("content", "status", "text"),
    [
        ([{"type": "text", "text": "4"}, {"type": "text", "text": "2"}], "ok", "42"),
        ([{"type": "thinking", "thinking": "6 * 7"}, {"type": "text", "text": "42"}], "ok", "42"),
        ([{"type": "text", "text": "<think>6 * 7</think>42"}], "ok", "42"),
        ([{"type": "text", "text": None}, "42", {"type": "image_url"}], "empty", None),
        ([], "empty", None),
    ],
)
def test_the_text_parts_of_a_content_in_parts_are_joined(content, status, text):
    message = SimpleNamespace(content=content)
    reading = read_response(SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason="stop")]))
    assert (reading.status, reading.text) == (status, text)


FRAMES = 'Traceback (most recent call last):\n  File "/lib/litellm/main.py", line 1, in f\n    f()\n'


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no such model", "no such model"),
        (
            f"Invalid response object {FRAMES}KeyError: 'x'",
            "Invalid response object: the server's response is malformed",
        ),
        (
            f"odd {FRAMES}pydantic: 1 validation error for Message\ncontent\n  Input should be a string [type=s]\n",
            "odd: the server's response is malformed (content: Input should be a string)",
        ),
        (f"can't connect\n{FRAMES}OSError: no route", "can't connect"),
        (
            'out of memory Traceback (most recent call last):\n  File "/srv/vllm/engine.py", line 1',
            'out of memory Traceback (most recent call last):\n  File "/srv/vllm/engine.py", line 1',
        ),
    ],
)
def test_litellms_traceback_is_cut_off_and_a_servers_is_not(message, shown):
    assert without_traceback(message) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no such model", "no such model"),
        ('E - {"type": "error", "error": {"type": "x", "message": "no key"}}. Handle it.', "E - no key. Handle it."),
        ('E - {"object": "error", "message": "no \\u00e9", "code": 404}', "E - no é"),
        ('E - {"error": {"message": ""}}', 'E - {"error": {"message": ""}}'),
        ('E - {"error": "full"}', 'E - {"error": "full"}'),
        ('E - {"detail": [1]}', 'E - {"detail": [1]}'),
        ("bad set {1, 2}", "bad set {1, 2}"),
        ('{"cut', '{"cut'),
        (f'E - {{"error": {{"message": "no route"}}}}\n{FRAMES}OSError', "E - no route"),
    ],
)
def test_of_a_providers_json_its_message_is_shown(message, shown):
    assert readable(message) == shown


def test_a_message_of_endless_json_is_shown_as_it_is():
    assert readable('{"a":' * 100_000) == '{"a":' * 100_000
