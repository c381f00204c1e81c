# SPDX-License-Identifier: MIT
"""Runs of lab, and of programs under the race checker, that several tests make."""

import json
import os
import signal
import subprocess
import sys
import tempfile

from this_build import BUILD, ROOT


def messages_of_refused(source, *options):
    """What lab and the compiler say about a file that must not compile, with options of `lab run`."""
    result = subprocess.run(
        [sys.executable, ROOT / "lab", "run", "--build", str(BUILD), *options, source],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
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


def checked_run(program, case, seed, **environment):
    """Exit code, what was printed, and the report of one case of a racecheck program."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        variables = {
            **os.environ,
            "LAB_RACECHECK_SEED": str(seed),
            "LAB_RACECHECK_REPORT": path,
            **environment,
        }
        variables.pop("LAB_TEST_LOG", None)
        result = subprocess.run(
            [program, case],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        with open(path, encoding="utf-8") as file:
            return result.returncode, result.stdout, json.load(file)
