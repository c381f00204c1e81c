# SPDX-License-Identifier: MIT
"""Asks nvcc whether it takes a file that is right on the CPU backend, which accepts a little more."""

import os
import pathlib
import re
import tempfile

from engine.command.errors import CommandError
from engine.command.output import counted, is_verbose, say_command
from engine.command.processes import run_bounded, signal_name
from engine.command.recipe import DidNotCompile, Form, Recipe
from grader.judging.compile_errors import errors_by_line

NVCC = Form("nvcc_", [], [])
SECONDS = 60
MOST_OUTPUT = 1 << 20  # bytes
MOST_LINES = 4  # of one error
REASON = re.compile(r"\b(?:error|fatal)\b")


def asked_of_nvcc(verdict, builds, source):
    """The verdict with nvcc's answer: its errors, or why there is no answer."""
    try:
        _DeviceCode(builds, source).compile()
    except DidNotCompile as refused:
        own = f"{pathlib.Path(source).name}:"
        errors = [told for told in errors_by_line(source, refused.lines) if told[0].startswith(own)]
        if not errors:  # it does not know the host's compiler, or has died
            return verdict._replace(nvcc_problem=_reason(refused.lines))
        more = [f"and {counted(len(errors) - 1, 'more error')}"] if errors[1:] else []
        return verdict._replace(nvcc_errors=(*errors[0][:MOST_LINES], *more))
    except (CommandError, OSError) as problem:
        return verdict._replace(nvcc_problem=str(problem))
    return verdict


def _reason(lines):
    lines = [line.strip() for line in lines if line.strip()]
    return next(filter(REASON.search, lines), lines[0])


class _DeviceCode(Recipe):
    """The recipe of the cuda backend, but for one GPU, and for its kernels alone: nothing is linked."""

    def __init__(self, builds, source):
        settings = {**builds.cpu.settings, "backend": "cuda", "compiler": builds.nvcc}
        super().__init__(builds.cpu.place, settings, [str(source)], NVCC, files=builds.cpu.files)
        self.program = self.work / "0.o"

    def _steps(self):
        return super()._steps()[:-1]

    def _code_of(self, step, printed):
        if is_verbose():
            say_command(step)
        # What it leaves if it is ended goes with the folder.
        with tempfile.TemporaryDirectory(prefix="lab-check-") as folder:
            run = run_bounded(step, {**os.environ, "TMPDIR": folder}, SECONDS, MOST_OUTPUT)
        if run.code is None:
            raise CommandError(f"it did not end within {SECONDS} s.")
        printed += run.output.splitlines()
        if run.code < 0:
            printed.append(f"error: it was ended by {signal_name(-run.code)}")
        elif run.code and not run.output.strip():
            printed.append(f"it ended with status {run.code}")
        return run.code
