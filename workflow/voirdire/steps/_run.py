"""What every step shares: arguments, messages for people, and the time it took."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import UserError
from voirdire.tables import write_csv, write_parquet

if TYPE_CHECKING:
    import pandas as pd

# Read back by the summary after a run.
TOOK = "voirdire: took {seconds:.2f} s"
# What shells say of a program that SIGINT has ended.
_INTERRUPTED = 130


def arguments(doc: str | None, **options: Any) -> argparse.Namespace:
    """Parse `--name value` for every option; the value says its type, [type] that there may be several."""
    parser = argparse.ArgumentParser(description=doc)
    for name, kind in options.items():
        several = isinstance(kind, list)
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=kind[0] if several else kind,
            nargs="*" if several else None,
            required=not several,
            default=[] if several else None,
        )
    return parser.parse_args()


def as_json(text: str) -> Any:
    return json.loads(text)


def run(step: Callable[[], None]) -> None:
    """Run a step. Without a traceback end it: a fault that the user can mend, with exit code 1; Ctrl-C, with 130."""
    start = time.perf_counter()
    try:
        step()
    except UserError as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped; every answer so far is kept", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    print(TOOK.format(seconds=time.perf_counter() - start))


def write_outputs(frames: Mapping[str, "pd.DataFrame"], outputs: Sequence[str]) -> None:
    """Write each output (Parquet or CSV) from the frame that has its file's name without ending."""
    for output in map(Path, outputs):
        frame = frames[output.stem]
        if output.suffix == ".csv":
            write_csv(frame, output)
        else:
            write_parquet(frame, output)
