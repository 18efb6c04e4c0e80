"""The process in which `local` runs llama.cpp: one server each, for two in one process never end.

    python _llama.py WEIGHTS NAME HOST PORT CONTEXT

prints its address when it serves, and ends when its input does, which is also when the process that started it ends.
"""

import os
import sys
from typing import Any

ERRORS_ONLY = 1


def parameters(weights: str, name: str, host: str, port: int, context: int) -> Any:
    from xllamacpp import CommonParams

    params = CommonParams()
    params.model.path = weights
    # Answers would tell the weights' path otherwise.
    params.model_alias = {name}
    params.hostnames = [host]
    params.port = port
    params.ui = False
    params.n_ctx = context
    # One thread: two collapse as soon as something else takes one of two cores.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    # Neither batched with others nor after a remembered prompt: an answer depends on its request alone.
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.verbosity = ERRORS_ONLY
    return params


def main() -> None:
    from xllamacpp import Server

    weights, name, host, port, context = sys.argv[1:]
    try:
        server = Server(parameters(weights, name, host, int(port), int(context)))
    except RuntimeError as error:
        sys.exit(f"llama.cpp: {error}")
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    # Not by the server's destructor, which waits for requests in flight.
    os._exit(0)


if __name__ == "__main__":
    main()
