# SPDX-License-Identifier: MIT
"""Judges a student's file: its results, then its races, then what it may use."""

import concurrent.futures
import contextlib
import pathlib
import tempfile
import textwrap
from typing import NamedTuple, Optional

from engine.driver.processes import output_of
from engine.driver.race_picture import races_of, write_picture
from engine.driver.recipe import DidNotCompile
from grader.exercises.cases import Array
from grader.exercises.inspection import objections_to_names, objections_to_source
from grader.exercises.limits import exceeded_limits
from grader.judging.programs import OBSERVED, ORDINARY, compiled, objections_before_compiling
from grader.judging.race_lines import overrun_lines, race_as_well, race_lines
from grader.judging.races import SCHEDULES, SECONDS, check_races, wrong_by_the_rules
from grader.judging.results import (
    WIDTH,
    cases_of,
    error_words,
    first_failure,
    run_cases,
)
from grader.judging.stream_races import stream_lines

MOVES = {"given": 1, "returned": 1, "updated": 2}  # how often each element goes through memory
FEW_SCHEDULES = 4  # where a race is not what is judged
PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"


class Verdict(NamedTuple):
    """What a check has found: of each part of the exercise whether it passed, and what to say."""

    parts: dict  # {part: PASSED, FAILED or NOT_RUN}
    lines: list  # about the first part that failed, or about all if none did
    picture: Optional[pathlib.Path] = None
    compiles: bool = True
    warnings: tuple = ()  # the compiler's
    refusals: tuple = ()  # sentences: for what a grade would refuse the file, right or wrong

    @property
    def is_solved(self):
        return all(state == PASSED for state in self.parts.values())


def check(shop, exercise, source, picture=None, has_begun=lambda what: None, time_it=False):
    """The Verdict on the student's file. A race is drawn to `picture`, if that is given.

    `has_begun` is told what is being done. Raises LabError if nothing can be judged.
    """
    with tempfile.TemporaryDirectory(prefix="lab-check-") as folder:
        judge = _Check(shop, exercise, source, folder, picture, has_begun, time_it)
        verdict = judge.verdict()._replace(warnings=tuple(judge.warnings))
        return verdict._replace(refusals=tuple(judge.refusals())) if verdict.compiles else verdict


class _Check:
    def __init__(self, shop, exercise, source, folder, picture, has_begun, time_it):
        self.shop, self.exercise, self.source = shop, exercise, source
        self.folder, self.picture, self.has_begun = folder, picture, has_begun
        self.time_it = time_it
        self.warnings = []
        self.object_file = (
            None  # in the race checker's form, which is the one that a grade looks at
        )
        self.states = dict.fromkeys(exercise.parts, NOT_RUN)
        self.cases = cases_of(exercise)

    def verdict(self):
        objections = objections_before_compiling(self.source)
        if objections:
            return self._does_not_compile(objections)
        text = self.source.read_text(encoding="utf-8", errors="replace")
        self.objections = objections_to_source(text)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.has_begun("compiling")
            ordinary = pool.submit(compiled, self.shop, self.exercise, self.source, ORDINARY)
            observed = None
            if self.shop.can_observe and len(self.states) > 1:
                observed = pool.submit(self._observed)
            try:
                program = ordinary.result()
                self.warnings = program.warnings
                lines = self._results(program.path)
            except DidNotCompile as problem:
                if observed:
                    with contextlib.suppress(DidNotCompile):
                        observed.result()
                return self._does_not_compile(problem.lines)
            self.states["results"] = FAILED if lines else PASSED
            if lines and observed:
                with contextlib.suppress(DidNotCompile):
                    lines += self._more_about(observed.result().path)
            if lines or not observed:
                return Verdict(self.states, lines)
            ordinary, program = program.path, observed.result().path
        if "races" in self.states:
            lines, drawn = self._races(program, ordinary)
            self.states["races"] = FAILED if lines else PASSED
            if lines:
                return Verdict(self.states, lines, drawn)
        if "limits" in self.states:
            self.has_begun("counting")
            lines = exceeded_limits(program, self.exercise, self.cases, self.folder)
            self.states["limits"] = FAILED if lines else PASSED
            if lines:
                return Verdict(self.states, lines)
        return Verdict(self.states, self._all_is_right())

    def refusals(self):
        """For what a grade would refuse the file, as far as it was compiled for that."""
        if self.objections or not self.object_file:
            return self.objections
        return objections_to_names(output_of(["nm", "-P", str(self.object_file)]) or "")

    def _observed(self):
        """The program in the race checker's form. Raises DidNotCompile."""
        program = compiled(self.shop, self.exercise, self.source, OBSERVED)
        self.object_file = program.object_file
        return program

    def _does_not_compile(self, lines):
        self.states["results"] = FAILED
        return Verdict(self.states, lines, compiles=False)

    def _results(self, program):
        self.has_begun(f"running {len(self.cases)} cases")
        options = ["--time"] if self.time_it else []
        run, results = run_cases(program, self.exercise, self.cases, self.folder, options=options)
        self.times = [result.microseconds for result in results]
        self.accesses = 0
        failure = first_failure(self.cases, run, results)
        if not failure:
            return []
        self.failure = failure
        self.is_overrun = any(record.is_overrun for record in run.diagnostics)
        return self._case_lines(failure, error_words(run, failure))

    def _case_lines(self, failure, words):
        case = self.cases[failure.number]
        launch = "" if failure.launch == 0 else ", second launch"
        head = f"case {failure.number + 1} of {len(self.cases)}: {case.name}{launch}"
        asks = case.question and failure.launch == 0 and failure.is_wrong_result
        question = textwrap.wrap(case.question, WIDTH) if asks else []
        return [head, *(f"  {line}" for line in [*words, *question])]

    def _more_about(self, program):
        """What the race checker sees of the case that failed."""
        if self.failure.is_wrong_result:
            return self._race_as_well(program)
        if not self.is_overrun:
            return []
        case = self.cases[self.failure.number]
        found = self._check_races(program, [case], FEW_SCHEDULES)
        return overrun_lines(found)

    def _race_as_well(self, program):
        """A wrong result often comes of a race. It is told, and it is not judged yet."""
        if "races" not in self.states:
            return []
        self.has_begun("looking for races")
        cases = [case for case in self.cases if case.races]
        found = self._check_races(program, cases, FEW_SCHEDULES)
        return race_as_well(found)

    def _races(self, program, ordinary):
        self.has_begun("looking for races in 20 schedules")
        cases = [case for case in self.cases if case.races]
        found = self._check_races(program, cases)
        self.accesses = found.accesses
        if self.picture:  # of an earlier check
            self.picture.unlink(missing_ok=True)
        if found.is_free:
            return self._stream_races(ordinary), None
        shown = None
        if found.findings and not found.problem:
            # All cases: the larger ones have more reads that can get an old value.
            shown = wrong_by_the_rules(
                self.cases,
                lambda weak: run_cases(
                    program, self.exercise, self.cases, self.folder, weak, SECONDS
                ),
            )
        drawn = None
        if self.picture and found.findings:
            races = races_of([{"program": str(program), "findings": found.findings}])
            if races:
                write_picture(races, self.picture, says=False)
                drawn = self.picture
        return race_lines(found, shown, len(self.cases)), drawn

    def _check_races(self, program, cases, schedules=SCHEDULES):
        merging = self.shop.merging(self.source)
        return check_races(program, self.exercise, cases, self.folder, merging, schedules)

    def _stream_races(self, program):
        if not self.exercise.has_streams:
            return []
        return stream_lines(
            self.cases,
            self.source,
            lambda order: run_cases(program, self.exercise, self.cases, self.folder, order),
        )

    def _all_is_right(self):
        done = [f"{len(self.cases)} cases"]
        if self.accesses:
            done.append(f"20 schedules, {self.accesses:,} accesses, no race")
        return [f"Done: {', '.join(done)}.", *self._bandwidths()]

    def _bandwidths(self):
        """Of the case that took longest, with what it must at least read and write."""
        timed = [(time, case) for case, time in zip(self.cases, self.times) if time]
        if not self.time_it or not timed:
            return []
        time, case = max(timed, key=lambda pair: pair[0])
        arrays = [item for item in case.arguments if isinstance(item, Array)]
        moved = sum(MOVES.get(item.kind, 0) * item.count * item.type.size for item in arrays)
        return [f"{time:.1f} us and at least {moved / time / 1000:,.1f} GB/s in: {case.name}."]
