# SPDX-License-Identifier: MIT
"""Judges one submission of one exercise: points for each part, and what to say about it.

Everything of the student's runs in the sandbox, one process for each case, in the form that the race
checker sees: there the same bytes and the same seed give the same results. What comes out is compared
here, with a list of cases that is complete.
"""

import shutil

from engine.driver.diagnostics import VARIABLE, records_of
from engine.driver.errors import NOTHING_COULD_RUN, LabError
from engine.driver.untrusted_files import content_of
from grader.exercises.case_files import read_results, written_cases
from grader.exercises.limits import counted_case, lines_about
from grader.exercises.work_folder import starter
from grader.judging.compiling import NotCompiled, compiled_alone
from grader.judging.judgements import (
    COMPILE_ERROR,
    LIMIT_LINES,
    MOST_RESULTS,
    MOST_TIMEOUTS,
    OF_A_CASE,
    OF_A_SCHEDULE,
    OK,
    RUNTIME_ERROR,
    SIGNAL,
    TIMED_OUT,
    Judgement,
    needs,
    part_row,
    report_of,
)
from grader.judging.plausibility import objections_to_work, work_of
from grader.judging.programs import OBSERVED, ORDINARY, objections_before_compiling
from grader.judging.race_judging import judged_races, with_reason
from grader.judging.results import (
    NO_DEVICE,
    STUCK_SECONDS,
    error_words,
    first_failure,
)
from grader.sandbox.sandboxed_run import PATIENCE, TIME, Access, SandboxFailed


def judge(sandbox, shops, bench, source):
    """The Judgement on the submission in the file `source`. Raises Stopped and LabError.

    `shops` are those of grader.judging.home_checks: on a GPU the results are judged once more.
    """
    with sandbox.folder() as folder:
        return _Judge(sandbox, shops, bench, source, folder).judgement()


class _Judge:
    """One submission: what is compiled of it, how it runs, and what came out."""

    def __init__(self, sandbox, shops, bench, source, folder):
        self.sandbox, self.shops, self.bench = sandbox, shops, bench
        self.exercise, self.cases = bench.exercise, bench.cases
        self.folder = folder
        self.status = OK
        self.folders = 0
        self.source = self._copy_of(source)
        self.program = self.gpu_program = None
        self.gpu_is_there = False

    def judgement(self):
        try:
            objections = objections_before_compiling(self.source)
            if objections:
                raise NotCompiled(objections)
            self.program = self.compiled(OBSERVED)
            self.gpu_program = self.compiled(ORDINARY, self.shops.gpu) if self.shops.gpu else None
        except NotCompiled as problem:
            return self._not_judged(COMPILE_ERROR, problem.lines)
        picture, diagnoses = "", []
        results = self._results()
        parts = [results]
        passed = {row["name"]: row["passed"] for row in results["cases"]}
        if "races" in self.exercise.parts:
            races = judged_races(self, passed)
            parts = [with_reason(results, races), races.part]
            picture, diagnoses = races.picture, list(races.diagnoses)
        if "limits" in self.exercise.parts:
            parts.append(self._limits(passed))
        return Judgement(self.status, parts, picture, diagnoses)

    def compiled(self, form, shop=None):
        """The submission's Program in this form. Raises NotCompiled."""
        shop = shop or self.shops.judge
        return compiled_alone(
            self.sandbox, shop, self.exercise, self.source, self._new_folder(), form
        )

    def _not_judged(self, status, lines):
        rows = [part_row(self.exercise, part) for part in self.exercise.parts]
        rows[0]["lines"] = lines
        rows[0]["cases"] = [
            {"name": case.name, "passed": False, "lines": []} for case in self.cases
        ]
        return Judgement(status, rows, "", [])

    def _copy_of(self, source):
        """Where another user than the grader can read it."""
        copy = self._new_folder() / source.name
        shutil.copyfile(source, copy)
        copy.chmod(0o644)
        return copy

    def _new_folder(self):
        self.folders += 1
        made = self.folder / str(self.folders)
        made.mkdir()
        made.chmod(0o755)
        return made

    def run(self, cases, environment=None, limits=None, program=None):
        """(how it ended, [CaseResult], the folder that it wrote into)."""
        program = program or self.program
        folder = self._new_folder()
        given = folder / "cases"
        given.write_bytes(written_cases(cases, self.exercise.name))
        run = self.sandbox.run(
            [program.path, given, folder / "results"],
            Access(folder, program.readable, program is self.gpu_program),
            {
                "LAB_TIMEOUT": str(STUCK_SECONDS * PATIENCE),  # by the clock
                VARIABLE: "diagnostics",
                **(environment or {}),
            },
            limits or OF_A_CASE,
        )
        if not run.has_begun:
            raise SandboxFailed(f"no program could be run in the sandbox: {run.output.strip()}")
        if program is self.gpu_program and run.code == NOTHING_COULD_RUN and not self.gpu_is_there:
            require_device(self.sandbox, self.shops, self.bench)
            self.gpu_is_there = True  # so the submission has ended so by itself
        run = run._replace(diagnostics=records_of(folder / "diagnostics"))
        return run, read_results(content_of(folder / "results", MOST_RESULTS)), folder

    def _results(self):
        rows, timeouts = [], 0
        for case, again in zip(self.cases, self.bench.again):
            if timeouts == MOST_TIMEOUTS:
                lines = ["Not run: the cases before it took all the time that there is."]
            else:
                lines, limit = self._case_lines(case, again)
                timeouts += limit == TIME
            rows.append({"name": case.name, "passed": not lines, "lines": lines})
        passed = sum(row["passed"] for row in rows)
        points = self.exercise.points["results"] * passed // len(rows)
        lines = []
        if passed < len(rows):
            lines = [f"{passed} of {len(rows)} cases {'is' if passed == 1 else 'are'} right."]
        return part_row(self.exercise, "results", points, lines, rows)

    def _case_lines(self, *both):
        """What is wrong with a case, which comes with other numbers once more; and the limit that ended
        it."""
        run, results, folder = self.run(both, self._counting())
        failure = self._first_failure(both, run, results)
        if not failure and self.gpu_program:
            run, results, _ = self.run(both, program=self.gpu_program)
            failure = self._first_failure(both, run, results)
            if failure:
                failure = failure._replace(lines=["On the GPU:", *failure.lines])
        if not failure:
            least = self.bench.least_work.get(both[0].name)
            return objections_to_work(work_of(report_of(folder)), least) if least else [], None
        self._note_end(run, failure)
        if run.code == NOTHING_COULD_RUN and not failure.is_wrong_result:
            return [f"The program ended with {run.code}."], None
        if run.limit and not failure.is_wrong_result:
            return [LIMIT_LINES[run.limit].format(OF_A_CASE.figure(run.limit))], run.limit
        return error_words(run.as_bounded, failure), run.limit

    @staticmethod
    def _first_failure(cases, run, results):
        return first_failure(cases, run.as_bounded, results, OF_A_CASE.seconds)

    def _note_end(self, run, failure):
        """The first end that is none of its own becomes the submission's status."""
        if self.status != OK or failure.is_wrong_result:
            return
        if run.limit == TIME:
            self.status = TIMED_OUT
        elif run.limit or run.signal:
            self.status = SIGNAL
        else:
            self.status = RUNTIME_ERROR

    def work(self):
        """{a case's name: what the kernels do in it}."""
        if self.program is None:
            self.program = self.compiled(OBSERVED)
        found = {}
        for both in zip(self.cases, self.bench.again):
            _, _, folder = self.run(both, self._counting())
            found[both[0].name] = work_of(report_of(folder))
        return found

    def finds_device(self):
        """Whether this program, which is one of the course's, has a GPU to run on."""
        self.gpu_is_there = True  # nobody is asked again
        self.gpu_program = self.compiled(ORDINARY, self.shops.gpu)
        run, _, _ = self.run(self.cases[:1], program=self.gpu_program)
        return run.code != NOTHING_COULD_RUN

    @staticmethod
    def _counting():
        return {
            "LAB_RACECHECK_COUNTS": "1",
            "LAB_RACECHECK_REPORT": "report",
            "LAB_RACECHECK_SEED": "0",
        }

    def _limits(self, passed):
        case = counted_case(self.exercise, self.cases)
        if not passed[case.name]:
            return part_row(self.exercise, "limits", 0, [needs(case.name)])
        _, _, folder = self.run([case._replace(launches=1)], self._counting(), OF_A_SCHEDULE)
        try:
            lines = lines_about(self.exercise, report_of(folder)["launch_counts"], case)
        except (KeyError, TypeError, ValueError, AttributeError):
            lines = ["The kernels could not be counted."]
        points = 0 if lines else self.exercise.points["limits"]
        return part_row(self.exercise, "limits", points, lines)


def require_device(sandbox, shops, bench):
    """Raises LabError if a program of the course's own finds no GPU: then no other does.

    A submission may end as a program without a GPU does, and that is its own affair.
    """
    with sandbox.folder() as folder:
        source = folder / bench.exercise.file_name
        source.write_text(starter(bench.exercise), encoding="utf-8")
        own = _Judge(sandbox, shops, bench, source, folder)
        try:
            found = own.finds_device()
        except NotCompiled as problem:
            raise LabError(f"{bench.exercise.title}: its starter: {problem.lines[0]}") from problem
        except SandboxFailed as problem:
            raise LabError(f"{problem}.") from problem
    if not found:
        raise LabError(f"--backend cuda: {NO_DEVICE} Nothing is graded on the CPU instead.")


def solution_work(sandbox, shops, bench, source):
    """What the solution's kernels do on the bench's cases, which others are measured by."""
    with sandbox.folder() as folder:
        return _Judge(sandbox, shops, bench, source, folder).work()
