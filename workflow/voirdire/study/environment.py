"""The environment that jobs inherit from Snakemake."""

import os
import sys
from pathlib import Path

_SOURCE = Path(__file__).resolve().parents[2]


def use_this_library() -> None:
    """Let jobs run this library with this Python, whatever else is installed or comes first in the path.

    `snakemake` may be called by its path, without its environment being active. A conda environment that a job brings
    still comes before this Python, but takes the library from here.
    """
    _put_first("PATH", str(Path(sys.executable).parent))
    _put_first("PYTHONPATH", str(_SOURCE))


def _put_first(variable: str, folder: str) -> None:
    others = [entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry and entry != folder]
    os.environ[variable] = os.pathsep.join([folder, *others])
