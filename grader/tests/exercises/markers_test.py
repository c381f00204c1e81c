# SPDX-License-Identifier: MIT
"""Starters out of marked solutions; markers that are not in order are an author's error."""

import unittest

from grader.exercises.solutions import MarkerError, solution_lines, solution_of, starter_of

MARKED = """\
before
  // BEGIN SOLUTION
  // STUB: // TODO: write it
  // STUB:
  secret();
  // END SOLUTION
// BEGIN HIDDEN
hidden();
// END HIDDEN
after
"""


class MarkersTest(unittest.TestCase):
    def test_starter_solution_and_what_is_secret(self):
        self.assertEqual(starter_of(MARKED), "before\n  // TODO: write it\n\nafter\n")
        self.assertEqual(solution_of(MARKED), "before\n  secret();\nafter\n")
        self.assertEqual(solution_lines(MARKED), ["  secret();", "hidden();"])

    def test_a_line_that_the_starter_has_too_is_not_secret(self):
        text = "}\n// BEGIN SOLUTION\n// STUB: old();\nnew();\n}\n// END SOLUTION\n"
        self.assertEqual(solution_lines(text), ["new();"])

    def test_markers_out_of_order_are_refused(self):
        begin, end = "// BEGIN SOLUTION\n", "// END SOLUTION\n"
        for text, says in [
            ("x\n", "no BEGIN SOLUTION"),
            (begin + "x\n", "a.cu:1: BEGIN SOLUTION without its END"),
            (end, "a.cu:1: END SOLUTION without its BEGIN"),
            (begin + begin + end, "a.cu:2: BEGIN SOLUTION within BEGIN SOLUTION"),
            (begin + "// BEGIN HIDDEN\n" + end, "a.cu:2: BEGIN HIDDEN within BEGIN SOLUTION"),
            (begin + "// END HIDDEN\n" + end, "a.cu:2: END HIDDEN without its BEGIN"),
            ("// STUB: x\n" + begin + end, "a.cu:1: STUB stands outside"),
            ("x(); // BEGIN SOLUTION\n" + begin + end, "a.cu:1: a marker must be alone"),
            ("// begin solution\n" + begin + end, "a.cu:1: a marker must be alone"),
        ]:
            with self.subTest(text), self.assertRaises(MarkerError) as refusal:
                starter_of(text, "a.cu")
            self.assertIn(says, str(refusal.exception))
