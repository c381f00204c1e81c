# SPDX-License-Identifier: MIT
"""A program that is right: the race checker finds nothing in it, at any of some seeds, and in the weak
form it behaves as ever."""

import concurrent.futures
import os
import re
import resource
import sys

from engine.command.paths import ENGINE
from test_setup import printed

PROGRAM, OPTIONS = os.environ["CHECKED_PROGRAM"], os.environ["CHECKED_OPTIONS"].split()
SEEDS = int(os.environ["CHECKED_SEEDS"])
MOST_WEAK_SEEDS = 4


def test_racecheck_finds_nothing():
    command = [
        sys.executable, str(ENGINE / "cudacheck"), "check", "--program", PROGRAM,
        "--seeds", str(SEEDS), "--", *OPTIONS,
    ]  # fmt: skip
    environment = {**os.environ, "LAB_BRIEF_TESTS": "1"}
    result = printed(command, env=environment)
    assert result.returncode == 0, result.stdout
    assert re.search(r"\n[0-9,]*[1-9][0-9,]* accesses checked .* 0 found", result.stdout)


def test_no_read_gets_an_old_value():
    def run(seed):
        variables = {"LAB_BRIEF_TESTS": "1", "LAB_WEAK": "1", "LAB_RACECHECK_SEED": str(seed)}
        environment = {**os.environ, **variables, "MALLOC_PERTURB_": "1"}
        environment.pop("LAB_TEST_LOG", None)  # one test is one case, however many seeds it runs
        return printed([PROGRAM, *OPTIONS], env=environment)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(run, range(min(SEEDS, MOST_WEAK_SEEDS))):
            assert result.returncode == 0, result.stdout
            assert re.search(r"(\A|\n)weak: no read got an old value\n\Z", result.stdout)
    # Half of a machine's memory can be allocated; what watches over it takes what is used of it.
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert largest < 2 << 20, f"a run took {largest} KiB"
