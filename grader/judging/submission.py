# SPDX-License-Identifier: MIT
"""Judges one submission of one exercise: points for each part, and what to say about it.

What comes out of the sandbox is compared here, with a list of cases that is complete.
"""

import textwrap
from typing import NamedTuple

from engine.command.errors import NOTHING_COULD_RUN, CommandError
from engine.command.output_files import write_whole
from grader.exercises.cases import WatchedLoads
from grader.exercises.limits import limits_not_kept, objections_to_uncounted
from grader.exercises.solutions import starter
from grader.judging.compile import CONCURRENT, SCHEDULED
from grader.judging.judge import OF_A_CASE, ExerciseCases, Judge, WrongCase
from grader.judging.limits import objections_to_host_code, objections_to_many_calls
from grader.judging.races import objections_to_unseen_stores
from grader.judging.results import NO_DEVICE, SCREEN, cases_of, first_failure, secret_case
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
    them gets no points, and the first part's lines say so."""
    gates = [part for part in verdict.parts if part not in exercise.points]
    shut_out = [part for part in gates if verdict.parts[part] == FAILED]
    why = [line for part in shut_out for line in (NO_POINTS, "", *verdict.lines_of[part])]
    rows = []
    for part, state in verdict.parts.items():
        if part in gates:
            continue
        points = exercise.points[part] if state == PASSED else 0
        cases = [_row_of(case) for case in verdict.cases] if part == "results" else []
        if cases:
            points = exercise.points[part] * sum(case["passed"] for case in cases) // len(cases)
        lines = verdict.lines_of[part] if rows else [*why, *verdict.lines_of[part]]
        if part == "races" and state == PASSED and verdict.proved_for:
            lines = [*lines, f"{verdict.proved_for.capitalize()}."]
        rows.append(part_row(exercise, part, 0 if shut_out else points, lines, cases))
    return Judgement(
        verdict.status, rows, verdict.race_picture, list(verdict.diagnoses), verdict.is_refused
    )


def _row_of(case):
    return {**case._asdict(), "lines": _bounded(case.lines)}


def _bounded(lines):
    """A line of a submission's, or a name in it, may be as long as a book; so may a forged report."""
    shown = [shortened(line) for line in lines[:MOST_LINES]]
    return [*shown, "..."] if len(lines) > MOST_LINES else shown


def bounded_row(row):
    """A part's row that somebody else has made, with lines that fill no feedback."""
    return {**row, "lines": _bounded(list(row["lines"]))}


def part_row(exercise, part, points=0, lines=(), cases=()):
    return {
        "part": part,
        "points": points,
        "of": exercise.points[part],
        "lines": _bounded(list(lines)),
        "cases": list(cases),
    }


# Whether the kernels do the work, measured by what the solution's kernels do. A right result may have been
# computed on the host, and a race checker that saw nothing reports nothing.

# What every solution must load and store in global memory at least, as a part of what ours does: others
# may load a value once where ours loads it twice. What is in shared memory is no measure, because a
# solution can do without it.
LEAST_PART = 4
LEAST_BYTES = 256  # a case with less to do may be done without a kernel
BYTES_OF_ATOMIC = 4  # at least: most are of a word


def work_of(report):
    """{"bytes", "moved", "launches"} of a run under the race checker; zeros if there is no report.

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
        }
    except (KeyError, TypeError, ValueError):
        return {"bytes": 0, "moved": 0, "launches": 0}


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


def objections_to_schedules(works, least):
    """The same of the schedules in which no race was seen; `least` bytes are what the solution moves in
    each."""
    if min(work["moved"] for work in works) * LEAST_PART < least:
        return ["In some schedule the kernels were not seen to do the work."]
    return []


# Whether the limits are kept at a size that a submission can't know, and all that its kernels read was
# counted. There may be another kernel for the one size that everybody knows, and loads that no compiler tells
# of. What is said here names no number: it would tell the size to who hands in once more.

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
        judging = SubmissionJudge(cases, runner, every_case=True)
        verdict = judging.verdict()
        judgement = judgement_of(verdict, cases.exercise)
        if not cases.timed:
            return judgement
        row = speed_row(judging, verdict, cases.timed, cases.exercise.speed)
        return judgement._replace(parts=[*judgement.parts, bounded_row(row)])


class SubmissionJudge(Judge):
    """Judges as a check does, and what only a grade asks for: whether the results come from kernels,
    and the same on a GPU."""

    gpu_program = None
    gpu_is_there = False

    def compile(self):
        super().compile()
        if self.runner.builds.gpu:
            self.gpu_program = self.runner.compiled_for_gpu()

    def wrong_if_right(self, numbers, cases, run):
        wrong = self._wrong_on_gpu(numbers, cases) if self.gpu_program else None
        least = (self.exercise_cases.least_work or {}).get(cases[0].name)
        if wrong or not least:
            return wrong
        lines = objections_to_work(work_of(run.report), least)
        return WrongCase(numbers[0], 0, lines, False) if lines else None

    def _wrong_on_gpu(self, numbers, cases):
        run = self.run_cases(self.gpu_program, cases, {}, OF_A_CASE)
        if run.code == NOTHING_COULD_RUN and not self.gpu_is_there:
            require_device(self.runner.sandbox, self.runner.builds, self.exercise_cases)
            self.gpu_is_there = True  # so the submission has ended so by itself
        return self.wrong_case(numbers, cases, run, ["On the GPU:"])

    def objections_to_schedules(self, runs):
        least = sum(
            self.exercise_cases.least_work[case.name]["bytes"] for case in self.race_cases()
        )
        once = least / self.exercise_cases.runs_of_each
        return objections_to_schedules([work_of(run.report) for run in runs], once)

    def objections_at_secret_size(self):
        secret = self.exercise_cases.secret
        return objections_at_secret_size(self, secret) if secret else []

    def finds_device(self):
        """Whether this program, which is one of the course's, has a GPU to run on. Raises NotCompiled."""
        program = self.runner.compiled_for_gpu()
        return self.run_cases(program, self.cases[:1], {}, OF_A_CASE).code != NOTHING_COULD_RUN


def require_device(sandbox, builds, cases):
    """Raises CommandError if a program of the course's own finds no GPU: then no other does.

    A submission may end as a program without a GPU does, and that is its own affair.
    """
    exercise = cases.exercise
    with sandbox.folder() as folder:
        source = folder / exercise.file_name
        source.write_text(starter(exercise), encoding="utf-8")
        runner = SandboxRunner(sandbox, builds, exercise, source, folder)
        try:
            finds_device = SubmissionJudge(cases, runner, True).finds_device()
        except NotCompiled as problem:
            raise CommandError(
                f"{exercise.title}: its own starter: {problem.lines[0]}"
            ) from problem
        except SandboxFailed as problem:
            raise CommandError(f"{problem}.") from problem
    if not finds_device:
        raise CommandError(f"--backend cuda: {NO_DEVICE} Nothing is graded on the CPU instead.")


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
        judge = Judge(cases, runner, every_case=True)

        def report_on(cases_of_one):
            program = runner.compiled(SCHEDULED)
            return judge.run_cases(program, cases_of_one, judge.counting(), OF_OWN_CASE).report

        processes = [each for _, each in judge.processes()]
        try:
            reports = runner.run_until(lambda report: not report, report_on, processes)
        except NotCompiled as problem:
            raise CommandError(
                f"{exercise.title}: its own solution: {problem.lines[0]}"
            ) from problem
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
    try:
        made = solution_object(*given, own, CONCURRENT)
        alone = compiled_alone(*given, twice, CONCURRENT, made)
    except NotCompiled as problem:
        raise CommandError(f"{exercise.title}: its own solution: {problem.lines[0]}") from problem
    except SandboxFailed as problem:
        raise CommandError(f"{problem}.") from problem
    return Timed(cases_to_time(exercise, seed), made, alone._replace(is_for_gpu=True))
