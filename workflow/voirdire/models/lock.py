"""One writer per file, also over NFS, and also after a kill -9."""

import errno
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from voirdire.errors import UserError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# What a filesystem without locks answers.
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}


def lock(file: BinaryIO, path: Path) -> Callable[[], None]:
    """Lock an open file for writing; returns the function that unlocks it.

    The operating system's lock ends with the process, however it ends. (Over NFS it is a POSIX lock, which closing
    any other descriptor of the file would end too: while it is held, don't open the file a second time.) Where the
    filesystem has no locks, a file `PATH.lock` that names host and process stands in for it.

    Raises UserError where another live process holds the lock.
    """
    if fcntl is not None:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refusal(path, "another running process") from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        else:
            return lambda: None  # closing the file unlocks it
    return _lock_file(path)


def _refusal(path: Path, who: str, hint: str = "") -> UserError:
    return UserError(f"{path}: {who} is writing to this journal; wait until it ends, or stop it{hint}")


def _lock_file(path: Path) -> Callable[[], None]:
    beside = path.with_name(f"{path.name}.lock")
    mine = json.dumps({"host": socket.gethostname(), "pid": os.getpid()})
    for _ in range(2):
        try:
            handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            _take_away_if_stale(beside, path)
            continue
        with os.fdopen(handle, "w") as out:
            out.write(mine)
        return lambda: beside.unlink(missing_ok=True)
    raise _refusal(path, "another running process")


def _take_away_if_stale(beside: Path, path: Path) -> None:
    """Remove the lock file of a process of this host that has ended; otherwise refuse."""
    try:
        text = beside.read_text()
        holder = json.loads(text)
        host, pid = str(holder["host"]), int(holder["pid"])
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        raise _refusal(path, "an unknown process", f"; if nothing runs, delete {beside}") from None
    if host != socket.gethostname() or _alive(pid):
        raise _refusal(path, f"process {pid} on {host}", f"; if it no longer runs, delete {beside}")
    # Renamed first: of two processes that find it stale only one gets it, and a fresh lock taken by mistake is seen.
    aside = beside.with_name(f"{beside.name}.{os.getpid()}")
    try:
        os.rename(beside, aside)
    except FileNotFoundError:
        return
    if aside.read_text() != text:
        os.rename(aside, beside)
        raise _refusal(path, "another running process")
    aside.unlink()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
