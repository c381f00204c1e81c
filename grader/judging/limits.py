# SPDX-License-Identifier: MIT
"""Whether kernels do the work and a file keeps its exercise's limits, as the race checker has counted; and
whether a whole program frees what it allocates and notices a call of the runtime that fails.

The last two are asked of every exercise in which the student writes main(). On a machine where all is well
no call fails, so a program that checks nothing is right there: the backend makes its calls fail, one in each
run.
"""

import re
import signal
import textwrap

from grader.exercises.cases import WatchedLoads
from grader.exercises.limits import (
    FIRST_BLOCK_SHARE,
    LOADS,
    MOST_OF_ONE_THREAD,
    THREAD_SHARE,
    counted_case,
    is_about_show,
    is_by_one_thread,
    limits_not_kept,
    lines_about,
    measured,
    objections_to_uncounted,
)
from grader.judging.races import counting, objections_to_unseen_stores
from grader.judging.results import SCREEN, first_failure, how_it_ended

# What gets at most this share of an exercise's points, since others than the blocks' threads do the work.
BY_ONE_THREAD = "One thread does nearly all of its block's work: at most half of the points."
MANY_CALLS = "The host does the work by calls of the CUDA runtime: at most half of the points."
FIXED_SHARES = "The blocks take nothing out of the queue: at most half of the points."
OF_A_LIBRARY = "A library does what is to be written here: no points."
FOR_SHOW = {BY_ONE_THREAD: 0.5, MANY_CALLS: 0.5, FIXED_SHARES: 0.5, OF_A_LIBRARY: 0}
MADE_TO_FAIL = "made_to_fail"  # the record's kind
# What comes after the results, and gives back what was asked for.
GIVES_BACK = re.compile(r"cuda(Free|\w*Destroy)\w*")
USES_MEMORY = re.compile(r"launch|cuda(Memcpy|Memset)\w*")
MOST_CALLS = 100  # each of which takes a run
PITCHED = re.compile(r"cudaMemcpy[23]D\w*")  # a few of them reverse what takes n others
MOST_PITCHED = 8
TIMES_ALLOWED = 16  # a thread that does so much more than it may does the work of others
LEAST_DIFFERENCE = 10  # per cent: between a block's share when it runs alone and when all run
ADVICE = (
    "Look at what each call returns, and at cudaGetLastError() after a launch. After an error print it to "
    "stderr, and end the program with a code that is not 0."
)


def lines_about_limits(runs, is_race_free):
    """Lines about what the kernels do in the counted case; none if the exercise's limits are kept."""
    case = counted_case(runs.exercise, runs.cases)
    reports = [run.report for run in runs.counted(case)]
    objections = objections_to_unseen_stores(reports) or objections_to_uncounted(reports)
    if objections:
        return objections
    # For this size alone there may be a kernel that does not race where races are looked for.
    if is_race_free and any(report["findings"] for report in reports):
        return [f"Two threads race in the case that is counted: {case.name}."]
    is_program = runs.exercise.is_program
    return [
        *objections_to_show(runs.exercise, reports),
        *lines_about(runs.exercise, reports, case),
    ] or (objections_to_host_code(runs, reports[0], case) if is_program else [])


def objections_to_show(exercise, reports):
    """Sentences if others than the blocks' threads do the work."""
    report = reports[0]
    number = report["number_of_runtime_calls"]
    pitched = sum(bool(PITCHED.fullmatch(name)) for name in report["runtime_calls"])
    if number > MOST_CALLS:  # more than can be looked at one by one
        many = f"It calls the CUDA runtime {number:,} times, and a solution needs few calls."
        return [many] if exercise.is_program else [many, MANY_CALLS]
    if pitched > MOST_PITCHED and not exercise.is_program:
        return [MANY_CALLS]
    for limit, used in limits_not_kept(exercise, [report], None, is_held=is_about_show):
        if limit["per"] != THREAD_SHARE:
            return [FIXED_SHARES if limit["per"] == FIRST_BLOCK_SHARE else OF_A_LIBRARY]
        if used > MOST_OF_ONE_THREAD:
            return [BY_ONE_THREAD]
    for limit in exercise.limits:
        if limit["per"] == FIRST_BLOCK_SHARE:
            shares = [measured(limit, each, None) for each in reports]
            if min(shares) > shares[0] - LEAST_DIFFERENCE:
                return [FIXED_SHARES]
        most = TIMES_ALLOWED * limit.get("at_most", 0)
        if limit["per"] == "thread" and measured(limit, report, None) > most > 0:
            return [BY_ONE_THREAD]
    return [BY_ONE_THREAD] if is_by_one_thread(report) else []


def objections_to_host_code(runs, report, case):
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
    failing = runs.runner.run_until(
        lambda each: False,
        lambda number: runs.scheduled([case], counting() | {"LAB_FAIL_CALL": str(number)}),
        numbers,
    )
    unnoticed = []
    for number, run in zip(numbers, failing):
        name = report["runtime_calls"][number - 1]
        end = _wrong_end(name, number, run)
        unnoticed += [(name, run, end)] if end else []
    return _lines_about(unnoticed) if unnoticed else []


def _wrong_end(name, number, run):
    """What the program does wrong after its call of this number was made to fail, or None. It must end with
    another code than 0, or by abort(), which assert() calls; with a word about it; and before it uses memory
    that it has not got."""
    returned = run.results[0].returned if run.results else None
    if not returned and run.code != -signal.SIGABRT:
        return "it ended with 0." if returned == 0 else how_it_ended(run)[0]
    later = run.report["runtime_calls"][number:] if run.report else []
    used = next((each for each in later if USES_MEMORY.fullmatch(each)), None)
    if name.startswith("cudaMalloc") and used:
        does = "launches the kernel" if used == "launch" else f"calls {used}"
        return f"it {does} with what it has not got."
    of_backend = tuple(each.sentence.rpartition(": ")[2] for each in run.diagnostics)
    lines = run.output.splitlines()
    has_said = any(line.strip() and not line.endswith(of_backend) for line in lines)
    return None if has_said else "it says nothing about that on stderr."


def _lines_about(unnoticed):
    name, run, end = unnoticed[0]
    record = next((each for each in run.diagnostics if each.kind == MADE_TO_FAIL), None)
    at = record.place() if record else None
    call = "the launch" if name == "launch" else name
    said = f"The program does not notice an error: {call}{f' at {at}' if at else ''} was made to fail, and "
    lines = textwrap.wrap(f"{said}{end[0].lower()}{end[1:]}", SCREEN)
    if at and at.code:
        lines.append(f"    {at.code}")
    if len(unnoticed) > 1:
        more = len(unnoticed) - 1
        lines.append(f"The same holds for {more} more {'call' if more == 1 else 'calls'}.")
    return [*lines, *textwrap.wrap(ADVICE, SCREEN)]


# Whether the kernels do the work, measured by what the solution's kernels do. A right result may have been
# computed on the host, and a race checker that saw nothing reports nothing.

# What every solution must load and store in global memory at least, as a part of what ours does: others
# may load a value once where ours loads it twice. What is in shared memory is no measure, because a
# solution can do without it.
LEAST_PART = 4
LEAST_BYTES = 256  # a case with less to do may be done without a kernel
LEAST_SHARED_OUT = 16384  # bytes: with less to do one thread may take all that there is for a block
BYTES_OF_ATOMIC = 4  # at least: most are of a word


def work_of(report):
    """{"bytes", "moved", "launches", "by_one_thread"} of a run under the race checker; zeros if there is no
    report.

    The bytes are those of loads and stores, and `moved` has those of atomics, too: a solution may load by
    atomics what ours loads without.
    """
    try:
        launches = report["launch_counts"]
        moved = sum(
            launch[name]["total"]
            for launch in launches
            for name in ("global_bytes_loaded", "global_bytes_stored")
        )
        atomics = sum(launch["global_atomics"]["total"] for launch in launches)
        return {
            "bytes": int(moved),
            "moved": int(moved + BYTES_OF_ATOMIC * atomics),
            "launches": len(launches),
            "by_one_thread": is_by_one_thread(report, by=[LOADS]),
        }
    except (KeyError, TypeError, ValueError):
        return {"bytes": 0, "moved": 0, "launches": 0, "by_one_thread": False}


def is_shown_by_one_thread(work, of_solution):
    """Whether one thread of each block works in a case in which our solution shares out enough."""
    is_shared_out = not of_solution.get("by_one_thread", True)
    return work["by_one_thread"] and is_shared_out and of_solution["bytes"] >= LEAST_SHARED_OUT


def objections_to_work(work, of_solution):
    """Sentences if the kernels do less than any solution can do with."""
    if of_solution["bytes"] < LEAST_BYTES:
        return []
    if not work["launches"]:
        return ["The result is right, but no kernel of yours was seen to run."]
    if work["moved"] * LEAST_PART < of_solution["bytes"]:
        return [
            "The result is right, but your kernels do too little for it: they hardly load and store "
            "anything in global memory."
        ]
    return []


def objections_to_work_in(reports, least):
    """The same of schedules in which no race was seen; `least` bytes are what the solution moves in
    each."""
    if any(work_of(report)["moved"] * LEAST_PART < least for report in reports):
        return ["In some schedule the kernels were not seen to do the work."]
    return []


# Whether the limits are kept at a size that a submission can't know, and all that its kernels read was
# counted. There may be another kernel for the one size that is public, and loads that no compiler tells
# of. What is said here names no number: it would tell the size to who hands in once more.

THERE = "At a size that only a grade uses"
NOT_KEPT = f"{THERE} your code does not keep the limits."
UNSEEN_LOADS = (
    "Your kernels read global memory in a way that the race checker does not see. Read by an "
    "expression or an atomic, and not by functions of the C library."
)


def objections_at_secret_size(runs, secret, is_race_free=False):
    """Lines about what the kernels do in this SecretCase; none if it is as it must be."""
    counted = runs.counted(secret.case, WatchedLoads())
    reports = [run.report for run in counted]
    if any(first_failure([secret.case._replace(launches=1)], run, run.results) for run in counted):
        return [f"{THERE} the result is wrong or missing."]
    if not _work_is_seen(runs, reports):
        return [f"{THERE} the result is right, but no kernel of yours was seen to compute it."]
    objections = objections_to_unseen_stores(reports) or objections_to_uncounted(reports)
    if objections:
        return objections
    if is_race_free and any(report["findings"] for report in reports):
        return [f"{THERE} two threads race."]
    shown = objections_to_show(runs.exercise, reports)
    advice = [limit["advice"] for limit, _ in limits_not_kept(runs.exercise, reports, secret.case)]
    if advice or shown:
        return [
            NOT_KEPT,
            *(line for line in shown if line in FOR_SHOW),
            *(line for text in advice for line in textwrap.wrap(text, SCREEN)),
        ]
    if runs.exercise.is_program:
        lines = objections_to_host_code(runs, reports[0], secret.case)
        if lines:
            return [NOT_KEPT, *lines]
    return [] if _all_loads_are_seen(runs, secret, counted[0]) else [UNSEEN_LOADS]


def _work_is_seen(runs, reports):
    """The size is about that of the counted case, of which it is known what our solution does: in all
    calls together, those with other numbers too."""
    counted = next(case for case in runs.cases if case.counted)
    least = (runs.exercise_cases.least_work or {}).get(counted.name, {"bytes": 0})["bytes"]
    calls = counted.launches * runs.exercise_cases.runs_of_each
    return all(calls * LEAST_PART * work_of(report)["moved"] >= least for report in reports)


def _all_loads_are_seen(runs, secret, run):
    """Whether the same comes out if all bytes are others that no launch of this run was seen to load."""
    pieces = tuple(launch.get("loaded", []) for launch in run.report["launch_counts"])
    loads = WatchedLoads(pieces, secret.drawn_from)
    again = runs.counted_once(secret.case, loads=loads)
    return [each.launches for each in again.results] == [each.launches for each in run.results]
