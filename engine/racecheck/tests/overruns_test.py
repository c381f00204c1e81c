# SPDX-License-Identifier: MIT
"""racecheck names what runs out of shared memory: variable, index, size, line and thread."""

import os
import re

import pytest

from test_setup import checked_run, marked_lines
from this_build import ROOT

SOURCE = ROOT / "engine/racecheck/tests/overruns.cu"
PROGRAM = os.environ["OVERRUNS_PROGRAM"]
SEEDS = range(4)

# Case: the mark of its line, what the variable is called, its bytes, and which index thread i has.
OVERRUNS = {
    "doubled": ("doubled", "s", 256, lambda i: 2 * i),
    "past_the_end": ("shifted", "s", 256, lambda i: i + 64),
    "one_past_the_end": ("shifted", "s", 256, lambda i: i + 65),
    "one_before": ("shifted", "s", 256, lambda i: i - 1),
    "before": ("shifted", "s", 256, lambda i: i - 64),
}
# Of memory that a kernel has allocated itself. Case: what was found, the marks of its lines, what the
# object is called, and the marks of the lines in that.
OF_HEAP = {
    "past_the_heap": (
        "outside", ["past the malloc"], "{} of 16 bytes: 4 bytes past its end", ["malloc"],
    ),
    "unwritten_heap": (
        "unwritten", ["read_at"], "{}, element 2 (4 bytes each) of 16 bytes", ["malloc"],
    ),
    "after_free": ("outside", ["read_at"], "{} of 16 bytes, freed at {}", ["malloc", "free"]),
    "after_delete": ("outside", ["read_at"], "{} of 32 bytes, freed at {}", ["new", "delete"]),
    "freed_twice": (
        "outside", ["second free"], "{} of 16 bytes, freed at {}", ["malloc", "free"],
    ),
    "freed_in_a_launch_before": (
        "outside", ["reads"], "{} of 32 bytes, freed at {}", ["new for all", "delete for all"],
    ),
    "freed_by_another_block": (
        "race", ["read_at", "delete for all"], "{}, element 0 (4 bytes each) of 32 bytes",
        ["new for all"],
    ),
}  # fmt: skip
# Case: the mark of its line, and what the object is called.
OTHERS = {
    "structure": ("structure", r"^s \(.*pair_of_arrays\) of 128 bytes: \d+ bytes past its end$"),
    "past_dynamic": (
        "dynamic", r"^the launch's dynamic shared memory of 256 bytes: \d+ bytes past its end$",
    ),
    # The launch's third argument was forgotten.
    "no_dynamic": (
        "dynamic", r"^the launch's dynamic shared memory of 0 bytes: \d+ bytes past its end$",
    ),
    "before_dynamic": (
        "dynamic", r"^the launch's dynamic shared memory of 256 bytes: \d+ bytes before its begin$",
    ),
    "past_atomics": (
        "atomics", r"^values\[64\] \(.*atomic<.*\) of 256 bytes: 4 bytes past its end$",
    ),
}  # fmt: skip


def line_of(mark):
    return marked_lines(SOURCE)[mark]


def run(case, seed):
    """Exit code, what was printed, and the report."""
    return checked_run(PROGRAM, case, seed)


def outside(case, seed):
    """The one finding of a run that must end regularly, and keep what was printed before."""
    code, output, report = run(case, seed)
    assert code == 1, output
    assert output.startswith("printed before the launch\n"), output
    assert {item["kind"] for item in report["findings"]} == {"outside"}, output
    return report["findings"][0]


@pytest.mark.parametrize("case", OVERRUNS)
@pytest.mark.parametrize("seed", SEEDS)
def test_an_index_out_of_a_variable_is_named_with_its_thread(case, seed):
    mark, name, size, index_of = OVERRUNS[case]
    found = outside(case, seed)
    assert found["second"]["line"] == line_of(mark)
    assert found["second"]["access"] == "written"
    index = index_of(found["second"]["thread"][0])
    distance = -4 * index if index < 0 else 4 * index + 4 - size
    where = "before its begin" if index < 0 else "past its end"
    assert re.search(
        rf"^{name}\[{index}\] \(int ?\[64\]\) of {size} bytes: "
        rf"{distance} bytes {where}$",
        found["object"],
    )


@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_structures_and_dynamic_shared_memory_are_named(case, seed):
    mark, name = OTHERS[case]
    found = outside(case, seed)
    assert found["second"]["line"] == line_of(mark)
    assert re.search(name, found["object"])


@pytest.mark.parametrize("case", OF_HEAP)
def test_a_mistake_with_memory_that_a_kernel_allocates_names_its_lines(case):
    kind, marks, name, marks_of_name = OF_HEAP[case]
    found = [
        (item, output)
        for code, output, report in (run(case, seed) for seed in SEEDS)
        for item in report["findings"]
        if item["kind"] == kind
    ]
    assert found
    lines = [f"{SOURCE.name}:{line_of(mark)}" for mark in marks_of_name]
    lines[0] = f"a kernel's allocation at {lines[0]}"
    for item, output in found:
        here = re.sub(rf"at .*?{SOURCE.name}:", f"at {SOURCE.name}:", item["object"])
        assert here == name.format(*lines), output
        at = {item[which]["line"] for which in ("first", "second") if item.get(which)}
        assert at == set(map(line_of, marks)), output


def test_a_misaligned_access_ends_the_launch_at_its_line():
    _, output, report = run("misaligned", 0)
    assert "cudaErrorMisalignedAddress" in output
    assert re.search(
        rf"Invalid __global__ read of size 8 bytes at .*overruns\.cu:{line_of('double')}: "
        r"misaligned address: 0x[0-9a-f]+ is no multiple of 8; it is byte 4 of an "
        r"allocation of 256 bytes",
        output,
    ), output
    assert report["failed_launches"] == 1


def test_a_misaligned_access_is_one_in_shared_memory():
    _, output, _ = run("in_dynamic", 0)
    assert "cudaErrorMisalignedAddress" in output
    mark = line_of("word of dynamic memory")
    line = rf"Invalid __shared__ write of size 8 bytes at .*overruns\.cu:{mark}: misaligned address"
    assert re.search(line, output), output


def test_a_structure_of_doubles_needs_8_bytes_only():
    code, output, report = run("aligned", 0)
    assert "cudaSuccess" in output
    assert (code, report["failed_launches"]) == (0, 0), output


@pytest.mark.parametrize("case", ("fits", "constructed", "heap", "heap_of_a_launch_before"))
@pytest.mark.parametrize("seed", SEEDS)
def test_what_fits_is_no_overrun(case, seed):
    code, output, report = run(case, seed)
    assert (code, report["findings"]) == (0, []), output
