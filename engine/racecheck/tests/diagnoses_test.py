# SPDX-License-Identifier: MIT
"""What racecheck says of the races of diagnoses.cu: which diagnoses, at which lines, how severe."""

import json
import os
import re
import sys
import tempfile
import unittest

from engine.command.paths import ENGINE
from test_setup import captured, checked_run, marked_lines
from this_build import BUILD, ROOT

SOURCE = ROOT / "engine/racecheck/tests/diagnoses.cu"
PROGRAM = os.environ["DIAGNOSES_PROGRAM"]
IS_CLANG = (
    "clang" in json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))["compiler"]
)
BARRIERS = (["missing __syncthreads()"], ["missing __syncwarp()"])
SAME_VALUE = "it is a race even if both write the same value"


def line_of(mark):
    return marked_lines(SOURCE)[mark]


def run(case, seed=0, lenient=False):
    """Exit code, findings, and what a run without a report file prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        environment = {
            **os.environ,
            "LAB_RACECHECK_SEED": str(seed),
            "LAB_RACECHECK_LENIENT": "1" if lenient else "0",
        }
        environment.pop("LAB_TEST_LOG", None)
        texts = []
        for report in ({"LAB_RACECHECK_REPORT": path}, {}):
            result = captured([PROGRAM, case], env={**environment, **report})
            texts.append(result.stderr)
        with open(path, encoding="utf-8") as file:
            return result.returncode, json.load(file)["findings"], texts[1]


def races(findings):
    return [item for item in findings if item["kind"] == "race"]


def between_blocks(finding):
    return finding["first"]["block"] != finding["second"]["block"]


def lab_racecheck(case, *words):
    result = captured(
        [sys.executable, ENGINE / "cudacheck", "check", "--program", PROGRAM, *words, "--", case]
    )
    return result.returncode, result.stdout


class SeveralDiagnosesOfOnePairOfLines(unittest.TestCase):
    def test_an_element_is_as_large_as_the_access(self):
        for case, said in {
            "element_of_1_byte": "byte 5 of 128",
            "element_of_2_bytes": "element 5 (2 bytes each) of 128 bytes",
            "element_of_4_bytes": "element 5 (4 bytes each) of 128 bytes",
            "element_of_8_bytes": "element 5 (8 bytes each) of 128 bytes",
        }.items():
            with self.subTest(case):
                _, findings, _ = run(case)
                self.assertEqual([item["object"] for item in findings], [f"allocation 1, {said}"])

    def test_each_is_listed_once_and_the_worst_decides(self):
        lines = [line_of("data written"), line_of("data read")]
        for seed in range(6):
            with self.subTest(seed=seed):
                code, findings, text = run("one_block_waits", seed, lenient=True)
                self.assertEqual(code, 1, text)
                self.assertEqual(
                    sorted((item["diagnosis"], item["severity"]) for item in findings),
                    [(["missing acquire"], "strict"), (["no synchronisation"], "error")],
                )
                for item in findings:
                    self.assertEqual(item["count"], 1)
                    found = sorted(item[party]["line"] for party in ("first", "second"))
                    self.assertEqual(found, sorted(lines))

    def test_over_all_seeds_as_well(self):
        code, output = lab_racecheck("one_block_waits", "--seeds", "4", "--lenient")
        self.assertEqual(code, 1, output)
        self.assertEqual(output.count("race (global memory)"), 2, output)
        self.assertEqual(output.count("seed 0, and in 4 of 4 schedules"), 2, output)
        self.assertIn("2 found", output)

    def test_what_is_worse_is_no_part_of_what_is_strict(self):
        code, output = lab_racecheck("one_block_waits_volatile", "--seeds", "4", "--lenient")
        self.assertEqual(code, 1, output)
        self.assertEqual(output.count("race (global memory)"), 2, output)
        _, findings, text = run("one_block_waits_volatile")
        self.assertEqual(sorted(item["severity"] for item in findings), ["error", "strict"])
        self.assertEqual(text.count("race (global memory)"), 2, text)

    def test_an_atomic_of_thread_scope_is_atomic_for_no_other_thread(self):
        for case, marks in (
            ("thread_scope_updates", {("thread update", "thread update")}),
            ("thread_scope_in_one_block", {("thread update", "thread update")}),
            ("thread_scope_hands_over", {("thread store", "thread load")}),
            ("thread_scope_and_wider", {("thread exchange", "wider add")}),
        ):
            pairs = {frozenset(map(line_of, pair)) for pair in marks}
            for seed in range(4):
                with self.subTest(case=case, seed=seed):
                    code, findings, text = run(case, seed)
                    found = {
                        frozenset((item["first"]["line"], item["second"]["line"]))
                        for item in findings
                        if item["diagnosis"] == ["scope too narrow"]
                    }
                    self.assertEqual((code, found), (1, pairs), text)
                    self.assertIn("atomically at thread scope", text)
                    self.assertIn("is atomic for its own thread only", text)
        self.assertEqual(run("thread_scope_on_its_own")[:2], (0, []))

    def test_an_acquire_of_a_narrow_scope_is_no_missing_acquire(self):
        for seed in range(6):
            with self.subTest(seed=seed):
                code, findings, text = run("lock_with_narrow_acquire", seed, lenient=True)
                self.assertEqual(code, 1, text)
                self.assertTrue(findings)
                for item in findings:
                    self.assertEqual(item["diagnosis"], ["scope too narrow"])
                    self.assertTrue(between_blocks(item))


class BlocksAreToldApart(unittest.TestCase):
    def test_threads_of_two_blocks_are_never_said_to_be_of_one(self):
        for case in ("histogram", "last_index", "count", "same_constant"):
            for seed in range(4):
                with self.subTest(case=case, seed=seed):
                    _, findings, text = run(case, seed)
                    self.assertTrue(findings)
                    for item in findings:
                        if between_blocks(item):
                            self.assertNotIn("of one block", item["text"])
                            self.assertNotIn("of one warp", item["text"])
                    self.assertTrue(any(between_blocks(item) for item in findings), text)

    def test_a_barrier_is_said_not_to_be_enough(self):
        _, findings, _ = run("same_constant")
        by_diagnosis = {tuple(item["diagnosis"]): item for item in findings}
        self.assertEqual(set(by_diagnosis), {("no synchronisation",), ("missing __syncthreads()",)})
        self.assertIn(
            "that is not enough: threads of different blocks race at these lines as well",
            by_diagnosis[("missing __syncthreads()",)]["text"],
        )


class PlainUpdates(unittest.TestCase):
    def test_they_are_to_be_made_atomic(self):
        for case, mark in (
            ("count", "counted"),
            ("count_bytes", "byte counted"),
            ("histogram", "bin updated"),
        ):
            for seed in range(4):
                with self.subTest(case=case, seed=seed):
                    code, findings, _ = run(case, seed)
                    self.assertEqual(code, 1)
                    (found,) = findings
                    self.assertEqual(found["diagnosis"], ["missing atomic"])
                    self.assertEqual(found["first"]["line"], line_of(mark))
                    self.assertIn("use atomicAdd()", found["text"])
                    self.assertIn("threads of different blocks meet here", found["text"])
                    self.assertNotIn("missing __sync", found["text"])

    def test_those_of_one_block_too(self):
        _, (found,), _ = run("count_in_a_block")
        self.assertEqual(found["diagnosis"], ["missing atomic"])
        self.assertNotIn("different blocks", found["text"])

    def test_at_two_lines(self):
        _, findings, _ = run("count_and_double")
        self.assertEqual({tuple(item["diagnosis"]) for item in findings}, {("missing atomic",)})
        if IS_CLANG:
            return  # it makes one access of both branches, which is at neither line
        pairs = {tuple(sorted((f["first"]["line"], f["second"]["line"]))) for f in findings}
        self.assertIn((line_of("counted first"), line_of("doubled")), pairs)

    def test_what_reads_another_threads_element_lacks_a_barrier(self):
        for seed in range(4):
            with self.subTest(seed=seed):
                _, (found,), _ = run("sum_neighbours", seed)
                self.assertEqual(found["diagnosis"], ["missing __syncthreads()"])

    def test_lines_that_change_something_else_lack_a_barrier(self):
        for case, marks in (
            ("tiles_with_a_table", ("copied", "copy used")),
            ("tiles_with_a_count", ("stored and counted", "stored one used")),
            ("tiles_with_a_sum", ("own one increased", "total used")),
        ):
            for seed in range(4):
                with self.subTest(case=case, seed=seed):
                    code, findings, _ = run(case, seed)
                    self.assertEqual(code, 1)
                    self.assertTrue(findings)
                    for item in findings:
                        self.assertIn(item["diagnosis"], BARRIERS)
                        lines = {item[party]["line"] for party in ("first", "second")}
                        self.assertLessEqual(lines, {line_of(mark) for mark in marks})


class Signals(unittest.TestCase):
    def test_the_line_that_does_not_release_is_the_unlocking_one(self):
        for seed in range(6):
            with self.subTest(seed=seed):
                _, findings, _ = run("lock_without_release", seed)
                for item in findings:
                    self.assertEqual(item["diagnosis"], ["missing release"])
                    at = re.search(r"the atomic at .+:(\d+) publishes", item["text"])
                    self.assertEqual(int(at[1]), line_of("unlocked"))

    def test_a_volatile_access_is_not_called_an_atomic(self):
        for case, diagnosis, named, mark in (
            (
                "lock_opened_by_volatile",
                "missing release",
                r"the volatile store at .+:(\d+) publishes",
                "unlocked by a volatile store",
            ),
            (
                "flag_that_is_volatile",
                "missing acquire",
                r"by the volatile load at .+:(\d+), and",
                "volatile flag",
            ),
        ):
            with self.subTest(case=case):
                _, findings, text = run(case)
                (found,) = (item for item in findings if item["diagnosis"] == [diagnosis])
                at = re.search(named, found["text"])
                self.assertEqual(int(at[1]), line_of(mark), text)

    def test_a_volatile_access_does_not_make_a_missing_acquire_worse(self):
        for case in ("last_block_plain", "last_block_volatile"):
            with self.subTest(case=case):
                code, (found,), _ = run(case, lenient=True)
                self.assertIn("missing acquire", found["diagnosis"])
                self.assertEqual((code, found["severity"]), (0, "strict"))
                self.assertEqual(run(case)[0], 1)

    def test_fences_before_the_barrier_lack_a_fence_and_no_barrier(self):
        for seed in range(6):
            with self.subTest(seed=seed):
                _, (found,), text = run("fences_before_the_barrier", seed)
                self.assertEqual(found["diagnosis"], ["missing acquire"])
                self.assertEqual(found["second"]["line"], line_of("observed without a fence"))
                self.assertIn("an atomic that acquires is not enough", text)

    def test_one_run_and_lab_say_the_same_of_fences_before_the_barrier(self):
        # Of thread 0, which signals, an atomic that acquires would see what its own fence published.
        code, _, text = run("fences_of_few_threads")
        self.assertEqual(code, 1)
        self.assertIn(" found\n", text)
        code, output = lab_racecheck("fences_of_few_threads", "--seed", "0")
        self.assertEqual(code, 1)
        for said in (text, output):
            self.assertEqual(said.count("race (global memory)"), 1, said)
            self.assertIn(", 1 found\n", said)
            self.assertIn("an atomic that acquires is not enough", said)
            self.assertIn(  # thread 0 of each other block
                "  15 of these lack less: missing acquire (an atomic that acquires is enough)\n",
                said,
            )

    def test_an_atomic_that_acquires_after_fences_of_all_threads_is_diagnosed(self):
        for seed in range(5):
            with self.subTest(seed=seed):
                _, (found,), _ = run("fences_and_an_acquire", seed)
                self.assertEqual(found["diagnosis"], ["missing barrier before the atomic"])
                self.assertEqual(found["codes"], ["missing_barrier_before"])

    def test_a_narrow_release_and_no_acquire_are_both_said(self):
        for seed in range(4):
            with self.subTest(seed=seed):
                _, (found,), _ = run("narrow_release_and_no_acquire", seed)
                self.assertEqual(found["diagnosis"], ["scope too narrow", "missing acquire"])
                self.assertNotIn("publishes nothing", found["text"])


class ManyAtomics(unittest.TestCase):
    def check(self, case, diagnosis, *marks):
        code, findings, text = run(case)
        self.assertEqual(code, 1)
        self.assertEqual([item["diagnosis"] for item in findings], [[diagnosis]], text)
        lines = [findings[0][party]["line"] for party in ("first", "second")]
        self.assertEqual(sorted(lines), sorted(line_of(mark) for mark in marks))

    def test_a_reduction_in_1000_blocks(self):
        self.check(
            "reduction_in_1000_blocks", "missing acquire", "block's sum stored", "block's sum read"
        )

    def test_fences_of_all_threads_and_atomics_that_acquire(self):
        _, (found,), text = run("fences_and_an_acquire_in_1000_blocks")
        self.assertEqual(found["diagnosis"], ["missing acquire"])
        self.assertEqual(found["codes"], ["missing_acquire", "only_a_fence_acquires"])
        self.assertIn("an atomic that acquires is not enough", text)

    def test_one_counter_of_all_threads(self):
        for case, diagnosis in (
            ("last_thread_without_release", "missing release"),
            ("last_thread_without_acquire", "missing acquire"),
        ):
            with self.subTest(case=case):
                self.check(case, diagnosis, "thread's own stored", "all others' read")

    def test_a_plain_mistake_of_one_warp_after_100000_atomics(self):
        self.check(
            "count_then_exchange", "missing __syncwarp()",
            "lane's own stored", "other lane's read",
        )  # fmt: skip


class Initialisation(unittest.TestCase):
    def test_an_exchange_whose_value_is_not_used_only_writes(self):
        for case in ("initialise", "initialise_and_discard", "initialise_and_read"):
            with self.subTest(case=case):
                code, findings, text = run(case)
                self.assertEqual((code, findings), (0, []), text)

    def test_what_uses_the_old_value_is_found(self):
        for case, mark in (
            ("initialise_and_use", "old value used"),
            ("add_to_fresh", "old value added to"),
        ):
            with self.subTest(case=case):
                code, findings, _ = run(case)
                (found,) = [item for item in findings if item["kind"] == "unwritten"]
                self.assertEqual((code, found["count"]), (1, 4))
                self.assertEqual(found["second"]["line"], line_of(mark))


class OneElement(unittest.TestCase):
    def test_many_pairs_of_lines_are_one_finding(self):
        code, findings, text = run("many_lines")
        self.assertEqual(code, 1)
        self.assertEqual(text.count("race (global memory)"), 1, text)
        self.assertLess(text.count("\n"), 12, text)
        more = len(findings) - 1
        self.assertGreater(more, 10)
        self.assertIn(f"and so at {more} more pairs of lines of this element: ", text)
        races_found = sum(item["count"] for item in findings)
        self.assertIn(f"; {races_found - 1} more of this element", text)

    def test_over_all_seeds_as_well(self):
        code, output = lab_racecheck("many_lines", "--seeds", "20")
        self.assertEqual(code, 1)
        self.assertEqual(output.count("race (global memory)"), 1, output)
        match = re.search(r"and so at (\d+) more pairs of lines of this element: ", output)
        self.assertGreater(int(match[1]), 100, output)
        self.assertIn(", 1 found", output)

    def test_the_same_value_is_no_excuse(self):
        for case, expected in (("same_constant", True), ("count", False), ("histogram", False)):
            with self.subTest(case=case):
                _, findings, _ = run(case)
                self.assertEqual(any(SAME_VALUE in item["text"] for item in findings), expected)


def test_names_are_those_of_the_source_whatever_types_they_would_stand_for():
    *_, report = checked_run(PROGRAM, "names_of_types", 0, LAB_RACECHECK_COUNTS="1")
    objects = {item["object"] for item in report["findings"]}
    assert objects == {"v", "x", "re", "sum", "of_a_namespace::i", "holder<int>::d", "y::f"}
    assert [launch["kernel"] for launch in report["launch_counts"]] == ["y"]
