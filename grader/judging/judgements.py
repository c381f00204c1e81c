# SPDX-License-Identifier: MIT
"""What is found out about one submission of one exercise."""

import contextlib
from typing import NamedTuple

from engine.driver.untrusted_files import json_of
from grader.judging.races import SECONDS
from grader.judging.results import cases_of
from grader.sandbox.sandboxed_run import FILES, MEMORY, OUTPUT, PROCESSES, TIME, Limits

OK, COMPILE_ERROR, RUNTIME_ERROR, SIGNAL, TIMED_OUT, INTERNAL = "OK", "CE", "RE", "SG", "TO", "XX"

OF_A_CASE = Limits(seconds=10)
OF_A_SCHEDULE = Limits(seconds=SECONDS)
MOST_RESULTS = 64 << 20  # bytes of a file of results
MOST_REPORT = 16 << 20
MOST_TIMEOUTS = 2  # cases of one submission that may take all their time; the rest is not run
LIMIT_LINES = {  # with the limit's figure
    TIME: "It did not end within {}. Is there a loop that nothing ends?",
    MEMORY: "It was ended: it used more than {} of memory.",
    PROCESSES: "It was ended: it started more than {} threads and processes.",
    OUTPUT: "It was ended: it printed more than {}.",
    FILES: "It was ended: it wrote more than {}.",
}


class Bench(NamedTuple):
    """What one exercise is judged with, the same for every submission."""

    exercise: object
    cases: list
    again: list  # the same cases with other numbers, in the same process: a cached answer is wrong
    least_work: dict  # {a case's name: plausibility.work_of the solution}, both times together


class Judgement(NamedTuple):
    status: str
    parts: list  # [{"part", "points", "of", "lines", "cases"}]
    picture: str  # SVG; "" for none
    diagnoses: list  # names of what racecheck found

    @property
    def points(self):
        return sum(part["points"] for part in self.parts)


def bench_of(exercise, seed):
    """The exercise's cases of this seed; the solution's work is still to be added."""
    again = cases_of(exercise, f"{seed} again")
    return Bench(exercise, cases_of(exercise, seed), again, {})


def part_row(exercise, part, points=0, lines=(), cases=()):
    return {
        "part": part,
        "points": points,
        "of": exercise.points[part],
        "lines": list(lines),
        "cases": list(cases),
    }


def needs(name):
    return f"Not judged: the results of case {name} are wrong."


def report_of(folder):
    report = json_of(folder / "report", MOST_REPORT)
    needed = ("accesses", "findings", "failed_launches", "ended_in_kernel")
    is_whole = isinstance(report, dict) and all(name in report for name in needed)
    with contextlib.suppress(TypeError, ValueError):
        if is_whole and int(report["accesses"]) >= 0:
            return report
    return None
