# SPDX-License-Identifier: MIT
"""After a kernel has died, a test binary stops: its first report is not buried under those it causes."""

import os
import pathlib
import tempfile
import unittest

from test_setup import printed

PROGRAM = os.environ["FAULTING_TESTS"]


def run():
    """Exit code, stdout and stderr as one, and the lines of LAB_TEST_LOG."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log")
        result = printed(
            [PROGRAM, "--order", "lex"], env={**os.environ, "LAB_TEST_LOG": str(log)}, timeout=300
        )
        lines = log.read_text(encoding="utf-8").splitlines()
        return result.returncode, result.stdout, [line.split("\t") for line in lines]


class FirstFault(unittest.TestCase):
    def test_the_tests_after_a_fault_are_left_out(self):
        code, output, log = run()
        self.assertEqual(code, 1, output)
        self.assertEqual(
            [(outcome, name) for outcome, _, name in log],
            [
                ("passed", "1 nothing is wrong yet"),
                ("failed", "2 the kernel overruns"),
                ("skipped", "3 innocent"),
                ("skipped", "4 innocent as well"),
            ],
        )

    def test_the_report_of_the_fault_comes_first_and_once(self):
        _, output, _ = run()
        self.assertEqual(output.count("Invalid __global__ write at "), 1, output)
        self.assertIn("faulting_tests.cu:", output)
        self.assertIn('a kernel died in the test case "2 the kernel overruns"', output)
        self.assertIn("2 test cases were left out", output)
        first = next(line for line in output.splitlines() if "seed" not in line)
        self.assertIn("Invalid __global__ write", first)
        self.assertLess(len(output.splitlines()), 25, output)
