# SPDX-License-Identifier: MIT
"""`./lab racecheck`: exit codes, what it prints, the JSON file, and wrong use."""

import json
import os
import tempfile
import unittest

from lab_runs import lab

PROGRAM = os.environ["MISTAKES_PROGRAM"]


def racecheck(*words, case=None, environment=None):
    """Exit code, stdout, stderr of `lab racecheck` on a case of mistakes.cu."""
    program = ["--program", PROGRAM] if case else []
    options = ["--", case] if case else []
    result = lab("racecheck", *program, *words, *options, **(environment or {}))
    return result.returncode, result.stdout, result.stderr


class LabRacecheck(unittest.TestCase):
    def test_clean(self):
        code, output, _ = racecheck("--seeds", "3", case="guard")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"\n[1-9][0-9,]* accesses checked in 3 schedules, 0 found\n$")

    def test_found(self):
        code, output, _ = racecheck("--seeds", "3", case="guard_classic")
        self.assertEqual(code, 1)
        self.assertIn("race (global memory) on allocation 1, element ", output)
        self.assertIn("missing barrier before the atomic", output)
        self.assertIn("missing acquire", output)
        self.assertIn("  seed 0, and in 3 of 3 schedules; ", output)
        self.assertEqual(output.count("race (global memory)"), 1)

    def test_a_write_that_comes_later_than_its_signal_is_the_same_mistake(self):
        # In some of these schedules the last block reads before another block's thread writes.
        code, output, _ = racecheck("--seeds", "20", case="guard_classic")
        self.assertEqual(code, 1)
        self.assertEqual(output.count("race (global memory)"), 1, output)
        self.assertNotIn("no synchronisation", output)
        self.assertIn(" of these lack less: missing acquire\n", output)

    def test_twenty_schedules_by_default_and_one_for_a_seed(self):
        self.assertIn("checked in 20 schedules", racecheck(case="guard")[1])
        code, output, _ = racecheck("--seed", "12", case="guard_classic")
        self.assertEqual(code, 1)
        self.assertIn("  seed 12, and in 1 of 1 schedule", output)

    def test_lenient_passes_a_missing_acquire_and_nothing_else(self):
        words = ("--seeds", "2")
        self.assertEqual(racecheck(*words, case="guard_without_observers_fence")[0], 1)
        code, output, _ = racecheck(*words, "--lenient", case="guard_without_observers_fence")
        self.assertEqual(code, 0, output)
        self.assertIn("missing acquire", output)
        self.assertEqual(racecheck(*words, "--lenient", case="guard_classic")[0], 1)

    def test_what_checked_nothing_is_no_success(self):
        code, output, _ = racecheck("--seeds", "2", case="nothing_to_see")
        self.assertEqual(code, 1)
        self.assertIn("nothing was checked", output)

    def test_a_kernel_that_fails(self):
        code, output, _ = racecheck("--seeds", "2", case="throws")
        self.assertEqual(code, 1)
        self.assertIn("seed 0: a kernel did not come to its end; 2 of 2 schedules so", output)
        self.assertIn("an exception left the kernel: thrown by a kernel", output)
        code, output, _ = racecheck("--seeds", "1", case="exits")
        self.assertEqual(code, 1)
        self.assertIn("a kernel did not come to its end", output)
        self.assertIn("the kernel called exit()", output)

    def test_a_program_that_does_not_end(self):
        code, output, _ = racecheck(
            "--seeds", "1", "--timeout", "2", case="endless", environment={"LAB_TIMEOUT": "100"}
        )
        self.assertEqual(code, 1)
        self.assertIn("stopped after 2 s (--timeout)", output)

    def test_json(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "found.json")
            racecheck("--seeds", "3", "--json", path, case="guard_classic")
            with open(path, encoding="utf-8") as file:
                (result,) = json.load(file)
            self.assertEqual(os.listdir(folder), ["found.json"])
        self.assertEqual((result["seeds"], result["code"]), ([0, 3], 1))
        (found,) = result["findings"]
        self.assertEqual(found["kind"], "race")
        self.assertEqual(
            found["diagnosis"], ["missing barrier before the atomic", "missing acquire"]
        )
        self.assertEqual(found["seeds"], 3)

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "race.svg")
            words = ("--seeds", "2", "--picture", path)
            code, output, _ = racecheck(*words, case="guard_classic")
            self.assertEqual(code, 1)
            self.assertIn(f"The race is drawn in {path}.\n", output)
            with open(path, encoding="utf-8") as file:
                self.assertIn(">missing barrier before the atomic</text>", file.read())
            code, output, _ = racecheck(*words, case="modern_guard_block_scope")
            self.assertIn(f"The 3 races are drawn in {path}, one below the other.\n", output)
            code, output, _ = racecheck(*words, case="guard")
            self.assertEqual(code, 0)
            self.assertIn(
                f"No race was found, so {path} is not written; the one that is there is from before.",
                output,
            )
            os.remove(path)
            code, output, _ = racecheck(*words, case="unwritten_device")
            self.assertEqual(code, 1)
            self.assertIn(f"No race was found, so {path} is not written.\n", output)
            self.assertEqual(os.listdir(folder), [])

    def test_a_picture_that_can_not_be_written_is_refused_before_anything_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, sentence in (
                (os.path.join(folder, "race.png"), "so its name must end in .svg"),
                (os.path.join(folder, "nowhere", "race.svg"), "there is no folder"),
                ("", "the value of --picture is empty"),
            ):
                with self.subTest(path=path):
                    code, output, error = racecheck("--picture", path, case="guard_classic")
                    self.assertEqual((code, output), (2, ""), error)
                    self.assertIn(sentence, error)
                    self.assertEqual(error.count("\n"), 1)

    def test_wrong_use(self):
        for words, sentence in (
            (("--seeds", "0"), "expected a whole number from 1 to 100000"),
            (("--seeds", "1099511627776"), "expected a whole number from 1 to 100000"),
            (("--seed", "-1"), "expected"),
            (("--seeds", "many"), "expected a whole number from 1 to 100000, not 'many'"),
            (("99",), "there is no chapter 99"),
            (("nowhere.cu",), "there is no file nowhere.cu"),
            (("01", "02"), "takes no second argument 02"),
        ):
            with self.subTest(words=words):
                code, _, error = racecheck(*words)
                self.assertEqual(code, 2, error)
                self.assertIn(sentence, error)
                self.assertEqual(error.count("\n"), 1)

    def test_the_programs_wrong_use_is_wrong_use(self):
        code, output, _ = racecheck("--seeds", "2", case="no_such_case")
        self.assertEqual(code, 2)
        self.assertIn("there is no case no_such_case", output)
