"""Every family of models over HTTP: what is sent is what was meant, is recorded, and is read back."""

import pytest
from families import FAMILIES, KEY, KEY_VARIABLE
from fault_server import Reply

from voirdire.errors import UserError
from voirdire.models import Answer, Call, complete


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def ask(server, spec, calls, tmp_path):
    """Asks a family's model one prompt."""

    def one(family: str, prompt: str = "6 times 7?", model: str | None = None, **changes) -> Answer:
        asked = spec(**FAMILIES[family].entry(server, model) | changes)
        return complete(asked, calls(prompt), tmp_path / "tested.jsonl")[prompt]

    return one


every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_a_request_goes_to_the_providers_path_with_the_key_in_its_header(server, ask, family):
    assert ask(family).text == "answer to: 6 times 7?"
    (request,) = server.requests
    name, value = FAMILIES[family].header
    assert (request.path, request.headers[name]) == (FAMILIES[family].path, value)
    assert KEY not in request.path


LOW = {"max_tokens": 2048, "reasoning_effort": "low"}
COLD = {"temperature": 0, "max_tokens": 9}
COMPLETION_LOW = {"max_completion_tokens": 2048, "reasoning_effort": "low"}
THINKING = {"thinkingBudget": 1024, "includeThoughts": True}


@pytest.mark.parametrize(
    ("family", "model", "parameters", "sent"),
    [
        ("openai", "openai/gpt-5", LOW, COMPLETION_LOW),
        ("openai", "openai/gpt-5", {"temperature": 1}, {"temperature": 1}),
        ("openai", "openai/gpt-5", {"max_completion_tokens": 9}, {"max_completion_tokens": 9}),
        ("openai", "openai/o3-mini", LOW, COMPLETION_LOW),
        ("openai", "openai/gpt-4.1-mini", COLD | {"seed": 7}, COLD | {"seed": 7}),
        ("openai", "openai/of-my-own", COLD | {"top_k": 3}, COLD | {"top_k": 3}),
        ("openai", "openai/of-my-own", LOW, LOW),
        ("azure", "azure/gpt-5", LOW, COMPLETION_LOW),
        ("azure", "azure/o4-mini", LOW, COMPLETION_LOW),
        ("azure", "azure/gpt5_series/mine", LOW, COMPLETION_LOW),
        ("azure", "azure/o_series/mine", LOW, COMPLETION_LOW),
        ("azure", "azure/mine", LOW | {"allowed_openai_params": ["reasoning_effort"]}, LOW),
        ("azure", "azure/gpt-4.1-mini", COLD, COLD),
        ("azure v1", "azure/gpt-4.1-mini", COLD, COLD),
        ("azure_ai", "azure_ai/Llama-3.3-70B-Instruct", COLD, COLD),
        ("azure_ai claude", "azure_ai/claude-sonnet-4-5", COLD, COLD),
        ("anthropic", "anthropic/claude-sonnet-4-5", COLD, COLD),
        (
            "anthropic",
            "anthropic/claude-sonnet-4-5",
            LOW,
            {"max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        ),
        # Anthropic's interface wants a cap, so litellm sends the model's own.
        ("anthropic", "anthropic/claude-sonnet-4-5", {}, {"max_tokens": 64000}),
        ("gemini", "gemini/gemini-2.5-flash", COLD, {"temperature": 0, "max_output_tokens": 9}),
        ("gemini", "gemini/gemini-2.5-flash", LOW, {"max_output_tokens": 2048, "thinkingConfig": THINKING}),
        ("deepseek", "deepseek/deepseek-reasoner", COLD, COLD),
        ("deepseek", "deepseek/deepseek-reasoner", LOW, LOW | {"thinking": {"type": "enabled"}}),
        ("vllm", "hosted_vllm/qwen3", LOW | {"top_k": 3}, LOW | {"top_k": 3}),
        (
            "vllm",
            "hosted_vllm/qwen3",
            {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}},
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
    ],
)
def test_what_is_recorded_is_what_the_server_received(server, ask, family, model, parameters, sent):
    answer = ask(family, model=model, parameters=parameters)
    assert FAMILIES[family].parameters(server.requests[0]) == sent
    assert answer.sent == {"model": model, **sent}


@pytest.mark.parametrize(
    ("model", "deployment"),
    [("azure/gpt5_series/mine", "mine"), ("azure/o_series/mine", "mine"), ("azure/gpt-5", "gpt-5")],
)
def test_a_deployment_of_ones_own_name_is_asked_under_its_name(server, ask, model, deployment):
    ask("azure", model=model)
    assert server.requests[0].path == f"/openai/deployments/{deployment}/chat/completions?api-version=2024-10-21"


def test_a_model_without_system_messages_gets_them_as_the_users(server, spec, tmp_path):
    asked = spec(**FAMILIES["openai"].entry(server, "openai/o3-mini"))
    call = Call("a", ({"role": "system", "content": "be brief"}, {"role": "user", "content": "6 times 7?"}))
    complete(asked, [call], tmp_path / "tested.jsonl")
    assert [message["role"] for message in server.requests[0].body["messages"]] == ["user", "user"]


@every_family
def test_the_model_that_answered_and_its_tokens_are_recorded(server, ask, family):
    server.script("one two three", Reply("4 2", model="resolved-2026-01-01"))
    answer = ask(family, "one two three")
    assert answer.resolved_model.removeprefix("azure_ai/") == "resolved-2026-01-01"
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, 2)


def test_what_gemini_thinks_counts_as_received(server, ask):
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 50, "totalTokenCount": 55}
    body = FAMILIES["gemini"].wire.completion("gemini-2.5-flash", "p", Reply("42"))
    server.script("p", Reply(body={**body, "usageMetadata": usage}))
    answer = ask("gemini", "p")
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, 52)


@every_family
def test_reasoning_is_kept_in_the_journal_and_out_of_the_answer(server, ask, family):
    server.script("p", Reply("42", reasoning="6 * 7"))
    answer = ask(family, "p")
    assert (answer.status, answer.text, answer.raw_text) == ("ok", "42", "<think>6 * 7</think>42")


@pytest.mark.parametrize("family", ["openai", "azure_ai", "deepseek", "vllm"])
@pytest.mark.parametrize(
    ("text", "status", "read"), [("<think>6 * 7</think>\n42", "ok", "42"), ("<think>6 * 7 is", "truncated", None)]
)
def test_reasoning_within_the_text_is_found_in_every_family(server, ask, family, text, status, read):
    server.script("p", Reply(text))
    answer = ask(family, "p")
    assert (answer.status, answer.text) == (status, read)


@every_family
@pytest.mark.parametrize(("reply", "text"), [(Reply("it is", "length"), "it is"), (Reply(None, "length"), None)])
def test_an_answer_that_was_cut_short_is_truncated(server, ask, family, reply, text):
    server.script("p", reply)
    answer = ask(family, "p")
    assert (answer.status, answer.text, answer.finish_reason) == ("truncated", text, "length")


@every_family
def test_an_answer_without_text_is_empty(server, ask, family):
    server.script("p", Reply(None))
    assert ask(family, "p").status == "empty"


@pytest.mark.parametrize(
    ("family", "model", "parameters", "refused"),
    [
        ("openai", "openai/gpt-5", COLD, "temperature"),
        ("openai", "openai/o3-mini", COLD, "temperature"),
        ("azure", "azure/gpt-5", COLD, "temperature"),
        ("azure", "azure/gpt5_series/mine", COLD, "temperature"),
        ("azure", "azure/o_series/mine", {"top_p": 0.5, "max_tokens": 9}, "top_p"),
        ("azure", "azure/gpt-4.1-mini", LOW, "reasoning_effort"),
        ("azure_ai", "azure_ai/Llama-3.3-70B-Instruct", LOW, "reasoning_effort"),
    ],
)
def test_a_parameter_known_to_be_refused_is_named_and_dropped_where_listed(
    server, ask, family, model, parameters, refused
):
    with pytest.raises(UserError, match=rf"model 'tested' \({model}\): parameter '{refused}' is refused"):
        ask(family, model=model, parameters=parameters)
    assert server.requests == []
    answer = ask(family, model=model, parameters=parameters, drop=(refused,))
    assert answer.status == "ok"
    assert refused not in FAMILIES[family].parameters(server.requests[0])
    assert refused not in answer.sent
