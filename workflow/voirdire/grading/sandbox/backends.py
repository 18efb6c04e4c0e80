"""Finding a sandbox that works here, by probing: what a system claims to allow, and what it allows, differ."""

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from voirdire.errors import UserError
from voirdire.grading.inside.bundle import runner_source
from voirdire.grading.sandbox import bubblewrap, landlock, unshare
from voirdire.grading.sandbox.limits import Limits
from voirdire.grading.sandbox.probe import fault
from voirdire.grading.sandbox.sandbox import Sandbox

# The strongest first.
BACKENDS: dict[str, Callable[[str], Iterator[Sandbox]]] = {
    "bubblewrap": bubblewrap.sandboxes,
    "unshare": unshare.sandboxes,
    "landlock": landlock.sandboxes,
}
_FIX = (
    '`pip install "voirdire[study]"`, and allow unprivileged user namespaces '
    "(`sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0`, "
    "in a container `--security-opt seccomp=unconfined`), or set sandbox: unsafe to run code unprotected"
)


def find_sandbox(choice: str = "auto", limits: Limits | None = None) -> Sandbox:
    """The strongest sandbox that works here, or the one asked for by name, proven by a probe.

    `unsafe`, which isolates nothing, only where it was asked for by name. Raises UserError, with what to do, where
    nothing isolates.
    """
    choices = ("auto", *BACKENDS, "unsafe")
    if choice not in choices:
        raise UserError(f"sandbox: unknown choice '{choice}'; use {', '.join(choices[:-1])} or {choices[-1]}")
    found = _unsafe() if choice == "unsafe" else _isolated(tuple(BACKENDS) if choice == "auto" else (choice,))
    return replace(found, limits=limits) if limits else found


def _unsafe() -> Sandbox:
    command = (sys.executable, "-s", "-S", "-c", runner_source())
    return Sandbox("unsafe", command, scratch=True, counts_processes=False)


def _isolated(names: tuple[str, ...]) -> Sandbox:
    faults = []
    for name in names:
        found = _probed(name)
        if isinstance(found, Sandbox):
            return found
        faults.append(f"{name}: {found}")
    raise UserError(f"sandbox: untrusted code cannot be isolated here; {_FIX} ({'; '.join(faults)})")


@functools.cache
def _probed(name: str) -> Sandbox | str:
    """The backend's first sandbox that isolates, or why none does."""
    faults = []
    try:
        for sandbox in BACKENDS[name](runner_source()):
            found = fault(sandbox)
            if found is None:
                return sandbox
            faults.append(found)
    except OSError as error:
        # Something that it takes, or that the probe takes, is not there.
        return str(error)
    return ", ".join(dict.fromkeys(faults))
