# SPDX-License-Identifier: MIT
"""Judges what a class has handed in: each text once, several at a time, and none of them twice."""

import atexit
import concurrent.futures
import contextlib
import errno
import json
import os
import pathlib
import traceback
from typing import NamedTuple

from engine.command.errors import CommandError
from engine.command.output import Progress, remark, seconds_text
from engine.command.paths import shown
from engine.command.processes import answers_as_ended
from grader.exercises.catalogue import SPEED
from grader.exercises.solutions import has_solution, solution_of
from grader.judging.submission import (
    exercise_cases,
    judge,
    require_device,
    require_nvcc,
    solution_work,
    timed,
)
from grader.sandbox.sandboxed_run import Stopped
from grader.submissions.run_folder import RECORDED_WORK, Stopwatch, broken

MOST_PER_PROCESSOR = 4  # less than PATIENCE of sandboxed_run.py
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def recorded_work(exercise):
    """{a case's name: its work}, as it was recorded when the grader was exported. A case keeps its name and
    its size whatever the secret numbers are, so it holds for every run. Raises CommandError."""
    try:
        return json.loads((exercise.folder / RECORDED_WORK).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{exercise.title}: this copy has neither the solution nor {RECORDED_WORK}, and can't grade it."
        ) from error


def written_work(work):
    """The bytes of the file."""
    return (json.dumps(work, indent=1) + "\n").encode()


class Tools(NamedTuple):
    """What judging takes on this machine."""

    sandbox: object
    builds: object  # ExerciseBuilds


def measured_cases(tools, run, exercises, begins=lambda exercise: None):
    """{an exercise's number: its ExerciseCases}; each solution is run once, to know what work there is,
    after begins(exercise). A copy without solutions has that on record. Raises CommandError if there is to be
    a GPU and is none."""
    found = {}
    for exercise in exercises:
        begins(exercise)
        cases = exercise_cases(exercise, run.seed)
        if tools.builds.gpu and not found:
            require_device(tools.sandbox, tools.builds, cases)
        if tools.builds.nvcc:
            require_nvcc(tools.sandbox, tools.builds, exercise)
        if has_solution(exercise):
            text = solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)
            work = solution_work(tools.builds.cpu, cases, text)
            if not any(each["launches"] for each in work.values()):
                raise CommandError(f"{exercise.title}: its own solution was not seen to run.")
        else:
            work = recorded_work(exercise)
        cases = cases._replace(least_work=work)
        if tools.builds.gpu and SPEED in exercise.points:
            cases = cases._replace(timed=_timed(tools, cases, run.seed))
        found[exercise.number] = cases
    return found


def _timed(tools, cases, seed):
    """The exercise's Timed; its programs are there as long as this process is. Raises CommandError."""
    exercise = cases.exercise
    if not has_solution(exercise):
        raise CommandError(
            f"{exercise.title}: points for speed take the course's solution, and this copy has none."
        )
    text = solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)
    folders = contextlib.ExitStack()
    atexit.register(folders.close)
    folder = folders.enter_context(tools.sandbox.folder())
    return timed(tools.sandbox, tools.builds, cases, text, seed, folder)


def judge_unit(tools, run, cases, unit):
    """Judges one Unit on its exercise's ExerciseCases, and keeps what was found. Returns its Judgement,
    which is `broken` and not kept if the grader itself fails. Raises Stopped, and CommandError if the disk is
    full."""
    watch = Stopwatch()
    try:
        judgement = judge(tools.sandbox, tools.builds, cases, run.source_of(unit))
    except (Stopped, CommandError):
        raise
    except Exception as problem:  # whatever it is, the others go on
        if isinstance(problem, OSError) and problem.errno in NO_SPACE:
            raise CommandError(
                "the disk is full; what is finished is kept, and the same command goes on from there."
            ) from problem
        remark("".join(traceback.format_exception_only(type(problem), problem)).strip())
        place = traceback.extract_tb(problem.__traceback__)[-1]
        return broken(
            unit.exercise,
            f"{type(problem).__name__} in {pathlib.Path(place.filename).name}:{place.lineno}",
        )
    try:
        run.keep(unit, judgement, watch.seconds)
    except OSError as problem:
        where = shown(run.folder)
        raise CommandError(
            f"a judgement can't be written in {where}: {problem.strerror}."
        ) from problem
    return judgement


def at_once(wanted):
    """How many submissions are judged at once: with more, programs would reach limits of time that
    they don't reach alone."""
    most = MOST_PER_PROCESSOR * len(os.sched_getaffinity(0))
    if wanted > most:
        remark(f"--jobs {wanted}: {most} are judged at once, {MOST_PER_PROCESSOR} per processor.")
    return min(wanted, most)


def judge_here(tools, run, units, jobs):
    """Judges these Units, `jobs` at a time, on this machine. Returns {its name: Judgement} of those
    that the grader failed on; all others are kept in the run's folder."""
    waiting = [unit for unit in units if run.judgement_of(unit) is None]
    if not waiting:
        return {}
    exercises = {unit.exercise.number: unit.exercise for unit in waiting}
    jobs = at_once(jobs)
    failed = {}
    with Progress("Grading") as progress:
        cases = measured_cases(
            tools,
            run,
            exercises.values(),
            lambda each: progress.step(0, 0, f"first the course's own {each.title}, "),
        )
        progress.step(0, len(waiting))
        watch = Stopwatch()
        pool = concurrent.futures.ThreadPoolExecutor(jobs)
        try:
            judged = answers_as_ended(
                pool,
                lambda unit: judge_unit(tools, run, cases[unit.exercise.number], unit),
                waiting,
            )
            for done, (number, judgement, problem) in enumerate(judged, 1):
                if problem:
                    raise problem
                unit = waiting[number]
                if run.judgement_of(unit) is None:
                    failed[unit.name] = judgement
                left = watch.seconds / done * (len(waiting) - done)
                progress.step(done, len(waiting), f"{seconds_text(left)} left, ")
        except BaseException:
            tools.sandbox.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    return failed
