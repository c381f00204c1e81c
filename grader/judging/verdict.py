# SPDX-License-Identifier: MIT
"""The verdict on a file, which the judge makes (judge.py)."""

import pathlib
from typing import NamedTuple, Optional

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
OK, COMPILE_ERROR, RUNTIME_ERROR, SIGNAL, TIMED_OUT = "OK", "CE", "RE", "SG", "TO"
LONGEST_TEXT = 1000  # letters of one line, or in a picture: a name may be as long as a book


class JudgedCase(NamedTuple):
    name: str
    passed: bool
    lines: list  # what is wrong with it


class Verdict(NamedTuple):
    """What was found out about a file."""

    parts: dict  # {part of the exercise: PASSED, FAILED or NOT_RUN}
    lines: list  # about the first part that failed, or about all if none did
    lines_of: Optional[dict] = None  # {part: the lines about it}
    cases: tuple = ()  # a JudgedCase each, if every case is judged
    status: str = OK
    race_picture: str = ""  # SVG; "" for none
    diagnoses: tuple = ()  # names of what racecheck found
    picture: Optional[pathlib.Path] = None  # the file that the race picture is in
    warnings: tuple = ()  # the compiler's
    is_refused: bool = False  # its status is COMPILE_ERROR then, too
    refusals: tuple = ()  # sentences: for what a grade would refuse the file, right or wrong
    remedy: tuple = ()  # lines: what a race lacks, which the other lines leave to the student
    nvcc_errors: tuple = ()  # lines: why nvcc refuses a file that is right otherwise
    nvcc_problem: str = ""  # why nvcc has not answered
    most_points: float = 1  # the share of the points that it gets at most
    proved_for: str = ""  # 'proved for 3 blocks of 2 threads', if all executions of a case were run

    @property
    def compiles(self):
        return self.status != COMPILE_ERROR

    @property
    def is_solved(self):
        return all(state == PASSED for state in self.parts.values()) and not self.nvcc_errors


def shortened(text):
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} ..."
