# SPDX-License-Identifier: MIT
"""Judges one submission of one exercise: points for each part, and what to say about it.

What comes out of the sandbox is compared here, with a list of cases that is complete.
"""

from engine.command.errors import NOTHING_COULD_RUN, CommandError
from grader.exercises.work_folder import starter
from grader.judging.compiling import compiled_alone, solution_object
from grader.judging.judge import OF_A_CASE, ExerciseCases, Judge, WrongCase
from grader.judging.judgements import bounded_row, judgement_of
from grader.judging.plausibility import objections_to_schedules, objections_to_work, work_of
from grader.judging.programs import ORDINARY
from grader.judging.results import NO_DEVICE, cases_of, secret_case
from grader.judging.runner import NotCompiled, OutOfTime
from grader.judging.sandbox_runner import SECONDS_OF_ALL, SandboxRunner
from grader.judging.secret_size import objections_at_secret_size
from grader.judging.speed_runs import Timed, cases_to_time, speed_row
from grader.sandbox.sandboxed_run import SandboxFailed


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

    def work(self):
        """{a case's name: what the kernels do in it}. Raises NotCompiled."""
        self.compile()
        return {
            cases[0].name: work_of(
                self.run_cases(self.program, cases, self.counting(), OF_A_CASE).report
            )
            for _, cases in self.processes()
        }

    def finds_device(self):
        """Whether this program, which is one of the course's, has a GPU to run on. Raises NotCompiled."""
        program = self.runner.compiled_for_gpu()
        return self.run_cases(program, self.cases[:1], {}, OF_A_CASE).code != NOTHING_COULD_RUN


def require_device(sandbox, builds, cases):
    """Raises CommandError if a program of the course's own finds no GPU: then no other does.

    A submission may end as a program without a GPU does, and that is its own affair.
    """
    text = starter(cases.exercise)
    if not _of_own_file(sandbox, builds, cases, text, "starter", SubmissionJudge.finds_device):
        raise CommandError(f"--backend cuda: {NO_DEVICE} Nothing is graded on the CPU instead.")


def solution_work(sandbox, builds, cases, text):
    """What the solution's kernels do on these ExerciseCases, which others are measured by. Raises
    CommandError."""
    builds = builds._replace(gpu=None)
    return _of_own_file(sandbox, builds, cases, text, "solution", SubmissionJudge.work)


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
        made = solution_object(*given, own, ORDINARY)
        alone = compiled_alone(*given, twice, ORDINARY, made)
    except NotCompiled as problem:
        raise CommandError(f"{exercise.title}: its own solution: {problem.lines[0]}") from problem
    except SandboxFailed as problem:
        raise CommandError(f"{problem}.") from problem
    return Timed(cases_to_time(exercise, seed), made, alone._replace(is_for_gpu=True))


def _of_own_file(sandbox, builds, cases, text, name, ask):
    """What `ask` returns for the judge of a text of the course's own. Raises CommandError."""
    exercise = cases.exercise
    with sandbox.folder() as folder:
        source = folder / exercise.file_name
        source.write_text(text, encoding="utf-8")
        try:
            return ask(
                SubmissionJudge(
                    cases, SandboxRunner(sandbox, builds, exercise, source, folder), True
                )
            )
        except NotCompiled as problem:
            raise CommandError(f"{exercise.title}: its own {name}: {problem.lines[0]}") from problem
        except OutOfTime as problem:
            raise CommandError(
                f"{exercise.title}: its own {name} takes more than {SECONDS_OF_ALL} s of a processor."
            ) from problem
        except SandboxFailed as problem:
            raise CommandError(f"{problem}.") from problem
