# SPDX-License-Identifier: MIT
"""Starting other programs: quietly, step by step, or in the user's sight."""

import os
import shutil
import signal
import subprocess
import sys
import threading

from engine.command.errors import CommandError
from engine.command.output import (
    MOST_LINES,
    Progress,
    is_verbose,
    remark_line,
    remark_lines,
    say_command,
)

# What a write to memory that is somebody else's may end in. In a kernel it has a report of its own.
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


def watch(command, read_line, environment=None, seconds=None):
    """Runs a step of our own work out of sight, and hands each line that it prints to read_line.

    Returns its exit code; None if it was told to end because it took longer than `seconds`. Whatever
    goes wrong here, an interruption above all, ends the command before it goes on to the caller.
    """
    is_over = threading.Event()
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

    def end():
        is_over.set()
        process.terminate()

    timer = threading.Timer(seconds or 0, end)
    timer.daemon = True
    with process:
        try:
            if seconds is not None:
                timer.start()
            for line in process.stdout:
                read_line(line.rstrip("\n"))
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            timer.cancel()
    if is_over.is_set():
        return None
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
