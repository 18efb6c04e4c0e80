"""The `voirdire` command: verbs for people.

A verb is a module of this package and its name in VERBS. Its docstring is its manual page, the first line its
summary; `add_arguments(parser)` says what it takes, `run(args)` does it and returns the exit code. At import it loads
nothing but the standard library and `voirdire.errors`, so that `voirdire --help` is there at once.

Exit codes: 0 done, 1 a fault that the message says how to mend, 2 wrong usage, 130 interrupted.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from voirdire import __version__
from voirdire.errors import UserError

# In the order of `voirdire --help`; `label-next` is the module label_next.
VERBS = ("estimate", "retry")

_EPILOG = """\
Each verb has a page of its own, with examples: voirdire VERB --help

A study itself is run by Snakemake, in the folder of the workflow:
  snakemake --cores 8 all --configfile mine.yaml
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or the process's own; the exit code.

    Raises SystemExit for --help, --version and wrong usage.
    """
    args = parser().parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except UserError as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader, as in `voirdire … | head`, has seen enough; Python's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command, verbs included."""
    whole = argparse.ArgumentParser(
        prog="voirdire",
        description="Examine LLM judges before their verdicts are trusted, and calibrate a panel of them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"voirdire {__version__}")
    verbs = whole.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name in VERBS:
        _add(verbs, name, importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
    return whole


def _add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, module: ModuleType) -> None:
    page = (module.__doc__ or "").strip()
    verb = verbs.add_parser(
        name,
        # argparse formats this one text.
        help=page.partition("\n")[0].replace("%", "%%"),
        description=page,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(verb)
    verb.set_defaults(run=module.run)
