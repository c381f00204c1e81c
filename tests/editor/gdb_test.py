# SPDX-License-Identifier: MIT
"""gdb stops in a kernel, in the thread that was asked for, and prints what CUDA calls its own."""

import os
import pathlib
import re
import shutil

import pytest

from test_setup import captured
from this_build import ROOT

GDB = shutil.which("gdb")
CUDA_THREADS = ROOT / "engine/cpu_backend/debugger/cuda_threads.py"
SOURCE = ROOT / "chapters/01_vector_add/vector_add.cuh"
PROGRAM = [os.environ["DEBUGGED_PROGRAM"], "--elements", "1000", "--repeat", "1"]

pytestmark = pytest.mark.skipif(GDB is None, reason="gdb is not here")


def line_of(text):
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def session(*commands):
    """What gdb prints at these commands, typed one after the other."""
    words = [word for command in commands for word in ("-ex", command)]
    result = captured(
        [GDB, "-q", "-batch", "-nx", "-ex", "set debuginfod enabled off",
         "-ex", "set breakpoint pending on", "-x", CUDA_THREADS, *words, "--args", *PROGRAM],
        timeout=200,
    )  # fmt: skip
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def stopped():
    """The session of docs/debugging.md, in thread 5 of block 2."""
    place = f"vector_add.cuh:{line_of('c[i] = a[i] + b[i];')}"
    return session(
        f"break {place} if $block(2) && $thread(5)",
        "run",
        "print threadIdx",
        "print blockIdx",
        "print blockDim",
        "print gridDim.x",
        "cuda-thread",
        "print $thread(5, 0, 0)",
        "print $thread(6)",
        "backtrace 1",
    )


def test_stops_in_the_kernels_line(stopped):
    assert re.search(r"hit Breakpoint 1,.*add_one_element", stopped), stopped


def test_in_the_thread_that_was_asked_for(stopped):
    assert "$1 = (5, 0, 0)" in stopped, stopped
    assert "$2 = (2, 0, 0)" in stopped, stopped
    assert "block (2, 0, 0) of (4, 1, 1), thread (5, 0, 0) of (256, 1, 1)" in stopped, stopped


def test_sizes_and_members(stopped):
    assert "$3 = (256, 1, 1)" in stopped, stopped
    assert "$4 = 4" in stopped, stopped


def test_the_functions_for_conditions(stopped):
    assert re.search(r"^\$5 = (1|true)$", stopped, re.M), stopped
    assert re.search(r"^\$6 = (0|false)$", stopped, re.M), stopped


def test_without_the_condition_it_stops_in_the_first_thread():
    place = f"vector_add.cuh:{line_of('c[i] = a[i] + b[i];')}"
    assert "= (0, 0, 0)" in session(f"break {place}", "run", "print threadIdx")


def test_the_page_shows_what_gdb_prints(stopped):
    page = pathlib.Path(ROOT / "docs/debugging.md").read_text(encoding="utf-8")
    line = "block (2, 0, 0) of (4, 1, 1), thread (5, 0, 0) of (256, 1, 1)"
    assert line in page
    assert line in stopped
