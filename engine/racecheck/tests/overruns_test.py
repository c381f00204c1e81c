# SPDX-License-Identifier: MIT
"""racecheck names what runs out of shared memory: variable, index, size, line and thread."""

import itertools
import os
import re
import unittest

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


class Overruns(unittest.TestCase):
    def outside(self, case, seed):
        """The one finding of a run that must end regularly, and keep what was printed before."""
        code, output, report = run(case, seed)
        self.assertEqual(code, 1, output)
        self.assertTrue(output.startswith("printed before the launch\n"), output)
        self.assertEqual({item["kind"] for item in report["findings"]}, {"outside"}, output)
        return report["findings"][0]

    def test_an_index_out_of_a_variable_is_named_with_its_thread(self):
        for case, (mark, name, size, index_of) in OVERRUNS.items():
            for seed in SEEDS:
                with self.subTest(case=case, seed=seed):
                    found = self.outside(case, seed)
                    self.assertEqual(found["second"]["line"], line_of(mark))
                    self.assertEqual(found["second"]["access"], "written")
                    index = index_of(found["second"]["thread"][0])
                    distance = -4 * index if index < 0 else 4 * index + 4 - size
                    where = "before its begin" if index < 0 else "past its end"
                    self.assertRegex(
                        found["object"],
                        rf"^{name}\[{index}\] \(int ?\[64\]\) of {size} bytes: "
                        rf"{distance} bytes {where}$",
                    )

    def test_structures_and_dynamic_shared_memory_are_named(self):
        for case, (mark, name) in OTHERS.items():
            for seed in SEEDS:
                with self.subTest(case=case, seed=seed):
                    found = self.outside(case, seed)
                    self.assertEqual(found["second"]["line"], line_of(mark))
                    self.assertRegex(found["object"], name)

    def test_a_mistake_with_memory_that_a_kernel_allocates_names_its_lines(self):
        for case, (kind, marks, name, marks_of_name) in OF_HEAP.items():
            with self.subTest(case=case):
                found = [
                    (item, output)
                    for code, output, report in (run(case, seed) for seed in SEEDS)
                    for item in report["findings"]
                    if item["kind"] == kind
                ]
                self.assertTrue(found)
                lines = [f"{SOURCE.name}:{line_of(mark)}" for mark in marks_of_name]
                lines[0] = f"a kernel's allocation at {lines[0]}"
                for item, output in found:
                    here = re.sub(rf"at .*?{SOURCE.name}:", f"at {SOURCE.name}:", item["object"])
                    self.assertEqual(here, name.format(*lines), output)
                    at = {item[which]["line"] for which in ("first", "second") if item.get(which)}
                    self.assertEqual(at, set(map(line_of, marks)), output)

    def test_a_misaligned_access_ends_the_launch_at_its_line(self):
        _, output, report = run("misaligned", 0)
        self.assertIn("cudaErrorMisalignedAddress", output)
        self.assertTrue(
            re.search(
                rf"Invalid __global__ read of size 8 bytes at .*overruns\.cu:{line_of('double')}: "
                r"misaligned address: 0x[0-9a-f]+ is no multiple of 8; it is byte 4 of an "
                r"allocation of 256 bytes",
                output,
            ),
            output,
        )
        self.assertEqual(report["failed_launches"], 1)

    def test_a_structure_of_doubles_needs_8_bytes_only(self):
        code, output, report = run("aligned", 0)
        self.assertIn("cudaSuccess", output)
        self.assertEqual((code, report["failed_launches"]), (0, 0), output)

    def test_what_fits_is_no_overrun(self):
        right = ("fits", "constructed", "heap", "heap_of_a_launch_before")
        for case, seed in itertools.product(right, SEEDS):
            with self.subTest(case=case, seed=seed):
                code, output, report = run(case, seed)
                self.assertEqual((code, report["findings"]), (0, []), output)
