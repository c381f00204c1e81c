# SPDX-License-Identifier: MIT
"""The races of a submission, judged in a sandbox."""

import os
from typing import NamedTuple

from engine.driver.race_picture import race_figure, races_of
from engine.driver.racecheck_runs import CheckedRun
from grader.judging.compiling import NotCompiled
from grader.judging.judgements import OF_A_SCHEDULE, needs, part_row, report_of
from grader.judging.plausibility import LEAST_PART, work_of
from grader.judging.programs import ORDINARY
from grader.judging.race_lines import MAY_BE_THE_REASON, race_lines
from grader.judging.races import SCHEDULES, races_in, settings_of, wrong_by_the_rules
from grader.judging.results import SECOND_LAUNCH
from grader.judging.stream_races import stream_lines
from grader.sandbox.sandboxed_run import PATIENCE


class JudgedRaces(NamedTuple):
    part: dict  # as part_row makes it
    picture: str = ""  # SVG; "" for none
    diagnoses: tuple = ()  # names of what racecheck found


def judged_races(judge, passed):
    """The JudgedRaces of a submission.

    `judge` knows the submission, and runs it: exercise, cases, bench, source, program, run() and
    compiled(). `passed` says of each case's name whether its results are right.
    """
    cases = [case for case in judge.cases if case.races]
    wrong = [case.name for case in cases if not passed[case.name]]
    if wrong:
        return JudgedRaces(part_row(judge.exercise, "races", 0, [needs(wrong[0])]))
    races = _Races(judge, cases, [case for case in judge.cases if passed[case.name]])
    try:
        lines = _with_right_count(races.lines(), passed)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        lines = ["The race checker's report is none that the checker writes."]
    points = 0 if lines else judge.exercise.points["races"]
    part = part_row(judge.exercise, "races", points, lines)
    return JudgedRaces(part, races.picture, tuple(races.diagnoses))


def with_reason(results, races):
    """The part of the results, with a race that was found in place of a question about the launches."""
    if not races.picture:
        return results
    reason = f"{MAY_BE_THE_REASON}: see the part races."
    rows = []
    for row in results["cases"]:
        lines = [reason if line == SECOND_LAUNCH else line for line in row["lines"]]
        rows.append({**row, "lines": lines})
    return {**results, "cases": rows}


def _with_right_count(lines, passed):
    """A check looks for races only if all results are right; here the race's own cases must be."""
    right, total = sum(passed.values()), len(passed)
    if right == total:
        return lines
    said = f"All {total} results are right"
    return [line.replace(said, f"{right} of {total} results are right") for line in lines]


def _with_names_alone(races):
    """The races with files' names in what is drawn: the folder is another one each time."""
    return [(program, {**race, "chain": _named_alone(race["chain"])}) for program, race in races]


def _named_alone(chain):
    events = [{**event, "file": os.path.basename(event["file"])} for event in chain["events"]]
    return {**chain, "events": events}


class _Races:
    """The schedules of one submission, and what they show."""

    def __init__(self, judge, cases, right):
        self.judge, self.cases, self.right = judge, cases, right
        self.picture, self.diagnoses = "", []

    def lines(self):
        """What to say of the races; none if there are none."""
        runs, files = self._schedules()
        merging = self.judge.shops.judge.merging(self.judge.source)
        found = races_in(runs, self.cases, files, merging)
        moved = [work_of(run.report)["bytes"] for run in runs]
        least = sum(self.judge.bench.least_work[case.name]["bytes"] for case in self.cases)
        self.diagnoses = sorted({name for item in found.findings for name in item["diagnosis"]})
        if found.is_free:
            if min(moved) * 2 * LEAST_PART < least or len(runs) < SCHEDULES:
                return ["In some schedule the kernels were not seen to do the work."]
            return self._stream_lines()
        shown = None
        if found.findings and not found.problem:
            # All that are right: the larger ones have more reads that can get an old value.
            shown = wrong_by_the_rules(
                self.right, lambda weak: self._as_bounded(self.right, weak, self.judge.program)
            )
        races = races_of([{"program": "", "findings": found.findings}])
        if races:
            self.picture = race_figure(_with_names_alone(races)).svg()
        return race_lines(found, shown, len(self.judge.cases))

    def _schedules(self):
        """([CheckedRun], [their CaseResults]), up to the first one that reaches a limit."""
        runs, files = [], []
        for seed in range(SCHEDULES):
            environment = {
                **settings_of(seed),
                "LAB_RACECHECK_COUNTS": "1",
                "LAB_RACECHECK_SEED": str(seed),
                "LAB_RACECHECK_REPORT": "report",
                "LAB_RACECHECK_SECONDS": str(OF_A_SCHEDULE.seconds * PATIENCE),  # by the clock
            }
            run, results, folder = self.judge.run(self.cases, environment, OF_A_SCHEDULE)
            code, report = run.as_bounded.code, report_of(folder)
            runs.append(CheckedRun(seed, code, report, run.output, diagnostics=run.diagnostics))
            files.append(results)
            if run.limit:
                break
        return runs, files

    def _stream_lines(self):
        if not self.judge.exercise.has_streams:
            return []
        try:
            program = self.judge.compiled(ORDINARY)
        except NotCompiled as problem:
            return problem.lines
        cases = self.judge.cases
        return stream_lines(
            cases,
            self.judge.source,
            lambda order: self._as_bounded(cases, order, program),
            OF_A_SCHEDULE.seconds,
        )

    def _as_bounded(self, cases, environment, program):
        run, results, _ = self.judge.run(cases, environment, OF_A_SCHEDULE, program)
        return run.as_bounded, results
