"""What the providers' errors mean, in their own words, over HTTP."""

import pytest
from families import FAMILIES, KEY, KEY_VARIABLE, anthropic_error, gemini_error, openai_error
from fault_server import Reply

from voirdire.errors import UserError
from voirdire.models import Answer, complete

MODELS = {name: family.model for name, family in FAMILIES.items()}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def ask(server, spec, calls, tmp_path):
    """Asks a family's model one prompt, which the server answers as given."""

    def one(family: str, *replies: Reply, prompt: str = "gsm8k-0007", **parameters) -> Answer:
        if replies:
            server.script(prompt, *replies)
        asked = spec(**FAMILIES[family].entry(server), parameters=parameters)
        return complete(asked, calls(prompt), tmp_path / "tested.jsonl")[prompt]

    return one


AZURE_FILTER = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. "
    "Please modify your prompt and retry."
)
NEWER_AZURE_FILTER = AZURE_FILTER.replace("Azure OpenAI", "Microsoft")
FILTERED = {"innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {}}}}
USAGE_POLICY = "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
BLOCKED = {"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}, "modelVersion": "gemini-2.5-flash"}


@pytest.mark.parametrize(
    ("family", "reply"),
    [
        *(
            (family, openai_error(400, wording, code, "prompt", **inner))
            for family in ("azure", "azure v1", "azure_ai")
            for wording in (AZURE_FILTER, NEWER_AZURE_FILTER)
            for code, inner in (("content_filter", FILTERED), (None, {}))
        ),
        *((family, Reply("it is", "content_filter")) for family in ("openai", "azure", "azure v1", "azure_ai", "vllm")),
        *((family, openai_error(400, USAGE_POLICY, "invalid_prompt")) for family in ("openai", "azure")),
        ("openai", openai_error(400, "Your request was rejected.", "content_policy_violation")),
        ("openai", Reply(None, message={"refusal": "I can't help with that."})),
        ("deepseek", openai_error(400, "Content Exists Risk", "invalid_request_error")),
        ("vllm", openai_error(403, "Content violates usage guidelines.")),
        *(("gemini", Reply(None, reason)) for reason in ("SAFETY", "PROHIBITED_CONTENT", "RECITATION", "SPII")),
        ("gemini", Reply("it is", "SAFETY")),
        ("gemini", Reply(body={"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []}, **BLOCKED})),
        ("gemini", Reply(body={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **BLOCKED})),
        *((family, Reply(None, "refusal")) for family in ("anthropic", "azure_ai claude")),
        ("anthropic", Reply("I can't", "refusal")),
        ("anthropic", anthropic_error(400, "Output blocked by content filtering policy")),
        ("azure_ai claude", anthropic_error(400, "Output blocked by content filtering policy")),
    ],
)
def test_a_content_filter_is_a_refusal_at_once_and_is_kept(server, ask, family, reply):
    answer = ask(family, reply)
    assert (answer.status, answer.text, answer.attempts) == ("refused", None, 1)
    assert answer.finish_reason in ("content_filter", "stop")
    assert ask(family, reply) == answer
    assert len(server.requests) == 1


LONG = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."
TOO_LONG_FOR_CLAUDE = "prompt is too long: 210000 tokens > 200000 maximum"


@pytest.mark.parametrize(
    ("family", "reply"),
    [
        *((family, openai_error(400, LONG, "context_length_exceeded")) for family in ("openai", "azure", "azure v1")),
        *((family, openai_error(400, LONG)) for family in ("azure_ai", "deepseek", "vllm")),
        ("openai", openai_error(400, "Input tokens exceed the configured limit of 272000.", "context_length_exceeded")),
        ("azure_ai", openai_error(400, "The prompt is too long: 200000, model maximum context length: 131071")),
        *((family, anthropic_error(400, TOO_LONG_FOR_CLAUDE)) for family in ("anthropic", "azure_ai claude")),
        ("anthropic", anthropic_error(400, "input length and `max_tokens` exceed context limit: 190000 + 20000")),
        ("anthropic", anthropic_error(413, "Request exceeds the maximum size", "request_too_large")),
        ("gemini", gemini_error(400, "The input token count (1200000) exceeds the maximum number of tokens allowed.")),
        ("vllm", openai_error(400, f"'max_tokens' or 'max_completion_tokens' is too large: 5000. {LONG}", 400)),
        (
            "vllm",
            openai_error(400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        ),
        ("vllm", Reply(status=400, body={"object": "error", "message": LONG, "param": None, "code": 400})),
        (
            "openai",
            openai_error(400, "the request exceeds the available context size (4096 tokens)", 400, n_ctx=4096),
        ),
        ("openai", openai_error(422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.")),
    ],
)
def test_a_context_overflow_is_an_error_that_names_the_item(server, ask, family, reply):
    answer = ask(family, reply, max_tokens=2048)
    assert (answer.status, answer.attempts, len(server.requests)) == ("error", 1, 1)
    assert answer.error.startswith("gsm8k-0007: the prompt and max_tokens don't fit into the model's context: ")


NO_SUCH_DEPLOYMENT = "The API deployment for this resource does not exist."
LEAKED = "Your API key was reported as leaked. Please use another API key."
INVALID = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]


@pytest.mark.parametrize(
    ("family", "reply", "said"),
    [
        ("openai", openai_error(401, "Incorrect API key provided", "invalid_api_key"), "API key is refused"),
        ("openai", openai_error(403, "Country not supported", "unsupported_country"), "API key is refused"),
        ("openai", openai_error(403, "Project has no access", "model_not_found"), "no such model"),
        ("openai", openai_error(404, "The model does not exist", "model_not_found"), "no such model"),
        ("openai", Reply(status=404, body={"detail": "Not Found"}), "no such model"),
        ("azure", openai_error(401, "Access denied due to invalid subscription key", "401"), "API key is refused"),
        ("azure", openai_error(403, "Access denied due to Virtual Network rules.", "403"), "API key is refused"),
        ("azure", openai_error(404, NO_SUCH_DEPLOYMENT, "DeploymentNotFound"), "no such model or deployment"),
        ("azure", openai_error(404, "Resource not found", "404"), "no such model or deployment"),
        ("azure v1", openai_error(404, NO_SUCH_DEPLOYMENT, "DeploymentNotFound"), "no such model or deployment"),
        ("azure_ai", Reply(status=401, body={"statusCode": 401, "message": "Unauthorized."}), "API key is refused"),
        ("azure_ai", openai_error(403, "no access"), "API key is refused"),
        ("azure_ai", openai_error(400, "Unknown model: llama", "unknown_model"), "no such model"),
        ("azure_ai claude", anthropic_error(404, "model: claude-x", "not_found_error"), "no such model"),
        ("anthropic", anthropic_error(401, "invalid x-api-key", "authentication_error"), "API key is refused"),
        ("anthropic", anthropic_error(403, "not allowed", "permission_error"), "API key is refused"),
        ("anthropic", anthropic_error(404, "model: claude-x", "not_found_error"), "no such model"),
        ("gemini", gemini_error(400, "API key not valid.", details=INVALID), "API key is refused"),
        ("gemini", gemini_error(403, LEAKED, "PERMISSION_DENIED"), "API key is refused"),
        ("gemini", gemini_error(404, "models/gemini-x is not found", "NOT_FOUND"), "no such model"),
        ("deepseek", openai_error(401, "Authentication Fails"), "API key is refused"),
        ("deepseek", openai_error(400, "Model Not Exist", "invalid_request_error"), "no such model"),
        ("vllm", openai_error(401, "Unauthorized"), "API key is refused"),
        ("vllm", openai_error(404, "The model `q` does not exist."), "no such model"),
    ],
)
def test_a_bad_key_or_model_stops_the_job_with_one_sentence(server, ask, family, reply, said):
    with pytest.raises(UserError) as caught:
        ask(family, reply)
    (sentence,) = caught.value.faults
    assert sentence.startswith(f"model 'tested' ({MODELS[family]}): ")
    assert said in sentence
    assert f"environment variable {KEY_VARIABLE}" in sentence
    assert KEY not in sentence
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("azure_ai/Llama-3.3-70B-Instruct", "AZURE_AI_API_KEY"),
        ("azure/gpt-5", "AZURE_API_KEY"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("deepseek/deepseek-reasoner", "DEEPSEEK_API_KEY"),
    ],
)
def test_a_missing_key_is_said_before_any_call(spec, calls, tmp_path, monkeypatch, server, model, variable):
    for name in (*variable.split(" or "), "AZURE_AD_TOKEN", "AZURE_CLIENT_ID"):
        monkeypatch.delenv(name, raising=False)
    base = {"api_base": server.root if model.startswith("azure") else None}
    with pytest.raises(UserError, match=rf"\({model}\): no API key; set the environment variable {variable}"):
        complete(spec(model=model, **base), calls("p"), tmp_path / "tested.jsonl")
    assert server.requests == []


def test_either_of_geminis_keys_will_do(server, spec, calls, tmp_path, monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_BASE", f"{server.root}/v1beta")
    asked = spec(model="gemini/gemini-2.5-flash", api_base=None)
    assert complete(asked, calls("p"), tmp_path / "tested.jsonl")["p"].status == "ok"
    assert server.requests[0].headers["x-goog-api-key"] == KEY


@pytest.mark.parametrize("provider", ["azure", "azure_ai", "hosted_vllm"])
def test_a_missing_address_is_said_before_any_call(spec, calls, tmp_path, monkeypatch, provider):
    monkeypatch.delenv(f"{provider.upper()}_API_BASE", raising=False)
    asked = spec(model=f"{provider}/mine", api_base=None, api_key_env=KEY_VARIABLE)
    with pytest.raises(UserError, match=rf"no address; .* environment variable {provider.upper()}_API_BASE"):
        complete(asked, calls("p"), tmp_path / "tested.jsonl")


DAILY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}


@pytest.mark.parametrize(
    ("family", "reply"),
    [
        ("openai", openai_error(429, "You exceeded your current quota.", "insufficient_quota")),
        ("deepseek", openai_error(402, "Insufficient Balance")),
        ("anthropic", anthropic_error(400, "Your credit balance is too low to access the Anthropic API.")),
        ("gemini", gemini_error(429, "You exceeded your current quota.", "RESOURCE_EXHAUSTED", details=[DAILY])),
    ],
)
def test_an_empty_account_stops_the_job(server, ask, family, reply):
    with pytest.raises(UserError, match="the account has no quota left"):
        ask(family, reply)
    assert len(server.requests) == 1


FORBIDDEN = {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs are not permitted"}]}
THINKING_ONLY = "Budget 0 is invalid. This model only works in thinking mode."
RANGE = "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0]."


@pytest.mark.parametrize(
    ("family", "reply", "refused"),
    [
        (
            "azure",
            openai_error(400, "'max_tokens' is not supported", "unsupported_parameter", "max_tokens"),
            "max_tokens",
        ),
        ("azure", openai_error(400, "Unrecognized request argument supplied: top_p"), "top_p"),
        ("azure", openai_error(400, "must be at most 9", "invalid_value", "max_completion_tokens"), "max_tokens"),
        ("azure_ai", Reply(status=422, body=FORBIDDEN), "top_k"),
        ("azure_ai", openai_error(400, "Extra parameters ['top_k'] are not allowed.", "Bad Request"), "top_k"),
        ("azure_ai", openai_error(400, "no", "unsupported_value", "temperature"), "temperature"),
        (
            "anthropic",
            anthropic_error(400, "`temperature` may only be set to 1 when thinking is enabled."),
            "temperature",
        ),
        ("anthropic", anthropic_error(400, "top_k: Extra inputs are not permitted"), "top_k"),
        ("gemini", gemini_error(400, RANGE), "temperature"),
        ("gemini", gemini_error(400, THINKING_ONLY), "reasoning_effort"),
        (
            "deepseek",
            openai_error(400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
            "max_tokens",
        ),
        ("vllm", openai_error(400, "temperature must be non-negative", 400, "temperature"), "temperature"),
    ],
)
def test_a_parameter_that_the_provider_refuses_is_named_as_the_configuration_names_it(
    server, ask, family, reply, refused
):
    given = {"temperature": 0, "max_tokens": 2048, "top_p": 0.5, "top_k": 3}
    parameters = given | {"reasoning_effort": "low"} if family == "gemini" else given
    with pytest.raises(UserError, match=rf"parameter '{refused}' is refused: .* list it under drop"):
        ask(family, reply, **parameters)
    assert len(server.requests) == 1


def test_a_fault_of_one_message_does_not_pass_for_one_of_a_parameter(ask):
    reply = openai_error(400, "Invalid type for 'messages[0].content'.", "invalid_type", "messages[0].content")
    assert ask("openai", reply).status == "error"


every_family = pytest.mark.parametrize("family", FAMILIES)


def busy(family: str, **headers: str) -> Reply:
    return Reply(status=429, headers=headers, body=FAMILIES[family].wire.error("slow down"))


@every_family
def test_retry_after_is_obeyed(server, ask, family):
    answer = ask(family, busy(family, **{"Retry-After": "0.2"}), Reply("42"))
    first, second = server.requests
    assert (answer.text, answer.attempts) == ("42", 2)
    assert second.at - first.at >= 0.2


def test_geminis_retry_delay_is_obeyed(server, ask):
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}
    ask("gemini", gemini_error(429, "Please retry in 0.2s.", "RESOURCE_EXHAUSTED", details=[delay]), Reply("42"))
    first, second = server.requests
    assert second.at - first.at >= 0.2


@every_family
@pytest.mark.parametrize(
    "fault",
    [
        Reply(status=500, body="<html>boom</html>"),
        Reply(status=503, body="busy"),
        Reply(drop=True),
        Reply(body='{"cut'),
    ],
)
def test_a_passing_fault_is_asked_again(server, ask, family, fault):
    answer = ask(family, fault, Reply("42"))
    assert (answer.text, answer.attempts, len(server.requests)) == ("42", 2, 2)


def test_an_overloaded_anthropic_is_asked_again(ask):
    assert ask("anthropic", anthropic_error(529, "Overloaded", "overloaded_error"), Reply("42")).text == "42"
