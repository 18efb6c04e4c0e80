"""Isolation by util-linux's unshare, setpriv, mount and pivot_root: what bubblewrap does, by a script.

The same namespaces, the same view of files, the same memory-backed /tmp, no capability and no further namespace. Not
there: the filter of system calls, so that the kernel's rarer parts can be reached, and a name of its own for the
machine. System V shared memory and queues, which no process's size shows, are closed off where the kernel lets a
namespace do so (6.9); memory in anonymous files is bounded by the limits on a file's size and on descriptors.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from voirdire.grading.sandbox.pythons import (
    NOBODY,
    SCRATCH_BYTES,
    SCRATCH_FILES,
    becoming_nobody,
    beside_usr,
    links_to_usr,
    pythons,
    user,
)
from voirdire.grading.sandbox.sandbox import Sandbox

_PROGRAMS = ("setpriv", "unshare", "sh", "mount", "umount", "pivot_root", "mkdir", "ln", "rmdir")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_DEVICES = ("null", "zero", "urandom")
# /sys is in the way of nothing that is mounted from the host, and there on every Linux. The shell stays, as the first
# process of its namespace, which ends all others and takes up the dead; a user namespace within that one has neither
# its capabilities nor, by the limit, a successor.
_SCRIPT = """\
set -e
prefix=$1
shift
mount -t tmpfs -o mode=755,size=1m,nosuid,nodev sandbox /sys
cd /sys
mkdir usr proc dev dev/shm tmp old
{links}
mount -o bind,ro /usr usr
mount -t proc -o nosuid,nodev,noexec proc proc
echo 1 > proc/sys/user/max_user_namespaces
for name in shmall msgmni; do echo 0 > proc/sys/kernel/$name || :; done 2> /dev/null
for name in {devices}; do : > dev/$name; mount --bind /dev/$name dev/$name; done
small=size={scratch},nr_inodes={files}
for name in dev/shm tmp; do mount -t tmpfs -o mode=1777,$small,nosuid,nodev sandbox $name; done
if [ "$prefix" ]; then mkdir -p ".$prefix"; mount -o bind,ro "$prefix" ".$prefix"; fi
{pivot_root} . old
umount -l old
rmdir old
mount -o remount,bind,ro /
cd /tmp
unset PWD OLDPWD
unshare --user --map-user={nobody} --map-group={nobody} -- "$@"
exit $?
"""


def sandboxes(source: str) -> Iterator[Sandbox]:
    """A sandbox for each Python that could run `source`, best first.

    Raises FileNotFoundError where a program that it takes is missing.
    """
    missing = [name for name in _PROGRAMS if not shutil.which(name, path=_PATH)]
    if missing:
        raise FileNotFoundError(f"without {', '.join(missing)} (Debian: `apt-get install util-linux mount`)")
    become = becoming_nobody()
    for python, prefix in pythons():
        own = "" if Path(prefix).is_relative_to("/usr") else prefix
        command = (*become, *_command(own, (python, "-s", "-S", "-c", source)))
        yield Sandbox("unshare", command, user(), drops=bool(become))


def _command(prefix: str, program: tuple[str, ...]) -> tuple[str, ...]:
    links = [f"ln -s {target} {name[1:]}" for target, name in links_to_usr()]
    links += [f"mkdir {name[1:]}; mount -o bind,ro {name} {name[1:]}" for name in beside_usr()]
    script = _SCRIPT.format(
        links="\n".join(links),
        devices=" ".join(name for name in _DEVICES if os.path.exists(f"/dev/{name}")),
        scratch=SCRATCH_BYTES,
        files=SCRATCH_FILES,
        nobody=NOBODY,
        pivot_root=shutil.which("pivot_root", path=_PATH),
    )
    return (
        *(str(shutil.which("setpriv", path=_PATH)), "--pdeathsig", "KILL", "--no-new-privs", "--"),
        *("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"),
        *("--fork", "--kill-child", "--", "sh", "-c", script, "sandbox", prefix, *program),
    )
