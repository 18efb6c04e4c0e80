"""What the two steps that call models share."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voirdire.errors import UserError
from voirdire.models import Limits
from voirdire.study.calling import Calling

# Arguments that say how calls are made.
OPTIONS: dict[str, type] = {"seed": int, "accept_errors": float, "journal": str, "limits": str}


def calling(args: argparse.Namespace, spec: Mapping[str, Any]) -> Calling:
    """How this job may call its model, from its arguments and the file that Snakemake writes before its first job.

    Limits come beside the job's parameters, not among them: they change no answer, so a change must rerun nothing.
    Raises UserError where the file doesn't have them, since a budget could be overlooked.
    """
    if "model" not in spec:
        return Calling()
    try:
        limits = Limits.from_json(json.dumps(json.loads(Path(args.limits).read_text())[args.name]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{args.limits}: has no limits for '{args.name}' ({error}); run it through snakemake") from None
    return Calling(args.journal, limits, args.accept_errors)
