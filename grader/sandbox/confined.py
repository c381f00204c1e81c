# SPDX-License-Identifier: MIT
"""The sandbox for systems without bubblewrap: Landlock, a filter of system calls, and limits.

Run as a program it confines another one: python3 -I confined.py JSON COMMAND...
It stays as the parent of all that the command starts, and leaves nothing of that behind.
"""

import contextlib
import ctypes
import json
import os
import pwd
import resource
import shutil
import signal
import struct
import sys

# Run alone, it knows its own folder only.
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from grader.sandbox.kernel_limits import LIBC, checked, filter_program, restrict_files
from grader.sandbox.process_trees import kill_all

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_SECUREBITS = 1, 22, 28
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
SECURE_BITS = 0b1111  # that being root gives nothing, and that this stays so
CAP_DAC_READ_SEARCH = 2
FIRST_USER = 1 << 30  # far above those that a system has
SECCOMP_MODE_FILTER = 2
NOT_STARTED = 126  # the exit code if the command could not be confined or started
BEGUN = '"exit-code"'  # as bubblewrap says it


def words(command, access, limits, told, is_restricted):
    """The command that runs `command` with these limits and, if that is asked for, restricted.

    It writes BEGUN to the descriptor `told` when it has come so far that `command` begins.
    """
    facts = {
        "work": str(access.work),
        "readable": list(map(str, access.readable)),
        "gpu": access.gpu,
        "may_change_modes": access.may_change_modes,
        "files": limits.files,
        "processes": limits.processes,
        "told": told,
        "restricted": is_restricted,
    }
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), json.dumps(facts), *command]


def _filter_calls(facts):
    program = filter_program(os.getpid(), facts["may_change_modes"], facts["gpu"])
    buffer = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    checked(
        LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, whole, 0, 0), "the filter of system calls"
    )


def _become(user, is_restricted):
    """From root to a user that no other process has. Root itself can't be kept from starting processes.

    With Landlock, which says what may be read, the user keeps root's right to look into closed folders, if
    root has it, as it has not in most containers. Else the user sees what all users can see.
    """
    # Without this the kernel takes all rights away when the user changes, which is as well.
    LIBC.prctl(PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    kept = 1 << CAP_DAC_READ_SEARCH
    header = struct.pack("=Ii", 0x20080522, 0)
    if is_restricted and LIBC.capset(header, struct.pack("=6I", kept, kept, kept, 0, 0, 0)) == 0:
        checked(LIBC.prctl(PR_CAP_AMBIENT, 2, CAP_DAC_READ_SEARCH, 0, 0), "rights of root")
    else:
        checked(LIBC.capset(header, bytes(24)), "rights of root")


def _user_of_its_own():
    """The number of a user that has no other process, for the processes below this one."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    wanted = FIRST_USER + os.getpid()
    if any(first <= wanted < first + count for first, _, count in ranges):
        return wanted
    # In a container that has some 65,000 users only.
    first, _, count = max(ranges, key=lambda each: each[2])
    return free_user(first, count)


def free_user(first, count):
    """Of `count` users from `first` on, one that has no name and no process: all processes of the user
    are ended in the end, and its files could be written. `first` itself if there is no other."""
    busy = set()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit():
                busy.add(os.stat(f"/proc/{name}").st_uid)
    for step in range(count - 1):
        user = first + 1 + (os.getpid() + step) % (count - 1)
        if user not in busy and not _has_name(user):
            return user
    return first


def _has_name(user):
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _own_processes():
    """How many threads the user has already."""
    found = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                found += len(os.listdir(f"/proc/{name}/task"))
    return found


def _kill_everything(user, reap):
    """At once what belongs to that user alone, and then whatever else is below this process."""
    if user:
        child = os.fork()
        if child == 0:
            os.setresuid(user, user, user)
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            os._exit(0)
    kill_all(os.getpid(), reap)


def _confine(facts, user):
    processes = facts["processes"] if user else _own_processes() + facts["processes"]
    os.chdir(facts["work"])
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, facts["files"]),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_NPROC, processes),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    if user:
        _become(user, facts["restricted"])
    checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new rights")
    if facts["restricted"]:
        restrict_files(facts)
    _filter_calls(facts)


def main(arguments):
    facts, command = json.loads(arguments[0]), arguments[1:]
    user = _user_of_its_own() if os.geteuid() == 0 else 0
    os.umask(0o022)  # what is compiled here is run by another user
    if user:
        os.chown(facts["work"], user, user)
        for folder, folders, files in os.walk(facts["work"]):
            for name in [*folders, *files]:
                os.lchown(os.path.join(folder, name), user, user)
    checked(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "the parent of all")
    checked(LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "the parent's end")
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            _confine(facts, user)
            os.set_inheritable(facts["told"], False)
            program = shutil.which(command[0])
            if program:
                os.write(facts["told"], BEGUN.encode())
            os.execv(program or command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)

    def reap():
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def end(*_):
        _kill_everything(user, reap)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    while True:
        ended, status = os.wait()
        if ended == child:
            break
    _kill_everything(user, reap)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
