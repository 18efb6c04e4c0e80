"""What a response or an error of litellm means: an answer, another attempt, or the end of the job."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_OPEN, _CLOSE = "<think>", "</think>"
_CLOSED_BLOCK = re.compile(rf"{_OPEN}.*?{_CLOSE}", re.DOTALL | re.IGNORECASE)
_CUT_SHORT = {"length", "max_tokens"}
_FILTERED = {"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "recitation", "spii"}
_POLICY_CODES = {"content_policy_violation", "content_filter", "responsibleaipolicyviolation", "moderation_blocked"}
# Azure's wordings, OpenAI's, and those of routers, for errors that come without such a code.
_POLICY_WORDS = re.compile(
    r"content management policy|content_policy_violation|ResponsibleAIPolicyViolation|"
    r"content filter(ing)? policy|content policy|usage policy|requires moderation",
    re.IGNORECASE,
)
_CONTEXT_CODES = {"context_length_exceeded"}
_PARAMETER_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
# Of litellm only: a traceback that a server has put into its message may be all that there is to know.
_TRACEBACK = re.compile(r'\s*Traceback \(most recent call last\):\s+File "[^"]*litellm.*', re.DOTALL)
_MISFIT = re.compile(r"validation errors? for \w+\n(\S+)\n\s+([^\[\n]+?)\s*\[")
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}


@dataclass(frozen=True)
class Reading:
    """The status of a response that came back, its cleaned text and what the model wrote."""

    status: str
    text: str | None
    raw_text: str | None
    finish_reason: str | None


def read_response(response: Any) -> Reading | None:
    """Read litellm's response; None where it holds no choice at all, which is a fault of the server."""
    if not response.choices:
        return None
    choice = response.choices[0]
    message, finish_reason = choice.message, choice.finish_reason
    content = _joined(message.content)
    raw_text = content
    if reasoning := getattr(message, "reasoning_content", None):
        # litellm or the server has moved it out of the text; the journal keeps it where the model wrote it.
        raw_text = f"{_OPEN}{reasoning}{_CLOSE}{content or ''}"
        content = (content or "").strip()
    refusal = getattr(message, "refusal", None)
    if refusal or str(finish_reason).lower() in _FILTERED:
        return Reading("refused", None, refusal if refusal and raw_text is None else raw_text, finish_reason)
    text, unclosed = without_reasoning(content or "")
    if unclosed or str(finish_reason).lower() in _CUT_SHORT:
        return Reading("truncated", text or None, raw_text, finish_reason)
    return Reading("ok" if text.strip() else "empty", text or None, raw_text, finish_reason)


def _joined(content: Any) -> Any:
    """The text of a content that came as a list of parts, as {"type": "text", "text": "42"}; others as they are."""
    if not isinstance(content, list):
        return content
    return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))


def without_reasoning(text: str) -> tuple[str, bool]:
    """The text without its closed <think> blocks, and whether one was left open (its text is then cut there).

    A closing tag alone ends reasoning too: some servers give the opening one with the prompt.

    >>> without_reasoning("<think>6 * 7</think> 42")
    ('42', False)
    >>> without_reasoning("<think>6 * 7 is")
    ('', True)
    >>> without_reasoning("6 * 7</think>42")
    ('42', False)
    """
    cleaned = _CLOSED_BLOCK.sub("", text)
    close = cleaned.lower().rfind(_CLOSE)
    if close >= 0:
        cleaned = cleaned[close + len(_CLOSE) :]
    start = cleaned.lower().find(_OPEN)
    if start >= 0:
        return cleaned[:start].strip(), True
    return (cleaned.strip() if cleaned != text else text), False


@dataclass(frozen=True)
class Failure:
    """What an exception means for the call.

    kind: `refused` (an answer) · `again` · `context` · `error` (this call only) · and for the whole job `key`,
    `missing`, `quota`, `parameter`.
    """

    kind: str
    code: str | None = None
    parameter: str | None = None
    retry_after_s: float | None = None


def read_exception(error: Exception) -> Failure:
    """Classify an exception of litellm or of the connection by type, status and the provider's own code."""
    status = getattr(error, "status_code", None)
    code, parameter = _code_and_parameter(error)
    kind = type(error).__name__
    if kind == "ContentPolicyViolationError" or code in _POLICY_CODES:
        return Failure("refused", code)
    if kind == "ContextWindowExceededError" or code in _CONTEXT_CODES:
        return Failure("context", code)
    if kind == "UnsupportedParamsError" or code in _PARAMETER_CODES:
        return Failure("parameter", code, parameter)
    if status in (400, 403, 422) and _POLICY_WORDS.search(str(error)):
        return Failure("refused", code)
    if status == 402 or code in _QUOTA_CODES:
        return Failure("quota", code)
    if status in (401, 403):
        return Failure("key", code)
    if status == 404:
        return Failure("missing", code)
    passing = status in (408, 409, 425, 429) or (isinstance(status, int) and status >= 500)
    if passing or isinstance(error, (TimeoutError, ConnectionError)):
        return Failure("again", code, retry_after_s=retry_after_s(_header(error, "retry-after")))
    return Failure("error", code, parameter)


def without_traceback(message: str) -> str:
    """A message of litellm without the traceback that it appends, above all where it can't make sense of a response.

    >>> without_traceback(
    ...     'Invalid response object Traceback (most recent call last):\\n  File "x/litellm/y.py", line 1'
    ... )
    "Invalid response object: the server's response is malformed"
    """
    traceback = _TRACEBACK.search(message)
    if traceback is None:
        return message
    said = message[: traceback.start()]
    misfit = _MISFIT.search(traceback[0])
    if misfit is None and not said.endswith("Invalid response object"):
        return said
    what = f" ({misfit[1]}: {misfit[2]})" if misfit else ""
    return f"{said}: the server's response is malformed{what}"


def _code_and_parameter(error: Exception) -> tuple[str | None, str | None]:
    body = getattr(error, "body", None)
    body = body.get("error", body) if isinstance(body, dict) else {}
    body = body if isinstance(body, dict) else {}
    code = body.get("code") or getattr(error, "code", None)
    parameter = body.get("param") or getattr(error, "param", None)
    inner = body.get("innererror")
    if isinstance(inner, dict) and str(inner.get("code", "")).lower() in _POLICY_CODES:
        code = inner["code"]
    # Some servers repeat the HTTP status as the code, which says nothing.
    code = None if code is None or str(code).isdigit() else str(code).lower()
    return code, str(parameter) if parameter else None


def _header(error: Exception, name: str) -> str | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers.get(name) if headers is not None else None


def retry_after_s(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header, given as seconds or as an HTTP date; None where it is neither.

    >>> retry_after_s("7")
    7.0
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = (at - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
