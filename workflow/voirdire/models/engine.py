"""litellm, set up so that it stays offline, silent and free of retries of its own; and what it asks to be told."""

import asyncio
import gc
import logging
import os
import re
import warnings
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from voirdire.errors import UserError
from voirdire.models.spec import Call, ModelSpec

# Servers of one's own want some key, but must not be sent the one of a provider.
NO_KEY = "none"
# Of these everybody has an address of one's own. Without one litellm would ask in vain, or ask OpenAI.
_WITHOUT_ADDRESS = {"azure", "azure_ai", "azure_text", "hosted_vllm", "openai_like", "custom_openai", "litellm_proxy"}
# Keys that aren't in PROVIDER_API_KEY.
_KEY_VARIABLES = {
    "bedrock": "AWS_ACCESS_KEY_ID",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
}
# Names under which providers know, and complain about, what the configuration calls otherwise.
_SENT_AS = {
    "max_tokens": {"max_completion_tokens", "max_output_tokens", "maxOutputTokens"},
    "reasoning_effort": {"thinking", "thinking_budget", "budget_tokens", "effort", "Budget", "Thinking"},
}


def load_litellm() -> ModuleType:
    """Import litellm (2.5 s and 190 MB the first time), set up for this client."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no download at import
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # no .env read behind one's back
    os.environ["LITELLM_LOG"] = "ERROR"  # at DEBUG it prints headers
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Of pydantic on litellm's own types: nothing that a user could mend.
    warnings.filterwarnings("ignore", message=r".* using the `ReadOnly` qualifier", category=UserWarning)
    # Of responses of another form than expected, which are errors of their calls: these would repeat them, unscrubbed.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    collects = gc.isenabled()
    gc.disable()  # a third of the import's time
    try:
        import litellm
    except ImportError as error:
        raise UserError("litellm is not installed; pip install 'voirdire[study]'") from error
    finally:
        if collects:
            gc.enable()
    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    litellm.drop_params = False  # a parameter that isn't sent must not look as if it were
    litellm.num_retries = None
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai"):
        # At lower levels they write URLs with keys in them.
        logging.getLogger(name).setLevel(logging.ERROR)
    return litellm


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Within this block, garbage is sought rarely, and not among what is there already.

    litellm leaves 370,000 objects, and looking through them took a tenth of each call's CPU time.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def run(main: Coroutine[Any, Any, None]) -> None:
    """asyncio.run, after which no exception of an interrupted run is left for the garbage collector to find.

    asyncio logs what nobody has retrieved when it is collected, in the middle of whatever happens to run by then.
    """
    interrupts: list[KeyboardInterrupt] = []

    async def interruptible() -> None:
        try:
            await main
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)

    asyncio.run(interruptible())
    if interrupts:
        raise interrupts[0]


def spare_logging() -> None:
    """Spare what litellm prepares for loggers after each call, of which there are none, in this task and its children.

    It took another tenth of each call's time. litellm has the switch for calls that it makes itself; a version that has
    it no longer is only slower.
    """
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:
        return
    is_internal_call.set(True)


@dataclass(frozen=True)
class Connection:
    """litellm and what it is told about one model with every call.

    `api_key` is the key to send, None where litellm finds its own; `sent` what is recorded as sent.
    """

    litellm: ModuleType
    spec: ModelSpec
    api_key: str | None
    sent: dict[str, Any]
    _arguments: dict[str, Any]

    @property
    def secrets(self) -> list[str]:
        return [self.api_key] if self.api_key and self.api_key != NO_KEY else []

    async def send(self, call: Call, timeout_s: float) -> Any:
        """One request, and litellm's response; raises whatever litellm does."""
        return await self.litellm.acompletion(
            messages=[dict(message) for message in call.messages], timeout=timeout_s, **self._arguments
        )

    def through(self, client: Any) -> "Connection":
        """The same, with its requests made by a client of litellm's."""
        return replace(self, _arguments={**self._arguments, "client": client})


def connect(spec: ModelSpec) -> Connection:
    """Make ready to call a model. Raises UserError where it, its key or a parameter is known to be wrong."""
    litellm = load_litellm()
    check_provider(litellm, spec)
    key = api_key(litellm, spec)
    api_base, api_version = spec.endpoint()
    endpoint = {"api_base": api_base, "api_version": api_version, "api_key": key, "azure_ad_token": _token(spec, key)}
    arguments = {
        "model": spec.model,
        # The one retry loop is the client's: it counts attempts and caps Retry-After.
        "num_retries": 0,
        "max_retries": 0,
        **{name: value for name, value in endpoint.items() if value},
        **spec.sampling(),
    }
    return Connection(litellm, spec, key, sent_parameters(litellm, spec), arguments)


async def close_litellm(litellm: ModuleType) -> None:
    """Close the connections that belong to the running event loop, and forget them."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    GLOBAL_LOGGING_WORKER.start()  # takes over what an earlier event loop has left, which could not be stopped
    await GLOBAL_LOGGING_WORKER.stop(discard_pending=True)
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()
    # Sockets are closed in the loop's next round.
    await asyncio.sleep(0)


def check_provider(litellm: ModuleType, spec: ModelSpec) -> None:
    """Raise UserError where litellm can't tell who serves the model, or where."""
    try:
        litellm.get_llm_provider(spec.model, api_base=spec.api_base)
    except Exception:
        raise UserError(
            f"model '{spec.name}': model: '{spec.model}' doesn't say who serves it; "
            f"put the provider first, as in openai/{spec.model} or azure/{spec.model}"
        ) from None
    if spec.provider in _WITHOUT_ADDRESS and not spec.endpoint()[0]:
        raise UserError(
            f"model '{spec.name}' ({spec.model}): no address; set api_base under endpoint in its entry, "
            f"or the environment variable {spec.provider.upper()}_API_BASE"
        )


def api_key(litellm: ModuleType, spec: ModelSpec) -> str | None:
    """The key to send; None where litellm finds its own (in the provider's usual variable, or a cloud profile).

    Raises UserError naming the model and the environment variable where a key is missing or can't be sent.
    """
    if spec.api_key_env:
        key = os.environ.get(spec.api_key_env, "").strip()
        if not key:
            raise _no_key(spec, spec.api_key_env)
        return _sendable(spec, spec.api_key_env, key)
    is_azure = spec.provider.startswith("azure")
    if spec.api_base and not is_azure:
        return NO_KEY
    if is_azure and (os.environ.get("AZURE_AD_TOKEN") or os.environ.get("AZURE_CLIENT_ID")):
        return None
    if spec.provider == "azure_ai" and not os.environ.get("AZURE_AI_API_KEY"):
        raise _no_key(spec, "AZURE_AI_API_KEY")  # litellm doesn't miss it
    missing = litellm.validate_environment(spec.model)["missing_keys"]
    # Only keys: clouds find other credentials in profiles of which the environment knows nothing. Azure's are all
    # listed where one is missing.
    if names := [name for name in missing if name.endswith("_API_KEY") and not os.environ.get(name)]:
        raise _no_key(spec, " or ".join(names))
    variable = f"{spec.provider.upper()}_API_KEY"
    _sendable(spec, variable, os.environ.get(variable, ""))
    return None


def _sendable(spec: ModelSpec, variable: str, key: str) -> str:
    """The key, if an HTTP header can hold it."""
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"model '{spec.name}' ({spec.model}): the key in the environment variable {variable} holds a line break "
            "or a character that no key has; set it anew"
        )
    return key


def _token(spec: ModelSpec, key: str | None) -> str | None:
    """Azure's token of the environment, which litellm reads there too, but doesn't send."""
    return os.environ.get("AZURE_AD_TOKEN") if key is None and spec.provider.startswith("azure") else None


def _no_key(spec: ModelSpec, variable: str) -> UserError:
    return UserError(
        f"model '{spec.name}' ({spec.model}): no API key; set the environment variable {variable}, or put it into .env"
    )


def key_variable(spec: ModelSpec) -> str:
    """Where to look when a key is refused, in words."""
    if spec.api_key_env:
        return f"the environment variable {spec.api_key_env}"
    if spec.api_base and not spec.provider.startswith("azure"):
        return "an environment variable for its key, and its name as api_key_env in the model's entry (no key was sent)"
    if not spec.provider:
        return "the environment variable for its provider's key"
    return f"the environment variable {_KEY_VARIABLES.get(spec.provider) or f'{spec.provider.upper()}_API_KEY'}"


def sent_parameters(litellm: ModuleType, spec: ModelSpec) -> dict[str, Any]:
    """Model and parameters as they go out, under the names that the provider uses.

    Raises UserError naming a parameter that litellm knows the model to refuse.
    """
    parameters = spec.sampling()
    try:
        model, provider, _, _ = litellm.get_llm_provider(spec.model, api_base=spec.api_base)
        mapped = dict(litellm.utils.get_optional_params(model=model, custom_llm_provider=provider, **parameters))
        mapped = {**_default_cap(litellm, model, provider), **mapped}
    except litellm.UnsupportedParamsError as error:
        raise refused_parameter(spec, str(error)) from None
    except Exception:
        # Only a record: the call itself will tell what is wrong.
        mapped = parameters
    mapped.update(mapped.pop("extra_body", None) or {})
    if not mapped.get("stream"):
        mapped.pop("stream", None)
    return {"model": spec.model, **mapped}


def _default_cap(litellm: ModuleType, model: str, provider: str) -> dict[str, Any]:
    """The cap that litellm sends where none is given, since Anthropic's interface wants one."""
    config = litellm.utils.ProviderConfigManager.get_provider_chat_config(model, litellm.LlmProviders(provider))
    is_anthropics = isinstance(config, litellm.AnthropicConfig)
    return {"max_tokens": config.get_config(model=model)["max_tokens"]} if is_anthropics else {}


def refused_parameter(spec: ModelSpec, message: str, parameter: str | None = None) -> UserError:
    """The error for a parameter that the model refuses; found in the message where it isn't given."""
    given = spec.sampling()
    said = {parameter} if parameter else set(re.findall(r"\w+", message))
    names = [name for name in given if name in said] or [name for name in given if said & _SENT_AS.get(name, set())]
    names = names or ([parameter] if parameter else [])
    named = ", ".join(f"'{name}'" for name in names) or "one of " + (", ".join(given) or "litellm's own")
    return UserError(
        f"model '{spec.name}' ({spec.model}): parameter {named} is refused: {' '.join(message.split())[:300]} "
        "(Change it under parameters, or list it under drop so that it isn't sent; a deployment that takes it though "
        "litellm doesn't know wants allowed_openai_params under parameters.)"
    )
