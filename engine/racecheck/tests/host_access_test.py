# SPDX-License-Identifier: MIT
"""Host code that accesses memory of the device ends the program, as on a GPU, and its line is named."""

import os
import unittest

from engine.command.diagnostics import records_of
from test_setup import checked_run, marked_lines, temporary_folder
from this_build import ROOT

PROGRAM = os.environ["HOST_ACCESS_PROGRAM"]
SOURCE = ROOT / "engine/racecheck/tests/host_access.cu"
READS = ("read", "copy", "poll")


def line_of(mark):
    return marked_lines(SOURCE)[mark]


class HostAccessTest(unittest.TestCase):
    def test_each_form_of_access_ends_the_program_at_its_line(self):
        for case in ("read", "write", "copy", "fill", "poll", "callback", "symbol"):
            for variables in ({}, {"LAB_WEAK": "1", "LAB_RACECHECK_COUNTS": "1"}):
                with self.subTest(case, **variables):
                    code, output, _ = checked_run(PROGRAM, case, 0, **variables)
                    self.assertEqual(code, 1, output)
                    does = "read" if case in READS else "write"
                    self.assertIn(
                        f"{SOURCE.name}:{line_of(case)}: a {does} by host code in memory of the device",
                        output,
                    )

    def test_what_the_host_may_reach_is_let_be(self):
        code, output, report = checked_run(PROGRAM, "allowed", 0)
        self.assertEqual((code, output), (0, "2 2 2\n"))
        self.assertEqual(report["findings"], [])

    def test_it_is_a_record_of_its_own(self):
        folder = temporary_folder(self)
        path = os.path.join(folder, "diagnostics")
        checked_run(PROGRAM, "write", 0, LAB_DIAGNOSTICS=path)
        [record] = records_of(path)
        self.assertEqual((record.kind, record.fields["access"]), ("host_access", "write"))
        self.assertEqual(record.place().line, line_of("write"))


if __name__ == "__main__":
    unittest.main()
