# SPDX-License-Identifier: MIT
"""Judges one submission of one exercise: points for each part, and what to say about it.

What comes out of the sandbox is compared here, with a list of cases that is complete.
"""

import contextlib
import functools
from typing import NamedTuple

from engine.command.errors import NOTHING_COULD_RUN, CommandError
from engine.command.output_files import write_whole
from grader.exercises.solutions import starter
from grader.judging.compile import CONCURRENT, SCHEDULED
from grader.judging.judge import OF_A_CASE, Asked, CaseRuns, ExerciseCases, verdict_of
from grader.judging.limits import work_of
from grader.judging.races import counting
from grader.judging.results import NO_DEVICE, cases_of, secret_case
from grader.judging.runner import Limits, LocalRunner, NotCompiled
from grader.judging.sandboxed import SandboxRunner, compiled_alone, solution_object
from grader.judging.speed import Timed, cases_to_time, speed_row
from grader.judging.verdict import FAILED, PASSED, shortened
from grader.sandbox.sandboxed_run import SandboxFailed

OF_OWN_CASE = Limits(seconds=60)  # by the clock, of a machine that is busy
INTERNAL = "XX"  # the status if the grader itself has failed
MOST_LINES = 200  # of a part, and of a case
NO_POINTS = "No points: a solution must keep the limits, and this file does not."


class Judgement(NamedTuple):
    status: str  # of a Verdict
    parts: list  # [{"part", "points", "of", "lines", "cases"}]
    picture: str  # SVG; "" for none
    diagnoses: list  # names of what racecheck found
    is_refused: bool = False  # its status is that of a file that does not compile

    @property
    def points(self):
        return sum(part["points"] for part in self.parts)


def judgement_of(verdict, exercise):
    """The Judgement that a Verdict on every case comes to: of the results' points as many as cases are
    right, and each other part's as a whole. Limits without points are a gate: a file that does not keep
    them gets no points, and the first part's lines say so. A file in which others do the work gets a share
    of all points at most: those of its first parts."""
    gates = [part for part in verdict.parts if part not in exercise.points]
    shut_out = [part for part in gates if verdict.parts[part] == FAILED]
    why = [line for part in shut_out for line in (NO_POINTS, "", *verdict.lines_of[part])]
    rows = []
    for part, state in verdict.parts.items():
        if part in gates:
            continue
        points = exercise.points[part] if state == PASSED else 0
        judged = verdict.cases if part == "results" else ()
        cases = [{**case._asdict(), "lines": _bounded(case.lines)} for case in judged]
        if cases:
            points = exercise.points[part] * sum(case["passed"] for case in cases) // len(cases)
        lines = verdict.lines_of[part] if rows else [*why, *verdict.lines_of[part]]
        if part == "races" and state == PASSED and verdict.proved_for:
            lines = [*lines, f"{verdict.proved_for.capitalize()}."]
        rows.append(part_row(exercise, part, 0 if shut_out else points, lines, cases))
    left = int(verdict.most_points * sum(row["of"] for row in rows))
    for row in rows:
        row["points"] = min(row["points"], left)
        left -= row["points"]
    return Judgement(
        verdict.status, rows, verdict.race_picture, list(verdict.diagnoses), verdict.is_refused
    )


def _bounded(lines):
    """A line of a submission's, or a name in it, may be as long as a book; so may a forged report."""
    shown = [shortened(line) for line in lines[:MOST_LINES]]
    return [*shown, "..."] if len(lines) > MOST_LINES else shown


def part_row(exercise, part, points=0, lines=(), cases=()):
    return {
        "part": part,
        "points": points,
        "of": exercise.points[part],
        "lines": _bounded(list(lines)),
        "cases": list(cases),
    }


def exercise_cases(exercise, seed):
    """The ExerciseCases of this seed; the solution's work is still to be added."""
    # A program is another process each time, and remembers nothing.
    again = () if exercise.is_program else tuple(cases_of(exercise, f"{seed} again"))
    return ExerciseCases(
        exercise, cases_of(exercise, seed), again, secret=secret_case(exercise, seed)
    )


def judge(sandbox, builds, cases, source):
    """The Judgement on the submission in the file `source`, on these ExerciseCases. Raises Stopped and
    CommandError.

    `builds` are ExerciseBuilds: with one for a GPU the results are judged there once more.
    """
    with sandbox.folder() as folder:
        runner = SandboxRunner(sandbox, builds, cases.exercise, source, folder)
        runs = CaseRuns(cases, runner)
        there_is_one = functools.cache(lambda: require_device(sandbox, builds, cases))
        verdict = verdict_of(runs, Asked(True, require_gpu=there_is_one if builds.gpu else None))
        judgement = judgement_of(verdict, cases.exercise)
        if not cases.timed:
            return judgement
        row = speed_row(runs, verdict, cases.timed, cases.exercise.speed)
        return judgement._replace(
            parts=[*judgement.parts, {**row, "lines": _bounded(row["lines"])}]
        )


@contextlib.contextmanager
def _required(exercise, what):
    """Raises CommandError if what the course itself has written, its starter or solution, can't be compiled
    or run."""
    try:
        yield
    except NotCompiled as problem:
        raise CommandError(f"{exercise.title}: its own {what}: {problem.lines[0]}") from problem
    except SandboxFailed as problem:
        raise CommandError(f"{problem}.") from problem


def require_device(sandbox, builds, cases):
    """Raises CommandError if a program of the course's own finds no GPU: then no other does.

    A submission may end as a program without a GPU does, and that is its own affair.
    """
    exercise = cases.exercise
    with sandbox.folder() as folder:
        source = folder / exercise.file_name
        source.write_text(starter(exercise), encoding="utf-8")
        runner = SandboxRunner(sandbox, builds, exercise, source, folder)
        with _required(exercise, "starter"):
            program = runner.compiled_for_gpu()
            run = CaseRuns(cases, runner).run_cases(program, cases.cases[:1], {}, OF_A_CASE)
    if run.code == NOTHING_COULD_RUN:
        raise CommandError(f"--backend cuda: {NO_DEVICE} Nothing is graded on the CPU instead.")


def require_nvcc(sandbox, builds, exercise):
    """Raises CommandError if nvcc refuses the exercise's own starter: then it refuses all submissions."""
    with sandbox.folder() as folder:
        source = folder / exercise.file_name
        source.write_text(starter(exercise), encoding="utf-8")
        runner = SandboxRunner(sandbox, builds, exercise, source, folder)
        with _required(exercise, "starter"):
            runner.require_nvcc()


def solution_work(build, cases, text):
    """{a case's name: what the solution's kernels do in it} of these ExerciseCases, which others are measured
    by. It is the course's own, so it is compiled once and runs as in a check. Raises CommandError."""
    exercise = cases.exercise
    source = build.place.folder.resolve() / "files/solutions" / exercise.file_name
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_file() or source.read_text(encoding="utf-8") != text:
        write_whole(source, text)
    with LocalRunner(build, exercise, source, (SCHEDULED,)) as runner:
        runner.goes_by_the_clock = False
        runs = CaseRuns(cases, runner)

        def report_on(cases_of_one):
            program = runner.compiled(SCHEDULED)
            return runs.run_cases(program, cases_of_one, counting(), OF_OWN_CASE).report

        processes = [each for _, each in runs.processes(is_alone=True)]
        with _required(exercise, "solution"):
            reports = runner.run_until(lambda report: not report, report_on, processes)
    if not all(reports):
        raise CommandError(f"{exercise.title}: its own solution did not come to its end.")
    return {each[0].name: work_of(report) for each, report in zip(processes, reports)}


def timed(sandbox, builds, cases, text, seed, folder):
    """The Timed of these ExerciseCases, with programs in `folder`, one of the sandbox's. `text` is that of
    the solution. Raises CommandError."""
    exercise = cases.exercise
    own, twice = folder / "solution", folder / "twice"
    for each in (own, twice):  # the compiler may be another user
        each.mkdir()
        each.chmod(0o755)
    source = folder / exercise.file_name
    source.write_text(text, encoding="utf-8")
    given = (sandbox, builds.gpu, exercise, source)
    with _required(exercise, "solution"):
        made = solution_object(*given, own, CONCURRENT)
        alone = compiled_alone(*given, twice, CONCURRENT, made)
    return Timed(cases_to_time(exercise, seed), made, alone._replace(is_for_gpu=True))
