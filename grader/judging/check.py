# SPDX-License-Identifier: MIT
"""Judges a student's file where the student is, with the public numbers."""

import pathlib
import tempfile

from engine.command.drawing import BEGINNING as PICTURE
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output_files import OutputFile
from engine.command.paths import shown
from grader.judging.compile import asked_of_nvcc
from grader.judging.judge import Asked, CaseRuns, ExerciseCases, verdict_of
from grader.judging.results import cases_of
from grader.judging.runner import LocalRunner
from grader.judging.verdict import FAILED, NOT_RUN

MOST_CHECKS = 5  # of a file that is saved again and again


def check(
    build,
    exercise,
    source,
    picture=None,
    has_begun=lambda step, what: None,
    reset_command=None,
    time_it=False,
):
    """The Verdict on the student's file. A race is drawn to `picture`, if that is given.

    `has_begun` is as in Asked. `reset_command` is what brings the starter back, if it is not
    the usual one. Raises CommandError if nothing can be judged.
    """
    exercise_cases = ExerciseCases(exercise, cases_of(exercise))
    with LocalRunner(build, exercise, source) as runner:
        asked = Asked(time_it=time_it, reset_command=reset_command, has_begun=has_begun)
        verdict = verdict_of(CaseRuns(exercise_cases, runner), asked)
        if verdict.compiles:
            verdict = verdict._replace(warnings=runner.warnings, refusals=tuple(runner.refusals()))
    if picture and verdict.parts.get("races", NOT_RUN) != NOT_RUN:
        file = OutputFile(picture, PICTURE, shown(picture))
        why_not = file.remove()  # that of an earlier check
        if verdict.race_picture and why_not:
            verdict = verdict._replace(lines=[*verdict.lines, f"{file.name}: {why_not}"])
        elif verdict.race_picture:
            file.write(verdict.race_picture)
            verdict = verdict._replace(picture=picture)
    return verdict


def verdict_on(build, exercise, text, **options):
    """The Verdict of a check of this text."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, exercise.file_name)
        file.write_text(text, encoding="utf-8")
        return check(build._replace(files=pathlib.Path(folder)), exercise, file, **options)


def checked(
    builds,
    exercise,
    source,
    work,
    has_begun=lambda step, what: None,
    has_verdict=lambda verdict: None,
):
    """The Verdict on a file, which is remembered if the file is the one in the work folder.

    A file that is saved while it is checked is checked again. `has_verdict` gets what has been found out
    before nvcc is asked, if it is: only about a file that is right otherwise.
    """
    for _ in range(MOST_CHECKS):
        content = _content_of(source)
        picture, reset = source.with_suffix(".svg"), work.command("reset", exercise.number)
        verdict = check(builds.cpu, exercise, source, picture, has_begun, reset)
        if builds.gpu and verdict.is_solved:
            has_begun("gpu", "on the GPU")
            # Who measures in the default stream does not see what other streams do.
            time_it = not exercise.has_streams
            verdict = _with_gpu(verdict, check(builds.gpu, exercise, source, time_it=time_it))
        if _content_of(source) == content:
            if builds.nvcc and verdict.is_solved:
                has_verdict(verdict)
                has_begun("nvcc", "asking nvcc")
                verdict = asked_of_nvcc(verdict, builds, source)
                if _content_of(source) != content:
                    saved = f"{shown(source)} was saved while nvcc was asked about it."
                    verdict = verdict._replace(nvcc_errors=(), nvcc_problem=saved)
            if source.resolve() == work.file_of(exercise).resolve():
                work.remember_check(exercise, content, verdict.is_solved)
            return verdict
    raise CommandError(f"{shown(source)} changes all the time, so it can't be checked.")


def _content_of(source):
    try:
        return source.read_bytes()
    except OSError as error:
        raise CommandError(
            f"{shown(source)} can't be read: {error.strerror}.", WRONG_USE
        ) from error


def _with_gpu(verdict, of_gpu):
    """The verdict of the CPU backend together with what the GPU has found."""
    if of_gpu.parts["results"] == FAILED:
        lines = ["On the CPU backend all is right, and on the GPU:", *of_gpu.lines]
        return verdict._replace(parts={**verdict.parts, "results": FAILED}, lines=lines)
    return verdict._replace(lines=[*verdict.lines, *(f"GPU: {line}" for line in of_gpu.lines[1:])])
