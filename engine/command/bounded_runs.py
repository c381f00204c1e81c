# SPDX-License-Identifier: MIT
"""Runs programs that may print much and may not end: so much is kept, so long is waited."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple, Optional

from engine.command.errors import CommandError
from engine.command.output import is_terminal, remark, seconds_text

AT_ONCE = 1 << 16  # bytes of output that are read
SECONDS_FOR_OUTPUT = 5  # after a program's end
SECONDS_OF_PATIENCE = 5  # after which a run that goes on is spoken of


class BoundedRun(NamedTuple):
    code: Optional[int]  # None if the program was killed after its time
    output: str  # the end of it
    left_out: int  # bytes before that


class RunningPrograms:
    """The programs that several threads run at the moment, which one call ends, now and for good."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.is_over = False

    def start(self, command, **options):
        """Starts a program; raises Ended if all were ended before."""
        with self.lock:
            if self.is_over:
                raise Ended
            try:
                # With a group of its own, which ends with it.
                process = subprocess.Popen(command, start_new_session=True, **options)
            except OSError as error:
                raise CommandError(
                    f"{command[0]} could not be started: {error.strerror}."
                ) from error
            self.running.add(process)
            return process

    def forget(self, process):
        with self.lock:
            self.running.discard(process)

    def end(self):
        """Kills those that run, and lets no other start."""
        with self.lock:
            self.is_over = True
            for process in self.running:
                kill_all_of(process)


class Ended(Exception):
    """A program was to start after all of them had been ended."""


def run_bounded(command, environment, seconds, most_output, given=b"", programs=None):
    """Runs a program out of sight, with the input that was given, as one of `programs`.

    Keeps the last `most_output` bytes of what it prints. When it ends, or its time is over, all that it
    has started ends with it.
    """
    programs = programs or RunningPrograms()
    with tempfile.TemporaryFile() as standard_input:
        standard_input.write(given)
        standard_input.seek(0)
        process = programs.start(
            command,
            env=environment,
            stdin=standard_input,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    is_killed = threading.Event()

    def kill():
        is_killed.set()
        kill_all_of(process)

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    output = _EndOfOutput(process.stdout, most_output)
    try:
        # It stays a zombie, so that its number, which is the group's, is no other's.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    finally:
        timer.cancel()
        kill_all_of(process)
        programs.forget(process)
        code = process.wait()
    text, left_out = output.text_and_left_out()
    return BoundedRun(None if is_killed.is_set() else code, text, left_out)


def kill_all_of(process):
    """Ends a program that leads a group of processes, and the group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _EndOfOutput:
    """The last bytes of what a program prints, which a thread reads until nobody can print any more."""

    def __init__(self, stream, most_bytes):
        self.kept, self.total = b"", 0
        self.thread = threading.Thread(target=self._read, args=(stream, most_bytes), daemon=True)
        self.thread.start()

    def _read(self, stream, most_bytes):
        with stream:
            while part := stream.read1(AT_ONCE):
                self.total += len(part)
                self.kept = (self.kept + part)[-most_bytes:]

    def text_and_left_out(self):
        # A process that has left the group may keep the stream open.
        self.thread.join(SECONDS_FOR_OUTPUT)
        kept, total = self.kept, self.total
        return kept.decode(errors="replace"), total - len(kept)


class RunningSeeds:
    """The schedules of one program that run now, and since when; each may take `seconds`."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.since = {}
        self.has_remarked = False
        self.lock = threading.Lock()

    def run(self, check, seed):
        """check(seed), which counts as running for as long as it takes."""
        with self.lock:
            self.since[seed] = time.monotonic()
        try:
            return check(seed)
        finally:
            with self.lock:
                del self.since[seed]

    def note(self):
        """Of the schedule that has run longest, if that is long: part of a line of progress."""
        with self.lock:
            if not self.since:
                return ""
            seed, start = min(self.since.items(), key=lambda item: item[1])
        elapsed = time.monotonic() - start
        if elapsed < SECONDS_OF_PATIENCE:
            return ""
        left = seconds_text(max(0, self.seconds - elapsed))
        if not self.has_remarked and not is_terminal(sys.stderr):
            self.has_remarked = True
            remark(
                f"Waiting for seed {seed}, which has run for {seconds_text(elapsed)}; "
                f"it is stopped in {left} at the latest (--timeout)."
            )
        return f"waiting for seed {seed}, {left} more at most, "
