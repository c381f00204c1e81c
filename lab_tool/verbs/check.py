# SPDX-License-Identifier: MIT
"""./lab check: judges one exercise's file, or several."""

import contextlib
import json
import pathlib

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import Progress, say_in_colours, say_next
from engine.command.output_files import NamedOutputs, add_force
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.work_folder import NOT_BEGUN
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.exercise_builds import exercise_builds
from lab_tool.learning.screen import (
    closing_lines,
    head_line,
    judged_lines,
    nvcc_lines,
    refusal_lines,
)
from lab_tool.options import add_backend, add_build, add_work, work_folder

VERDICTS = rb'\[\n  \{\n    "exercise": '  # what the file of --json begins with


def add_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        default="begun",
        metavar="EXERCISE|FILE",
        help="an exercise by its number or name, or its file (default: all that you have begun)",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say of a race what is missing, and where it belongs"
    )
    parser.add_argument("--json", metavar="FILE", help="write the verdicts to FILE as well")
    add_force(parser)
    add_work(parser)
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    work = work_folder(arguments)
    chosen = chosen_files(arguments.target, work)
    outputs = NamedOutputs(arguments.force, [source for _, source in chosen])
    file = outputs.add("--json", arguments.json, VERDICTS)
    require_gpu(arguments)
    builds = exercise_builds(arguments, [exercise for exercise, _ in chosen])
    is_one = len(chosen) == 1
    verdicts, problems = [], set()
    for exercise, source in chosen:

        def says(verdict, exercise=exercise):
            if is_one:
                say_lines(judged_lines(exercise, verdict, arguments.explain))
            else:
                say_lines([head_line(exercise, verdict), *refusal_lines(verdict)])

        verdict = told(builds, exercise, source, work, says)
        verdicts.append((exercise, verdict))
        problem = verdict.nvcc_problem
        if not problem or problem not in problems:  # of many files it is most often the same
            say_lines(nvcc_lines(verdict))
        problems.add(problem)
        if is_one:
            say_lines(closing_lines(exercise, verdict, work, explain=arguments.explain))
    if file:
        file.write(json.dumps([as_data(*item) for item in verdicts], indent=2) + "\n")
    failed = [exercise for exercise, verdict in verdicts if not verdict.is_solved]
    if len(chosen) > 1:
        words = ("check", failed[0].number) if failed else ("exercises",)
        say_next(work.command(*words))
    return 1 if failed else 0


def chosen_files(target, work):
    """[(exercise, the file to check)]."""
    if target == "begun":
        begun = [each for each in all_exercises() if work.state(each) != NOT_BEGUN]
        if not begun:
            raise CommandError(
                f"no exercise is begun in {shown(work.folder)}; {work.command('learn')} begins the "
                "first one.",
                WRONG_USE,
            )
        return [(each, work.file_of(each)) for each in begun]
    exercise = chosen_exercise(target)
    path = pathlib.Path(target) if target.endswith(".cu") else work.file_of(exercise)
    if not path.is_file():
        what = f"{target} is no file" if path.exists() else f"there is no file {shown(path)}"
        raise CommandError(
            f"{what}; {work.command('learn', exercise.number)} begins it.", WRONG_USE
        )
    return [(exercise, path)]


def told(builds, exercise, source, work, says):
    """The Verdict, with a line of progress while something is found out. `says` gets the Verdict as soon as
    all but nvcc's answer is there."""
    # Not above: the help of all verbs would import the judge.
    from grader.judging.check import checked

    with contextlib.ExitStack() as stack:

        def progress():
            return stack.enter_context(Progress(f"Checking {exercise.title}", stays=False))

        lines, said = [progress()], []

        def has_begun(_, what):
            lines[-1].note = f"{what}, "

        def has_verdict(verdict):
            stack.close()
            says(verdict)
            said.append(verdict)
            lines.append(progress())

        verdict = checked(builds, exercise, source, work, has_begun, has_verdict)
    if not said:
        says(verdict)
    return verdict


def say_lines(lines):
    for line in lines:
        say_in_colours(line)


def as_data(exercise, verdict):
    return {
        "exercise": exercise.number,
        "name": exercise.name,
        "parts": verdict.parts,
        "lines": verdict.lines,
        "remedy": list(verdict.remedy),
        "refusals": list(verdict.refusals),
        "nvcc": list(verdict.nvcc_errors),
    }


VERB = Verb(
    summary="judges what you have written for an exercise",
    usage=["check [EXERCISE|FILE] [--work FOLDER] [options]"],
    description="""\
Judges your file for an exercise by three things: its results in several cases, its races in 20
schedules, and the limits that the exercise sets. It says what is wrong with the first of them that
fails, and where, and changes nothing in your file. What would repair a race is yours to find; with
--explain the check says it. If a grade would refuse the file for what it uses, a sentence
says so, and the verdict stays the same. If nvcc is installed, and no GPU runs the file, nvcc compiles
a file that is right, after the verdict; a file that it refuses is not solved.""",
    examples=[
        ("./lab check 04.2", "your work/04_fullest_bin.cu"),
        ("./lab check 04.2 --explain", "and what a race in it lacks"),
        ("./lab check", "all exercises that you have begun"),
    ],
    exit_codes=[
        (0, "all that was checked is solved"),
        (1, "something is not right yet"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)
