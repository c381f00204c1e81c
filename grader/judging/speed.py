# SPDX-License-Identifier: MIT
"""Times a submission next to the course's solution, in the same process and run, on a GPU; and its points.

docs/grading-security.md says what that is worth, and grader/runner/runner.cu how a call is timed. The times
come out of the process that the submission is in, so each is looked at before it is believed.
"""

import math
import random
import runpy
import statistics
from typing import NamedTuple

from engine.command.errors import CommandError
from grader.exercises.cases import Array
from grader.exercises.catalogue import FILE, SPEED
from grader.judging.judge import NO_REPORT, OF_NO_RECORD, OUT_OF_TIME
from grader.judging.races import objections_to_unseen_stores
from grader.judging.results import first_failure
from grader.judging.runner import Limits, OutOfTime

ROUNDS = 10  # that are timed, after one for warming up
LONGEST = 10**12  # nanoseconds: far more than a process may take
# The solution may take so many times as long next to the submission as it takes next to itself. Beyond that
# the submission, or the machine, has slowed it down: a round counts as if it had taken no longer, and if it
# does so in most rounds, the times say nothing.
MOST_SLOWED = 1.2


class Speed(NamedTuple):
    """The submission's time, as a part of the solution's."""

    ratio: float  # of the medians
    low: float  # the quartiles of the ratios in all rounds
    high: float


def times_in(results):
    """[(the submission's nanoseconds, the solution's)] of the rounds that count, out of the CaseResults of
    one process; None if they are not what the runner writes."""
    found = [result.nanoseconds for result in results]
    if len(found) != ROUNDS + 1:
        return None
    for times in found:
        if times is None or len(times) != 2 or not all(0 < time <= LONGEST for time in times):
            return None
    return found[1:]


def speed_of(times, alone):
    """The Speed that such times come to; `alone` are times of a process in which the solution takes the
    submission's place as well."""
    most = MOST_SLOWED * _median(alone, 1)
    times = [(submission, min(solution, most)) for submission, solution in times]
    ratios = [submission / solution for submission, solution in times]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    ratio = _median(times, 0) / _median(times, 1)
    # So that what is told makes sense; it can only be in the student's favour.
    return Speed(round(ratio, 3), round(min(low, ratio), 3), round(max(high, ratio), 3))


def is_slowed(times, alone):
    """Whether the solution was slower next to the submission than it is `alone`, as in speed_of()."""
    return _median(times, 1) > MOST_SLOWED * _median(alone, 1)


def _median(times, place):
    return statistics.median(pair[place] for pair in times)


def points_for(speed, rule):
    """Points for the lower end of the Speed, by the rule of an exercise.py: so noise costs nothing.

    All up to `all_up_to` and none from `none_from`; between them they fall evenly, rounded up.
    """
    most, all_up_to, none_from = rule["points"], rule["all_up_to"], rule["none_from"]
    part = (none_from - speed.low) / (none_from - all_up_to)
    # Less than a thousandth of a point comes of how numbers are rounded, and of nothing else.
    return math.ceil(most * min(1, max(0, part)) - 1e-3)


def lines_about(speed, rule):
    """What the student is told."""
    return [
        f"Your code takes {speed.ratio:.2f} times as long as the course's solution "
        f"({speed.low:.2f} to {speed.high:.2f} in half of {ROUNDS} rounds).",
        f"All points up to {rule['all_up_to']:g}, none from {rule['none_from']:g}: the smaller of the two "
        "numbers in brackets counts.",
    ]


OF_ALL_ROUNDS = Limits(seconds=30, memory=8 << 30, files=1 << 30)
IN_TURN = "--in-turn"
TRIES = 3  # a machine that does something else meanwhile slows the solution down as well
SEED_OF_RACES = 2  # of a schedule in which blocks are interrupted
NOT_TIMED = "Not timed: only a solution whose other parts are all right is."
THERE = "At the size that is timed"
SLOWED = (
    f"No points: the course's solution was slower next to your code than alone, in each of {TRIES} tries. "
    "What does your code leave behind on the GPU?"
)
NO_TIMES = "No points: the times are none that the grader writes."


class NotTimed(Exception):
    """The solution could not be timed next to itself: the grader's failure, not the submission's."""


class Timed(NamedTuple):
    """What timing takes, the same for every submission of an exercise."""

    cases: list  # one for each round; the first is for warming up
    solution: object  # the path of the object that is linked
    alone: object  # the Program in which the solution takes the submission's place as well


def cases_to_time(exercise, seed):
    """A Case for each round, with other numbers each. Raises CommandError."""
    found = runpy.run_path(str(exercise.file))
    if "case_to_time" not in found:
        raise CommandError(
            f"{exercise.title}: its {FILE} gives points for speed, and has no case_to_time()."
        )
    cases = [
        found["case_to_time"](random.Random(f"{exercise.name} {seed} to time {number}"))
        for number in range(ROUNDS + 1)
    ]
    if any(_sizes(case) != _sizes(cases[0]) for case in cases):
        raise CommandError(f"{exercise.title}: its case_to_time() has another size each time.")
    return [case._replace(launches=1) for case in cases]


def _sizes(case):
    arrays = [item for item in case.arguments if isinstance(item, Array)]
    return [array.count for array in arrays]


def speed_row(runs, verdict, timed, rule):
    """What is to be said and given for speed: a part's row as judgements.part_row makes them, less its
    bounds. `runs` are those that have led to this Verdict."""
    if not verdict.is_solved:
        return _row_of_speed(rule, [NOT_TIMED])
    try:
        objections = objections_at_timed_size(runs, timed)
        return _row_of_speed(rule, objections) if objections else timed_row(runs, timed, rule)
    except OutOfTime:
        return _row_of_speed(rule, [OUT_OF_TIME])


def _row_of_speed(rule, lines, speed=None):
    points = points_for(speed, rule) if speed else 0
    row = {"part": SPEED, "points": points, "of": rule["points"], "lines": lines, "cases": []}
    return {**row, "speed": speed._asdict()} if speed else row


def objections_at_timed_size(runs, timed):
    """Lines about what the race checker sees there: a kernel for this size alone may race. Raises
    OutOfTime."""
    case = timed.cases[0]
    run = runs.counted_once(case, SEED_OF_RACES)
    if first_failure([case], run, run.results):
        return [f"{THERE} the result is wrong or missing."]
    try:
        if run.report["findings"]:
            return [f"{THERE} two threads race."]
        return objections_to_unseen_stores([run.report])
    except OF_NO_RECORD:
        return [NO_REPORT]


def timed_row(runs, timed, rule):
    """speed_row() of a submission whose other parts are right. Raises OutOfTime and NotTimed."""
    program = runs.runner.compiled_to_time(timed.solution)
    for _ in range(TRIES):
        with runs.runner.gpu_alone():
            run = _run(runs, program, timed.cases)
            alone = times_in(_run(runs, timed.alone, timed.cases).results)
        if alone is None:
            raise NotTimed("the course's own solution could not be timed")
        failure = first_failure(timed.cases, run, run.results, OF_ALL_ROUNDS.seconds)
        if failure:
            when = "while it warms up" if failure.number == 0 else f"in round {failure.number}"
            return _row_of_speed(rule, [f"{THERE} it is wrong {when}:", *failure.lines])
        times = times_in(run.results)
        if times is None:
            return _row_of_speed(rule, [NO_TIMES])
        if not is_slowed(times, alone):
            speed = speed_of(times, alone)
            return _row_of_speed(rule, lines_about(speed, rule), speed)
    return _row_of_speed(rule, [SLOWED])


def _run(runs, program, cases):
    run = runs.run_cases(program, cases, {}, OF_ALL_ROUNDS, [IN_TURN])
    runs.runner.remove_last_run()  # its files are large
    return run
