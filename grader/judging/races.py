# SPDX-License-Identifier: MIT
"""Whether a student's program has races, and what they can do to its results."""

from typing import NamedTuple, Optional

from engine.command.racecheck_runs import merged_findings, problem_of
from grader.exercises.cases import Case
from grader.judging.results import Failure, first_failure, wrong_result

SCHEDULES = 20
SECONDS = 30  # for one schedule
WEAK_SEEDS = (None, 1, 2)  # None: the default, the oldest and the newest value in turn


def settings_of(seed):
    """What a schedule of an exercise has in its environment besides its seed.

    In the first two schedules the blocks run in their order and in reverse. Here they have one place
    among them, since CUDA promises no more: a block that waits for a later one waits for ever.
    """
    return {"LAB_SMS": "1"} if seed in (0, 1) else {}


class WrongResult(NamedTuple):
    """Of a schedule that came to its end: the order of atomic operations alone can lead to one."""

    case: Case
    failure: Failure
    schedules: int  # or executions: in how many of them some result was wrong


class Races(NamedTuple):
    """What all schedules have found."""

    findings: list  # as ./lab racecheck --json has them, the worst first
    problem: Optional[str]  # why a schedule did not come to its end, if that is no finding
    output: str  # of that schedule
    diagnostics: tuple  # of it
    accesses: int
    schedules: int  # or executions
    wrong: Optional[WrongResult] = None
    explored: Optional[Case] = None  # whose executions these are

    @property
    def is_free(self):
        return not (self.findings or self.problem or self.wrong) and self.accesses > 0


def races_in(runs, cases, results, merging):
    """The Races of one CheckedRun and one list of CaseResults for each schedule, by rising seeds.

    Raises MalformedReport.
    """
    problems = ((problem_of(run, SECONDS), run.output, run.diagnostics) for run in runs)
    problem, output, records = next((item for item in problems if item[0]), (None, "", ()))
    return Races(
        merged_findings(runs, merging),
        problem,
        output,
        records,
        sum(run.report["accesses"] for run in runs if run.report),
        len(runs),
        _wrong_in(cases, results),
    )


def _wrong_in(cases, schedules):
    """The WrongResult of the first schedule that has one, or None."""
    found = [failure for failure in (wrong_result(cases, each) for each in schedules) if failure]
    return WrongResult(cases[found[0].number], found[0], len(found)) if found else None


def objections_to_unseen_stores(reports):
    """Sentences if memory has changed in these runs by stores that the race checker has not seen: then it
    can say nothing of races, and has not counted them."""
    unseen = [
        launch.get("unseen_bytes_stored")
        for report in reports
        for launch in report["launch_counts"]
        if launch["completed"]
    ]
    if all(number == 0 for number in unseen):
        return []
    if None in unseen:
        return ["It takes more memory than the race checker can compare, which no solution does."]
    return [
        "Your kernels change global memory in a way that the race checker does not see. Store by an "
        "assignment or an atomic, and not by functions of the C library."
    ]


def wrong_by_the_rules(cases, run_cases):
    """(case, its Failure) that old values, which the memory model allows, lead to; None if none do.

    `run_cases` takes an environment, and returns how the program ended and its CaseResults.
    """
    for seed in WEAK_SEEDS:
        run, results = run_cases(
            {"LAB_WEAK": "1"} if seed is None else {"LAB_WEAK_SEED": str(seed)}
        )
        failure = first_failure(cases, run, results, SECONDS)
        if failure and failure.is_wrong_result:
            return cases[failure.number], failure
    return None
