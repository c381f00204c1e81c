# SPDX-License-Identifier: MIT
"""./lab check: judges one exercise's file, or several."""

import json
import pathlib

from engine.driver.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.driver.errors import WRONG_USE, CommandError
from engine.driver.output import Progress, say, say_next
from engine.driver.output_files import NamedOutputs, add_force
from engine.driver.paths import shown
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.work_folder import NOT_BEGUN
from grader.judging.check import checked
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.exercise_builds import exercise_builds
from lab_tool.learning.screen import head_line, refusal_lines, say_verdict
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
    verdicts = []
    for exercise, source in chosen:
        verdict = told(builds, exercise, source, work)
        verdicts.append((exercise, verdict))
        if len(chosen) == 1:
            say_verdict(exercise, verdict, work, arguments.explain)
        else:
            say(head_line(exercise, verdict))
            for line in refusal_lines(verdict):
                say(line)
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


def told(builds, exercise, source, work):
    """The Verdict, with a line of progress until it is there."""
    with Progress(f"Checking {exercise.title}", stays=False) as progress:

        def has_begun(_, what):
            progress.note = f"{what}, "

        return checked(builds, exercise, source, work, has_begun)


def as_data(exercise, verdict):
    return {
        "exercise": exercise.number,
        "name": exercise.name,
        "parts": verdict.parts,
        "lines": verdict.lines,
        "remedy": list(verdict.remedy),
        "refusals": list(verdict.refusals),
    }


VERB = Verb(
    summary="judges what you have written for an exercise",
    usage=["check [EXERCISE|FILE] [--work FOLDER] [options]"],
    description="""\
Judges your file for an exercise by three things: its results in several cases, its races in 20
schedules, and the limits that the exercise sets. It says what is wrong with the first of them that
fails, and where, and changes nothing in your file. What would repair a race is yours to find; with
--explain the check says it. If a grade would refuse the file for what it uses, a sentence
says so, and the verdict stays the same.""",
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
