"""Fixtures that several packages' tests share."""

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real benchmark files, responses and verdicts; skips where there is none."""
    data = Path(os.environ.get("VOIRDIRE_SHARED", PROJECT.parent / "shared")) / "data"
    if not data.is_dir():
        pytest.skip(f"real data not found at {data}; set VOIRDIRE_SHARED to the folder that holds data/")
    return data
