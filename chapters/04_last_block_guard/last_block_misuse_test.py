# SPDX-License-Identifier: MIT
"""What becomes of a launch that breaks an assumption of the last-block guard: the table of its lesson."""

import json
import os
import pathlib
import re

import pytest

from lab_runs import messages_of_refused
from test_setup import captured
from this_build import BUILD, ROOT

BUILD_FOLDER = str(BUILD)
BACKEND = os.environ["LAB_BACKEND"]
NO_DEVICE = 77

SOURCE = ROOT / "chapters/04_last_block_guard/last_block_misuse.cu"
GUARD = ROOT / "chapters/04_last_block_guard/last_block.cuh"


def sanitized():
    """Whether the build has one of the compiler's sanitizers."""
    path = pathlib.Path(BUILD_FOLDER, "meson-info/intro-buildoptions.json")
    options = json.loads(path.read_text(encoding="utf-8"))
    (value,) = [option["value"] for option in options if option["name"] == "b_sanitize"]
    return value not in ("", "none", [])


def line_of(file, text):
    """The number of the one line of the file that contains the text."""
    lines = file.read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(lines, start=1) if text in line]
    return number


def misuse(name):
    """Makes the misuse. Returns what the program printed: the outcome and the backend's report."""
    environment = {**os.environ, "LAB_TIMEOUT": "10"}
    result = captured([os.environ["LAST_BLOCK_MISUSE_PROGRAM"], name], timeout=120, env=environment)
    if result.returncode == NO_DEVICE:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result
    return result.stdout, result.stderr


def ends_well(name, last_blocks, counter):
    output, _ = misuse(name)
    assert output == (
        f"launch: cudaSuccess\nend: cudaSuccess\nlast blocks: {last_blocks}\ncounter: {counter}\n"
    )


def dies(name, report):
    """The launch ends in an error. The CPU backend's report contains `report`."""
    output, errors = misuse(name)
    assert_died(output, errors, report)


def assert_died(output, errors, report):
    assert re.search(
        r"\Alaunch: cudaSuccess\nend: (cudaErrorLaunchFailure|cudaErrorIllegalAddress"
        r"|cudaErrorIllegalInstruction)\n\Z",
        output,
    )
    if BACKEND == "cpu":
        assert report in errors


def test_right_use():
    ends_well("none", last_blocks=1, counter=0)


def test_a_counter_that_is_slightly_off_may_go_unnoticed():
    # One block takes itself for the last too early. The one behind it either arrives before the
    # counter is reset, and is one too many, or is what the counter says in the end.
    output, errors = misuse("counter_slightly_off")
    if "end: cudaSuccess" in output:
        assert output == "launch: cudaSuccess\nend: cudaSuccess\nlast blocks: 1\ncounter: 1\n"
    else:
        assert_died(output, errors, f"last_block.cuh:{line_of(GUARD, '// *counter was not 0')}")


@pytest.mark.parametrize("name", ("counter_not_zero", "counter_never_set"))
def test_a_counter_that_is_far_off_stops_the_kernel(name):
    dies(name, f"last_block.cuh:{line_of(GUARD, '// *counter was not 0')}")


def test_more_blocks_than_the_counter_counts():
    dies("grid_of_2^32_blocks", f"last_block.cuh:{line_of(GUARD, '// *counter was not 0')}")


@pytest.mark.skipif(sanitized(), reason="UndefinedBehaviorSanitizer ends the program first")
def test_null_counter():
    dies("null_counter", "used a null pointer")


def test_blocks_that_do_not_call():
    ends_well("half_of_the_blocks", last_blocks=0, counter=4)


@pytest.mark.skipif(BACKEND == "cuda", reason="a GPU may hang, or answer something")
def test_threads_that_do_not_call():
    barriers = [
        number
        for number, line in enumerate(GUARD.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip() == "__syncthreads();"
    ]
    output, errors = misuse("half_of_each_block")
    assert "end: cudaErrorLaunchFailure\n" in output
    assert "threads of one block wait at different barriers" in errors
    assert f"last_block.cuh:{barriers[0]}" in errors
    assert f"last_block_misuse.cu:{line_of(SOURCE, 'mark: the other half')}" in errors


def test_threads_that_have_returned_are_not_waited_for():
    # PTX: `exit` releases a barrier that waits for no other thread.
    ends_well("half_of_each_block_returned", last_blocks=1, counter=0)


def test_without_thread_0_no_block_arrives():
    ends_well("thread_0_returned", last_blocks=0, counter=0)


def test_a_type_that_is_not_trivially_copyable_does_not_compile():
    source = ROOT / "chapters/04_last_block_guard/refused_type.cu"
    assert "a partial result travels through global memory byte by byte" in messages_of_refused(
        source, "--include", ROOT / "chapters"
    )
