#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that is right: `lab racecheck` finds nothing in it, at any of some seeds."""

import os
import pathlib
import subprocess
import sys
import unittest

import python_test


class silence(unittest.TestCase):
    def test_racecheck_finds_nothing(self):
        lab = pathlib.Path(os.environ["LAB_SOURCE_ROOT"]) / "lab"
        command = [
            sys.executable, str(lab), "racecheck", "--program", os.environ["CHECKED_PROGRAM"],
            "--seeds", os.environ["CHECKED_SEEDS"], "--", *os.environ["CHECKED_OPTIONS"].split(),
        ]  # fmt: skip
        environment = {**os.environ, "LAB_BRIEF_TESTS": "1"}
        result = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"\n[0-9,]*[1-9][0-9,]* accesses checked .* 0 found")


if __name__ == "__main__":
    python_test.main()
