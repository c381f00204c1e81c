# SPDX-License-Identifier: MIT
"""Runs a program that is not trusted: it sees what it needs, writes into one folder, and ends in time.

Bubblewrap gives it a file system, a network and processes of its own. Where the system refuses that,
Landlock restricts what it may open (confined.py). `NONE` has the limits alone.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

from engine.command.errors import CommandError
from grader.judging.runner import Limits
from grader.paths import ROOT
from grader.sandbox import confined
from grader.sandbox.kernel_limits import (
    SYSTEM,
    filter_is_known,
    filter_program,
    landlock_version,
    same_addresses,
)
from grader.sandbox.sandboxed_run import Access, SandboxFailed, Stopped, Watch

PREFIX = "lab-sandbox-"
YOUNG = (
    3600  # seconds: until it is locked, a new folder looks like one that no process has any more
)
BUBBLEWRAP, LANDLOCK, NONE = "bubblewrap", "landlock", "none"
KINDS = (BUBBLEWRAP, LANDLOCK, NONE)
# For a GPU: in some containers the first leads to the driver; the other says which GPU a job has got.
OF_A_GPU = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
PATH = "/usr/local/bin:/usr/bin:/bin"
MOST_TOLD = 1 << 16  # bytes
SMALL = 16 << 20  # bytes of /tmp and /dev/shm
# Bytes of the disk: what a compiler writes for one file, several times over, and what must then be left.
FREE_BEFORE, FREE_AFTER = 32 << 20, 1 << 20


@contextlib.contextmanager
def sandbox_folder():
    """An empty folder, which is gone afterwards. Others can't list it and may pass through: if the
    grader is root, each program runs as another user. Removes folders that killed graders have left."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as made, contextlib.ExitStack() as locks:
        with contextlib.suppress(OSError):  # without locks it is never taken for an abandoned one
            locks.enter_context(_locked(made))
        folder = pathlib.Path(made).resolve()
        folder.chmod(0o711)
        yield folder


def _remove_abandoned():
    for path in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Another process removes it, or its file system has no locks.
        with contextlib.suppress(OSError):
            state = path.lstat()
            is_own = stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid()
            if is_own and time.time() - state.st_mtime > YOUNG:
                with _locked(path):
                    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _locked(path):
    """The lock ends with this process, however that ends. Raises OSError if another one has it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


class Sandbox:
    """One kind of sandbox, in which several threads may run programs at once."""

    def __init__(self, kind):
        self.kind = kind
        self.stopped = threading.Event()

    def stop(self):
        """Ends what runs, and lets nothing start any more."""
        self.stopped.set()

    folder = staticmethod(sandbox_folder)

    def run(self, command, access, environment=None, limits=None, given=None):
        """Runs the command to its end, or to that of its time. Raises Stopped, and SandboxFailed if there is
        no room for what it writes, or none any more: then how it ended says nothing.

        If some bytes are `given`, they are what it finds in its standard input, and what it writes there is
        the run's report.
        """
        limits = limits or Limits()
        self._require_room(access.work)
        variables = {
            "PATH": PATH,
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(access.work),
            "HOME": str(access.work),
            **(environment or {}),
        }
        if access.gpu:
            variables.update({name: os.environ[name] for name in OF_A_GPU if name in os.environ})
        reading, writing = os.pipe()  # for the sandbox, to say that the program has begun
        inbox, stdin = _filled_pair(given)
        filtering = _filter_to_read(access) if self.kind == BUBBLEWRAP else None
        passed = (writing,) if filtering is None else (writing, filtering)
        try:
            words = self._words(list(map(str, command)), access, limits, variables, *passed)
            process = self._started(words, variables, passed, stdin)
        except BaseException:
            os.close(reading)
            _close(inbox)
            raise
        finally:
            _close(stdin)
            for descriptor in passed:
                os.close(descriptor)
        with open(reading, "rb", buffering=0) as told, inbox or contextlib.nullcontext():
            os.set_blocking(reading, False)
            dies_with_its_parent = self.kind == BUBBLEWRAP
            watch = Watch(process, access.work, limits, self.stopped, dies_with_its_parent, inbox)
            run = watch.result()
            is_told = confined.BEGUN.encode() in (told.read(MOST_TOLD) or b"")
        if is_told and free_bytes(access.work) < FREE_AFTER:
            raise SandboxFailed(f"the disk is full: no room is left in {access.work}")
        return run if is_told or run.limit else run._replace(has_begun=False)

    @staticmethod
    def _require_room(folder):
        """A compiler that fails for lack of room removes what it wrote, so afterwards nothing shows."""
        try:
            free = free_bytes(folder)
        except FileNotFoundError:
            return  # the sandbox says so itself
        if free < FREE_BEFORE:
            raise SandboxFailed(
                f"this machine has {free >> 20} MiB left for temporary files, and each run needs "
                f"{FREE_BEFORE >> 20} MiB: free some, or set TMPDIR to a folder with more room"
            )

    def _started(self, words, variables, passed, stdin):
        if self.stopped.is_set():
            raise Stopped
        try:
            with same_addresses():
                return subprocess.Popen(
                    words,
                    env=variables,
                    stdin=stdin or subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=passed,
                )
        except OSError as error:
            raise CommandError(f"{words[0]} could not be started: {error.strerror}.") from error

    def _words(self, command, access, limits, variables, told, filtering=None):
        if self.kind == BUBBLEWRAP:
            # Bubblewrap tells the exit code only if there was a program to end with it.
            words = [*bubblewrap_words(access, variables, told, filtering), *prlimit_words(limits)]
            return [*words, *command]
        return confined.words(command, access, limits, told, is_restricted=self.kind == LANDLOCK)


def _filled_pair(given):
    """Two sockets: ours, and a program's standard input, in which it finds these bytes and nothing after
    them. (None, None) if nothing is given."""
    if given is None:
        return None, None
    ours, theirs = socket.socketpair()
    try:
        ours.setblocking(False)
        ours.sendall(given)  # far less than what the kernel keeps for them
        ours.shutdown(socket.SHUT_WR)
    except BaseException:
        _close(ours)
        _close(theirs)
        raise
    return ours, theirs


def _close(end):
    if end:
        end.close()


def _filter_to_read(access):
    """A descriptor from which the filter of system calls can be read. Namespaces alone leave open what is
    no file and no process: keys, memory without a name, the kernel's newest calls."""
    reading, writing = os.pipe()
    try:
        # A pipe holds far more than the filter has.
        os.write(writing, filter_program(None, access.may_change_modes, access.gpu))
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return reading


def bubblewrap_words(access, variables, told, filtering):
    """The command that runs what follows it with a file system of its own and the filter that can be read
    from the descriptor `filtering`, and tells the descriptor `told` how that went."""
    words = [
        "bwrap", "--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent",
        "--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev",
        "--json-status-fd", str(told), "--seccomp", str(filtering),
        "--size", str(SMALL), "--tmpfs", "/dev/shm", "--size", str(SMALL), "--tmpfs", "/tmp",
    ]  # fmt: skip
    for name, value in variables.items():
        words += ["--setenv", name, value]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            words += ["--ro-bind", path, path]
    if access.gpu:
        for node in nvidia_nodes():
            words += ["--dev-bind", node, node]
        words += ["--ro-bind", "/sys", "/sys"]
    words += ["--remount-ro", "/dev"]
    for path in access.readable:
        words += ["--ro-bind", str(path), str(path)]
    here = str(access.work)
    return [
        *words,
        "--bind",
        here,
        here,
        "--dir",
        os.getcwd(),
        "--remount-ro",
        "/",
        "--chdir",
        here,
        "--",
    ]


def prlimit_words(limits):
    return [
        "prlimit", "--core=0", f"--fsize={limits.files}", f"--nproc={limits.processes}",
        "--nofile=256", "--",
    ]  # fmt: skip


def nvidia_nodes():
    nodes = sorted(str(path) for path in pathlib.Path("/dev").glob("nvidia*"))
    return [node for node in nodes if not os.path.isdir(node)]


def free_bytes(folder):
    """How much can still be written there."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def place_open_to_all(path):
    """The folder of the system that the path is in and that each kind of sandbox lets programs read, or
    None."""
    path = pathlib.Path(path).resolve()
    for place in SYSTEM:
        found = pathlib.Path(place).resolve()
        if found in (path, *path.parents):
            return place
    return None


def works(kind):
    """Whether this kind of sandbox can be had here, and lets the course's headers be read."""
    if kind == BUBBLEWRAP and not (shutil.which("bwrap") and shutil.which("prlimit")):
        return False
    if kind == LANDLOCK and landlock_version() < 1:
        return False
    if not filter_is_known():
        return False
    run = _trial(kind)
    return run.code == 0 and run.has_begun


def _trial(kind):
    headers = ROOT / "engine"
    with Sandbox.folder() as folder:
        return Sandbox(kind).run(["ls", headers], Access(folder, (headers,)))


def strongest_sandbox(is_required=False):
    """The strongest one that works here. Raises CommandError if one is required and there is only NONE, or
    if not even that runs a program."""
    try:
        kind = next((kind for kind in KINDS if works(kind)), None)
    except SandboxFailed as problem:
        raise CommandError(f"{problem}.") from problem
    if kind is None:
        said = " ".join(_trial(NONE).output.split())
        raise CommandError(
            f"what students wrote can't be run here ({said}). If you are root, either grade as an "
            "ordinary user, or put the course where all users can read it."
        )
    if kind == NONE and is_required:
        raise CommandError(
            "--require-sandbox: neither bubblewrap nor Landlock works here; "
            "docs/grading-security.md says what to do."
        )
    return Sandbox(kind)


def interpreter():
    """A Python that every sandbox can see, and what else it needs to be readable."""
    system = "/usr/bin/python3"
    if os.path.exists(system):
        return system, ()
    return sys.executable, (sys.base_prefix, sys.prefix)
