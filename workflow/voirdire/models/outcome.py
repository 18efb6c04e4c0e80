"""What a response or an error of litellm means: an answer, another attempt, or the end of the job."""

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_OPEN, _CLOSE = "<think>", "</think>"
_CLOSED_BLOCK = re.compile(rf"{_OPEN}.*?{_CLOSE}", re.DOTALL | re.IGNORECASE)
_CUT_SHORT = {"length", "max_tokens"}
# Of OpenRouter, DeepSeek, vLLM: what there is of the answer is what was written when the server failed.
_BROKEN_OFF = {"error", "insufficient_system_resource", "abort", "network_error"}
_FILTERED = {"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "recitation", "spii"}
_POLICY_CODES = {
    "content_policy_violation",
    "content_filter",
    "responsibleaipolicyviolation",
    "moderation_blocked",
    "data_inspection_failed",
}
# Azure's wordings, OpenAI's, DeepSeek's, xAI's and those of routers, for errors that come without such a code.
_POLICY_WORDS = re.compile(
    r"content management policy|content_policy_violation|ResponsibleAIPolicyViolation|"
    r"content filter(ing)? policy|content policy|usage policy|usage guidelines|requires moderation|content exists risk",
    re.IGNORECASE,
)
_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
_CONTEXT_WORDS = re.compile(
    r"longer than the (maximum )?model length|maximum (context|model) length|available context size|prompt is too long|"
    r"input token count .*exceeds",
    re.IGNORECASE,
)
_PARAMETER_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
# Wordings of providers that give neither a code nor the parameter's name apart from their message.
_PARAMETER_WORDS = re.compile(
    r"unrecognized request argument|unsupported (parameter|value)|extra inputs are not permitted|extra parameters|"
    r"unknown name|deprecated for this model|may only be set to|cannot both be specified|must be in the range|"
    r"valid range of|maximum allowed number of output tokens|only works in thinking mode",
    re.IGNORECASE,
)
# What an error names as its parameter though no sampling parameter is meant.
_NO_PARAMETERS = {"messages", "prompt", "input", "model", "contents"}
_MISSING_CODES = {"model_not_found", "unknown_model", "deploymentnotfound"}
_MISSING_WORDS = re.compile(r"model not exist", re.IGNORECASE)
# Of litellm only: a traceback that a server has put into its message may be all that there is to know.
_TRACEBACK = re.compile(r'\s*Traceback \(most recent call last\):\s+File "[^"]*litellm.*', re.DOTALL)
_MISFIT = re.compile(r"validation errors? for \w+\n(\S+)\n\s+([^\[\n]+?)\s*\[")
# 529 is Anthropic's word for an overloaded endpoint.
_LIMITED = {429, 529}
# litellm's words, under a status of 500.
_NO_KEY = "Missing credentials"
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
# Anthropic's, and Gemini's for a day's quota, which no backoff outlasts.
_QUOTA_WORDS = re.compile(
    r"credit balance is too low|specified API usage limits|RequestsPerDay|TokensPerDay", re.IGNORECASE
)
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"([\d.]+)s"')
# Of OpenAI's client, which litellm's files and batches let through as they are, without a status.
_CONNECTION = {"APIConnectionError", "APITimeoutError"}
# litellm's words for a response that isn't JSON, under a status of its own making.
_MALFORMED = "Error converting to valid response block"


@dataclass(frozen=True)
class Reading:
    """The status of a response that came back, its cleaned text and what the model wrote."""

    status: str
    text: str | None
    raw_text: str | None
    finish_reason: str | None


def read_response(response: Any) -> Reading | None:
    """Read litellm's response; None where the server has failed: it holds no choice, or an answer broken off."""
    if not response.choices:
        return None
    choice = response.choices[0]
    # litellm calls these "stop", as if the answer were whole.
    native = (getattr(choice, "provider_specific_fields", None) or {}).get("native_finish_reason")
    if str(native).lower() in _BROKEN_OFF:
        return None
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
    `missing`, `quota`, `parameter`. limited: the endpoint wants fewer calls, which says nothing against this one.
    """

    kind: str
    code: str | None = None
    parameter: str | None = None
    retry_after_s: float | None = None
    limited: bool = False


def read_exception(error: Exception) -> Failure:
    """Classify an exception of litellm or of the connection by type, status and the provider's own code and words."""
    status, kind, said = getattr(error, "status_code", None), type(error).__name__, str(error)
    code, parameter = _code_and_parameter(error)
    is_refusal = status in (400, 403, 422)
    if kind == "ContentPolicyViolationError" or code in _POLICY_CODES or (is_refusal and _POLICY_WORDS.search(said)):
        return Failure("refused", code)
    is_long = kind == "ContextWindowExceededError" or code in _CONTEXT_CODES
    if is_long or (is_refusal and _CONTEXT_WORDS.search(said)):
        return Failure("context", code)
    if status == 402 or code in _QUOTA_CODES or (status in (400, 429) and _QUOTA_WORDS.search(said)):
        return Failure("quota", code)
    if status == 404 or code in _MISSING_CODES or (status == 400 and _MISSING_WORDS.search(said)):
        return Failure("missing", code)
    if status in (401, 403) or _NO_KEY in said:
        return Failure("key", code)
    if _MALFORMED in said:
        return Failure("again", code)
    is_parameter = kind == "UnsupportedParamsError" or code in _PARAMETER_CODES
    if is_parameter or (status in (400, 422) and (parameter or _PARAMETER_WORDS.search(said))):
        return Failure("parameter", code, parameter)
    # A status of 200 is that of a response that litellm couldn't read.
    passing = status in (200, 408, 409, 424, 425, 429) or (isinstance(status, int) and status >= 500)
    if passing or isinstance(error, (TimeoutError, ConnectionError)) or kind in _CONNECTION:
        return Failure("again", code, retry_after_s=_asked_wait_s(error), limited=status in _LIMITED)
    return Failure("error", code, parameter)


def root_cause(error: BaseException) -> str:
    """What the innermost of the exceptions behind this one says."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error) or type(error).__name__


def readable(message: str) -> str:
    """A message of litellm in a sentence: without its traceback, and of the provider's JSON the message alone.

    >>> readable('litellm.NotFoundError: AnthropicException - {"error": {"message": "model: claude-x"}}')
    'litellm.NotFoundError: AnthropicException - model: claude-x'
    """
    message = without_traceback(message)
    body, start, end = _json_in(message)
    said = _inner(body).get("message")
    return message[:start] + said + message[end:] if isinstance(said, str) and said else message


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
    """The provider's code, and the sampling parameter that it names, each where there is one."""
    body = _body(error)
    inner = body.get("innererror")
    if isinstance(inner, dict) and str(inner.get("code", "")).lower() in _POLICY_CODES:
        return str(inner["code"]).lower(), None
    # Some servers repeat the HTTP status as the code, which says nothing; Anthropic's is the type, Gemini's the status.
    codes = (body.get("code"), getattr(error, "code", None), body.get("status"), body.get("type"))
    code = next((str(each).lower() for each in codes if each and not str(each).isdigit()), None)
    parameter = str(body.get("param") or getattr(error, "param", None) or "")
    return code, parameter if parameter and re.split(r"\W", parameter)[0] not in _NO_PARAMETERS else None


def _body(error: BaseException) -> dict[str, Any]:
    """The provider's error: the body that the OpenAI client keeps, else the JSON that litellm puts into its message."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(body := getattr(at, "body", None), dict):
            return _inner(body)
        at = at.__cause__ or at.__context__
    return _inner(_json_in(str(error))[0])


def _json_in(message: str) -> tuple[dict[str, Any], int, int]:
    """The first JSON object in a message, and where it starts and ends; an empty one where there is none."""
    start = message.find("{")
    try:
        body, end = json.JSONDecoder().raw_decode(message, max(start, 0))
    except (ValueError, RecursionError):
        return {}, 0, 0
    return (body, start, end) if isinstance(body, dict) else ({}, 0, 0)


def _inner(body: dict[str, Any]) -> dict[str, Any]:
    return body["error"] if isinstance(body.get("error"), dict) else body


def _asked_wait_s(error: Exception) -> float | None:
    """Seconds that the server asks to wait, by its headers or, as Gemini does, in the error itself."""
    # The response of litellm's exceptions has no headers for providers that it calls without OpenAI's client.
    sources = (getattr(error, "litellm_response_headers", None), getattr(error, "response", None))
    for source in sources:
        headers = getattr(source, "headers", source)
        if headers and (seconds := retry_after_s(headers.get("retry-after"))) is not None:
            return seconds
    delay = _RETRY_DELAY.search(str(error))
    return retry_after_s(delay[1]) if delay else None


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
