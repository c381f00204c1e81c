# SPDX-License-Identifier: MIT
"""What a student is told about a grade, wherever they read it."""

from grader.judging.judge import COMPILE_ERROR, OK, RUNTIME_ERROR, SIGNAL, TIMED_OUT
from grader.judging.judgements import INTERNAL
from grader.reports.marks import MISSING

MEANINGS = {
    OK: "",
    COMPILE_ERROR: "It does not compile.",
    RUNTIME_ERROR: "The program ended with an error.",
    SIGNAL: "The program was ended by a signal.",
    TIMED_OUT: "The program did not end in time.",
    INTERNAL: "The grader itself failed. This is not your fault: tell your instructor.",
    MISSING: "There is no file.",
}
MOST_CASES = 5  # that are told in full


def lines_of_part(part):
    """A part's own lines, and those of its cases that say why they failed."""
    lines = list(part["lines"])
    wrong = [case for case in part["cases"] if not case["passed"] and case["lines"]]
    for case in wrong[:MOST_CASES]:
        lines += ["", case["name"], *(f"  {line}" for line in case["lines"])]
    if len(wrong) > MOST_CASES:
        lines += ["", f"and {len(wrong) - MOST_CASES} more cases"]
    return lines if part["lines"] else lines[1:]
