"""Runs one candidate program, or an item's tests, inside the sandbox; started there with nothing but Python's own.

It reads one JSON object from standard input: limits, setup code, the response's blocks of code, the calls to make. It
writes one JSON object a line: `ready`, the code it chose, then a value per call. Nothing that it says after the
candidate's code has begun to run can be trusted; it is only ever compared, outside, with what the candidate was
not told. A job with `tests` runs those instead, with the candidate in another sandbox; one with `serve` is that other.
"""

from __future__ import annotations

import posix
import resource
import sys

from voirdire.grading.inside.finding import choose, class_with, names_defined, parsed
from voirdire.grading.inside.serving import serve
from voirdire.grading.inside.tester import run_tests
from voirdire.grading.inside.wire import encode_within, from_json, gone_through, to_json

# `typing` is not imported when it runs: every candidate would wait for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        number = getattr(resource, name)
        hard = value + 1 if name == "RLIMIT_CPU" else value
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            value, hard = min(value, ceiling), min(hard, ceiling)
        resource.setrlimit(number, (value, hard))


def _setup_fault(setup: str, namespace: dict[str, Any]) -> str | None:
    try:
        exec(compile(setup, "<setup>", "exec", dont_inherit=True), namespace)
    except BaseException as error:
        return type(error).__name__
    return None


def _load(job: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
    """The namespace in which the candidate's code has run; None where there is nothing to test."""
    module = type(sys)("solution")
    sys.modules["solution"] = module
    namespace = module.__dict__
    # Before the code, which may use it; again after it where it needs the code (MBPP 367 builds the candidate's Node).
    setup_failed = _setup_fault(job["setup"], namespace)
    try:
        code, how = choose(job["blocks"], job["prose"], job["entry_point"])
    except (MemoryError, RecursionError):
        # The fault of the text: without an answer nobody would know whose it is.
        code, how = None, "no code"
    send({"code": code, "how": how})
    if code is None:
        return None
    try:
        exec(compile(code, "<candidate>", "exec", dont_inherit=True), namespace)
    except BaseException as error:
        # A demonstration below the function may well fail without input or arguments: the function decides.
        send({"code_failed": type(error).__name__})
    if setup_failed and (setup_failed := _setup_fault(job["setup"], namespace)) and not job.get("serve"):
        send({"setup_failed": setup_failed})
        return None
    if job["entry_point"] and job["entry_point"] not in namespace:
        tree = parsed(code)
        method_of = class_with(tree, job["entry_point"]) if tree else None
        send({"wrong_name": names_defined(tree) if tree else None, "method_of": method_of})
        return None
    return namespace


def _take_steps(steps: list[dict[str, str]], namespace: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> None:
    for index, step in enumerate(steps):
        try:
            ((kind, text),) = step.items()
            code = compile(text, "<test>", "exec" if kind == "do" else "eval", dont_inherit=True)
            value = eval(code, namespace)
            if kind == "iterate":
                value = gone_through(value)
            send({"step": index, "value": encode_within(value)})
        except BaseException as error:
            send({"step": index, "raised": type(error).__name__})


def _read_line(source: int) -> str:
    """One line of a descriptor, whose writer waits for an answer before it writes the next."""
    data = b""
    while not data.endswith(b"\n"):
        more = posix.read(source, 1 << 16)
        if not more:
            break
        data += more
    return data.decode()


def main() -> None:
    job = from_json(_read_line(0))
    channel, source = posix.dup(1), posix.dup(0)
    nothing = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in (0, 1, 2):
        posix.dup2(nothing, descriptor)
    talks = "tests" in job or "serve" in job
    for descriptor in range(3, 256):
        if descriptor != channel and not (talks and descriptor == source):
            posix.closerange(descriptor, descriptor + 1)
    write = posix.write

    def send(message: dict[str, Any]) -> None:
        data = to_json(message).encode() + b"\n"
        while data:
            data = data[write(channel, data) :]

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        send({"ask": message})
        answer = _read_line(source)
        return from_json(answer) if answer else {"gone": True}

    _limit(job["limits"])
    send({"ready": True})
    try:
        if "tests" in job:
            run_tests(job, send, ask)
            return
        namespace = _load(job, send)
        if namespace is not None and "serve" in job:
            serve(namespace, ask)
        elif namespace is not None:
            _take_steps(job["steps"], namespace, send)
    finally:
        # Threads that never end must not keep the process alive.
        posix._exit(0)


if __name__ == "__main__":
    main()
