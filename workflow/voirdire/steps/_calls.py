"""What the two steps that call models share."""

import argparse
from collections.abc import Mapping
from typing import Any

# Arguments that say how calls are made.
OPTIONS: dict[str, type] = {
    "seed": int,
    "accept_errors": float,
    "journal": str,
    "concurrency": int,
    "timeout_s": int,
    "max_attempts": int,
}


def with_limits(spec: Mapping[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """A model's specification with this run's limits, which Snakemake passes beside it: they change no answer."""
    if "model" not in spec:
        return dict(spec)
    limits = {name: getattr(args, name) for name in ("concurrency", "timeout_s", "max_attempts")}
    return {"model": {**spec["model"], **limits}}
