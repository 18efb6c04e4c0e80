"""What is asked of which model, what comes back, and the key that tells whether it was asked before."""

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from voirdire.errors import Faults, UserError

# Set by this client, or able to leak a key or to change what an answer is; never a sampling parameter.
RESERVED = frozenset(
    {
        "additional_drop_params",
        "api_base",
        "api_key",
        "api_version",
        "azure_ad_token",
        "base_url",
        "cache",
        "caching",
        "client",
        "custom_llm_provider",
        "default_headers",
        "drop_params",
        "extra_headers",
        "fallbacks",
        "headers",
        "max_retries",
        "messages",
        "metadata",
        "mock_response",
        "model",
        "n",
        "num_retries",
        "organization",
        "request_timeout",
        "stream",
        "timeout",
    }
)
_UNPREFIXED = ((re.compile(r"(ft:)?(chat)?gpt|o\d"), "openai"), (re.compile("claude"), "anthropic"))
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "name": ((str,), "text"),
    "model": ((str,), "text"),
    "parameters": ((dict,), "a mapping"),
    "drop": ((tuple,), "a list of parameter names"),
    "api_base": ((str, type(None)), "text"),
    "api_version": ((str, type(None)), "text"),
    "api_key_env": ((str, type(None)), "the name of an environment variable"),
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# No name has such a word; most keys do.
_WORD_OF_A_KEY = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}")
_CAPS = ("max_completion_tokens", "max_tokens")
_NUMBERS = ("temperature", "top_p")
_TEXTS = ("text", "raw_text", "finish_reason", "resolved_model", "error")
# More than any model takes or writes.
_MOST_TOKENS = 10**9
_COUNTS = ("prompt_tokens", "completion_tokens")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, in which 1 and 1.0 are the same.

    >>> canonical_json({"b": 1.0, "a": [0, 0.5]})
    '{"a":[0,0.5],"b":1}'
    """
    return json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _canonical(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(part) for part in value]
    # YAML reads `temperature: 0` and `0.0` as two things; a model does not, and asking again costs money.
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class ModelSpec:
    """Everything about a model, in one task and role, that can change an answer, and its price.

    `model` is litellm's id (`azure/gpt-4.1-mini`), `parameters` go to the model except those that `drop` lists.
    Where `api_base` or `api_version` is missing, the provider's environment variables (AZURE_API_BASE, …) count.
    `api_key_env` names the environment variable that holds the key; without it the provider's usual one is taken,
    but never for an endpoint of one's own, which must not be sent somebody else's key.
    `price` is (sent, received) in US dollars per million tokens; without it litellm's list is asked.
    """

    name: str
    model: str
    parameters: dict[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    api_base: str | None = None
    api_version: str | None = None
    api_key_env: str | None = None
    price: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("drop", "price"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        faults = Faults()
        for name, (kinds, expected) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds):
                faults.add(f"model '{self.name}': {name}: must be {expected}")
        if self.price is not None and not _is_price(self.price):
            faults.add(
                f"model '{self.name}': price: must be two numbers of dollars per million tokens, sent and received"
            )
        faults.raise_if_any()
        for name in sorted(RESERVED & self.parameters.keys()):
            faults.add(f"model '{self.name}': parameters: '{name}' is not a sampling parameter; remove it")
        try:
            canonical_json(self.parameters)
        except (TypeError, ValueError):
            faults.add(f"model '{self.name}': parameters: must be numbers, texts, lists and mappings, none infinite")
        for name, expected in _misfits(self.parameters):
            faults.add(f"model '{self.name}': parameters: {name}: must be {expected}, not {self.parameters[name]!r}")
        if self.api_key_env is not None and not _is_variable(self.api_key_env):
            faults.add(
                f"model '{self.name}': api_key_env: must be the name of an environment variable, such as MY_KEY; "
                "if this is the key itself, put it into that variable or into .env"
            )
        if self.api_base is not None and not _plain_url(self.api_base):
            faults.add(
                f"model '{self.name}': api_base: must be http(s)://HOST/PATH without password or query; "
                "a key belongs into the variable that api_key_env names"
            )
        faults.raise_if_any()

    def to_json(self) -> str:
        """The canonical JSON that `from_json` reads: one specification, one string."""
        return canonical_json(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ModelSpec":
        """Read a specification; raises UserError naming what is wrong with it."""
        try:
            values = json.loads(text)
        except ValueError as error:
            raise UserError(f"model specification is not JSON: {error}") from error
        names = {each.name for each in fields(cls)}
        if not isinstance(values, dict) or not {"name", "model"} <= values.keys():
            raise UserError("model specification must be a JSON object with at least name and model")
        if unknown := sorted(values.keys() - names):
            raise UserError(f"model '{values['name']}': unknown key {', '.join(unknown)}; known are {sorted(names)}")
        return cls(**values)

    def sampling(self) -> dict[str, Any]:
        """The parameters without those that `drop` lists, whole numbers without a decimal point."""
        return {name: _canonical(value) for name, value in self.parameters.items() if name not in self.drop}

    def endpoint(self) -> tuple[str | None, str | None]:
        """(api_base, api_version), read from the provider's environment variables where the specification has none."""
        prefix = self.provider.upper()
        names = (f"{prefix}_API_BASE", f"{prefix}_BASE_URL") if prefix else ()
        api_base = self.api_base or next((os.environ[name] for name in names if os.environ.get(name)), None)
        by_environment = os.environ.get(f"{prefix}_API_VERSION") if prefix.startswith("AZURE") else None
        return api_base, self.api_version or by_environment or None

    @property
    def cap(self) -> float:
        """The most tokens of one answer, by the parameters that are really sent; infinite where none says so."""
        sent = self.sampling()
        return next((sent[name] for name in _CAPS if sent.get(name) is not None), math.inf)

    @property
    def provider(self) -> str:
        """The provider's name, with which litellm's id starts; empty where an id without one doesn't tell."""
        provider, slash, _ = self.model.partition("/")
        if slash:
            return provider
        return next((provider for pattern, provider in _UNPREFIXED if pattern.match(self.model)), "")


def _is_price(price: object) -> bool:
    return (
        isinstance(price, tuple)
        and len(price) == 2
        and all(
            isinstance(part, (int, float)) and not isinstance(part, bool) and 0 <= part < math.inf for part in price
        )
    )


def _misfits(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, what it must be) of each parameter of known kind that is given and isn't that."""
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in sorted(given.keys() & {*_CAPS, *_NUMBERS}):
        value = given[name]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if name in _NUMBERS and not is_number:
            yield name, "a number"
        if name in _CAPS and not (is_number and value >= 1 and value % 1 == 0):
            yield name, "a whole number of at least 1"


def _is_variable(name: str) -> bool:
    return bool(_VARIABLE.fullmatch(name)) and not _WORD_OF_A_KEY.search(name)


def _plain_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        return whole and "@" not in parts.netloc and not parts.query and not parts.fragment
    except ValueError:
        return False


@dataclass(frozen=True)
class Call:
    """One question to a model: an id unique in its batch, chat messages, and the number of the repetition."""

    id: str
    messages: tuple[dict[str, Any], ...]
    trial: int = 0


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    `text` is the answer without its closed <think> blocks, missing where there is none; `raw_text` is what the model
    wrote, reasoning included. Token counts are the provider's, missing where it gave none; `cost_usd` is missing
    where the price is unknown. `latency_s` is that of the last attempt. `sent` holds the model and the parameters as
    they were sent.

    What no table can hold is mended here, so that an answer of an older journal is mended too: a lone surrogate
    becomes a question mark, a text field that a server filled with something else its text, and a count that is no
    count is missing.
    """

    key: str
    status: str
    text: str | None = None
    raw_text: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    resolved_model: str | None = None
    sent: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    attempts: int = 1

    def __post_init__(self) -> None:
        for name in _TEXTS:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, str(value).encode("utf-8", "replace").decode())
        for name in _COUNTS:
            value = getattr(self, name)
            object.__setattr__(self, name, token_count(value))
        cost = self.cost_usd
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < math.inf:
            object.__setattr__(self, "cost_usd", None)


def token_count(value: object) -> int | None:
    """A server's count of tokens; None where it can be none.

    >>> token_count(12), token_count(-1), token_count(10**30), token_count("12"), token_count(True)
    (12, None, None, None, None)
    """
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def request_key(spec: ModelSpec, call: Call) -> str:
    """SHA-256 of everything that can change the answer: model, endpoint, messages, sampling parameters, trial."""
    return next(request_keys(spec, [call]))


def request_keys(spec: ModelSpec, calls: Iterable[Call]) -> Iterator[str]:
    """The key of each call."""
    api_base, api_version = spec.endpoint()
    matters = {
        "model": spec.model,
        "api_base": api_base and api_base.rstrip("/"),
        "api_version": api_version,
        "parameters": spec.sampling(),
    }
    for call in calls:
        whole = canonical_json({**matters, "messages": call.messages, "trial": call.trial})
        yield hashlib.sha256(whole.encode()).hexdigest()
