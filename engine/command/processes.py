# SPDX-License-Identifier: MIT
"""Starting other programs: quietly, step by step, in the user's sight, or with bounds of output and time."""

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple, Optional

from engine.command.errors import CommandError
from engine.command.output import (
    MOST_LINES,
    Progress,
    is_terminal,
    is_verbose,
    remark,
    remark_line,
    remark_lines,
    say_command,
    seconds_text,
)

# What a write to memory that is not the program's may end in. In a kernel it has a report of its own.
MEMORY_SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL)


def signal_name(number):
    """SIGSEGV, or `signal 40` where the system has no name for it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def on_path(*names):
    """The paths of all programs of these names that PATH leads to, each program once, in its order."""
    found = {}
    for name in names:
        folders = [None] if os.sep in name else os.get_exec_path()
        for path in (shutil.which(name, path=folder) for folder in folders):
            if path:
                found.setdefault(os.path.realpath(path), path)
    return [*found.values()]


def output_of(command, text="", seconds=None):
    """What the command prints on stdout, or None if it isn't there, fails, or takes longer."""
    try:
        result = subprocess.run(
            command,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if result.returncode == 0 else None


def run_program(command):
    """Runs a program whose output is what the user asked for; returns its exit code."""
    if is_verbose():
        say_command(command)
    return _run(command, None)


def run_step(command):
    """Runs a step of our own work; what it prints goes to stderr. Returns its exit code."""
    if is_verbose():
        say_command(command)
    return watch(command, remark_line)


def run_quietly(command, what, shows_output=False):
    """Runs a step out of sight; `what` it is in words, for the line of progress.

    Its output is shown afterwards if it has failed, or if that is asked for.
    """
    if is_verbose():
        return run_step(command)
    return _run_out_of_sight(command, what, shows_output)


def run_installation(command):
    """A command that changes the machine, a line for the shell: the user always sees it first.

    What it prints is shown only if it fails, or under --verbose.
    """
    say_command(command)
    return (
        _run(command, _own_output()) if is_verbose() else _run_out_of_sight(command, "Installing")
    )


def watch(command, read_line, environment=None):
    """Runs a step of our own work out of sight, and hands each line that it prints to read_line.

    Returns its exit code. Whatever goes wrong here, an interruption above all, ends the command before it
    goes on to the caller.
    """
    process = _start(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=environment,
        text=True,
        errors="replace",
        shell=isinstance(command, str),
    )
    with process:
        try:
            for line in process.stdout:
                read_line(line.rstrip("\n"))
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    return code


def _run_out_of_sight(command, what, shows_output=False):
    printed = []
    with Progress(what, stays=False):
        code = watch(command, printed.append)
    if code != 0 or shows_output:
        remark_lines(printed[-MOST_LINES:])
    return code


def _own_output():
    """A descriptor of stderr, for what a step prints on stdout."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):  # stderr is no file, as under a test
        return subprocess.DEVNULL


def _run(command, output):
    process = _start(command, stdout=output, shell=isinstance(command, str))
    with process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()  # it was interrupted as well, and may have something to put in order
            raise
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    return code


def _start(command, **options):
    try:
        return subprocess.Popen(command, **options)
    except OSError as error:
        raise CommandError(f"{command[0]} could not be started: {error.strerror}.") from error


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
        self.running = {}  # what ends each of them
        self.is_over = False

    def start(self, command, end=None, **options):
        """Starts a program, which end(process) ends; raises Ended if all were ended before."""
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
            self.running[process] = end or kill_all_of
            return process

    def forget(self, process):
        with self.lock:
            self.running.pop(process, None)

    def end(self):
        """Kills those that run, and lets no other start."""
        with self.lock:
            self.is_over = True
            for process, end in self.running.items():
                end(process)


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
    """The last bytes of what a program prints, which a thread reads until no process can print any more."""

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
        """The schedule that has run longest, if that is long: part of a line of progress."""
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


# What the threads of a pool have made, for a thread that waits for it. By queues, and not by futures: Ctrl-C
# can come while the lock of a future is being taken, which then stays so, and both would wait for ever.
def put_answer(ended, name, function, *words):
    """Puts (name, what the function returns, what it raises) into the queue. For a thread of a pool."""
    try:
        ended.put((name, function(*words), None))
    except BaseException as problem:  # it belongs to the thread that waits
        ended.put((name, None, problem))


def answers_as_ended(pool, function, items):
    """Begins function(item) for each of these items, and yields (its number among them, what it returns,
    what it raises) of each as it ends."""
    ended, begun = queue.SimpleQueue(), 0
    for item in items:
        pool.submit(put_answer, ended, begun, function, item)
        begun += 1
    for _ in range(begun):
        yield ended.get()
