# SPDX-License-Identifier: MIT
"""How long a check takes, from the saved file to the verdict."""

import pathlib
import statistics
import tempfile
import time
from typing import NamedTuple

from grader.exercises.markers import solution_of
from grader.judging.check import check

RUNS = 9
GOAL_RESULTS, GOAL_ALL = 2.5, 6.0  # seconds, on two idle cores


class CheckTime(NamedTuple):
    """Medians of RUNS checks of the solution, in seconds."""

    results: float  # until the results are judged
    all: float  # until races and limits are as well


def time_checks(make_build, exercise, runs=RUNS):
    """Checks the solution `runs` times, each time with another comment so that it is compiled anew.

    `make_build` returns the ExerciseBuild; that it finds everything up to date is part of the time.
    """
    text = solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)
    until_results, until_all = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, exercise.file_name)
        for run in range(runs):
            file.write_text(f"{text}// {time.time_ns()} {run}\n", encoding="utf-8")
            steps = {}
            start = time.monotonic()
            check(
                make_build()._replace(files=pathlib.Path(folder)),
                exercise,
                file,
                has_begun=lambda step, _, steps=steps: steps.update({step: time.monotonic()}),
            )
            end = time.monotonic()
            after = [steps[part] for part in ("races", "limits") if part in steps]
            until_results.append(min(after, default=end) - start)
            until_all.append(end - start)
    return CheckTime(statistics.median(until_results), statistics.median(until_all))
