"""Specifications are canonical, and the request key sees everything that can change an answer, and nothing else."""

import dataclasses
import json

import pytest

from voirdire.errors import UserError
from voirdire.models import Call, ModelSpec, request_key

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
        {"concurrency": 64},
        {"timeout_s": 5},
        {"max_attempts": 1},
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
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"timeout_s": -1}, "timeout_s"),
        ({"max_attempts": "six"}, "max_attempts"),
        ({"parameters": {"api_key": "sk-very-secret"}}, "'api_key' is not a sampling parameter"),
        ({"parameters": {"stream": True}}, "'stream' is not a sampling parameter"),
        ({"parameters": {"temperature": float("nan")}}, "parameters"),
        ({"parameters": [1]}, "parameters: must be a mapping"),
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
    assert "sk-very-secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "a"}', '{"name": "a", "model": "b", "temprature": 0}'])
def test_bad_json_is_a_user_error(text):
    with pytest.raises(UserError, match=r"model specification|temprature"):
        ModelSpec.from_json(text)
