# SPDX-License-Identifier: MIT
"""The table of what racecheck costs is that of the recorded run beside the page."""

import unittest

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
