# SPDX-License-Identifier: MIT
"""Tables about the engine in docs/internals are what its programs print."""

import unittest

from engine.prove.tests.weak_outcomes_test import IS_CLANG, table_of_litmus_tests
from this_build import ROOT

FOLDER = ROOT / "docs/internals"


class BenchmarkTable(unittest.TestCase):
    def test_the_page_shows_the_recorded_run(self):
        page = (FOLDER / "racecheck.md").read_text(encoding="utf-8")
        recorded = (FOLDER / "racecheck_benchmark.txt").read_text(encoding="utf-8")
        circumstances, _, table = recorded.partition("\n\n")
        self.assertGreater(len(table.splitlines()), 20)
        self.assertIn(circumstances, page)
        self.assertIn(table, page, "copy the table of racecheck_benchmark.txt into racecheck.md")


class WeakTable(unittest.TestCase):
    # What is reached depends on where the compiler leaves accesses to memory.
    @unittest.skipIf(IS_CLANG, "the table is that of g++")
    def test_the_table_of_the_documentation(self):
        text = (FOLDER / "weak.md").read_text(encoding="utf-8")
        self.assertIn("\n".join(table_of_litmus_tests()), text)
