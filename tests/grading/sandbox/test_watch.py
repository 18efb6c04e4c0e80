"""Limits on all processes of a program together, and on its sleep; each test's program would go on for ever."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from inside import run_inside, said_inside

from voirdire.grading.sandbox import following, watch
from voirdire.grading.sandbox.limits import Limits

MB = 1 << 20


def limited(sandbox, **limits):
    return replace(sandbox, limits=Limits(**limits))


def forks(sandbox):
    if sandbox.name == "landlock":
        pytest.skip("no program starts another there")


def ended(sandbox, body, **limits):
    outcome = run_inside(limited(sandbox, **limits), body)
    assert outcome.started or outcome.ended == "busy", outcome
    return outcome.ended


def test_a_sleeper_is_bounded(isolated):
    assert ended(isolated, "time.sleep(999)", wall_s=0.3) == "wall"
    assert ended(isolated, "threading.Event().wait()", wall_s=0.3) == "wall"
    assert ended(isolated, "os.read(os.pipe()[0], 1)", wall_s=0.3) == "wall"


def test_a_program_that_closes_its_output_is_bounded(isolated):
    assert ended(isolated, "os.close(1); os.close(2); time.sleep(999)", wall_s=0.3) == "wall"


def test_time_in_which_a_program_could_run_is_not_sleep(sandbox):
    # Also of a thread, with the main one asleep.
    assert ended(sandbox, "while True: pass", cpu_s=1, wall_s=0.2) == "cpu"
    spin = "def g():\n    while True: pass\nthreading.Thread(target=g).start()\nthreading.Event().wait()"
    assert ended(sandbox, spin, cpu_s=1, wall_s=0.2) == "cpu"


def test_a_program_that_gets_no_time_is_given_up_and_nothing_is_known(isolated):
    outcome = run_inside(limited(isolated, patience_s=0.3), "while True: pass")
    assert (outcome.ended, outcome.started, outcome.messages) == ("busy", False, ())


def test_memory_of_all_processes_together_is_bounded(isolated):
    forks(isolated)
    body = """
    for _ in range(8):
        if os.fork() == 0:
            kept = b'x' * (40 << 20)
            signal.pause()
    signal.pause()
    """
    assert ended(isolated, body, total_memory_bytes=200 * MB) == "memory"


@pytest.mark.parametrize("folder", [".", "/dev/shm"])
def test_the_number_of_files_is_bounded(isolated, folder):
    if isolated.name == "landlock" and folder != ".":
        pytest.skip("no other folder can be written to there")
    # Empty ones, each of which takes the kernel's memory.
    body = """
    for number in range(10**6):
        try:
            open(job['folder'] + '/x%d' % number, 'x').close()
        except OSError:
            time.sleep(999)
    """
    outcome = run_inside(limited(isolated), body, folder=folder)
    assert outcome.ended == "flood"


def test_few_files_are_no_flood(isolated):
    body = """
    for number in range(900):
        open('x%d' % number, 'x').close()
    time.sleep(0.3)
    return len(os.listdir('.'))
    """
    assert said_inside(limited(isolated), body) == {"said": 900}


def test_processes_are_found_where_the_kernel_lists_no_children(sandbox, monkeypatch):
    monkeypatch.setattr(watch, "children_are_listed", lambda: False)
    assert ended(sandbox, "kept = b'x' * (300 << 20)\nsignal.pause()", total_memory_bytes=200 * MB) == "memory"
    assert ended(sandbox, "while True: pass", cpu_s=1, wall_s=0.2) == "cpu"


def test_memory_that_processes_share_counts_once(isolated):
    forks(isolated)
    body = """
    kept = b'x' * (60 << 20)
    for _ in range(8):
        if os.fork() == 0:
            signal.pause()
    signal.pause()
    """
    assert ended(isolated, body, total_memory_bytes=200 * MB, wall_s=1) == "wall"


def test_memory_that_is_mapped_and_not_resident_is_bounded(isolated):
    forks(isolated)
    # Shared memory that is let go of stays in the machine's, and is in no process's size.
    body = """
    import mmap
    for _ in range(6):
        if os.fork() == 0:
            kept = mmap.mmap(-1, 900 << 20)
            signal.pause()
    signal.pause()
    """
    assert ended(isolated, body) == "memory"


def test_cpu_time_of_all_processes_together_is_bounded(sandbox):
    forks(sandbox)
    begin = os.times()
    body = """
    for _ in range(8):
        if os.fork() == 0:
            while True: pass
    signal.pause()
    """
    assert ended(sandbox, body, cpu_s=1) == "cpu"
    end = os.times()
    assert end.children_user + end.children_system - begin.children_user - begin.children_system < 4


@pytest.mark.slow
def test_cpu_time_of_those_that_end_is_counted(sandbox):
    forks(sandbox)
    # Each is far below the limit; nobody waits for the second half.
    body = """
    def spin():
        begin = time.process_time()
        while time.process_time() - begin < 0.2: pass
        os._exit(0)
    while True:
        for ignored in (signal.SIG_DFL, signal.SIG_IGN):
            signal.signal(signal.SIGCHLD, ignored)
            if os.fork() == 0:
                spin()
            try:
                os.wait()
            except ChildProcessError:
                pass
    """
    assert ended(sandbox, body, cpu_s=1) == "cpu"


def test_a_chain_of_processes_that_leave_their_parents_is_bounded(sandbox):
    forks(sandbox)
    body = """
    if os.fork():
        signal.pause()
    while True:
        begin = time.process_time()
        while time.process_time() - begin < 0.15: pass
        if os.fork():
            os._exit(0)
    """
    assert ended(sandbox, body, cpu_s=1) == "cpu"


def test_a_thread_bomb_is_bounded(isolated):
    body = """
    while True:
        try: threading.Thread(target=threading.Event().wait).start()
        except (RuntimeError, MemoryError): time.sleep(999)
    """
    assert ended(isolated, body, wall_s=0.5) in ("wall", "cpu")


def test_a_fork_bomb_in_which_each_takes_its_share_is_bounded_and_leaves_nothing(sandbox):
    forks(sandbox)
    body = """
    while True:
        try: os.fork()
        except OSError: pass
        kept = b'x' * (100 << 20)
    """
    begin = time.monotonic()
    assert ended(sandbox, body, total_memory_bytes=300 * MB, cpu_s=2) in ("memory", "cpu")
    assert time.monotonic() - begin < 30


def test_a_look_at_what_has_ended_or_never_was_finds_nothing():
    assert watch.Watch(2**22 + 1, Limits()).look(1.0) is None
    assert watch.Watch(2**22 + 1, Limits(wall_s=1)).look(1.0) == "wall"


def test_a_processes_name_cannot_pass_for_its_state(tmp_path):
    # The name may hold spaces, brackets and line ends; the state is what follows the last bracket.
    stat = tmp_path / "stat"
    stat.write_text("12 (a) R 1 (\n) S 1 12 12 0 -1 4194560 90 0 0 0 7 8 9 10 20 0 1 0 1")
    assert watch._fields(str(stat))[0] == "S"
    assert watch._fields(str(stat))[11:15] == ["7", "8", "9", "10"]


def test_files_in_a_scratch_folder_are_counted(tmp_path):
    (tmp_path / "x").write_bytes(b"x" * 3 * MB)
    ended_already = watch.Watch(2**22 + 1, Limits(scratch_bytes=2 * MB), Path(tmp_path))
    assert ended_already.look(0.1) == "flood"
    (tmp_path / "x").unlink()
    assert ended_already.look(0.1) is None


def test_a_program_is_watched_while_its_answer_is_awaited(isolated):
    forks(isolated)
    program = """
import json, os, signal, sys
job = sys.stdin.readline()
print('{"ready": true}', flush=True)
if os.fork() == 0:
    kept = [b'x' * (100 << 20) for _ in range(5)]
    signal.pause()
print('{"ask": 1}', flush=True)
signal.pause()
"""
    ended = threading.Event()
    looked = []

    def answer(message):
        # As long as it takes until the program is ended, and no longer: nothing else ends it here.
        looked.append(ended.wait(20))

    small = replace(limited(isolated, total_memory_bytes=200 * MB), command=(*isolated.command[:-1], program))
    kill = following.os.killpg
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(following.os, "killpg", lambda *arguments: (kill(*arguments), ended.set()))
        outcome = small.talk({}, answer)
    assert looked == [True]
    assert outcome.ended == "memory"
