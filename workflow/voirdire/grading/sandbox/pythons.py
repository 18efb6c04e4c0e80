"""The Python that runs inside, as whom, and what of the host it has to see."""

import functools
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

NOBODY = 65534
SCRATCH_BYTES = 16 << 20
# Empty ones take memory too, which is no process's. More than `Limits` allow.
SCRATCH_FILES = 4000


def pythons() -> Iterator[tuple[str, str]]:
    """Pythons to try, with their prefixes: this one, unless nobody, whom root becomes, can't reach it; the system's."""
    own = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    if os.geteuid() != 0 or open_to_all(Path(own)):
        yield own, sys.base_prefix
    for python in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.path.exists(python) and os.path.realpath(python) != own:
            yield python, str(Path(python).parents[1])


def open_to_all(path: Path) -> bool:
    """Whether everyone can come to a file and run it."""
    return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.resolve().parents))


def user() -> int | None:
    """Whom to become before anything of a program runs: root would not be bound by the limit on processes."""
    return NOBODY if os.geteuid() == 0 else None


@functools.cache
def becoming_nobody() -> tuple[str, ...]:
    """What to put before a command for that, if anything: setpriv, since Popen copies all of a large process first."""
    program = shutil.which("setpriv", path="/usr/bin:/bin")
    if user() is None or program is None or os.path.basename(os.path.realpath(program)) != "setpriv":
        return ()
    return (program, "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--")


@functools.cache
def links_to_usr() -> tuple[tuple[str, str], ...]:
    """The root's folders of programs and libraries that are links: (where to, name)."""
    return tuple((os.readlink(name), name) for name in _FOLDERS if os.path.islink(name))


@functools.cache
def beside_usr() -> tuple[str, ...]:
    """The root's folders of programs and libraries that are none."""
    return tuple(name for name in _FOLDERS if os.path.isdir(name) and not os.path.islink(name))


_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
