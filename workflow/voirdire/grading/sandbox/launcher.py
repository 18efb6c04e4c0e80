"""Restricts itself, for good, and then becomes another program: `launcher.py PACKAGES USER FILTER READABLE …`.

PACKAGES is where py_landlock is; USER whom to become (0: stay); FILTER a descriptor with a seccomp program; READABLE
folders that may be read, by colons; the rest the program. The folder in which it starts is the one that may be written
to. It ends with the process that started it.
"""

import ctypes
import importlib
import os
import signal
import sys
import types

_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_SET_PARENT_DEATH_SIGNAL, _SET_SECCOMP, _FILTER = 1, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _control(option: int, *arguments: object) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, *arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")


def _restrict_files(readable: list[str], landlock: types.ModuleType) -> None:
    access = landlock.AccessFs
    # What the kernel doesn't know yet is left out; the seccomp filter stands for the network and for signals.
    rules = landlock.Landlock(strict=False)
    rules.add_path_rule(*readable, access=access.READ_FILE | access.READ_DIR | access.EXECUTE)
    # No folders: what is in it is counted from outside, file by file.
    write = access.READ_FILE | access.WRITE_FILE | access.TRUNCATE
    rules.add_path_rule(".", access=write | access.READ_DIR | access.MAKE_REG | access.REMOVE_FILE)
    devices = [name for name in _DEVICES if os.path.exists(name)]
    rules.add_path_rule(*devices, access=access.READ_FILE | access.WRITE_FILE)
    rules.apply()


def main() -> None:
    packages, user, descriptor, readable, *program = sys.argv[1:]
    # Last: nothing there stands before Python's own.
    sys.path.append(packages)
    # Now: who it becomes may not be able to read it.
    landlock = importlib.import_module("py_landlock")
    with open(int(descriptor), "rb") as file:
        code = file.read()
    if int(user):
        os.setgroups([])
        os.setresgid(int(user), int(user), int(user))
        os.setresuid(int(user), int(user), int(user))
    _control(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL.value, 0, 0, 0)
    _restrict_files(readable.split(":"), landlock)
    _control(_SET_SECCOMP, _FILTER, ctypes.byref(_Program(len(code) // 8, code)), 0, 0)
    os.execv(program[0], program)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
