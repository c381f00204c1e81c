# SPDX-License-Identifier: MIT
"""Runs finished programs in the user's sight."""

import os
import signal

from engine.driver.errors import NOTHING_COULD_RUN
from engine.driver.output import say_problem
from engine.driver.paths import shown
from engine.driver.processes import run_program, signal_name

# What a write to memory that is somebody else's may end in.
MEMORY_SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL)


def run_finished_program(path, options):
    """Runs a program in the current directory; returns its exit code, 128 + N for signal N."""
    path = shown(path)
    os.environ["LAB_REPORT_UNASKED"] = "1"  # of launches that failed, and nobody asked
    code = run_program([path if os.sep in path else f"./{path}", *options])
    if code >= 0:
        return code
    if code != -signal.SIGPIPE:  # whoever read the output has seen enough, as `| head` has
        remedy = ""
        if -code in MEMORY_SIGNALS:
            remedy = " If a kernel did that, ./lab racecheck names the line."
        say_problem(f"{os.path.basename(path)} was ended by {signal_name(-code)}.{remedy}")
    return 128 - code


def exit_code_of_all(codes):
    """One exit code for several programs: the first failure, else 77 if any could not run, else 0."""
    failed = [code for code in codes if code not in (0, NOTHING_COULD_RUN)]
    if failed:
        return failed[0]
    return NOTHING_COULD_RUN if NOTHING_COULD_RUN in codes else 0
