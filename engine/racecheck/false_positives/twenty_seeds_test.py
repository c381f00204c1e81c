# SPDX-License-Identifier: MIT
"""A program that is right behaves as ever in the weak form, at each of 20 seeds: its smallest form."""

import concurrent.futures
import os
import pathlib
import re

from test_setup import printed

PROGRAM, OPTIONS = os.environ["CHECKED_PROGRAM"], os.environ["CHECKED_OPTIONS"].split()
NAME = pathlib.Path(PROGRAM).name
IS_CATCH2 = "_test_" in NAME
SEEDS = range(20)

# Options of programs that say how much they do.
SMALL_VALUES = {"--elements": "4096", "--size": "32", "--iterations": "64", "--steps": "2"}

# The test cases that are left out: most of those that take more than about 0.1 s of processor time
# for one seed. A * at the end stands for anything.
LONG_CASES = {
    "backend_atomic_test_racecheck": [
        "atomics of many blocks on one address lose nothing",
        "a spin lock in shared memory",
        "a spin lock keeps the threads of a block apart",
        "a spin lock keeps the threads of all blocks apart",
    ],
    "backend_barrier_test_racecheck": [
        "a barrier does not wait for threads that have returned",
        "many barriers in a loop, in more blocks than there are multiprocessors",
        "threads return one after the other between barriers",
    ],
    "backend_device_functions_test_racecheck": [
        "float arithmetic is rounded as its name says",
    ],
    "backend_libcudacxx_atomic_test_racecheck": [
        "cuda::atomic in shared memory and as a __device__ variable",
    ],
    "backend_memory_test_racecheck": [
        "10,000 allocations that are freed leave nothing behind",
    ],
    "backend_scheduling_test_racecheck": [
        "a chain of blocks, each waiting for the one that started before it",
        "grids of one, two and three dimensions visit each thread exactly once",
        "grids with more blocks than 16 bits count, and the longest in y and z",
        "threads of one block wait for each other by atomics",
    ],
    "backend_shared_memory_test_racecheck": [
        "dynamic shared memory of 0 to 48 KiB belongs to one block",
        "kernels that take turns keep their shared memory apart",
        "static and dynamic shared memory of one kernel do not overlap",
        "static shared memory belongs to one block",
        "with the attribute, all shared memory of the device is usable",
    ],
    "backend_warp_test_racecheck": [
        "every shuffle with every width and distance - *",
        "several groups of one warp shuffle at the same time",
        "votes of whole warps, in blocks of any size",
    ],
    "backend_work_stealing_test_racecheck": [
        "blocks that run take over blocks that have not started",
        "for_each_canceled_block of rank 1 works on each block index exactly once",
        "for_each_canceled_block of rank 2 works on each block index exactly once",
    ],
    "dot_product_test_racecheck": [
        "each block leaves its own share - *",
        "every variant is exact on whole numbers of awkward counts - *",
        "every variant is right for every block size from 1 to 1024",
        "reductions take any trivially copyable type",
        "sums with rounding stay within the proven bound - *",
        "the lesson's kernel is right for awkward counts and grids",
        "the shuffles find extrema in blocks of every size from 1 to 1024",
        "the text's case is 25,725,848,529,920",
        "the tree finds extrema in blocks of every size from 1 to 1024",
    ],
    "last_block_guard_test_racecheck": [
        "a counter is set to 0 in the order of its stream",
        "a thousand launches in a row need one counter and no reset",
        "the classic guards are exact on whole numbers of awkward counts - *",
        "the last block is exact on whole numbers of awkward counts - *",
        "the last block is exact with blocks of every size",
        "the last block is exact with more blocks than can be resident",
        "the last block loses no block's share - *",
        "the last block reduces any trivially copyable type",
        "the last block rounds as the second kernel does, bit by bit",
        "the last block rounds within the proven bound - *",
        "the last block takes inputs of any alignment",
        "the skeleton merges partial results of any trivially copyable type - *",
        "two streams at once need a counter each",
        "without a reset a classic guard finds no last block in the second launch",
    ],
    "look_back_scan_test_racecheck": [
        "a look-back combines neighbours only",
        "a look-back misses no tile and takes none twice",
        "a scan in fixed order and one in three kernels give the same bits in every run",
        "each tile gets what all earlier tiles combine to, in their order - *",
        "the fast scans are exact at the tiles' bounds - double",
        "the fast scans are exact at the tiles' bounds - float",
        "the fast scans are exact at the tiles' bounds - std::int64_t",
        "the fast scans keep the order of an operation that does not commute - *",
        "the fast scans round within the proven bound - *",
        "the fast scans take any alignment, and scan in place - *",
        "the lesson's scans are exact at the tiles' bounds",
        "the lesson's scans take any alignment, and scan in place",
        "two streams at once need a memory each",
    ],
    "mandelbrot_test_racecheck": [
        "every way to hand out the tiles makes the same picture as the reference",
        "the costs of the default picture's tiles differ by a factor of a thousand",
        "the first steps are those of exact arithmetic",
        "the histogram of the blocks' shared bins is that of the counts",
    ],
    "memory_model_examples_test_racecheck": [
        "a message is delivered by fences around relaxed atomics",
        "atomics of wide enough scope lose no increment",
        "between sc fences, two blocks never miss each other",
        "one release after a barrier publishes the whole block",
    ],
    "two_kernel_reduction_test_racecheck": [
        "the lesson's kernels are exact on awkward counts, blocks and grids",
        "the second kernel's input is the first one's output, in any stream",
        "two kernels are exact on whole numbers of awkward counts - *",
        "two kernels are exact with blocks of every size",
        "two kernels are exact with more blocks than can be resident",
        "two kernels lose no block's share",
        "two kernels reduce any trivially copyable type",
        "two kernels round within the proven bound - *",
        "two kernels take inputs of any alignment",
    ],
    "vector_add_test_racecheck": [
        "every kernel adds more elements than its grid has threads, several times over",
        "every kernel adds vectors of awkward lengths - double",
        "every kernel adds vectors of awkward lengths - float",
        "every kernel adds vectors of awkward lengths - std::int32_t",
        "every kernel adds vectors of awkward lengths - std::int8_t",
    ],
    "work_queue_test_racecheck": [
        "a queue is reset and cleared in the order of the stream",
        "a queue that another kernel fills has each item once",
        "a trace has one event for each item",
        "each item is claimed once by all threads of blocks of every size",
        "each item is claimed once, whatever the number of items and blocks",
        "each of millions of items is claimed once",
    ],
    "work_stealing_test_racecheck": [
        "blocks that run take over blocks that have not started",
        "chapter 01's sum, with blocks that take over others - *",
        "each item is done once by blocks of every size",
        "each item is done once, whatever the number of items and blocks",
        "the tiles of a picture, with and without a histogram, are those of the reference",
        "the last tile's block finds all tiles' totals, in launch after launch",
    ],
}


def smallest(program, options):
    """The command line with which the program `program`, a file name, does little."""
    if "_test_" not in program:
        return [SMALL_VALUES.get(before, word) for before, word in zip([None, *options], options)]
    left_out = [word[1:] for word in options if word.startswith("~")]
    left_out += LONG_CASES.get(program, [])
    others = [word for word in options if not word.startswith("~")]
    # One word: Catch2 runs what any of several words names.
    pattern = "".join(f'~"{each}"' for each in left_out).replace(",", "\\,")
    return [*others, pattern] if left_out else others


def run(words, **variables):
    environment = {**os.environ, **variables}
    environment.pop("LAB_TEST_LOG", None)  # one test is one case, however many seeds it runs
    return printed([PROGRAM, *words], env=environment)


def test_no_read_gets_an_old_value():
    words = smallest(NAME, OPTIONS)

    def run_with(seed):
        return run(words, LAB_BRIEF_TESTS="1", LAB_WEAK="1", LAB_RACECHECK_SEED=str(seed))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed, result in zip(SEEDS, pool.map(run_with, SEEDS)):
            assert result.returncode == 0, (seed, result.stdout)
            assert re.search(r"(\A|\n)weak: no read got an old value\n\Z", result.stdout)


def test_what_is_left_out_is_there_and_is_not_all():
    if not IS_CATCH2:
        assert smallest(NAME, OPTIONS) != OPTIONS
        return
    listed = run(["--list-tests", "--verbosity", "quiet"]).stdout.splitlines()
    cases = [line.strip() for line in listed]
    patterns = [re.escape(each).replace(r"\*", ".*") for each in LONG_CASES.get(NAME, ())]
    for pattern in patterns:
        assert [case for case in cases if re.fullmatch(pattern, case)], pattern
    kept = [case for case in cases if not any(re.fullmatch(each, case) for each in patterns)]
    assert kept
