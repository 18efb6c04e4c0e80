"""Personas in which nothing is planted but what a test plants."""

import pytest

from voirdire.simulated import Persona

TASKS = ("gsm8k", "aime", "mbpp", "quality")


@pytest.fixture
def persona():
    """A persona with the same ability on every task and whatever else the test names."""

    def make(name="rook", ability=0.6, family="corvid", **effects):
        return Persona(name=name, family=family, ability=dict.fromkeys(TASKS, ability), **effects)

    return make
