"""A few questions, prompts that are easy to foresee, and a real model behind the fault-injecting server."""

import json

import pytest

from voirdire.benchmarks import Item
from voirdire.models import Limits, ModelSpec
from voirdire.study.calling import Calling


@pytest.fixture
def items():
    return [Item("gsm8k", name, f"question {name}", "4") for name in "abcd"]


@pytest.fixture
def prompt(tmp_path):
    """Writes a prompt template, by default the bare question, and returns its path."""

    def write(text="$question"):
        path = tmp_path / "prompt.md"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def real(server, tmp_path, monkeypatch):
    """Makes the specification, as plain data, of a real model called crow; no .env is found."""
    monkeypatch.chdir(tmp_path)

    def make(**changes):
        spec = ModelSpec(**{"name": "crow", "model": "openai/crow", "api_base": server.url} | changes)
        return {"model": json.loads(spec.to_json())}

    return make


@pytest.fixture
def calling(tmp_path):
    """Makes the way in which a job's calls are made, two attempts each."""

    def make(accept_errors=0.0, **limits):
        return Calling(str(tmp_path / "journal.jsonl"), Limits(**{"max_attempts": 2, **limits}), accept_errors)

    return make


@pytest.fixture
def persona():
    """Makes a persona's numbers as plain data; it can solve nearly everything and accepts what is right."""

    def make(**changes):
        return {"family": "corvid", "ability": {"gsm8k": 0.99, "aime": 0.99}, "slip": 0.001} | changes

    return make
