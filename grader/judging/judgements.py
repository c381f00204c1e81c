# SPDX-License-Identifier: MIT
"""What one submission of one exercise is worth."""

from typing import NamedTuple

from grader.judging.verdicts import FAILED, PASSED, shortened

INTERNAL = "XX"  # the status if the grader itself has failed
MOST_LINES = 200  # of a part, and of a case
NO_POINTS = "No points: a solution must keep the limits, and this file does not."


class Judgement(NamedTuple):
    status: str  # of a Verdict
    parts: list  # [{"part", "points", "of", "lines", "cases"}]
    picture: str  # SVG; "" for none
    diagnoses: list  # names of what racecheck found
    is_refused: bool = False  # its status is that of a file that does not compile

    @property
    def points(self):
        return sum(part["points"] for part in self.parts)


def judgement_of(verdict, exercise):
    """The Judgement that a Verdict on every case comes to: of the results' points as many as cases are
    right, and each other part's as a whole. Limits without points are a gate: a file that does not keep
    them gets no points, and the first part's lines say so."""
    gates = [part for part in verdict.parts if part not in exercise.points]
    shut_out = [part for part in gates if verdict.parts[part] == FAILED]
    why = [line for part in shut_out for line in (NO_POINTS, "", *verdict.lines_of[part])]
    rows = []
    for part, state in verdict.parts.items():
        if part in gates:
            continue
        points = exercise.points[part] if state == PASSED else 0
        cases = [_row_of(case) for case in verdict.cases] if part == "results" else []
        if cases:
            points = exercise.points[part] * sum(case["passed"] for case in cases) // len(cases)
        lines = verdict.lines_of[part] if rows else [*why, *verdict.lines_of[part]]
        if part == "races" and state == PASSED and verdict.proved_for:
            lines = [*lines, f"{verdict.proved_for.capitalize()}."]
        rows.append(part_row(exercise, part, 0 if shut_out else points, lines, cases))
    return Judgement(
        verdict.status, rows, verdict.race_picture, list(verdict.diagnoses), verdict.is_refused
    )


def _row_of(case):
    return {**case._asdict(), "lines": _bounded(case.lines)}


def _bounded(lines):
    """A line of a submission's, or a name in it, may be as long as a book; so may a forged report."""
    shown = [shortened(line) for line in lines[:MOST_LINES]]
    return [*shown, "..."] if len(lines) > MOST_LINES else shown


def bounded_row(row):
    """A part's row that somebody else has made, with lines that fill no feedback."""
    return {**row, "lines": _bounded(list(row["lines"]))}


def part_row(exercise, part, points=0, lines=(), cases=()):
    return {
        "part": part,
        "points": points,
        "of": exercise.points[part],
        "lines": _bounded(list(lines)),
        "cases": list(cases),
    }
