"""Talking to programs that write what they like: the process that grades neither waits, nor breaks, nor believes."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from voirdire.grading.sandbox import sandbox as sandboxes
from voirdire.grading.sandbox.limits import Limits
from voirdire.grading.sandbox.sandbox import Sandbox

READY = "import json, os, sys, time\njob = sys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n"
LIMITS = Limits(wall_s=10, output_bytes=1 << 20)


def plain(program, limits=LIMITS):
    """A sandbox that isolates nothing, for a program of the test's own."""
    return Sandbox("plain", (sys.executable, "-I", "-S", "-c", program), limits=limits)


def talk(program, answer=None, job=None, limits=LIMITS):
    return plain(program, limits).talk(job or {}, answer)


def test_a_program_asks_and_is_answered_and_the_rest_is_collected():
    program = (
        READY
        + """
print(json.dumps({"before": 1}))
for number in (2, 3):
    print(json.dumps({"ask": number}), flush=True)
    print(json.dumps({"got": json.loads(sys.stdin.readline())["answer"]}), flush=True)
"""
    )
    asked = []

    def answer(message):
        asked.append(message)
        return {"answer": message["ask"] * 10}

    outcome = talk(program, answer)
    assert asked == [{"ask": 2}, {"ask": 3}]
    assert outcome.messages == (({"before": 1}, 13), ({"got": 20}, 11), ({"got": 30}, 11))
    assert (outcome.ended, outcome.started, outcome.noise) == ("exit", True, "")


def test_an_answer_of_none_sends_nothing():
    program = (
        READY
        + """
import select
print('{"ask": 1}', flush=True)
print('{"ask": 2}', flush=True)
print(json.dumps({"got": sys.stdin.readline()}))
"""
    )
    outcome = talk(program, lambda message: {"two": 2} if message["ask"] == 2 else None)
    assert outcome.messages[0][0] == {"got": '{"two": 2}\n'}


def test_without_an_answer_standard_input_ends_and_an_ask_is_a_message():
    outcome = talk(READY + "print(json.dumps({'ask': sys.stdin.read()}))")
    assert outcome.messages == (({"ask": ""}, 11),)


def test_nothing_is_answered_or_believed_before_the_runner_is_ready():
    program = 'print(\'{"ask": 1}\')\nprint(\'{"step": 0}\')\nprint(\'{"ready": "yes"}\')'
    outcome = talk(program, lambda message: pytest.fail(f"answered {message}"))
    assert (outcome.started, outcome.messages) == (False, ())


def test_a_job_larger_than_any_pipe_is_read_whole():
    job = {"text": "x\ud800" * 500_000}
    program = "import json, sys\njob = json.loads(sys.stdin.readline())\nprint('{\"ready\": true}')\n"
    outcome = talk(program + "print(json.dumps({'length': len(job['text'])}))", job=job)
    assert outcome.messages[0][0] == {"length": 1_000_000}


def test_no_job_is_sent_before_a_sign_of_life():
    silent = READY.replace("job = sys.stdin.readline()", "import select") + (
        "print(json.dumps({'given': bool(select.select([0], [], [], 0.2)[0])}))"
    )
    # What is last is the program, which begins with the sign; this one never runs it.
    sandbox = replace(plain("pass"), command=(sys.executable, "-I", "-S", "-c", silent, "pass"))
    assert sandbox.run({}).messages[0][0] == {"given": False}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import os, time\nos.close(0)\n", id="closes its input"),
        pytest.param("", id="ends at once"),
        pytest.param("import os\nos.kill(os.getpid(), 9)", id="is killed"),
    ],
)
def test_a_program_that_does_not_read_its_job_is_not_waited_for(program):
    assert talk(program, job={"text": "x" * 1_000_000}).started is False


def test_a_program_that_reads_no_answers_is_ended():
    program = READY + "while True: os.write(1, b'{\"ask\": 1}\\n')"
    outcome = talk(program, lambda message: {"answer": "x" * 10_000})
    assert outcome.ended == "flood"


@pytest.mark.parametrize(
    ("write", "ended"),
    [
        pytest.param("while True: os.write(1, b'x' * 65536)", "flood", id="a line that never ends"),
        pytest.param("while True: os.write(1, b'\\n' * 65536)", "flood", id="empty lines"),
        pytest.param("while True: os.write(1, b'{}\\n' * 1000)", "flood", id="empty messages"),
        pytest.param("while True: os.write(2, b'x' * 65536)", "flood", id="errors"),
        pytest.param("os.write(1, b'[' * 500000 + b'\\n')", "exit", id="deep JSON"),
        pytest.param("os.write(1, b'{\"a\":' * 100000 + b'\\n')", "exit", id="deep JSON of objects"),
        pytest.param("os.write(1, b'9' * 500000 + b'\\n')", "exit", id="a huge number"),
        pytest.param("os.write(1, b'{\"a\": ' + b'9' * 500000 + b'}\\n')", "exit", id="a huge number in a message"),
        pytest.param("os.write(1, b'\\xff\\xfe{\\x00}\\x00\\n\\x00\\x00')", "exit", id="another encoding"),
        pytest.param("os.write(1, bytes(range(256)))", "exit", id="all bytes"),
        pytest.param("os.write(1, b'\"' + b'\\\\ud800' * 1000 + b'\"\\n')", "exit", id="lone surrogates"),
        pytest.param("os.close(1); os.close(2)", "exit", id="closes its output"),
    ],
)
def test_whatever_a_program_writes_is_survived(write, ended):
    outcome = talk(READY + write)
    assert (outcome.started, outcome.ended, outcome.messages) == (True, ended, outcome.messages[:20_001])
    assert len(outcome.noise) <= 300


def test_messages_are_found_among_junk_before_and_after_and_without_a_last_line_end():
    junk = 'os.write(1, b\'\\x00\\xff{]\\n{"a": 1}\\n[1]\\nnull\\n\\r\\n{"b": 2}\\r\\n}{\\n{"c": 3}\')'
    program = READY.replace("print(", "print('warning: odd machine'); print(", 1) + junk
    outcome = talk(program)
    assert [message for message, _ in outcome.messages] == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert outcome.noise.startswith("warning: odd machine")


def test_an_error_of_the_answer_ends_the_program_and_is_raised():
    def answer(message):
        raise KeyError(message["ask"])

    program = READY + "print(json.dumps({'ask': os.getpid()}), flush=True)\ntime.sleep(99)"
    with pytest.raises(KeyError) as caught:
        talk(program, answer)
    with pytest.raises(ProcessLookupError):
        sandboxes.os.kill(caught.value.args[0], 0)


def test_what_an_answer_takes_is_not_the_programs_time():
    program = READY + "print('{\"ask\": 1}', flush=True)\nprint(json.dumps({'got': sys.stdin.readline()}))"

    def answer(message):
        # In another process, as when another program answers.
        return {"said": subprocess.run(["sleep", "0.5"], check=True).returncode}

    outcome = talk(program, answer, limits=Limits(wall_s=0.4))
    assert (outcome.ended, len(outcome.messages)) == ("exit", 1)


@pytest.mark.parametrize(
    "error", [BlockingIOError(11, "Resource temporarily unavailable"), OSError(12, "Cannot allocate memory")]
)
def test_a_full_machine_is_asked_again(monkeypatch, error):
    refusals, started = [error, error], subprocess.Popen

    def popen(*arguments, **named):
        if refusals:
            raise refusals.pop()
        return started(*arguments, **named)

    monkeypatch.setattr(sandboxes.subprocess, "Popen", popen)
    assert talk(READY).started
    assert refusals == []


def test_a_machine_that_stays_full_leaves_it_open(monkeypatch):
    def popen(*arguments, **named):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(sandboxes.subprocess, "Popen", popen)
    outcome = talk(READY)
    assert (outcome.started, outcome.noise) == (False, "BlockingIOError: Resource temporarily unavailable")


def test_a_sandbox_that_could_not_start_for_want_of_processes_is_started_again(tmp_path):
    # As bubblewrap says it.
    tried = tmp_path / "tried"
    first = f"import os, sys\nif not os.path.exists({str(tried)!r}):\n    open({str(tried)!r}, 'w').close()\n"
    first += "    sys.exit('bwrap: Creating new namespace failed: Resource temporarily unavailable')\n"
    assert talk(first + READY).started


def test_a_sandbox_that_cannot_start_is_tried_once(tmp_path):
    tries = tmp_path / "tries"
    program = f"open({str(tries)!r}, 'a').write('x')\nraise SystemExit('bwrap: No such file or directory')"
    outcome = talk(program)
    assert (outcome.started, outcome.noise.strip()) == (False, "bwrap: No such file or directory")
    assert tries.read_text() == "x"


def test_the_job_carries_the_limits():
    outcome = talk("import json, sys\njob = sys.stdin.readline()\nprint('{\"ready\": true}')\nprint(job)", job={"a": 1})
    message = outcome.messages[0][0]
    assert message == {"a": 1, "limits": json.loads(json.dumps(LIMITS.inside()))}


def test_a_program_that_the_kernel_may_have_killed_for_memory_is_left_open(monkeypatch):
    program = READY + "os.kill(os.getpid(), 9)"
    assert talk(program).ended == "killed"
    kills = iter((7, 8))
    monkeypatch.setattr(sandboxes, "kills_for_memory", lambda: next(kills))
    assert talk(program) == sandboxes.Outcome((), "busy", False, "")
