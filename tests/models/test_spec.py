"""Specifications are canonical, and the request key sees everything that can change an answer, and nothing else."""

import dataclasses
import json
import re

import pytest

from voirdire.errors import UserError
from voirdire.models import Answer, Call, ModelSpec, request_key

SPEC = ModelSpec(
    name="mini",
    model="azure/gpt-4.1-mini",
    parameters={"temperature": 0, "max_tokens": 512},
    api_base="https://x.openai.azure.com",
    api_version="2024-10-21",
    api_key_env="MY_KEY",
)
CALL = Call("item-1", ({"role": "user", "content": "2 + 2?"},))


def test_json_is_canonical_and_complete():
    text = SPEC.to_json()
    assert ModelSpec.from_json(text) == SPEC
    assert list(json.loads(text)) == sorted(json.loads(text))
    shuffled = dataclasses.replace(SPEC, parameters={"max_tokens": 512.0, "temperature": 0.0})
    assert shuffled.to_json() == text


@pytest.mark.parametrize(
    "change",
    [
        {"model": "azure/gpt-4.1"},
        {"api_base": "https://y.openai.azure.com"},
        {"api_version": "2025-01-01"},
        {"parameters": {"temperature": 1, "max_tokens": 512}},
        {"parameters": {"temperature": 0, "max_tokens": 513}},
        {"parameters": {"temperature": 0, "max_tokens": 512, "reasoning_effort": "low"}},
        {"drop": ("temperature",)},
    ],
)
def test_key_changes_with_the_model_its_endpoint_and_its_parameters(change):
    assert request_key(dataclasses.replace(SPEC, **change), CALL) != request_key(SPEC, CALL)


@pytest.mark.parametrize(
    "change",
    [
        {"trial": 1},
        {"messages": ({"role": "user", "content": "2 + 3?"},)},
        {"messages": ({"role": "system", "content": "2 + 2?"},)},
    ],
)
def test_key_changes_with_messages_and_trial(change):
    assert request_key(SPEC, dataclasses.replace(CALL, **change)) != request_key(SPEC, CALL)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "renamed"},
        {"price": (0.4, 1.6)},
        {"api_key_env": "OTHER_KEY"},
        {"drop": ("top_p",)},
        {"api_base": "https://x.openai.azure.com/"},
        {"parameters": {"max_tokens": 512, "temperature": 0.0}},
    ],
)
def test_key_stays_with_what_cannot_change_an_answer(change):
    assert request_key(dataclasses.replace(SPEC, **change), CALL) == request_key(SPEC, CALL)


def test_key_does_not_depend_on_the_id():
    assert request_key(SPEC, dataclasses.replace(CALL, id="item-2")) == request_key(SPEC, CALL)


def test_key_is_the_same_in_every_version():
    # A changed value would make every user pay for every call once more.
    spec = ModelSpec(name="any", model="mistral/large", parameters={"temperature": 0.5}, api_base="http://localhost/v1")
    assert request_key(spec, CALL) == "7fc9b2849e9e96a94df4c336cf932e279c3060e683399dec5c71f977f299a8a5"


def test_key_sees_an_endpoint_that_the_environment_sets(monkeypatch):
    spec = ModelSpec(name="mini", model="azure/mini")
    monkeypatch.setenv("AZURE_API_BASE", "https://one.example")
    one = request_key(spec, CALL)
    monkeypatch.setenv("AZURE_API_BASE", "https://two.example")
    assert request_key(spec, CALL) != one


def test_endpoint_of_another_provider_is_left_alone(monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "https://one.example")
    assert ModelSpec(name="c", model="claude-sonnet-4-5").endpoint() == (None, None)
    assert ModelSpec(name="g", model="gpt-5").endpoint() == ("https://one.example", None)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"price": (0.4,)}, "price: must be two numbers"),
        ({"price": (0.4, -1)}, "price: must be two numbers"),
        ({"price": (0.4, float("inf"))}, "price: must be two numbers"),
        ({"price": 0.4}, "price: must be two numbers"),
        ({"parameters": {"api_key": "sk-very-secret"}}, "'api_key' is not a sampling parameter"),
        ({"parameters": {"stream": True}}, "'stream' is not a sampling parameter"),
        ({"parameters": {"temperature": float("nan")}}, "parameters"),
        ({"parameters": [1]}, "parameters: must be a mapping"),
        ({"api_key_env": "sk-very-secret"}, "api_key_env: must be the name of an environment variable"),
        ({"api_key_env": "hf_2verysecret4abcdefghijk"}, "api_key_env"),
        ({"api_key_env": "0123456789abcdef0123456789abcdef"}, "api_key_env"),
        ({"api_key_env": ""}, "api_key_env"),
        ({"api_base": "https://host/v1?key=sk-very-secret"}, "api_base"),
        ({"api_base": "https://me:sk-very-secret@host/v1"}, "api_base"),
        ({"api_base": "host/v1"}, "api_base"),
    ],
)
def test_a_bad_specification_is_named_without_its_secrets(change, named):
    with pytest.raises(UserError) as caught:
        dataclasses.replace(SPEC, **change)
    assert "mini" in str(caught.value)
    assert named in str(caught.value)
    assert not re.search("very-?secret|0123456789", str(caught.value))


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "512", True, [512], float("nan"), float("inf")])
def test_a_cap_that_is_no_whole_number_of_at_least_1_is_named(name, value):
    with pytest.raises(UserError) as caught:
        dataclasses.replace(SPEC, parameters={name: value})
    assert (
        f"model 'mini': parameters: {name}: must be a whole number of at least 1, not {value!r}" in caught.value.faults
    )


@pytest.mark.parametrize("name", ["temperature", "top_p"])
@pytest.mark.parametrize("value", ["0.5", False, [1], {}])
def test_a_temperature_or_top_p_that_is_no_number_is_named(name, value):
    with pytest.raises(UserError) as caught:
        dataclasses.replace(SPEC, parameters={name: value})
    assert caught.value.faults == [f"model 'mini': parameters: {name}: must be a number, not {value!r}"]


def test_every_misfit_among_the_parameters_is_named():
    with pytest.raises(UserError) as caught:
        dataclasses.replace(SPEC, parameters={"top_p": "high", "max_tokens": 0, "temperature": "low"})
    named = [fault.split(": ")[2] for fault in caught.value.faults]
    assert named == ["max_tokens", "temperature", "top_p"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_tokens": 1, "max_completion_tokens": 10**6, "temperature": 0, "top_p": 0.5},
        {"max_tokens": None, "max_completion_tokens": None, "temperature": None, "top_p": None},
        {"temperature": -1, "top_p": 1, "reasoning_effort": "low", "stop": ["a"], "seed": "any"},
    ],
)
def test_what_a_provider_may_take_is_left_to_it(parameters):
    assert dataclasses.replace(SPEC, parameters=parameters).sampling() == parameters


def test_a_whole_number_is_sent_without_a_decimal_point():
    sent = dataclasses.replace(SPEC, parameters={"max_tokens": 512.0, "top_p": 0.5}).sampling()
    assert json.dumps(sent) == '{"max_tokens": 512, "top_p": 0.5}'


@pytest.mark.parametrize("name", ["text", "raw_text", "finish_reason", "resolved_model", "error"])
@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None),
        ("", ""),
        ("数 é 😀 \x00 \u2028", "数 é 😀 \x00 \u2028"),
        ("a\ud800b\udfff", "a?b?"),
        (5, "5"),
        (["x\ud800"], "['x\\ud800']"),
    ],
)
def test_every_text_of_an_answer_can_be_encoded(name, value, kept):
    assert getattr(Answer("a", "ok", **{name: value}), name) == kept


@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
@pytest.mark.parametrize(
    ("value", "kept"), [(0, 0), (10**9, 10**9), (10**9 + 1, None), (2**63, None), (-1, None), ("3", None), (1.5, None)]
)
def test_a_count_that_is_none_is_missing(name, value, kept):
    assert getattr(Answer("a", "ok", **{name: value}), name) == kept


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "a"}', '{"name": "a", "model": "b", "temprature": 0}'])
def test_bad_json_is_a_user_error(text):
    with pytest.raises(UserError, match=r"model specification|temprature"):
        ModelSpec.from_json(text)
