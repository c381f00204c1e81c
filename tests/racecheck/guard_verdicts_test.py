#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""guard_verdicts.hpp is what the reference model says today."""

import os
import pathlib
import tempfile
import unittest

import generate_guard_verdicts
import python_test

HEADER = pathlib.Path(os.environ["LAB_SOURCE_ROOT"], "tests/racecheck/guard_verdicts.hpp")


class guard_verdicts(unittest.TestCase):
    def test_header_is_up_to_date(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, HEADER.name)
            generate_guard_verdicts.main(made)
            self.assertEqual(made.read_text(encoding="utf-8"), HEADER.read_text(encoding="utf-8"))


if __name__ == "__main__":
    python_test.main()
