# SPDX-License-Identifier: MIT
"""What a broken contract of a header of docs/use does: with COURSE_ENABLE_ASSERTIONS the kernel stops, and
the CPU backend names the header's line."""

import os
import re
import sys

import pytest

from lab_runs import SETTINGS
from test_setup import captured
from this_build import BUILD, ROOT

SOURCE = ROOT / "tests/own_code/header_contracts.cu"
FOLDERS = [
    "02_shared_memory_dot_product",
    "04_last_block_guard",
    "05_work_queue",
    "07_grid_barrier",
]
FOLDERS += ["08_look_back_scan"]
STOPPED = r"cudaError(LaunchFailure|IllegalInstruction)\n"
RIGHT = ["none", "none_of_barrier", "none_with_delay"]
# {mistake: the line of the header that stops it}
MISTAKES = {
    "barrier_words": "COURSE_ASSERT(arrived.load(",
    "barrier_argument": "COURSE_ASSERT_SAME(words);",
    "guard_argument": "COURSE_ASSERT_SAME(counter);",
    "guard_expected": "COURSE_ASSERT_SAME(expected);",
    "guard_returned": "COURSE_ASSERT_SAME(counter);",
    "queue_argument": "COURSE_ASSERT_SAME(already_taken);",
    "reduce_argument": "COURSE_ASSERT_SAME(shared);",
    "shuffle_argument": "COURSE_ASSERT_SAME(shared);",
    "tickets_argument": "COURSE_ASSERT_SAME(tickets);",
    "tile_beyond_memory": "COURSE_ASSERT(mine.tile < tiles_);",
    "tile_twice": "COURSE_ASSERT(!has_published(",
}


def ended(mistake, *options):
    """How the launch ended, and the backend's report."""
    folders = [word for name in FOLDERS for word in ("--include", ROOT / "chapters" / name)]
    command = [sys.executable, ROOT / "lab", "run", "--build", BUILD, SOURCE, *folders, *options]
    environment = {**os.environ, "LAB_TIMEOUT": "10"}
    result = captured([*command, "--", mistake], timeout=300, env=environment)
    if result.returncode == 77:
        pytest.skip(result.stderr)
    return result.stdout, result.stderr


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("options", ([], ["-DCOURSE_ENABLE_ASSERTIONS"]))
def test_right_use_ends_well(name, options):
    assert ended(name, *options)[0] == "cudaSuccess\n"


@pytest.mark.parametrize("name", MISTAKES)
def test_an_assertion_stops_it(name):
    output, errors = ended(name, "-DCOURSE_ENABLE_ASSERTIONS")
    assert re.fullmatch(STOPPED, output), output + errors
    if SETTINGS["backend"] == "cpu":
        assert re.search(
            r"__trap\(\) was called at \S+\.cuh:\d+: " + re.escape(MISTAKES[name]), errors
        )


def test_a_barrier_in_a_plain_launch_is_stopped_in_any_case():
    output, errors = ended("plain_launch")
    assert re.fullmatch(STOPPED, output), output + errors
    if SETTINGS["backend"] == "cpu":
        assert "__trap();  // The launch is not cooperative." in errors


def test_without_assertions_nothing_is_checked():
    assert ended("tile_twice")[0] == "cudaSuccess\n"
