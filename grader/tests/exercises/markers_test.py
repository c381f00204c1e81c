# SPDX-License-Identifier: MIT
"""Starters out of marked solutions; markers that are not in order are an author's error."""

import pytest

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


def test_starter_solution_and_what_is_secret():
    assert starter_of(MARKED) == "before\n  // TODO: write it\n\nafter\n"
    assert solution_of(MARKED) == "before\n  secret();\nafter\n"
    assert solution_lines(MARKED) == ["  secret();", "hidden();"]


def test_a_line_that_the_starter_has_too_is_not_secret():
    text = "}\n// BEGIN SOLUTION\n// STUB: old();\nnew();\n}\n// END SOLUTION\n"
    assert solution_lines(text) == ["new();"]


BEGIN, END = "// BEGIN SOLUTION\n", "// END SOLUTION\n"


@pytest.mark.parametrize(
    "text, says",
    [
        ("x\n", "no BEGIN SOLUTION"),
        (BEGIN + "x\n", "a.cu:1: BEGIN SOLUTION without its END"),
        (END, "a.cu:1: END SOLUTION without its BEGIN"),
        (BEGIN + BEGIN + END, "a.cu:2: BEGIN SOLUTION within BEGIN SOLUTION"),
        (BEGIN + "// BEGIN HIDDEN\n" + END, "a.cu:2: BEGIN HIDDEN within BEGIN SOLUTION"),
        (BEGIN + "// END HIDDEN\n" + END, "a.cu:2: END HIDDEN without its BEGIN"),
        ("// STUB: x\n" + BEGIN + END, "a.cu:1: STUB stands outside"),
        ("x(); // BEGIN SOLUTION\n" + BEGIN + END, "a.cu:1: a marker must be alone"),
        ("// begin solution\n" + BEGIN + END, "a.cu:1: a marker must be alone"),
    ],
    ids="none no_end no_begin twice hidden_within no_hidden stub_outside not_alone lower_case".split(),
)
def test_markers_out_of_order_are_refused(text, says):
    with pytest.raises(MarkerError) as refusal:
        starter_of(text, "a.cu")
    assert says in str(refusal.value)
