"""The append-only record of every completed call: what was paid for once is never asked again."""

import errno
import json
import math
import os
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from voirdire.errors import UserError
from voirdire.models.lock import lock
from voirdire.models.records import REPLAYABLE, Answers, Place, answer_at, place_of, places_of, records, spent_of
from voirdire.models.spec import Answer

# A power failure can cost the answers of so many seconds; a killed process none.
SYNC_EVERY_S = 0.05
_FORMAT = 1


class Journal:
    """A JSONL file with one line per completed call, written by one process at a time.

    An answer outlives a kill of the process as soon as `append` returns, and a power failure at most SYNC_EVERY_S
    later: a thread brings the lines to disk, many at a time, so that calls don't wait for it. A line that a kill or a
    full disk has cut short is ignored, and the next answer starts on a line of its own. Answers stay in the file,
    memory holds where they are. Only those that may be replayed are found by `get`; errors are recorded for their
    history.

    Raises UserError where another live process writes to the file, or where it can't be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not self.path.exists()
            # Opened for reading too: the one descriptor serves both, see `lock`.
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._file = os.fdopen(handle, "r+b", buffering=0)
        except OSError as error:
            raise self._fault(error) from error
        try:
            self._unlock = lock(self._file, self.path)
            self._places, end = places_of(self._file)
            if is_new:
                _sync_directory(self.path.parent)
            self._on_fresh_line = end == 0 or os.pread(self._file.fileno(), 1, end - 1) == b"\n"
        except OSError as error:
            self._file.close()
            raise self._fault(error) from error
        except BaseException:
            self._file.close()
            raise
        self._failed: dict[str, Place] = {}
        self.size = end
        self._syncer = _Syncer(self._file.fileno())

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def close(self) -> None:
        """Bring everything to disk and close the file, which unlocks it. Raises UserError where the disk is full."""
        if self._file.closed:
            return
        try:
            self._syncer.stop()
        except OSError as error:
            raise self._fault(error) from error
        finally:
            self._unlock()
            self._file.close()

    def get(self, key: str) -> Answer | None:
        """The replayable answer to a request, if there is one."""
        place = self._places.get(key)
        return None if place is None else answer_at(self._file.fileno(), place)

    def answers(self, keys: Mapping[str, str]) -> "Answers":
        """The answers to requests, by any names: those that may be replayed, else this process's errors."""
        return Answers(self.path, {name: self._places.get(key) or self._failed[key] for name, key in keys.items()})

    def append(self, answer: Answer, call_id: str = "", history: Iterable[str] = ()) -> None:
        """Write an answer. `call_id` and the `history` of failed attempts are noted for people who read the journal."""
        record = {"format": _FORMAT, "id": call_id, "at": _now(), **vars(answer)}
        if past := list(history):
            record["history"] = past
        place = self._write(record)
        (self._places if answer.status in REPLAYABLE else self._failed)[answer.key] = place

    def forget(self, keys: Iterable[str]) -> None:
        """Note that these requests are to be asked again. Their answers and costs stay in the file."""
        if known := [key for key in keys if key in self._places]:
            self._write({"format": _FORMAT, "at": _now(), "forget": known})
            for key in known:
                del self._places[key]

    def note(self, name: str, content: dict[str, Any]) -> None:
        """Keep something else than an answer, on disk when this returns."""
        self._write({"format": _FORMAT, "at": _now(), name: content})
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._fault(error) from error

    def notes(self, name: str) -> list[dict[str, Any]]:
        """What was noted under a name, in order."""
        self._file.seek(0)
        found = (record.get(name) for _, record in records(self._file, f'"{name}"'.encode()))
        return [content for content in found if isinstance(content, dict)]

    def spent_usd(self, end: float = math.inf) -> float:
        """As the function `spent_usd`, through the one descriptor that may be open."""
        self._file.seek(0)
        return spent_of(self._file, end)

    def _write(self, record: dict[str, Any]) -> Place:
        """Append a record; where it lies."""
        # ASCII only: U+0085, U+2028, NUL and lone surrogates arrive as \u escapes, and the only "\n" ends the line.
        line = json.dumps(record).encode("ascii") + b"\n"
        data = line if self._on_fresh_line else b"\n" + line
        self._on_fresh_line = False
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:])
            self._syncer.wake()
        except OSError as error:
            raise self._fault(error) from error
        finally:
            self.size += written
        self._on_fresh_line = True
        return place_of(self.size - len(line), len(line))

    def _fault(self, error: OSError) -> UserError:
        what = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)
        return UserError(
            f"{self.path}: the journal can't be written ({what}); mend that and rerun: no earlier answer is lost"
        )


class _Syncer:
    """A thread that brings what was written to disk, at most every SYNC_EVERY_S."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._dirty = threading.Event()
        self._ended = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def wake(self) -> None:
        """Raises the OSError that an earlier write ended in, as network disks tell only then."""
        if self._error is not None:
            raise self._error
        if not self._dirty.is_set():
            self._dirty.set()
            if not self._thread.is_alive():
                self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._ended.set()
            self._dirty.set()
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while not (self._ended.is_set() and not self._dirty.is_set()):
            self._dirty.wait()
            self._dirty.clear()
            try:
                os.fsync(self._handle)
            except OSError as error:
                self._error = error
                return
            self._ended.wait(SYNC_EVERY_S)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _sync_directory(path: Path) -> None:
    """Make a new file's name as lasting as its content."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return  # Windows can't, and needn't
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network filesystems can't
    finally:
        os.close(handle)
