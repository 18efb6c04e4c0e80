"""Who lives, and whose turn it is."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from voirdire.models import Limits
from voirdire.models.jobs import SILENT_S, Watch, identity, job_name, may_go

NOW = 1_800_000_000.0


@pytest.fixture
def clock():
    """A clock that stands still until it is moved: `clock.now += 5`."""

    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


def here():
    return {**identity(Limits(), Path("a.jsonl"), NOW), "seen": NOW}


def test_a_job_of_this_machine_lives_as_long_as_its_process(clock):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    jobs = {"mine": here(), "childs": {**here(), "pid": child.pid, "born": "another time"}}
    watch = Watch(clock)
    assert watch.dead(jobs) == ["childs"], "a later process of the same number"
    child.communicate()
    assert watch.dead({"childs": {**here(), "pid": child.pid}}) == ["childs"]
    clock.now += 10 * SILENT_S
    assert watch.dead({"mine": here()}) == [], "silent, as while it is stopped"


@pytest.mark.parametrize("ahead_s", [-3600, 0, 3600])
def test_a_job_of_another_machine_lives_as_long_as_its_line_changes_whatever_its_clock_says(clock, ahead_s):
    watch = Watch(clock)
    other = {**here(), "host": f"not {socket.gethostname()}"}
    for beat in range(10):
        clock.now += SILENT_S / 2
        assert watch.dead({"other": {**other, "seen": NOW + ahead_s + beat}}) == []
    clock.now += SILENT_S + 1
    assert watch.dead({"other": {**other, "seen": NOW + ahead_s + 9}}) == ["other"]


def line(in_flight, waiting=None, pool="p", seen=NOW):
    return {"pool": pool, "in_flight": in_flight, "waiting": waiting, "seen": seen}


def test_alone_a_job_may_take_every_slot():
    assert may_go("a", {"a": line(3, NOW)}, 4, NOW)
    assert not may_go("a", {"a": line(4, NOW)}, 4, NOW)


def test_a_job_with_its_share_lets_a_waiting_one_go_first():
    jobs = {"a": line(3, NOW - 1), "b": line(0, NOW)}
    assert not may_go("a", jobs, 4, NOW)
    assert may_go("b", jobs, 4, NOW)


def test_where_there_is_room_for_all_nobody_waits_for_another():
    jobs = {"a": line(3, NOW - 1), "b": line(0, NOW)}
    assert may_go("a", jobs, 5, NOW)


def test_of_jobs_below_their_share_the_one_that_has_waited_longest_goes():
    jobs = {"a": line(0, NOW - 1), "b": line(0, NOW - 2), "c": line(0, NOW)}
    assert [name for name in jobs if may_go(name, jobs, 1, NOW)] == ["b"]


def test_a_job_that_no_longer_looks_holds_nobody_up():
    jobs = {"a": line(3, NOW), "b": line(0, NOW - 9, seen=NOW - 9), "c": line(0, NOW - 1, pool="another")}
    assert may_go("a", jobs, 4, NOW)


@pytest.mark.parametrize(
    ("journal", "shared", "name"),
    [
        ("results/journal/s/judge/blind/gsm8k/a/b.jsonl", "results/journal/s/shared.json", "judge blind gsm8k a b"),
        ("elsewhere/a.jsonl", "results/journal/s/shared.json", "a"),
        ("elsewhere/a.jsonl", None, "a"),
    ],
)
def test_a_job_is_called_by_its_journals_place(journal, shared, name):
    assert job_name(journal, shared) == name


def test_a_line_names_this_process():
    assert (here()["pid"], here()["host"]) == (os.getpid(), socket.gethostname())
