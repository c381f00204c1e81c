# SPDX-License-Identifier: MIT
"""One run of a program that is not trusted: what it may use, what it may see and how it ended."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import time
from typing import NamedTuple, Optional

from grader.judging.runner import FILES, MEMORY, MOST_REPORT, OUTPUT, PROCESSES, TIME, Run
from grader.sandbox.process_trees import kill_all, memory_of, tree_of

SECONDS_BETWEEN_LOOKS = 0.02
# By the clock a program may take so many times its seconds of a processor: it may have to share one with
# others, and the verdict must not depend on them. This ends those that sleep or wait.
PATIENCE = 6
SECONDS_TO_END = 20  # that the supervisor of confined.py gets to end all the others
AT_ONCE = 1 << 16  # bytes of output that are read


class Access(NamedTuple):
    """What a program may see."""

    work: pathlib.Path  # the one folder that it may write into, and begins in
    readable: tuple = ()  # files and folders besides those of the system
    gpu: bool = False
    may_change_modes: bool = False  # as the linker does, which makes programs executable


class SandboxedRun(NamedTuple):
    """How a program ended."""

    code: Optional[int]  # None if a signal or a limit ended it
    signal: Optional[int]
    limit: Optional[str]  # the limit that ended it
    output: str  # all of it, unless it reached the limit of output
    has_begun: bool = True  # False if the sandbox itself failed, and the output is its own
    report: bytes = b""  # what it has written into its standard input
    seconds: float = 0.0  # of processors, or a PATIENCE-th of those of the clock if these are more

    @property
    def as_run(self):
        """The same, as the judge knows it."""
        if self.limit == TIME:
            return Run(None, self.output, TIME, report=self.report)
        code = -(self.signal or signal.SIGKILL) if self.code is None else self.code
        return Run(code, self.output, self.limit, report=self.report)


class Stopped(Exception):
    """The sandbox was stopped, by Ctrl-C, while a program was in it or was to be started."""


class SandboxFailed(Exception):
    """The sandbox could not start a program, or had no room for it: nothing is known of it."""


class Watch:
    """Reads what a program prints and what comes to `inbox`, if there is one, and ends it at its limits."""

    def __init__(self, process, work, limits, stopped, dies_with_its_parent, inbox=None):
        self.process, self.work, self.limits = process, work, limits
        self.stopped, self.dies_with_its_parent = stopped, dies_with_its_parent
        self.inbox = inbox  # a socket that never waits
        self.printed, self.reported = bytearray(), bytearray()
        self.start, self.seconds = time.monotonic(), 0.0  # of processors

    def result(self):
        limit = None
        try:
            limit = self._until_the_end()
        finally:
            elapsed = time.monotonic() - self.start
            self._end()
        run = self._ended_by(limit)
        seconds = max(self.seconds, elapsed / PATIENCE)
        return run._replace(report=bytes(self.reported), seconds=seconds)

    def _ended_by(self, limit):
        code = self.process.returncode
        text = self.printed.decode(errors="replace")
        if limit:
            return SandboxedRun(None, signal.SIGKILL, limit, text)
        by_signal = -code if code < 0 else code - 128
        if by_signal not in signal.valid_signals():  # its own exit code, as of exit(-1)
            by_signal = None
        if by_signal == signal.SIGXFSZ:
            return SandboxedRun(None, by_signal, FILES, text)
        return SandboxedRun(None if by_signal else code, by_signal, None, text)

    def _until_the_end(self):
        """Returns the limit that was reached, or None if the program has ended by itself."""
        end_of_process = os.pidfd_open(self.process.pid)
        output = self.process.stdout.fileno()
        waited_for = select.poll()  # and not select(), which knows descriptors up to 1,023 only
        for descriptor in (end_of_process, output):
            waited_for.register(descriptor, select.POLLIN)
        if self.inbox:
            waited_for.register(self.inbox, select.POLLIN)
        try:
            while True:
                ready = [each for each, _ in waited_for.poll(1000 * SECONDS_BETWEEN_LOOKS)]
                if output in ready and not self._read(output):
                    waited_for.unregister(output)
                if self.inbox and self.inbox.fileno() in ready and self._take_report():
                    waited_for.unregister(self.inbox)
                if len(self.printed) > self.limits.output:
                    return OUTPUT
                if end_of_process in ready:
                    self._read_rest(output)
                    self._read_rest_of_report()
                    self._note_seconds(tree_of(self.process.pid))  # until wait() it is still listed
                    self.process.wait()
                    return None
                if self.stopped.is_set():
                    raise Stopped
                limit = self._reached_limit()
                if limit:
                    return limit
        finally:
            os.close(end_of_process)

    def _read(self, output):
        part = os.read(output, AT_ONCE)
        self.printed += part
        return part

    def _read_rest_of_report(self):
        while self.inbox and len(self.reported) <= MOST_REPORT:
            if self._take_report():
                return

    def _take_report(self):
        """Takes what has come, and keeps one byte more than a report may have. Returns whether that is all
        for now."""
        try:
            part = self.inbox.recv(AT_ONCE)
        except OSError:  # nothing is there, or its other end was closed before it read all
            return True
        self.reported += part[: MOST_REPORT + 1 - len(self.reported)]
        return not part

    def _read_rest(self, output):
        """Until the last process that could print is gone: what is left is being killed."""
        end = time.monotonic() + SECONDS_TO_END
        rest = select.poll()
        rest.register(output, select.POLLIN)
        while len(self.printed) <= self.limits.output and time.monotonic() < end:
            if rest.poll(500) and not self._read(output):
                return

    def _reached_limit(self):
        tree = tree_of(self.process.pid)
        elapsed = time.monotonic() - self.start
        self._note_seconds(tree)
        if self.seconds > self.limits.seconds:
            return TIME
        if elapsed > PATIENCE * self.limits.seconds:
            return TIME
        # First what is quick to ask for. Of 256 copies of a process it is many times what they have.
        if sum(each.resident for each in tree) > self.limits.memory < memory_of(tree):
            return MEMORY
        # The first is the sandbox's own. Where the kernel counts as well, it decides alone: whether this
        # is in time to see one too many would be a matter of chance.
        below = [each.threads for each in tree if each.number != self.process.pid]
        if sum(below) > self.limits.processes:
            return PROCESSES
        if size_of(self.work) > self.limits.files:
            return FILES
        return None

    def _note_seconds(self, tree):
        self.seconds = max(self.seconds, sum(each.seconds for each in tree))

    def _end(self):
        """Nothing of the program is left after this."""
        if self.process.poll() is None:
            if not self.dies_with_its_parent:
                self._end_by_supervisor()
            self.process.kill()  # what bubblewrap has started dies with it
        self.process.wait()
        self.process.stdout.close()

    def _end_by_supervisor(self):
        self.process.terminate()
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            kill_all(self.process.pid)


def size_of(folder):
    """The bytes of all files in another user's folder, which may be changing."""
    total = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    total += size_of(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total
