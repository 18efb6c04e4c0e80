"""Filters of system calls (seccomp), made with libseccomp and handed over as bytes; None where it is not installed.

They refuse with an error and kill nothing that Python or a program in it does by itself. What they refuse is what
reaches other processes, what holds memory that no process's size shows, and parts of the kernel that a solution to an
exercise never needs and in which most of its holes were found.
"""

import errno
import functools
import os
import tempfile
from collections.abc import Iterable
from typing import Any

_OTHER_PROCESSES = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp"),
    # Priorities: a program that steps back could wait for ever on a busy machine, which is no fault of its own.
    *("setpriority", "ioprio_set", "sched_setattr", "sched_setparam", "sched_setscheduler"),
    *("migrate_pages", "move_pages", "mbind", "set_mempolicy", "set_mempolicy_home_node"),
)
_HIDDEN_MEMORY = (
    *("memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "shmdt"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semctl", "semtimedop", "mq_open", "mq_unlink"),
)
_KERNEL = (
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("add_key", "keyctl", "request_key", "syslog", "acct", "quotactl", "quotactl_fd", "lookup_dcookie"),
    *("mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "unshare", "setns", "fanotify_init", "name_to_handle_at"),
    *("open_by_handle_at", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module"),
    *("finit_module", "delete_module", "iopl", "ioperm", "modify_ldt", "vhangup", "uselib", "ustat", "sysfs"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"),
)
_NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
_THREAD = 0x10000
# TIOCSTI types into a terminal; FIOSETOWN and SIOCSPGRP say whom a descriptor's signals go to, any the program chose.
_IOCTLS = (0x5412, 0x8901, 0x8902)
# The same for a pipe: F_SETOWN, F_SETSIG, F_SETOWN_EX.
_FCNTLS = (8, 10, 15)
# Sockets in pairs that take an address after all.
_NOT_STREAMS = (2, 3, 4, 5)

# For a program that shares the host's processes, network and user.
_OTHER_PROGRAMS = (
    *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal", "pidfd_open"),
    *("fork", "vfork", "setsid", "setpgid", "inotify_init", "inotify_init1", "inotify_add_watch"),
    *("socket", "connect", "bind", "listen", "accept", "accept4", "sendmsg", "sendmmsg"),
)
_ATTRIBUTES_OF_FILES = (
    *("truncate", "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "utimensat", "futimesat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
# clone3 and openat2, by their numbers, which are the same on every architecture: younger than many a libseccomp.
_OPAQUE = (435, 437)
# fchmodat2, setxattrat, removexattrat, file_setattr: younger still.
_ATTRIBUTES_BY_NUMBER = (452, 463, 466, 469)


@functools.cache
def within_namespaces() -> bytes | None:
    """The filter for a program in namespaces of its own."""
    return _exported(_refused(()))


@functools.cache
def on_the_host() -> bytes | None:
    """The filter for a program that shares the host's processes and network: no socket, process or signal at all."""
    return _exported(_refused((*_OTHER_PROGRAMS, *_ATTRIBUTES_OF_FILES, *_ATTRIBUTES_BY_NUMBER), alone=True))


def _refused(more: Iterable[str | int], alone: bool = False) -> Any:
    try:
        # ctypes finds libseccomp when this is imported.
        import pyseccomp
    except (ImportError, OSError, RuntimeError):
        return None
    refused = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    no = pyseccomp.ERRNO(errno.EPERM)

    def refuse(call: str | int, *arguments: tuple[int, int, int, int]) -> None:
        try:
            refused.add_rule(no, call, *(pyseccomp.Arg(*one) for one in arguments))
        except OSError:
            # A call that this architecture or this libseccomp doesn't know.
            return

    for call in (*_OTHER_PROCESSES, *_HIDDEN_MEMORY, *_KERNEL, *more):
        refuse(call)
    for flag in _NAMESPACES:
        refuse("clone", (0, pyseccomp.MASKED_EQ, flag, flag))
    for call, commands in (("ioctl", _IOCTLS), ("fcntl", _FCNTLS), ("fcntl64", _FCNTLS)):
        for command in commands:
            refuse(call, (1, pyseccomp.MASKED_EQ, 0xFFFFFFFF, command))
    # A filter cannot see their arguments; where there are no such calls, the C library takes the older ones.
    for number in _OPAQUE:
        refused.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    if alone:
        refuse("clone", (0, pyseccomp.MASKED_EQ, _THREAD, 0))
        # A kernel before 6.2 lets what may only be read be emptied.
        for call, at in (("open", 1), ("openat", 2)):
            refuse(call, (at, pyseccomp.MASKED_EQ, os.O_TRUNC | os.O_ACCMODE, os.O_TRUNC | os.O_RDONLY))
        refuse("prlimit64", (0, pyseccomp.NE, 0, 0))
        refuse("sched_setaffinity", (0, pyseccomp.NE, 0, 0))
        refuse("sendto", (4, pyseccomp.NE, 0, 0))
        for kind in _NOT_STREAMS:
            refuse("socketpair", (1, pyseccomp.MASKED_EQ, 0xF, kind))
    return refused


def _exported(refused: Any) -> bytes | None:
    if refused is None:
        return None
    with tempfile.TemporaryFile() as file:
        refused.export_bpf(file)
        file.seek(0)
        return file.read()
