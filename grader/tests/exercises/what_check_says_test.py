# SPDX-License-Identifier: MIT
"""What `check` says of mistakes in one exercise, named by EXERCISE: each test is about the exercises of
its decorator, so a change of another one does not reach it."""

import json
import os
import re
import unittest

from engine.command.build_folder import introspection
from grader.exercises.cases import Case
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.limits import lines_about
from grader.exercises.solutions import starter
from lab_runs import lab
from lab_tool.authoring.trials import mutants_of, patched, solution
from test_setup import temporary_folder
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise(os.environ["EXERCISE"])
SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
NAMES = set()  # of all exercises that a test is about


def about(*names):
    """The test, if it is about the exercise; else None, which is no test."""
    NAMES.update(names)
    return lambda test: test if EXERCISE.name in names else None


class WhatCheckSaysTest(unittest.TestCase):
    def setUp(self):
        if SETTINGS["backend"] != "cpu":
            self.skipTest("the CPU backend judges")
        self.work = temporary_folder(self)
        self.file = self.work / EXERCISE.file_name

    def check(self, *words):
        where = ["--work", str(self.work), "--build", str(BUILD)]
        return lab("check", EXERCISE.number, *words, *where)

    def test_meson_has_a_test_for_each_of_the_exercises(self):
        of_meson = (test["env"].get("EXERCISE") for test in introspection(BUILD, "tests")
                    if test["name"].startswith("check_of_"))  # fmt: skip
        self.assertEqual(set(of_meson), NAMES)

    @about("reverse_in_place")
    def test_a_limit_that_is_exceeded_by_little_is_told_in_whole_numbers(self):
        text = solution(EXERCISE).replace("pairs = n / 2;", "pairs = (n + 1) / 2;")
        self.file.write_text(text, encoding="utf-8")
        said = self.check().stdout
        self.assertIn(
            "Your code: 10,002 global loads for 10,001 elements; allowed: 10,001.\n", said
        )
        limit = {"count": "global loads", "per": "element", "at_most": 0, "advice": ""}
        exercise = EXERCISE._replace(facts={**EXERCISE.facts, "limits": [limit]})
        for loads, elements, says in [
            (1, 1000, "1 global load for 1,000 elements; allowed: 0."),
            (1, 1, "1 global load per element; allowed: 0."),
            (11, 10, "1.1 global loads per element; allowed: 0."),
        ]:
            case = Case("one", [], elements=elements)
            lines = lines_about(
                exercise, [{"launch_counts": [{"global_loads": {"total": loads}}]}], case
            )
            self.assertEqual(lines[0], f"Your code: {says}")

    @about("fullest_bin")
    def test_a_race_is_shown_by_a_wrong_result_that_it_allows(self):
        relaxed = next(each for each in mutants_of(EXERCISE) if each.name == "relaxed_ticket")
        self.file.write_text(patched(EXERCISE, relaxed), encoding="utf-8")
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            " ".join(result.stdout.split()),
            r"results are right here, but CUDA's rules allow this one, too \([^)]+\): "
            r"\w+(\[\d+\])?: got \d+, expected \d+ "
            r"Two threads race, in 20 of 20 schedules: block \d+ thread \d+ ",
        )

    @about("tree_without_its_barrier")
    def test_a_wrong_result_comes_with_the_race_that_may_be_its_reason(self):
        self.file.write_text(starter(EXERCISE), encoding="utf-8")
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            " ".join(result.stdout.split()),
            r"results .* races . .*: got \S+, expected \S+ .*"
            r"Two threads race, which may be the reason: block \d+ thread \d+ ",
        )

    @about("grid_stride_off_by_a_grid")
    def test_bytes_that_two_blocks_write_are_not_to_be_exchanged_atomically(self):
        self.file.write_text(starter(EXERCISE), encoding="utf-8")
        said = " ".join(self.check("--explain").stdout.split())
        self.assertIn("it is a race even if both write the same value", said)
        self.assertIn("let one thread write", said)
        self.assertNotIn("atomicExch", said)  # there is none for unsigned char

    @about("fullest_bin", "arg_min", "vec_add_with_a_table")
    def test_an_error_in_a_header_is_told_at_the_students_line(self):
        for number, before, after, says in [
            ("04.2", "tickets(*arrived)", "tickets(arrived)", "invalid conversion from"),
            (
                "04.2",
                "atomicAdd(&bins[bin], of_block[bin])",
                "atomicMax((float*)&bins[bin], 1.0f)",
                "no matching function for call to",
            ),
            (
                "04.3",
                "block_reduce(best, smaller<T>{}, shared)",
                "block_reduce(best, 3, shared)",
                "",
            ),
            ("06.1", "canceled_block<1>", "canceled_block<4>", "the rank is 1, 2 or 3"),
        ]:
            if number != EXERCISE.number:
                continue
            with self.subTest(after=after):
                text = solution(EXERCISE)
                self.assertIn(before, text)
                line = text[: text.index(before)].count("\n") + 1
                self.file.write_text(text.replace(before, after, 1), encoding="utf-8")
                _, _, first, *rest = self.check().stdout.splitlines()
                self.assertRegex(
                    first, rf"^  {re.escape(self.file.name)}:{line}:(\d+:)? error: .*{says}"
                )
                places = [each for each in rest if re.match(r"  \S+:\d+:", each)]
                for place in places:
                    self.assertTrue(place.startswith(f"  {self.file.name}:"), place)
                self.assertNotIn(str(ROOT), "\n".join(rest))

    @about("block_maximum")
    def test_a_race_of_other_cases_is_not_shown_below_a_wrong_result(self):
        barrier, result = (
            "    __syncthreads();\n    live = half;",
            "maxima[blockIdx.x] = largest[0]",
        )
        text = solution(EXERCISE)
        self.assertIn(barrier, text)
        self.assertIn(result, text)
        text = text.replace(barrier, "    live = half;")  # a race, if there are several threads
        wrong = text.replace(result, f"{result} + (blockDim.x == 1)")
        self.file.write_text(wrong, encoding="utf-8")
        said = self.check().stdout
        self.assertIn("1 value, 1 block of 1 thread", said)
        self.assertNotIn("Two threads race", said)

    @about("classic_guard")
    def test_what_a_race_lacks_is_said_if_it_is_asked_for(self):
        mutant = next(each for each in mutants_of(EXERCISE) if each.name == "no_acquire")
        self.file.write_text(patched(EXERCISE, mutant), encoding="utf-8")
        out = self.work / "verdicts.json"
        said = " ".join(self.check("--json", str(out)).stdout.split())
        self.assertRegex(said, r"writes \S+ line \d+ .* reads \S+ line \d+")
        self.assertIn("the one that reads may find the old value or the new one", said)
        self.assertNotIn("__threadfence() after", said)
        command = (
            rf"\./lab check 04\.1 --explain --work {re.escape(str(self.work))} says what is missing"
        )
        self.assertRegex(said, command)
        self.assertNotIn("missing", re.sub(command, "", said))
        (verdict,) = json.loads(out.read_text(encoding="utf-8"))
        picture = (self.work / "04_classic_guard.svg").read_text(encoding="utf-8")
        self.assertIn("either of the two threads may be the first one", picture)
        self.assertNotIn("missing acquire", picture)
        explained = " ".join(self.check("--explain").stdout.split())
        self.assertIn(" ".join(verdict["remedy"]), explained)
        self.assertIn("missing acquire", explained)
        self.assertNotIn("--explain", explained)

    @about("classic_guard")
    def test_a_loop_that_never_ends_is_named_with_its_line(self):
        text = solution(EXERCISE)
        end = text.index("  if (is_last_block(counter)) {")
        line = text[:end].count("\n") + 1
        for name, loop, says in [
            (
                "atomic",
                "while (atomicAdd(counter, 0) != 12345) {}",
                rf"CUDA says: the launch timed out .* block 0 thread 0 waits for a value in memory "
                rf"line {line} Is there a loop that nothing ends",
            ),
            (
                "plain",
                'if (std::getenv("LAB_RACECHECK_SEED")) while (*counter != 12345) {}',
                rf"In one schedule your kernel never ends: .* is in a loop line {line} The compiler "
                r"reads what it waits for once, before the loop. Such a loop polls without an atomic",
            ),
        ]:
            if name == "plain" and "clang" in SETTINGS["compiler"]:
                continue  # which leaves such a loop out
            with self.subTest(name):
                changed = f"#include <cstdlib>\n{text[:end]}  {loop}\n{text[end:]}"
                self.file.write_text(
                    changed.replace("#include <cstddef>\n", "", 1), encoding="utf-8"
                )
                result = self.check()
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(" ".join(result.stdout.split()), says)

    @about("block_maximum", "mean_and_variance")
    def test_an_overrun_of_shared_memory_names_the_variable_and_no_command_that_fails(self):
        for number, before, after, says in [
            (
                "02.1",
                "threads * sizeof(int)>>>",
                "threads * sizeof(int) / 2>>>",
                r"the launch's dynamic shared memory of \d+ bytes: \d+ bytes past its end "
                r"written by block \d+ thread \d+ at line 11 largest\[thread\] = ",
            ),
            (
                "03.1",
                "shared[course::largest_block]",
                "shared[256]",
                r"shared\[256\] \(moments \[256\]\) of 6144 bytes: \d+ bytes past its end "
                r"written by block \d+ thread \d+ at \S+/block_reduce\.cuh:\d+ ",
            ),
        ]:
            if number != EXERCISE.number:
                continue
            with self.subTest(after=after):
                text = solution(EXERCISE)
                self.assertIn(before, text)
                self.file.write_text(text.replace(before, after), encoding="utf-8")
                result = self.check()
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("Invalid __shared__ write", result.stdout)
                self.assertNotIn("racecheck FILE", " ".join(result.stdout.split()))
                self.assertRegex(" ".join(result.stdout.split()), says)
