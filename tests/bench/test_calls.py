"""What a call costs beside the model's own time: raw litellm, this client, Inspect AI; and whether memory stays flat.

Every contender is a process of its own (contender.py) that asks the same server (latency_server.py). They take turns,
so that a noisy machine slows all alike; ratios are medians of those within each round. Ramp-up and ramp-down, imports
included, are left out. Nothing is asserted of speed: a machine under load would fail for no reason of ours.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Made by `make bench`: Inspect AI stays out of the project's own environment.
INSPECT = HERE.parents[1] / ".venv" / "inspect" / "bin"
ROUNDS = 7
CONCURRENCY = 64
# latency_ms: (calls, noted at first, noted at last). At 2 s calls come in waves of 64, of which three are looked at.
PARTS = {200: (960, 128, 896), 2000: (320, 64, 256)}
# Inspect AI's own needs more than twice the time: half the calls are as telling.
PARTS_OF_INSPECT = {200: (512, 128, 448), 2000: (320, 64, 256)}
NAMES = {
    "litellm": "raw litellm",
    "voirdire": "this client",
    "inspect": "Inspect AI",
    "inspect_model": "Inspect AI, model alone",
}
LOOKED_AT = (1_000, 10_000, 25_000, 50_000, 100_000)

pytestmark = pytest.mark.bench


@pytest.fixture
def base_url():
    with _running([sys.executable, HERE / "latency_server.py"]) as server:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"


@contextmanager
def _running(command) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _command(name, base_url, folder, plan):
    python = INSPECT / "python" if name.startswith("inspect") else sys.executable
    return [str(python), str(HERE / "contender.py"), name, base_url, str(folder), json.dumps(plan)]


def _measured(name, base_url, folder):
    """{latency_ms: (calls per second, CPU milliseconds per call)} of one run."""
    parts = PARTS_OF_INSPECT if name.startswith("inspect") else PARTS
    plan = [[latency_ms, calls, [first, last]] for latency_ms, (calls, first, last) in parts.items()]
    folder.mkdir()
    done = subprocess.run(_command(name, base_url, folder, plan), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    measured = {}
    for latency_ms, notes in zip(parts, json.loads(done.stdout.splitlines()[-1]), strict=True):
        (first, began, cpu_before, _), (last, ended, cpu_after, _) = notes
        calls = last - first
        measured[latency_ms] = calls / (ended - began), (cpu_after - cpu_before) / calls * 1000
    return measured


def _median_ratio(rounds, name, other, latency_ms, what):
    return statistics.median(run[name][latency_ms][what] / run[other][latency_ms][what] for run in rounds)


def _say_ratios(rounds, latency_ms):
    """Print the ratios that have targets, and whether they are met."""
    rate, cpu = 0, 1
    to_meet = [
        ("CPU per call, this client / raw litellm", "litellm", cpu, "at most", 1.10),
        ("throughput, this client / raw litellm", "litellm", rate, "at least", 0.97),
    ]
    if latency_ms == 200 and "inspect" in rounds[0]:
        to_meet.append(("throughput, this client / Inspect AI", "inspect", rate, "at least", 2.0))
    for what, other, column, bound, target in to_meet:
        ratio = _median_ratio(rounds, "voirdire", other, latency_ms, column)
        met = ratio <= target if bound == "at most" else ratio >= target
        print(f"  {what}: {ratio:.3f} (target: {bound} {target:.2f}) {'met' if met else 'MISSED'}")


def test_speed_of_calls(base_url, tmp_path):
    names = [name for name in NAMES if not name.startswith("inspect") or (INSPECT / "inspect").exists()]
    server = _measured("bare", base_url, tmp_path / "bare")
    rounds = []
    for i in range(ROUNDS):
        rounds.append({name: _measured(name, base_url, tmp_path / f"{name}_{i}") for name in names})
        print(".", end="", flush=True)

    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"\nmedians of {ROUNDS} rounds, {CONCURRENCY} calls at once, {machine}")
    for latency_ms in PARTS:
        ideal = CONCURRENCY / latency_ms * 1000
        print(f"server of {latency_ms} ms, {ideal:.0f} calls/s at best; bare aiohttp gets {server[latency_ms][0]:.0f}")
        for name in names:
            runs = [run[name][latency_ms] for run in rounds]
            rate, cpu_ms = (statistics.median(column) for column in zip(*runs, strict=True))
            spread = f"{min(run[1] for run in runs):.2f} to {max(run[1] for run in runs):.2f}"
            print(f"  {NAMES[name]:24} {rate:6.1f} calls/s  {cpu_ms:6.2f} ms CPU per call ({spread})")
        _say_ratios(rounds, latency_ms)
    if "inspect" not in names:
        print("Inspect AI: not installed (make bench installs it)")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from Linux's /proc")
def test_memory_over_many_calls(base_url, tmp_path):
    plan = [[0, LOOKED_AT[-1], LOOKED_AT]]
    names = ("litellm", "voirdire")
    processes = []
    for name in names:
        (tmp_path / name).mkdir()
        command = _command(name, base_url, tmp_path / name, plan)
        # Both at once: time doesn't matter here, and one of them alone takes minutes.
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]

    print(f"\nmemory (MB, resident) after so many calls, {CONCURRENCY} at once")
    print(f"  {'':14}" + "".join(f"{count:>10,}" for count in LOOKED_AT))
    for name, output in zip(names, outputs, strict=True):
        (notes,) = json.loads(output.splitlines()[-1])
        print(f"  {NAMES[name]:14}" + "".join(f"{memory_mb:10.1f}" for *_, memory_mb in notes))
