"""A disk that is really full: a clear error, nothing lost, and once there is room a rerun asks for what is missing."""

import base64
import contextlib
import itertools
import os
import random
import subprocess

import pytest
from fault_server import FaultServer, Reply
from job_worker import Worker
from step_jobs import StepJobs

from voirdire.models import read_journal
from voirdire.tables import GENERATIONS, read_table

DISK_KB = 500
N_ITEMS = 20
CONCURRENCY = 4
# A namespace of its own; where that is not allowed, one in which this user may do what root may.
WITHIN = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory):
    """A worker, and a folder that is a small disk of the worker's own."""
    folder = tmp_path_factory.mktemp("disk")
    mount = f'mount -t tmpfs -o size={DISK_KB}k tmpfs "{folder}" && exec "$@"'
    for namespace in WITHIN:
        command = [*namespace, "sh", "-c", mount, "sh"]
        with contextlib.suppress(OSError):
            if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
                with Worker(*command) as worker:
                    yield worker, folder
                return
    pytest.skip("this system lets nobody mount a tmpfs, neither directly nor in a user namespace")


@pytest.fixture
def server():
    with FaultServer(lambda prompt: Reply(f"{noise(prompt)}\n#### 4")) as server:
        yield server


def noise(prompt):
    """Four kilobytes that no compression makes much smaller."""
    return base64.b64encode(random.Random(prompt).randbytes(3000)).decode()


class Disk:
    """The small disk with a study on it, whose log is elsewhere."""

    def __init__(self, worker, folder, log, url):
        self.worker = worker
        # Another study each time, since the disk stays.
        here = folder / log.parent.name
        limits = {"concurrency": CONCURRENCY}
        self.jobs = StepJobs(here, url, N_ITEMS, seen=worker.sees(here), log=log, limits=limits)
        self._ballast = self.jobs.seen / "ballast"

    def fill(self, room_kb=0):
        with self._ballast.open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
            for _ in itertools.count():
                ballast.write(bytes(4096))
        os.truncate(self._ballast, max(0, self._ballast.stat().st_size - room_kb * 1024))

    def clear(self):
        self._ballast.unlink()

    def run(self):
        """Run the generate job; its exit code, and what it says."""
        self.worker.start(self.jobs.job("generate"))
        (code,) = self.worker.wait()
        return code, self.jobs.log.read_text()

    def known(self):
        return read_journal(self.jobs.journal("generate"))

    def statuses(self):
        return read_table(self.jobs.generations, GENERATIONS)["status"].tolist()


@pytest.fixture
def disk(small_disk, server, tmp_path):
    made = Disk(*small_disk, tmp_path / "log", server.url)
    yield made
    subprocess.run(["rm", "-r", str(made.jobs.seen)], check=True)


def is_clear(said, file, what):
    """Whether a job's last words are one error that names the file and says what is wrong."""
    *_, last = said.splitlines()
    return last.startswith("error: ") and file in last and what in last and "Traceback" not in said


def test_a_journal_that_finds_no_room_stops_the_job_and_keeps_every_earlier_answer(disk, server):
    disk.fill(room_kb=60)
    code, said = disk.run()
    assert code == 1
    assert is_clear(said, "generate/gsm8k/crow.jsonl", "the disk is full"), said
    kept, n_asked = disk.known(), len(server.prompts())
    assert 0 < len(kept) < N_ITEMS
    assert n_asked - len(kept) <= CONCURRENCY

    disk.clear()
    code, said = disk.run()
    assert code == 0, said
    assert len(server.prompts()) - n_asked == N_ITEMS - len(kept)
    assert disk.statuses() == ["ok"] * N_ITEMS
    assert {key: disk.known()[key] for key in kept} == kept


def test_a_table_that_finds_no_room_costs_nothing(disk, server):
    assert disk.run()[0] == 0
    journal = disk.jobs.journal("generate").read_bytes()
    disk.jobs.generations.unlink()
    disk.fill(room_kb=16)
    code, said = disk.run()
    assert code == 1
    assert is_clear(said, "generations/gsm8k/crow.parquet: cannot be written", "No space left"), said
    assert list(disk.jobs.generations.parent.iterdir()) == [], "no half of a table is left"
    assert disk.jobs.journal("generate").read_bytes() == journal

    disk.clear()
    assert disk.run()[0] == 0
    assert disk.statuses() == ["ok"] * N_ITEMS
    assert len(server.prompts()) == N_ITEMS


def test_what_jobs_share_finds_no_room_before_anything_is_asked(disk, server):
    disk.fill()
    code, said = disk.run()
    assert code == 1
    assert is_clear(said, "shared.json: what the jobs share can't be kept", "No space left"), said
    assert server.prompts() == []

    disk.clear()
    assert disk.run()[0] == 0
    assert len(server.prompts()) == N_ITEMS
