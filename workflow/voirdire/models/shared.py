"""What the jobs that run at once share: a small JSON file, read and rewritten under a lock.

    {"endpoints": {POOL: what `limits` keeps of it}, "jobs": {ID: a line of `turns`, see there}, "spent_usd": dollars}

`spent_usd` is what ended jobs have spent, missing until a job with a budget has counted it.
"""

import json
import math
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from voirdire.errors import UserError
from voirdire.models.jobs import LINE
from voirdire.models.lock import fcntl
from voirdire.models.records import spent_usd

State = dict[str, Any]
# A holder does its work in a millisecond; one that takes so long is stopped, or the disk is dead.
_LOCK_PATIENCE_S = 60.0
# Between the threads of one process, whom a network disk's locks don't keep apart.
_in_process = threading.Lock()


class Shared:
    """The state of a study's jobs, to be changed within `with shared.change() as state`.

    Without a file the state is this process's own. A file that is empty, torn by a kill or unreadable as JSON counts
    as an empty state: what depends on more than the jobs alive, the money spent, is found again in the journals.

    Raises UserError where the file can't be opened.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = Path(path) if path else None
        self._own: State = {}
        self._handle: int | None = None
        if self.path is None or fcntl is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._fault(error) from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self._handle, fcntl.LOCK_UN)
        except BlockingIOError:
            pass
        except OSError:
            # A filesystem without locks. The job can work, but knows nothing of the others.
            print(f"{self.path}: this disk has no file locks, so limits and budget hold per job only", file=sys.stderr)
            self.close()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @contextmanager
    def change(self) -> Iterator[State]:
        """The state, locked; what the block makes of it is kept, unless it raises."""
        if self._handle is None:
            yield self._own
            return
        with _in_process:
            try:
                self._lock()
                state = self._read()
                yield state
                self._write(state)
            except OSError as error:
                raise self._fault(error) from error
            finally:
                with suppress(OSError):
                    fcntl.flock(self._handle, fcntl.LOCK_UN)

    def _lock(self) -> None:
        assert self._handle is not None
        end = time.monotonic() + _LOCK_PATIENCE_S
        while True:
            try:
                # Not a blocking lock: over NFS that one can wait for ever.
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                pause_s = random.uniform(0.0001, 0.001)
                if time.monotonic() > end:
                    raise UserError(
                        f"{self.path}: another job has held its lock for {_LOCK_PATIENCE_S:.0f} s; is it stopped?"
                    ) from None
            except OSError:
                # What a network disk answers now and then.
                pause_s = 0.2
                if time.monotonic() > end:
                    raise
            time.sleep(pause_s)

    def _read(self) -> State:
        assert self._handle is not None
        content = os.pread(self._handle, os.fstat(self._handle).st_size, 0)
        try:
            state = json.loads(content)
        except ValueError:
            return {}
        return state if _is_sound(state) else {}

    def _write(self, state: State) -> None:
        assert self._handle is not None
        data = json.dumps(state, separators=(",", ":")).encode()
        # In place, since a file renamed over it would leave the others with a lock on nothing.
        os.pwrite(self._handle, data, 0)
        os.ftruncate(self._handle, len(data))

    def _fault(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: what the jobs share can't be kept ({error.strerror}); mend that and rerun")


def _is_sound(state: Any) -> bool:
    """Whether a state has the shape that jobs give it; another tool, or another version, may have left another."""
    try:
        lines, endpoints, spent = state.get("jobs", {}), state.get("endpoints", {}), state.get("spent_usd")
        return (
            all(line.keys() >= LINE for line in lines.values())
            and all(isinstance(endpoint, dict) for endpoint in endpoints.values())
            and (spent is None or 0 <= spent < math.inf)
        )
    except (AttributeError, TypeError):
        return False


def read_shared(path: str | Path) -> State:
    """The state as it is at this moment, for showing it; empty where there is none or it is being written."""
    try:
        state = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def start_afresh(path: str | Path, has_budget: bool) -> None:
    """Forget what endpoints have taught earlier runs, and count the money anew from the journals beside the file.

    What belongs to a job that still lives stays; then the next job counts the money.

    has_budget : whether the money matters; counting reads all journals.
    """
    path = Path(path)
    if not path.exists() and not has_budget:
        return
    # Before the lock: it may take a while.
    spent = sum(map(spent_usd, path.parent.rglob("*.jsonl"))) if has_budget else None
    shared = Shared(path)
    with shared.change() as state:
        jobs = state.setdefault("jobs", {})
        pools = {job["pool"] for job in jobs.values()}
        state["endpoints"] = {pool: each for pool, each in state.get("endpoints", {}).items() if pool in pools}
        state["spent_usd"] = None if jobs else spent
    shared.close()
