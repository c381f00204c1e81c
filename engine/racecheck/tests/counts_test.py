# SPDX-License-Identifier: MIT
"""What racecheck counts of a launch: accesses, barriers, fences, shared memory."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile

import pytest

from engine.command.paths import ENGINE
from test_setup import captured, checked_run
from this_build import ROOT

PROGRAM = os.environ["COUNTS_PROGRAM"]
SOURCE = "engine/racecheck/tests/counts.cu"
SEEDS = (0, 1, 2, 7, 19)

# The case "host" calls these, in their order.
CALLS = [
    "cudaMalloc", "cudaMalloc", "cudaHostAlloc", "cudaMallocManaged", "cudaMemset", "launch",
    "cudaMemcpy", "cudaStreamSynchronize", "cudaMemcpy", "cudaFree", "cudaFree", "cudaFreeHost",
    "cudaDeviceSynchronize",
]  # fmt: skip

ELEMENTS, BLOCKS, THREADS = 1000, 8, 128
MANY = BLOCKS * THREADS

# For each thread, with the total, the most per block and the most per thread.
OF_THREADS = (
    "global_loads", "global_stores", "global_atomics",
    "shared_loads", "shared_stores", "shared_atomics", "fences",
)  # fmt: skip
# For each block: the total and the most per block.
OF_BLOCKS = (
    "global_bytes_loaded", "global_bytes_stored",
    "block_barriers", "warp_barriers", "grid_barriers",
)  # fmt: skip


def each(count=1):
    """As many by every thread of a launch of BLOCKS blocks of THREADS threads."""
    return count * MANY, count * THREADS, count


def by_blocks(count):
    """As many by every one of BLOCKS blocks."""
    return count * BLOCKS, count


def copied(size):
    """One load and one store of `size` bytes by every thread."""
    return {
        "global_loads": each(),
        "global_stores": each(),
        "global_bytes_loaded": by_blocks(size * THREADS),
        "global_bytes_stored": by_blocks(size * THREADS),
    }


# Case: the kernel's name, and what is counted of it. What is not named must be 0.
COUNTED = {
    # 2 loads and 1 store per element. The last block has 24 threads without an element.
    "add": ("add", {
        "global_loads": (2 * ELEMENTS, 2 * THREADS, 2),
        "global_stores": (ELEMENTS, THREADS, 1),
        "global_bytes_loaded": (8 * ELEMENTS, 8 * THREADS),
        "global_bytes_stored": (4 * ELEMENTS, 4 * THREADS),
    }),
    # 2 blocks of 64 threads: 7 rounds of 128 elements, and a last one of 104. The first block has
    # 64 elements in each.
    "grid_stride": ("add_grid_stride", {
        "global_loads": (2 * ELEMENTS, 2 * 512, 2 * 8),
        "global_stores": (ELEMENTS, 512, 8),
        "global_bytes_loaded": (8 * ELEMENTS, 8 * 512),
        "global_bytes_stored": (4 * ELEMENTS, 4 * 512),
    }),
    # 127 additions, each of two loads and a store; thread 0 takes part in all 7 rounds.
    "tree": ("halving_tree<128u>", {
        "global_loads": each(),
        "global_stores": (BLOCKS, 1, 1),
        "shared_loads": (BLOCKS * (2 * 127 + 1), 2 * 127 + 1, 2 * 7 + 1),
        "shared_stores": (BLOCKS * (THREADS + 127), THREADS + 127, 1 + 7),
        "global_bytes_loaded": by_blocks(4 * THREADS),
        "global_bytes_stored": by_blocks(4),
        "block_barriers": by_blocks(1 + 7),
        "static_shared_bytes": 4 * THREADS,
    }),
    "shared": ("reverse_twice", {
        **copied(4),
        "shared_loads": each(2),
        "shared_stores": each(2),
        "block_barriers": by_blocks(2),
        "static_shared_bytes": 4 * THREADS,
        "dynamic_shared_bytes": 4 * THREADS,
    }),
    "shared_of_file": ("use_shared_of_file", {
        **copied(4),
        "shared_loads": each(),
        "shared_stores": each(),
        "block_barriers": by_blocks(1),
        "static_shared_bytes": 4 * THREADS,
    }),
    # 16 bytes that are copied are one load and one store.
    "copy_vectors": ("copy_vectors", copied(16)),
    "copy_records": ("copy_records", copied(32)),
    # 120 bytes take four instructions of a GPU, and would take as many loads.
    "copy_long_records": ("copy_long_records", {
        "global_loads": each(4),
        "global_stores": each(4),
        "global_bytes_loaded": by_blocks(120 * THREADS),
        "global_bytes_stored": by_blocks(120 * THREADS),
    }),
    "memcpy": ("copy_by_function", copied(32)),
    "atomics": ("count_values", {
        "global_loads": each(),
        "global_atomics": (4 * BLOCKS, 4, 1),
        "shared_loads": (4 * BLOCKS, 4, 1),
        "shared_stores": (4 * BLOCKS, 4, 1),
        "shared_atomics": each(),
        "global_bytes_loaded": by_blocks(4 * THREADS),
        "block_barriers": by_blocks(2),
        "static_shared_bytes": 16,
    }),
    # A store, a load, an addition, a compare-and-swap that fails, a maximum with its fence.
    "atomic_ref": ("use_atomic_ref", {"global_atomics": each(5), "fences": each()}),
    "fences": ("use_fences", {
        **copied(4),
        "fences": each(3),
    }),
    # 127 threads load once and one 10 times; in block 3 that is 10 times as much.
    "unequal": ("unequal", {
        "global_loads": (7 * 137 + 1370, 1370, 100),
        "global_stores": each(),
        "global_bytes_loaded": (4 * (7 * 137 + 1370), 4 * 1370),
        "global_bytes_stored": by_blocks(4 * THREADS),
        "block_barriers": (1, 1),
        "warp_barriers": by_blocks(THREADS // 32),
    }),
    # What a thread does to its own array is not counted.
    "local_array": ("local_array", copied(4)),
    # __constant__ and __device__ variables.
    "variables": ("use_variables", copied(4)),
    "grid_barrier": ("meet_in_grid", {
        "global_loads": each(),
        "global_stores": each(2),
        "global_bytes_loaded": by_blocks(4 * THREADS),
        "global_bytes_stored": by_blocks(8 * THREADS),
        "block_barriers": by_blocks(1),
        "grid_barriers": by_blocks(1),
    }),
    "warps": ("warp_sum", {
        "global_loads": each(),
        "global_stores": (MANY // 32, THREADS // 32, 1),
        "global_bytes_loaded": by_blocks(4 * THREADS),
        "global_bytes_stored": by_blocks(4 * THREADS // 32),
        "warp_barriers": by_blocks(THREADS // 32),
    }),
}  # fmt: skip


def run(case, seed=0, **environment):
    return checked_run(PROGRAM, case, seed, LAB_RACECHECK_COUNTS="1", **environment)


def numbers_of(launch):
    """What was counted of a launch, in the form of the table above, without what is 0."""
    found = {}
    for key in OF_THREADS:
        counts = launch[key]
        found[key] = counts["total"], counts["most_per_block"], counts["most_per_thread"]
    for key in OF_BLOCKS:
        found[key] = launch[key]["total"], launch[key]["most_per_block"]
    for key in ("static_shared_bytes", "dynamic_shared_bytes"):
        found[key] = launch[key]
    return {key: value for key, value in found.items() if value not in (0, (0, 0), (0, 0, 0))}


def counts_of(case, seed=0, **environment):
    """The only launch of a case, which must come to its end without a finding."""
    code, output, report = run(case, seed, **environment)
    assert code == 0, output
    assert report.get("findings", []) == [], output
    assert len(report["launch_counts"]) == 1
    launch = report["launch_counts"][0]
    assert launch["completed"]
    assert launch["unseen_bytes_stored"] == 0
    return launch


@pytest.mark.parametrize("case", COUNTED)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_kernel_is_counted_exactly_in_every_schedule(case, seed):
    kernel, expected = COUNTED[case]
    launch = counts_of(case, seed)
    assert launch["kernel"] == kernel
    assert numbers_of(launch) == expected


def test_stores_that_nobody_tells_of_are_seen_in_memory():
    for variables in ({}, {"LAB_WEAK": "1"}):
        [launch] = run("hidden_stores", **variables)[2]["launch_counts"]
        assert launch["unseen_bytes_stored"] == MANY // 2
        assert launch["global_stores"]["total"] == MANY // 2


def test_loads_are_watched_if_somebody_asks_for_it():
    [launch] = run("hidden_loads")[2]["launch_counts"]
    odd = [[1, 4 * i, 4 * i + 4] for i in range(1, MANY, 2)]
    assert launch["loaded"] == [number for piece in odd for number in piece]
    assert "loaded" not in run("copy_records")[2]["launch_counts"][0]


def test_what_no_launch_was_seen_to_load_can_be_changed_while_it_runs():
    code, output, _ = run("changed_loads")
    assert (code, output) == (0, f"{MANY // 2} hidden, 0 others\n")


def test_the_hosts_calls_are_listed_in_their_order_and_what_is_not_freed_is_counted():
    for variables in ({}, {"LAB_WEAK": "1"}):
        code, output, report = run("host", **variables)
        assert code == 0, output
        assert report["runtime_calls"] == CALLS
        assert report["number_of_runtime_calls"] == len(CALLS)
        assert report["unfreed_allocations"] == 1
    report = run("many_launches")[2]
    assert len(report["runtime_calls"]) == 1000
    # 3 times cudaMalloc and cudaMemset, 1,201 launches, and the test's cudaDeviceSynchronize.
    assert report["number_of_runtime_calls"] == 6 + 1201 + 1


@pytest.mark.parametrize("number, name", list(enumerate(CALLS, 1)))
def test_each_call_can_be_made_to_fail_and_none_other_does(number, name):
    source = (ROOT / SOURCE).read_text(encoding="utf-8").splitlines()
    _, output, report = run("host", LAB_FAIL_CALL=str(number))
    if name == "cudaDeviceSynchronize":  # main()'s own, after the line that is printed
        assert "cudaSuccess\n" in output
    else:  # cudaErrorUnknown, or what came of going on
        assert "cudaError" in output
        assert "cudaSuccess" not in output
    said = re.search(r"counts\.cu:(\d+): (\w+) was made to fail", output)
    assert said, output
    assert said[2] == name
    written = {"launch": "reverse_twice<<<", "cudaHostAlloc": "cudaMallocHost"}
    assert written.get(name, name) in source[int(said[1]) - 1]
    assert report["launches"] == (0 if name == "launch" else 1)
    assert report["runtime_calls"] == CALLS


def test_no_call_fails_beyond_the_last_one():
    assert "cudaSuccess" in run("host", LAB_FAIL_CALL="99")[1]


def test_a_number_of_a_call_that_makes_no_sense_is_refused():
    for wrong in ("0", "-1", "two", "1x", ""):
        result = captured([PROGRAM, "host"], env={**os.environ, "LAB_FAIL_CALL": wrong})
        assert result.returncode == 2, wrong
        assert (
            result.stderr == f'LAB_FAIL_CALL must be a whole number of 1 or more, not "{wrong}".\n'
        )


@pytest.mark.parametrize("case", COUNTED)
@pytest.mark.parametrize("variables", ({"LAB_WEAK": "1"}, {"LAB_WEAK_SEED": "3"}))
def test_old_values_change_no_number(case, variables):
    _, expected = COUNTED[case]
    assert numbers_of(counts_of(case, **variables)) == expected


def test_a_weak_run_says_that_it_looked_for_no_races():
    assert "findings" not in run("add", LAB_WEAK="1")[2]


def test_the_bytes_of_a_vector_do_not_depend_on_the_compiler():
    # The compiler may hand over its four members one by one, or two at a time.
    launch = counts_of("scale_vectors")
    assert launch["global_bytes_loaded"]["total"] == 16 * MANY
    assert launch["global_bytes_stored"]["total"] == 16 * MANY
    assert launch["global_loads"]["most_per_thread"] in (1, 2, 4)
    assert launch["global_stores"]["most_per_thread"] in (1, 2, 4)


def test_a_launch_has_its_place_and_its_size():
    launches = run("two_launches")[2]["launch_counts"]
    assert [launch["kernel"] for launch in launches] == ["add", "do_nothing"]
    assert launches[1]["blocks"] == [2, 3, 1]
    assert launches[1]["threads"] == [4, 5, 6]
    assert launches[1]["blocks_begun"] == 6
    assert launches[1]["file"].endswith(SOURCE), launches[1]["file"]
    text = (ROOT / SOURCE).read_text(encoding="utf-8").splitlines()
    assert "do_nothing<<<dim3(2, 3)" in text[launches[1]["line"] - 1]
    assert numbers_of(launches[1]) == {}


def test_a_launch_that_fails_says_so():
    code, _, report = run("fails")
    assert code == 1
    [launch] = report["launch_counts"]
    assert not launch["completed"]
    assert launch["global_loads"]["total"] == 1


def test_a_launch_that_is_stopped_has_what_it_did_until_then():
    code, _, report = run("never_ends", LAB_RACECHECK_SECONDS="1")
    assert code == 124
    done, stopped = report["launch_counts"]
    assert done["completed"]
    assert not stopped["completed"]
    assert stopped["kernel"] == "never_end"
    assert stopped["global_atomics"]["most_per_thread"] == 1
    assert stopped["block_barriers"]["most_per_block"] == 1


def test_after_a_thousand_launches_only_their_number_goes_on():
    report = run("many_launches")[2]
    assert report["launches"] == 1201
    assert len(report["launch_counts"]) == 1000
    assert numbers_of(report["launch_counts"][0]) == COUNTED["add"][1]


@pytest.mark.parametrize("variables", ({}, {"LAB_RACECHECK_COUNTS": "0"}))
def test_nothing_is_counted_if_nobody_asks(variables):
    assert "launch_counts" not in checked_run(PROGRAM, "add", 0, **variables)[2]


def test_counts_without_a_file_for_them_are_refused():
    environment = {**os.environ, "LAB_RACECHECK_COUNTS": "1"}
    environment.pop("LAB_RACECHECK_REPORT", None)
    result = captured([PROGRAM, "add"], env=environment)
    assert result.returncode == 2
    assert (
        result.stderr
        == "LAB_RACECHECK_COUNTS needs LAB_RACECHECK_REPORT, the file for the counts.\n"
    )


def test_settings_come_and_the_report_goes_by_standard_input():
    settings = {
        "LAB_RACECHECK_SEED": "7",
        "LAB_RACECHECK_COUNTS": "1",
        "LAB_RACECHECK_REPORT": "&0",
    }
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall("".join(f"{name}={value}\0" for name, value in settings.items()).encode())
        ours.shutdown(socket.SHUT_WR)
        result = subprocess.run(
            [PROGRAM, "add"],
            env={**os.environ, "LAB_SETTINGS": "stdin"},
            stdin=theirs,
            check=False,
        )
        theirs.close()
        with ours.makefile("rb") as received:
            report = json.load(received)
    assert result.returncode == 0
    assert report["seed"] == 7
    assert numbers_of(report["launch_counts"][0]) == COUNTED["add"][1]


@pytest.mark.parametrize("weak", ("0", "1"))
def test_a_file_that_can_not_be_written_is_a_failure_in_a_weak_run_as_well(tmp_path, weak):
    path = str(tmp_path / "no such folder" / "report.json")
    environment = {**os.environ, "LAB_RACECHECK_COUNTS": "1", "LAB_RACECHECK_REPORT": path}
    result = captured([PROGRAM, "add"], env={**environment, "LAB_WEAK": weak})
    assert result.returncode == 1
    assert f"racecheck: {path} can't be written" in result.stderr


TABLE_OF_TREE = """
                                  total   most per block  most per thread
  global loads                    1,024              128                1
  global stores                       8                1                1
  shared loads                    2,040              255               15
  shared stores                   2,040              255                8
  global bytes loaded             4,096              512
  global bytes stored                32                4
  block barriers                     64                8
  shared memory per block: 512 bytes static, 0 bytes dynamic
"""


def output_of(case, *words, code=0):
    result = captured(
        [
            sys.executable,
            ENGINE / "cudacheck",
            "check",
            "--program",
            PROGRAM,
            *words,
            "--",
            case,
        ]
    )
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


def test_it_prints_a_table_for_the_first_seed():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counts.json")
        output = output_of("tree", "--counts", "--seeds", "2", "--json", path)
        with open(path, encoding="utf-8") as file:
            [result] = json.load(file)
    assert "\nCounted at seed 0:\n\nhalving_tree<128u><<<8, 128>>> at " in output
    assert output.endswith(TABLE_OF_TREE), output
    assert numbers_of(result["launch_counts"][0]) == COUNTED["tree"][1]


def test_launches_that_did_the_same_have_one_table():
    output = output_of("many_launches", "--counts", "--seed", "3")
    assert "\nCounted at seed 3:\n" in output
    assert re.search(r"\ndo_nothing<<<1, 1>>> at .+counts\.cu:\d+, 999 times\n", output)
    assert "  no access to memory that threads share, no fence, no barrier\n" in output
    assert "201 launches after the first 1,000 were not counted.\n" in output


def test_a_launch_that_fails_is_told_so():
    output = output_of("fails", "--counts", "--seed", "0", code=1)
    assert "  It did not come to its end; blocks that had begun: 1\n" in output


def test_it_prints_none_if_nobody_asks():
    assert "Counted" not in output_of("tree", "--seeds", "1")
