# SPDX-License-Identifier: MIT
"""What one submission of one exercise is worth."""

from typing import NamedTuple

from grader.judging.judge import PASSED

INTERNAL = "XX"  # the status if the grader itself has failed


class Judgement(NamedTuple):
    status: str  # of a Verdict
    parts: list  # [{"part", "points", "of", "lines", "cases"}]
    picture: str  # SVG; "" for none
    diagnoses: list  # names of what racecheck found

    @property
    def points(self):
        return sum(part["points"] for part in self.parts)


def judgement_of(verdict, exercise):
    """The Judgement that a Verdict on every case comes to: of the results' points as many as cases are
    right, and each other part's as a whole."""
    rows = []
    for part, state in verdict.parts.items():
        points = exercise.points[part] if state == PASSED else 0
        cases = [case._asdict() for case in verdict.cases] if part == "results" else []
        if cases:
            points = exercise.points[part] * sum(case["passed"] for case in cases) // len(cases)
        rows.append(part_row(exercise, part, points, verdict.lines_of[part], cases))
    return Judgement(verdict.status, rows, verdict.race_picture, list(verdict.diagnoses))


def part_row(exercise, part, points=0, lines=(), cases=()):
    return {
        "part": part,
        "points": points,
        "of": exercise.points[part],
        "lines": list(lines),
        "cases": list(cases),
    }
