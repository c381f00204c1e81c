# SPDX-License-Identifier: MIT
"""Runs of lab that several tests make, and what the build that they run in has."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from test_setup import captured
from this_build import BUILD, ROOT

SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
HAS_RACECHECK = bool(SETTINGS.get("scheduled_libraries"))
needs_racecheck = pytest.mark.skipif(not HAS_RACECHECK, reason="this build has no racecheck")
needs_cpu_backend = pytest.mark.skipif(
    SETTINGS["backend"] != "cpu", reason="this build is for a GPU"
)


def lab(*words, folder=None, checkout=ROOT, given="", **variables):
    """How a run of lab in the folder ended, and what it printed; `variables` are of its environment."""
    return captured(
        [sys.executable, checkout / "lab", *words],
        cwd=folder,
        input=given,
        timeout=500,
        env={**os.environ, **variables},
    )


def on_a_terminal(command, environment=None, folder=None, typed=""):
    """What the command writes to a terminal at which this is typed, and its exit code."""
    main, other = pty.openpty()
    os.write(main, typed.encode())
    with subprocess.Popen(
        command, cwd=folder, stdin=other, stdout=other, stderr=other, env=environment
    ) as process:
        os.close(other)
        text = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(main, 4096):
                text += part
        code = process.wait()
    os.close(main)
    return text.decode(), code


def without_progress(text):
    """What lab wrote, less the lines that only a slow or busy machine gets to see."""
    return re.sub(
        r"(?m)^((Building|Checking) .*\d s|Another lab is building in .*: waiting for it\.)\n",
        "",
        text,
    )


def messages_of_refused(source, *options):
    """What lab and the compiler say about a file that must not compile, with options of `lab run`."""
    result = lab("run", "--build", str(BUILD), *options, source)
    assert result.returncode == 1, result
    assert f"lab: {source} did not compile; " in result.stderr, result
    return result.stderr


def started(command, folder):
    """A running command with its output in pipes, which interrupt() can end."""
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def interrupt(process):
    """Interrupts it as a terminal does at Ctrl-C; returns what it wrote on stdout and on stderr."""
    os.killpg(process.pid, signal.SIGINT)
    return _ended(process)


def interrupt_alone(process):
    """As interrupt(), but of what this process has started in turn nothing is interrupted."""
    process.send_signal(signal.SIGINT)
    return _ended(process)


def _ended(process):
    try:
        return process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()  # else the `with` block would wait for it
        raise
