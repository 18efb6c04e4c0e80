"""The append-only record of every completed call: what was paid for once is never asked again."""

import errno
import json
import os
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from voirdire.errors import UserError
from voirdire.models.lock import lock
from voirdire.models.spec import Answer

# An error or a timeout is asked again; everything else is the model's answer.
REPLAYABLE = frozenset({"ok", "refused", "truncated", "empty"})
_FORMAT = 1
_FIELDS = {field.name for field in fields(Answer)}


class Journal:
    """A JSONL file with one line per completed call, written by one process at a time.

    Every answer is on disk before `append` returns. A line that a kill or a full disk has cut short is ignored, and
    the next answer starts on a line of its own. Only answers that may be replayed are found by `get`; errors are
    recorded for their history alone.

    Raises UserError where another live process writes to the file, or where it can't be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._answers: dict[str, Answer] = {}
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
            content = self._file.read()
            if is_new:
                _sync_directory(self.path.parent)
        except OSError as error:
            self._file.close()
            raise self._fault(error) from error
        except BaseException:
            self._file.close()
            raise
        self._answers = _replayable(content)
        self._on_fresh_line = content.endswith(b"\n") or not content

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, which unlocks it."""
        if not self._file.closed:
            self._unlock()
            self._file.close()

    def get(self, key: str) -> Answer | None:
        """The replayable answer to a request, if there is one."""
        return self._answers.get(key)

    def append(self, answer: Answer, call_id: str = "") -> None:
        """Write an answer to disk; `call_id` is noted for people who read the journal."""
        record = {"format": _FORMAT, "id": call_id, "at": datetime.now(UTC).isoformat(), **asdict(answer)}
        # ASCII only: U+0085, U+2028, NUL and lone surrogates arrive as \u escapes, and the only "\n" ends the line.
        line = json.dumps(record, sort_keys=True).encode("ascii") + b"\n"
        self._write(line if self._on_fresh_line else b"\n" + line)
        if answer.status in REPLAYABLE:
            self._answers[answer.key] = answer

    def _write(self, data: bytes) -> None:
        self._on_fresh_line = False
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._fault(error) from error
        self._on_fresh_line = True

    def _fault(self, error: OSError) -> UserError:
        what = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)
        return UserError(
            f"{self.path}: the journal can't be written ({what}); mend that and rerun: no earlier answer is lost"
        )


def read_journal(path: str | Path) -> dict[str, Answer]:
    """The replayable answers of a journal by request key, without locking it; empty where there is no such file."""
    try:
        return _replayable(Path(path).read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{path}: the journal can't be read ({error.strerror})") from error


def _replayable(content: bytes) -> dict[str, Answer]:
    # Never splitlines(): it would also cut at U+0085 and U+2028, should another tool have written them unescaped.
    answers = (_parse(line) for line in content.split(b"\n") if line)
    return {answer.key: answer for answer in answers if answer is not None and answer.status in REPLAYABLE}


def _parse(line: bytes) -> Answer | None:
    """The answer on a line; None for a line that was cut short, which a closing brace would have ended."""
    try:
        record: Any = json.loads(line)
        return Answer(**{name: value for name, value in record.items() if name in _FIELDS})
    except (ValueError, TypeError, AttributeError):
        return None


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
