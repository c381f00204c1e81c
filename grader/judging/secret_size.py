# SPDX-License-Identifier: MIT
"""Whether a submission keeps the limits at a size that it can't know, and whether all that its kernels
read was counted.

There may be another kernel for the one size that everybody knows, and loads that no compiler tells of. What
is said here names no number: it would tell the size to who hands in once more.
"""

import textwrap

from grader.exercises.case_files import WatchedLoads
from grader.exercises.limits import limits_not_kept, objections_to_uncounted
from grader.judging.host_code import objections_to_host_code, objections_to_many_calls
from grader.judging.plausibility import LEAST_PART, work_of
from grader.judging.races import objections_to_unseen_stores
from grader.judging.results import SCREEN, first_failure

THERE = "At a size that only a grade uses"
NOT_KEPT = f"{THERE} your code does not keep the limits."
UNSEEN_LOADS = (
    "Your kernels read global memory in a way that the race checker does not see. Read by an "
    "expression or an atomic, and not by functions of the C library."
)


def objections_at_secret_size(judge, secret):
    """Lines about what the kernels do in this SecretCase; none if it is as it must be."""
    runs = judge.counted(secret.case, WatchedLoads())
    reports = [run.report for run in runs]
    if any(first_failure([secret.case._replace(launches=1)], run, run.results) for run in runs):
        return [f"{THERE} the result is wrong or missing."]
    if not _work_is_seen(judge, reports):
        return [f"{THERE} the result is right, but no kernel of yours was seen to compute it."]
    objections = objections_to_unseen_stores(reports) or objections_to_uncounted(reports)
    if objections:
        return objections
    if judge.has_passed("races") and any(report["findings"] for report in reports):
        return [f"{THERE} two threads race."]
    if judge.exercise.is_program and objections_to_many_calls(reports[0]):
        return [NOT_KEPT]
    advice = [limit["advice"] for limit, _ in limits_not_kept(judge.exercise, reports, secret.case)]
    if advice:
        return [
            NOT_KEPT,
            *(line for text in advice for line in textwrap.wrap(text, SCREEN)),
        ]
    if judge.exercise.is_program:
        lines = objections_to_host_code(judge, reports[0], secret.case)
        if lines:
            return [NOT_KEPT, *lines]
    return [] if _all_loads_are_seen(judge, secret, runs[0]) else [UNSEEN_LOADS]


def _work_is_seen(judge, reports):
    """The size is about that of the counted case, of which it is known what our solution does: in all
    calls together, those with other numbers too."""
    counted = next(case for case in judge.cases if case.counted)
    least = (judge.exercise_cases.least_work or {}).get(counted.name, {"bytes": 0})["bytes"]
    calls = counted.launches * judge.exercise_cases.runs_of_each
    return all(calls * LEAST_PART * work_of(report)["moved"] >= least for report in reports)


def _all_loads_are_seen(judge, secret, run):
    """Whether the same comes out if all bytes are others that no launch of this run was seen to load."""
    pieces = tuple(launch.get("loaded", []) for launch in run.report["launch_counts"])
    loads = WatchedLoads(pieces, secret.drawn_from)
    again = judge.counted_once(secret.case, loads=loads)
    return [each.launches for each in again.results] == [each.launches for each in run.results]
