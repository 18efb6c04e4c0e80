"""Whether a sandbox isolates here: a program inside tries to get out, each way that it must not.

And whether it runs what it is for: the runner, by a Python that is young enough.
"""

import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from voirdire.grading.sandbox.limits import Limits
from voirdire.grading.sandbox.sandbox import ENVIRONMENT, Sandbox

_ATTEMPTS = r"""
import fcntl, json, os, signal, socket, sys

def connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as ours:
        ours.settimeout(2)
        ours.connect(address)
        return True

def reads(path, wanted):
    with open(path, "rb") as file:
        return wanted in file.read()

def makes(path):
    with open(path, "x"):
        os.unlink(path)
        return True

def opens(path):
    os.close(os.open(path, os.O_WRONLY))
    return True

def kills(pid):
    # In a namespace of its own the number may be that of this very process.
    if pid in (1, os.getpid()):
        return False
    os.kill(pid, signal.SIGKILL)
    return True

def has_killed(pid):
    # By the signals of a pipe, which go to whom it is told.
    if pid in (1, os.getpid()):
        return False
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writing, b"x")
    return True

def starts_namespace():
    import ctypes
    return ctypes.CDLL(None).unshare(0x10000000) == 0

def succeeds(attempt, *arguments):
    try:
        return attempt(*arguments)
    except OSError:
        return False

job = json.loads(sys.stdin.readline())
secret = job["secret"].encode()
faults = {
    "the network is open": succeeds(connects, socket.AF_INET, ("127.0.0.1", job["port"])),
    "the host's sockets are open": succeeds(connects, socket.AF_UNIX, "\0" + job["name"]),
    "files of the host can be read": succeeds(reads, job["file"], secret),
    "files of the host can be written": any(
        [succeeds(makes, os.path.join(folder, job["name"])) for folder in job["folders"]]
        + [succeeds(opens, path) for path in job["files"]]
    ),
    "processes of the host can be seen": succeeds(reads, f"/proc/{job['victim']}/environ", secret),
    "processes of the host can be reached": any(
        [succeeds(has_killed, job["victim"]), succeeds(kills, job["victim"])]
    ),
    "the program would run as root": 0 in (os.getuid(), os.geteuid()),
    "further namespaces can be started": starts_namespace(),
    "the host's environment is seen": not set(os.environ) <= {*job["environment"], "LC_CTYPE", "PWD"},
}
print(json.dumps({"ready": True}))
print(json.dumps({"faults": [fault for fault, found in faults.items() if found], "python": sys.version_info[:2]}))
"""
# As `voirdire` itself: what it grades was written for such a one, and so was the runner.
_OLDEST = (3, 11)
_JOB = {"setup": "", "blocks": ["def f(x): return x"], "prose": "", "entry_point": "f", "steps": [{"call": "f(6)"}]}


def fault(sandbox: Sandbox) -> str | None:
    """Why the sandbox doesn't isolate, or doesn't run programs, None if it does both."""
    trying = replace(sandbox, command=(*sandbox.command[:-1], _ATTEMPTS), limits=Limits())
    with _bait(sandbox.user) as bait:
        outcome = trying.run(bait)
    if not outcome.started:
        return " ".join(outcome.noise.split()) or f"it did not start ({outcome.ended})"
    message = outcome.messages[-1][0] if outcome.messages else {}
    if "faults" not in message:
        return " ".join(outcome.noise.split()) or f"the probe did not end ({outcome.ended})"
    if message["faults"]:
        return ", ".join(message["faults"])
    if tuple(message["python"]) < _OLDEST:
        found, oldest = (".".join(map(str, version)) for version in (message["python"], _OLDEST))
        return f"its Python is {found}, and {oldest} is the oldest that will do"
    return _fault_of_runner(sandbox)


def _fault_of_runner(sandbox: Sandbox) -> str | None:
    """Why the sandbox's own program, the runner, does not work in it."""
    outcome = replace(sandbox, limits=Limits()).run(_JOB)
    if any(message.get("value") == ["i", "0x6"] for message, _ in outcome.messages):
        return None
    return f"it runs no program ({outcome.ended}) {' '.join(outcome.noise.split())}".rstrip()


@contextmanager
def _bait(user: int | None) -> Iterator[dict[str, Any]]:
    """What must be out of reach, as a job: two servers, a file, a folder open to all, a process of the same user."""
    name, secret = f"voirdire-{secrets.token_hex(8)}", secrets.token_hex(16)
    become: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={**ENVIRONMENT, "SECRET": secret}, **become) as victim,
    ):
        local.bind(f"\0{name}")
        local.listen()
        # Open to all, so that nothing but the isolation keeps them.
        os.chmod(folder, 0o777)
        file = Path(folder) / "secret"
        file.write_text(secret)
        file.chmod(0o666)
        yield {
            "port": server.getsockname()[1],
            "name": name,
            "secret": secret,
            "file": str(file),
            "folders": [folder, "/", "/usr", "/dev"],
            "files": [str(file), "/proc/sys/kernel/hostname", "/proc/sysrq-trigger"],
            "victim": victim.pid,
            "environment": list(ENVIRONMENT),
        }
