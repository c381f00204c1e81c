# SPDX-License-Identifier: MIT
"""In the weak form every mistake of mistakes.cu lets a read get an old value, and no twin does."""

import concurrent.futures
import os
import re

import pytest

from mistakes_test import FAILURES, PROGRAM, RACES, TWINS
from test_setup import printed

SEEDS = range(20)

# Where only atomics, volatile accesses or writes race, or the read comes before the write in the run.
WITHOUT_OLD_VALUES = {
    "guard_block_ticket",
    "lock_at_block_scope",
    "lock_step_warp",
    "plain_reset_of_counter",
    "reduction_without_last_barrier",
    "steal_at_block_scope",
    "two_blocks_write",
}
ENDINGS = {name: message for name, (message, _) in FAILURES.items() if name != "nothing_to_see"}


def old_values(output):
    """How many reads got an old value; None if the program does not say."""
    found = re.search(r"^weak: (?:no|([\d,]+)) reads? got an old value", output, re.M)
    return found and int((found[1] or "0").replace(",", ""))


def run(case, seed, timeout="20"):
    """Exit code and what was printed."""
    variables = {"LAB_WEAK": "1", "LAB_RACECHECK_SEED": str(seed), "LAB_TIMEOUT": timeout}
    result = printed([PROGRAM, case], env={**os.environ, **variables}, timeout=300)
    return result.returncode, result.stdout


def run_all(cases, seeds):
    """{case: what run() returns, for each seed}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pending = {case: [pool.submit(run, case, seed) for seed in seeds] for case in cases}
        return {case: [each.result() for each in runs] for case, runs in pending.items()}


def test_no_twin_reads_an_old_value():
    for case, results in run_all(TWINS, SEEDS).items():
        for code, output in results:
            assert (code, old_values(output)) == (0, 0), (case, output)


def test_every_mistake_with_a_read_does():
    for case, results in run_all(RACES, SEEDS).items():
        counts = [old_values(output) for _, output in results]
        assert None not in counts
        assert (sum(counts) == 0) == (case in WITHOUT_OLD_VALUES), (case, counts)


@pytest.mark.parametrize("case", ENDINGS)
def test_a_kernel_that_does_not_end_is_reported(case):
    message = ENDINGS[case]
    code, output = run(case, 0, timeout="1" if case == "endless" else "20")
    assert code != 0, output
    assert message in output


def test_a_seed_gives_the_same_run_again():
    first, *others = [run("guard_classic", 5) for _ in range(3)]
    assert [first, first] == others
