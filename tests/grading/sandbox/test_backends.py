"""Each way to isolate that works here keeps programs in; what doesn't isolate is found out by the probe."""

import errno
import os
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from inside import run_inside, said_inside

from voirdire.errors import UserError
from voirdire.grading.inside.bundle import runner_source
from voirdire.grading.sandbox import backends, bubblewrap, filters, landlock, probe, unshare
from voirdire.grading.sandbox.pythons import NOBODY

NAMES = list(backends.BACKENDS)


@pytest.fixture
def host(isolated, tmp_path_factory):
    """Things of the host that every process of the sandbox's user could reach if nothing kept it from them."""
    user = isolated.user
    # Not pytest's own folder, into which nobody else can come.
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o777)
        (folder / "secret").write_text("sesame")
        tcp = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        udp = stack.enter_context(closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        udp.bind(("127.0.0.1", 0))
        for kind, address in ((socket.SOCK_STREAM, f"{folder}/s"), (socket.SOCK_DGRAM, f"{folder}/d")):
            local = stack.enter_context(closing(socket.socket(socket.AF_UNIX, kind)))
            local.bind(address)
            Path(address).chmod(0o777)
            if kind == socket.SOCK_STREAM:
                local.listen()
        abstract = stack.enter_context(closing(socket.socket(socket.AF_UNIX)))
        abstract.bind(f"\0{folder}")
        abstract.listen()
        if user is not None:
            for path in folder.iterdir():
                os.chown(path, user, user)
        become = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        victim = stack.enter_context(subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={"KEY": "sesame"}, **become))
        yield {
            "folder": str(folder),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "victim": victim.pid,
            "parent": os.getpid(),
            "here": str(Path(__file__).resolve()),
        }
        assert victim.poll() is None, "the program reached a process of the host"
        assert (folder / "secret").read_text() == "sesame"
        assert (folder / "secret").stat().st_mode & 0o777 == 0o644
        assert {path.name for path in folder.iterdir()} == {"secret", "s", "d"}
        udp.setblocking(False)
        with pytest.raises(BlockingIOError):
            udp.recv(1)


# Each returns true, or nothing at all, if the program got out; otherwise an error of the system, or false.
WAYS_OUT = {
    "reads a file": "return open(job['folder'] + '/secret').read()",
    "lists a folder": "return os.listdir(job['folder'])",
    "reads this file": "return open(job['here']).read()",
    "reads passwords": "return open('/etc/passwd').read() + open('/etc/shadow').read()",
    "lists homes": "return os.listdir('/root') + os.listdir('/home')",
    "writes a file": "open(job['folder'] + '/secret', 'w').close()",
    "makes a file": "open(job['folder'] + '/new', 'w').close()",
    "makes a folder": "os.mkdir(job['folder'] + '/new')",
    "makes a link": "os.symlink('/', job['folder'] + '/new')",
    "moves a file": "os.rename(job['folder'] + '/secret', job['folder'] + '/new')",
    "links a file": "os.link(job['folder'] + '/secret', 'new')",
    "deletes a file": "os.unlink(job['folder'] + '/secret')",
    "truncates a file": "os.truncate(job['folder'] + '/secret', 0)",
    "opens a file to all": "os.chmod(job['folder'] + '/secret', 0o777)",
    "empties what it may read": "os.open(os.__file__, os.O_RDONLY | os.O_TRUNC)",
    "opens it by a newer call": "return libc.syscall(452, -100, (job['folder'] + '/secret').encode(), 0o777, 0) == 0",
    "gives a file away": "os.chown(job['folder'] + '/secret', -1, 12345)",
    "changes a file's time": "os.utime(job['folder'] + '/secret')",
    "marks a file": "os.setxattr(job['folder'] + '/secret', 'user.x', b'x')",
    "writes beside Python": "open(os.path.dirname(os.__file__) + '/x.py', 'w').close()",
    "writes to /usr": "open('/usr/x', 'w').close()",
    "writes to /": "open('/x', 'w').close()",
    "writes to the kernel": "open('/proc/sys/kernel/core_pattern', 'w').close()",
    "makes a device": "os.mknod('x', 0o60666, os.makedev(1, 1))",
    "connects": "socket.create_connection(('127.0.0.1', job['tcp']), 1)",
    "sends a datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', job['udp']))\n"
    # Into its own network; the test looks whether it came.
    "return False",
    "connects to a file": "socket.socket(socket.AF_UNIX).connect(job['folder'] + '/s')",
    "connects to a name": "socket.socket(socket.AF_UNIX).connect('\\0' + job['folder'])",
    "sends from a pair": "socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', job['folder'] + '/d')",
    "asks a name server": "return socket.getaddrinfo('localhost.invalid', 80)",
    "signals a process": "os.kill(job['victim'], 9)",
    "signals its parents": "os.kill(job['parent'], 9)",
    "asks for a process": "os.kill(job['victim'], 0)",
    "has a pipe signal a process": "import fcntl\nreading, writing = os.pipe()\n"
    "fcntl.fcntl(reading, fcntl.F_SETOWN, job['victim'])\nfcntl.fcntl(reading, fcntl.F_SETSIG, 9)\n"
    "fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)\nos.write(writing, b'x')",
    "has it do so by a newer call": "import fcntl, struct\n"
    "fcntl.fcntl(os.pipe()[0], 15, struct.pack('ii', 1, job['victim']))",
    "has a socket signal a process": "import fcntl, struct\n"
    "fcntl.ioctl(socket.socketpair()[0], 0x8901, struct.pack('i', job['victim']))",
    "has it do so by another call": "import fcntl, struct\n"
    "fcntl.ioctl(socket.socketpair()[0], 0x8902, struct.pack('i', job['victim']))",
    "slows a process": "os.setpriority(os.PRIO_PROCESS, job['victim'], 19)",
    "moves a process": "os.sched_setaffinity(job['victim'], {0})",
    "limits a process": "resource.prlimit(job['victim'], resource.RLIMIT_NOFILE, (0, 0))",
    "sees a process": "return b'cat' in open('/proc/%d/cmdline' % job['victim'], 'rb').read()",
    "reads a process's keys": "return b'sesame' in open('/proc/%d/environ' % job['victim'], 'rb').read()",
    "traces a process": "return libc.ptrace(16, job['victim'], 0, 0) == 0",
    "starts a user namespace": "return libc.unshare(0x10000000) == 0",
    "starts a mount namespace": "return libc.unshare(0x20000) == 0",
    "mounts": "return libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0) == 0",
    "changes its root": "os.chroot('/tmp')",
    "becomes root": "os.setuid(0)",
    "is root": "return 0 in (os.getuid(), os.geteuid(), os.getgid())",
    "has another's environment": "return sorted({*os.environ} - {'HOME', 'LANG', 'LC_CTYPE', 'PATH', 'PWD',"
    " 'PYTHONHASHSEED', 'PYTHONSAFEPATH'})",
    "has another's descriptors": "return [fd for fd in range(3, 64) if os.path.exists('/proc/self/fd/%d' % fd)"
    " and os.path.realpath('/proc/self/fd/%d' % fd) != '/proc/self/fd']",
}  # fmt: skip


@pytest.mark.parametrize("command", [8, 10, 15])
def test_the_filter_refuses_to_have_signals_sent(isolated, command):
    """Landlock's own care for signals is younger than many a kernel, so the filter is asked, with harmless values."""
    if isolated.filter is None:
        pytest.skip(f"{isolated.name} has no filter here")
    body = "import fcntl\nfcntl.fcntl(os.pipe()[0], job['command'], b'\\0' * 8 if job['command'] == 15 else 0)"
    assert said_inside(isolated, body, command=command) == {"raised": "PermissionError", "errno": errno.EPERM}
    assert said_inside(isolated, "import fcntl\nreturn fcntl.fcntl(0, fcntl.F_GETFD)") == {"said": 0}


@pytest.mark.parametrize("request_", [0x8901, 0x8902])
def test_the_filter_refuses_it_for_sockets_too(isolated, request_):
    if isolated.filter is None:
        pytest.skip(f"{isolated.name} has no filter here")
    body = "import fcntl\nfcntl.ioctl(socket.socketpair()[0], job['request'], b'\\0' * 4)"
    assert said_inside(isolated, body, request=request_) == {"raised": "PermissionError", "errno": errno.EPERM}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_way_leads_out(isolated, host, way):
    outcome = said_inside(isolated, WAYS_OUT[way] + "\n" + "return True", **host)
    if "raised" in outcome:
        assert outcome["raised"] in ("OSError", "FileNotFoundError", "PermissionError", "ProcessLookupError",
                                     "ConnectionRefusedError", "NotADirectoryError", "gaierror"), outcome  # fmt: skip
    else:
        assert not outcome["said"], outcome


def test_a_signal_to_everyone_reaches_nobody_outside(isolated, host):
    run_inside(isolated, "os.kill(-1, signal.SIGKILL)", **host)


def test_what_programs_need_works(isolated):
    body = """
    import asyncio, collections, concurrent.futures, datetime, decimal, random, re, tempfile, uuid, zlib
    with tempfile.TemporaryFile('w+') as file:
        file.write('kept')
        file.seek(0)
        read = file.read()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        threads = list(pool.map(abs, (-1, -2, -3)))
    async def later():
        await asyncio.sleep(0)
        return await asyncio.to_thread(len, os.urandom(8))
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    signal.pause()
    time.sleep(0.001)
    return [read, threads, asyncio.run(later()), len(str(uuid.uuid4())), datetime.datetime.now().year > 2000,
            open(os.devnull).read(), os.cpu_count() > 0, random.random() < 1, os.getcwd() != '/']
    """
    assert said_inside(isolated, body) == {"said": ["kept", [1, 2, 3], 8, 36, True, "", True, True, True]}


def test_the_scratch_folder_is_small_and_gone_afterwards(isolated):
    body = """
    for number in range(200):
        with open(job['mark'] + str(number), 'wb') as file:
            file.write(b'x' * 1_000_000)
    time.sleep(99)
    """
    mark = secrets.token_hex(8)
    outcome = run_inside(isolated, body, mark=mark)
    left = list(Path(tempfile.gettempdir()).glob(f"voirdire-*/{mark}*"))
    # Within namespaces it is a file system of 16 MB, elsewhere counted from outside.
    assert outcome.messages[-1:] == (({"raised": "OSError", "errno": 28}, 34),) or outcome.ended == "flood"
    assert left == []


REFUSED = (
    *("ptrace", "process_vm_readv", "perf_event_open", "bpf", "keyctl", "userfaultfd", "io_uring_setup", "shmget"),
    *("memfd_create", "mount", "setns", "kexec_load", "clone3"),
)


@pytest.mark.parametrize("call", REFUSED)
def test_the_filter_refuses_with_an_error_and_kills_nothing(isolated, call):
    if isolated.filter is None:
        pytest.skip(f"{isolated.name} has no filter here")
    import pyseccomp

    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
    body = "value = libc.syscall(job['number'], 0, 0, 0, 0, 0, 0)\nreturn [value, ctypes.get_errno()]"
    assert said_inside(isolated, body, number=number) == {
        "said": [-1, errno.ENOSYS if call == "clone3" else errno.EPERM]
    }


def test_there_is_no_memory_that_outlives_its_processes(isolated):
    kernel = tuple(int(part) for part in os.uname().release.split(".")[:2])
    if isolated.filter is None and (isolated.name == "bubblewrap" or kernel < (6, 9)):
        pytest.skip("without a filter it is left open, but by a younger kernel's namespaces")
    body = "return [libc.shmget(0, 4096, 0o1600), libc.msgget(0, 0o1600)]"
    assert said_inside(isolated, body) == {"said": [-1, -1]}


@pytest.mark.parametrize("flag", filters._NAMESPACES)
def test_clone_starts_no_namespace(isolated, flag):
    import pyseccomp

    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "clone")
    body = "value = libc.syscall(job['number'], job['flag'] | 17, 0, 0, 0, 0)\nif value == 0: os._exit(0)\nreturn value"
    assert said_inside(isolated, body, number=number, flag=flag) == {"said": -1}


GRADER = """
import sys
from dataclasses import replace
from voirdire.grading.sandbox.backends import find_sandbox
sandbox = find_sandbox(sys.argv[1])
program = '''
import json, os, sys, threading
job = sys.stdin.readline()
print('{"ready": true}', flush=True)
try:
    if os.fork() == 0:
        os.setsid()
except OSError:
    pass
threading.Thread(target=threading.Event().wait).start()
print('{"ask": 1}', flush=True)
threading.Event().wait()
'''
replace(sandbox, command=(*sandbox.command[:-1], program)).talk({}, lambda message: print("asleep", flush=True))
"""


def descent(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children] + [one for child in children for one in descent(child)]


@pytest.fixture
def littered():
    """The environment of a grader that is killed, with a place for the scratch folders that it leaves, open to all."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield {**os.environ, "TMPDIR": folder}


def test_nothing_outlives_a_grader_that_is_killed(isolated, littered):
    command = [sys.executable, "-c", GRADER, isolated.name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=littered) as grader, ExitStack() as stack:
        assert grader.stdout.readline() == b"asleep\n"
        watched = [os.pidfd_open(pid) for pid in descent(grader.pid)]
        for descriptor in watched:
            stack.callback(os.close, descriptor)
        assert watched
        grader.send_signal(signal.SIGKILL)
        for descriptor in watched:
            assert select.select([descriptor], [], [], 30)[0], "a process of the sandbox lives on"


BUSY_GRADER = """
import sys, threading
from dataclasses import replace
from voirdire.grading.sandbox.backends import find_sandbox
from voirdire.grading.sandbox.limits import Limits
sandbox = find_sandbox(sys.argv[1])
program = f'''
import sys, threading
{sys.argv[2]} = sys.stdin.readline() or sys.exit(1)
threading.Event().wait()
'''
sandbox = replace(sandbox, command=(*sandbox.command[:-1], program), limits=Limits(wall_s=.15))
def grade():
    while True: sandbox.run({})
for _ in range(2): threading.Thread(target=grade).start()
print("busy", flush=True)
"""


def processes_of(mark):
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "cmdline").read_bytes():
                found.append(process.name)
    return found


@pytest.mark.slow
def test_nothing_outlives_a_grader_that_is_killed_at_any_moment(isolated, littered):
    mark, pause = "kept_" + secrets.token_hex(8), threading.Event()
    for number in range(40):
        command = [sys.executable, "-c", BUSY_GRADER, isolated.name, mark]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=littered) as grader:
            assert grader.stdout.readline() == b"busy\n"
            pause.wait(number / 100)
            grader.kill()
    deadline = time.monotonic() + 20
    while (left := processes_of(mark.encode())) and time.monotonic() < deadline:
        pause.wait(0.1)
    assert left == []


def test_the_probe_finds_what_no_isolation_leaves_open():
    found = probe.fault(backends.find_sandbox("unsafe"))
    for fault in ("network is open", "sockets are open", "be read", "be written", "be seen", "be reached"):
        assert fault in found
    assert ("as root" in found) == (os.geteuid() == 0)


WEAKENED = {
    "the network is open, the host's sockets are open": ["--share-net"],
    "files of the host can be read": ["--ro-bind", tempfile.gettempdir(), tempfile.gettempdir()],
    "files of the host can be read, files of the host can be written": ["--bind", "/", "/"],
    "the host's environment is seen": ["--setenv", "SECRET", "x"],
    "the program would run as root": ["--uid", "0"],
}


@pytest.fixture
def bubblewrapped():
    try:
        return backends.find_sandbox("bubblewrap")
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("found", WEAKENED)
def test_a_sandbox_that_leaves_something_open_is_found_out(bubblewrapped, found):
    sandbox = bubblewrapped
    # The options end where Python's path and its four arguments begin.
    at = len(sandbox.command) - 5
    weaker = replace(sandbox, command=(*sandbox.command[:at], *WEAKENED[found], *sandbox.command[at:]))
    assert probe.fault(weaker) == found


def test_a_sandbox_within_which_others_can_be_started_is_found_out(bubblewrapped):
    command = list(bubblewrapped.command)
    command.remove("--disable-userns")
    if "--seccomp" in command:
        del command[(at := command.index("--seccomp")) : at + 2]
    assert probe.fault(replace(bubblewrapped, command=tuple(command))) == "further namespaces can be started"


def test_a_python_that_is_too_old_is_found_out(isolated, monkeypatch):
    monkeypatch.setattr(probe, "_OLDEST", (99, 1))
    assert re.fullmatch(r"its Python is 3\.\d+, and 99\.1 is the oldest that will do", probe.fault(isolated))


@pytest.mark.parametrize(
    ("runner", "said"),
    [
        ("", "it runs no program (exit)"),
        ("import nowhere", "it runs no program (exit) Traceback"),
        ("""import os; os.write(1, b'{"ready": true}\\n')""", "it runs no program (exit)"),
    ],
)
def test_a_runner_that_does_not_work_is_found_out(isolated, runner, said):
    found = probe.fault(replace(isolated, command=(*isolated.command[:-1], runner)))
    assert found.startswith(said)


REFUSING = """
import pyseccomp
from voirdire.grading.sandbox.backends import find_sandbox
from voirdire.grading.sandbox import filters
filters._refused(()).load()
print(find_sandbox().name)
"""


def test_where_namespaces_are_refused_landlock_isolates():
    try:
        backends.find_sandbox("landlock")
    except UserError as error:
        pytest.skip(str(error))
    # Itself refused what it refuses to others, as in many a container.
    done = subprocess.run([sys.executable, "-c", REFUSING], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("landlock\n", "")


@pytest.fixture
def fresh():
    """Nothing probed, before and after."""
    backends._probed.cache_clear()
    yield
    backends._probed.cache_clear()


def works(name):
    return lambda source: iter([replace(backends.find_sandbox("unsafe"), name=name)])


def missing(source):
    raise FileNotFoundError("not found (`pip install it`)")
    yield


def test_the_strongest_that_works_is_chosen_and_probed_once(fresh, monkeypatch):
    probed = []

    def fault(sandbox):
        probed.append(sandbox.name)
        return "the network is open" if sandbox.name == "bubblewrap" else None

    monkeypatch.setattr(backends, "fault", fault)
    monkeypatch.setattr(backends, "BACKENDS", {name: works(name) for name in NAMES})
    assert [backends.find_sandbox().name for _ in range(3)] == ["unshare"] * 3
    assert probed == ["bubblewrap", "unshare"]
    assert backends.find_sandbox("landlock").name == "landlock"
    with pytest.raises(UserError, match="bubblewrap: the network is open"):
        backends.find_sandbox("bubblewrap")


def test_a_python_that_works_is_taken_where_the_first_does_not(fresh, monkeypatch):
    good = backends.find_sandbox()
    bad = replace(good, command=(*good.command[:-1], "raise SystemExit"))
    backends._probed.cache_clear()
    monkeypatch.setattr(backends, "BACKENDS", {"bubblewrap": lambda source: iter([bad, good])})
    assert backends.find_sandbox() is good


def test_where_nothing_isolates_it_says_why_and_what_to_do(fresh, monkeypatch):
    monkeypatch.setattr(backends, "fault", lambda sandbox: "the network is open")
    monkeypatch.setattr(backends, "BACKENDS", {"bubblewrap": missing, "unshare": works("unshare"), "landlock": missing})
    with pytest.raises(UserError) as error:
        backends.find_sandbox()
    (text,) = error.value.faults
    assert text.startswith("sandbox: untrusted code cannot be isolated here; `pip install")
    assert "set sandbox: unsafe" in text
    assert "bubblewrap: not found (`pip install it`); unshare: the network is open; landlock: not found" in text
    assert "\n" not in text


def test_there_is_one_hint_of_what_to_install(fresh, monkeypatch):
    monkeypatch.setattr(bubblewrap, "_program", lambda: None)
    monkeypatch.setattr(landlock, "on_the_host", lambda: None)
    monkeypatch.setattr(backends, "fault", lambda sandbox: "the network is open")
    with pytest.raises(UserError) as error:
        backends.find_sandbox()
    assert error.value.faults[0].count("pip install") == 1


def test_unsafe_is_never_chosen_by_itself():
    assert backends.find_sandbox("unsafe").name == "unsafe"
    assert "unsafe" not in backends.BACKENDS


@pytest.fixture
def without(monkeypatch):
    """Forget a library, as where it was never installed."""

    def forget(name):
        monkeypatch.setitem(sys.modules, name, None)
        for made in (filters.within_namespaces, filters.on_the_host):
            made.cache_clear()

    yield forget
    for made in (filters.within_namespaces, filters.on_the_host):
        made.cache_clear()


@pytest.mark.usefixtures("bubblewrapped")
def test_bubblewrap_isolates_without_libseccomp_too(without):
    without("pyseccomp")
    sandbox = next(bubblewrap.sandboxes(runner_source()))
    assert "--seccomp" not in sandbox.command
    assert probe.fault(sandbox) is None


def test_a_filter_that_lets_signals_be_sent_is_found_out(without, monkeypatch):
    try:
        backends.find_sandbox("landlock")
    except UserError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(filters, "_FCNTLS", ())
    filters.on_the_host.cache_clear()
    assert probe.fault(next(landlock.sandboxes(runner_source()))) == "processes of the host can be reached"


def test_landlock_is_not_there_without_its_libraries(without, monkeypatch):
    without("pyseccomp")
    with pytest.raises(FileNotFoundError, match="libseccomp2"):
        next(landlock.sandboxes(""))
    monkeypatch.setattr(landlock.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="py_landlock not found"):
        next(landlock.sandboxes(""))


def test_unshare_names_the_program_that_is_missing(monkeypatch):
    monkeypatch.setattr(unshare, "_PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match="without setpriv, unshare"):
        next(unshare.sandboxes(""))


def test_root_becomes_nobody(isolated):
    if os.geteuid() != 0:
        pytest.skip("not root")
    assert isolated.user == NOBODY
    assert said_inside(isolated, "return [os.getresuid(), os.getresgid(), os.getgroups()]") == {
        "said": [[NOBODY] * 3, [NOBODY] * 3, []]
    }
