# SPDX-License-Identifier: MIT
"""Whether a file keeps its exercise's limits, and whether a whole program frees what it allocates and notices
a call of the runtime that fails.

The last two are asked of every exercise in which the student writes main(). On a machine where all is well
no call fails, so a program that checks nothing is right there: the backend makes its calls fail, one in each
run.
"""

import re
import signal
import textwrap

from grader.exercises.limits import counted_case, lines_about, objections_to_uncounted
from grader.judging.races import objections_to_unseen_stores
from grader.judging.results import SCREEN, how_it_ended

MADE_TO_FAIL = "made_to_fail"  # the record's kind
# What comes after the results, and gives back what was asked for.
GIVES_BACK = re.compile(r"cuda(Free|\w*Destroy)\w*")
MOST_CALLS = 100  # each of which takes a run
ADVICE = (
    "Look at what each call returns, and at cudaGetLastError() after a launch. After an error print it to "
    "stderr, and end the program with a code that is not 0."
)


def lines_about_limits(judge):
    """Lines about what the kernels do in the counted case; none if the exercise's limits are kept."""
    case = counted_case(judge.exercise, judge.cases)
    reports = [run.report for run in judge.counted(case)]
    objections = objections_to_unseen_stores(reports) or objections_to_uncounted(reports)
    if objections:
        return objections
    # For this size alone there may be a kernel that does not race where races are looked for.
    if judge.has_passed("races") and any(report["findings"] for report in reports):
        return [f"Two threads race in the case that is counted: {case.name}."]
    is_program = judge.exercise.is_program
    return (
        (objections_to_many_calls(reports[0]) if is_program else [])
        or lines_about(judge.exercise, reports, case)
        or (objections_to_host_code(judge, reports[0], case) if is_program else [])
    )


def objections_to_many_calls(report):
    """Sentences if the program makes more calls than can be looked at one by one."""
    number = report["number_of_runtime_calls"]
    if number <= MOST_CALLS:
        return []
    return [f"It calls the CUDA runtime {number:,} times, and a solution needs few calls."]


def objections_to_host_code(judge, report, case):
    """Lines about the program that this report of one run of the case is about."""
    if report["unfreed_allocations"]:
        number = report["unfreed_allocations"]
        what = "1 allocation is" if number == 1 else f"{number:,} allocations are"
        return [
            f"At the end of the program {what} not freed.",
            "Give cudaFree() each pointer that cudaMalloc() has set.",
        ]
    numbers = [
        number
        for number, name in enumerate(report["runtime_calls"], 1)
        if not GIVES_BACK.fullmatch(name)
    ]
    runs = judge.runner.run_until(
        lambda each: False, lambda number: judge.run_with_failing_call(case, number), numbers
    )
    unnoticed = [
        (report["runtime_calls"][number - 1], run)
        for number, run in zip(numbers, runs)
        if not _is_noticed(run)
    ]
    return _lines_about(unnoticed) if unnoticed else []


def _is_noticed(run):
    """By an exit code, or by abort(), which assert() calls."""
    returned = run.results[0].returned if run.results else None
    return bool(returned) or run.code == -signal.SIGABRT


def _lines_about(unnoticed):
    name, run = unnoticed[0]
    record = next((each for each in run.diagnostics if each.kind == MADE_TO_FAIL), None)
    at = record.place() if record else None
    call = "the launch" if name == "launch" else name
    returned = run.results[0].returned if run.results else None
    end = "it ended with 0." if returned == 0 else how_it_ended(run)[0]
    said = f"The program does not notice an error: {call}{f' at {at}' if at else ''} was made to fail, and "
    lines = textwrap.wrap(f"{said}{end[0].lower()}{end[1:]}", SCREEN)
    if at and at.code:
        lines.append(f"    {at.code}")
    if len(unnoticed) > 1:
        more = len(unnoticed) - 1
        lines.append(f"The same holds for {more} more {'call' if more == 1 else 'calls'}.")
    return [*lines, *textwrap.wrap(ADVICE, SCREEN)]
