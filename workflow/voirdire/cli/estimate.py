"""Say what a study will still cost, before paying.

Counts the calls that are still to be made, and what they will cost at least
and at most: from the answers that are there already, the prompts' lengths, and
each model's max_tokens and price. With --pilot, some calls of each kind are
made first (they are paid, and kept for the study), which brings the two bounds
together.

Run it in the folder of the workflow, where the Snakefile is. It needs what
studies need: pip install 'voirdire[study]'

Examples:
  voirdire estimate --configfile mine.yaml
  voirdire estimate --configfile mine.yaml --pilot 5
"""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from voirdire.errors import UserError

# Where Snakemake looks for it.
_SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
# The estimate's own last line; after it the workflow tells how long its jobs took.
_LAST = "voirdire: took "
_QUIET = ("--quiet", "progress", "rules", "host", "reason")
# What Snakemake says although it was told to be quiet. (`--quiet all` would hide errors too.)
_CHATTER = (
    "Assuming unrestricted shared filesystem",
    "Building DAG",
    "Complete log",
    "Config file ",
    "Elapsed time",
    "Execute ",
    "Select jobs",
    "Using shell",
    "Using workflow specific profile",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--configfile", metavar="FILE", help="the study's configuration (default: config/config.yaml)")
    parser.add_argument("--pilot", metavar="N", type=int, help="calls to make first of each kind, at most 1000")
    parser.add_argument("--cores", metavar="N", type=int, default=1, help="jobs at a time (default: 1)")


def run(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("snakemake") is None:
        raise UserError("Snakemake is not installed; install what studies need: pip install 'voirdire[study]'")
    if not any(Path(name).is_file() for name in _SNAKEFILES):
        raise UserError(f"{Path.cwd()}: no Snakefile here; run this in the folder of the voirdire workflow")
    if args.configfile and not Path(args.configfile).is_file():
        raise UserError(f"{args.configfile}: no such file (--configfile)")
    return _run_quietly(_command(args))


def _command(args: argparse.Namespace) -> list[str]:
    # The target comes first: the options after it take every word that follows.
    command = ["snakemake", "estimate", "--cores", str(args.cores), *_QUIET]
    if args.configfile:
        command += ["--configfile", args.configfile]
    if args.pilot is not None:
        command += ["--config", f"pilot={args.pilot}"]
    return [sys.executable, "-m", *command]


def _run_quietly(command: Sequence[str]) -> int:
    """Run Snakemake, showing what the estimate prints, and Snakemake's own words only where it fails."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8", errors="replace"
        ) as process:
            code = _show(process)
        if code:
            said.seek(0)
            print("".join(line for line in said if not line.startswith(_CHATTER)), end="", file=sys.stderr)
    return code


def _show(process: "subprocess.Popen[str]") -> int:
    """Print the process's lines up to the estimate's last one; its exit code."""
    assert process.stdout is not None
    is_over = False
    while True:
        try:
            for line in process.stdout:
                is_over = is_over or line.startswith(_LAST)
                if not is_over:
                    print(line, end="", flush=True)
            return process.wait()
        except KeyboardInterrupt:
            # Snakemake was interrupted too, and ends by itself once its jobs have kept what they were answered.
            continue
