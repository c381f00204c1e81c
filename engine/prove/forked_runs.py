# SPDX-License-Identifier: MIT
"""Runs of one racecheck program that are the same up to its first launch.

A process comes there once, and makes a child for each (engine/cpu_backend/scheduled/forked_runs.hpp).
"""

import contextlib
import os
import pathlib
import select
import subprocess

from engine.command.processes import AT_ONCE, BoundedRun, kill_all_of
from engine.command.racecheck_runs import (
    DIAGNOSTICS,
    KEPT_OUTPUT,
    checked_run,
    environment_of_run,
    paths_of_reports,
)


class ForkedRuns:
    """The process, one of `programs`. To be closed."""

    def __init__(self, program, options, seed, folder, settings, programs):
        """`folder` is for what the runs find; `settings` go into the program's environment."""
        self._seed, self._folder = seed, folder
        self._is_ready = None  # not known yet
        self._output, self._left_out = b"", 0
        self._before = b"", 0  # what it had printed when it came to its launch
        asked, self._asks = os.pipe()
        self._answers, answered = os.pipe()
        environment = environment_of_run(folder, seed, False)
        # Functions are looked up once, and not in each child at their first call.
        environment.update(settings, LAB_PROVE_RUNS=f"{asked},{answered}", LD_BIND_NOW="1")
        try:
            self._process = programs.start(
                [str(program), *options],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(asked, answered),
            )
        finally:
            os.close(asked)
            os.close(answered)
        self._programs = programs
        self._prints = self._process.stdout.fileno()
        os.set_blocking(self._prints, False)

    def run(self):
        """A CheckedRun, which has ended by itself; None if there can be no such run, or all were ended."""
        if self._is_ready is None:
            self._is_ready = self._answer() == "ready"
            self._before = self._output, self._left_out
        diagnostics = pathlib.Path(self._folder, DIAGNOSTICS)
        for path in (diagnostics, *paths_of_reports(self._folder)):
            path.unlink(missing_ok=True)
        answer = ""
        if self._is_ready:
            self._output, self._left_out = self._before
            with contextlib.suppress(BrokenPipeError):
                os.write(self._asks, b".")
                answer = self._answer()
        if not answer:
            return None
        self._read_output()
        text = self._output.decode(errors="replace")
        return checked_run(self._folder, self._seed, BoundedRun(int(answer), text, self._left_out))

    def _answer(self):
        """The next line; empty if there is none any more."""
        text, sources = b"", [self._answers, self._prints]
        while not text.endswith(b"\n"):
            ready, _, _ = select.select(sources, [], [])
            if self._prints in ready and not self._read_output():
                sources.remove(self._prints)
            part = os.read(self._answers, AT_ONCE) if self._answers in ready else b""
            text += part
            if self._answers in ready and not part:
                return ""
        return text.decode().strip()

    def _read_output(self):
        """Takes what has been printed; returns whether there may be more later."""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._prints, AT_ONCE):
                both = self._output + part
                self._output = both[-KEPT_OUTPUT:]
                self._left_out += len(both) - len(self._output)
            return False
        return True

    def close(self):
        kill_all_of(self._process)
        self._programs.forget(self._process)
        self._process.wait()
        self._process.stdout.close()
        os.close(self._asks)
        os.close(self._answers)
