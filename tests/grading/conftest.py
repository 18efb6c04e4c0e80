"""The sandbox, for the tests that run programs."""

import pytest

from voirdire.errors import UserError
from voirdire.grading.sandbox.backends import BACKENDS, find_sandbox
from voirdire.grading.sandbox.sandbox import Limits, Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """A sandbox that isolates, with short limits; skips where there is none."""
    try:
        return find_sandbox("auto", Limits(cpu_s=1, wall_s=30))
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=list(BACKENDS))
def isolated(request) -> Sandbox:
    """A sandbox of each kind; skipped with the reason where that doesn't isolate here."""
    try:
        return find_sandbox(request.param, Limits(cpu_s=5, wall_s=20))
    except UserError as error:
        pytest.skip(str(error))
