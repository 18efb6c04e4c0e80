"""An item's tests in one sandbox, the candidate's program in another, and the trusted process between them."""

import queue
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from voirdire.grading.sandbox.sandbox import Outcome, Sandbox

_Message = dict[str, Any]
_ANSWER = ("value", "raised", "said", "changed")
_REQUEST = ("on", "do", "values", "named")
# Well below Python's own limit, which depends on who calls.
_DEEPEST = 500
# Fewer than the lines that a sandbox may write, so that it is known who is at fault.
_MOST_QUESTIONS = 15_000
_GONE: _Message = {"gone": True}


def _is_deep(message: _Message) -> bool:
    """Whether a message is nested too deeply to be written, though it could be read."""
    level: list[Any] = [message]
    for _ in range(_DEEPEST):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return False
    return True


def _parts(whole: Any) -> Iterable[Any]:
    return whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ()


class _Post:
    """Messages for one side, which end with the other."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Message] = queue.SimpleQueue()

    def put(self, message: _Message) -> None:
        self._waiting.put(message)

    def take(self) -> _Message:
        message = self._waiting.get()
        if message is _GONE:
            # For whoever asks again.
            self._waiting.put(_GONE)
        return message


class _Between:
    """Hands on what the tests ask and the program answers."""

    def __init__(self) -> None:
        self.requests, self.answers = _Post(), _Post()
        self._owed = False
        self._asked = 0

    def program_asks(self, message: _Message) -> _Message:
        if self._owed:
            # Whatever it says now is the answer: if both sides waited, nobody would be left to watch their limits.
            said = message["ask"] if isinstance(message["ask"], dict) and not _is_deep(message["ask"]) else {}
            self.answers.put({key: said[key] for key in _ANSWER if key in said})
        self._owed = True
        return self.requests.take()

    @property
    def too_many(self) -> bool:
        return self._asked > _MOST_QUESTIONS

    def tests_ask(self, message: _Message) -> _Message:
        self._asked += 1
        if self.too_many:
            return _GONE
        self.requests.put({key: message["ask"].get(key) for key in _REQUEST})
        return self.answers.take()


def run_apart(sandbox: Sandbox, program: Mapping[str, Any], tests: Mapping[str, Any]) -> tuple[Outcome, Outcome, bool]:
    """Run both jobs, each side's questions answered by the other.

    Returns the program's outcome, the tests', and whether these asked so much that they were ended.

    Neither waits for a side that has ended: the sandbox's limits bound each, and its end is told to the other.
    """
    between = _Between()
    outcomes: list[Outcome] = []
    faults: list[BaseException] = []

    def run_tests() -> None:
        try:
            outcomes.append(sandbox.talk(tests, between.tests_ask))
        except BaseException as error:
            faults.append(error)
        finally:
            between.requests.put(_GONE)

    beside = threading.Thread(target=run_tests)
    beside.start()
    try:
        ended = sandbox.talk(program, between.program_asks)
    finally:
        between.answers.put(_GONE)
        beside.join()
    if faults:
        raise faults[0]
    return ended, outcomes[0], between.too_many or outcomes[0].ended == "flood"
